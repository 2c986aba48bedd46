# SPDX-License-Identifier: Apache-2.0
"""Contexts around forward and loss: autocast in bfloat16, saved tensors in pinned host memory.

A context is entered when the program calls its model with gradients, and left when backward begins, an
optimizer steps, or a model is called without gradients: where the `with` of PyTorch's documentation
ends. A program with accelerate (and so Hugging Face's Trainer) gets autocast from accelerate's own
variable, because accelerate also casts the model's results back.
"""
import os
import sys

from vramscope_values import hide

from . import models

_MIXED = "ACCELERATE_MIXED_PRECISION"


def start(torch, effect, _settings):
    entered = []  # the context, while it is entered
    offloads = effect.name == "offload-activations"
    for_accelerate = not offloads and _MIXED not in os.environ
    if for_accelerate:
        os.environ[_MIXED] = "bf16"

    def wanted(module):
        """(the context, its code); None if the model does not need it."""
        if offloads:
            return (torch.autograd.graph.save_on_cpu(pin_memory=True),
                    "with torch.autograd.graph.save_on_cpu(pin_memory=True): …  # forward and loss")
        if torch.is_autocast_enabled("cuda"):
            effect.why = "autocast is on already"
        elif "_original_forward" in module.__dict__ and "accelerate" in sys.modules:
            state = sys.modules["accelerate"].state.AcceleratorState._shared_state
            if for_accelerate and state.get("_mixed_precision") == "bf16":
                effect.took('TrainingArguments(…, bf16=True), or Accelerator(mixed_precision="bf16")')
            else:
                effect.why = "mixed precision is on already"
        elif torch.float32 not in {p.dtype for p in module.parameters()}:
            effect.why = "no parameter of the model is float32"
        else:
            return (torch.autocast("cuda", dtype=torch.bfloat16),
                    'with torch.autocast("cuda", dtype=torch.bfloat16): …  # forward and loss')
        return None

    def leave(*_):
        if entered:
            entered.pop().__exit__(None, None, None)

    def run(module, call, args, kwargs):
        if torch._C._current_graph_task_id() == -1:  # not a block that a checkpoint runs again
            if not torch.is_grad_enabled():
                leave()
            elif not entered and (found := wanted(module)):
                context, code = found
                context.__enter__()
                entered.append(context)
                effect.took_at_each(code)
        try:
            return call(*args, **kwargs)
        except BaseException:
            leave()
            raise

    @hide.replace(torch.autograd, "_engine_run_backward")
    def leave_before(backward, *args, **kwargs):
        leave()
        return backward(*args, **kwargs)

    from torch.optim import optimizer
    optimizer.register_optimizer_step_pre_hook(leave)
    models.around_trained(effect, run)
