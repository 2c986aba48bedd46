# SPDX-License-Identifier: Apache-2.0
"""vramscope's allocator in PyTorch, in the place of PyTorch's own.

    import vramscope.torch
    vramscope.torch.use_allocator()       # before the first tensor on a GPU

Every allocation is then recorded with its stream, and the options policy and alloc_conf of
vramscope apply (VRAMSCOPE_POLICY=compact reserves less memory). This works in any process, whether
`vramscope run` started it or not.
"""
from __future__ import annotations

import ctypes
import importlib
from typing import Any, Optional

from vramscope import commands, library

_HOOKS = {
    "set_init_fn": "vramscope_torch_init",
    "set_reset_fn": "vramscope_torch_reset",
    "set_memory_fraction_fn": "vramscope_torch_set_memory_fraction",
    "set_base_alloc_fn": "vramscope_torch_base_alloc",
    "set_record_stream_fn": "vramscope_torch_record_stream",
    "set_begin_allocate_to_pool": "vramscope_torch_begin_allocate_to_pool",
    "set_end_allocate_to_pool_fn": "vramscope_torch_end_allocate_to_pool",
    "set_release_pool": "vramscope_torch_release_pool",
}
_used: Optional[Any] = None


def _loaded_path() -> Optional[str]:
    """The file of the library in this process."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if path.endswith("/libvramscope.so"):
                return "/" + path
    return None


def allocator() -> Any:
    """A torch.cuda.memory.CUDAPluggableAllocator, for torch.cuda.MemPool or
    change_current_allocator. Error if PyTorch is too old for it."""
    torch = importlib.import_module("torch")
    path = (_loaded_path() if library.loaded() else None) or commands.library_path()
    dll = ctypes.CDLL(path)
    try:
        wrapper = torch.cuda.memory.CUDAPluggableAllocator(
            path, "vramscope_torch_alloc", "vramscope_torch_free")
        inner = wrapper.allocator()
        for setter, function in _HOOKS.items():
            getattr(inner, setter)(ctypes.cast(getattr(dll, function), ctypes.c_void_p).value)
    except AttributeError as error:
        raise library.Error(f"PyTorch {torch.__version__} has no pluggable allocator that vramscope "
                            f"can use ({error}): PyTorch 2.2 or later is needed, built for CUDA"
                            ) from error
    return wrapper


def use_allocator() -> None:
    """Make PyTorch allocate all GPU memory from vramscope. Call it before the first tensor on a
    GPU: PyTorch refuses a change afterwards. A second call does nothing."""
    global _used
    if _used is not None:
        return
    torch = importlib.import_module("torch")
    wrapper = allocator()
    try:
        torch.cuda.memory.change_current_allocator(wrapper)
    except RuntimeError as error:
        raise library.Error("vramscope.torch.use_allocator() was called after the first tensor on a "
                            "GPU; call it right after `import torch`") from error
    _used = wrapper
