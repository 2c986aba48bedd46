#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_snapshot.py's comparison on two small snapshots made here: equal ones, and planted differences."""
import copy
import os
import pickle
import sys
import tempfile

import check_snapshot

MIB = 1 << 20


def event(action, addr, size):
    return {"action": action, "addr": addr, "size": size, "stream": 0}


def small():
    """Two segments; 1 MiB is live at the start, 3 at the peak, 2 at the end."""
    first, second = 0x7000000000, 0x7000400000
    block = {"size": MIB, "state": "active_allocated"}
    hole = {"size": MIB, "state": "inactive"}
    return {"segments": [
        {"address": second, "total_size": 2 * MIB, "blocks": [block, hole]},
        {"address": first, "total_size": 2 * MIB, "blocks": [block, hole]}],
        "device_traces": [[event("alloc", second, MIB), event("alloc", first + MIB, MIB),
                           event("free_requested", first + MIB, MIB), event("free_completed", first + MIB, MIB)]]}


def load(data):
    with tempfile.NamedTemporaryFile(delete=False) as f:
        pickle.dump(data, f)
    try:
        return check_snapshot.Snapshot(f.name)
    finally:
        os.unlink(f.name)


def failures(ours, exact=True):
    return [text for held, text in check_snapshot.compare(load(small()), load(ours), exact) if not held]


def main():
    recorded = load(small())
    assert (recorded.start, recorded.peak, recorded.end, recorded.reserved) == (MIB, 3 * MIB, 2 * MIB, 4 * MIB)
    assert recorded.places() == [(1, 0), (0, MIB)], recorded.places()
    assert not failures(small())
    moved = small()  # the whole address space elsewhere: nothing differs
    for s in moved["segments"]:
        s["address"] += 1 << 30
    for e in moved["device_traces"][0]:
        e["addr"] += 1 << 30
    assert not failures(moved)
    renamed = small()  # the segments in the other order: still the same blocks in the same segments
    renamed["segments"][0]["address"] -= 1 << 30
    renamed["device_traces"][0][0]["addr"] -= 1 << 30
    assert not failures(renamed)
    together = small()  # both allocations in one segment
    together["device_traces"][0][0]["addr"] = together["segments"][1]["address"]
    assert [t.split(":")[0] for t in failures(together)] == ["allocations at the recorded segment and offset"]
    changed = copy.deepcopy(small())
    changed["device_traces"][0][0]["addr"] += 512
    assert [t.split(":")[0] for t in failures(changed)] == ["allocations at the recorded segment and offset"]
    assert not failures(changed, exact=False)
    changed = copy.deepcopy(small())
    for event_of_block in changed["device_traces"][0][1:]:
        event_of_block["size"] += 512
    assert [t.split(":")[0] for t in failures(changed)][0].startswith("events equal"), failures(changed)
    assert len(failures(changed, exact=False)) == 2, failures(changed, exact=False)  # events and the peak
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "evil.pickle")
        with open(path, "wb") as f:
            pickle.dump(os.system, f)
        try:
            check_snapshot.Snapshot(path)
        except pickle.UnpicklingError as error:
            assert "plain values" in str(error)
        else:
            raise AssertionError("a pickle that names a function was loaded")
    print("equal snapshots are equal; another place, size and peak are found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
