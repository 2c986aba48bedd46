#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recording of a program that links the library itself, by the library's position
(linked_victim.c: 3 allocations by the runtime, 5 by the driver, 7 by a pointer).

  check_linking.py SIMULATOR COUNT_TRACE LIBRARY LINKED_PROGRAM=EXPECTED... PROGRAM_WITHOUT_RUNTIME PLAIN_PROGRAM"""

import glob
import os
import subprocess
import sys
import tempfile


def run(all_runs, simulator, command, **more):
    folder = tempfile.mkdtemp(dir=all_runs)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMSCOPE_", "CUDA_", "LD_PRELOAD"))}
    env.update(LD_LIBRARY_PATH=simulator, VRAMSCOPE_SIMULATE="t4-16g,capacity=1GiB,context=400MiB",
               VRAMSCOPE_OUTPUT=os.path.join(folder, "%n.%p.vst"), **more)
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=600)
    return done, glob.glob(folder + "/*.vst")


def device_counts(count_trace, trace):
    text = subprocess.run([count_trace, trace], capture_output=True, text=True, check=True).stdout
    row = next(line for line in text.splitlines() if line.startswith("family 0 "))
    return tuple(map(int, row.split()[2:4]))


def main(all_runs, simulator, count_trace, library, *programs):
    *linked, dropped, plain = programs
    wrong = []
    for item in linked:
        program, expected = item.split("=")
        for how in ("observe", "caching"):
            done, traces = run(all_runs, simulator, [program], VRAMSCOPE_ALLOCATOR=how)
            found = [device_counts(count_trace, t) for t in traces]
            print(os.path.basename(program), how, done.returncode, found)
            if (done.returncode, done.stdout, done.stderr) != (4, "done\n", ""):
                wrong.append(f"{program} {how}: status {done.returncode}, {done.stdout!r} {done.stderr!r}")
            if found != [(int(expected),) * 2]:
                wrong.append(f"{program} {how}: {found} recorded instead of {expected}")
    done, _traces = run(all_runs, simulator, [dropped])
    if done.returncode != 99 or done.stderr.count("the CUDA runtime is not loaded") != 1:
        wrong.append(f"linked without libcudart: status {done.returncode}, {done.stdout!r} {done.stderr!r}")
    for scope in ("local", "global"):
        done, traces = run(all_runs, simulator, [plain, library, scope])
        print("opened", scope, done.returncode, traces)
        if (done.returncode, done.stdout, done.stderr, traces) != (0, "recording 0\n", "", []):
            wrong.append(f"opened {scope}: status {done.returncode}, {done.stdout!r} {done.stderr!r} {traces}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="linking-") as all_runs:
        sys.exit(main(all_runs, *sys.argv[1:]))
