#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn a PyTorch memory snapshot into the text that tests/support/replay_log.c reads.

Usage: snapshot_to_events.py SNAPSHOT.pickle OUT.events [DEVICE]

One record a line, numbers in decimal bytes:
  segment ADDR SIZE small|large STREAM       a segment that exists when the trace starts,
  block SIZE REQUESTED LIVE                    and its blocks by rising address
  alloc ADDR REQUESTED STREAM                the trace, in order
  free ADDR                                    (when the free completed)
  segment_alloc ADDR SIZE STREAM
  segment_free ADDR SIZE
  oom ROUNDED STREAM
  final ADDR SIZE ACTIVE                     the blocks of the snapshot itself

A snapshot holds the state at its end. The state at the start is found by undoing
the segment events, and by collecting the blocks that are freed, or alive at the
end, without having been allocated in the trace. Their sizes follow from the
rounding rule, and from the rule that a tail of at most 1 MiB stays inside a large
block. Snapshots whose segments are expandable are refused. Pickles that name
classes are refused: nothing is executed.
"""
import pickle
import sys

MIB = 1 << 20


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the pickle names {module}.{name}: refused")


def rounded(size):
    return max(512, (size + 511) // 512 * 512)


def initial_segments(segments, trace):
    """address -> [size, pool or None, stream]"""
    found = {s["address"]: [s["total_size"], s["segment_type"], s["stream"]] for s in segments}
    for event in reversed(trace):
        if event["action"] == "segment_alloc":
            found.pop(event["addr"], None)
        elif event["action"] == "segment_free":
            found[event["addr"]] = [event["size"], None, event["stream"]]
    return found


def final_blocks(segments):
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            yield address, block
            address += block["size"]


def initial_live(segments, trace):
    """address -> (requested, size or None where only the request is known)"""
    live, now, ever = {}, set(), set()
    for event in trace:
        if event["action"] == "alloc":
            now.add(event["addr"])
            ever.add(event["addr"])
        elif event["action"] == "free_completed":
            if event["addr"] in now:
                now.remove(event["addr"])
            else:
                live[event["addr"]] = (event["size"], None)
    for address, block in final_blocks(segments):
        if block["state"] != "inactive" and address not in now:
            known = block["size"] if address not in ever else None
            live.setdefault(address, (block["requested_size"], known))
    return live


def tile(address, size, pool, live):
    """The blocks of one initial segment: (size, requested, live)"""
    starts = sorted(a for a in live if address <= a < address + size)
    if pool is None:
        small = size == 2 * MIB and all(rounded(live[a][0]) <= MIB for a in starts)
        pool = "small" if small else "large"
    blocks, at = [], address
    for i, start in enumerate(starts):
        if start > at:
            blocks.append((start - at, 0, 0))
        limit = starts[i + 1] if i + 1 < len(starts) else address + size
        requested, known = live[start]
        length = known or rounded(requested)
        if pool == "large" and 0 < limit - start - length <= MIB:
            length = limit - start
        blocks.append((length, requested, 1))
        at = start + length
    if at < address + size:
        blocks.append((address + size - at, 0, 0))
    return pool, blocks


def convert(snapshot, device, out):
    segments = [s for s in snapshot["segments"] if s["device"] == device]
    if any(s.get("is_expandable") for s in segments):
        sys.exit("snapshot_to_events: expandable segments are not supported")
    trace = snapshot["device_traces"][device]
    live = initial_live(segments, trace)
    for address, (size, pool, stream) in sorted(initial_segments(segments, trace).items()):
        pool, blocks = tile(address, size, pool, live)
        out.write(f"segment {address} {size} {pool} {stream}\n")
        for block in blocks:
            out.write("block %d %d %d\n" % block)
    for event in trace:
        action = event["action"]
        if action == "alloc":
            out.write(f"alloc {event['addr']} {event['size']} {event['stream']}\n")
        elif action == "free_completed":
            out.write(f"free {event['addr']}\n")
        elif action == "segment_alloc":
            out.write(f"segment_alloc {event['addr']} {event['size']} {event['stream']}\n")
        elif action == "segment_free":
            out.write(f"segment_free {event['addr']} {event['size']}\n")
        elif action == "oom":
            out.write(f"oom {event['size']} {event['stream']}\n")
    for address, block in final_blocks(segments):
        out.write(f"final {address} {block['size']} {int(block['state'] != 'inactive')}\n")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as f:
        snapshot = DataOnly(f).load()
    traces = snapshot["device_traces"]
    if len(sys.argv) == 4:
        device = int(sys.argv[3])
    else:
        device = next((i for i, trace in enumerate(traces) if trace), 0)
    with open(sys.argv[2], "w", encoding="ascii") as out:
        convert(snapshot, device, out)


if __name__ == "__main__":
    main()
