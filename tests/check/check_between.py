#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that was in use only between two readings of free memory counts for max-device and min-free:
it exceeds the limit where the trace shows it, and leaves the limit unchecked where it does not. Readings
alone let a peak of 300 MiB pass a limit of 150.

    check_between.py BIN_DIR PROGRAM ROOT
"""
import sys

from gate_runs import Gate

MIB = 1 << 20


def record(gate, family, *options):
    done = gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "-o", gate.path(family + ".vst"), *options, "--",
                     gate.program, family])
    gate.expect("%s is recorded" % family, done.returncode == 0, done)
    return gate.path(family + ".vst")


def value(gate, trace, option, limit):
    return gate.json_of(trace, option, limit)["traces"][0]["limits"][0]["bytes"]


def check_family(gate, family, used, free, *options):
    trace = record(gate, family, *options)
    for option, limit in (("--max-device", used + 150 * MIB), ("--min-free", free - 150 * MIB)):
        done = gate.check(trace, option, str(limit))
        what = "%s %s" % (family, option)
        if family == "managed":
            gate.expect(what, done.returncode == 2 and option + " cannot be checked" in done.stderr and
                        "managed memory" in done.stderr and "ok" not in done.stdout, done)
        else:
            gate.expect(what, done.returncode == 1 and "FAIL" in done.stdout, done)
    for option, limit in (("--max-device", used + 400 * MIB), ("--min-free", free - 400 * MIB)):
        done = gate.check(trace, option, str(limit))
        gate.expect("%s holds a larger limit" % family, done.returncode == 0, done)
    if family in ("device", "graph", "vmm", "array"):
        gate.expect("%s: the bytes" % family, value(gate, trace, "--max-device", "1GiB") == used + 300 * MIB)


def main():
    gate = Gate(*sys.argv[1:4])
    none = record(gate, "none")
    used, free = value(gate, none, "--max-device", "1GiB"), value(gate, none, "--min-free", "1GiB")
    for family in ("device", "managed", "graph", "vmm", "pool", "array"):
        check_family(gate, family, used, free, "--allocator=observe")
        check_family(gate, family, used, free, "--sample", "1000000")
    baseline = ("--baseline", gate.path("memory.json"), "--device-readings")
    gate.check(record(gate, "managed"), *baseline, "--update-baseline")
    done = gate.check(gate.path("managed.vst"), *baseline)
    gate.expect("a baseline with managed memory", done.returncode == 0, done)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
