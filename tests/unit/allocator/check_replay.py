#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays PyTorch snapshots through the allocator and compares.

Usage: check_replay.py MODE REPLAY_TRACE CONVERTER SHARED_DIR

MODE real       the public traces: every block at its recorded offset of its recorded
                segment, equal final blocks; exit 77 where SHARED_DIR has none
MODE synthetic  a hand-written snapshot with cases that the public ones lack: new
                segments, a retry after returning memory, an emptied cache, a failed
                request, two streams; an emptied cache just before a request that it could
                have served, and a retry in its place; then the first with one wrong address, one wrong
                final block and one wrong segment size, which must be reported
"""
import copy
import glob
import os
import pickle
import subprocess
import sys
import tempfile

MIB = 1 << 20


def replay(tool, converter, snapshot, folder, check_every=1):
    events = os.path.join(folder, os.path.basename(snapshot) + ".events")
    subprocess.run([sys.executable, converter, snapshot, events], check=True)
    run = subprocess.run([tool, str(check_every), events], stdout=subprocess.PIPE, text=True)
    counts = {}
    for word in run.stdout.split():
        name, value = word.split("=")
        counts[name] = int(value)
    return run.returncode, counts


def real(tool, converter, traces, folder):
    failed = 0
    for path in traces:
        status, counts = replay(tool, converter, path, folder, check_every=7)
        print(os.path.basename(path), "ok" if status == 0 else "DIFFERS", counts)
        failed |= status
    return failed


def hand_written():
    a, b, c, d, e = (0x7F0000000000 + i * (1 << 30) for i in range(5))

    def event(action, addr, size, stream=0):
        return {"action": action, "addr": addr, "size": size, "stream": stream, "frames": []}

    trace = [
        # there at the start: 4 MiB live to the end, 5 MiB live, 11 MiB free, stream 3
        event("free_completed", e + 4 * MIB, 5 * MIB, 3),
        event("segment_alloc", a, 20 * MIB), event("alloc", a, 3 * MIB),
        event("alloc", a + 3 * MIB, 17 * MIB - 512),  # the 512 left stay inside
        event("segment_alloc", b, 2 * MIB), event("alloc", b, 1000),
        event("free_requested", b, 1000), event("free_completed", b, 1000),
        event("free_requested", a + 3 * MIB, 17 * MIB - 512),
        event("free_completed", a + 3 * MIB, 17 * MIB - 512),
        event("segment_free", b, 2 * MIB),  # the cache is emptied; a is in use
        event("free_completed", a, 3 * MIB),
        # refused; a is given back; the retry works
        event("segment_free", a, 20 * MIB), event("segment_alloc", c, 40 * MIB),
        event("alloc", c, 40 * MIB),
        {"action": "oom", "device_free": 7, "size": 100 * MIB, "stream": 0, "frames": []},
        event("segment_alloc", d, 12 * MIB, 7), event("alloc", d, 21 * MIB // 2, 7),
        event("alloc", e + 4 * MIB, 16 * MIB - 2 * MIB, 3),
    ]

    def segment(address, size, stream, blocks):
        return {"device": 0, "address": address, "total_size": size, "stream": stream,
                "segment_type": "large", "is_expandable": False,
                "blocks": [{"size": s, "requested_size": r,
                            "state": "active_allocated" if r else "inactive"} for s, r in blocks]}

    segments = [
        segment(c, 40 * MIB, 0, [(40 * MIB, 40 * MIB)]),
        segment(d, 12 * MIB, 7, [(21 * MIB // 2, 21 * MIB // 2), (3 * MIB // 2, 0)]),
        segment(e, 20 * MIB, 3, [(4 * MIB, 4 * MIB - 100), (14 * MIB, 14 * MIB), (2 * MIB, 0)]),
    ]
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {}}


def emptied_or_retried(explicit):
    """A free segment is released and a new one made. The request would have fitted in the free one
    (explicit: empty_cache was called), or not (it was refused, released the cache and retried)."""
    a, b = 0x7F0000000000, 0x7F0040000000
    size = 11 * MIB if explicit else 30 * MIB
    segment = 12 * MIB if explicit else 30 * MIB

    def event(action, addr, bytes_):
        return {"action": action, "addr": addr, "size": bytes_, "stream": 0, "frames": []}

    trace = [event("segment_alloc", a, 20 * MIB), event("alloc", a, 20 * MIB),
             event("free_requested", a, 20 * MIB), event("free_completed", a, 20 * MIB),
             event("segment_free", a, 20 * MIB), event("segment_alloc", b, segment),
             event("alloc", b, size)]
    blocks = [{"size": segment if segment - size <= MIB else size, "requested_size": size,
               "state": "active_allocated"}]
    segments = [{"device": 0, "address": b, "total_size": segment, "stream": 0,
                 "segment_type": "large", "is_expandable": False, "blocks": blocks}]
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {}}


def synthetic(tool, converter, folder):
    def outcome(name, snapshot):
        path = os.path.join(folder, name + ".pickle")
        with open(path, "wb") as f:
            pickle.dump(snapshot, f, protocol=2)
        return replay(tool, converter, path, folder)

    good = hand_written()
    status, counts = outcome("good", good)
    want = {"addr_ok": 6, "addr_mismatch": 0, "frees": 4, "split": 4, "segment_ok": 4,
            "segment_free_ok": 2, "final_ok": 6, "errors": 0}
    have = {name: counts.get(name) for name in want}
    print("good:", status, counts)
    failed = status != 0 or have != want

    for explicit in (True, False):
        status, counts = outcome("emptied" if explicit else "retried", emptied_or_retried(explicit))
        print("emptied:" if explicit else "retried:", status, counts)
        failed |= status != 0 or counts["emptied"] != int(explicit) or counts["addr_ok"] != 2

    wrong_address = copy.deepcopy(good)
    next(x for x in wrong_address["device_traces"][0]
         if x["action"] == "alloc" and x["size"] == 17 * MIB - 512)["addr"] += 512
    wrong_final = copy.deepcopy(good)
    wrong_final["segments"][1]["blocks"][0]["size"] += 512
    wrong_final["segments"][1]["blocks"][1]["size"] -= 512
    wrong_segment = copy.deepcopy(good)
    next(x for x in wrong_segment["device_traces"][0]
         if x["action"] == "segment_alloc" and x["size"] == 2 * MIB)["size"] = 4 * MIB
    for name, bad in (("wrong_address", wrong_address), ("wrong_final", wrong_final),
                      ("wrong_segment", wrong_segment)):
        status, counts = outcome(name, bad)
        print(name + ":", status, counts)
        failed |= status != 1
    return failed


def main():
    mode, tool, converter, shared = sys.argv[1:5]
    traces = sorted(glob.glob(os.path.join(shared, "traces", "*.pickle")))
    if mode != "synthetic" and not traces:
        print("skipped: no traces in", shared)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if mode == "real":
            return int(real(tool, converter, traces, folder))
        return int(synthetic(tool, converter, folder))


if __name__ == "__main__":
    sys.exit(main())
