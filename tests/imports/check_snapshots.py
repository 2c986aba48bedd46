#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`vramscope import` of PyTorch snapshots whose content is known (snapshot_maker.py): the sums of the
report and the live blocks at the end are those of the model that made them.

    check_snapshots.py COMMAND      exit 1 and a line per problem
"""
import json
import os
import pickle
import sys
import tempfile

from imported import Imported, Problems, compare_exported
from snapshot_maker import MIB, Device, snapshot, truth

PROBLEMS = Problems()


def load(command, folder, content, protocol=4):
    source = os.path.join(folder, "snapshot.pickle")
    with open(source, "wb") as f:
        pickle.dump(content, f, protocol=protocol)
    made = Imported(command, source, os.path.join(folder, "out.vst"))
    PROBLEMS.equal("exit code", (made.code, made.err), (0, ""))
    return made


def compare(what, made, device, lost=0, unsure=0):
    """*unsure*: how far sums may be too low, because a block's tail is not in the history."""
    wanted = truth(device, lost)
    report = next(d for d in made.report()["devices"] if d["device"] == device.index)
    found, (tensors, memory) = report["framework"], made.live()
    low = wanted["peak_allocated"] - found["peak_allocated_bytes"]
    PROBLEMS.true(f"{what}: peak allocated, {low} too low", 0 <= low <= unsure)
    PROBLEMS.equal(f"{what}: peak reserved", report["peak_reserved"]["bytes"], wanted["peak_reserved"])
    PROBLEMS.equal(f"{what}: reserved at the end", report["reserved_at_end_bytes"], wanted["reserved_at_end"])
    PROBLEMS.equal(f"{what}: allocated at the end", found["allocated_at_end_bytes"], wanted["allocated_at_end"])
    PROBLEMS.equal(f"{what}: live blocks", tensors.get(device.index, {}), wanted["live"])
    PROBLEMS.equal(f"{what}: device memory", sum(memory[device.index].values()), wanted["reserved_at_end"])
    PROBLEMS.equal(f"{what}: frees", found["frees"], wanted["frees"])
    PROBLEMS.equal(f"{what}: allocations", found["allocations"] - found["frees"] - len(wanted["live"]), 0)
    PROBLEMS.equal(f"{what}: failures", found["failures"], wanted["failures"])
    return report


def whole_histories(command, folder):
    """Every allocation is in the history; all protocols; rounding options."""
    for protocol in (2, 3, 4, 5):
        device = Device(0)
        device.exercise(protocol, 600, streams=2)
        compare(f"protocol {protocol}", load(command, folder, snapshot([device]), protocol), device)
    device = Device(0, divisions=4)
    device.exercise(9, 500)
    divisions = {"roundup_power2_divisions": {str(1 << n): 4 for n in range(16)}}
    compare("divisions", load(command, folder, snapshot([device], **divisions)), device)
    device = Device(0, expandable=True)
    device.exercise(10, 800)
    compare("expandable", load(command, folder, snapshot([device])), device)
    for expandable in (False, True):
        device = Device(0, expandable=expandable)
        device.exercise(11, 800)
        content = snapshot([device])
        compare_exported(PROBLEMS, f"expandable {expandable}", load(command, folder, content), content)


def histories_without_their_beginning(command, folder):
    for expandable, lost in ((True, 2), (True, 700), (False, 1), (False, 500), (False, 1100)):
        device = Device(0, expandable=expandable)
        device.alloc(2 * MIB)  # to the end
        device.exercise(20 + lost, 900)
        made = load(command, folder, snapshot([device], lost=lost))
        starting = sum(e["action"] == "free_requested" for e in device.entries[lost:])
        compare(f"lost {lost}", made, device, lost, 0 if expandable else starting * MIB)
        PROBLEMS.true(f"lost {lost}: said by the command", "lost its beginning" in made.out)
        notes = [n["text"] for n in made.report()["notes"]]
        PROBLEMS.true(f"lost {lost}: said by the trace", any("lost its beginning" in n for n in notes))
    device = Device(0)
    device.exercise(30, 300)
    whole = snapshot([device])
    whole["device_traces"] = [[]]
    made = load(command, folder, whole)
    PROBLEMS.true("no history: said", "no history" in made.out)
    PROBLEMS.equal("no history: live", made.live()[0][0], truth(device)["live"])
    only_segments = load(command, folder, whole["segments"])
    PROBLEMS.equal("segments only: live", only_segments.live()[0][0], truth(device)["live"])


def several_devices(command, folder):
    devices = [Device(0), Device(2)]
    for n, device in enumerate(devices):
        device.exercise(40 + n, 300 + 100 * n)
    made = load(command, folder, snapshot(devices))
    for device in devices:
        compare(f"device {device.index}", made, device)
    compare_exported(PROBLEMS, "several devices", made, snapshot(devices))
    times = [event.time_ns for event in made.events()]
    PROBLEMS.equal("times never go back", times, sorted(times))


def times_and_ranges(command, folder):
    device = Device(0)
    for step in range(3):
        before = len(device.entries)
        kept = [device.alloc(5 * MIB, stack=step) for _ in range(4)]
        for addr in kept:
            device.free(addr)
        for entry in device.entries[before:]:
            entry["user_metadata"] = f"step {step}"
    base = 1700000000000000
    notes = [{"name": "Optimizer.step#AdamW.step", "stage": stage, "device": 0, "time_us": base + at}
             for stage, at in (("START", 20), ("END", 60))]
    made = load(command, folder, snapshot([device], annotations=notes))
    report = compare("ranges", made, device)
    PROBLEMS.equal("steps by metadata", made.report()["steps"]["done"], 3)
    names = [event["name"] for event in made.events() if event.kind == "range_push"]
    PROBLEMS.equal("annotation", names.count("Optimizer.step#AdamW.step"), 1)
    PROBLEMS.equal("first time", report["peak_reserved"]["time_ns"], 0)
    for entry in device.entries:
        entry["user_metadata"] = ""
    optimizer = load(command, folder, snapshot([device], annotations=notes))
    PROBLEMS.equal("steps by the optimizer", optimizer.report()["steps"]["done"], 1)
    untimed = load(command, folder, snapshot([device], timed=False))
    PROBLEMS.true("no times: said", "has no times" in untimed.out)
    times = [event.time_ns for event in untimed.events() if event.kind.startswith("framework_")]
    PROBLEMS.true("no times: a microsecond each", times == sorted(set(times)))


def stacks(command, folder):
    """The user's line names a call site; installed packages and the interpreter are folded."""
    device = Device(0)
    device.alloc(8 * MIB, stack=3)
    made = load(command, folder, snapshot([device]))
    site = made.report()["devices"][0]["sites_at_peak_allocated"]["sites"][0]
    PROBLEMS.equal("call site", site["text"], "layer3 (train.py:103) < main:9")
    PROBLEMS.equal("what it called", site["through"], "torch: relu")
    functions = [frame["function"] for frame in site["frames"]]
    PROBLEMS.equal("functions", functions, ["at::_ops::empty_like::call(at::Tensor const&)", "relu", "layer3",
                                            "main"])
    operations = made.report("--by", "op")["devices"][0]["live"]["by"]["op"]
    PROBLEMS.equal("operations", operations, [
        {"name": "aten::empty_like", "bytes": 8 * MIB, "blocks": 1, "bytes_with_calls": 8 * MIB, "allocated_bytes": 8 * MIB,
         "allocated_bytes_with_calls": 8 * MIB, "allocations": 1}])
    whole = made.verb("export", "-f", "collapsed", made.path)
    PROBLEMS.true("native frames are kept", "at::_ops::empty_like::call" in whole)
    PROBLEMS.true("the interpreter's are not", "_PyEval" not in whole and "unwind" not in whole)
    device = Device(0)
    for n, stack in enumerate(([("big", 5), ("main", 16)], [("main", 20)], [("main", 24)],
                               [("last", 30)])):
        device.stacks[n] = [{"name": name, "filename": "/home/me/t.cu", "line": line} for name, line in stack]
        device.alloc(20 * MIB, stack=n)
    made = load(command, folder, snapshot([device]))
    heap = os.path.join(folder, "t.pprof")
    made.verb("export", "-f", "pprof", made.path, "-o", heap)
    for what, of in (("C++", made), ("from pprof", Imported(command, heap, os.path.join(folder, "heap.vst")))):
        report = of.report()["devices"][0]["sites_at_peak_allocated"]
        PROBLEMS.equal(f"each line a call site, {what}", {site["text"] for site in report["sites"]} - {"last (t.cu:30)"},
                       {"big (t.cu:5) < main:16", "main (t.cu:20)", "main (t.cu:24)"})


def python_frames_behind_the_native_ones(command, folder):
    """PyTorch puts one Python frame in the place of each frame of the interpreter, and the others
    behind _start: they are outer functions of the same thread, and one path of calls is one path,
    however many native frames of the interpreter it had."""
    def frame(name, file="??", line=0):
        return {"name": name, "filename": file, "line": line}
    python = [frame("forward", "/home/me/net.py", 3), frame("_call_impl", "/x/site-packages/torch/module.py", 7),
              frame("train", "/home/me/train.py", 5), frame("<module>", "/home/me/train.py", 9)]
    device = Device(0)
    for evaluations in (1, 2, 3, 4):  # of the interpreter: as many Python frames have a place
        stack = [frame("at::empty(long)")]
        for n in range(evaluations):
            stack += [python[n], frame("_PyEval_EvalFrameDefault"), frame("slot_tp_call")]
        stack += [frame(name) for name in ("Py_BytesMain", "__libc_init_first", "__libc_start_main", "_start")]
        device.stacks[0] = stack + python[evaluations:]
        device.alloc(8 * MIB)
    made = load(command, folder, snapshot([device]))
    paths = {line.rsplit(" ", 1)[0] for line in made.verb("export", "-f", "collapsed", made.path).splitlines()
             if "at::empty" in line}
    PROBLEMS.equal("one path", paths, {"train.py:9;train (train.py:5);_call_impl (module.py:7);"
                                       "forward (net.py:3);at::empty"})
    sites = made.report()["devices"][0]["sites_at_peak_allocated"]["sites"]
    PROBLEMS.equal("one call site", [(site["count"], site["text"]) for site in sites],
                   [(4, "forward (net.py:3) < train (train.py:5) < <module>:9")])
    PROBLEMS.equal("no frame is lost", [frame["function"] for frame in sites[0]["frames"]],
                   ["at::empty(long)", "forward", "_call_impl", "train", "<module>"])


def memory_of_before_the_recording(command, folder):
    """A training loop whose recording began in its second step: parameters, the optimizer's state, which
    each step replaces, and the cache, part of which is given back at once."""
    sizes = [(12 + 2 * n) * MIB for n in range(4)]  # each its own segment
    site = "/opt/lib/python3.11/site-packages/torch/"
    stacks = {"backward": [{"name": name, "filename": "??", "line": 0} for name in (
                  "at::empty(long)", "torch::autograd::AccumulateGrad::apply(long)",
                  "torch::autograd::Engine::thread_main(long)", "torch::autograd::python::PythonEngine::thread_init(int)")],
              "optimizer": [{"name": "Adam.step", "filename": site + "optim/adam.py", "line": 5},
                            {"name": "train", "filename": "/home/me/train.py", "line": 12}],
              "forward": [{"name": "forward", "filename": "/home/me/net.py", "line": 4},
                          {"name": "train", "filename": "/home/me/train.py", "line": 10}]}
    device = Device(0)
    device.stacks = [stacks["forward"], stacks["backward"], stacks["optimizer"]] + [[]] * 6
    for size in sizes:
        device.alloc(size, stack=4)
    state = [device.alloc(size, stack=4) for size in sizes]
    device.free(device.alloc(300 * MIB, stack=4))
    begin = len(device.entries)
    device.empty_cache()
    for _ in range(2):
        forward = device.alloc(24 * MIB, stack=0)
        gradients = [device.alloc(size, stack=1) for size in sizes]
        device.free(forward)
        for n, size in enumerate(sizes):
            new = device.alloc(size, stack=2)
            device.free(state[n])
            state[n] = new
        for gradient in gradients:
            device.free(gradient)
    content = snapshot([device], lost=begin)
    for segment in content["segments"]:  # PyTorch recorded no stacks yet
        for block in segment["blocks"]:
            block["frames"] = block["frames"] if block["state"] != "inactive" and block["frames"] else []
    base = 1700000000000000
    content["external_annotations"] = [
        {"name": "Optimizer.step#Adam.step", "stage": stage, "device": 0, "time_us": base + 10 * n}
        for n, stage in ((i, "START" if i == first else "END") for first, last in optimizer_ranges(device, stacks)
                         for i in (first, last))]
    made = load(command, folder, content)
    report = made.report()["devices"][0]
    PROBLEMS.equal("peak reserved of the framework", report["framework"]["peak_reserved_bytes"],
                   report["peak_reserved"]["bytes"])
    PROBLEMS.equal("all that was reserved", report["framework"]["peak_reserved_bytes"], truth(device, begin)["peak_reserved"])
    PROBLEMS.equal("reserved before", report["peak_reserved"]["phase"], "before the recording")
    reserved = [line.split("  ")[-1].strip() for line in made.verb("report", made.path).splitlines() if "device peak" in line]
    PROBLEMS.equal("without a time", reserved, ["before the recording"])
    by_kind = json.loads(made.verb("report", "--json", "--by", "kind", made.path))["devices"][0]["live"]["by"]["kind"]
    kinds = {kind["name"]: kind["bytes"] for kind in by_kind}
    PROBLEMS.equal("parameters", kinds.get("parameters"), sum(sizes))
    PROBLEMS.true(f"nothing is unknown: {kinds}", "unknown" not in kinds)
    PROBLEMS.true("optimizer state", kinds.get("optimizer state", 0) >= sum(sizes))
    sites = [site["text"] for site in report["sites_at_peak_allocated"]["sites"]]
    PROBLEMS.true(f"its call site {sites}", "allocated before the recording" in sites)


def optimizer_ranges(device, stacks):
    """The first and the last entry of each step of the optimizer."""
    inside = [n for n, entry in enumerate(device.entries) if entry["frames"] is stacks["optimizer"]]
    half = len(inside) // 2
    return [(part[0], part[-1]) for part in (inside[:half], inside[half:])]


def failures(command, folder):
    device = Device(0)
    device.alloc(30 * MIB)
    device.oom(64 * MIB, 3 * MIB)
    made = load(command, folder, snapshot([device]))
    compare("oom", made, device)
    PROBLEMS.true("oom is said", "vramscope oom" in made.out)
    text = made.verb("oom", made.path)
    PROBLEMS.true(f"oom explains it: {text}", "needs 64.0 MiB, 3.0 MiB available: short by 61.0 MiB" in text)
    notes = [note["text"] for note in made.report()["notes"]]
    PROBLEMS.true("the size is not the device's", any("33.0 MiB were free or held by PyTorch" in n for n in notes))


def other_verbs(command, folder):
    device = Device(0)
    device.exercise(50, 400)
    made = load(command, folder, snapshot([device]))
    made.verb("replay", made.path)
    made.verb("view", made.path, "-o", os.path.join(folder, "page.html"))
    made.verb("export", "-f", "chrome", made.path, "-o", os.path.join(folder, "t.json"))
    first = open(made.path, "rb").read()
    again = load(command, folder, snapshot([device]))
    PROBLEMS.equal("the same file gives the same trace", open(again.path, "rb").read() == first, True)
    late = load(command, folder, snapshot([device], lost=200))
    recorded = json.loads(late.verb("replay", "--json", late.path))["recorded"]
    PROBLEMS.equal("cached memory at the start is PyTorch's too", recorded["other_peak_bytes"], 0)


def work_in_proportion(command, folder):
    """Pages mapped one by one, and all of them again and again: few entries that ask for millions of
    events are refused; a whole range that comes and goes is not."""
    for pages, times, code in ((1000, 500, 2), (20, 2000, 0)):
        device = Device(0, expandable=True)
        for page in range(pages):
            device.note("segment_map", 0x7f0000000000 + page * 2 * MIB, 2 * MIB, 0)
        for _ in range(times):
            device.note("segment_unmap", 0x7f0000000000, pages * 2 * MIB, 0)
            device.note("segment_map", 0x7f0000000000, pages * 2 * MIB, 0)
        source = os.path.join(folder, "many.pickle")
        with open(source, "wb") as f:
            pickle.dump({"segments": [], "device_traces": [device.entries]}, f)
        made = Imported(command, source, os.path.join(folder, "many.vst"))
        PROBLEMS.equal(f"{pages} pages, mapped {times} times: {made.err}", made.code, code)
        PROBLEMS.equal("the reason", "too many times" in made.err, code == 2)


def main():
    command = os.path.abspath(sys.argv[1])
    for check in (whole_histories, histories_without_their_beginning, several_devices, times_and_ranges,
                  stacks, python_frames_behind_the_native_ones, memory_of_before_the_recording, failures, other_verbs, work_in_proportion):
        before = PROBLEMS.count
        with tempfile.TemporaryDirectory() as folder:
            check(command, folder)
        print(f"{check.__name__}: {'ok' if PROBLEMS.count == before else 'failed'}")
    return 1 if PROBLEMS.count else 0


if __name__ == "__main__":
    sys.exit(main())
