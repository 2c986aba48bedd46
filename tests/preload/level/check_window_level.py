#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of peaks in the process have the figures that `vramscope report` and `check` have for the same
part of the trace: a framework's tensors and memory that does not hold them.

    check_window_level.py SOURCE BIN VICTIM device|mapped|pool
"""
import os
import pathlib
import subprocess
import sys
import tempfile

MIB = 1 << 20
EXPECTED = {  # begin, end, peak, tensors' peak, in MiB; allocations, frees
    "first": (8, 17, 24, 9, 4, 1),
    "tensors": (17, 17, 29, 21, 1, 1),
    "beside": (17, 19, 79, 11, 2, 1),
    "freed": (19, 14, 19, 11, 0, 2),
    "whole": (17, 14, 79, 21, 3, 4),
}


def windows(command, victim, case, trace, *options):
    env = {k: v for k, v in os.environ.items() if not k.startswith("VRAMSCOPE_") and k != "LD_PRELOAD"}
    done = subprocess.run([command, "run", "-q", "--simulate", "h100-80g", "-o", trace, *options, "--", victim, case],
                          env=env, stdout=subprocess.PIPE, text=True, timeout=600)
    assert done.returncode == 0, (options, done.returncode, done.stdout)
    found = {}
    for line in done.stdout.splitlines():
        name, *fields = line.split()
        found[name] = {key: int(value) for key, value in (field.split("=") for field in fields)}
    return found


FIRST_OF_A_POOL = (11, 17, 27, 9, 3, 1)


def check_figures(found, case, options):
    assert set(found) == set(EXPECTED), found
    for name, w in found.items():
        expected = FIRST_OF_A_POOL if (case, name) == ("pool", "first") else EXPECTED[name]
        figures = [w[k] / MIB for k in ("begin", "end", "peak", "tensors")] + [w["allocations"], w["frees"]]
        assert figures == list(expected), (options, name, figures)


def check_trace(command, trace, found):
    from vramscope import Trace
    for name, w in found.items():
        part = Trace(trace, begin_ns=w["begin_ns"], end_ns=w["end_ns"])
        device = part.report()["devices"][0]
        assert device["level"] == "framework", (name, device["level"])
        assert device["peak_user"]["bytes"] == w["peak"], (name, device["peak_user"], w)
        assert device["sites_live_at_end"]["total_bytes"] == w["end"], (name, device["sites_live_at_end"], w)
    limits = {"79MiB": 0, "78MiB": 1}  # the peak of the whole trace
    for limit, status in limits.items():
        done = subprocess.run([command, "check", trace, "--max-peak", limit], stdout=subprocess.PIPE, text=True)
        assert done.returncode == status, (limit, done.stdout)


def main():
    source, folder, victim, case = sys.argv[1:]
    command = os.path.join(folder, "vramscope")
    sys.path.insert(0, str(pathlib.Path(source) / "python"))
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, "t.vst")
        ways = [(), ("--allocator=caching",), ("--stacks=none",), ("--record=off",)]
        if case != "pool":  # is recognized by its call stack, which a sample may lack
            ways.append(("--sample=3",))
        for options in ways:
            if os.path.exists(trace):
                os.unlink(trace)
            found = windows(command, victim, case, trace, *options)
            check_figures(found, case, options)
            if options not in (("--record=off",), ("--sample=3",)):
                check_trace(command, trace, found)


if __name__ == "__main__":
    main()
