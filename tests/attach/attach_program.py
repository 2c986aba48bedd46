# SPDX-License-Identifier: Apache-2.0
"""A program with a stand-in for PyTorch that holds two segments: attach_program.py LIBRARY

Of the first, a block of 4 MiB is in use, with a known stack, and one of 2 MiB is free; of the second, a block that
another thread frees and allocates again all the time, and one that is freed later. It waits for a line on its
standard input, in the only thread that runs Python.
"""
import ctypes
import sys
import types

MIB = 1 << 20
library = ctypes.CDLL(sys.argv[1])
library.torch_segment.restype, library.torch_segment.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.torch_segment_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
library.torch_block.argtypes = library.torch_churn.argtypes = [ctypes.c_void_p, ctypes.c_int64]

first, second = library.torch_segment(6 * MIB), library.torch_segment(20 * MIB)
history = [{"filename": "??", "name": "at::empty_cuda", "line": 0},
           {"filename": "/home/me/model.py", "name": "forward", "line": 41}]


def block(size, state="active_allocated", frames=()):
    return {"size": size, "requested_size": size, "state": state, "frames": frames}


segments = [
    {"device": 0, "address": first, "total_size": 6 * MIB, "blocks": [block(4 * MIB, frames=history),
                                                                     block(2 * MIB, "inactive")]},
    {"device": 0, "address": second, "total_size": 20 * MIB,
     "blocks": [block(8 * MIB), block(3 * MIB), block(9 * MIB, "active_pending_free")]}]
library.torch_block(first, 4 * MIB)
library.torch_block(second, 8 * MIB)
library.torch_block(second + 8 * MIB, 3 * MIB)
library.torch_churn(second, 8 * MIB)
torch = sys.modules["torch"] = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace(is_initialized=lambda: True, memory_snapshot=lambda: segments)


def train_step():
    library.torch_block(first + 4 * MIB, 2 * MIB)


print("ready", flush=True)
sys.stdin.readline()
library.torch_churn_end()
train_step()
library.torch_block(second + 8 * MIB, -3 * MIB)
if "release" in sys.argv:
    for at, bytes_ in ((first, 4 * MIB), (first + 4 * MIB, 2 * MIB)):
        library.torch_block(at, -bytes_)
    library.torch_segment_free(first, 6 * MIB)
print("done", flush=True)
sys.exit(3)
