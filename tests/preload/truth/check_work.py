#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernels, copies, memsets and waits of a trace are those of the simulated GPU's own log.

    check_work.py BIN VICTIM ROUNDS
    check_work.py BIN train_lm steps
    check_work.py BIN VICTIM kill|switch

None is missing, each begins and ends within a microsecond of the log although CUPTI's clock drifts, and each
has the call site of the function that began it. With "steps": kernels of some steps are exactly theirs.
With "kill": a killed program leaves the work that it had waited for; with "switch": one that chose its rounds.
"""
import bisect
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "decoder"))
import vst  # noqa: E402

WORK, WAITS = ("kernel", "memcpy", "memset"), {1, 3, 4}
SITES = {"kernel": "kernel_here", "memset": "memset_here", "memcpy": "copy_here", "sync": "wait_here"}


class Functions:
    """The victim's functions by address."""

    def __init__(self, victim):
        rows = sorted((int(line.split()[0], 16), line.split()[2]) for line in subprocess.run(
            ["nm", victim], capture_output=True, text=True, check=True).stdout.splitlines() if len(line.split()) == 3)
        self.victim, (self.starts, self.names) = os.path.realpath(victim), zip(*rows)

    def innermost(self, stack):
        for frame in stack:
            if frame.module and os.path.realpath(frame.module.path) == self.victim:
                return self.names[bisect.bisect(self.starts, frame.pc - frame.module.base - 1) - 1]
        return None


def log_of(path):
    found = defaultdict(list)
    with open(path, encoding="ascii") as file:
        for line in file:
            kind, device, stream, start, end, detail = line.split()
            key = (kind, int(device), int(stream)) if kind != "sync" else (kind, int(detail))
            found[key].append((int(start), int(end), detail))
    return found


def trace_of(path, functions):
    found, calls, begun, errors, dropped = defaultdict(list), {}, [], [], []
    with vst.open(path) as trace:
        for e in trace:
            if e.kind == "work_call":
                calls[e["correlation"]] = functions.innermost(e["stack"])
            elif e.kind in WORK:
                detail = e["name"] if e.kind == "kernel" else str(e["bytes"])
                found[e.kind, e["device"], e["stream"]].append((e["start_ns"], e["end_ns"], detail))
                site = "graph_here" if e["graph"] else SITES[e.kind]
                begun.append((e.kind, e["correlation"], site))  # the call may come behind its work
            elif e.kind == "sync":
                found["sync", e["sync_kind"]].append((e["start_ns"], e["end_ns"], functions.innermost(e["stack"])))
            elif e.kind == "clock_reading":
                errors.append((e["error_ns"], e["drift_ppb"]))
            elif e.kind == "dropped":
                dropped.append((e["what"], e["count"]))
        assert trace.condition == "complete", trace.text
    sites = Counter((kind, calls.get(call) == site) for kind, call, site in begun)
    return found, sites, errors, dropped


def kernels_of_steps(folder, program):
    found = {}
    for steps in ("", "2-3", "skip_first=1,wait=1,warmup=1,active=2,repeat=2", "13-14"):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "t.vst")
            subprocess.run([os.path.join(folder, "vramscope"), "run", "--simulate", "h100-80g", "--kernels=api", "-q",
                            "-o", path, *(["--kernels-steps=" + steps] if steps else []), os.path.join(folder, program),
                            "--steps", "12"], check=True, capture_output=True)
            spans, counts = [], Counter()
            with vst.open(path) as trace:
                for e in trace:
                    if e.kind == "activity_switched":
                        spans.append((e["on"], e["step"], e.time_ns))
                    elif e.kind in (*WORK, "work_call", "api_call", "sync", "dropped"):
                        counts[e.kind] += 1
                        assert not steps or spans[-1][0], (e, spans)
                        assert not steps or e.kind not in WORK or e["start_ns"] >= spans[-1][2], (e, spans)
            said = subprocess.run([os.path.join(folder, "vramscope"), "report", path], capture_output=True).stdout
            warned = re.search(rb"warning\W+kernels of steps 13-14 only \(--kernels-steps\): no work ran there", said)
            assert bool(warned) == (steps == "13-14"), said
        found[steps] = counts
        assert [s[:2] for s in spans] == {"": [], "2-3": [(0, 0), (1, 2), (0, 3)], "13-14": [(0, 0)]}.get(
            steps, [(0, 0), (1, 4), (0, 5), (1, 8), (0, 9)]), spans
    whole, few, cycles, _ = found.values()
    assert whole["kernel"] == 6 * few["kernel"] == 3 * cycles["kernel"] > 0, found
    assert few["work_call"] == sum(few[k] for k in WORK) and few["sync"] and not few["dropped"], found


def work_of_a_part(folder, victim, case):
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "t.vst")
        subprocess.run([os.path.join(folder, "vramscope"), "run", "--simulate", "h100-80g", "-q", "-o", path,
                        *(["--kernels-signal=USR1"] if case == "signal" else []), victim, case], capture_output=True)
        with vst.open(path) as trace:
            events = list(trace)
        merged = subprocess.run([os.path.join(folder, "vramscope"), "merge", "--partial", path], capture_output=True)
    assert (b"signal 9" in merged.stdout) == (case == "kill"), merged
    found = Counter(e.kind for e in events)
    shown = [(e.kind, e["colour"], e["payload_kind"], e["payload"]) for e in events if e.kind in ("range_push", "mark")]
    half = struct.unpack("<Q", struct.pack("<d", 0.5))[0]
    assert shown == [("range_push", 0xff00ff00, 2, (1 << 64) - 3), ("mark", 0xff00ff00, 3, half)] * (case == "switch")
    part = 1 if case == "kill" else 2
    assert (found["kernel"], found["memcpy"], found["memset"]) == (30 // part, 20 // part, 20 // part), found
    assert found["end"] == (case != "kill") and found["activity_switched"] == (0 if case == "kill" else 11), found


def main():
    folder, victim, rounds = sys.argv[1:]
    if rounds in ("kill", "switch", "signal"):
        work_of_a_part(folder, victim, rounds)
        return
    if rounds == "steps":
        kernels_of_steps(folder, victim)
        return
    with tempfile.TemporaryDirectory() as scratch:
        trace, log = os.path.join(scratch, "t.vst"), os.path.join(scratch, "log")
        done = subprocess.run([os.path.join(folder, "vramscope"), "run", "--simulate", "h100-80g", "--kernels=api", "-q",
                               "-o", trace, victim, rounds], capture_output=True, text=True, timeout=3000,
                              env=dict(os.environ, VRAMSCOPE_SIMULATE_WORK=log, VRAMSCOPE_SIMULATE_DRIFT="80"))
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        truth, (found, sites, readings, dropped) = log_of(log), trace_of(trace, Functions(victim))
    assert not dropped, dropped
    works, furthest, error = 0, 0, max(e for e, _ in readings)
    for key in sorted(k for k in truth if k[0] in WORK):
        one, other = sorted(truth[key]), sorted(found.pop(key, []))
        assert [w[2] for w in one] == [w[2] for w in other], (key, len(one), len(other))
        works += len(one)
        furthest = max(furthest, *(max(abs(a[0] - b[0]), abs(a[1] - b[1])) for a, b in zip(one, other)))
    waits = {k: found.pop(k) for k in list(found) if k[0] == "sync"}
    assert not found, found.keys()
    assert works == 14 * int(rounds), works
    # a machine that interrupts every reading of the clocks is not the trace's fault, but it must say so
    assert furthest <= max(1000, 2 * error), (furthest, readings)
    assert all(78000 < drift < 82000 for e, drift in readings[1:] if e < 1000), readings
    made = waits["sync", 3]
    assert len(made) == int(re.match(r"\d+", done.stdout).group()), (len(made), done.stdout)
    assert all(name == SITES["sync"] for _, _, name in made)
    for start, end, _ in made:
        assert any(start <= a and b <= end for a, b, _ in truth["sync", 3]), (start, end)
    assert set(sites) == {(kind, True) for kind in WORK}, sites
    print(f"{works} kernels, copies and memsets within {furthest} ns, {len(made)} waits; clock within {error} ns")


if __name__ == "__main__":
    main()
