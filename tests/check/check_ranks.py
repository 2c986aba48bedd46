#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that a launcher starts have its ranks in check, diff and report, in whatever order they
start: before, the second of one name in a baseline was the one that started later.

    check_ranks.py BIN_DIR PROGRAM ROOT
"""
import json
import os
import re
import sys

from gate_runs import Gate

# launcher: variables of the rank, of the rank on the machine, of the number of processes
LAUNCHERS = {
    "torchrun": ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    "srun": ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"),
    "mpiexec": ("PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"),
}
VARIABLES = {v for names in LAUNCHERS.values() for v in names}


def record(gate, name, bug, **variables):
    """A trace of the program with these variables only."""
    path = gate.path(name + ".vst")
    environment = {k: v for k, v in gate.environment.items() if k not in VARIABLES}
    environment.update(variables)
    done = gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "-o", path, "--", gate.program] +
                    ([bug] if bug else []), environment=environment)
    if done.returncode:
        sys.exit("%s ended with %d: %s" % (name, done.returncode, done.stderr))
    return path


def job(gate, run, launcher, order):
    """The traces of two ranks, of which the second has the larger peak, started in that order."""
    traces = {}
    for rank in order:
        values = dict(zip(LAUNCHERS[launcher], (str(rank), str(rank), "2")))
        os.makedirs(gate.path(run), exist_ok=True)
        traces[rank] = record(gate, os.path.join(run, "p%d" % rank), "peak" if rank else "", **values)
    return traces


def check_job(gate, launcher):
    base = gate.path(launcher + ".json")
    first, second = job(gate, launcher + "-a", launcher, (1, 0)), job(gate, launcher + "-b", launcher, (0, 1))
    done = gate.check([first[1], first[0]], "--baseline", base, "--update-baseline")
    gate.expect(launcher + ": a baseline of two ranks", done.returncode == 0, done)
    with open(base, encoding="utf-8") as f:
        processes = json.load(f)["processes"]
    gate.expect(launcher + ": named by rank", sorted(processes) == ["gate rank 0", "gate rank 1"], done)
    for order in ((0, 1), (1, 0)):
        done = gate.check([second[r] for r in order], "--baseline", base)
        gate.expect(launcher + ": it holds in any order", done.returncode == 0, done)
        gate.expect(launcher + ": ranks in their order",
                    -1 < done.stdout.find("p0.vst") < done.stdout.find("p1.vst"), done)
    done = gate.check(second[1], "--baseline", base)
    gate.expect(launcher + ": one rank is compared with itself", done.returncode == 0, done)
    return first, second


def check_limits(gate, traces):
    for process, status in (("gate", 1), ("gate rank 1", 1), ("gate rank 0", 0), ("gate*0", 0)):
        done = gate.check(list(traces.values()), "--process", process, "--max-peak", "94MiB")
        gate.expect("--process '%s'" % process, done.returncode == status, done)


def check_report(gate, traces):
    done = gate.run([gate.tool, "report", traces[1]])
    gate.expect("the report names the rank", done.stdout.startswith("gate rank 1 of 2  pid "), done)
    process = json.loads(gate.run([gate.tool, "report", "--json", traces[1]]).stdout)["process"]
    gate.expect("the JSON has the rank", (process["rank"], process["local_rank"], process["world_size"]) ==
                (1, 1, 2) and process["program"] == "gate")
    family = gate.run([gate.tool, "report", os.path.dirname(traces[1])])
    gate.expect("the family lists ranks in their order",
                -1 < family.stdout.find("p0.vst") < family.stdout.find("p1.vst"), family)


def check_diff(gate, first, second):
    done = gate.run([gate.tool, "diff", first[0], second[1]])
    gate.expect("diff of two ranks", "different ranks: gate rank 0 in A, gate rank 1 in B" in done.stdout, done)
    done = gate.run([gate.tool, "diff", first[1], second[1]])
    gate.expect("diff of one rank", done.stdout.startswith("no difference"), done)


LAUNCH = """
import os, subprocess, sys
started = [subprocess.Popen([sys.argv[1]] + (["peak"] if rank == 2 else []), env=dict(
    os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="4", GATE_DEVICE=str(rank)))
    for rank in range(4)]
sys.exit(max(process.wait() for process in started))
"""


def check_run_of_ranks(gate):
    """Four ranks below one `run` had four full reports, three runs in one folder were twelve processes, ranks on
    different devices could not be compared, and devices were named by UUID."""
    folder = gate.path("runs")
    os.makedirs(folder)
    environment = {k: v for k, v in gate.environment.items() if k not in VARIABLES}
    for run in range(3):
        done = gate.run([gate.tool, "run", "--simulate", "h100-80g,devices=4", "-o", os.path.join(folder, "%d.%%r.vst" % run),
                         "--", sys.executable, "-c", LAUNCH, gate.program], environment=environment)
        gate.expect("four ranks", done.returncode == 0, done)
    gate.expect("one full report, and that of what differs", done.stderr.count("live at the peak:") in (1, 2), done)
    gate.expect("ranks that are alike once", "other ranks are like rank" in done.stderr or
                "is like rank" in done.stderr, done)
    gate.expect("a table by rank", all(re.search(r"^ +%d +%d +\d+\.\d MiB +\d+\.\d MiB +\d+\.\d MiB +\d+\.\d\d GiB"
                                                 % (rank, rank), done.stderr, re.MULTILINE) for rank in range(4)), done)
    gate.expect("no UUID", "GPU-" not in done.stderr, done)
    done = gate.run([gate.tool, "report", folder])
    gate.expect("three runs", re.findall(r"^run (\d) of 3: 4 processes$", done.stdout, re.MULTILINE) ==
                ["1", "2", "3"], done)
    done = gate.run([gate.tool, "oom", folder])
    gate.expect("oom: three runs", done.stdout.count("none of 4 processes ran out of memory") == 3, done)
    done = gate.run([gate.tool, "report", "--json", folder])
    runs = [process["run"] for process in json.loads(done.stdout)["processes"]]
    gate.expect("the JSON has the run", sorted(runs) == [0] * 4 + [1] * 4 + [2] * 4, done)
    done = gate.check(folder, "--max-peak", "94MiB")
    gate.expect("check of a folder", done.returncode == 1 and done.stdout.count("EXCEEDED") == 3 or
                done.returncode == 1 and done.stdout.count("2.vst") >= 3, done)
    done = gate.run([gate.tool, "diff", os.path.join(folder, "0.0.vst"), os.path.join(folder, "0.2.vst")])
    gate.expect("ranks compare by their own device", done.returncode == 0 and "device 0 (B: 2)" in done.stdout, done)
    done = gate.check(os.path.join(folder, "0.0.vst"), "--max-tensors", "1GiB")
    gate.expect("no tensors to check", done.returncode == 2 and "no tensors of PyTorch were recorded" in done.stderr, done)


def check_names(gate):
    """One process has no number, nor has one whose variable is not a rank."""
    for name, variables, expected in (
            ("none", {}, "gate"), ("alone", {"RANK": "0", "WORLD_SIZE": "1"}, "gate"),
            ("batch", {"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, "gate"),
            ("text", {"RANK": "first", "WORLD_SIZE": "2"}, "gate"),
            ("unknown", {"PMI_RANK": "3"}, "gate rank 3"),
            ("nested", {"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"},
             "gate rank 1")):
        trace = record(gate, name, "", **variables)
        found = gate.json_of(trace, "--max-peak", "1GiB")["traces"][0]["process"]
        gate.expect("%s: '%s' instead of '%s'" % (name, found, expected), found == expected)


def main():
    gate = Gate(*sys.argv[1:4])
    for launcher in LAUNCHERS:
        first, second = check_job(gate, launcher)
    check_limits(gate, second)
    check_report(gate, second)
    check_diff(gate, first, second)
    check_run_of_ranks(gate)
    check_names(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
