# SPDX-License-Identifier: Apache-2.0
"""Running `vramscope import`, and reading what it wrote: by the report, and event by event with the
Python decoder of traces."""
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests/decoder"), os.path.join(ROOT, "tests/support")]
import vst  # noqa: E402


class Imported:
    """The trace *path* that `vramscope import` makes of the file *source*."""

    def __init__(self, command, source, path, *options):
        self.command, self.path = command, path
        done = subprocess.run([command, "import", source, "-o", path, *options], capture_output=True,
                              text=True, timeout=600, check=False)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def verb(self, *words):
        return subprocess.run([self.command, *words], capture_output=True, text=True, timeout=600,
                              check=True).stdout

    def report(self, *options):
        return json.loads(self.verb("report", "--json", *options, self.path))

    def events(self):
        with vst.open(self.path) as trace:
            yield from trace
            assert trace.condition == "complete", trace.text

    def live(self):
        """device -> {address: size} of the tensors and of the device's memory at the end"""
        tensors, memory = {}, {}
        for event in self.events():
            if event.kind == "framework_alloc":
                tensors.setdefault(event["device"], {})[event["addr"]] = event["size"]
            elif event.kind == "framework_free":
                assert tensors[event["device"]].pop(event["addr"]) == event["size"]
            elif event.kind == "alloc":
                memory.setdefault(event["device"], {})[event["addr"]] = event["size"]
            elif event.kind == "free":
                memory[event["device"]].pop(event["addr"])
        return tensors, memory


class Problems:
    def __init__(self):
        self.count = 0

    def equal(self, what, found, wanted):
        if found != wanted:
            self.count += 1
            print(f"{what}: {str(found)[:300]}, expected {str(wanted)[:300]}")

    def true(self, what, condition):
        self.equal(what, bool(condition), True)
