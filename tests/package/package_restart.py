# SPDX-License-Identifier: Apache-2.0
"""Starts itself again under `vramscope run`. package_restart.py TRACE"""
import ctypes
import sys

import vramscope

print("before" if not vramscope.loaded() else "after", sys.argv[1:])
vramscope.restart(simulate="t4-16g", output=sys.argv[1], options=["--quiet"])
pointer = ctypes.c_void_p()
with vramscope.GPUMemoryTracker() as t:
    ctypes.CDLL("libcudart.so").cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(3 << 20))
print(t.peak_memory_mb)
