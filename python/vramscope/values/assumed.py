# SPDX-License-Identifier: Apache-2.0
"""Content for values that could not be computed.

It has to let programs go on: numbers are finite, zero where nothing better is known, so that a
NaN check passes, GradScaler sees no infinity and a clip factor is 1. Indices (of topk, sort,
argmax, multinomial) are dealt out evenly, so that routing that depends on them is balanced.
"""
_DEALT = {  # which result has indices, and whether over the last dimension or the given one
    "topk": 1, "sort": 1, "argsort": 0, "argmax": 0, "argmin": 0, "multinomial": 0,
    "max": 1, "min": 1, "mode": 1, "kthvalue": 1, "median": 1,
}


def finite(torch, value):
    """*value* without NaN, and without infinity in a single number."""
    if not (value.is_floating_point() or value.is_complex()) or value.dtype.itemsize < 2:
        return value
    if value.numel() == 1:
        return torch.nan_to_num(value, nan=0.0, posinf=0.0, neginf=0.0)
    if bool(torch.isnan(value).any()):
        return torch.where(torch.isnan(value), torch.zeros_like(value), value)
    return value


def choices(plan, args, target):
    """How many different indices the result may hold, or 0 if it has none."""
    if target.dtype.is_floating_point or not args:
        return 0
    source = args[0]
    if not source.dim():
        return 1
    dim = -1
    if plan.name in ("topk", "kthvalue"):
        dim = args[2] if len(args) > 2 else -1
    elif plan.name != "multinomial" and len(args) > 1 and type(args[1]) is int:
        dim = args[1]
    return source.size(dim)


def fill(torch, plan, args, here, place):
    """Writes the content of the result at *place* into *here*, an alias of it."""
    if _DEALT.get(plan.name) == place and here.numel():
        count = choices(plan, args, here)
        if count:
            dealt = torch._VF.arange(here.numel(), device="cpu").remainder_(count)
            here.copy_(dealt.view(here.shape))
            return
    here.zero_()
