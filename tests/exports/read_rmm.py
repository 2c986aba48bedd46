# SPDX-License-Identifier: Apache-2.0
"""Logs in RMM's format, read by the rules of its replay benchmark (cpp/benchmarks/utilities/log_parser.hpp): they
have the trace's events one by one. With VS_RMM=FOLDER, a checkout of RMM, its own reader gives
the same."""
import csv
import json
import os
import re
import subprocess

ON_HOST_OR_FOREIGN = (3, 6, 8) # pinned, of another process, registered
# in place of RMM's header, which needs CUDA
ERRORS = """
#include <algorithm>
#include <stdexcept>
#define RMM_EXPECTS(good, why) ((good) ? void() : throw std::runtime_error(why))
"""
READER = """
#include "benchmarks/utilities/log_parser.hpp"
#include <cstdio>
int main(int, char **argv)
{
    for (auto const& e : rmm::detail::parse_csv(argv[1]))
        std::printf("%zu %d %zu %zu %zu\\n", e.thread_id, static_cast<int>(e.act), e.pointer, e.size, e.stream);
}
"""
ACTIONS = ["allocate", "free", "allocate failure"]


def parse(text):
    """(thread, action, pointer, size, stream), as RMM's parse_csv has them."""
    rows = list(csv.DictReader(text.decode().splitlines()))
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{6}", row["Time"]) for row in rows)
    return [(int(row["Thread"]), row["Action"], 0 if row["Pointer"] == "(nil)" else int(row["Pointer"], 16),
             int(row["Size"]), int(re.match(r"\d+", row["Stream"])[0])) for row in rows]


def expected(events):
    """The lines that the events of `export -f json` make, without those of memory that holds tensors."""
    tensors = {e["fields"]["addr"] for e in events if e["kind"] == "framework_alloc"}
    live, lines = {}, []
    for event in events:
        kind, fields = event["kind"], event["fields"]
        tensor = kind.startswith("framework")
        if kind == "framework_oom" if tensors else kind == "alloc_failed":
            lines.append((event["tid"], ACTIONS[2], 0, fields["requested"]))
        if kind in ("alloc", "framework_alloc"):
            addr, size = fields["addr"], fields["size"]
            if tensor or (fields["family"] not in ON_HOST_OR_FOREIGN and
                          not any(addr <= t < addr + size for t in tensors)):
                live[tensor, addr] = fields.get("requested") or size
                lines.append((event["tid"], ACTIONS[0], addr, live[tensor, addr]))
        elif kind in ("free", "framework_free") and (tensor, fields["addr"]) in live:
            lines.append((event["tid"], ACTIONS[1], fields["addr"], live.pop((tensor, fields["addr"]))))
    return lines


def number(value):
    return int(value, 0) if isinstance(value, str) else value


def check_one(recorded, problems, name, path):
    text = recorded.export(name, "rmm-csv")
    rows = parse(text)
    events = [x for x in map(json.loads, recorded.export(name, "json").decode().splitlines()) if "event" in x]
    for event in events:
        if "addr" in event["fields"]:
            event["fields"]["addr"] = number(event["fields"]["addr"])
    problems.same(f"{name}: the events", [row[:4] for row in rows], expected(events))
    problems.same(f"{name}: streams that RMM replays", {row[4] for row in rows}, {0})
    with open(path, "wb") as file:
        file.write(text)
    made = path + ".vst"
    problems.same(f"{name}: imported", recorded.run("import", "-q", path, "-o", made).returncode, 0)
    recorded.traces["again"] = made
    again, device = recorded.report("again")["devices"][0], recorded.report(name)["devices"][0]
    peak = device["peak_user" if device["level"] == "framework" else "peak_requested"]["bytes"]
    problems.same(f"{name}: the peak of the import", again["peak_requested"]["bytes"], peak)
    return rows


def check(recorded, problems, root):
    path = os.path.join(recorded.folder, "log.csv")
    every = {name: check_one(recorded, problems, name, path) for name in ("plain", "observed", "tensors")}
    part = parse(recorded.export("tensors", "rmm-csv", "--steps", "3-4"))
    held, freed = set(), 0
    for _, action, addr, _, _ in part:
        freed += action == "free"
        held ^= {addr}
    problems.true("a part: its frees are of memory that it has", freed and held == {
        a for a in held if ("allocate", a) in {(row[1], row[2]) for row in part}})
    problems.true("a part is shorter", len(part) < len(every["tensors"]))
    with open(path, "wb") as file:
        file.write(recorded.export("plain", "rmm-csv").splitlines(True)[0])
    problems.same("a log without entries: imported", recorded.run("import", "-q", path, "-o", path + ".none.vst").returncode, 0)
    with open(path, "ab") as file:
        file.write(b"1,12:00:00.000001,alloc,0x10,100,0x0\n")
    refused = recorded.run("import", "-q", path, "-o", path + ".none.vst")
    problems.true("a log with lines, none of them an entry",
                  refused.returncode == 2 and b"no line of it is an entry" in refused.stderr)
    none = recorded.run("export", "-f", "rmm-csv", "--device", "7", recorded.traces["plain"])
    problems.true("another device", none.returncode == 2 and b"did not use that device" in none.stderr)
    rmm = os.environ.get("VS_RMM")
    if rmm:
        program = os.path.join(recorded.folder, "reader")
        os.makedirs(os.path.join(recorded.folder, "rmm/detail"))
        for name, content in (("rmm/detail/error.hpp", ERRORS), ("reader.cpp", READER)):
            with open(os.path.join(recorded.folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        subprocess.run(["g++", "-std=c++20", f"-I{recorded.folder}", f"-I{rmm}/cpp", program + ".cpp", "-o", program],
                       check=True)
        for name, rows in every.items():
            with open(path, "wb") as file:
                file.write(recorded.export(name, "rmm-csv"))
            out = subprocess.run([program, path], check=True, capture_output=True, text=True).stdout
            problems.same(f"{name}: by RMM's own reader", [tuple(map(int, line.split())) for line in out.splitlines()],
                          [(thread, ACTIONS.index(action), *rest) for thread, action, *rest in rows])
