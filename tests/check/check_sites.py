#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which line is named where wrappers, templates or calls that are alike stand between it and CUDA: the
same one in the text, the JSON, GitHub's annotation and SARIF.

    check_sites.py BIN_DIR PROGRAM ROOT
"""
import json
import os
import re
import shlex
import sys

from gate_runs import Gate

FILE = "tests/check/gate_sites.cpp"


def places(gate, trace, *options):
    """(file, line) of the first culprit in each format."""
    row = next(row for row in gate.json_of(trace, *options)["traces"][0]["limits"] if not row["held"])
    first = row["culprits"][0]
    github = re.search(r"::error title=[^:]*,file=([^,]*),line=(\d+)::",
                       gate.check(trace, *options, "--format", "github").stdout)
    sarif = json.loads(gate.check(trace, *options, "--format", "sarif").stdout)
    physical = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    return {(first["file"], first["line"]), (github.group(1), int(github.group(2))),
            (physical["artifactLocation"]["uri"], physical["region"]["startLine"])}, row


def check_line(gate, bug, function):
    """A planted allocation: its line is the place in every format, and begins the text."""
    line = gate.planted(bug)
    named, row = places(gate, gate.record(bug), "--baseline", gate.path("memory.json"))
    gate.expect("%s: one place in all formats: %s" % (bug, named), named == {(FILE, line)})
    done = gate.check(gate.record(bug), "--baseline", gate.path("memory.json"))
    rows = re.findall(r"new +(.*)", done.stdout)
    shown = re.findall(r"gate_sites.cpp:(\d+)", rows[0]) if rows else []
    gate.expect("%s: the text begins with it" % bug, shown and int(shown[0]) == line and function in rows[0], done)
    gate.expect("%s: no row of the text is without its line" % bug, all("gate_sites.cpp:" in r for r in rows), done)


def check_templates(gate):
    """A template function is shown without its return type."""
    done = gate.run([gate.tool, "report", gate.record("template"), "--by", "site"])
    gate.expect("the report shows the line of a template", re.search(r"make<float, \d+ul> \(gate_sites.cpp:\d+\)",
                                                                     done.stdout), done)


def check_growth(gate):
    """What grows by a function that all allocate by is named by the line that calls it, as at the peak."""
    line, trace = gate.planted("kept"), gate.record("kept")
    named, _ = places(gate, trace, "--baseline", gate.path("memory.json"))
    gate.expect("growth: one place in all formats: %s" % named, named == {(FILE, line)})
    limits = gate.json_of(trace, "--baseline", gate.path("memory.json"))["traces"][0]["limits"]
    rows = {row["metric"]: row for row in limits if not row["phase"] and not row["held"]}
    growth, peak = rows["growth per step"], rows["allocated"]
    gate.expect("growth and peak have the same line", growth["culprits"][0]["line"] ==
                peak["culprits"][0]["line"] == line)
    gate.expect("growth follows from the peak", growth["follows"] and not peak["follows"])


def check_copies(gate):
    """One of two calls that are alike is new: which one, nobody knows. The command below shows both."""
    new, old = gate.planted("copies"), gate.planted("copies") + 1
    done = gate.check(gate.record("copies"), "--baseline", gate.path("memory.json"))
    gate.expect("both lines may be the new one", re.search(r"new +\S*gate_sites.cpp:(%d or %d|%d or %d) " %
                                                           (new, old, old, new), done.stdout), done)
    named, row = places(gate, gate.record("copies"), "--baseline", gate.path("memory.json"))
    culprit = row["culprits"][0]
    gate.expect("the JSON has both", {culprit["line"], culprit["or_line"]} == {new, old})
    gate.expect("the new bytes are the added ones", sum(c["delta"] for c in row["culprits"]) == row["excess_bytes"])
    words = shlex.split(row["more"])
    shown = gate.run([gate.tool, *words[1:]])
    gate.expect("the command shows the copies of both lines", shown.returncode == 0 and
                all(re.search(r"640.0 KiB +50.0 %% +10× +upload \(gate_sites.cpp:%d\)" % line, shown.stdout)
                    for line in (new, old)), shown)
    report = json.loads(gate.run([gate.tool, "report", "--json", gate.record("copies")]).stdout)
    sites = report["devices"][0]["copies_by_site"]["HtoD"]
    gate.expect("the report's JSON has them", [s["bytes"] for s in sites["sites"]] == [655360, 655360] and
                sites["total_bytes"] == 1310720)


def check_small_copies(gate):
    """A new line that copies less than a thousandth of the bytes is the reason, not the line that copies most."""
    line = gate.planted("small")
    done = gate.check(gate.record("small"), "--baseline", gate.path("memory.json"))
    gate.expect("a small copy that is new is named", done.returncode == 1 and "exceeds the baseline" in done.stdout and
                re.search(r"\+320 B  new +\S.*gate_sites.cpp:%d" % line, done.stdout) and
                "has no lines that copy" not in done.stdout, done)
    named, _ = places(gate, gate.record("small"), "--baseline", gate.path("memory.json"))
    gate.expect("small copy: one place in all formats: %s" % named, named == {(FILE, line)})
    named, _ = places(gate, gate.record("small"), "--baseline", gate.path("memory.json"), "--max-transfers",
                      "h2d:10 copies")
    gate.expect("limit of copies: one place in all formats: %s" % named, named == {(FILE, line)})
    gate.check(gate.record("small"), "--baseline", gate.path("small.json"), "--update-baseline")
    with open(gate.path("small.json"), encoding="utf-8") as file:
        baseline = json.load(file)
    copies, = [p["sites"]["0"]["copies"] for p in baseline["processes"].values()]
    gate.expect("a line of few bytes and many copies is in the baseline: %s" % copies, len(copies) == 4)
    for name in [name for name, site in copies.items() if site["bytes"] == 320]:
        del copies[name]  # as earlier versions did
    with open(gate.path("small.json"), "w", encoding="utf-8") as file:
        json.dump(baseline, file)
    done = gate.check(gate.record("smaller"), "--baseline", gate.path("small.json"), "--tolerance", "0%")
    rows = done.stdout.split("which leaves out small call sites:")
    gate.expect("lines that may be too small for the baseline are not called new, and the others are not listed",
                len(rows) == 2 and "gate_sites.cpp:%d" % gate.planted("smaller") in rows[1] and
                "320 B" in rows[1] and " new " not in rows[1] and "640.0 KiB" not in rows[1], done)


def check_alone(gate):
    """Without a baseline too the constructor of a class in a header is passed over, the line that calls it is
    named, and all rows of the text differ."""
    for bug, options in (("lost", ["--no-leaks"]), ("lost", ["--max-growth-per-step", "0"]), ("oom", ["--max-peak", "1TiB"])):
        line, trace = gate.planted(bug), gate.record(bug)
        done = gate.check(trace, *options)
        named, _ = places(gate, trace, *options)
        what = "%s %s: " % (bug, " ".join(options))
        gate.expect(what + "one place in all formats: %s" % named, named == {(FILE, line)})
        gate.expect(what + "the text has it", "gate_sites.cpp:%d" % line in done.stdout, done)
    for limit in ("--max-peak", "--max-reserved"):
        done = gate.check(gate.record("lost"), limit, "1MiB")
        rows = re.findall(r"^ +[0-9.]+ MiB  (.*gate_sites.*)", done.stdout, re.MULTILINE)
        gate.expect("rows of %s differ" % limit, len(rows) >= 5 and len(set(rows)) == len(rows) and
                    "gate_buffer.hpp" not in done.stdout, done)
    row, = gate.json_of(gate.record("lost"), "--max-peak", "1MiB")["traces"][0]["limits"]
    done = gate.check(gate.record("lost"), "--max-peak", str(row["bytes"] - 4096), "--format", "markdown")
    measured, allowed = re.search(r"peak allocated \| (.*?) \| (.*?) \|", done.stdout).groups()
    gate.expect("markdown: figures that differ are printed so that they do", measured != allowed, done)
    done = gate.check(gate.record("single"), "--max-peak", "1MiB")
    gate.expect("the only line of a header is shown with its caller", "gate_buffer.hpp" in done.stdout and
                "main (gate_sites.cpp:%d)" % gate.planted("single") in " ".join(done.stdout.split()), done)


def check_diff(gate):
    """`diff` names the line that calls the constructor in a header at each of these times, as at the peak."""
    line = gate.planted("lost")
    done = gate.run([gate.tool, "diff", "--fail-on-regression", gate.record(""), gate.record("lost")])
    rows = re.findall(r"^ +(?:new|[+][0-9.]+ [KM]iB  new) .*", done.stdout, re.MULTILINE)
    gate.expect("diff: all rows that are new have the line", done.returncode == 1 and len(rows) >= 5 and
                all("forward (gate_sites.cpp:%d)" % line in row for row in rows), done)
    done = gate.run([gate.tool, "diff", "--json", "--fail-on-regression", gate.record(""), gate.record("lost")])
    guilty = [(g["file"], g["line"]) for item in json.loads(done.stdout)["regressions"] for g in item["culprits"]]
    gate.expect("diff: all culprits have the line: %s" % guilty, len(guilty) >= 3 and
                all(file.endswith(FILE) and at == line for file, at in guilty))
    done = gate.run([gate.tool, "diff", "--fail-on-regression", gate.record(""), gate.record("oom")])
    gate.expect("diff: the request that failed has the line", "main (gate_sites.cpp:%d)" % gate.planted("oom") in
                done.stdout, done)


def check_directions(gate):
    """A new line that copies on the device is not taken for one that copies to the host."""
    line, trace = gate.planted("device"), gate.record("device")
    done = gate.check(trace, "--baseline", gate.path("memory.json"))
    gate.expect("the new line alone holds more", done.returncode == 1 and
                re.search(r"\+240.0 KiB  new +\S.*gate_sites.cpp:%d" % line, done.stdout) and
                "has no lines that copy" not in done.stdout, done)
    named, row = places(gate, trace, "--baseline", gate.path("memory.json"))
    gate.expect("device: one place in all formats: %s" % named, named == {(FILE, line)})
    gate.expect("the new bytes are the added ones", [c["delta"] for c in row["culprits"]] == [row["excess_bytes"]])
    for limit, delta in (("d2d:1 copies/step", 1), ("d2d:16KiB/step", 24 * 1024), ("3 copies/step", 1), ("30 copies", 10)):
        named, row = places(gate, trace, "--baseline", gate.path("memory.json"), "--max-transfers", limit)
        gate.expect("%s with a baseline: one place in all formats: %s" % (limit, named), named == {(FILE, line)})
        gate.expect("%s: the baseline's value and the new line's part" % limit, row["baseline_bytes"] ==
                    row["limit_bytes"] and [c["delta"] for c in row["culprits"]] == [delta])


def check_unrecorded(gate):
    """A baseline without lines that copy makes no line new."""
    plain, baseline = gate.path("plain.vst"), gate.path("plain.json")
    gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "-o", plain, "--", gate.program])
    gate.check(plain, "--baseline", baseline, "--update-baseline")
    with open(baseline, encoding="utf-8") as file:
        text = file.read()
    gate.expect("no sites of copies", '"copies h2d": 10' in text and '"copies": {' not in text)
    done = gate.check(gate.record("copies"), "--baseline", baseline)
    gate.expect("no line of them is new", done.returncode == 1 and " new " not in done.stdout and
                "the baseline has no lines that copy" in " ".join(done.stdout.split()), done)
    budget = gate.path("budget.toml")
    with open(budget, "w", encoding="utf-8") as file:
        file.write('baseline = "memory.json"\n')
    done = gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "--check", budget, "-o", gate.path("x.vst"), "--",
                     gate.program, "copies"])
    gate.expect("run --check records them for a baseline that has them", done.returncode == 1 and
                re.search(r"new +gate_sites.cpp:\d+ or \d+ ", done.stderr), done)


def check_no_stacks(gate):
    """Without call stacks no line is new; a baseline that has none either is compared."""
    traces = [gate.path("no-stacks%s.vst" % bug) for bug in ("", "kept")]
    for trace, bug in zip(traces, ([], ["kept"])):
        gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "--stacks=none", "-o", trace, "--", gate.program] +
                 bug)
    done = gate.check(traces[1], "--baseline", gate.path("memory.json"))
    peak = done.stdout[done.stdout.index("peak allocated"):].split("more:")[0]
    gate.expect("without stacks no line of the peak is new", done.returncode == 1 and " new " not in peak and
                "grown" not in peak and "was recorded without call stacks" in " ".join(done.stdout.split()), done)
    gate.check(traces[0], "--baseline", gate.path("no-stacks.json"), "--update-baseline")
    done = gate.check(traces[1], "--baseline", gate.path("no-stacks.json"))
    gate.expect("two runs without stacks are compared", done.returncode == 1 and
                re.search(r"new +.*make<float", done.stdout) and "without call stacks" not in done.stdout, done)


def check_native(gate):
    """C code that Python calls by ctypes is named by its own lines, with Python's as the caller."""
    script = gate.path("train.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import ctypes, sys\nlibrary = ctypes.CDLL(sys.argv[1])\n"
                   "assert library.library_open() == 0\nfor i in range(4):\n"
                   "    assert library.library_step(int(sys.argv[2])) == 0\n")
    library = os.path.join(os.path.dirname(gate.program), "libgate_library.so")
    for bug in "01":
        done = gate.run([gate.tool, "run", "-q", "--simulate", "h100-80g", "-o", gate.path("native%s.vst" % bug), "--",
                         sys.executable, script, library, bug])
        gate.expect("Python with a C library is recorded", done.returncode == 0, done)
    gate.check(gate.path("native0.vst"), "--baseline", gate.path("native.json"), "--update-baseline")
    gate.source = os.path.join(gate.root, "tests/check/gate_library.c")
    line = gate.planted("gradients")
    named, _ = places(gate, gate.path("native1.vst"), "--baseline", gate.path("native.json"))
    gate.expect("the C line is the place: %s" % named, named == {("tests/check/gate_library.c", line)})
    for command in (["report", "--by", "site", "--at", "end", gate.path("native1.vst")],
                    ["check", "--no-leaks", gate.path("native1.vst")],
                    ["diff", gate.path("native0.vst"), gate.path("native1.vst")]):
        done = gate.run([gate.tool, *command])
        gate.expect("%s names the C line and its caller" % command[0],
                    "backward (gate_library.c:%d) < library_step" % line in done.stdout, done)
    done = gate.run([gate.tool, "report", gate.path("native1.vst")])
    gate.expect("the report names Python's line", "<module> (train.py:5)" in done.stdout, done)


def main():
    gate = Gate(*sys.argv[1:4])
    gate.source = os.path.join(gate.root, FILE)
    gate.check(gate.record(""), "--baseline", gate.path("memory.json"), "--update-baseline")
    check_line(gate, "buffer", "forward")
    check_line(gate, "template", "forward(char*)::{lamb")
    check_templates(gate)
    check_growth(gate)
    check_copies(gate)
    check_small_copies(gate)
    check_directions(gate)
    check_alone(gate)
    check_diff(gate)
    check_unrecorded(gate)
    check_no_stacks(gate)
    check_native(gate)
    return gate.finish()


if __name__ == "__main__":
    sys.exit(main())
