# SPDX-License-Identifier: Apache-2.0
"""Two ranks of a job in one timeline: each has the events of its own export, at its place and with arrows of its
own; the database has the rows of both; the page and the text name both."""
import json
import os
import re
import sqlite3
import subprocess

import read_perfetto
import read_timeline
from read_timeline import ns


missing = read_perfetto.missing


def events_of(text, first, last, begin):
    """What processes *first* to *last* have, times from *begin* on, numbers of tracks left out."""
    out = []
    for e in json.loads(text)["traceEvents"]:
        if first <= e["pid"] <= last and e["ph"] != "M":
            out.append((e["ph"], e["name"], ns(e["ts"]) - begin, ns(e.get("dur", 0)), e.get("cat"), e["tid"],
                        json.dumps(e.get("args"))))
    return sorted(out, key=str)


def check(recorded, problems, _root):
    for rank in (0, 1):
        os.environ.update(RANK=str(rank), WORLD_SIZE="2")
        recorded.record(f"rank{rank}", "--kernels=api", [recorded.train_lm, "--steps", str(4 + rank)])
    traces = [recorded.traces[f"rank{rank}"] for rank in (1, 0)]

    def merge(form):
        out = os.path.join(recorded.folder, "merged." + form)
        run = recorded.run("merge", *traces, "-f", form, "-o", out)
        problems.same(f"{form}: status", (run.returncode, run.stderr.decode()), (0, ""))
        with open(out, "rb") as file:
            return file.read()

    facts = json.loads(recorded.run("merge", "--json", *traces).stdout)
    problems.same("ranks", [(r["name"], r["clock"], r["steps"]) for r in facts["ranks"]],
                  [("rank 0", "shared", 4), ("rank 1", "shared", 5)])
    text = merge("chrome").decode()
    for rank in (0, 1):
        own = recorded.export(f"rank{rank}", "chrome").decode()
        pid = 1000 * (rank + 1)
        found = events_of(text, pid, pid + 999, facts["ranks"][rank]["begin_ns"])
        problems.same(f"rank {rank}: events", len(found), len(events_of(own, 0, 1 << 40, 0)))
        problems.true(f"rank {rank}: the same events", found == events_of(own, 0, 1 << 40, 0))
    events = json.loads(text)["traceEvents"]
    starts = {e["id"]: e["pid"] // 1000 for e in events if e["ph"] == "s"}
    ends = {e["id"]: e["pid"] // 1000 for e in events if e["ph"] == "f"}
    problems.same("arrows stay in their rank", starts, ends)
    problems.same("no two arrows have one number", len(starts), sum(e["ph"] == "s" for e in events))
    read_timeline.nest(problems, [e for e in events if e["ph"] == "X"])
    packets = merge("perfetto")
    slices, _, counters, flows, _ = read_perfetto.decode(packets)
    in_json = read_perfetto.of_json(text)
    problems.true("Perfetto has the slices and counters of the JSON", [slices, counters] == [in_json[0], in_json[2]])
    problems.same("ranks of the numbers that join slices", {number >> 40 for number in flows}, {1, 2})
    merge("sqlite")
    with sqlite3.connect(os.path.join(recorded.folder, "merged.sqlite")) as database:
        rows = database.execute("SELECT name, count(*) FROM ranks NATURAL JOIN allocations GROUP BY name").fetchall()
        problems.same("rows of the database", [name for name, _ in rows], ["rank 0", "rank 1"])
    page = merge("html").decode()
    problems.same("rows of the page", page.count("<tr data-rank="), 2)
    problems.same("steps of the page", 'data-columns="5"' in page, True)
    problems.same("ranks of the page", re.findall(r'<a href="#rank=\d+">(.*?)</a>', page), ["rank 0", "rank 1"])
    problems.same("steps of each rank", [v.count(",") for v in re.findall(r'data-values="(.*?)"', page)], [4, 4])
    alone = subprocess.run([recorded.command, "merge", *traces, "-f", "chrome"], capture_output=True, check=False)
    problems.same("without a file", (alone.returncode, b"-o FILE" in alone.stderr), (2, True))
