# SPDX-License-Identifier: Apache-2.0
"""Contexts around forward and loss: autocast in bfloat16, saved tensors in pinned host memory.

A context is entered when the program calls its model with gradients, and left when backward begins, an
optimizer steps, or a model is called without gradients: where the `with` of PyTorch's documentation
ends. A program with accelerate (and so Hugging Face's Trainer) gets autocast from accelerate's own
variable, because accelerate also casts the model's results back.
"""
import os
import sys

from . import effects, models

_MIXED = "ACCELERATE_MIXED_PRECISION"


class Window:
    """*make*() is the context; *refusal*(module): why the model does not need it, or None."""

    def __init__(self, torch, effect, code, make, refusal):
        self.torch, self.effect, self.code, self.make, self.refusal = torch, effect, code, make, refusal
        self.context = None
        self.seen = set()
        effect.why = "no model whose parameters are in an optimizer was called with gradients"
        models.start(torch)
        models.at_each_optimizer(effect.refuse, self.watch)

        @effects.replace(torch.autograd, "_engine_run_backward")
        def leave_before(run, *args, **kwargs):
            self.leave()
            return run(*args, **kwargs)

        from torch.optim import optimizer
        optimizer.register_optimizer_step_pre_hook(lambda *_: self.leave())

    def watch(self, optimizer):
        for module in models.trained(optimizer):
            if id(module) not in self.seen:
                self.seen.add(id(module))
                if not models.around(module, self.call):
                    self.effect.why = "the model is compiled"

    def call(self, module, call, args, kwargs):
        torch = self.torch
        if torch._C._current_graph_task_id() == -1:  # not a block that a checkpoint runs again
            if not torch.is_grad_enabled():
                self.leave()
            elif self.context is None:
                why = self.refusal(module)
                if why:
                    self.effect.why = why
                elif why is None:
                    self.context = self.make()
                    self.context.__enter__()
                    self.effect.took(self.code)
        try:
            return call(*args, **kwargs)
        except BaseException:
            self.leave()
            raise

    def leave(self):
        context, self.context = self.context, None
        if context is not None:
            context.__exit__(None, None, None)


def start(torch, effect, _settings):
    if effect.name == "offload-activations":
        code = "with torch.autograd.graph.save_on_cpu(pin_memory=True): …  # forward and loss"
        Window(torch, effect, code, lambda: torch.autograd.graph.save_on_cpu(pin_memory=True), lambda _: None)
        return
    for_accelerate = _MIXED not in os.environ
    if for_accelerate:
        os.environ[_MIXED] = "bf16"

    def refusal(module):
        """As above; "": accelerate has done it."""
        if torch.is_autocast_enabled("cuda"):
            return "autocast is on already"
        if "_original_forward" in module.__dict__ and "accelerate" in sys.modules:
            state = sys.modules["accelerate"].state.AcceleratorState._shared_state
            if not for_accelerate or state.get("_mixed_precision") != "bf16":
                return "mixed precision is on already"
            effect.took('TrainingArguments(…, bf16=True), or Accelerator(mixed_precision="bf16")')
            return ""
        dtypes = {p.dtype for p in module.parameters() if p.is_floating_point()}
        if torch.float32 not in dtypes:
            return "no parameter of the model is float32"
        return None

    Window(torch, effect, 'with torch.autocast("cuda", dtype=torch.bfloat16): …  # forward and loss',
           lambda: torch.autocast("cuda", dtype=torch.bfloat16), refusal)
