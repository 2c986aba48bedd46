# SPDX-License-Identifier: Apache-2.0
"""The batch in several parts, each with its forward and backward, for models that return their loss.

A call of the model with gradients runs the parts one after the other: of all but the last one backward
as well, so that the program's own backward is that of the last. Tensors whose first dimension is that
of the first one are split. A model that returns no loss is called as usual.
"""
from . import models


def start(torch, effect, settings):
    steps = settings["steps"]
    code = f"for part in batch.chunk({steps}): (model(part).loss / {steps}).backward()"

    def size_of(value):
        return value.shape[0] if isinstance(value, torch.Tensor) and value.dim() else 0

    def run(module, call, args, kwargs):
        batch = next(filter(None, map(size_of, (*args, *kwargs.values()))), 0)
        if not torch.is_grad_enabled() or effect.refused or not batch:
            return call(*args, **kwargs)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            effect.refuse("the gradients of several ranks are summed in the backward pass of each part")
        elif batch < steps or batch % steps:
            effect.refuse(f"the batch of {batch} cannot be split into {steps} parts")
        else:
            for i in range(steps):
                def part(value):
                    whole = size_of(value) != batch
                    return value if whole else value[i * batch // steps:(i + 1) * batch // steps]

                result = call(*map(part, args), **{k: part(v) for k, v in kwargs.items()})
                loss = getattr(result, "loss", result)
                if type(loss) is not torch.Tensor or loss.dim() or not loss.requires_grad:
                    effect.refuse("the model returns no loss: the parts have to be in the program's loop")
                    break
                if kwargs.get("num_items_in_batch") is None:
                    loss = loss / steps
                if i == steps - 1:
                    effect.took(code)
                    if type(result) is torch.Tensor:
                        return loss
                    result.loss = loss
                    return result
                del result
                torch.clear_autocast_cache()
                with torch.autocast("cuda", enabled=False):
                    loss.backward()
                del loss
        return call(*args, **kwargs)

    models.around_trained(effect, run)
