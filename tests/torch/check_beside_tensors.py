#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that a PyTorch program allocates beside its tensors: the tracker counts both, and agrees with the
report of the same part of the trace, whatever PyTorch's segments come from.

    check_beside_tensors.py --build DIR

Exit 77: no environment with torch.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import environments

PROGRAM = '''
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
RUNS = (("segments", [], {}, []), ("expandable segments", [], EXPANDABLE, []), ("no trace", ["--record=off"], {}, []),
        ("segments in vramscope's cache", ["--allocator=caching"], {}, []),
        ("a pool of vramscope's allocator", [], {}, ["pool"]))


def main():
    build = pathlib.Path(environments.parser(__doc__).parse_args().build)
    found = environments.needed(environments.find(), "PyTorch")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMSCOPE_", "PYTORCH_"))}
    env.update(PYTHONPATH=str(environments.ROOT / "python"), PATH=f"{build / 'bin'}:{env['PATH']}",
               PYTHONDONTWRITEBYTECODE="1")
    for environment in found:
        for name, options, settings, arguments in RUNS:
            with tempfile.TemporaryDirectory() as scratch:
                with open(os.path.join(scratch, "program.py"), "w", encoding="utf-8") as file:
                    file.write(PROGRAM)
                done = subprocess.run([build / "bin/vramscope", "run", "-q", "--simulate", "h100-80g", "-o", "t.vst",
                                       *options, "--", environment.python, "program.py", *arguments],
                                      env={**env, **settings}, cwd=scratch, capture_output=True, text=True,
                                      timeout=500)
                if arguments and "has no attribute 'use_mem_pool'" in done.stderr:
                    continue
                assert (done.returncode, done.stdout) == (0, "ok\n"), (environment.release, name, done)
        print("torch", environment.release, "ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
