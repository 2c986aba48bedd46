#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `vramscope diff` prints for recorded runs.

    PYTHONPATH=tests/imports check_diff.py BIN PROGRAMS [--write]   exit 1 and a line per problem

Records train_lm (clean, with a leak, with a larger batch), and moved.c and wrapped.c before and after an
edit, and compares the text of each pair with golden/NAME.txt; --write replaces these files. Two runs of
one program, recorded while others run, must not differ; no two rows of a list have the same text; what
keeps two runs from being compared is said; check --baseline has the same figures and lines; the flame
graph must be XML whose values add up.
"""
import difflib
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import snapshot_maker

HERE = os.path.dirname(os.path.abspath(__file__))
AT_ONCE = 4  # runs of one program side by side: every one has another order of threads

ROW = r"  (new|gone|grown|shrunk|moved) "

# The name of the golden text, options, both traces, exit status.
PAIRS = (
    ("leak", ["--fail-on-regression=2%"], "clean", "leak", 1),
    ("larger_batch", [], "clean", "larger", 0),
    ("smaller_batch", ["--fail-on-regression"], "larger", "clean", 0),
    ("moved_function", ["--fail-on-regression"], "before", "after", 0),
    ("moved_and_grown", ["--fail-on-regression=1MiB"], "before", "after_grown", 1),
    ("renamed_callers", ["--fail-on-regression"], "wrapped", "wrapped_edited", 1),
    ("other_program", [], "clean", "before", 0),
    ("more_steps", [], "clean", "longer", 0),
    ("other_device", [], "clean", "on_h100", 0),
    ("sampled", [], "clean", "sampled", 0),
    ("other_allocator", [], "clean", "observed", 0),
    ("out_of_memory", ["--fail-on-regression"], "clean", "out", 1),
    ("recovered", ["--fail-on-regression"], "wrapped", "recovered", 0),
    ("failed_early", ["--fail-on-regression"], "clean", "failed", 1),
)

# Both traces, and the caution: its kind, what it says, and what to do.
CAUTIONS = (
    ("wrapped", "before", "program", "different programs: wrapped in A, moved in B", "check the names of the traces"),
    ("wrapped", "both_devices", "devices", "only B used device 1: it is not compared", "run both on the same devices"),
    ("clean", "on_h100", "capacity", "device 0 differs: Simulated T4", "compare runs on one kind of device"),
    ("wrapped", "imported", "level", "only B has PyTorch's tensors on device 0", "record both with the same options"),
    ("wrapped", "imported", "imported", "B was imported", "record both with vramscope run"),
    ("clean", "observed", "allocator", "caching in A, observe in B", "record both with the same --allocator"),
    ("clean", "sampled", "selected", "B: only 1 in 4 allocations was recorded", "record both with the same options"),
    ("large_only", "wrapped", "selected", "A: only allocations of at least 8.0 MiB", "record both with the same options"),
    ("clean", "out", "out of memory", "B ran out of memory, requesting 40.0 MiB", "its figures are those up to there"),
    ("without_stacks", "wrapped", "stacks", "A was recorded without call stacks", "record it without --stacks=none"),
    ("wrapped", "native_stacks", "stacks", "other frames of call stacks", "record both with the same --stacks"),
    ("wrapped", "stripped", "names", "the call stacks of B have no function names", "run vramscope symbolize stripped.vst"),
)
# Of these call sites are not compared.
WITHOUT_SITES = ("level", "selected", "names")

# Runs that ended while kernels were queued: how many of them ran depends on the machine.
UNFINISHED = ("out_of_memory", "failed_early")


def recordings(programs, binaries):
    train = [os.path.join(binaries, "train_lm"), "--steps"]
    before, after = (os.path.join(programs, folder, "moved") for folder in ("moved_before", "moved_after"))
    wrapped, edited, stripped = (os.path.join(programs, "wrapped_" + when, "wrapped")
                                 for when in ("before", "after", "stripped"))
    t4 = "--simulate=t4-16g,context=400MiB"
    return {"clean": ([t4], [*train, "6"]), "leak": ([t4], [*train, "6", "--leak", "2MiB"]),
            "larger": ([t4], [*train, "6", "--batch", "24"]), "longer": ([t4], [*train, "9"]),
            "on_h100": (["--simulate=h100-80g"], [*train, "6"]),
            "sampled": ([t4, "--sample=4"], [*train, "6"]),
            "observed": ([t4, "--allocator=observe"], [*train, "6"]),
            "out": ([t4 + ",capacity=500MiB"], [*train, "6", "--leak", "40MiB"]),
            "failed": ([t4, "--allocator=caching", "--limit=8MiB"], [*train, "6"]),
            "before": ([t4], [before]), "after": ([t4], [after]), "after_grown": ([t4], [after, "4"]),
            "wrapped": ([t4], [wrapped]), "wrapped_edited": ([t4], [edited]),
            "recovered": ([t4], [wrapped, "refused"]),
            "stripped": ([t4], [stripped]), "without_stacks": ([t4, "--stacks=none"], [wrapped]),
            "native_stacks": ([t4, "--stacks=native"], [wrapped]),
            "large_only": ([t4, "--min-size=8MiB"], [wrapped]),
            "second_device": ([t4 + ",devices=2"], [wrapped, "1"]),
            "both_devices": ([t4 + ",devices=2"], [wrapped, "0", "1"]),
            "both_edited": ([t4 + ",devices=2"], [edited, "0", "1"])}


class Check:
    def __init__(self, binaries, folder, write):
        self.command = os.path.join(binaries, "vramscope")
        self.folder, self.write, self.problems = folder, write, []

    def start(self, name, options, program):
        return subprocess.Popen([self.command, "run", "-q", *options, "-o", name + ".vst", "--", *program],
                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self, name, process):
        errors = process.communicate(timeout=600)[1].decode(errors="replace")
        if bool(process.returncode) != (name in ("out", "failed")):
            self.problems.append(f"{name}: exit {process.returncode}: {errors}")

    def run(self, *arguments):
        done = subprocess.run([self.command, *arguments], cwd=self.folder, capture_output=True, timeout=600,
                              check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def diff(self, *arguments):
        return self.run("diff", *arguments)

    def rows_differ(self, name, text):
        """Rows of a list: from a heading to the next empty line; further lines of a row are indented."""
        for part in text.split("\n\n"):
            rows = re.split(r"\n(?=  \w)", part)
            sites = [re.sub(r"^  (\w+) .*?  (?=\S+ \(|\S+$)", r"\1 ", row) for row in rows if re.match(ROW, row)]
            self.problems += [f"{name}: twice in one list: {row}" for row in set(sites) if sites.count(row) > 1]

    def golden(self, name, options, a, b, status):
        code, text, errors = self.diff(*options, a + ".vst", b + ".vst")
        self.rows_differ(name, text)
        self.rows_differ(name + " --all", self.diff("--all", a + ".vst", b + ".vst")[1])
        text = re.sub(r"--at @\d+", "--at @EVENT", text)  # kernels between, which are delivered at any time
        text = re.sub(r"(FAIL  B ran out of memory on .*\n      at )[\d.]+ \w+", r"\1TIME", text)
        if name in UNFINISHED:
            text = re.sub(r"\nCounts, copies and kernels(?s:.*?)\n\n", "\n", text)
        path = os.path.join(HERE, "golden", name + ".txt")
        if code != status:
            self.problems.append(f"{name}: exit {code}, not {status}: {errors}")
        if self.write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return
        with open(path, encoding="utf-8") as file:
            lines = difflib.unified_diff(file.read().splitlines(), text.splitlines(), path, "printed", lineterm="")
        self.problems += [f"{name}: {line}" for line in lines]

    def equal_runs(self, program):
        names = [f"same{i}" for i in range(AT_ONCE)]
        for name, process in [(name, self.start(name, *program)) for name in names]:
            self.finish(name, process)
        for name in names:
            code, text, errors = self.diff("--fail-on-regression", "clean.vst", name + ".vst")
            if code or not text.startswith("no difference: ") or text.count("\n") != 1:
                self.problems.append(f"{name}: exit {code}: {text}{errors}")

    def as_check(self, a, b, tolerance):
        """check --baseline of the same runs exceeds by the same figures, at the same events and lines."""
        self.run("check", a + ".vst", "--baseline", f"{a}.json", "--update-baseline")
        check = self.run("check", b + ".vst", "--baseline", f"{a}.json", "--tolerance", tolerance, "--format=json")
        diff = self.run("diff", "--json", f"--fail-on-regression={tolerance}", a + ".vst", b + ".vst")
        limits = {(row["metric"], row["level"], row["phase"]): row for row in json.loads(check[1])["traces"][0]["limits"]}
        found = json.loads(diff[1])["regressions"]
        judged = ("allocated", "reserved", "live at end", "growth per step")  # check also judges copies
        failed = [key for key, limit in limits.items() if key[0] in judged and not limit["held"]]
        if diff[0] != bool(failed) or diff[0] != bool(found) or check[0] not in (diff[0], 1):
            self.problems.append(f"{a}, {b}: exit status {diff[0]} of diff, {check[0]} of check: {failed}")
        for row in found:
            limit = limits.get((row["metric"], row["level"], row["phase"]))
            first = lambda of: [(one["change"], one["delta"], one["file"], one["line"]) for one in of["culprits"][:1]]
            same = limit and (row["a"], row["b"], row["allowed"], row["event"]) == (
                limit["baseline_bytes"], limit["bytes"], limit["limit_bytes"], limit["event"])
            if row["metric"] == "allocated" and {one["change"] for one in limit["culprits"]} != {
                    one["change"] for one in row["culprits"]}:
                self.problems.append(f"{a}, {b}: diff has {row['culprits']}, check {limit['culprits']}")
            if row["metric"] != "reserved":  # of which check lists those that hold it, diff those that requested it
                same = same and row["more"].split(" --top")[0] == limit["more"].split(" --top")[0] and first(row) == first(limit)
            if not same or limit["held"]:
                self.problems.append(f"{a}, {b}: diff has {row}, check {limit}")
        for key in failed:
            if key[2] is None and not any(row["metric"] == key[0] for row in found):
                self.problems.append(f"{a}, {b}: check fails for {key}, diff does not")

    def as_check_out_of_memory(self):
        """diff says what check says of a run that ran out of memory: time, request, line, command."""
        check = self.run("check", "out.vst", "--max-peak=1GiB", "--format=json")
        diff = self.run("diff", "--json", "--fail-on-regression", "clean.vst", "out.vst")
        row, = [row for row in json.loads(check[1])["traces"][0]["limits"] if row["metric"] == "out of memory"]
        found, guilty = json.loads(diff[1])["out_of_memory"], row["culprits"][0]
        both = [(one["device"], one[size], one["event"], one["time_ns"], line["file"], line["line"], line["function"])
                for one, size, line in ((row, "bytes", guilty), (found, "requested_bytes", found))]
        if both[0] != both[1] or found["more"] != row["more"] or not found["line"]:
            self.problems.append(f"out of memory: diff has {found}, check {row}")
        clean = json.loads(self.run("diff", "--json", "--fail-on-regression", "clean.vst", "leak.vst")[1])
        if clean["out_of_memory"] is not None:
            self.problems.append(f"leak: {clean['out_of_memory']}")

    def check_without_names(self):
        """check says, as diff does, that the call sites of a stripped program are not compared."""
        for name in ("wrapped", "stripped"):
            self.run("check", name + ".vst", "--baseline", name + ".json", "--update-baseline")
            path = os.path.join(self.folder, name + ".json")
            with open(path, encoding="utf-8") as file:
                baseline = json.load(file)
            for process in baseline["processes"].values():
                process["devices"]["0"]["allocated"] -= 1 << 20
            with open(path, "w", encoding="utf-8") as file:
                json.dump(baseline, file)
        cases = (("stripped", "--baseline=wrapped.json", "the trace has no function names, so its lines are not compared "
                  "with those of the baseline; run vramscope symbolize stripped.vst on a machine with the program's files"),
                 ("wrapped", "--baseline=stripped.json", "the baseline was written from a trace without function names, "
                  "so its lines are not compared with those of this trace; update it from a trace with names"),
                 ("stripped", "--max-peak=1MiB", "the trace has no function names, so call sites are addresses; run "
                  "vramscope symbolize stripped.vst on a machine with the program's files"),
                 ("stripped", "--max-peak=1GiB", None), ("wrapped", "--max-peak=1MiB", None),
                 ("wrapped", "--baseline=wrapped.json", None))
        for trace, option, note in cases:
            code, text, errors = self.run("check", trace + ".vst", option, "--format=json")
            program, = json.loads(text)["traces"]
            changes = {one["change"] for limit in program["limits"] for one in limit.get("culprits", ())}
            if program["notes"] != ([note] if note else []) or not changes <= {"holds"}:
                self.problems.append(f"check {trace} {option}: exit {code}: {program['notes']}, {changes} {errors}")

    def import_snapshot(self):
        device = snapshot_maker.Device(0)
        device.exercise(1, 50)
        with open(os.path.join(self.folder, "snapshot.pickle"), "wb") as file:
            pickle.dump(snapshot_maker.snapshot([device]), file)
        code, text, errors = self.run("import", "-o", "imported.vst", "snapshot.pickle")
        if code:
            self.problems.append(f"import: {text}{errors}")

    def cautions(self):
        for a, b, kind, what, remedy in CAUTIONS:
            code, text, errors = self.diff("--json", "--fail-on-regression=1GiB", a + ".vst", b + ".vst")
            found = json.loads(text) if text else {"cautions": [], "sites": [], "headline": errors}
            said = [one["text"] for one in found["cautions"] if one["kind"] == kind]
            if len(said) != 1 or what not in said[0] or remedy not in said[0] or code != (kind == "out of memory"):
                self.problems.append(f"{a}, {b}: exit {code}, cautions {found['cautions']}")
            if found["sites"] and (kind in WITHOUT_SITES or (kind == "stacks" and "without" in said[0])):
                self.problems.append(f"{a}, {b}: call sites are compared")
            if found["headline"].startswith("no difference:") and not found["sites"]:
                self.problems.append(f"{a}, {b}: '{found['headline']}', but call sites are not compared")
        code, text, errors = self.diff("--json", "--fail-on-regression", "wrapped.vst", "both_devices.vst")
        new = [(one["device"], one["a"], one["culprits"][0]["change"]) for one in json.loads(text)["regressions"]]
        if code != 1 or new != [(1, 0, "new")]:
            self.problems.append(f"a device that only B used: exit {code}: {new}{errors}")
        code, text, errors = self.diff("wrapped.vst", "second_device.vst")
        if code or not text.startswith("no difference: ") or errors:  # ranks of a job have a device each
            self.problems.append(f"the only devices of both: exit {code}: {text}{errors}")
        code, text, errors = self.diff("--all", "wrapped.vst", "second_device.vst")
        if "Memory of device 0 (B: 1)" not in text:
            self.problems.append(f"the only devices of both: exit {code}: {text}{errors}")
        text = self.diff("both_devices.vst", "both_edited.vst")[1]
        rows = [line for line in text.splitlines() if "allocations (device) " in line]
        if [row.split(":")[0] for row in rows] != ["  device 0", "  device 1"]:
            self.problems.append(f"counts of two devices: {rows}")
        code, text, _ = self.diff("--json", "imported.vst", "imported.vst")
        if code or json.loads(text)["cautions"]:
            self.problems.append(f"two imported traces: exit {code}: {text}")
        code, text, _ = self.diff("--fail-on-regression", "observed.vst", "clean.vst")
        if "peak reserved 12.0 MiB is" in text:
            self.problems.append(f"reserved memory of different allocators is judged: {text}")

    def cut_off(self):
        with open(os.path.join(self.folder, "clean.vst"), "rb") as whole:
            data = whole.read()
        with open(os.path.join(self.folder, "cut.vst"), "wb") as cut:
            cut.write(data[:-40])
        code, text, errors = self.diff("clean.vst", "cut.vst")
        if code != 2 or text or "--partial" not in errors:
            self.problems.append(f"a trace that is cut off: exit {code}: {text}{errors}")
        code, text, errors = self.diff("--partial", "clean.vst", "cut.vst")
        if code or "caution  B is not complete" not in text:
            self.problems.append(f"a trace that is cut off, --partial: exit {code}: {text}{errors}")

    def moved(self):
        found = json.loads(self.diff("--json", "before.vst", "after.vst")[1])
        counts = {key: sum(sites[key] for sites in found["sites"]) for key in ("new", "gone", "grown", "shrunk")}
        if any(counts.values()) or found["different"]:
            self.problems.append(f"moved functions are not only moved: {counts}")
        moves = sorted(change["moved"] for sites in found["sites"] for change in sites["changes"])
        if moves != ["file", "function", "function", "line", "line"]:
            self.problems.append(f"moved: {moves}")

    def renamed_flame_graph(self):
        """Frames of a function that has another name and file in B are one."""
        path = os.path.join(self.folder, "renamed.svg")
        self.diff("--flamegraph", path, "wrapped.vst", "wrapped_edited.vst")
        tree = xml.etree.ElementTree.parse(path)
        data = next(json.loads(e.text) for e in tree.iter() if e.get("id") == "data")
        values = dict(zip([data["nodes"][i] for i in range(0, len(data["nodes"]), 4)],
                          zip(data["diff"][::2], data["diff"][1::2])))
        names = [frame[0] for frame in data["frames"]]
        found = [values.get(names.index(name)) for name in names if name.startswith("forward")]
        if found != [(32 << 20, 32 << 20)] or "forward (wrapped.c) -> forward_pass (edited.c)" not in names:
            self.problems.append(f"the flame graph of a renamed function has {names}, {found}")

    def flame_graph(self):
        path = os.path.join(self.folder, "change.svg")
        self.diff("--flamegraph", path, "clean.vst", "leak.vst")
        tree = xml.etree.ElementTree.parse(path)
        data = next(json.loads(e.text) for e in tree.iter() if e.get("id") == "data")
        values = list(zip(data["diff"][::2], data["diff"][1::2]))
        nodes = [data["nodes"][i:i + 4] for i in range(0, len(data["nodes"]), 4)]
        report = json.loads(self.diff("--json", "clean.vst", "leak.vst")[1])
        peak = next(q for q in report["quantities"] if q["metric"] == "allocated" and q["phase"] is None)
        if values[0] != (peak["a"], peak["b"]):
            self.problems.append(f"the flame graph has {values[0]}, the report {peak['a']}, {peak['b']}")
        new = [data["frames"][node[0]][0] for node, (a, b) in zip(nodes, values) if node[0] >= 0 and not a and b]
        if not any(name.startswith("keep_for_debugging (lm_extras.c)") for name in new):
            self.problems.append(f"the flame graph does not show the leak: {new}")
        for node, (a, b) in zip(nodes, values):
            if node[2] < max(a, b):
                self.problems.append(f"a frame is narrower than its bytes: {node}, {a}, {b}")


def main():
    binaries, programs = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        check = Check(binaries, folder, "--write" in sys.argv)
        runs = recordings(programs, binaries)
        for name, program in runs.items():
            check.finish(name, check.start(name, *program))
        if check.problems:
            sys.exit("\n".join(check.problems))
        for pair in PAIRS:
            check.golden(*pair)
        check.equal_runs(runs["clean"])
        for pair in (("clean", "leak", "0"), ("clean", "leak", "2%"), ("clean", "leak", "64MiB"), ("clean", "larger", "1%"),
                     ("larger", "clean", "0"), ("before", "after_grown", "1MiB"), ("clean", "longer", "0"),
                     ("wrapped", "wrapped_edited", "0")):
            check.as_check(*pair)
        check.as_check_out_of_memory()
        check.check_without_names()
        check.import_snapshot()
        check.cautions()
        check.cut_off()
        check.moved()
        check.flame_graph()
        check.renamed_flame_graph()
    print("\n".join(check.problems) or f"{len(PAIRS)} pairs, {AT_ONCE} equal runs: no problem")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
