# SPDX-License-Identifier: Apache-2.0
"""`report --torch-summary`: the cells of the table, from the events of `export -f json`."""
import json
import re

MIB = 1 << 20
WIDTH = 77
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": MIB, "GiB": 1 << 30, "": 1, "K": 1000, "M": 10**6}


def table(text):
    """row, or row and pool → its four cells."""
    rows, name = {}, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] != "Metric":
            name = name if cells[0].startswith("from") else cells[0]
            rows[name, cells[0].split()[1] if cells[0].startswith("from") else "all"] = cells[1:]
    return rows


def follow(changes):
    """The four cells of (size of an allocation, or minus that of a free)…"""
    now = peak = 0
    for change in changes:
        now += change
        peak = max(peak, now)
    return [now, peak, sum(c for c in changes if c > 0), -sum(c for c in changes if c < 0)]


def same(cell, value):
    """*value* in the units of *cell*, cut off."""
    number, unit = re.fullmatch(r"(\d+) ?(\w*)", cell).groups()
    return int(number) == value // UNITS[unit]


def expected(events, tensors):
    blocks, segments, live = [], [], {}
    for event in events:
        fields, kind = event["fields"], event["kind"]
        if kind == "framework_alloc":
            live[1, fields["addr"]] = fields["size"]
            blocks.append(fields["size"])
        elif kind == "framework_free":
            blocks.append(-live.pop((1, fields["addr"])))
        elif kind == "alloc" and any(fields["addr"] <= t < fields["addr"] + fields["size"] for t in tensors):
            live[0, fields["addr"]] = fields["size"]
            segments.append(fields["size"])
        elif kind == "free" and (0, fields["addr"]) in live:
            segments.append(-live.pop((0, fields["addr"])))
    pools = (("all", lambda small: True), ("large", lambda small: not small), ("small", lambda small: small))
    for pool, wanted in pools:
        mine = [s for s in blocks if wanted(abs(s) <= MIB)]
        held = [s for s in segments if wanted(abs(s) == 2 * MIB)]
        yield ("Allocated memory", pool), follow(mine)
        yield ("Allocations", pool), follow([1 if s > 0 else -1 for s in mine])
        yield ("GPU reserved memory", pool), follow(held)
        yield ("GPU reserved segments", pool), follow([1 if s > 0 else -1 for s in held])


def check(recorded, problems, root):
    path = recorded.traces["tensors"]
    for options in ((), ("--at", "@120"), ("--at", "end")):
        text = recorded.run("report", "--torch-summary", *options, path).stdout.decode()
        rows = table(text)
        problems.same("widths", {len(line) for line in text.splitlines()}, {WIDTH})
        events = [x for x in map(json.loads, recorded.export("tensors", "json").decode().splitlines()) if "event" in x]
        tensors = {e["fields"]["addr"] for e in events if e["kind"] == "framework_alloc"}
        for key, values in expected([e for e in events if "@120" not in options or e["event"] <= 120], tensors):
            problems.true(f"{options} {key}: {rows[key]} {values}", all(same(c, v) for c, v in zip(rows[key], values)))
        for name in ("Active memory", "Requested memory", "Non-releasable memory"):
            problems.same(name, rows[name, "all"], ["not recorded"] * 4)
        problems.same("oversize", rows["Oversize allocations", "all"], ["0"] * 4)
        problems.true("failures", re.search(r"CUDA OOMs: 0 +\| +cudaMalloc retries: 0 ", text))
    peak = table(recorded.run("report", "--torch-summary", "--at", "peak", path).stdout.decode())["Allocated memory", "all"]
    problems.true(f"at the peak: {peak}", peak[0] == peak[1])
    with open(path, "rb") as whole, open(path + ".cut", "wb") as cut:
        cut.write(whole.read()[:-40])
    recorded.traces["cut"] = path + ".cut"
    partial = recorded.run("report", "--torch-summary", "--partial", recorded.traces["cut"])
    problems.true("a damaged trace", partial.returncode == 0 and len(table(partial.stdout.decode())) == 29)
    for name, options, why in (("cut", (), "--partial"), ("plain", (), "no memory of PyTorch"), ("sampled", (), "needs every allocation"),
                               ("tensors", ("--at", "@1"), "had allocated no memory by then"),
                               ("tensors", ("--json",), "combined with"), ("tensors", ("--device", "7"), "on that device")):
        out = recorded.run("report", "--torch-summary", *options, recorded.traces[name])
        problems.true(f"{name} {options}: {out.stderr}", out.returncode == 2 and not out.stdout and why in out.stderr.decode())
