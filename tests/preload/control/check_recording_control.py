#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that annotate, stop, start and copy their recording (include/vramscope_client.h).

    check_recording_control.py BIN VICTIM SIMULATOR CASE

The victim allocates the same in every run: whatever it does to its recording, totals and peaks
must be those of an undisturbed run.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "decoder"))
import vst  # noqa: E402

MIB = 1 << 20
PEAKS = ("peak_allocated", "peak_requested", "peak_reserved")


class Runs:
    def __init__(self, folder, victim, simulator, scratch):
        self.command = os.path.join(folder, "vramscope")
        self.victim, self.simulator, self.scratch = victim, simulator, scratch

    def path(self, name):
        return os.path.join(self.scratch, name + ".vst")

    def vramscope(self, *args):
        done = subprocess.run([self.command, *args], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        return done

    def run(self, name, *mode, options=("--allocator=observe",), device="h100-80g"):
        done = self.vramscope("run", "--simulate", device, "-o", self.path(name), *options, self.victim, *mode)
        return int(done.stdout), done.stderr

    def text(self, name, *options):
        return self.vramscope("report", *options, self.path(name)).stdout

    def report(self, name):
        return json.loads(self.text(name, "--json"))


def same(whole, part):
    for d, e in zip(whole["devices"], part["devices"], strict=True):
        assert d["families"] == e["families"], (d["families"], e["families"])
        for key in PEAKS:
            assert d[key]["bytes"] == e[key]["bytes"], (key, d[key], e[key])


def absent(runs):
    """Without the library the program runs as if it had no annotations."""
    env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    env["LD_LIBRARY_PATH"] = runs.simulator
    done = subprocess.run([runs.victim, "stop"], capture_output=True, text=True, env=env, timeout=600)
    assert (done.returncode, done.stdout) == (0, "-1\n"), (done.returncode, done.stdout, done.stderr)


def annotated(runs):
    for options in (("--allocator=observe",), ("--allocator=caching",)):
        name = "plain" + options[0][-7:]
        peak, _ = runs.run(name, options=options)
        report = runs.report(name)
        assert peak == report["devices"][0]["peak_allocated"]["bytes"], peak
        phases = {p["name"]: p for p in report["phases"]}
        weights = next(p for n, p in phases.items() if n.endswith("weights"))
        assert (weights["allocations"], weights["requested_bytes_total"]) == (1, 4 * MIB), weights
        assert not [n for n in phases if "taken back" in n and phases[n]["allocations"]], phases
        assert any(n.endswith("load") for n in phases), phases
        assert (report["steps"]["begun"], report["steps"]["done"]) == (2, 2), report["steps"]


def kinds_in(path):
    """The number of events of each kind."""
    counts = {}
    with vst.open(path) as trace:
        for event in trace:
            counts[event.kind] = counts.get(event.kind, 0) + 1
    return counts


def annotated_without_ranges(runs):
    """A name given before the first CUDA call: its range ended in the trace, but never began."""
    runs.run("ranges")
    runs.run("none", options=("--allocator=observe", "--nvtx=off"))
    counts = kinds_in(runs.path("ranges"))
    assert counts["range_push"] == counts["range_pop"] > 3, counts
    counts = kinds_in(runs.path("none"))
    assert counts["alloc"] > 400 and not [k for k in counts if k.startswith("range")], counts


def stopped_and_started(runs):
    for options in (("--allocator=observe",), ("--allocator=caching",),
                    ("--allocator=observe", "--min-size=300KiB"),
                    ("--allocator=observe", "--max-trace-size=64MiB")):
        plain, _ = runs.run("plain", options=("--allocator=" + options[0][12:],))
        peak, _ = runs.run("stopped", "stop", options=options)
        assert peak == plain, (peak, plain, options)
        whole, part = runs.report("plain"), runs.report("stopped")
        same(whole, part)
        assert part["recording"]["stops"] == 10 and part["recording"]["stopped_ns"] > 0, part["recording"]
        assert "stopped_since_ns" not in part["recording"], part["recording"]
        counted = [u["allocations"] for u in part["recording"]["unrecorded"] if u["level"] != "segments"]
        assert sum(counted) >= 10 * 15, counted # of 200 rounds, those between stop and start, twice
        if len(options) == 1:
            assert sum(counted) == 200, counted
        assert not part["devices"][0]["families"]["device"]["live_bytes"], part["devices"][0]
        assert "stopped" in runs.text("stopped"), runs.text("stopped")
        for name in ("plain.vst", "stopped.vst"):
            os.unlink(os.path.join(runs.scratch, name))


def stopped_in_threads(runs):
    """Two threads that allocate stop and start the recording at any time of the other."""
    runs.run("plain", "threads")
    peak, _ = runs.run("stopped", "threads", "stop")
    part = runs.report("stopped")
    counts = [r["devices"][0]["families"]["device"] for r in (runs.report("plain"), part)]
    for name in ("allocations", "frees", "live_bytes"):
        assert counts[0][name] == counts[1][name], (name, counts)
    assert counts[1]["live_bytes"] == 0 and part["recording"]["stops"] > 0, part["recording"]
    assert part["devices"][0]["peak_allocated"]["bytes"] == peak, (peak, part["devices"][0])
    assert part["trace"]["unmatched_frees"] == 0, part["trace"]


def stopped_from_the_start(runs, *mode):
    plain, _ = runs.run("plain")
    peak, _ = runs.run("stopped", *mode or ("stopped",))
    part = runs.report("stopped")
    assert peak == plain
    same(runs.report("plain"), part)
    assert part["recording"]["stops"] == 1 and part["recording"]["stopped_since_ns"] >= 0, part["recording"]


def stopped_during_the_start(runs):
    """A stop by another thread, after the recording had decided how it starts, was lost."""
    stopped_from_the_start(runs, "starting", os.path.join(os.path.dirname(runs.victim), "libstopping_nvml.so"))


def dumped(runs):
    copy = runs.path("copy")
    peak, messages = runs.run("whole", "dump", copy)
    assert copy not in re.sub("(?m)^  command .*", "", messages), messages
    whole, part = runs.report("whole"), runs.report("copy")
    assert (whole["trace"]["condition"], part["trace"]["condition"]) == ("complete", "complete")
    assert part["trace"]["events"] < whole["trace"]["events"], (part["trace"], whole["trace"])
    assert whole["devices"][0]["peak_allocated"]["bytes"] == peak
    assert 4 * MIB < part["devices"][0]["peak_allocated"]["bytes"] <= peak - 48 * MIB
    assert part["devices"][0]["families"]["device"]["live_bytes"] == 4 * MIB, part["devices"][0]
    text = runs.text("copy")
    assert "copied while it ran" in text, text
    # a folder that does not exist: the program goes on, its trace too
    _, messages = runs.run("second", "dump", os.path.join(runs.scratch, "no", "copy.vst"))
    assert "No such file" in messages, messages
    same(whole, runs.report("second"))
    assert not [n for n in os.listdir(runs.scratch) if n.endswith((".new", ".live"))]


def copies_while_stopped(runs):
    """A copy without a record leaves no call stack in the trace either."""
    events = []
    for n in ("0", "500"):
        runs.run("copies" + n, "copies", n, options=("--allocator=observe", "--copy-stacks"))
        report = runs.report("copies" + n)
        events.append(report["trace"]["events"])
    assert events[1] - events[0] < 100, events


def subscribed_after_a_refusal(runs):
    """CUPTI lets us subscribe, but records nothing: another tool can become the subscriber."""
    _, messages = runs.run("refused", "subscribe", options=("--copy-stacks",),
                           device="h100-80g,cupti=callbacks")
    assert "kernels and copies are not recorded" in messages, messages


def main():
    folder, victim, simulator, case = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        globals()[case](Runs(folder, victim, simulator, scratch))


if __name__ == "__main__":
    main()
