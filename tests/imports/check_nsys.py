#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope import` of Nsight Systems' SQLite export, of known content (nsys_maker.py): its events are in the trace,
whatever tables and columns the file lacks, and a hostile file is refused or gives a trace in bounded time.

    check_nsys.py COMMAND      exit 1 and a line per problem; 77 without SQLite
"""
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

import nsys_maker as maker
from imported import Imported, Problems

MIB = maker.MIB
FAMILIES = {1: 3, 2: 0, 4: 2} # memKind → family
OPTIONAL = (("CUDA_GPU_MEMORY_USAGE_EVENTS", "streamId correlationId localMemoryPoolAddress globalPid"),
            ("NVTX_EVENTS", "textId domainId text globalTid"), ("CUPTI_ACTIVITY_KIND_RUNTIME", "callchainId returnValue"),
            ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId"), ("TARGET_INFO_GPU", "cuDevice"), ("TARGET_INFO_GPU", "totalMemory"))


def memory(made):
    return [(e.kind, e.time_ns - 10**9, e["device"], e["addr"], e["size"] if e.kind == "alloc" else None)
            for e in made.events() if e.kind in ("alloc", "free")]


def check_content(problems, made):
    wanted = [("free" if op else "alloc", start, device if kind != 1 else 0, addr, None if op else size)
              for start, device, addr, size, kind, op, *_ in maker.EVENTS if kind in FAMILIES and addr != 0x740000000]
    problems.equal("memory events", memory(made), wanted)
    events = list(made.events())
    allocs = {e["addr"]: e for e in events if e.kind == "alloc"}
    for _, _, addr, _, kind, op, call, tid, pool in maker.EVENTS:
        if addr in allocs and not op:
            e = allocs[addr]
            problems.equal(f"{addr:#x}", (e["family"], e["api"], e.tid, e["stream"]),
                           (1 if pool else FAMILIES[kind], call.split("_v")[0] if call else "", tid if call else 1, 13))
    report = made.report()
    first, second = report["devices"]
    problems.equal("devices", [(d["name"], d["total_bytes"]) for d in (first, second)], [("NVIDIA H100", 85 << 30)] * 2)
    problems.equal("peak", (first["peak_allocated"]["bytes"], first["peak_allocated"]["time_ns"]), (96 * MIB, 3000))
    problems.equal("site", report["devices"][0]["sites_at_peak_allocated"]["sites"][0]["text"], "load_weights < main")
    problems.equal("steps", report["steps"]["done"], 2)
    ranges = [(e.kind, e["name"]) for e in events if e.kind in ("range_push", "range_start", "mark")]
    problems.equal("ranges", ranges, [("range_push", "step 1"), ("range_push", "forward"), ("mark", "empty"),
                                      ("range_start", "epoch"), ("mark", "mark"), ("range_push", "step 2")])
    problems.equal("a range of a library", [e["domain"] for e in events if e.kind == "range_push"], ["", "library", ""])
    problems.equal("failed calls", "CUDA calls that returned out of memory: 1" in made.verb("report", made.path), True)
    for text in ("1 free of memory whose allocation", "1 event of other processes", "1 event that the import does not read"):
        problems.equal(text, text in made.out, True)


def changed(path, source, sql):
    with open(source, "rb") as file, open(path, "wb") as copy:
        copy.write(file.read())
    db = sqlite3.connect(path)
    db.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;" + sql)
    db.commit()
    db.close()


TABLE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, 1 AS globalPid, 2 AS memKind FROM n"
FILE_MAX = 64 << 20 # of a temporary file of the import
HOSTILE = { # name → (SQL, whether it is refused)
    "a view in place of the table": (f"DROP TABLE {TABLE}; CREATE VIEW {TABLE} AS {ENDLESS}", True),
    "no table": (f"DROP TABLE {TABLE}", True),
    "columns that are computed": (f"DROP TABLE {TABLE}; CREATE TABLE {TABLE} (start INTEGER, memKind AS "
                                  f"(hex(zeroblob(400000000)))); INSERT INTO {TABLE} VALUES (1)", True),
    "texts and large numbers": (f"UPDATE {TABLE} SET start = 'x', bytes = -1, deviceId = 9000000000, address = 1e300", False),
    "sizes that overflow a sum": (f"UPDATE {TABLE} SET bytes = 1 << 61", False),
    "times before the start": (f"UPDATE {TABLE} SET start = -5; UPDATE NVTX_EVENTS SET end = 9223372036854775807", False),
    "one correlation for all": (f"UPDATE {TABLE} SET correlationId = 1; UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 1",
                                False),
    "every call for every event": (
        f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 1, 2, 1, {maker.thread(maker.PID)}, 100, 40, 0, NULL FROM "
        f"StringIds, StringIds AS b, StringIds AS c; INSERT INTO {TABLE} SELECT {TABLE}.* FROM {TABLE}, StringIds AS b, "
        f"StringIds AS c; UPDATE {TABLE} SET correlationId = 100", False),
    "a large value beside many calls": (
        f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 1, 2, 1, {maker.thread(maker.PID)}, 100, 40, 0, NULL FROM StringIds, "
        f"StringIds AS b, StringIds AS c, StringIds AS d; UPDATE {TABLE} SET address = zeroblob(900000), correlationId = 100 "
        "WHERE rowid = 1", False),
}


def main():
    command = sys.argv[1]
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        source, path = os.path.join(folder, "report.sqlite"), os.path.join(folder, "part.sqlite")
        maker.make(source)
        made = Imported(command, source, os.path.join(folder, "report.vst"))
        if "built without SQLite" in made.err:
            print("skipped: built without SQLite")
            return 77
        problems.equal("imported", made.code, 0)
        check_content(problems, made)
        wanted = memory(made)
        tables = ("StringIds", "TARGET_INFO_GPU", "TARGET_INFO_SESSION_START_TIME", "CUPTI_ACTIVITY_KIND_RUNTIME",
                  "CUDA_CALLCHAINS", "NVTX_EVENTS")
        for without in [{"without": [t]} for t in tables] + [{"columns": [(t, c) for c in cs.split()]} for t, cs in OPTIONAL]:
            os.path.exists(path) and os.unlink(path)
            maker.make(path, **without)
            part = Imported(command, path, os.path.join(folder, "part.vst"))
            events = memory(part) if part.code == 0 else part.err
            if "globalPid" in str(without): # all processes are one then
                events = [e for e in events if e[3] != 4096]
            problems.equal(f"{without}", events, wanted)
        other = Imported(command, source, os.path.join(folder, "other.vst"), "--process", str(maker.OTHER))
        problems.equal("the other process", [(e[1], e[3]) for e in memory(other)], [(1500, 4096)])
        absent = Imported(command, source, os.path.join(folder, "absent.vst"), "--process", "77")
        problems.equal("an absent process", (absent.code, "of process 77, but of" in absent.err and str(maker.OTHER) in absent.err),
                       (2, True))
        changed(path, source, f"DELETE FROM {TABLE}")
        empty = Imported(command, path, os.path.join(folder, "empty.vst"))
        problems.equal("no events", (empty.code, any("is empty" in n["text"] for n in empty.report()["notes"])), (0, True))
        with open(source, "rb") as file:
            content = file.read()
        piped = subprocess.run([command, "import", "-", "-o", os.path.join(folder, "p.vst")], input=content,
                               capture_output=True, check=False)
        problems.equal("a pipe", (piped.returncode, b"give the file itself" in piped.stderr), (2, True))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        for name, (sql, fails) in HOSTILE.items():
            changed(path, source, sql)
            part = Imported(command, path, os.path.join(folder, f"hostile{len(name)}.vst"))
            problems.equal(f"{name}: {part.err}", (part.code, part.err.count("\n")), (2, 1) if fails else (0, 0))
            if not fails:
                part.verb("export", "-f", "parquet", "-o", os.path.join(folder, "tables.gz"), part.path)
        for end in range(100, len(content), 997):
            with open(path, "wb") as file:
                file.write(content[:end])
            part = Imported(command, path, os.path.join(folder, "cut.vst"))
            problems.equal(f"cut at {end}", part.code in (0, 2), True)
    return 1 if problems.count else 0


if __name__ == "__main__":
    sys.exit(main())
