# SPDX-License-Identifier: Apache-2.0
"""Snapshots in PyTorch's format: their history ends in their own blocks, and its sums are those of the report."""
import pickle


def follow(trace, wanted):
    """(address → size of those live at the end, the highest sum) of the entries begin and end."""
    begin, end = wanted
    live, held, peak = {}, 0, 0
    for entry in trace:
        if entry["action"] == begin:
            assert entry["addr"] not in live
            live[entry["addr"]] = entry["size"]
            held += entry["size"]
            peak = max(peak, held)
        elif entry["action"] == end:
            held -= live.pop(entry["addr"])
    return live, peak


def check_one(problems, what, snapshot, device, highest):
    trace, segments = snapshot["device_traces"][0], snapshot["segments"]
    live, peak = follow(trace, ("alloc", "free_completed"))
    blocks = {b["address"]: b["requested_size"] for s in segments for b in s["blocks"] if b["state"] != "inactive"}
    problems.same(f"{what}: live at the end", live, blocks)
    held, most_held = follow(trace, ("segment_alloc", "segment_free"))
    problems.same(f"{what}: segments", held, {s["address"]: s["total_size"] for s in segments})
    problems.same(f"{what}: reserved", most_held, device["peak_reserved"]["bytes"])
    problems.same(f"{what}: requested at the peak", peak, device[highest]["bytes"])
    at = [e["time_us"] for e in trace]
    problems.true(f"{what}: times in order", at == sorted(at) and at[0] > 1e15)
    return [e["frames"] for e in trace if e["action"] == "alloc"]


def check(recorded, problems, root):
    for name, function in (("plain", "device_alloc"), ("observed", "keep_for_debugging"), ("tensors", "append_history")):
        snapshot = pickle.loads(recorded.export(name, "torch-snapshot"))
        device = recorded.report(name)["devices"][0]
        stacks = check_one(problems, name, snapshot, device, "peak_user" if name == "tensors" else "peak_requested")
        problems.true(f"{name}: stacks", any(f["name"] == function and f["line"] > 0 for s in stacks for f in s))
    part = pickle.loads(recorded.export("tensors", "torch-snapshot", "--steps", "2"))
    whole = pickle.loads(recorded.export("tensors", "torch-snapshot"))
    short, long = ([e["action"] for e in s["device_traces"][0]] for s in (part, whole))
    problems.true("a step is a part of the history", 0 < len(short) < len(long))
    notes = [(n["name"], n["stage"]) for n in whole["external_annotations"]]
    problems.same("phases", notes.count(("forward", "START")), notes.count(("forward", "END")))
    problems.true("phases are annotations", ("forward", "START") in notes)
