#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces without all allocations have the totals of complete ones.

    check_sampling.py BIN VICTIM CASE

Runs the victim, which asks for the same in every run, under `vramscope run` (folder BIN)
with and without smallest size, sampling and a limit of the trace's size, and compares the
reports, field by field.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

DEVICE = "h100-80g,devices=2"
LIMIT = 1 << 20
# the exact figures of a device's report, and of a family's
EXACT = ("allocated_bytes", "requested_bytes", "reserved_bytes", "lost_bytes")
PEAKS = ("peak_allocated", "peak_requested", "peak_reserved")


class Runs:
    def __init__(self, folder, victim):
        self.command = os.path.join(folder, "vramscope")
        self.victim = victim
        self.scratch = tempfile.TemporaryDirectory()

    def run(self, name, options, *mode, status=0):
        trace = os.path.join(self.scratch.name, name + ".vst")
        if os.path.exists(trace):
            os.unlink(trace)
        done = subprocess.run([self.command, "run", "--simulate", DEVICE, "-o", trace, *options,
                               self.victim, *mode], capture_output=True, text=True, timeout=600)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return trace, done.stderr

    def verb(self, *words):
        return subprocess.run([self.command, *words], capture_output=True, text=True, timeout=600)

    def report(self, trace):
        done = self.verb("report", "--json", trace)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def families(device, failures):
    return {name: {k: v for k, v in family.items() if failures or k != "failures"}
            for name, family in device["families"].items()}


def same(whole, part, path="", failures=True):
    """Everything that has to be exact, by name. Without *failures*: those of them that had
    no room in the trace are counted as dropped."""
    for d, e in zip(whole["devices"], part["devices"], strict=True):
        assert families(d, failures) == families(e, failures), (path, d["families"], e["families"])
        for key in PEAKS:
            assert d[key]["bytes"] == e[key]["bytes"], (path, key, d[key], e[key])
        for key in d:
            if isinstance(d[key], int) and (key in EXACT or key.startswith("framework")):
                assert d[key] == e[key], (path, key, d[key], e[key])
        if "framework" in d:
            assert d["framework"] == e["framework"], (path, d["framework"], e["framework"])
    assert whole["host_memory"]["families"] == part["host_memory"]["families"], path
    assert whole["host_memory"]["peak_bytes"] == part["host_memory"]["peak_bytes"], path
    dropped = sum(d["count"] for d in part["dropped"] if d["what"] == "alloc_failed")
    assert not (failures and dropped), dropped
    assert whole["failure_count"] == part["failure_count"] + dropped, (path, dropped)


def exact(runs, allocator):
    base = [f"--allocator={allocator}", "--quiet"]
    whole = runs.report(runs.run("whole", base, "churn", "1500")[0])
    assert sum(f["allocations"] for f in whole["devices"][0]["families"].values()) > 300
    assert "recording" not in whole
    for options in (["--sample=3"], ["--sample=16", "--sample-seed=5"], ["--min-size=40KiB"],
                    ["--min-size=2KiB", "--sample=4"], ["--min-size=1GiB"]):
        part = runs.report(runs.run("part", base + options, "churn", "1500")[0])
        same(whole, part, f"{allocator} {options}")
        assert part["recording"]["unrecorded"], options


def observe(runs):
    exact(runs, "observe")


def caching(runs):
    exact(runs, "caching")


def threads(runs):
    trace, _ = runs.run("threads", ["--quiet", "--sample=5", "--min-size=1KiB"], "threads", "1500")
    report = runs.report(trace)
    for device in report["devices"]:
        for name, family in device["families"].items():
            assert family["allocations"] == family["frees"], (name, family)
            assert family["live_bytes"] == 0 and family["live_count"] == 0, (name, family)
    assert report["trace"]["unmatched_frees"] == 0


def adds_up(device):
    """The sites at the peak and the memory without a site add up to the peak."""
    sites = device["sites_at_peak_allocated"]
    if "not_recorded_bytes" not in sites:
        return
    # none are small where the peak was before the limit
    total = sites["total_bytes"] + sites.get("small_bytes", 0) + sites["not_recorded_bytes"]
    assert total == device["peak_user"]["bytes"], sites


def unlisted(device):
    """Memory without a site at the peak, or without a library at the highest use of the device:
    these are two times, and one of them may be before the limit and the other one after it."""
    peak = device["sites_at_peak_allocated"].get("not_recorded_bytes", 0) > 0
    libraries = (device["device_memory"]["highest_use"] or {"libraries": []})["libraries"]
    return peak or "(not recorded individually)" in [row["name"] for row in libraries]


def limited(runs):
    """The largest size holds, whatever is recorded; sums stay exact to the end."""
    for allocator in ("observe", "caching"):
        base = [f"--allocator={allocator}", "--compression=0"]
        whole, _ = runs.run("whole", base + ["--quiet"], "churn", "60000")
        part, said = runs.run("part", base + ["--max-trace-size=1MiB"], "churn", "60000")
        assert os.path.getsize(whole) > LIMIT, os.path.getsize(whole)
        assert os.path.getsize(part) < LIMIT, os.path.getsize(part)
        assert "only totals, peaks and failures from" in unbroken(said), said
        a, b = runs.report(whole), runs.report(part)
        same(a, b, f"limited {allocator}", failures=False)
        assert b["recording"]["allocations_ended_ns"] > 0
        for device in b["devices"]:
            adds_up(device)
        text = runs.verb("report", part).stdout
        assert ("not recorded individually" in text) == any(map(unlisted, b["devices"])), text
        assert "device_sample" not in text, text
        assert "live when single allocations were last recorded" in text and "live at the end" not in text, text
        left = [d["what"] for d in b["dropped"]]
        assert "alloc" not in left and "free" not in left, left


def unbroken(text):
    """Sentences on one line each."""
    return re.sub(r"\n {11}", " ", text)


def without_live(trace):
    os.unlink(trace + ".live")
    return trace


def killed(runs):
    """Counted allocations survive a kill as recorded ones do."""
    status = 128 + 9
    base = ["--quiet", "--allocator=observe", "--flush-ms=100"]
    whole = runs.report(runs.run("whole", base, "killed", "800", "at-once", status=status)[0])
    for options, *mode in ((["--sample=7"],), (["--min-size=40KiB"],), (["--sample=7"], "at-once")):
        part, _ = runs.run("part", base + options, "killed", "800", *mode, status=status)
        same(whole, runs.report(part), f"killed {options}")
    # in the last stage of a limit as well
    for allocator in ("observe", "caching"):
        base = ["--quiet", f"--allocator={allocator}", "--compression=0"]
        whole, _ = runs.run("whole", base, "killed", "60000", "at-once", status=status)
        trace, _ = runs.run("limited", base + ["--max-trace-size=1MiB"], "killed", "60000",
                            "at-once", status=status)
        text = runs.verb("report", trace).stdout
        assert "only totals" in text and "peaks and totals are exact\n" in unbroken(text), text
        same(runs.report(whole), runs.report(trace), f"killed {allocator}")
        # the totals of the trace are within a budget; its end is bad unless options allow it
        checked = runs.verb("check", "--partial", "--max-peak=1TiB", trace)
        assert checked.returncode == 1 and "killed by signal 9" in checked.stdout, checked
        checked = runs.verb("check", "--partial", "--max-peak=1TiB", "--allow-oom",
                            f"--allow-exit={status}", trace)
        assert checked.returncode == 0, checked
    # without FILE.live the sums may be old, and the report says so
    text = runs.verb("report", "--partial", without_live(trace)).stdout
    assert ("are exact up to where the trace ends\n" in unbroken(text) or
            " up to the last totals" in unbroken(text)), text
    trace, _ = runs.run("limited", base + ["--max-trace-size=1MiB", "--flush-ms=100"], "killed", "60000",
                        status=status)
    text = unbroken(runs.verb("report", "--partial", without_live(trace)).stdout)
    assert "only totals" in text and " up to the last totals, at " in text, text
    checked = runs.verb("check", "--partial", "--max-peak=1TiB", trace)
    assert checked.returncode == 2 and "the peak may be higher" in checked.stderr, checked


def verbs(runs):
    """Verbs that need every allocation say so; budgets use exact figures."""
    trace, said = runs.run("sampled", ["--sample=16", "--allocator=caching"], "churn", "600")
    assert "only 1 in 16 allocations was recorded" in unbroken(said), said
    assert "estimated from 1 in 16 allocations" in said, said
    oom = runs.verb("oom", trace)
    assert oom.returncode == 2 and "needs every allocation" in oom.stderr, oom
    assert not oom.stdout, oom
    # Which of the memory that was left out holds tensors is not known: the peak of both lies in between.
    devices = runs.report(trace)["devices"]
    peak, most = (max(d[key]["bytes"] for d in devices) for key in ("peak_user", "peak_allocated"))
    tensors = max(d["framework"]["peak_allocated_bytes"] for d in devices)
    assert peak < most, (peak, most)
    assert runs.verb("check", "--max-peak", str(most), trace).returncode == 0
    assert runs.verb("check", "--max-peak", str(peak - 1), trace).returncode == 1
    unsure = runs.verb("check", "--max-peak", str(peak), trace)
    assert unsure.returncode == 2 and "limit max-tensors, which is exact" in unsure.stderr, unsure
    base = os.path.join(runs.scratch.name, "base.json")
    assert runs.verb("check", "--baseline", base, "--update-baseline", trace).returncode == 0
    assert "it may exceed the baseline" in " ".join(runs.verb("check", "--baseline", base, trace).stdout.split())
    assert runs.verb("check", "--max-tensors", str(tensors), trace).returncode == 0
    assert runs.verb("check", "--max-tensors", str(tensors - 1), trace).returncode == 1
    export = runs.verb("export", trace, "-f", "chrome", "-o",
                       os.path.join(runs.scratch.name, "t.json"))
    assert export.returncode == 0, export
    assert "only 1 in 16 allocations was recorded; counters are exact" in export.stderr, export


def main():
    runs = Runs(sys.argv[1], sys.argv[2])
    {f.__name__: f for f in (observe, caching, threads, limited, killed, verbs)}[sys.argv[3]](runs)
    print("ok")


main()
