#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope run --check BUDGET`, budget files and their errors.

    check_run.py BIN_DIR PROGRAM ROOT
"""
import os
import random
import sys

from gate_runs import Gate

BUDGET = """# The budget of the model.
max-peak = "94MiB"        # allocated
no-leaks = true
max-growth-per-step = 0
max-transfers = ["h2d:1copies/step", "2copies/step"]
allow-exit = %s

[[limit]]                 # one phase
phase = "forward"
max-peak = "94MiB"

[[limit]]
test = "tests/test_gate.py::*"
max-leak = 0
"""
ERRORS = [
    ('max-paek = "1GiB"', 1, "unknown key 'max-paek'; did you mean 'max-peak'?"),
    ('\n# x\nmax-peak = "lots"', 3, "max-peak takes a size such as 6GiB, not 'lots'"),
    ("max-peak = 1.5", 1, "max-peak takes a size"),
    ("max-peak = [1", 1, "docs/budgets.md"),
    ("# x\nmax-peak = [}", 2, "a key or value was expected"),
    ("[=]\nmax-peak = 1", 1, "docs/budgets.md"),
    ('[[limit]]\nphas = "x"\nmax-peak = 1', 2, "unknown key 'phas'; did you mean 'phase'?"),
    ('[[limit]]\nphase = "x"', 1, "limits nothing"),
    ("device = 0", 1, "below a line [[limit]]"),
    ("[limit]\nmax-peak = 1", 1, "two brackets"),
    ('[[limit]]\nphase = "forward"\ntolerance = "2%"\nmax-peak = 1', 3, "applies to the whole file"),
    ('[[limit]]\nphase = "a"\ntest = "b"\nmax-peak = 1', 3, "not both"),
    ('[[limit]]\nphase = "a"\nmin-free = 1', 3, "whole program only"),
    ('[[limit]]\ndevice = "0"\nmax-peak = 1', 2, "device takes a device number"),
    ('no-leaks = "yes"', 1, "takes true or false"),
    ('max-peak = 1\nmax-peak = 2', 2, "max-peak"),
]


def write(gate, name, text):
    with open(gate.path(name), "w", encoding="utf-8") as f:
        f.write(text)
    return gate.path(name)


def run_checked(gate, bug, budget, *more):
    return gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "-o", gate.path("run.vst"),
                     "--check", budget, *more, "--", gate.program] + ([bug] if bug else []))


def check_statuses(gate):
    budget = write(gate, "vramscope.toml", BUDGET % '"0"')
    for bug, code, says in (("", 0, ""), ("peak", 1, "vramscope.toml:2"), ("held", 1, "vramscope.toml:14"),
                            ("leak", 1, "vramscope.toml:14"), ("copy", 1, "vramscope.toml:5"),
                            ("status", 3, "exited with status 3"), ("oom", 1, "ran out of memory")):
        done = run_checked(gate, bug, budget)
        gate.expect("run --check, %s: %d" % (bug or "clean", code), done.returncode == code and says in done.stderr,
                    done)
        gate.expect("run --check prints nothing on standard output", done.stdout == "", done)
        if bug in ("peak", "held", "leak", "copy"):
            gate.expect("run --check names the planted line of " + bug,
                        "gate.c:%d" % gate.planted(bug) in done.stderr, done)
    allowed = write(gate, "allowed.toml", BUDGET % '"3"')
    gate.expect("an allowed status", run_checked(gate, "status", allowed).returncode == 0)
    done = run_checked(gate, "peak", budget, "--check-output", "junit=" + gate.path("memory.xml"))
    with open(gate.path("memory.xml")) as f:
        gate.expect("--check-output", "<failure" in f.read(), done)


def check_quiet(gate):
    """Paths are those that were given; with --quiet only exceeded limits are printed."""
    budget = write(gate, "vramscope.toml", BUDGET % '"0"')
    words = [gate.tool, "run", "--simulate", "h100-80g", "--check", budget]
    done = gate.run([*words, "-q", "-o", "given.vst", "--", gate.program])
    gate.expect("--quiet prints nothing when every limit holds", (done.returncode, done.stderr) == (0, ""), done)
    done = gate.run([*words, "-o", "given.vst", "--", gate.program])
    gate.expect("the relative path of -o", "\nok    given.vst:" in done.stderr, done)
    done = gate.run([*words, "-q", "-o", "./given.vst", "--", gate.program, "peak"])
    gate.expect("an exceeded limit alone", done.returncode == 1 and "FAIL  ./given.vst:" in done.stderr and
                "ok  " not in done.stderr and "more: vramscope report ./given.vst --by site" in done.stderr, done)
    done = gate.run([*words, "-q", "--", gate.program, "peak"])
    gate.expect("the default name is relative", "FAIL  vramscope.gate." in done.stderr, done)
    done = gate.run([*words, "-q", "-o", gate.path("given.vst"), "--", gate.program, "peak"])
    gate.expect("an absolute path", "FAIL  %s:" % gate.path("given.vst") in done.stderr, done)


def check_errors(gate):
    for text, line, says in ERRORS:
        budget = write(gate, "bad.toml", text + "\n")
        done = gate.check(gate.record(""), "--budget", budget)
        gate.expect("%r: %s" % (text, says), done.returncode == 2 and says in done.stderr and
                    "bad.toml:%d: " % line in done.stderr and done.stdout == "", done)
        if os.path.exists(gate.path("run.vst")):
            os.unlink(gate.path("run.vst"))
        done = run_checked(gate, "", budget)
        gate.expect("%r: the program is not started" % text, done.returncode == 125 and
                    not os.path.exists(gate.path("run.vst")), done)
    for text, says in (('[[limit]]\nphase = "forwrad"\nmax-peak = 1', "bad.toml:3: no phase 'forwrad' occurred"),
                       ('[[limit]]\nprocess = "other"\nmax-peak = 1', "bad.toml:3: no trace is of a process"),
                       ('[[limit]]\ndevice = 4\nmax-peak = 1', "did not use device 4"),
                       ('[[limit]]\nprocess = "gate"\ndevice = 4\nmax-peak = 1', "the program did not use device 4"),
                       ('[[limit]]\nphase = "forward"\ndevice = 4\nmax-peak = 1', "phase 'forward' did not use device 4"),
                       ('[[limit]]\nphase = "forward"\nprocess = "x"\nmax-peak = 1', "no trace is of a process 'x'"),
                       ("", "bad.toml sets no limit"), ("no-leaks = false", "bad.toml sets no limit")):
        done = gate.check(gate.record(""), "--budget", write(gate, "bad.toml", text + "\n"))
        gate.expect("%r: %s" % (text, says), done.returncode == 2 and says in done.stderr, done)


def check_settings_of_run(gate):
    """What run says to add are settings of its budget file and its own options."""
    limit = write(gate, "killed.toml", 'max-peak = "1GiB"\n')
    done = run_checked(gate, "killed", limit)
    gate.expect("killed", done.returncode == 137 and 'add partial = true and allow-exit = "137" to the budget file' in
                done.stderr, done)
    accepted = write(gate, "accepted.toml", 'max-peak = "1GiB"\npartial = true\nallow-exit = "137"\n')
    done = run_checked(gate, "killed", accepted)
    gate.expect("killed, and accepted", done.returncode == 0, done)
    done = run_checked(gate, "", limit, "--check-output", "yaml=x")
    gate.expect("a format that does not exist", "vramscope run: --check-output takes FORMAT=FILE" in done.stderr, done)


def check_unusable_baselines(gate):
    """They are found before the program starts."""
    for content, says in ((None, "--update-baseline"), ("{", "not a baseline")):
        if content is not None:
            write(gate, "lost.json", content)
        if os.path.exists(gate.path("run.vst")):
            os.unlink(gate.path("run.vst"))
        done = run_checked(gate, "", write(gate, "lost.toml", 'baseline = "lost.json"\n'))
        gate.expect("a baseline with %r: the program is not started" % content, done.returncode == 125 and
                    "lost.json: " in done.stderr and says in done.stderr and
                    not os.path.exists(gate.path("run.vst")), done)


def check_damaged(gate):
    """Damaged files are an error or another budget, never a crash."""
    rng, text = random.Random(1), (BUDGET % '"0"').encode()
    for n in range(80):
        damaged = bytearray(text)
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(damaged))
            if rng.random() < 0.4:
                damaged[at] = rng.randrange(256)
            elif rng.random() < 0.5:
                del damaged[at:at + rng.randint(1, 9)]
            else:
                damaged[at:at] = bytes(rng.choice(b'[]"=#.\n{}\\,') for _ in range(3))
        with open(gate.path("damaged.toml"), "wb") as f:
            f.write(damaged)
        done = gate.check(gate.record(""), "--budget", gate.path("damaged.toml"), "--format", "json")
        gate.expect("damaged file %d: %r" % (n, bytes(damaged)), done.returncode in (0, 1) or
                    (done.returncode == 2 and done.stderr.startswith("vramscope check: ")), done)


def check_precedence(gate):
    base = write(gate, "limits.toml", 'tolerance = "50%"\nbaseline = "memory.json"\n')
    gate.check(gate.record(""), "--baseline", gate.path("memory.json"), "--update-baseline")
    gate.expect("the baseline is beside its file",
                gate.run([gate.tool, "check", "--budget", base, gate.record("pool")], cwd="/").returncode == 0)
    gate.expect("options override the file",
                gate.check(gate.record("pool"), "--budget", base, "--tolerance", "0").returncode == 1)


def main():
    gate = Gate(*sys.argv[1:4])
    done = gate.check(gate.record(""), "--budget", write(gate, "try.toml", "max-peak = 1\n"))
    if "without toml++" in done.stderr:
        print("skipped: built without toml++")
        return 77
    check_statuses(gate)
    check_settings_of_run(gate)
    check_unusable_baselines(gate)
    check_quiet(gate)
    check_errors(gate)
    check_damaged(gate)
    check_precedence(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
