#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded stacks contain no frame of the recording library, for every kind of call: linked
functions, the driver's, function pointers from the driver, PyTorch's reports, its pluggable
allocator, a library of the program, injection.

  check_own_frames.py SIMULATOR LIBRARY DUMP_CHAINS WAY:PROGRAM[:ARGUMENT]..."""

import glob
import os
import re
import subprocess
import sys
import tempfile

HOW = ("observe", "caching")


def run(all_runs, simulator, library, way, command, allocator):
    folder = tempfile.mkdtemp(dir=all_runs)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("VRAMSCOPE_", "CUDA_", "LD_PRELOAD"))}
    env.update(LD_LIBRARY_PATH=simulator + ":" + os.path.dirname(command[0]),
               VRAMSCOPE_SIMULATE="t4-16g,capacity=1GiB,context=400MiB", VRAMSCOPE_ALLOCATOR=allocator,
               VRAMSCOPE_OUTPUT=os.path.join(folder, "%n.%p.vst"))
    if way == "preload":
        env.update(LD_PRELOAD=library, NVTX_INJECTION64_PATH=library)
    elif way == "inject":
        env.update(CUDA_INJECTION64_PATH=library, VRAMSCOPE_ALLOCATOR="observe")
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=600)
    return done, glob.glob(folder + "/*.vst")


def main(all_runs, simulator, library, dump, *programs):
    bad = 0
    for item in programs:
        way, *command = item.split(":")
        for allocator in HOW if way != "inject" else HOW[:1]:
            done, traces = run(all_runs, simulator, library, way, command, allocator)
            stacks = 0
            for trace in traces:
                text = subprocess.run([dump, "-o", trace], capture_output=True, text=True).stdout
                found = re.search(r"^stacks (\d+) own (\d+)$", text, re.M)
                stacks += int(found.group(1)) if found else 0
                if not found or found.group(2) != "0":
                    print(text)
                    bad += 1
            print(f"{way} {os.path.basename(command[0])} {' '.join(command[1:])} {allocator}: "
                  f"status {done.returncode}, {stacks} stacks")
            if not stacks:
                print("  no stack at all:", done.stderr)
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="own-") as all_runs:
        sys.exit(main(all_runs, *sys.argv[1:]))
