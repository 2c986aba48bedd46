# SPDX-License-Identifier: Apache-2.0
"""CPU tensors on the memory of CUDA tensors.

One CPU storage spans the whole address space; an alias is a strided view of it at the address of
the device memory. It owns nothing and must not outlive the operation that uses it.

This package creates tensors by torch._VF: programs replace torch.empty and others (DeepSpeed's
zero.Init, accelerate's init_empty_weights) by functions that change the type or the device, and an
alias of the wrong type lies elsewhere.
"""
_ORIGIN = 4096  # not 0: a tensor without an address counts as empty
_SPAN = 1 << 47

_whole = {}  # by dtype: a flat CPU tensor over the address space
_torch = None


def start(torch):
    global _torch, _storage
    _torch = torch
    _storage = torch._C._construct_storage_from_data_pointer(
        _ORIGIN, torch.device("cpu"), _SPAN - _ORIGIN)


def of(tensor):
    """An alias of a strided CUDA tensor."""
    dtype = tensor.dtype
    address = tensor.data_ptr()
    if not address:  # no element
        return _torch._VF.empty_strided(tensor.size(), tensor.stride(), dtype=dtype, device="cpu")
    flat = _whole.get(dtype)
    if flat is None:
        size = (_SPAN - _ORIGIN) // dtype.itemsize
        flat = _torch._VF.empty(0, dtype=dtype, device="cpu").set_(_storage, 0, (size,), (1,))
        _whole[dtype] = flat
    here = flat.as_strided(tensor.size(), tensor.stride(), (address - _ORIGIN) // dtype.itemsize)
    if tensor.is_conj():
        here = _torch._conj(here)
    if tensor.is_neg():
        here = _torch._neg_view(here)
    return here
