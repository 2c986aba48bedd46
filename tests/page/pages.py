# SPDX-License-Identifier: Apache-2.0
"""Traces of real programs on the simulated GPU, and their pages, for the tests of the page."""
import json
import os
import pathlib
import shutil
import subprocess

DEVICE = "t4-16g,capacity=900MiB,context=100MiB"
SMALL = "t4-16g,capacity=600MiB,context=400MiB"
# names that end an element, run as script, are formulas, or control a terminal
MARKUP = "</script><script>document.title='taken'</script>"
IMAGE = "\"'><img/src=x:y/onerror=alert(1)>"
FORMULA = "=HYPERLINK(1)"
# a file may have no slash in its name
PROGRAM = "\"><img src=x onerror=alert(1)><b>\x1b[31m${1}"
LONG = "vector<" * 30
STEP = ("push step;push forward;module Net:layers.0.mlp;a make_activation tensor 9000000 -1;module Net:layers.1;"
        "a stage_batch tensor 400000 -1;module;pop;"
        "a append_history tensor 20000000 -1;a build_index tensor 5000000 1;f 1;pop;")
WEIGHTS = "a load_weights device 30000000 -1;"
HOSTILE = "".join(f"push {name};module {name};a stage_batch tensor 400000 -1;pop;" for name in (MARKUP, IMAGE, FORMULA, LONG))


class Pages:
    """What the tests look at: traces by name, recorded when they are asked for, their pages, and the JSON
    of report and oom."""

    def __init__(self, command, train_lm, scenario, folder):
        self.command, self.scenario, self.folder = command, scenario, pathlib.Path(folder)
        hostile = self.folder / PROGRAM
        shutil.copy(scenario, hostile)
        lm = [train_lm, "--steps"]
        self.traces = {}
        self.recorded = {
            "training": (DEVICE, [*lm, "4"]),
            "oom": (SMALL, [*lm, "20", "--leak", "16MiB"]),
            "leak": (DEVICE, [*lm, "8", "--leak", "2MiB"], "--allocator=observe"),
            "tensors": (DEVICE, [scenario, self.script("tensors", WEIGHTS + STEP * 6)], "--allocator=observe"),
            "hostile": (DEVICE, [str(hostile), self.script("hostile", WEIGHTS + HOSTILE)], "--allocator=observe")}

    def script(self, name, lines):
        path = self.folder / f"{name}.txt"
        path.write_text(lines.replace(";", "\n"), encoding="utf-8")
        return str(path)

    def record(self, name, device, program, *options):
        path = str(self.folder / f"{name}.vst")
        subprocess.run([self.command, "run", "-q", "--simulate", device, *options, "-o", path, "--", *program],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)
        if not os.path.exists(path):
            raise AssertionError(f"{name}: no trace was recorded")
        self.traces[name] = path

    def trace(self, name):
        if name not in self.traces:
            self.record(name, *self.recorded[name])
        return self.traces[name]

    def run(self, *arguments):
        done = subprocess.run([self.command, *arguments], capture_output=True, timeout=600, check=False)
        if done.returncode > 1:
            raise AssertionError(f"{arguments}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def page(self, *names):
        """The page of one trace, or of two."""
        out = self.folder / f"{'-'.join(names)}.html"
        if not out.exists():
            self.run("view", *map(self.trace, names), "-o", str(out))
        return out

    def report(self, name):
        return json.loads(self.run("report", "--json", self.trace(name)))

    def oom(self, name):
        return json.loads(self.run("oom", "--json", self.trace(name)))


ESCAPED = bytes.fromhex("0008090a0b0c0d1a1b22263c3e7f")


def bytes_of_text(text):
    """What the text of a section's element stands for (docs/internals/view-format.md)."""
    values = [v for c in map(ord, text) for v in ([c] if c < 128 else [ESCAPED[(c - 256) >> 7], c & 127])]
    bits = "".join(f"{v:07b}" for v in values)
    packed = int(bits[:len(bits) // 8 * 8], 2).to_bytes(len(bits) // 8, "big")
    return packed[4:4 + int.from_bytes(packed[:4], "big")]


def c_bytes(n):
    """vs_size_format: Python's % rounds as C's printf."""
    if n < 1024:
        return f"{n} B"
    value, unit = float(n), 0
    while value >= 1023.95 and unit < 6:
        value, unit = value / 1024, unit + 1
    return f"{value:.{1 if unit < 3 else 2}f} {'B KiB MiB GiB TiB PiB EiB'.split()[unit]}"


def c_time(ns):
    """vs_time_format."""
    if ns < 1000:
        return f"{ns} ns"
    if ns < 1000000:
        return f"{ns / 1e3:.1f} µs"
    if ns < 1000000000:
        return f"{ns / 1e6:.2f} ms"
    if ns < 120000000000:
        return f"{ns / 1e9:.3f} s"
    return f"{ns // 60000000000} min {ns // 1000000000 % 60:02d} s"


def c_percent(part, whole):
    """vs_text_percent."""
    if whole == 0:
        return "-"
    return "<0.1 %" if part and part / whole < 0.0005 else f"{100.0 * part / whole:.1f} %"
