#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own allocator library on the simulated GPU.

Takes libc10, libc10_cuda and their headers from an environment with torch for CUDA 13
(environments.py), builds c10_program.cpp with them in a scratch folder, runs it alone and under
`vramscope run --simulate`, and compares the allocator's memory_stats with the recording, at the
device's level and at the framework's. Exit 77: no environment. Needs a C++20 compiler and the
CUDA headers.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import environments

DEVICE = "a100-40g,capacity=8GiB,context=400MiB"
LIBRARIES = ("libc10.so", "libc10_cuda.so")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="vramscope's build folder")
    parser.add_argument("--scratch", required=True, help="where to unpack and build")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cuda-include", nargs="+", default=["/usr/local/cuda/include"])
    return parser.parse_args()


def unpack(scratch):
    """Puts the libraries and the headers into the scratch folder; returns torch's release.

    Copies of the libraries do not find NVIDIA's beside them, if those are installed: the runtime
    here is the simulated one."""
    environment = environments.needed(environments.of_cuda(13), "an environment with torch for CUDA 13")
    scratch.mkdir(parents=True, exist_ok=True)
    torch = environment.site / "torch"
    shutil.rmtree(scratch / "torch", ignore_errors=True)
    (scratch / "torch/lib").mkdir(parents=True)
    for name in LIBRARIES:
        shutil.copy(torch / "lib" / name, scratch / "torch/lib")
    (scratch / "torch/include").symlink_to(torch / "include")
    return environment.release


def compile_program(args, scratch, simulator):
    program = scratch / "c10_program"
    lib = scratch / "torch/lib"
    source = pathlib.Path(__file__).parent / "c10_program.cpp"
    subprocess.run([args.cxx, "-std=c++20", "-O1", "-w", f"-I{scratch}/torch/include",
                    *(f"-I{folder}" for folder in args.cuda_include), str(source), "-o", str(program), f"-L{lib}",
                    "-lc10_cuda", "-lc10", f"-L{simulator}", "-lcudart", "-lcuda",
                    f"-Wl,-rpath,{lib}"], check=True)
    return program


def compile_nvml(args, scratch):
    """Expandable segments call NVML, which a machine without a driver does not have."""
    folder = scratch / "nvml"
    folder.mkdir(exist_ok=True)
    source = pathlib.Path(__file__).parent / "nvml_without_fabric.c"
    subprocess.run([args.cxx, "-x", "c", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1",
                    str(source), "-o", str(folder / "libnvidia-ml.so.1")], check=True)


def run_plain(program, simulator, scratch, config):
    env = dict(os.environ, LD_LIBRARY_PATH=f"{scratch}/nvml:{simulator}", VRAMSCOPE_SIMULATE=DEVICE,
               PYTORCH_CUDA_ALLOC_CONF=config)
    out = subprocess.run([program], env=env, check=True, stdout=subprocess.PIPE, timeout=120)
    return json.loads(out.stdout)


def run_recorded(args, program, scratch, config):
    vramscope = pathlib.Path(args.build) / "bin/vramscope"
    trace = scratch / "c10.vst"
    env = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=config, LD_LIBRARY_PATH=f"{scratch}/nvml")
    out = subprocess.run([vramscope, "run", "-q", "--simulate", DEVICE, "-o", trace, "--", program],
                         env=env, check=True, stdout=subprocess.PIPE, timeout=120)
    report = subprocess.run([vramscope, "report", "--json", trace], check=True,
                            stdout=subprocess.PIPE, timeout=120)
    return json.loads(out.stdout), json.loads(report.stdout)


class Comparison:
    def __init__(self, name):
        self.name, self.wrong, self.count = name, 0, 0

    def same(self, what, stats, recorded):
        self.count += 1
        if stats != recorded:
            self.wrong += 1
            print(f"{self.name}: {what}: memory_stats say {stats}, the trace {recorded}")


def compare(name, family, stats, report):
    c = Comparison(name)
    c.same("policy", "observe", report["process"]["policy"])
    c.same("trace", "complete", report["trace"]["condition"])
    device = report["devices"][0]
    c.same("ran out of memory", True, stats["out_of_memory"])
    if family == "async":
        compare_async(c, stats, device["families"]["async"])
        return c
    compare_framework(c, stats, device["framework"])
    if family == "device":
        compare_segments(c, stats, device["families"]["device"])
    else:
        compare_mapped(c, stats, device["families"]["vmm"])
    return c


def compare_framework(c, stats, level):
    """Every block, as reported by libc10_cuda."""
    reserved, allocated, blocks = (stats[k] for k in ("reserved_bytes", "allocated_bytes",
                                                      "allocation"))
    c.same("blocks allocated", blocks["allocated"], level["allocations"])
    c.same("blocks freed", blocks["freed"], level["frees"])
    c.same("allocated at the end", allocated["current"], level["allocated_at_end_bytes"])
    c.same("peak of allocated", allocated["peak"], level["peak_allocated_bytes"])
    c.same("peak of reserved", reserved["peak"], level["peak_reserved_bytes"])
    c.same("out of memory", stats["num_ooms"], level["failures"])


def compare_segments(c, stats, memory):
    """Every segment, from cudaMalloc and cudaFree."""
    reserved = stats["reserved_bytes"]
    c.same("segments allocated", stats["num_device_alloc"], memory["allocations"])
    c.same("segments freed", stats["num_device_free"], memory["frees"])
    c.same("bytes of segments", reserved["allocated"], memory["requested_bytes_total"])
    c.same("peak of segments", reserved["peak"], memory["peak_bytes"])
    c.same("live segments", reserved["current"], memory["live_bytes"])
    c.same("live segment count", stats["segment"]["current"], memory["live_count"])
    c.same("refusals", stats["num_ooms"] + stats["num_alloc_retries"], memory["failures"])


def compare_mapped(c, stats, memory):
    """Expandable segments: physical memory, mapped in pieces."""
    reserved = stats["reserved_bytes"]
    c.same("peak of mapped memory", reserved["peak"], memory["peak_bytes"])
    c.same("live mapped memory", reserved["current"], memory["live_bytes"])


def compare_async(c, stats, memory):
    """Here memory_stats are the pool's own figures, which round each block up to 512 bytes; torch
    reports no others for this backend."""
    for what, recorded, count in (("current", "live_bytes", memory["live_count"]),
                                  ("peak", "peak_bytes", memory["allocations"])):
        rounding = stats["allocated_bytes"][what] - memory[recorded]
        c.same(f"{what}, less rounding", True, 0 <= rounding < 512 * count)
    c.same("frees and what lives", memory["allocations"], memory["frees"] + memory["live_count"])


CASES = [  # name, PYTORCH_CUDA_ALLOC_CONF, kind of the device's memory
    ("native", "", "device"),
    ("rounding", "roundup_power2_divisions:4,max_split_size_mb:64", "device"),
    ("expandable", "expandable_segments:True", "vmm"),
    ("async", "backend:cudaMallocAsync", "async"),
]


def main():
    args = arguments()
    scratch = pathlib.Path(args.scratch)
    release = unpack(scratch)
    simulator = pathlib.Path(args.build) / "lib/vramscope/simulator"
    program = compile_program(args, scratch, simulator)
    compile_nvml(args, scratch)
    wrong = 0
    for name, config, family in CASES:
        plain = run_plain(program, simulator, scratch, config)
        stats, report = run_recorded(args, program, scratch, config)
        c = compare(name, family, stats, report)
        if family == "async":  # the pool's growth depends on the timing of the GPU's work
            plain.pop("reserved_bytes"), stats.pop("reserved_bytes")
        c.same("the same run without vramscope", plain, stats)
        wrong += c.wrong
        print(f"{name}: {c.count - c.wrong} of {c.count} agree; {stats['backend']}, "
              f"peak allocated {stats['allocated_bytes']['peak']}")
    print(f"torch {release}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
