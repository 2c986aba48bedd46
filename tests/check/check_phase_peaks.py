#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report --phase NAME` shows the peak of that phase: the bytes, the time and the place are those of
`check --phase`, for every phase of the trace, also of those that do not have the peak of the whole trace.

    check_phase_peaks.py BIN_DIR PROGRAM ROOT
"""
import json
import sys

from gate_runs import Gate


def report(gate, trace, *options):
    return json.loads(gate.run([gate.tool, "report", "--json", *options, trace]).stdout)


def measured(gate, trace, path):
    """The peak of a phase, as `check` has it."""
    found = gate.json_of(trace, "--phase", path, "--max-peak", "1B")["traces"][0]["limits"]
    row, = [row for row in found if row["phase"] == path]
    return row


def check_phases(gate, trace):
    whole = report(gate, trace)
    peak, below = whole["devices"][0]["peak_allocated"]["bytes"], 0
    for phase in whole["phases"]:
        path, figure = phase["path"], phase["peak_allocated"][0]["bytes"]
        live = report(gate, trace, "--phase", path)["devices"][0]["live"]
        row = measured(gate, trace, path)
        gate.expect("%s: %d bytes were live" % (path, figure), live["bytes_before_filter"] == figure == row["bytes"])
        gate.expect(path + ": the moment of check",
                    (live["event"], live["time_ns"], live["phase"]) == (row["event"], row["time_ns"], row["place"]))
        inside, outside = (sum(site["bytes"] for site in live[key]["sites"])
                           for key in ("by_site", "others_by_site"))
        gate.expect(path + ": both lists add up", inside == live["bytes"] and inside + outside == figure)
        below += figure < peak
    gate.expect("some phases do not have the peak", below > 0)


def check_text(gate, trace):
    """Of the forward pass, whose peak is below that of the trace."""
    done = gate.run([gate.tool, "report", "--phase", "forward", trace])
    for words in ("peak of the phase     85.0 MiB", "live at the phase's peak: 24.0 MiB of 85.0 MiB in 6 of 9 blocks",
                  "live then, allocated outside the phase: 61.0 MiB in 3 blocks", "load_batch (gate.c:"):
        gate.expect(words, words in done.stdout, done)
    done = gate.run([gate.tool, "report", "--at", "peak", "--phase", "forward", trace])
    gate.expect("--at chooses the moment", "24.0 MiB of 93.0 MiB in 6 of 10 blocks" in done.stdout, done)


def main():
    gate = Gate(*sys.argv[1:])
    for bug in ("", "held", "leak"):
        check_phases(gate, gate.record(bug))
    check_text(gate, gate.record(""))
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
