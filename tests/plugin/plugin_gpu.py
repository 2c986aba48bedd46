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


def count(pointer):
    """Runs a kernel that the simulated GPU does not compute."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), b"code") == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, b"count") == 0
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(pointer))
    assert driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None) == 0


def read(pointer):
    """The number at *pointer*, copied to the host."""
    number = ctypes.c_uint32()
    assert _cuda.cudaMemcpy(ctypes.byref(number), pointer, ctypes.c_size_t(4), 2) == 0
    return number.value
