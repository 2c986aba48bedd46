#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `vramscope diff` prints for recorded runs.

    check_diff.py BIN PROGRAMS [--write]   exit 1 and a line per problem

Records train_lm (clean, with a leak, with a larger batch) and moved.c before and after an edit, and
compares the text of each pair with golden/NAME.txt; --write replaces these files. Two runs of one
program, recorded while others run, must not differ; the flame graph must be XML whose values add up.
"""
import difflib
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
AT_ONCE = 4  # runs of one program side by side: every one has another order of threads

# The name of the golden text, options, both traces, exit status.
PAIRS = (
    ("leak", ["--fail-on-regression=2%"], "clean", "leak", 1),
    ("larger_batch", [], "clean", "larger", 0),
    ("smaller_batch", ["--fail-on-regression"], "larger", "clean", 0),
    ("moved_function", ["--fail-on-regression"], "before", "after", 0),
    ("moved_and_grown", ["--fail-on-regression=1MiB"], "before", "after_grown", 1),
    ("other_program", [], "clean", "before", 0),
    ("more_steps", [], "clean", "longer", 0),
    ("other_device", [], "clean", "on_h100", 0),
    ("sampled", [], "clean", "sampled", 0),
    ("other_allocator", [], "clean", "observed", 0),
    ("out_of_memory", ["--fail-on-regression"], "clean", "out", 1),
    ("failed_early", ["--fail-on-regression"], "clean", "failed", 1),
)


def recordings(programs, binaries):
    train = [os.path.join(binaries, "train_lm"), "--steps"]
    before, after = (os.path.join(programs, folder, "moved") for folder in ("moved_before", "moved_after"))
    t4 = "--simulate=t4-16g"
    return {"clean": ([t4], [*train, "6"]), "leak": ([t4], [*train, "6", "--leak", "2MiB"]),
            "larger": ([t4], [*train, "6", "--batch", "24"]), "longer": ([t4], [*train, "9"]),
            "on_h100": (["--simulate=h100-80g"], [*train, "6"]),
            "sampled": ([t4, "--sample=4"], [*train, "6"]),
            "observed": ([t4, "--allocator=observe"], [*train, "6"]),
            "out": ([t4 + ",capacity=500MiB"], [*train, "6", "--leak", "40MiB"]),
            "failed": ([t4, "--limit=8MiB"], [*train, "6"]),
            "before": ([t4], [before]), "after": ([t4], [after]), "after_grown": ([t4], [after, "4"])}


class Check:
    def __init__(self, binaries, folder, write):
        self.command = os.path.join(binaries, "vramscope")
        self.folder, self.write, self.problems = folder, write, []

    def start(self, name, options, program):
        return subprocess.Popen([self.command, "run", "-q", *options, "-o", name + ".vst", "--", *program],
                                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def finish(self, name, process):
        errors = process.communicate(timeout=200)[1].decode(errors="replace")
        if bool(process.returncode) != (name in ("out", "failed")):
            self.problems.append(f"{name}: exit {process.returncode}: {errors}")

    def diff(self, *arguments):
        done = subprocess.run([self.command, "diff", *arguments], cwd=self.folder, capture_output=True,
                              timeout=100, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def golden(self, name, options, a, b, status):
        code, text, errors = self.diff(*options, a + ".vst", b + ".vst")
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
        if moves != ["file", "function", "line", "line"]:
            self.problems.append(f"moved: {moves}")

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
        check.cut_off()
        check.moved()
        check.flame_graph()
    print("\n".join(check.problems) or f"{len(PAIRS)} pairs, {AT_ONCE} equal runs: no problem")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
