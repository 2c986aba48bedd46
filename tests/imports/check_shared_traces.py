#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope import` of PyTorch's snapshots from a real GPU (../shared/traces): sums and live blocks
are those that tests/support/snapshot_to_events.py and the snapshots themselves tell.

    check_shared_traces.py COMMAND FOLDER      exit 1 and a line per problem; 77 without traces
"""
import glob
import os
import sqlite3
import sys
import tempfile

from imported import Imported, Problems, compare_exported

import snapshot_to_events as oracle  # beside the sources of the tests: imported.py adds the path

MIB = 1 << 20


class Blocks:
    """The blocks of all segments, as lists that are split and merged by PyTorch's rules."""

    def __init__(self, segments, live):
        self.lists, self.where = {}, {}
        for addr, (size, pool, _) in segments.items():
            _, blocks = oracle.tile(addr, size, pool, live)
            self.lists[addr] = rows = []
            at = addr
            for length, _, used in blocks:
                rows.append([at, length, bool(used)])
                self.where[at] = addr
                at += length
        self.allocated = sum(size for rows in self.lists.values() for _, size, used in rows if used)

    def add_segment(self, addr, size):
        self.lists[addr], self.where[addr] = [[addr, size, False]], addr

    def find(self, addr):
        rows = self.lists[self.where[addr]]
        return rows, next(i for i, row in enumerate(rows) if row[0] == addr)

    def alloc(self, addr, requested):
        size = oracle.rounded(requested)
        rows, i = self.find(addr)
        rest = rows[i][1] - size
        assert not rows[i][2] and rest >= 0
        if rest >= 512 if size <= MIB else rest > MIB:
            rows[i][1] = size
            rows.insert(i + 1, [addr + size, rest, False])
            self.where[addr + size] = self.where[addr]
        rows[i][2] = True
        self.allocated += rows[i][1]

    def free(self, addr):
        rows, i = self.find(addr)
        rows[i][2] = False
        self.allocated -= rows[i][1]
        for first in (i, i - 1):
            if first >= 0 and first + 1 < len(rows) and not rows[first][2] and not rows[first + 1][2]:
                rows[first][1] += rows[first + 1][1]
                del self.where[rows.pop(first + 1)[0]]


def expected(path):
    with open(path, "rb") as f:
        snapshot = oracle.DataOnly(f).load()
    trace, segments = snapshot["device_traces"][0], snapshot["segments"]
    start = oracle.initial_segments(segments, trace)
    reserved = peak_reserved = sum(size for size, _, _ in start.values())
    blocks = Blocks(start, oracle.initial_live(segments, trace))
    peak = blocks.allocated
    for entry in trace:
        if entry["action"] == "alloc":
            blocks.alloc(entry["addr"], entry["size"])
        elif entry["action"] == "free_completed":
            blocks.free(entry["addr"])
        elif entry["action"] == "segment_alloc":
            reserved += entry["size"]
            blocks.add_segment(entry["addr"], entry["size"])
        elif entry["action"] == "segment_free":
            reserved -= entry["size"]
        peak, peak_reserved = max(peak, blocks.allocated), max(peak_reserved, reserved)
    operations = {}
    for entry in trace:
        names = [frame["name"] for frame in entry["frames"] if frame["name"].startswith("at::_ops::")]
        if entry["action"] == "alloc" and names:
            name = names[0].split("::")[2].split("(")[0]
            operations[name] = operations.get(name, 0) + oracle.rounded(entry["size"])
    actions = [entry["action"] for entry in trace]
    return {"peak": peak, "peak_reserved": peak_reserved, "allocs": actions.count("alloc"),
            "frees": actions.count("free_requested"), "operations": operations, "reserved": sum(s["total_size"] for s in segments),
            "live": {addr: block["size"] for addr, block in oracle.final_blocks(segments)
                     if block["state"] == "active_allocated"}}


def compare(problems, name, made, wanted):
    device = made.report()["devices"][0]
    found, live = device["framework"], made.live()[0][0]
    problems.equal(f"{name}: peak allocated", found["peak_allocated_bytes"], wanted["peak"])
    problems.equal(f"{name}: peak reserved", device["peak_reserved"]["bytes"], wanted["peak_reserved"])
    problems.equal(f"{name}: reserved at the end", device["reserved_at_end_bytes"], wanted["reserved"])
    problems.equal(f"{name}: live blocks", live, wanted["live"])
    problems.equal(f"{name}: frees", found["frees"], wanted["frees"])
    started = len(wanted["live"]) + wanted["frees"] - wanted["allocs"]
    problems.equal(f"{name}: allocations", found["allocations"], wanted["allocs"] + started)


def compare_operations(problems, name, made, wanted):
    """*wanted* by the names of C++ functions, in which the overload follows: mul_Tensor. A block may be up to 1 MiB
    larger than rounding makes it."""
    rows = {row["name"]: row for row in made.report("--by", "op")["devices"][0]["live"]["by"]["op"]}
    for operation in ("bmm", "mul_Tensor", "_softmax", "native_layer_norm"):
        if operation in wanted:
            row = rows["aten::" + operation.removesuffix("_Tensor")]
            problems.true(f"{name}: {operation} {row} {wanted[operation]}",
                          0 <= row["allocated_bytes"] - wanted[operation] <= row["allocations"] * MIB)
    problems.true(f"{name}: bmm and mul allocate", {"bmm", "mul_Tensor"} <= wanted.keys())
    problems.equal(f"{name}: backward", "AddBackward0" in str(rows) or "BmmBackward0" in rows, "_training" in name)


def compare_kinds(problems, name, made, scratch):
    """What the optimizer and PyTorch's AccumulateGrad leave behind is not temporary."""
    path = os.path.join(scratch, "out.db")
    made.verb("export", "-f", "sqlite", made.path, "-o", path)
    database = sqlite3.connect(path)
    live = database.execute("SELECT DISTINCT kind, label FROM allocations JOIN sites USING(site) "
                            "WHERE end IS NULL").fetchall()
    database.close()
    kinds = {"step": set(), "AccumulateGrad": set()}
    for kind, label in live:
        problems.true(f"{name}: live at the end as temporary: {label}", kind != "temporaries")
        for word in kinds:
            if label.startswith(f"{word} (optimizer.py") or label.endswith(f": {word}"):
                kinds[word].add(kind)
    training = "_training" in name
    problems.equal(f"{name}: kept by the optimizer's step", kinds["step"], {"optimizer state"} if training else set())
    problems.equal(f"{name}: made by AccumulateGrad", kinds["AccumulateGrad"], {"gradients"} if training else set())


def main():
    command, folder = sys.argv[1:]
    paths = sorted(glob.glob(os.path.join(folder, "traces", "*.pickle")))
    if not paths:
        print(f"skipped: no traces in {folder}/traces")
        return 77
    problems = Problems()
    for path in paths:
        name, before = os.path.basename(path), problems.count
        with tempfile.TemporaryDirectory() as scratch:
            made = Imported(os.path.abspath(command), path, os.path.join(scratch, "out.vst"))
            problems.equal(f"{name}: exit code", (made.code, made.err), (0, ""))
            wanted = expected(path)
            compare(problems, name, made, wanted)
            compare_kinds(problems, name, made, scratch)
            with open(path, "rb") as f:
                compare_exported(problems, name, made, oracle.DataOnly(f).load())
            compare_operations(problems, name, made, wanted["operations"])
        print(f"{name}: {'ok' if problems.count == before else 'failed'}")
    return 1 if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
