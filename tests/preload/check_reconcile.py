#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The balance of a device's memory, to the byte, on the simulated GPU.

    check_reconcile.py BIN TESTS CASE

Runs a case of victim_reconcile (folder TESTS/compat) under `vramscope run` (folder BIN),
observed and with the cache, with the shared and the static runtime, with stacks and
without, and compares the report's JSON with the simulated device's actual memory.
"""
import json
import os
import subprocess
import sys
import tempfile

MIB = 1 << 20
GIB = 1 << 30
CONTEXT = 400 * MIB


def run(folders, case, device, runtime, allocator, stacks):
    """The device's two balances, by name."""
    command = os.path.join(folders[0], "vramscope")
    program = os.path.join(folders[1], "compat", f"victim_reconcile_{runtime}")
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, "t.vst")
        how = "--via=injection" if allocator == "injection" else f"--allocator={allocator}"
        done = subprocess.run([command, "run", "--quiet", "--simulate", device, how, "--stacks", stacks, "-o", trace, program, case],
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{program} {case}: {done.returncode}\n{done.stdout}{done.stderr}")
        report = subprocess.run([command, "report", "--json", trace], capture_output=True,
                                text=True, check=True)
    return json.loads(report.stdout)["devices"][0]["device_memory"]


def adds_up(balance):
    """The parts are the used bytes, and the libraries the allocated ones."""
    parts = balance["parts"]
    total = sum(parts["live"].values()) + sum(v for k, v in parts.items() if k != "live")
    assert total == balance["used_bytes"], (total, balance)
    assert balance["used_bytes"] + balance["free_bytes"] == balance["total_bytes"], balance
    libraries = sum(one["bytes"] for one in balance["libraries"])
    assert libraries == balance["allocated_bytes"], (libraries, balance)


def library(balance, name):
    return sum(one["bytes"] for one in balance["libraries"] if one["name"] == name)


def pools(peak):
    assert peak["processes"]["how"] in ("by_elimination", "by_pid"), peak
    # the pools' segments of 32 MiB, larger where a block is: 96 MiB and 32 MiB for 12 MiB
    assert peak["parts"]["live"]["async"] + peak["parts"]["pools"] == 128 * MIB, peak
    # injected, queries of the program are not recorded: the reading before its free is the highest
    live = 82 if peak["processes"]["how"] == "by_pid" else 12
    assert peak["parts"]["live"]["async"] == live * MIB, peak


def libraries(peak):
    assert (library(peak, "NCCL"), library(peak, "cuBLAS"), library(peak, "the program")) == (
        30 * MIB, 32 * MIB, 10 * MIB), peak


FURTHER = {"pools": pools, "libraries": libraries}
# of the highest use, or of the last reading
EXPECTED = {
    "sizes": {"parts/other_processes": 2 * GIB, "processes/how": "by_pid", "processes/others": 1,
              "processes/largest": [{"pid": 4194305, "bytes": 2 * GIB}], "contexts_known": "reported_by_nvml"},
    "pools": {"parts/other_processes": GIB},
    "arrays": {"parts/live/array": 1024 * 1000 * 4},
    # the context's memory and that of other processes cannot be distinguished
    "libraries": {"processes/how": "no_figures", "contexts_known": "at_most", "parts/contexts": CONTEXT + GIB},
    "contexts": {"context_count": 2, "parts/contexts": 2 * CONTEXT, "last/context_count": 1,
                 "last/parts/contexts": CONTEXT},
    "managed": {"managed_live_bytes": 64 * MIB, "parts/managed_at_most": 24 * MIB},
    "forked": {"parts/live/device": 40 * MIB},
    "captured": {"parts/live/device": 2 * MIB},
    # the program's question, with as much held as at the one before, is a reading too
    "variables": {"parts/modules": 20 * MIB, "parts/live/device": 2 * MIB},
}


def check(case, peak, last):
    for path, expected in EXPECTED[case].items():
        found = {**peak, "last": last}
        for key in path.split("/"):
            found = found[key]
        assert found == expected, (path, found, peak, last)
    if case in FURTHER:
        FURTHER[case](peak)


DEVICES = {"sizes": "t4-16g,others=2GiB,context=400MiB", "pools": "t4-16g,others=1GiB,nvml=pids,context=400MiB",
           "injected pools": "t4-16g,others=1GiB,context=400MiB", # nobody was there before the context
           "libraries": "t4-16g,others=1GiB,nvml=nofigures,context=400MiB", "contexts": "t4-16g,nvml=none,context=400MiB"}


def main():
    bin_folder, tests_folder, case = sys.argv[1:]
    for runtime in ("shared", "static"):
        for allocator in ("observe", "caching", "injection"):
            if case == "contexts" and allocator == "caching":
                continue
            if allocator == "injection" and case not in ("sizes", "pools"): # its first reading comes late
                continue
            device = DEVICES.get(case, "t4-16g,context=400MiB")
            if allocator == "injection":
                device = DEVICES.get(f"injected {case}", device)
            for stacks in ("native", "none"):
                memory = run((bin_folder, tests_folder), case, device, runtime, allocator, stacks)
                peak, last = memory["highest_use"], memory["last_reading"]
                for balance in (peak, last):
                    adds_up(balance)
                    assert balance["parts"]["unexplained"] == 0, (runtime, allocator, balance)
                if case not in ("libraries", "contexts"):
                    assert peak["parts"]["contexts"] == CONTEXT, peak
                check(case, peak, last)


if __name__ == "__main__":
    main()
