# SPDX-License-Identifier: Apache-2.0
"""Numbers in the place of tensors, as in `x * 2`.

The dispatcher shows Python the number, but takes a tensor back, and one with a mark: the result
type of `x * 2` is that of x. No function of PyTorch's creates a marked tensor for Python; autograd
keeps one for the backward of a product, and its copies keep the mark.
"""
_CACHE_MAX = 4096

_marked = {}  # by type: a marked tensor
_cache = {}   # by type and value
_torch = None


def start(torch):
    global _torch
    _torch = torch
    with torch.enable_grad(), torch.inference_mode(False):
        factor = torch._VF.ones((), requires_grad=True, device="cpu")
        for kind, value in ((int, 1), (float, 1.0), (bool, True)):
            _marked[kind] = factor.mul(value).grad_fn._saved_other
        factor = torch._VF.ones((), requires_grad=True, dtype=torch.complex64, device="cpu")
        _marked[complex] = factor.mul(1j).grad_fn._saved_other


def tensor(number):
    """A marked tensor of the number; not to be changed."""
    kind = type(number)
    key = (kind, repr(number))
    found = _cache.get(key)
    if found is None:
        marked = _marked[kind]
        with _torch._C._DisableTorchDispatch():  # a mode would make a tensor of its own, or see a number
            plain = _torch._VF.full((), number, dtype=marked.dtype, device="cpu")
            found = marked.detach()
            found.set_(plain.untyped_storage(), 0, (), ())
        if len(_cache) >= _CACHE_MAX:
            _cache.clear()
        _cache[key] = found
    return found


def replaced(args, places):
    """*args* with tensors for the numbers at *places*; *args* itself if there is none."""
    result = None
    for i in places:
        if i < len(args) and type(args[i]) in _marked:
            if result is None:
                result = list(args)
            result[i] = tensor(args[i])
    return args if result is None else result
