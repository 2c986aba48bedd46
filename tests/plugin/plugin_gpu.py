# SPDX-License-Identifier: Apache-2.0
"""GPU memory for the tests that the tests of the plugin run: the CUDA runtime through ctypes."""
import ctypes

_cuda = ctypes.CDLL("libcudart.so")
_cuda.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
_cuda.cudaFree.argtypes = [ctypes.c_void_p]


def allocate(mib):
    pointer = ctypes.c_void_p()
    status = _cuda.cudaMalloc(ctypes.byref(pointer), int(mib * (1 << 20)))
    assert status == 0, f"cudaMalloc returned {status}"
    return pointer


def free(pointer):
    assert _cuda.cudaFree(pointer) == 0


def select(device):
    assert _cuda.cudaSetDevice(device) == 0
