# SPDX-License-Identifier: Apache-2.0
"""CSV and SQLite: every allocation is there with its life, and the sums at the peak are those of the
report. The queries of docs/sqlite.md run and find the same."""
import collections
import csv
import io
import json
import os
import re
import sqlite3

COLUMNS = ("event device address requested_bytes size_bytes allocated_ns end end_event end_ns site library "
           "phase step kind family stream context thread").split()


def database(recorded, name, *options):
    path = os.path.join(recorded.folder, name + ".db")
    out = recorded.run("export", "-f", "sqlite", "-o", path, *options, recorded.traces[name])
    if out.returncode and b"built without" in out.stderr:
        return None
    assert out.returncode == 0, out.stderr.decode()
    return sqlite3.connect(path)


def rows_of(text):
    rows = list(csv.reader(io.StringIO(text.decode(), newline="")))
    assert rows[0] == COLUMNS, rows[0]
    return [dict(zip(COLUMNS, row)) for row in rows[1:]]


def live_at(rows, device, event):
    return [r for r in rows if r["device"] == str(device) and r["family"] != "ipc" and int(r["event"]) <= event
            and (r["end"] == "" or int(r["end_event"]) > event)]


def sums(rows, key):
    out = {}
    for row in rows:
        size, count = out.get(key(row), (0, 0))
        out[key(row)] = (size + int(row["size_bytes"]), count + 1)
    return out


def without_through(text):
    return re.sub(r" \[[^\]]*\]$", "", text)


def report_sites(sites):
    out = {}
    for site in sites:
        size, count = out.get(without_through(site["text"]), (0, 0))
        out[without_through(site["text"])] = (size + site["bytes"], count + site["count"])
    return out


def check_csv(problems, name, rows, report):
    for device in report["devices"]:
        peak = device["peak_user"]
        live = live_at(rows, device["device"], peak["event"])
        what = f"{name}: csv, device {device['device']}"
        problems.same(f"{what}: peak", sum(int(r["size_bytes"]) for r in live), peak["bytes"])
        problems.same(f"{what}: by site", sums(live, lambda r: r["site"]),
                      report_sites(device["sites_at_peak_allocated"]["sites"]))
        phases = {row["name"]: (row["bytes"], row["blocks"]) for row in device["live"]["by"]["phase"]}
        problems.same(f"{what}: by phase", sums(live, lambda r: r["phase"] or "outside of any range"), phases)
        libraries = {row["name"]: (row["bytes"], row["blocks"]) for row in device["live"]["by"]["library"]}
        problems.same(f"{what}: by library", sums(live, lambda r: r["library"]), libraries)
        left = [r for r in rows if r["device"] == str(device["device"]) and r["end"] != "freed"]
        problems.same(f"{what}: left", sum(int(r["size_bytes"]) for r in left),
                      device["sites_live_at_end"]["total_bytes"])
    for row in rows:
        if row["end"]:
            problems.true(f"{name}: a block ends after its birth",
                          int(row["end_event"]) > int(row["event"]) and int(row["end_ns"]) >= int(row["allocated_ns"]))


def check_same(problems, name, rows, db):
    """The database has what the CSV has."""
    found = db.execute(
        "SELECT born_event, coalesce(device, 'host'), printf('0x%x', address), requested, size, born_ns,"
        " coalesce(end, ''), coalesce(end_event, ''), coalesce(end_ns, ''), label, library, coalesce(path, ''),"
        " coalesce(step, ''), coalesce(kind, ''), family, stream, context, thread FROM allocations"
        " JOIN sites USING(site) LEFT JOIN phases USING(phase)").fetchall()
    problems.same(f"{name}: rows of the database", sorted(tuple(map(str, row)) for row in found),
                  sorted(tuple(row[c] for c in COLUMNS) for row in rows))


def queries(root):
    with open(os.path.join(root, "docs/sqlite.md"), encoding="utf-8") as file:
        found = re.findall(r"```sql\n-- ([^\n]+)\n(.*?)```", file.read(), flags=re.S)
    return dict(found)


def check_queries(problems, name, report, db, text):
    device = report["devices"][0]
    results = {title: db.execute(query).fetchall() for title, query in text.items()}
    found = {label: (size, blocks) for number, label, size, blocks in results["peak by site"]
             if number == device["device"]}
    problems.same(f"{name}: peak by site", found, report_sites(device["sites_at_peak_allocated"]["sites"]))
    problems.same(f"{name}: highest point of the curve", max(live for _, _, live in results["curve"]),
                  device["peak_user"]["bytes"])
    problems.same(f"{name}: end of the curve", results["curve"][-1][2], db.execute(
        "SELECT coalesce(sum(size), 0) FROM allocations WHERE end IS NULL AND device = 0").fetchone()[0])
    steps = db.execute("SELECT step, end_event FROM steps ORDER BY end_event").fetchall()
    problems.same(f"{name}: steps", [s for s, _, _ in results["live at step ends"]], [s for s, _ in steps])
    for (_, event), (_, _, size) in zip(steps, results["live at step ends"]):
        live = {event: size for event, _, size in results["curve"]}
        before = max((e for e in live if e <= event), default=None)
        problems.same(f"{name}: live at the end of a step", size, live.get(before))
    return results


def check_span(recorded, problems, name, options, text):
    """A part of the trace, in both formats: its allocations, and the sums of the report for it."""
    what = f"{name} {' '.join(options)}"
    report = recorded.report(name, *options)["devices"][0]
    span, every = rows_of(recorded.export(name, "csv", *options)), rows_of(recorded.export(name, "csv"))
    problems.true(f"{what}: a span has fewer rows", 0 < len(span) < len(every))
    problems.same(f"{what}: rows of the whole", [r for r in span if r not in every], [])
    db = database(recorded, name, *options)
    check_same(problems, what, span, db)
    peak, peak_event, end = db.execute("SELECT peak_bytes, peak_event, end_bytes FROM devices").fetchone()
    problems.same(f"{what}: peak", (peak, peak_event or 0), (report["peak_user"]["bytes"], report["peak_user"]["event"]))
    problems.same(f"{what}: at its end", end, report["allocated_at_end_bytes"] if report["level"] != "framework"
                  else sum(s["bytes"] for s in report["sites_live_at_end"]["sites"]))
    # names of sites depend on the calls that the report has seen in the part
    found = [(size, blocks) for _, _, size, blocks in db.execute(text["peak by site"])]
    problems.same(f"{what}: peak by site", sorted(found),
                  sorted(report_sites(report["sites_at_peak_allocated"]["sites"]).values()))
    meta = dict(db.execute("SELECT key, value FROM meta"))
    for word, value in zip(options[::2], options[1::2]):
        if value[0] == "@":
            problems.same(f"{what}: meta", meta.get(word[2:] + "_event"), int(value[1:]))
    steps = db.execute("SELECT step, start_event, end_event FROM steps").fetchall()
    whole = database(recorded, name)
    everything = whole.execute("SELECT step, start_event, end_event FROM steps").fetchall()
    problems.true(f"{what}: steps", steps and set(steps) <= set(everything) and len(steps) < len(everything))
    whole.close()
    db.close()


TIMELINE = {"kernel": ("kernels", "start_ns end_ns device context stream correlation grid_x grid_y grid_z block_x block_y"
                       " block_z shared_bytes"),
            "memcpy": ("copies", "start_ns end_ns device context stream bytes async correlation src_device"),
            "memset": ("memsets", "start_ns end_ns device context stream bytes value correlation"),
            "api_call": ("calls", "start_ns end_ns thread api correlation driver result"),
            "work_call": ("launches", "correlation api"),
            "sync": ("waits", "start_ns end_ns device api"),
            "segment_alloc": ("segments", "device addr size stream pool")}
NAMES = {"addr": "address", "size": "bytes", "src_device": "source_device"}


def check_timeline(recorded, problems, text):
    """A row for each event, with its fields; the documented queries find what the report does."""
    recorded.record("calls", "--kernels=api --copy-stacks=on", [recorded.train_lm, "--steps", "4"])
    events = [x for x in map(json.loads, recorded.export("calls", "json").decode().splitlines()) if "event" in x]
    db, report = database(recorded, "calls"), recorded.report("calls")
    device, steps = report["devices"][0], report["steps"]
    for kind, (table, fields) in TIMELINE.items():
        names = fields.split()
        wanted = [tuple(e["fields"][name] for name in names) for e in events if e["kind"] == kind]
        where = "WHERE bytes > 0" if table == "segments" else ""
        columns = ", ".join(NAMES.get(name, name) for name in names)
        problems.true(f"there are {table}", wanted)
        problems.same(table, sorted(db.execute(f"SELECT {columns} FROM {table} {where}")), sorted(wanted))
    busy, work = 0, sorted(db.execute(" UNION ALL ".join(f"SELECT start_ns, end_ns FROM {table}" for table in
                                                         ("kernels", "copies", "memsets"))))
    begin = end = work[0][0]
    for start, stop in work:
        busy, end = busy + max(0, stop - max(start, end)), max(end, stop)
    timeline = device["timeline"]
    problems.same("busy and idle time", (timeline["busy_ns"], timeline["idle_ns"]), (busy, end - begin - busy))
    problems.same("causes of idle time", timeline["gaps_by_cause"]["time_ns"] + timeline["short_gaps_ns"], timeline["idle_ns"])
    for span in ((), ("--from", "20%", "--to", "60%"), ("--from", "50%")):
        part = recorded.report("calls", *span)["devices"][0]
        line, copies = part["timeline"], part["copies"].values()
        problems.same(f"{span}: kernels, copies, waits and time in the part", (
            line["kernels_by_site"]["time_ns"], line["copies_by_size"]["time_ns"], line["busy_ns"] + line["idle_ns"],
            sum(wait["time_ns"] for wait in part["waits_by_site"])), (
            part["kernels"]["time_ns"], sum(kind["time_ns"] for kind in copies), line["end_ns"] - line["start_ns"],
            part["syncs"]["time_ns"]))
    # the report's labels leave out the function that launches everything
    found, wanted = collections.Counter(), collections.Counter()
    for line, name, times, ns, _ in db.execute(text["kernels by line"]):
        found[re.sub(r"^lm_launch \([^)]*\) < ", "", line).split(" < ")[0], name] += complex(times, ns)
    for row in device["timeline"]["kernels_by_site"]["rows"]:
        wanted[row["site"]["text"].split(" < ")[0], row["name"]] += complex(row["count"], row["time_ns"])
    problems.same("kernels by line", found, wanted)
    waits = {label: (per_step * steps["done"], round(percent, 6))
             for label, _, per_step, percent in db.execute(text["waits of steps"])}
    problems.same("waits of steps", waits,
                  {row["text"]: (row["step_count"], round(100 * row["step_ns"] / steps["total_ns"], 6))
                   for row in device["waits_by_site"] if row["step_count"]})
    end = (begin + end) // 2
    part = database(recorded, "calls", "--to", f"{end / 1e9:.9f}s")
    problems.same("kernels of a part", part.execute("SELECT count(*) FROM kernels").fetchone(),
                  db.execute("SELECT count(*) FROM kernels WHERE start_ns <= ?", (end,)).fetchone())
    part.close()
    db.close()


def check(recorded, problems, root):
    text = queries(root)
    problems.true("docs/sqlite.md has its queries", {"peak by site", "live at t", "growth per step"} <= set(text))
    for name in ("plain", "observed", "tensors", "sampled"):
        report = recorded.report(name)
        rows = rows_of(recorded.export(name, "csv"))
        if name != "sampled":
            check_csv(problems, name, rows, report)
        db = database(recorded, name)
        if not db:
            print("without SQLite")
            continue
        check_same(problems, name, rows, db)
        if name == "sampled":
            problems.same("sampled: meta", dict(db.execute("SELECT key, value FROM meta"))["sample"], 4)
            continue
        results = check_queries(problems, name, report, db, text)
        at = recorded.report(name, "--at", "50%")["devices"][0]["live"]
        live = {d: (size, blocks) for d, size, blocks in results["live at t"]}
        problems.same(f"{name}: live at t", live.get(0, (0, 0)), (at["bytes"], at["blocks"]))
        if name == "observed": # each step leaks 2 MiB
            leaks = [size for _, label, size, _ in results["growth per step"] if size == 2 << 20]
            problems.true("observed: the leak is the growth of every step", len(leaks) >= 3)
        db.close()
    for name in ("plain", "tensors"):
        db = database(recorded, name)
        if not db:
            break
        steps = db.execute("SELECT start_event, end_event FROM steps ORDER BY start_event").fetchall()
        first, last = f"@{steps[1][0] + 1}", f"@{steps[-2][1]}"
        db.close()
        for options in (("--from", first, "--to", last), ("--from", last), ("--to", first),
                        ("--from", first, "--to", last, "--device", "0")):
            check_span(recorded, problems, name, options, text)
    if db:
        check_timeline(recorded, problems, text)
    bad = recorded.run("export", "-f", "sqlite", "-o", "/dev/full", recorded.traces["plain"])
    problems.same("/dev/full", (bad.returncode, b"No space left on device" in bad.stderr or
                                b"built without" in bad.stderr), (2, True))
