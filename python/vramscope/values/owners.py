# SPDX-License-Identifier: Apache-2.0
"""Tensors of the backward pass that have a Python object only because they were seen here.

Autograd adds a gradient in place if nothing else owns it. Since PyTorch 2.10 a Python object counts
as an owner as long as the tensor lives, so each gradient that passes through the handler would be
added into new memory. PyTorch has a list of tensors whose extra owner does not count (for CUDA
graphs); gradients that no Python code created are put there. An entry stays when its tensor is
gone, about 300 bytes, so their number is limited.
"""
import sys

_MOST = 500000

_count = 0
_add = _is_there = None


def start(torch):
    global _add, _is_there
    version = tuple(int(p) for p in torch.__version__.split("+")[0].split(".")[:2] if p.isdigit())
    if version >= (2, 10):
        torch._C._set_cached_tensors_enabled(True)
        _add, _is_there = torch._C._add_cached_tensor, torch._C._is_cached_tensor


def uncount(tensors, depth):
    """The objects of *tensors* do not count as owners, if no Python code is running in this thread
    but the handler. *depth*: how many of its functions are."""
    global _count
    if _add is None or _count >= _MOST or sys._getframe(depth).f_back is not None:
        return
    for t in tensors:
        if t.is_cuda and not _is_there(t):
            _add(t)
            _count += 1
