#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gate can fail: every kind of budget turns red for the bug that it is meant for and names the
planted line, and is green for the program without one.

    check_gate.py BIN_DIR PROGRAM ROOT
"""
import json
import re
import shlex
import sys

from gate_runs import Gate

FILE = "tests/check/gate.c"
# limit, the bug that it finds; the clean program has a peak of 93 MiB in 94 MiB of segments
KINDS = [
    (["--max-peak", "94MiB"], "peak"),
    (["--max-peak", "94MiB"], "held"),
    (["--max-peak", "100MiB", "--metric", "requested"], "leak"),
    (["--max-reserved", "120MiB"], "pool"),
    (["--max-device", "RESERVE"], "pool"),
    (["--min-free", "FREE"], "pool"),
    (["--max-growth-per-step", "0"], "leak"),
    (["--max-growth-per-step", "0"], "small"),
    (["--max-growth-per-step", "0"], "vector"),
    (["--max-growth-per-step", "0"], "pinned"),
    (["--no-leaks"], "leak"),
    (["--no-leaks"], "pinned"),
    (["--no-leaks"], "managed"),
    (["--max-leak", "1MiB"], "leak"),
    (["--max-live-at-end", "0"], "leak"),
    (["--max-transfers", "h2d:1copies/step"], "copy"),
    (["--max-transfers", "2copies/step"], "copy"),
    (["--max-transfers", "h2d:64KiB/step"], "copy"),
    (["--max-transfers", "20copies", "--max-transfers", "h2d:20copies"], "copy"),
    (["--phase", "backward", "--max-peak", "94MiB"], "held"),
    (["--phase", "step", "--max-leak", "0"], "leak"),
    (["--test", "tests/test_gate.py::*", "--max-leak", "0"], "leak"),
    (["--test", "tests/test_gate.py::test_training", "--max-peak", "94MiB"], "peak"),
    (["--process", "gate", "--max-peak", "94MiB"], "peak"),
    (["--device", "0", "--max-peak", "94MiB"], "peak"),
    (["--max-peak", "1TiB"], "oom"),
]
SEEDS = ["leak", "peak", "copy", "held", "pool"]


def readings(gate):
    """Limits between the clean program's readings of the device and those with the larger pool."""
    wish = ["--max-device", "0", "--min-free", "1PiB"]
    clean = gate.json_of(gate.record(""), *wish)["traces"][0]["limits"]
    return str(clean[0]["bytes"]), str(clean[1]["bytes"])


def check_kind(gate, options, bug):
    line = gate.planted(bug)
    what = " ".join(options) + " for " + bug
    if "20copies" not in options:
        clean = gate.check(gate.record(""), *options)
        gate.expect(what + ": the clean program is green", clean.returncode == 0, clean)
    done = gate.check(gate.record(bug), *options)
    gate.expect(what + ": red", done.returncode == 1, done)
    gate.expect(what + ": the text names line %d" % line, "gate.c:%d" % line in done.stdout, done)
    rows = [row for row in gate.json_of(gate.record(bug), *options)["traces"][0]["limits"] if not row["held"]]
    named = [(c["file"], c["line"]) for row in rows for c in row["culprits"]]
    gate.expect(what + ": the JSON names it", (FILE, line) in named)
    github = gate.check(gate.record(bug), "--format", "github", *options)
    gate.expect(what + ": GitHub's annotation names it", "%s:%d" % (FILE, line) in github.stdout or
                "file=%s,line=%d" % (FILE, line) in github.stdout, github)
    sarif = gate.check(gate.record(bug), "--format", "sarif", *options)
    places = re.findall(r'"uri": "([^"]*)",\s*"uriBaseId": "SRCROOT"\s*},\s*"region": {\s*"startLine": (\d+)',
                        sarif.stdout)
    gate.expect(what + ": SARIF names it", (FILE, str(line)) in places, sarif)


def check_baseline(gate, bug):
    """Against the baseline of the clean program, the planted line is the first that is named."""
    line, base = gate.planted(bug), gate.path("memory.json")
    for tolerance in ("0", "0.5%"):
        options = ["--baseline", base, "--tolerance", tolerance]
        what = "baseline with a tolerance of %s, %s" % (tolerance, bug)
        done = gate.check(gate.record(bug), *options)
        gate.expect(what + ": red", done.returncode == 1, done)
        rows = [row for row in gate.json_of(gate.record(bug), *options)["traces"][0]["limits"]
                if not row["held"] and not row["follows"] and row["phase"] is None]
        first = [(row["culprits"][0]["file"], row["culprits"][0]["line"]) for row in rows if row["culprits"]]
        gate.expect(what + ": the first line of every limit is %d, not %s" % (line, first),
                    first and set(first) == {(FILE, line)}, done)
        gate.expect(what + ": one problem is few messages", done.stdout.count("FAIL") <= 3, done)
        changes = {row["culprits"][0]["change"] for row in rows if row["culprits"]}
        gate.expect(what + ": it is new or grown", changes <= {"new", "grown"})
        github = gate.check(gate.record(bug), "--format", "github", *options)
        gate.expect(what + ": the annotation is at the line",
                    "::error title=GPU memory budget,file=%s,line=%d::" % (FILE, line) in github.stdout, github)
        sarif = gate.check(gate.record(bug), "--format", "sarif", *options)
        gate.expect(what + ": SARIF's location is the line",
                    re.search(r'"locations": \[\s*{\s*"physicalLocation": {\s*"artifactLocation": {\s*"uri": "%s",'
                              r'\s*"uriBaseId": "SRCROOT"\s*},\s*"region": {\s*"startLine": %d\s' %
                              (re.escape(FILE), line), sarif.stdout), sarif)


def check_paused(gate):
    """Memory allocated while the recording was stopped has no line. It is the reason, and no line is
    annotated in its place."""
    trace, words = gate.record("paused"), "200.0 MiB allocated while only totals were recorded"
    options = ["--max-peak", "94MiB"]
    done = gate.check(trace, *options)
    shown = done.stdout[done.stdout.index("most memory"):].split("\n")[1:4]
    gate.expect("the text has it first", shown[0].split() == words.split() and
                all(" 30.0 MiB  " in row for row in shown[1:]), done)
    github = gate.check(trace, *options, "--format", "github")
    gate.expect("GitHub's annotation has no line", "::error title=GPU memory budget::" in github.stdout and
                "most memory at that moment:%0A" + words in github.stdout, github)
    sarif = json.loads(gate.check(trace, *options, "--format", "sarif").stdout)["runs"][0]["results"][0]
    gate.expect("SARIF has no line and says so", "region" not in sarif["locations"][0]["physicalLocation"] and
                sarif["message"]["text"].endswith("; " + words))
    gitlab = json.loads(gate.check(trace, *options, "--format", "gitlab").stdout)[0]
    gate.expect("GitLab's issue says so", gitlab["description"].endswith("; " + words) and
                gitlab["location"]["path"] == trace)
    done = gate.check(trace, "--max-reserved", "94MiB")
    gate.expect("reserved memory does not call it cached", "cached, or allocated while only totals" in done.stdout,
                done)
    options = ["--baseline", gate.path("memory.json")]
    done = gate.check(trace, *options)
    gate.expect("against a baseline it is a row too", "  " + words.replace(" allocated", "  allocated") in done.stdout and
                "MiB  cached, or allocated while only totals" in done.stdout, done)
    github = gate.check(trace, *options, "--format", "github")
    gate.expect("nor against a baseline", "file=" not in github.stdout, github)


def check_pools(gate):
    """A note gives the memory that stream-ordered pools cache, for a limit of reserved memory, not for a baseline."""
    trace, base = gate.record("stream"), gate.path("stream.json")
    words = "reserved does not include 160.0 MiB that stream-ordered pools cached"
    gate.check(trace, "--baseline", base, "--update-baseline")
    for options, said in ((["--max-reserved", "1GiB"], True), (["--baseline", base], False),
                          (["--baseline", base, "--max-reserved", "1GiB"], True),
                          (["--max-reserved", "1GiB", "--max-device", "10GiB"], False)):
        done = gate.check(trace, *options)
        gate.expect("the note of pools with " + " ".join(options), done.returncode == 0 and
                    (words in " ".join(done.stdout.split())) == said, done)


def check_unfinished(gate):
    """Copies that still run at the last cudaFree count, and work that never ends does not keep the program."""
    limits = ["--max-transfers", "h2d:0", "--max-transfers", "h2d:0 copies"]
    clean, more, before = ([limit["bytes"] for limit in gate.json_of(gate.record(bug), *limits)["traces"][0]["limits"]]
                           for bug in ("", "unfinished", "exec"))
    gate.expect("five copies more", more == before == [clean[0] + 5 * 16 * 2 ** 20, clean[1] + 5])
    done = gate.check(gate.record("endless"), *limits)
    gate.expect("a host function that never returns", done.returncode == 2 and
                "the program ended while copies may still have run" in done.stderr, done)


def check_reserved(gate):
    """Memory held from the device: the lines that hold it and what is cached add up to it. The annotation
    is at the line that is the reason: a live one, or the one that requested the cached segments."""
    for bug, limit, cached in (("leak", "104MiB", False), ("pool", "104MiB", True)):
        for scope in ([], ["--phase", "step"], ["--test", "*"]):
            options = scope + ["--max-reserved", limit]
            what = "%s for %s" % (" ".join(options), bug)
            row = gate.json_of(gate.record(bug), *options)["traces"][0]["limits"][0]
            held, unused = ([s["bytes"] for s in row[name]["sites"]] for name in ("sites", "cached_sites"))
            gate.expect(what + ": live and cached add up to reserved", sum(held) + sum(unused) == row["bytes"] and
                        held and unused)
            first = row["culprits"][0]
            gate.expect(what + ": the reason comes first", first["cached"] == cached)
            named = [c["cached"] for c in row["culprits"] if c["line"] == gate.planted(bug)]
            gate.expect(what + ": the planted line is named", cached in named)
            done = gate.check(gate.record(bug), *options)
            sizes = [float(size) for size in re.findall(r"^  (?=.{16}  \S) +([0-9.]+) MiB  ", done.stdout, re.M)]
            gate.expect(what + ": the rows of the text add up", abs(sum(sizes) - row["bytes"] / 2 ** 20) < 0.06, done)
            gate.expect(what + ": the cache is a row", "cached but unused\n" in done.stdout, done)


def check_moment(gate):
    """The time is the one that report names."""
    row = gate.json_of(gate.record("peak"), "--max-peak", "94MiB")["traces"][0]["limits"][0]
    report = gate.run([gate.tool, "report", "--json", gate.record("peak")])
    peak = json.loads(report.stdout)["devices"][0]["peak_allocated"]
    for phase in json.loads(report.stdout)["phases"]:
        limits = gate.json_of(gate.record("peak"), "--phase", phase["path"], "--max-peak", "0")["traces"][0]["limits"]
        gate.expect("check and report have one peak of " + phase["path"],
                    phase["peak_allocated"][0]["bytes"] in [row["bytes"] for row in limits])
    gate.expect("check and report name one moment", (row["time_ns"], row["bytes"]) == (peak["time_ns"], peak["bytes"]))
    shown = gate.run([gate.tool, *shlex.split(row["more"])[1:]])
    gate.expect("the command that shows more works", shown.returncode == 0 and "gate.c" in shown.stdout, shown)


def check_readings(gate):
    """Readings of the device are in a baseline on demand; a file without them works."""
    base = gate.path("readings.json")
    gate.check(gate.record(""), "--baseline", base, "--update-baseline")
    done = gate.check(gate.record(""), "--baseline", base, "--device-readings")
    gate.expect("a baseline without readings", done.returncode == 0 and "has no readings of the device" in
                " ".join(done.stdout.split()), done)
    for options in (["--device-readings"], []):  # a later update keeps them
        gate.check(gate.record(""), "--baseline", base, "--update-baseline", *options)
        held = {row["metric"] for row in gate.json_of(gate.record(""), "--baseline", base)["traces"][0]["limits"]}
        gate.expect("the readings are compared", {"device", "free"} <= held)
        rows = gate.json_of(gate.record("pool"), "--baseline", base)["traces"][0]["limits"]
        bad = {row["metric"]: row for row in rows if not row["held"]}
        gate.expect("a pool that grew", {"reserved", "device", "free"} <= set(bad) and bad["free"]["follows"] and
                    bad["device"]["culprits"][0]["line"] == gate.planted("pool"))
        tolerant = gate.check(gate.record("pool"), "--baseline", base, "--tolerance", "50%")
        gate.expect("with a tolerance", tolerant.returncode == 0, tolerant)


def main():
    gate = Gate(*sys.argv[1:4])
    used, free = readings(gate)
    gate.check(gate.record(""), "--baseline", gate.path("memory.json"), "--update-baseline")
    for options, bug in KINDS:
        check_kind(gate, [used if o == "RESERVE" else free if o == "FREE" else o for o in options], bug)
    for bug in SEEDS:
        check_baseline(gate, bug)
    check_paused(gate)
    check_pools(gate)
    check_unfinished(gate)
    check_reserved(gate)
    check_moment(gate)
    check_readings(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
