#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the verdicts of `vramscope oom` are right, with seeds that nobody has seen.

    bench_oom.py BUILD_DIR [--rounds N] [--seed N]

Prints the confusion matrix: a row for each planted cause, a column for each verdict. The seed is
printed, so that a wrong verdict can be repeated with --seed.
"""
import os
import random
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")


def main():
    build, rest = sys.argv[1], sys.argv[2:]
    if "--seed" not in rest:
        rest += ["--seed", str(random.SystemRandom().randrange(10 ** 6, 10 ** 9))]
    if "--rounds" not in rest:
        rest += ["--rounds", "5"]
    print(" ".join(rest), flush=True)
    sys.exit(subprocess.call([sys.executable, os.path.join(ROOT, "tests", "scenarios", "check_scenarios.py"),
                              os.path.join(build, "bin"), os.path.join(build, "tests"), "--matrix"] + rest))


if __name__ == "__main__":
    main()
