#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One recorded PyTorch memory snapshot against the same program on the simulated GPU.

    check_snapshot.py --build DIR --shared DIR NAME [--order recorded|default]

Runs the program that made the snapshot, with the torch of the recording, and compares what the
two snapshots contain: the allocator's events in order (action, size, stream), live bytes at the
start and at the end, peak allocated, reserved, and for each allocation its segment and its offset
in it. Two segments are the same one if the same allocations lie in them. Everything is equal to the byte with the recorded order of addresses
(`addresses=lowest,hole=…`, docs/internals/simulator.md); with the default order the events are equal, peak allocated
is within 0.01 % and reserved within 0.5 %. Exit 77: no recording, or no PyTorch 2.11.
"""
import argparse
import bisect
import os
import pathlib
import pickle
import resource
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import environments  # noqa: E402
import simulated  # noqa: E402

RELEASE = "2.11.0"
# Whether autocast was on, which the recordings show by their events.
AUTOCAST = {("512", "inference"), ("1024", "training")}
DEVICE = "a100-80g"  # cuBLAS workspaces of an architecture before Hopper
RECORDED_ORDER = "addresses=lowest,hole=198MiB@94"  # fitted to these recordings (docs/internals/simulator.md)
PEAK_WITHIN, RESERVED_WITHIN = 1e-4, 5e-3


class Plain(pickle.Unpickler):
    """A snapshot consists of plain values: nothing in it may name a class."""
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the snapshot names {module}.{name}; it should hold plain values only")


class Snapshot:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = Plain(f).load()
        self.trace = data["device_traces"][0]
        self.segments = sorted(data["segments"], key=lambda s: s["address"])
        self.starts = [s["address"] for s in self.segments]
        self.reserved = sum(s["total_size"] for s in self.segments)
        self.end = sum(b["size"] for s in self.segments for b in s["blocks"] if b["state"] != "inactive")
        self.start = self.end - sum(map(change, self.trace))
        self.peak = live = self.start
        for event in self.trace:
            live += change(event)
            self.peak = max(self.peak, live)

    def events(self):
        return [(e["action"], e["size"], e["stream"]) for e in self.trace]

    def place(self, event):
        """(number of the segment in the order of addresses, offset in it) of an allocation."""
        i = bisect.bisect_right(self.starts, event["addr"]) - 1
        if i < 0 or event["addr"] >= self.starts[i] + self.segments[i]["total_size"]:
            return None
        return i, event["addr"] - self.starts[i]

    def places(self):
        return [self.place(e) for e in self.trace if e["action"] == "alloc"]

    def final(self):
        """The segments at the end: size and blocks, in no order."""
        return sorted((s["total_size"], [(b["size"], b["state"]) for b in s["blocks"]]) for s in self.segments)


def change(event):
    return {"alloc": event["size"], "free_completed": -event["size"]}.get(event["action"], 0)


def arguments_of(name):
    """The program's arguments, from a recording's name: gpt_medium_ctx128_training."""
    _, _, context, kind = name.split("_")
    length = context.removeprefix("ctx")
    return ["--vocab_size", "10000", "--context_length", length, "--d_model", "1024", "--d_ff", "4096",
            "--num_layers", "24", "--num_heads", "16", "--model_name", "medium", "--warmup-steps", "5",
            "--autocast", "true" if (length, kind) in AUTOCAST else "False", "--pattern",
            "forward-only" if kind == "inference" else "full-training-step", "--memory-profile", "true"]


def make(args, environment, scratch):
    """Runs the program; returns the path of its snapshot."""
    work, results = os.path.join(scratch, "work"), os.path.join(scratch, "results")
    os.makedirs(work)
    os.makedirs(results)
    device = f"{DEVICE},{RECORDED_ORDER}" if args.order == "recorded" else DEVICE
    program = pathlib.Path(__file__).parent / "snapshot_program.py"
    command, env = simulated.command(args.build, f"{device},data=small", [
        environment.python, program, os.path.join(args.shared, "traces/model"), *arguments_of(args.name)],
        scratch)
    began = time.monotonic()
    status, out = simulated.run(command, env, work, args.timeout)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{args.name}: {time.monotonic() - began:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor time, "
          f"{used.ru_maxrss / 1024:.0f} MiB of host memory")
    made = sorted(pathlib.Path(results).glob("*.pickle"))
    if status != 0 or len(made) != 1:
        raise SystemExit(f"the program ended with {status} and left {len(made)} snapshots\n{out[-3000:]}")
    return made[0]


def equal_places(recorded, ours):
    """How many allocations lie in the same segment at the same offset."""
    name_of, taken, equal = {}, {}, 0
    for x, y in zip(recorded, ours):
        if x and y:
            same = name_of.setdefault(x[0], y[0]) == y[0] and taken.setdefault(y[0], x[0]) == x[0]
            equal += same and x[1] == y[1]
    return equal


def compare(recorded, ours, exact):
    """Lines (held, text)."""
    a, b = recorded.events(), ours.events()
    first = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    yield a == b, f"events equal in order, action, size and stream: {first} of {len(a)}" + (
        "" if a == b else f"; then {a[first:first + 1]} recorded, {b[first:first + 1]} here, {len(b)} events here")
    for what in ("start", "end"):
        x, y = getattr(recorded, what), getattr(ours, what)
        yield x == y or not exact, f"live bytes at the {what}: {x} recorded, {y} here"
    for what, within in (("peak", PEAK_WITHIN), ("reserved", RESERVED_WITHIN)):
        x, y = getattr(recorded, what), getattr(ours, what)
        yield x == y if exact else abs(x - y) <= within * x, \
            f"{what}: {x} recorded, {y} here ({(y - x) / x:+.4%})"
    x, y = recorded.places(), ours.places()
    equal = equal_places(x, y)
    yield equal == len(x) == len(y) or not exact, f"allocations at the recorded segment and offset: {equal} of {len(x)}"
    same = recorded.final() == ours.final()
    yield same or not exact, f"{len(ours.segments)} segments at the end" + (
        ", sizes and blocks as recorded" if same else f", {len(recorded.segments)} recorded, not all with the same blocks")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("name")
    p.add_argument("--build", default=str(environments.ROOT / "build/dev"))
    p.add_argument("--shared", default=str(environments.ROOT.parent / "shared"))
    p.add_argument("--order", choices=("recorded", "default"), default="recorded")
    p.add_argument("--timeout", type=float, default=1200)
    p.add_argument("--keep", help="copy our snapshot to this file")
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    recording = os.path.join(args.shared, "traces", f"{args.name}.pickle")
    if not os.path.exists(recording):
        print(f"skipped: {recording} does not exist (it is not part of this repository)")
        return environments.SKIPPED
    environment = environments.of_release(RELEASE)
    if not environment or not (environment.site / "einx").exists():
        return environments.skip(f"an environment with torch {RELEASE}, einops, einx and jaxtyping")
    with tempfile.TemporaryDirectory(prefix="vs-snapshot-") as scratch:
        made = make(args, environment, scratch)
        if args.keep:
            shutil.copy(made, args.keep)
        lines = list(compare(Snapshot(recording), Snapshot(made), args.order == "recorded"))
    for held, text in lines:
        print(f"{'ok    ' if held else 'FAILED'} {text}")
    return 0 if all(held for held, _ in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
