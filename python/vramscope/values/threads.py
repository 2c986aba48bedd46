# SPDX-License-Identifier: Apache-2.0
"""One thread for what the CPU computes here.

PyTorch's CPU kernels share their work among OpenMP threads. For tensors of at most a few megabytes
waking them costs more than they save, and on a loaded machine they wait for each other. The number
of threads is a setting of the calling thread in OpenMP, so the program's own threads and its own
operations on the CPU keep theirs.
"""
import ctypes
import os

_get = _set = None


def start(torch):
    """Finds OpenMP behind PyTorch's library. Without it nothing is changed."""
    global _get, _set
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    try:
        library = ctypes.PyDLL(path)
        _get, _set = library.omp_get_max_threads, library.omp_set_num_threads
    except (OSError, AttributeError):
        _get = _set = None


def one(way, *args):
    """way(*args), with one thread for its CPU operations."""
    if _get is None:
        return way(*args)
    before = _get()
    if before == 1:
        return way(*args)
    _set(1)
    try:
        return way(*args)
    finally:
        _set(before)
