# SPDX-License-Identifier: Apache-2.0
"""Arguments of the optimizers that the program creates: fused."""
import functools
import inspect

from vramscope_values import hide


def start(torch, effect, _settings):
    argument, value = {"fused": ("fused", True)}[effect.name]
    effect.why = f"no optimizer of the program has the argument {argument}"
    for cls in vars(torch.optim).values():
        if isinstance(cls, type) and argument in inspect.signature(cls.__init__).parameters:
            _change_argument(cls, effect, argument, value)


def _change_argument(cls, effect, argument, value):
    create = cls.__init__

    @hide.hidden
    @functools.wraps(create)
    def __init__(self, params, *args, **kwargs):
        if kwargs.get(argument) is value:
            if not effect.inside:
                effect.refuse(f"{type(self).__name__} has {argument}={value} already")
            return create(self, params, *args, **kwargs)
        params = params if isinstance(params, dict) else list(params)
        effect.inside = True  # AdamW calls Adam
        try:
            create(self, params, *args, **{**kwargs, "foreach": None, argument: value})
        except (RuntimeError, ValueError) as error:
            effect.refuse(f"{type(self).__name__}: {error}")
            return create(self, params, *args, **kwargs)
        finally:
            effect.inside = False
        effect.took(f"optimizer = {_name(type(self))}(…, {argument}={value})")

    cls.__init__ = __init__


def _name(cls):
    return f"torch.optim.{cls.__name__}" if cls.__module__.startswith("torch.optim") else cls.__name__
