#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs random programs on the simulated GPU under its checker:
run_safety.py clean|caught FIRST LAST PROGRAM [ARG...] [VARIABLE=VALUE...]

Runs the seeds FIRST to LAST, a hundred in one process. clean: no seed may give a report,
find its data changed or fail. caught: an allocator with a planted bug, which the checker
or the data must show with one of the seeds. A value that begins with @/ names a file in a
temporary folder."""
import os
import subprocess
import sys
import tempfile

AT_A_TIME = 100


def run(program, first, count, env):
    env = dict(os.environ, VRAMSCOPE_SIMULATE=f"t4-16g,capacity=640MiB,time=off,seed={first},check=fail",
               **env)
    with tempfile.TemporaryDirectory() as folder:
        env = {name: value.replace("@", folder, 1) if value[:2] == "@/" else value
               for name, value in env.items()}
        p = subprocess.run([*program, str(first), str(count)], env=env, capture_output=True,
                           text=True, timeout=600)
    caught = p.returncode in (4, 86)
    return p.returncode, caught, p.stdout + p.stderr


def main():
    if len(sys.argv) < 5 or sys.argv[1] not in ("clean", "caught"):
        print(__doc__, file=sys.stderr)
        return 2
    want, begin, last = sys.argv[1], int(sys.argv[2]), int(os.environ.get("SAFETY_SEEDS", sys.argv[3]))
    program = [a for a in sys.argv[4:] if "=" not in a]
    env = dict(a.split("=", 1) for a in sys.argv[4:] if "=" in a)
    for first in range(begin, last + 1, AT_A_TIME):
        count = min(AT_A_TIME, last + 1 - first)
        code, caught, text = run(program, first, count, env)
        if want == "caught" and caught:
            print(f"caught within seeds {first} to {first + count - 1}:\n{text[:2000]}")
            return 0
        if code or "vramscope checker:" in text:
            print(f"seeds {first} to {first + count - 1}: status {code}\n{text[:8000]}")
            return 1
    print(f"seeds {begin} to {last}: {'no report, no data changed' if want == 'clean' else 'NOT caught'}")
    return 0 if want == "clean" else 1


if __name__ == "__main__":
    sys.exit(main())
