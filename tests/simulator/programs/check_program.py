#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One program on the simulated GPU: check_program.py WAY,... BUILD DEVICE PROGRAM

First it finds its own results right (exit status 0), and then, in each WAY:

     seeds    it prints the same whatever the simulated durations
     observe  and under `vramscope run`, which sees every allocation and free
     caching  likewise, with vramscope's allocator in place of the driver's
     check    and the checker, which sees every access, finds nothing to report

or, as the only WAY, planted: the checker finds the planted bug with every seed
"""
import json
import os
import subprocess
import sys
import tempfile

SEEDS = (1, 2, 3)
PLANTED_SEEDS = range(1, 21)
CHECK = "check=fail+uninitialised+leaks"


def run(command, env, expected=0, quiet=False):
    p = subprocess.run(command, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, check=False)
    out, err = p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")
    if p.returncode != expected:
        sys.exit(f"{' '.join(command)}: exit status {p.returncode}, not {expected}\n{out}{err}")
    if quiet and "vramscope checker" in err:
        sys.exit(err)
    return out if expected == 0 else err


def main():
    ways, build, device, program = sys.argv[1:5]
    libraries = os.path.join(build, "lib", "vramscope", "simulator")

    def plain(spec, *how):
        return run([program], {"LD_LIBRARY_PATH": libraries, "VRAMSCOPE_SIMULATE": spec}, *how)

    if ways == "planted":
        for seed in PLANTED_SEEDS:
            err = plain(f"{device},check=fail,seed={seed}", 86)
            if "vramscope checker: race" not in err:
                sys.exit(f"with seed={seed} it is not called a race:\n{err}")
        print(f"found with all of {len(PLANTED_SEEDS)} seeds")
        return
    expected = plain(device)
    print(expected, end="")
    for way in ways.split(","):
        print(way, flush=True)
        if way == "seeds":
            for seed in SEEDS:
                out = plain(f"{device},seed={seed}")
                if out != expected:
                    sys.exit(f"with seed={seed} it prints\n{out}")
        elif way == "check":
            out = plain(f"{device},{CHECK}", 0, True)
            if out != expected:
                sys.exit(f"checked, it prints\n{out}")
        elif way in ("observe", "caching"):
            check_recorded(build, device, program, way, expected)
        else:
            sys.exit(f"no such way: {way}")


def check_recorded(build, device, program, allocator, expected):
    vramscope = os.path.join(build, "bin", "vramscope")
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, "program.vst")
        out = run([vramscope, "run", "-o", trace, f"--allocator={allocator}", "--simulate", device, "--",
                   program], {"LD_LIBRARY_PATH": os.path.join(build, "lib", "vramscope", "simulator")})
        if out != expected:
            sys.exit(f"under vramscope ({allocator}) it prints\n{out}")
        report = json.loads(run([vramscope, "report", "--json", trace], {}))
    if report["trace"]["condition"] != "complete":
        sys.exit(f"the trace is {report['trace']['condition']}")
    allocations = sum(f["allocations"] for d in report["devices"] for f in d["families"].values())
    print(f"{allocations} allocations recorded")
    if not allocations:
        sys.exit("no allocation was recorded")


main()
