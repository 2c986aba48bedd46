# SPDX-License-Identifier: Apache-2.0
"""Traces of real programs for the tests of exports, and the figures of `report --json` for them."""
import json
import os
import subprocess
import sys

DEVICE = "t4-16g,capacity=900MiB,context=100MiB"
# "tensors": a framework's tensors and memory beside them, in steps with phases
TENSORS = ("a load_weights device 30000000 -1;" +
           "push step;push forward;a make_activation tensor 9000000 -1;a stage_batch tensor 400000 -1;pop;"
           "a append_history tensor 20000000 -1;a build_index tensor 5000000 1;f 1;pop;" * 6)


class Recorded:
    def __init__(self, command, train_lm, programs, folder):
        self.command, self.train_lm, self.folder = command, train_lm, folder
        script = os.path.join(folder, "tensors.txt")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(TENSORS.split(";")))
        tensors = self.tensors = [os.path.join(programs, "scenario_tensors"), script]
        self.traces = {}
        for name, options, program in (
                ("plain", "", [train_lm, "--steps", "4"]),
                ("observed", "--allocator=observe", [train_lm, "--steps", "4", "--leak", "2MiB"]),
                ("sampled", "--sample 4 --min-size 4KiB", [train_lm, "--steps", "4"]),
                ("tensors", "--allocator=observe", tensors)):
            self.record(name, options, program)

    def record(self, name, options, program):
        path = self.traces[name] = os.path.join(self.folder, name + ".vst")
        subprocess.run([self.command, "run", "-q", "--simulate", DEVICE, *options.split(), "-o", path, "--", *program],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)
        if not os.path.exists(path):
            sys.exit(f"{name}: no trace was recorded")

    def run(self, *arguments):
        return subprocess.run([self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=600, check=False)

    def report(self, name, *options):
        out = self.run("report", "--json", "--top", "100000", *options, self.traces[name])
        if out.returncode:
            sys.exit(f"{name}: report failed: {out.stderr.decode()}")
        return json.loads(out.stdout)

    def export(self, name, form, *options):
        out = self.run("export", "-f", form, *options, self.traces[name])
        if out.returncode:
            sys.exit(f"{name}: export -f {form} {' '.join(options)} failed: {out.stderr.decode()}")
        return out.stdout


class Problems:
    def __init__(self):
        self.lines = []

    def same(self, what, found, wanted):
        if found != wanted:
            self.lines.append(f"{what}: {found!r}, not {wanted!r}")

    def true(self, what, condition):
        if not condition:
            self.lines.append(what)

    def finish(self):
        print(*self.lines, f"{len(self.lines)} problems", sep="\n")
        return 1 if self.lines else 0
