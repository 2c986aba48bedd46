# SPDX-License-Identifier: Apache-2.0
"""Optimizer state in bfloat16, in 8 bits, or on the host: optimizer-bf16, optimizer-8bit, offload-optimizer.

The first steps one parameter at a time, whose state is float32 for that time alone. The last steps copies of
the parameters on the host. Copies above 1 MiB are on the device `meta` there, as their values mean
nothing on the simulated GPU: neither the host's memory nor its time depends on the size of the model.
Gradients and parameters are copied through one pinned buffer, so that the run has the real number of copies.
8 bits are torchao's AdamW8bit and Adam8bit, if the program's Python has torchao.
"""
import inspect

from vramscope_values import hide

from . import effects

_REAL_MAX = 1 << 20


def start(torch, effect, _settings):
    if effect.name == "optimizer-8bit":
        _use_torchao(torch, effect)
        return
    change = {"optimizer-bf16": _step_in_bf16, "offload-optimizer": _Host(torch).step}[effect.name]
    effect.why = "no optimizer of torch.optim stepped"
    for cls in vars(torch.optim).values():
        if isinstance(cls, type) and "step" in cls.__dict__ and cls is not torch.optim.Optimizer:
            _change_step(torch, cls, effect, change)


def _change_step(torch, cls, effect, change):
    @hide.replace(cls, "step")
    def step(original, self, closure=None):
        if effect.inside:
            return original(self, closure)
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        groups, state = self.param_groups, self.state
        effect.inside = True
        try:
            with torch.no_grad():
                change(self, lambda: original(self), effect)
        finally:
            effect.inside, self.param_groups, self.state = False, groups, state
        return loss


def _step_in_bf16(optimizer, step, effect):
    def cast(parameter, method, dtype):
        state = optimizer.state[parameter]
        for key, value in state.items():
            if getattr(value, "shape", None) == parameter.shape and str(value.dtype) == dtype:
                state[key] = getattr(value, method)()

    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            cast(parameter, "float", "torch.bfloat16")
            optimizer.param_groups = [{**group, "params": [parameter]}]
            step()
            cast(parameter, "bfloat16", "torch.float32")
    if "torch.float32" not in {str(p.dtype) for p in optimizer.state}:
        effect.why = "the state has the type of the parameters, none of which is float32"
        return
    effect.took(f"optimizers = [{effects.name_of(type(optimizer))}([p], …) for p in model.parameters()]; "
                "each with its state in float32 only while it steps (docs/advise.md)")


class _Host:
    def __init__(self, torch):
        self.torch = torch
        self.copies = {}   # by optimizer and number of a group: copies of its parameters
        self.buffers = {}  # by type: pinned memory of the largest parameter
        self.states = {}

    def copy(self, parameter):
        if parameter.numel() * parameter.element_size() > _REAL_MAX:
            return self.torch.empty_like(parameter, device="meta")
        return parameter.detach().to("cpu")

    def buffer(self, tensor):
        held = self.buffers.get(tensor.dtype)
        if held is None or held.numel() < tensor.numel():
            held = self.buffers[tensor.dtype] = self.torch.empty(tensor.numel(), dtype=tensor.dtype,
                                                                 pin_memory=True)
        return held[:tensor.numel()].view(tensor.shape)

    def step(self, optimizer, step, effect):
        key = id(optimizer)
        groups = []
        for number, group in enumerate(optimizer.param_groups):
            copies = self.copies.get((key, number))
            if copies is None:
                copies = self.copies[key, number] = [self.copy(p) for p in group["params"]]
            for parameter, copy in zip(group["params"], copies):
                copy.grad = None if parameter.grad is None else self.fetch(parameter.grad, copy)
            groups.append({**group, "params": copies, "fused": False, "foreach": False})
        done, optimizer.param_groups = optimizer.param_groups, groups
        optimizer.state = self.states.setdefault(key, type(optimizer.state)(dict))
        step()
        for number, group in enumerate(done):
            for parameter, copy in zip(group["params"], self.copies[key, number]):
                if copy.is_meta and parameter.grad is not None:
                    parameter.grad.copy_(self.buffer(parameter.grad), non_blocking=True)
                elif not copy.is_meta:
                    parameter.copy_(copy)
        effect.took(f"optimizer = {effects.name_of(type(optimizer))}(copies of the parameters in pinned host "
                    "memory, …); gradients there before a step, parameters back (docs/advise.md)")

    def fetch(self, grad, copy):
        if not copy.is_meta:
            return grad.to("cpu")
        self.buffer(grad).copy_(grad, non_blocking=True)
        return self.torch.empty_like(copy)


def _use_torchao(torch, effect):
    effect.why = "the program has no Adam or AdamW of torch.optim"
    try:
        from torchao import optim as low_bit
    except ImportError as error:
        effect.refuse(f"torchao is not installed ({error}); `pip install torchao`")
        return
    for cls in (torch.optim.Adam, torch.optim.AdamW):
        _replace(cls, getattr(low_bit, cls.__name__ + "8bit"), effect)


def _replace(cls, made, effect):
    known = inspect.signature(made.__init__).parameters

    @hide.replace(cls, "__new__")
    def in_8_bits(new, asked, *args, **kwargs):
        if asked is not cls:
            return new(asked)
        effect.took(f"optimizer = torchao.optim.{made.__name__}(…)")
        return made(*args, **{k: v for k, v in kwargs.items() if k in known})
