# SPDX-License-Identifier: Apache-2.0
"""Arguments of the program's optimizers and of its zero_grad: fused, foreach-off, set-to-none."""
import inspect

from vramscope_values import hide

from . import effects

# by change: the argument, its value, the other arguments that it excludes
_ARGUMENTS = {"fused": ("fused", True, {"foreach": None}), "foreach-off": ("foreach", False, {})}


def start(torch, effect, _settings):
    if effect.name == "set-to-none":
        effect.why = "zero_grad was not called"
        for cls in (torch.optim.Optimizer, torch.nn.Module):
            @hide.replace(cls, "zero_grad")
            def to_none(zero_grad, self, set_to_none=True):
                if set_to_none:
                    effect.why = "zero_grad sets gradients to None already"
                else:
                    effect.took("optimizer.zero_grad(set_to_none=True)")
                return zero_grad(self, set_to_none=True)
        return
    argument, value, others = _ARGUMENTS[effect.name]
    effect.why = f"no optimizer of the program has the argument {argument}"
    for cls in vars(torch.optim).values():
        if isinstance(cls, type) and argument in inspect.signature(cls.__init__).parameters:
            _change_argument(cls, effect, argument, {**others, argument: value})


def _change_argument(cls, effect, argument, changed):
    value = changed[argument]

    @hide.replace(cls, "__init__")
    def with_argument(create, self, params, *args, **kwargs):
        fused = argument == "foreach" and kwargs.get("fused")
        if kwargs.get(argument) is value or fused:
            if not effect.inside:
                has = "fused=True" if fused else f"{argument}={value}"
                effect.why = f"{type(self).__name__} has {has} already"
            return create(self, params, *args, **kwargs)
        params = params if isinstance(params, dict) else list(params)
        effect.inside = True  # AdamW calls Adam
        try:
            create(self, params, *args, **{**kwargs, **changed})
        except (RuntimeError, ValueError) as error:
            effect.refuse(f"{type(self).__name__}: {error}")
            return create(self, params, *args, **kwargs)
        finally:
            effect.inside = False
        effect.took(f"optimizer = {effects.name_of(type(self))}(…, {argument}={value})")
