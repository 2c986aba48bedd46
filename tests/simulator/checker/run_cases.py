#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a case of checker_cases.c or planted.cu with several seeds: run_cases.py PROGRAM CASE SEEDS.
PROGRAM alone prints the report that each case must give, as KIND|KIND: FUNCTION, FUNCTION; "|"
separates those of which one suffices. The planted bug must be reported every time, with both
stacks, and the process must end with status 86; a case without a report never reports."""
import os
import re
import subprocess
import sys

HEAD = re.compile(r"^vramscope checker: ([a-z ]+): ", re.M)


def run(program, case, seed, expected):
    # Bytes that a race leaves unwritten would be reported too.
    more = "" if expected and not expected.startswith("uninitialised") else "+uninitialised"
    env = dict(os.environ, VRAMSCOPE_SIMULATE=f"t4-16g,seed={seed},check=fail{more}")
    p = subprocess.run([program, case, str(seed)], env=env, capture_output=True, text=True,
                       timeout=600)
    return p.returncode, p.stderr


def stacks_of(report):
    """The stack sections of a report, each the names of its functions."""
    sections = re.split(r"^  \S.*$", report, flags=re.M)
    names = [re.findall(r"^      #\d+ (\w+)", s, re.M) for s in sections]
    return [n for n in names if n]


def wrong_with(expected, code, text):
    text = re.sub(r"(?m)^vramscope checker: the accesses of \d+ kernels? are unknown.*\n", "", text)
    reports = [HEAD.match(r).group(1) for r in re.split(r"(?m)^(?=vramscope checker: )", text)
               if HEAD.match(r)]
    if not expected:
        return None if code == 0 and not text else f"clean, but status {code}"
    kinds, functions = expected.split(": ")
    if code != 86:
        return f"status {code} instead of 86"
    if not reports or reports[0] not in kinds.split("|"):
        return f"reported {reports} instead of {kinds}"
    stacks = stacks_of(text)
    for f in functions.split(", "):
        if not any(set(f.split("|")) & set(s) for s in stacks):
            return f"no stack names {f}"
    return None


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    program, case, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    table = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    expected = dict(line.split("\t") for line in table.splitlines())[case]
    good = 0
    for seed in range(1, seeds + 1):
        code, text = run(program, case, seed, expected)
        why = wrong_with(expected, code, text)
        good += not why
        if why:
            print(f"seed {seed}: {why}\n{text}")
    print(f"{case}: {good} of {seeds} {'reported' if expected else 'without a report'}")
    return 0 if good == seeds else 1


if __name__ == "__main__":
    sys.exit(main())
