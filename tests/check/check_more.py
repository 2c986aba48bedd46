#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command below an exceeded limit ("more: …") works when pasted into a shell and shows the responsible line,
for every kind of limit; and `report` and `check` take the names of phases that `report` prints.

    check_more.py BIN_DIR PROGRAM ROOT
"""
import json
import os
import re
import shutil
import sys

from check_gate import KINDS, readings
from gate_runs import Gate


def more_of(text):
    """The commands, each on one line."""
    lines, found = text.splitlines(), []
    for i, line in enumerate(lines):
        if not line.startswith("      more: "):
            continue
        command = line[len("      more: "):]
        while command.endswith("\\"):
            i += 1
            command = command[:-1] + " " + lines[i].strip()
        found.append(command)
    return found


def shell(gate, command):
    environment = dict(gate.environment, PATH=os.path.dirname(gate.tool) + ":" + os.environ["PATH"])
    return gate.run(["sh", "-c", command], environment=environment)


def check_kinds(gate):
    used, free = readings(gate)
    gate.check(gate.record(""), "--baseline", gate.path("memory.json"), "--update-baseline")
    cases = [([used if o == "RESERVE" else free if o == "FREE" else o for o in options], bug) for options, bug in KINDS]
    cases += [(["--baseline", gate.path("memory.json")], bug) for bug in ("leak", "peak", "held", "pool", "copy")]
    cases += [(["--max-reserved", "104MiB"], "leak"), (["--phase", "step", "--max-reserved", "104MiB"], "pool")]
    for options, bug in cases:
        # a name that a shell would split
        odd = gate.path("a 'b' $c %s.vst" % bug)
        shutil.copy(gate.record(bug), odd)
        done = gate.check(odd, *options)
        what = " ".join(options) + " for " + bug
        commands = more_of(done.stdout)
        gate.expect(what + ": there is a command", len(commands) == done.stdout.count("FAIL  ") > 0, done)
        lines = ["gate.c:%d" % gate.planted(bug)]
        if options[0] in ("--max-device", "--min-free"):  # of the cache, whoever requested most of it
            lines += re.findall(r"requested by (?:\S+/)?(gate.c:\d+)", done.stdout)[:1]
        for command in commands:
            shown = shell(gate, command)
            gate.expect("%s: %s" % (what, command), shown.returncode == 0 and
                        any(line in shown.stdout for line in lines), shown)


def check_reserved(gate):
    """The command of a reserved peak shows the reserved bytes."""
    for bug in ("leak", "pool"):
        done = gate.check(gate.record(bug), "--max-reserved", "104MiB")
        size = re.search(r"peak reserved ([0-9.]+ MiB)", done.stdout).group(1)
        shown = shell(gate, more_of(done.stdout)[0])
        gate.expect("reserved %s in: %s" % (size, more_of(done.stdout)[0]),
                    re.search(r"reserved now +%s" % size, shown.stdout), shown)
        row, = [r for r in gate.json_of(gate.record(bug), "--max-reserved", "104MiB")["traces"][0]["limits"]
                if not r["held"]]
        check_cached(gate, gate.record(bug), row["event"], size)


def check_cached(gate, trace, event, size):
    """At the time of a reserved peak the live blocks and the cache add up to it, each with its lines."""
    moment = ["--by", "site", "--at", "@%d" % event, trace]
    shown = gate.run([gate.tool, "report", *moment])
    device = json.loads(gate.run([gate.tool, "report", "--json", *moment]).stdout)["devices"][0]
    live, cached = device["live"]["bytes"], device["cached_by_site"]
    gate.expect("live and cached memory are %s" % size, "%.1f MiB" % ((live + cached["total_bytes"]) / 2 ** 20) == size
                and sum(site["bytes"] for site in cached["sites"]) == cached["total_bytes"], shown)
    gate.expect("cached memory with its lines", "cached then, not in use: " in shown.stdout and
                re.search(r"reserved now +" + size, shown.stdout) and
                all(site["text"].split(" <")[0] in shown.stdout for site in cached["sites"][:5]), shown)


def check_names(gate):
    """Every name and path of a phase that report has is a phase to report and to check."""
    trace, line = gate.record("names"), "gate.c:%d" % gate.planted("names")
    report = json.loads(gate.run([gate.tool, "report", "--json", trace]).stdout)
    text = gate.run([gate.tool, "report", trace]).stdout
    phases = [p for p in report["phases"] if "n" * 150 in p["path"]]
    gate.expect("phases with whole names", len(phases) == 2)
    for phase in phases:
        gate.expect("the text has the whole name", phase["name"] + "\n" in text)
        for name in (phase["path"], phase["name"]):
            done = gate.run([gate.tool, "report", "--by", "site", "--at", "peak", "--phase", name, trace])
            gate.expect("report --phase " + name, done.returncode == 0 and line in done.stdout, done)
            done = gate.check(trace, "--phase", name, "--max-peak", "94MiB")
            gate.expect("check --phase " + name, done.returncode == 1 and line in done.stdout, done)
            for command in more_of(done.stdout):
                shown = shell(gate, command)
                gate.expect(command, shown.returncode == 0 and line in shown.stdout, shown)
    test = phases[0]["name"][len("test:"):]
    for pattern in (test, "*test_odd[[]*", "*::test_odd[it's-*]"):
        done = gate.check(trace, "--test", pattern, "--max-peak", "94MiB")
        expected = 2 if "[[]" in pattern else 1  # brackets are themselves
        gate.expect("check --test " + pattern, done.returncode == expected, done)


def main():
    gate = Gate(*sys.argv[1:4])
    check_kinds(gate)
    check_reserved(gate)
    check_names(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
