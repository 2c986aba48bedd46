# SPDX-License-Identifier: Apache-2.0
"""The Chrome timeline: every kernel, copy, memset, call and wait of the trace, an arrow from the call to each
work, nothing else; slices nest; counters reach the report's peaks; a compressed file has the same bytes."""
import collections
import gzip
import json
import os

import read_rows

WORK = {"kernel": "kernel", "memcpy": "gpu_memcpy", "memset": "gpu_memset"}


def ns(us):
    return round(us * 1000)


def nest(problems, slices):
    tracks = collections.defaultdict(list)
    for one in slices:
        tracks[one["pid"], one["tid"]].append((ns(one["ts"]), -ns(one["dur"]), one["name"]))
    for track, rows in tracks.items():
        ends = []
        for start, minus, name in sorted(rows):
            while ends and ends[-1] <= start:
                ends.pop()
            problems.true(f"{track}: {name} at {start} overlaps the slice around it",
                          not ends or start - minus <= ends[-1])
            ends.append(start - minus)


def counter(timeline, name):
    return max((e["args"]["bytes"] for e in timeline if e["ph"] == "C" and e["name"] == name), default=0)


def lives(timeline):
    """(begin, end, first event) of each pair of b and e."""
    open_at, found = {}, []
    for e in timeline:
        if e["ph"] == "b":
            key = e["pid"], e["id2"]["local"]
            assert key not in open_at, e
            open_at[key] = e
        elif e["ph"] == "e":
            begin = open_at.pop((e["pid"], e["id2"]["local"]))
            found.append((ns(begin["ts"]), ns(e["ts"]), begin))
    assert not open_at
    return found


def check_lives(recorded, problems, name, size):
    """Each block of at least *size* bytes is drawn once, as the CSV has it, with PyTorch's two events."""
    timeline = json.loads(recorded.export(name, "chrome", "--min-bytes", str(size)))["traceEvents"]
    rows = [r for r in read_rows.rows_of(recorded.export(name, "csv")) if int(r["size_bytes"]) >= size]
    found = lives(timeline)
    last = max((end for _, end, _ in found), default=0)
    problems.true(f"{name}: there are lives, freed and not", {r["end"] for r in rows} >= {"freed"})
    problems.same(f"{name}: lives", sorted((start, end, b["args"]["Bytes"], b["args"]["kind"], b["args"]["call site"])
                                           for start, end, b in found),
                  sorted((int(r["allocated_ns"]), int(r["end_ns"] or last), int(r["size_bytes"]), r["kind"] or r["family"],
                          r["site"].split(" [")[0]) for r in rows))
    memory = [e["args"] for e in timeline if e["ph"] == "i" and e["name"] == "[memory]"]
    if any(m["family"] == "tensor" for m in memory):  # a segment is known as one from its first tensor on
        memory, rows = [m for m in memory if m["family"] == "tensor"], [r for r in rows if r["family"] == "tensor"]
    problems.same(f"{name}: [memory]", sorted(m["Bytes"] for m in memory),
                  sorted([int(r["size_bytes"]) for r in rows] + [-int(r["size_bytes"]) for r in rows if r["end"]]))
    level = {}
    for m in memory if size == 1 else ():
        device = m["Device Type"], m["Device Id"]
        level[device] = level.get(device, 0) + m["Bytes"]
        problems.same(f"{name}: [memory]: Total Allocated", m["Total Allocated"], level[device])


def check_selection(recorded, problems):
    """--max-size keeps the longest slices, and says which; --steps keeps those steps."""
    path = os.path.join(recorded.folder, "small")
    whole = json.loads(recorded.export("calls", "chrome"))["traceEvents"]
    for form in ("chrome", "perfetto"):
        for size in (300000, 100000):
            out = recorded.run("export", "-f", form, "--max-size", str(size), "-o", path, recorded.traces["calls"])
            problems.true(f"{form}: at most {size} bytes: {os.path.getsize(path)}", size / 2 < os.path.getsize(path) <= size)
            problems.true(f"{form}: {size} bytes: {out.stderr}", b": left out to stay below " in out.stderr)
        if form == "chrome":
            with open(path, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            note = [e["args"] for e in events if e["name"].startswith("left out for --max-size: ")][0]

            def slices(of):
                return sorted((e["ts"], e["dur"], e["name"]) for e in of if e["ph"] == "X" and
                              (e["name"].startswith("step ") or ns(e["dur"]) >= note["shorter than ns"]))
            problems.same("what is left", slices(events), slices(whole))
            left = sum(e["ph"] == "X" for e in whole) - sum(e["ph"] == "X" for e in events)
            problems.same("left out, as the file says", left, note["left out"])
    steps = json.loads(recorded.export("calls", "chrome", "--steps", "2-3"))["traceEvents"]
    problems.same("--steps", sorted(e["name"] for e in steps if e["ph"] == "X" and e["name"].startswith("step ")),
                  ["step 2", "step 3"])
    kinds = {b["args"]["kind"] for _, _, b in lives(json.loads(recorded.export(
        "tensors", "chrome", "--steps", "3-4", "--min-bytes", "1MB"))["traceEvents"])}
    problems.same("kinds in a part", kinds, {r["kind"] or r["family"] for r in read_rows.rows_of(recorded.export(
        "tensors", "csv", "--steps", "3-4")) if int(r["size_bytes"]) >= 1000000})
    for options, wanted in ((("--steps", "9"), b"no step 9; the trace has steps 1 to 4"),
                            (("--max-size", "1KB"), b"counters, ranges and instants alone take ")):
        out = recorded.run("export", "-f", "chrome", *options, "-o", path, recorded.traces["calls"])
        problems.true(f"{options}: {out.stderr}", out.returncode == 2 and wanted in out.stderr)


def record_calls(recorded):
    recorded.record("calls", "--kernels=api", [recorded.train_lm, "--steps", "4"])


def check(recorded, problems, _root):
    record_calls(recorded)
    text = recorded.export("calls", "chrome", "--all-points")
    timeline = json.loads(text)["traceEvents"]
    events = [x for x in map(json.loads, recorded.export("calls", "json").decode().splitlines()) if "event" in x]
    fields = [(e["kind"], e["tid"], e["fields"]) for e in events]
    works = [(f["start_ns"], f["end_ns"], WORK[k], f["stream"], f["correlation"]) for k, _, f in fields if k in WORK]
    calls = [(f["start_ns"], f["end_ns"], f["api"].strip("_").split("_")[0], f["thread"] | 1 << 23, f["correlation"])
             for k, _, f in fields if k == "api_call"]
    waits = [(f["start_ns"], f["end_ns"], f["api"], tid) for k, tid, f in fields if k == "sync"]
    slices = [e for e in timeline if e["ph"] == "X"]

    def drawn(categories, *more):
        return sorted((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), *(f(e) for f in more))
                      for e in slices if e["cat"] in categories)

    number = (lambda e: e["args"]["correlation"])
    problems.true("there is work, there are calls and waits", works and calls and waits)
    problems.same("work", drawn(WORK.values(), lambda e: e["cat"], lambda e: e["tid"], number), sorted(works))
    problems.same("calls", drawn(("cuda_runtime", "cuda_driver"), lambda e: e["name"], lambda e: e["tid"], number),
                  sorted(calls))
    problems.same("waits", drawn(("cuda_sync",), lambda e: e["name"], lambda e: e["tid"]), sorted(waits))
    problems.true("a wait has its line", any("print_loss (train_lm" in e.get("args", {}).get("stack", "") for e in slices))
    names = " ".join(e["args"].get("name", "") for e in timeline if e["ph"] == "M")
    problems.true("tracks have names", all(n in names for n in ("train_lm", "main thread", "GPU 0", "(compute)", "copies)")))
    problems.true("ranges are slices", {"forward", "step 3"} <= {e["name"] for e in timeline if e["ph"] == "B"})
    large = json.loads(recorded.export("observed", "chrome", "--min-bytes", "2MiB"))["traceEvents"]
    problems.true("a large allocation is marked", 2 << 20 in [e["args"]["Bytes"] for e in large if e["ph"] == "i"])
    nest(problems, slices)
    starts = {e["id"]: e for e in timeline if e["ph"] == "s"}
    ends = {e["id"]: e for e in timeline if e["ph"] == "f"}
    problems.same("arrows with two ends", sorted(starts), sorted(ends))
    problems.same("arrows end at work", sorted((ns(e["ts"]), e["tid"]) for e in ends.values()),
                  sorted((row[0], row[3]) for row in works))
    number_at = {(row[0], row[3]): row[4] for row in calls + works}
    for key, one in starts.items():
        call, work = (number_at.get((ns(e["ts"]), e["tid"])) for e in (one, ends[key]))
        problems.same(f"arrow {key}: its call's number", call, work)
    recorded.record("counted", "--sample 4 --min-size 10MB --allocator=observe", recorded.tensors)
    for name in ("calls", "tensors", "counted"):
        timeline = json.loads(recorded.export(name, "chrome"))["traceEvents"]
        device = recorded.report(name)["devices"][0]
        problems.same(f"{name}: allocated", counter(timeline, "allocated"), device["peak_allocated"]["allocated_bytes"])
        problems.same(f"{name}: reserved", counter(timeline, "reserved"), device["peak_reserved"]["reserved_bytes"])
        problems.same(f"{name}: device in use", counter(timeline, "device in use"),
                      device["device_memory"]["highest_use"]["used_bytes"])
        tensors = device.get("framework", {}).get("peak_allocated_bytes", 0)
        problems.true(f"{name}: tensors where the program has them", (tensors > 0) == (name != "calls"))
        problems.same(f"{name}: tensors", counter(timeline, "tensors"), tensors)
    check_selection(recorded, problems)
    for name in ("plain", "observed"):
        check_lives(recorded, problems, name, 1)
    check_lives(recorded, problems, "tensors", 1000000)
    compressed = os.path.join(recorded.folder, "calls.json.gz")
    problems.same("compressed", recorded.export("calls", "chrome", "--all-points", "-o", compressed), b"")
    with gzip.open(compressed) as file:
        problems.true("a compressed file has the same bytes", file.read() == text)
