#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a trace does not have holds no limit: `vramscope check` says so and exits with 2.

    check_unusable.py BIN_DIR PROGRAM ROOT
"""
import json
import os
import sys

from gate_runs import Gate


def record(gate, name, bug, *options):
    done = gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "-o", gate.path(name), *options, "--",
                     gate.program] + ([bug] if bug else []))
    gate.expect("%s is recorded" % name, done.returncode == 0, done)
    return gate.path(name)


def stored(gate):
    with open(gate.path("memory.json"), encoding="utf-8") as f:
        return f.read()


def check_copies(gate):
    without = record(gate, "without.vst", "", "--kernels=off")
    done = gate.check(without, "--max-transfers", "5 copies")
    gate.expect("copies that were not recorded", done.returncode == 2 and "--kernels=on" in done.stderr and
                "ok" not in done.stdout, done)
    done = gate.check([gate.record(""), without], "--max-transfers", "5000 copies")
    gate.expect("another trace has the copies", done.returncode == 2 and "--kernels=on" in done.stderr, done)
    done = gate.check(without, "--baseline", gate.path("memory.json"), "--update-baseline")
    gate.expect("copies are not stored", done.returncode == 0 and "copies" not in stored(gate), done)
    gate.check(gate.record(""), "--baseline", gate.path("memory.json"), "--update-baseline")
    gate.expect("copies are stored", "copies" in stored(gate))
    done = gate.check(without, "--baseline", gate.path("memory.json"), "--format", "json")
    notes = json.loads(done.stdout)["traces"][0]["notes"]
    gate.expect("copies are not compared with the baseline", any("copies are not compared" in n for n in notes), done)


def check_tests(gate):
    """A suite of thousands of tests is checked; what is beyond the limit of phases holds nothing."""
    trace, base = record(gate, "tests.vst", "tests"), gate.path("tests.json")
    done = gate.check(trace, "--test", "*", "--max-peak", "94MiB")
    gate.expect("one of the last tests", done.returncode == 1 and done.stdout.count("FAIL") == 1 and
                "test t5990: peak allocated 160.0 MiB" in " ".join(done.stdout.split()) and
                "gate.c:%d" % gate.planted("tests") in done.stdout, done)
    done = gate.check(trace, "--baseline", base, "--update-baseline")
    gate.expect("a baseline of many tests", done.returncode == 0 and os.path.getsize(base) < 6 << 20, done)
    done = gate.check(trace, "--baseline", base)
    gate.expect("it holds", done.returncode == 0 and "24027 quantities" in done.stdout, done)
    trace = record(gate, "limit.vst", "limit")
    for options in (("--test", "*", "--max-peak", "94MiB"), ("--baseline", base)):
        done = gate.check(trace, *options)
        gate.expect("more tests than phases: %s" % options[0], done.returncode == 2 and
                    "65535 phases and tests or more" in done.stderr, done)
    done = gate.check(trace, "--max-peak", "200MiB")
    gate.expect("the whole program needs no phases", done.returncode == 0, done)


def check_cause(gate):
    """Every format names the cause, and what to do."""
    with open(gate.record(""), "rb") as f:
        whole = f.read()
    with open(gate.path("cut.vst"), "wb") as f:
        f.write(whole[:len(whole) - 100])
    for name, says in (("cut.vst", "is incomplete"), ("missing.vst", "no such file")):
        for form in ("json", "github", "junit", "markdown", "gitlab", "sarif"):
            done = gate.check(gate.path(name), "--max-peak", "1GiB", "--format", form)
            gate.expect("%s as %s: the cause" % (name, form), done.returncode == 2 and says in done.stdout and
                        says in done.stderr and "see the log" not in done.stdout, done)
    killed = gate.record("killed")
    done = gate.check(killed, "--max-peak", "1GiB")
    gate.expect("a killed program", done.returncode == 2 and "add --partial --allow-exit 137 to" in done.stderr, done)
    done = gate.check(killed, "--max-peak", "1GiB", "--partial", "--allow-exit", "137")
    gate.expect("it is checked then", done.returncode == 0 and "93.0 MiB is within" in done.stdout, done)


def check_other_program(gate):
    """A baseline of another program holds nothing, and is no success."""
    baseline = gate.path("other.json")
    gate.check(gate.record(""), "--baseline", baseline, "--update-baseline")
    with open(baseline, encoding="utf-8") as f:
        text = f.read()
    name = next(iter(json.loads(text)["processes"]))
    with open(baseline, "w", encoding="utf-8") as f:
        f.write(text.replace(json.dumps(name), json.dumps("renamed")))
    done = gate.check(gate.record(""), "--baseline", baseline)
    gate.expect("no process of the baseline", done.returncode == 2 and "nothing was compared" in done.stderr, done)
    done = gate.check(gate.record(""), "--baseline", baseline, "--max-peak", "1GiB")
    gate.expect("a limit beside it was compared", done.returncode == 0 and "has no process" in done.stdout, done)


def check_lists(gate):
    """Each of several limits of one quantity is checked, not the last one alone."""
    trace = gate.record("")
    done = gate.check(trace, "--max-peak", "1MiB", "--max-peak", "10GiB")
    gate.expect("the first of two limits", done.returncode == 1 and "exceeds 1.0 MiB" in done.stdout, done)
    with open(gate.path("two.toml"), "w", encoding="utf-8") as f:
        f.write('max-peak = ["1MiB", "10GiB"]\n')
    done = gate.check(trace, "--budget", gate.path("two.toml"))
    gate.expect("the first of a list", done.returncode == 1 and "exceeds 1.0 MiB" in done.stdout, done)


def main():
    gate = Gate(*sys.argv[1:4])
    check_copies(gate)
    check_tests(gate)
    check_cause(gate)
    check_other_program(gate)
    check_lists(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
