# SPDX-License-Identifier: Apache-2.0
"""CuPy as far as its memory pool and its hooks go, on the runtime that is loaded."""
import ctypes
import threading

_runtime = ctypes.CDLL(None)
_thread = threading.local()


def _hooks():
    if not hasattr(_thread, "hooks"):
        _thread.hooks = {}
    return _thread.hooks


class cuda:  # a module in CuPy
    class MemoryHook:
        def __enter__(self):
            assert self.name not in _hooks()
            _hooks()[self.name] = self

        def malloc_postprocess(self, **kwargs):
            pass

        def free_preprocess(self, **kwargs):
            pass

        def free_postprocess(self, **kwargs):
            pass


def _runtime_malloc(size):
    pointer = ctypes.c_void_p()
    return pointer.value if _runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0 else 0


def _memory(size):
    return _runtime_malloc(size)


class _Pool:
    at = end = 0
    free, freed = [], None  # blocks, and what another thread does as soon as there is one more

    def _extend(self, size):
        self.at = _memory(max(size, 1 << 20))
        self.end = self.at + max(size, 1 << 20)

    def malloc(self, size):
        rounded = (size + 511) // 512 * 512
        found = [block for block in self.free if block[1] == rounded]
        if not found and self.at + rounded > self.end:
            self._extend(rounded)
        address = found[0][0] if found else self.at
        if found:
            self.free.remove(found[0])
        else:
            self.at += rounded
        for hook in _hooks().values():
            hook.malloc_postprocess(device_id=0, size=size, mem_size=rounded, mem_ptr=address, pmem_id=1)
        return address, rounded


_pool = _Pool()


class ndarray:
    def __init__(self, size):
        self.address, self.size = _pool.malloc(size)

    def __del__(self):
        block = {"device_id": 0, "mem_size": self.size, "mem_ptr": self.address, "pmem_id": 1}
        for hook in _hooks().values():
            hook.free_preprocess(**block)
        _pool.free.append((self.address, self.size))
        if _pool.freed:
            _pool.freed()
        for hook in _hooks().values():
            hook.free_postprocess(**block)


def empty(size):
    return ndarray(size)
