# SPDX-License-Identifier: Apache-2.0
"""Measures sizes of libraries on a device, real or simulated; run by calibrate.py.

    calibrate_problems.py OUTPUT

Runs a list of problems with PyTorch and writes one JSON object a line: the problem, the bytes that
the library's work took beside the tensors that the program asked for, and, on the simulated GPU, the
names under which its libraries looked that size up, with the bytes that they assumed (the `assumed`
lines of the file of notes).
Workspaces are the allocations of PyTorch's allocator during the call that are no result. Memory
outside it (handles, communicators, the context of another process) is the fall of the device's free
memory.
"""
import json
import os
import subprocess
import sys

import torch

MIB = 1 << 20
aten = torch.ops.aten


def randn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


# --- workspaces: name -> function that makes the operands and returns the call ----------------

CONVOLUTIONS = (  # x, w, stride, padding: layers of common networks
    ((32, 3, 224, 224), (64, 3, 7, 7), 2, 3), ((32, 64, 56, 56), (64, 64, 1, 1), 1, 0),
    ((32, 64, 56, 56), (64, 64, 3, 3), 1, 1), ((32, 256, 56, 56), (128, 256, 1, 1), 1, 0),
    ((32, 128, 28, 28), (128, 128, 3, 3), 1, 1), ((32, 256, 14, 14), (256, 256, 3, 3), 1, 1),
    ((32, 512, 7, 7), (512, 512, 3, 3), 1, 1), ((8, 320, 64, 64), (320, 320, 3, 3), 1, 1),
    ((8, 640, 32, 32), (640, 640, 3, 3), 1, 1), ((8, 1280, 16, 16), (1280, 1280, 3, 3), 1, 1),
    ((16, 32, 16000), (64, 32, 9), 1, 4), ((2, 16, 32, 64, 64), (32, 16, 3, 3, 3), 1, 1))
LAYOUTS = {"channels-first": torch.contiguous_format, "channels-last": torch.channels_last}


def convolution(direction, x, w, stride, padding, dtype, layout):
    def make():
        rank = len(x) - 2
        a, b = randn(*x, dtype=dtype), randn(*w, dtype=dtype)
        if rank == 2:
            a, b = (t.contiguous(memory_format=LAYOUTS[layout]) for t in (a, b))
        options = ([stride] * rank, [padding] * rank, [1] * rank, False, [0] * rank, 1)
        if direction == "forward":
            return lambda: aten.convolution(a, b, None, *options)
        y = aten.convolution(a, b, None, *options)
        mask = [direction == "backward data", direction == "backward filter", False]
        return lambda: aten.convolution_backward(y, a, b, None, *options, mask)
    return make


def convolutions():
    for x, w, stride, padding in CONVOLUTIONS:
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            for layout in LAYOUTS if len(x) == 4 else ("channels-first",):
                for direction in ("forward", "backward data", "backward filter"):
                    name = f"convolution {direction} {str(dtype)[6:]} {layout} {x} {w} {stride} {padding}"
                    yield name, convolution(direction, x, w, stride, padding, dtype, layout)


def matrices():
    calls = {"cholesky": torch.linalg.cholesky, "qr": torch.linalg.qr, "eigh": torch.linalg.eigh,
             "eigvalsh": torch.linalg.eigvalsh, "lu_factor": torch.linalg.lu_factor, "inv": torch.linalg.inv}
    for n in (16, 64, 256, 1024, 4096):
        for dtype in (torch.float32, torch.float64):
            for name, call in calls.items():
                def make(n=n, dtype=dtype, call=call):
                    a = randn(n, n, dtype=dtype)
                    a = a @ a.mT + n * torch.eye(n, device="cuda", dtype=dtype)
                    return lambda: call(a)
                yield f"{name} {n} {str(dtype)[6:]}", make
            for driver in ("gesvd", "gesvdj", "gesvda"):
                def make_svd(n=n, dtype=dtype, driver=driver):
                    a = randn(n, n, dtype=dtype)
                    return lambda: torch.linalg.svd(a, driver=driver)
                yield f"svd {driver} {n} {str(dtype)[6:]}", make_svd


def transforms():
    for shape in ((1024,), (64, 1024), (16, 1000), (8, 4096, 17), (4, 512, 512), (65536 * 16,)):
        def make(shape=shape):
            a = randn(*shape, dtype=torch.complex64)
            return lambda: torch.fft.fft(a)
        yield f"fft {shape}", make

        def make_real(shape=shape):
            a = randn(*shape)
            return lambda: torch.fft.rfft(a)
        yield f"rfft {shape}", make_real


def sparse():
    for rows, columns, width in ((1024, 1024, 64), (4096, 4096, 256)):
        def make(rows=rows, columns=columns, width=width):
            a = torch.zeros(rows, columns)
            a[::3, ::7] = 1
            a, b = a.cuda().to_sparse_csr(), randn(columns, width)
            return lambda: a @ b
        yield f"sparse {rows} {columns} {width}", make

        def make_product(rows=rows, columns=columns):
            a = torch.zeros(rows, columns)
            a[::3, ::7] = 1
            a = a.cuda().to_sparse_csr()
            return lambda: a @ a
        yield f"sparse product {rows} {columns}", make_product


def recurrent():
    for kind in ("LSTM", "GRU", "RNN"):
        for hidden in (128, 512, 1024):
            def make(kind=kind, hidden=hidden):
                model = getattr(torch.nn, kind)(hidden, hidden).cuda()
                x = randn(64, 16, hidden)
                return lambda: model(x)
            yield f"{kind} {hidden}", make


def workspaces():
    for group in (convolutions, matrices, transforms, sparse, recurrent):
        yield from group()


# --- memory outside the allocator ----------------------------------------------------------------

def communicator():
    torch.distributed.init_process_group("nccl", store=torch.distributed.HashStore(), rank=0, world_size=1)
    torch.distributed.all_reduce(torch.ones(1, device="cuda"))


OUTSIDE = (
    ("cuBLAS handle", lambda: randn(8, 8) @ randn(8, 8)),
    ("cuBLASLt handle", lambda: torch.nn.functional.linear(randn(8, 8), randn(8, 8), randn(8))),
    ("cuDNN handle", lambda: aten.convolution(randn(1, 1, 8, 8), randn(1, 1, 3, 3), None, [1, 1], [0, 0], [1, 1],
                                              False, [0, 0], 1)),
    ("cuSOLVER handle", lambda: torch.linalg.cholesky(torch.eye(8, device="cuda"))),
    ("NCCL communicator", communicator))


# --- measuring -------------------------------------------------------------------------------------

class Notes:
    """The `assumed` lines that were added since the last look."""

    def __init__(self):
        self.path, self.at = os.environ.get("VRAMSCOPE_SIMULATE_NOTES"), 0
        self.added()

    def added(self):
        if not self.path or not os.path.exists(self.path):
            return []
        with open(self.path, encoding="utf-8") as f:
            f.seek(self.at)
            lines = f.read().splitlines()
            self.at = f.tell()
        rows = [line.split("\t") for line in lines]
        return [[row[2], row[3], int(row[4])] for row in rows if len(row) == 6 and row[0] == "assumed"]


def tensor_bytes(value):
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return [n for part in (value.crow_indices(), value.col_indices(), value.values()) for n in tensor_bytes(part)]
        return [value.untyped_storage().nbytes()]
    if isinstance(value, (list, tuple)):
        return [n for part in value for n in tensor_bytes(part)]
    return []


def extra_allocations(call):
    """Sizes of the allocations during the call that are no result of it."""
    torch.cuda.memory._record_memory_history(max_entries=10000, context=None)
    try:
        result = call()
        torch.cuda.synchronize()
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)
    sizes = [e["size"] for e in trace if e["action"] == "alloc"]
    for n in tensor_bytes(result):
        if n in sizes:
            sizes.remove(n)
    return sizes


def free_bytes():
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


def put(output, **members):
    output.write(json.dumps(members) + "\n")
    output.flush()


# A process with a context, in which PyTorch has loaded and run its first kernel.
WITH_CONTEXT = """import sys, torch
x = torch.ones(1, device="cuda")
torch.cuda.synchronize()
print(torch.cuda.memory_reserved(), flush=True)
sys.stdin.read()
"""


def context_bytes():
    """What the context of another process takes of the device, beside its allocator's memory."""
    before = free_bytes()
    with subprocess.Popen([sys.executable, "-c", WITH_CONTEXT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as other:
        reserved = other.stdout.readline()
        after = free_bytes()
        other.stdin.close()
    if other.returncode or not reserved:
        raise RuntimeError(f"the process with a context ended with {other.returncode}")
    return before - after - int(reserved)


def measure(output):
    versions = {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
                "architecture": "sm_%d%d" % torch.cuda.get_device_capability(),
                "device": torch.cuda.get_device_name(),
                "sms": torch.cuda.get_device_properties(0).multi_processor_count,
                "total_bytes": torch.cuda.mem_get_info()[1]}
    put(output, versions=versions)
    free_bytes()  # notes this process's own context, which is not a problem's
    notes = Notes()
    try:
        put(output, problem="context", kind="outside", sizes=[context_bytes()], names=notes.added())
    except RuntimeError as error:
        put(output, problem="context", error=str(error))
    for name, make in OUTSIDE:
        before = free_bytes()
        try:
            make()
        except RuntimeError as error:
            put(output, problem=name, error=str(error).splitlines()[0])
            continue
        put(output, problem=name, kind="outside", sizes=[before - free_bytes()], names=notes.added())
    for name, make in workspaces():
        try:
            call = make()
            call()  # plans and handles are made once, and each size is noted once
            sizes = extra_allocations(call)
        except (RuntimeError, torch.OutOfMemoryError) as error:
            put(output, problem=name, error=str(error).splitlines()[0])
            continue
        put(output, problem=name, kind="workspace", sizes=sizes, names=notes.added())


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as output_file:
        measure(output_file)
