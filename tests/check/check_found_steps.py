#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps that are found from the repeating requests count as marked ones do, with the last one: in lists by
step, in rows of allocations, in the page, and for call sites that are freed at the end of each step.

    check_found_steps.py BIN_DIR PROGRAM ROOT
"""
import csv
import io
import json
import sqlite3
import sys

from gate_runs import Gate

STEPS = 20


def report(gate, trace, *options):
    return gate.run([gate.tool, "report", trace, *options])


def check_report(gate, trace):
    done = report(gate, trace)
    gate.expect("the last step is counted", "20 done (from repeating requests)" in done.stdout, done)
    done = report(gate, trace, "--by", "step")
    gate.expect("--by step", "step 20" in done.stdout and "steps 1 to 19, 1.0 MiB each" in done.stdout and
                "before the first step" in done.stdout, done)
    done = report(gate, trace, "--by", "site", "--step", "3-7")
    gate.expect("--step 3-7", done.returncode == 0 and "5.0 MiB" in done.stdout, done)
    done = report(gate, trace, "--step", "21")
    gate.expect("there is no step 21", done.returncode == 2 and "the last one is step 20" in done.stderr, done)


def check_rows(gate, trace):
    done = gate.run([gate.tool, "export", trace, "-f", "csv", "-o", "-"])
    live = [row for row in csv.DictReader(io.StringIO(done.stdout))
            if not row["end"] and row["size_bytes"] == str(1 << 20)]
    steps = [row["step"] for row in live]
    gate.expect("a block of each step: %s" % steps, steps == [str(i) for i in range(1, STEPS + 1)])
    gate.run([gate.tool, "export", trace, "-f", "sqlite", "-o", gate.path("steps.db")])
    with sqlite3.connect(gate.path("steps.db")) as base:
        rows = base.execute("select step from steps order by step").fetchall()
        gate.expect("steps of the database: %s" % rows, [n for n, in rows] == list(range(1, STEPS + 1)))
        count = base.execute("select count(distinct step) from allocations").fetchone()[0]
        gate.expect("steps of its allocations: %d" % count, count == STEPS)


def check_replay(gate, trace):
    def peak(*options):
        done = gate.run([gate.tool, "replay", "--json", "--policy", "pytorch", trace, *options])
        gate.expect("replay %s" % " ".join(options), done.returncode == 0, done)
        return json.loads(done.stdout)["rows"][-1]["allocated_peak_bytes"]
    without, freed = peak(), peak("--free-site", "backward")
    gate.expect("blocks that are freed at the end of each step: %d, %d" % (without, freed),
                without - freed == (STEPS - 1) << 20)


def main():
    gate = Gate(*sys.argv[1:4])
    trace = gate.record("unmarked")
    check_report(gate, trace)
    check_rows(gate, trace)
    check_replay(gate, trace)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
