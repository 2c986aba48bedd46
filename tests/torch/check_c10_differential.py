#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our allocator with PyTorch's own library, step by step.

Builds c10_differential.cpp with the libc10_cuda of torch and our static libraries, and
runs it on the simulated GPU with many option strings, with much and with little memory, and with
private pools. Exit 77: no environment with torch.
"""
import os
import pathlib
import subprocess
import sys

import check_c10
import environments

STEPS = 6000
SEEDS = (1, 2, 3)
MODES = {"": "64GiB", "tight": "2GiB", "pools": "64GiB"}  # and the device's memory
OPTIONS = [  # PYTORCH_ALLOC_CONF
    "",
    "expandable_segments:True",
    "max_split_size_mb:24",
    "max_split_size_mb:24,expandable_segments:True",
    "roundup_power2_divisions:[4:2,16:4,>:8]",
    "per_process_memory_fraction:0.5,garbage_collection_threshold:0.6",
    "per_process_memory_fraction:0.5,garbage_collection_threshold:0.6,max_split_size_mb:32,"
    "max_non_split_rounding_mb:64",
    "large_segment_size_mb:12,expandable_segments:True",
    "large_segment_size_mb:40",
    "expandable_segments:True,per_process_memory_fraction:0.4,garbage_collection_threshold:0.3",
]


def compile_program(args, scratch, simulator):
    program = scratch / "c10_differential"
    here = pathlib.Path(__file__).parent
    build = pathlib.Path(args.build)
    lib = scratch / "torch/lib"
    subprocess.run([args.cxx, "-std=c++20", "-O1", "-w", f"-I{here.parent.parent}/src",
                    f"-I{scratch}/torch/include", *(f"-I{d}" for d in args.cuda_include),
                    str(here / "c10_differential.cpp"), "-o", str(program),
                    f"-L{lib}", "-lc10_cuda", "-lc10", f"-L{simulator}", "-lcudart", "-lcuda",
                    str(build / "lib/libvs_allocator.a"), str(build / "lib/libvs_base.a"),
                    f"-Wl,-rpath,{lib}"], check=True)
    return program


def run(program, simulator, scratch, options, mode, seed):
    env = dict(os.environ, LD_LIBRARY_PATH=f"{scratch}/nvml:{simulator}",
               VRAMSCOPE_SIMULATE=f"a100-40g,capacity={MODES[mode]},context=400MiB,time=off",
               PYTORCH_ALLOC_CONF=options)
    command = [program, str(seed), str(STEPS)] + ([mode] if mode else [])
    out = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, timeout=120)
    if out.returncode == 0 and out.stdout.endswith("events, equal\n"):
        return True
    print(f"options '{options}', {mode or 'much memory'}, seed {seed}: exit {out.returncode}")
    print("\n".join(out.stdout.splitlines()[-40:]))
    return False


def main():
    args = check_c10.arguments()
    scratch = pathlib.Path(args.scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    release = check_c10.unpack(scratch)
    if not release:
        return environments.skip("an environment with torch for CUDA 13")
    simulator = pathlib.Path(args.build) / "lib/vramscope/simulator"
    check_c10.compile_nvml(args, scratch)
    program = compile_program(args, scratch, simulator)
    runs = [run(program, simulator, scratch, options, mode, seed)
            for options in OPTIONS for mode in MODES for seed in SEEDS]
    print(f"{sum(runs)} of {len(runs)} runs of {STEPS} steps equal; torch {release}")
    return 0 if all(runs) else 1


if __name__ == "__main__":
    sys.exit(main())
