#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded stacks contain no frame of the recording library, for every kind of call: linked
functions, the driver's, function pointers from the driver, PyTorch's reports, its pluggable
allocator, a library of the program, injection.

  check_own_frames.py SIMULATOR LIBRARY DUMP_CHAINS WAY:PROGRAM[:ARGUMENT]..."""

import os
import re
import subprocess
import sys
import tempfile

from check_chains import run

HOW = ("observe", "caching")


def settings(way, library, allocator):
    if way == "preload":
        return {"LD_PRELOAD": library, "NVTX_INJECTION64_PATH": library, "VRAMSCOPE_ALLOCATOR": allocator}
    if way == "inject":
        return {"CUDA_INJECTION64_PATH": library, "VRAMSCOPE_ALLOCATOR": "observe"}
    return {"VRAMSCOPE_ALLOCATOR": allocator}


def main(all_runs, simulator, library, dump, *programs):
    bad = 0
    for item in programs:
        way, *command = item.split(":")
        for allocator in HOW if way != "inject" else HOW[:1]:
            done, traces = run(all_runs, simulator + ":" + os.path.dirname(command[0]), command,
                               **settings(way, library, allocator))
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
