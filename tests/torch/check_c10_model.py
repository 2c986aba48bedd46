#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the allocator's reference model with PyTorch's own allocator library.

Takes libc10 and libc10_cuda as check_c10.py does, puts PyTorch's allocator
behind the functions of allocator.h (c10_subject.cpp), and runs the same random steps through it
and through the model: equal addresses, blocks, statistics, events and device memory after each
step. Exit 77: no environment with torch. test_allocator_differential compares src/allocator with
the same model.
"""
import os
import pathlib
import subprocess
import sys

import check_c10

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATIONS = ("the_default_configuration", "max_split_size", "divisions",
                  "fraction_and_garbage_collection", "expandable_segments",
                  "expandable_segments_and_options", "private_pools",
                  "private_pools_of_expandable_segments")
STEPS, SEED = "40000", "1"


def compile_all(args, scratch, simulator):
    unit, support = SOURCE / "tests/unit/allocator/differential", SOURCE / "tests/support"
    sources = [*sorted(unit.glob("differential_*.c")), *sorted(unit.glob("reference_*.c")),
               support / "fake_device.c", support / "fake_memory.c",
               SOURCE / "tests/torch/c10_model.c"]
    includes = [f"-I{SOURCE}/src", f"-I{SOURCE}/tests", f"-I{unit}", f"-I{unit.parent}"]
    folder = scratch / "differential"
    folder.mkdir(exist_ok=True)
    objects = []
    for source in sources:
        objects.append(folder / (source.stem + ".o"))
        subprocess.run(["cc", "-std=gnu11", "-O1", "-g", *includes, "-c", source, "-o", objects[-1]],
                       check=True)
    program, lib = scratch / "c10_model", scratch / "torch/lib"
    subprocess.run([args.cxx, "-std=c++20", "-O1", "-w", "-rdynamic", f"-I{scratch}/torch/include",
                    *(f"-I{folder}" for folder in args.cuda_include), *includes,
                    SOURCE / "tests/torch/c10_subject.cpp", *objects,
                    pathlib.Path(args.build) / "lib/libvs_base.a", "-o", program, f"-L{lib}",
                    "-lc10_cuda", "-lc10", f"-L{simulator}", "-l:libcudart.so.13", "-lcmocka",
                    f"-Wl,-rpath,{lib}"], check=True)
    return program


def main():
    args = check_c10.arguments()
    scratch = pathlib.Path(args.scratch)
    check_c10.unpack(scratch)
    check_c10.compile_nvml(args, scratch)
    simulator = pathlib.Path(args.build) / "lib/vramscope/simulator"
    program = compile_all(args, scratch, simulator)
    env = dict(os.environ, LD_LIBRARY_PATH=f"{scratch}/nvml:{simulator}", TORCH_CPP_LOG_LEVEL="ERROR")
    failed = 0
    for name in CONFIGURATIONS:
        run = subprocess.run([program, STEPS, SEED, name], env=env, timeout=600,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        print(f"{name}: {'equal' if run.returncode == 0 else 'DIFFERENT'} over {STEPS} steps")
        if run.returncode:
            failed += 1
            print(run.stdout[-6000:], run.stderr[-1000:])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
