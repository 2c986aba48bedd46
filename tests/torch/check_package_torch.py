#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package in PyTorch programs: the tracker agrees with PyTorch's own peaks, and
vramscope.torch.use_allocator() serves tensors. Of memory that a program allocates beside its tensors the
tracker counts both, and agrees with the report of the same part of the trace, whatever PyTorch's segments
come from.

    check_package_torch.py --build DIR [beside_tensors]

Exit 77: no environment with torch.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import environments

TRACKED = '''
import torch, vramscope

@vramscope.GPUMemoryTracker(device="cuda")
def first():
    return torch.empty(5 << 20, dtype=torch.uint8, device="cuda")
assert not torch.cuda.is_initialized()
first()
assert first.tracker.stats.device == 0 and first.tracker.peak_bytes == 5 << 20, first.tracker.stats
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.Adam(model.parameters())

@vramscope.GPUMemoryTracker("train")
def train(rows):
    torch.cuda.reset_peak_memory_stats()
    model(torch.randn(rows, 512, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()

train(8)
beside = train.tracker.end_bytes - torch.cuda.memory_allocated()  # cuBLAS's workspaces, of two threads
assert beside > 0 and beside % 2 == 0, beside
for number, rows in enumerate((64, 4096, 256)):
    vramscope.step(number)
    before = beside + torch.cuda.memory_allocated()
    train(rows)
    t = train.tracker
    assert t.peak_bytes == beside + torch.cuda.max_memory_allocated(), (number, t, torch.cuda.max_memory_allocated())
    assert (t.begin_bytes, t.end_bytes) == (before, beside + torch.cuda.memory_allocated()), (number, t.stats)
    assert t.allocations > t.frees - 20 > 0 and t.stats.has_tensors and t.reserved_peak_bytes >= t.peak_bytes
sites = t.sites
assert any(s.location and s.location[0].endswith("program.py") for s in sites), sites
assert sum(s.bytes for s in sites) <= t.peak_bytes
stats = vramscope.stats()
assert stats == {k: int(v) for k, v in torch.cuda.memory_stats().items()}
torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
vramscope.reset_peaks(torch.device("cuda"))
assert vramscope.stats("cuda:0")["allocated_bytes.all.peak"] == torch.cuda.memory_allocated(), vramscope.stats()
assert vramscope.device_stats("cuda") == vramscope.device_stats()
vramscope.annotate("kv cache")
cache = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
copy = vramscope.Trace(vramscope.dump("copy.vst"))
assert copy.peaks[0].level == "framework", copy.peaks
named = [p for p in copy.phases if p["name"] == "kv cache"]
assert len(named) == 1 and named[0]["allocations"] >= 1, copy.phases
print("ok")
'''

STEPS = '''
import torch, vramscope

def train(marked):
    model = torch.nn.Linear(256, 256).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for number in range(1, 5):
        if marked:
            torch.cuda.nvtx.range_push(f"step {number}")
        model(torch.ones(8, 256, device="cuda")).sum().backward()
        optimizer.step()
        if marked:
            torch.cuda.nvtx.range_pop()

with vramscope.range("test:fits"):
    train(False)
with vramscope.range("test:big"):
    torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")
train(True)
trace = vramscope.Trace(vramscope.dump("copy.vst"))
times = {p["path"]: p["times"] for p in trace.phases if p["times"]}
assert times == {"test:fits": 1, **{"test:fits / step" + part: 4 for part in
                 ("", " / forward", " / backward", " / optimizer")}, "test:big": 1, "step": 4}, times
print("ok")
'''

ALLOCATOR = '''
import torch, vramscope, vramscope.torch
MIB = 1 << 20
vramscope.torch.use_allocator()
vramscope.torch.use_allocator()
with vramscope.GPUMemoryTracker() as t:
    kept = torch.empty(5 * MIB, dtype=torch.uint8, device="cuda")
    torch.empty(7 * MIB, dtype=torch.uint8, device="cuda")
assert (t.peak_bytes, t.memory_delta_bytes, t.stats.has_tensors) == (12 * MIB, 5 * MIB, False), t.stats
assert vramscope.stats()["allocated_bytes.all.peak"] == 12 * MIB
torch.ones(3, device="cuda").sum().item()
vramscope.torch._used = None
try:
    vramscope.torch.use_allocator()
except vramscope.Error as error:
    assert "after the first tensor" in str(error)
else:
    raise AssertionError("a second allocator")
print("ok")
'''

BESIDE = '''
import contextlib, ctypes, os, sys, torch, vramscope
MIB = 1 << 20
cuda = ctypes.CDLL("libcuda.so.1")

def beside(mib):
    pointer = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(mib * MIB)) == 0
    return pointer

def tensor(mib):
    return torch.empty(mib * MIB, dtype=torch.uint8, device="cuda")

kept = tensor(10)
pool = contextlib.nullcontext()
if "pool" in sys.argv:
    import vramscope.torch
    allocator = vramscope.torch.allocator()
    source = allocator.allocator()
    memory = torch.cuda.MemPool(source)
    pool = torch.cuda.use_mem_pool(memory)
with pool:
    for part in range(3): # the peak of the sum is not the sum of the peaks
        with vramscope.GPUMemoryTracker() as t:
            high = tensor(90 + 2 * part)
            del high
            pointer = beside(60)
            low = tensor(40)
            cuda.cuMemFree_v2(pointer)
            del low
        s = t.stats
        assert (t.begin_bytes, t.end_bytes) == (10 * MIB, 10 * MIB), s
        assert (t.allocations, t.frees) == (3, 3), s
        assert s.tensors_peak == (100 + 2 * part) * MIB, s
        assert t.peak_bytes == 110 * MIB, s
        if vramscope.trace_path():
            vramscope.flush()
            report = vramscope.Trace(vramscope.trace_path(), begin_ns=s.begin_ns, end_ns=s.end_ns).report()
            device = report["devices"][0]
            assert device["level"] == "framework" and device["peak_user"]["bytes"] == t.peak_bytes, (device, s)
            assert device["sites_live_at_end"]["total_bytes"] == t.end_bytes, (device, s)
print("ok", flush=True)
if "pool" in sys.argv:
    os._exit(0) # PyTorch 2.6 crashes when it destroys a pool at its end
'''
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
# program, options of run, variables, arguments
RUNS = {
    "package": ((TRACKED, [], {}, []), (STEPS, [], {}, []), (ALLOCATOR, [], {}, [])),
    "beside_tensors": ((BESIDE, [], {}, []), (BESIDE, [], EXPANDABLE, []), (BESIDE, ["--record=off"], {}, []),
                       (BESIDE, ["--allocator=caching"], {}, []), (BESIDE, [], {}, ["pool"])),
}


def main():
    parser = environments.parser(__doc__)
    parser.add_argument("what", nargs="?", choices=RUNS, default="package")
    args = parser.parse_args()
    build = pathlib.Path(args.build)
    found = environments.needed(environments.find(), "PyTorch")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMSCOPE_", "PYTORCH_"))}
    env.update(PYTHONPATH=str(environments.ROOT / "python"), PATH=f"{build / 'bin'}:{env['PATH']}",
               PYTHONDONTWRITEBYTECODE="1")
    for environment in found:
        for program, options, settings, arguments in RUNS[args.what]:
            with tempfile.TemporaryDirectory() as scratch:
                with open(os.path.join(scratch, "program.py"), "w", encoding="utf-8") as file:
                    file.write(program)
                done = subprocess.run([sys.executable, "-m", "vramscope", "run", "-q", "--simulate", "h100-80g", "-o",
                                       "t.vst", *options, "--", environment.python, "program.py", *arguments],
                                      env={**env, **settings}, cwd=scratch, capture_output=True, text=True, timeout=500)
                if arguments and "has no attribute 'use_mem_pool'" in done.stderr:
                    continue
                assert (done.returncode, done.stdout) == (0, "ok\n"), (environment.release, options, settings, done)
        print("torch", environment.release, "ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
