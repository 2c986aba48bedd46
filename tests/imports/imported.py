# SPDX-License-Identifier: Apache-2.0
"""Running `vramscope import`, and reading what it wrote: by the report, and event by event with the
Python decoder of traces."""
import json
import os
import pickle
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


SEGMENT = ("device", "address", "total_size", "segment_type", "is_expandable")
ENTRY = ("action", "addr", "size", "stream")


def compare_exported(problems, what, made, source):
    """`export -f torch-snapshot` of the trace has the segments, blocks and events of the snapshot *source*. A block
    is in use there until its free is completed, here until it is requested."""
    path = made.path + ".pickle"
    made.verb("export", "-f", "torch-snapshot", made.path, "-o", path)
    with open(path, "rb") as file:
        found = pickle.load(file)

    def segments(snapshot):
        return sorted(tuple(s[key] for key in SEGMENT) for s in snapshot["segments"])

    def live(snapshot):
        return sorted((s["device"], s["stream"], b["address"], b["size"], b["requested_size"])
                      for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated")

    def history(snapshot):
        traces = [[(*(e.get(key) for key in ENTRY), e["time_us"]) for e in trace if e["action"] != "free_completed"]
                  for trace in snapshot["device_traces"]]
        return [trace for trace in traces if trace]

    problems.equal(f"{what}: segments exported", segments(found), segments(source))
    problems.equal(f"{what}: blocks exported", live(found), live(source))
    problems.equal(f"{what}: events exported", history(found), history(source))
    for s in found["segments"]:
        ends = [b["address"] + b["size"] for b in s["blocks"]]
        problems.equal(f"{what}: tiles", [s["address"], *ends], [b["address"] for b in s["blocks"]] +
                       [s["address"] + s["total_size"]])


class Problems:
    def __init__(self):
        self.count = 0

    def equal(self, what, found, wanted):
        if found != wanted:
            self.count += 1
            print(f"{what}: {str(found)[:300]}, expected {str(wanted)[:300]}")

    def true(self, what, condition):
        self.equal(what, bool(condition), True)
