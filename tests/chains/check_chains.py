#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the victims with known call chains under the library on the simulated GPU and compares every
recorded chain, frame by frame, with the one that the victim prints.

  check_chains.py SIMULATOR LIBRARY DUMP_CHAINS LIBRARIES PROGRAM..."""

import glob
import os
import re
import subprocess
import sys
import tempfile

DEPTH = 128  # recorded depth
DEEP = 1140  # the case that is deeper


def run(all_runs, simulator, command, **more):
    """Runs *command* on the simulated GPU with *more* in its environment; returns it and its traces."""
    folder = tempfile.mkdtemp(dir=all_runs)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("VRAMSCOPE_", "CUDA_", "LD_PRELOAD"))}
    env.update(LD_LIBRARY_PATH=simulator, VRAMSCOPE_SIMULATE="t4-16g,capacity=1GiB,context=400MiB",
               VRAMSCOPE_OUTPUT=os.path.join(folder, "%n.%p.vst"), **more)
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=600)
    return done, glob.glob(folder + "/*.vst")


def expected_of(text):
    found = {}
    for line in text.splitlines():
        m = re.fullmatch(r"chain (\d+) (.*)", line)
        if m:
            found[int(m.group(1))] = m.group(2)
    return found


def recorded(dump, trace):
    text = subprocess.run([dump, trace], capture_output=True, text=True, check=True).stdout
    chains = {}
    for line in text.splitlines():
        size, _, chain = line.partition(" ")
        chain = re.sub(r"( < deep)+", " < deep...", chain)
        chains.setdefault(int(size), []).append(re.sub(r"^(@cuda < |cudaMalloc < )*", "", chain))
    return chains


def raw(dump, trace):
    """The frames of each allocation as stored in the trace."""
    text = subprocess.run([dump, "-r", trace], capture_output=True, text=True, check=True).stdout
    return {int(size): chain.split(" < ") for size, _, chain in
            (line.partition(" ") for line in text.splitlines())}


def differences(done, traces, dump):
    if done.returncode or done.stderr or len(traces) != 1:
        return [f"status {done.returncode}, {len(traces)} traces, {done.stderr!r}"]
    wrong = [line for line in done.stdout.splitlines() if not line.startswith("chain ")]
    expected, chains = expected_of(done.stdout), recorded(dump, traces[0])
    for size, chain in sorted(expected.items()):
        if chains.get(size) != [chain]:
            wrong += [f"{size}: expected {chain}"] + [f"{size}: recorded {c}" for c in chains.get(size, ["nothing"])]
    wrong += [f"{size}: not expected {chains[size]}" for size in sorted(set(chains) - set(expected))]
    kept = {size: len(frames) for size, frames in raw(dump, traces[0]).items()}
    if kept.get(DEEP) != DEPTH + 1:
        wrong.append(f"{DEEP}: {kept.get(DEEP)} frames kept instead of {DEPTH} and a mark")
    return wrong


def main(all_runs, simulator, library, dump, folder, *programs):
    bad = 0
    for program in programs:
        for how in ("observe", "caching"):
            done, traces = run(all_runs, simulator, [program, folder], LD_PRELOAD=library,
                               VRAMSCOPE_ALLOCATOR=how, VRAMSCOPE_STACK_DEPTH=str(DEPTH))
            wrong = differences(done, traces, dump)
            count = len(expected_of(done.stdout))
            print(f"{os.path.basename(program)} {how}: {count} chains, {len(wrong)} wrong")
            print(*("  " + line for line in wrong), sep="\n", end="\n" if wrong else "")
            bad += bool(wrong) or not count
    return 1 if bad else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="chains-") as all_runs:
        sys.exit(main(all_runs, *sys.argv[1:]))
