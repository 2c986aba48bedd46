# SPDX-License-Identifier: Apache-2.0
"""The timeline in Perfetto's format, decoded by its public schema, has the events of the one in JSON."""
import collections
import json
import os
import sys

import read_timeline


def missing():
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../check"))
    import format_parsers
    format_parsers.require()  # runs this again where the package is


def decode(data):
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    trace = Trace.FromString(data)
    slices, instants, counters, open_slices, flows = [], [], [], collections.defaultdict(list), collections.defaultdict(list)
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    events = [p for p in trace.packet if p.HasField("track_event")]
    for packet in sorted(events, key=lambda p: p.timestamp):  # stable, as Perfetto sorts them
        event, time = packet.track_event, packet.timestamp
        track = tracks[event.track_uuid]
        arguments = {a.name: a for a in event.debug_annotations}
        if event.type == TrackEvent.TYPE_COUNTER:
            counters.append((track.name, time, event.counter_value))
        elif event.type == TrackEvent.TYPE_INSTANT:
            value = arguments.get("Bytes")
            instants.append((event.name, time, value and value.int_value + value.uint_value))
        elif event.type == TrackEvent.TYPE_SLICE_END:
            begin, name, category, numbers = open_slices[event.track_uuid].pop()
            slices.append((begin, time, category, name))
            flows.update((number, flows[number] + [category]) for number in numbers)
        else:
            open_slices[event.track_uuid].append((time, event.name, event.categories[0], list(event.flow_ids)))
    assert not any(open_slices.values()), "a slice has no end"
    return sorted(slices), sorted(instants, key=str), sorted(counters), flows, tracks


def of_json(text):
    slices, instants, counters, begun, arrows = [], [], [], collections.defaultdict(list), 0
    lives = read_timeline.lives(json.loads(text)["traceEvents"])
    for e in json.loads(text)["traceEvents"]:
        time = read_timeline.ns(e["ts"])
        if e["ph"] == "X":
            slices.append((time, time + read_timeline.ns(e["dur"]), e["cat"], e["name"]))
        elif e["ph"] == "B":
            begun[e["tid"]].append((time, e["cat"], e["name"]))
        elif e["ph"] == "E":
            slices.append((begun[e["tid"]][-1][0], time, *begun[e["tid"]].pop()[1:]))
        elif e["ph"] == "i":
            instants.append((e["name"], time, e.get("args", {}).get("Bytes")))
        elif e["ph"] == "C":
            counters.append((e["name"], time, e["args"]["bytes"]))
        arrows += e["ph"] == "f"
    slices += [(start, end, b["cat"], b["name"]) for start, end, b in lives]
    return sorted(slices), sorted(instants, key=str), sorted(counters), arrows


def check(recorded, problems, _root):
    read_timeline.record_calls(recorded)
    for name in ("calls", "observed", "tensors"):
        slices, instants, counters, flows, tracks = decode(recorded.export(name, "perfetto", "--min-bytes", "100KiB"))
        wanted = of_json(recorded.export(name, "chrome", "--min-bytes", "100KiB"))
        problems.true(f"{name}: there are slices and counters", slices and counters)
        for what, found, want in zip(("slices", "instants", "counters"), (slices, instants, counters), wanted):
            apart = next((pair for pair in zip(found, want) if pair[0] != pair[1]), None)
            problems.same(f"{name}: {what}: number, first difference", (len(found), apart), (len(want), None))
        work = set(read_timeline.WORK.values())
        begun = sum(bool(work & set(flow) and set(flow) - work) for flow in flows.values())
        problems.same(f"{name}: arrows", begun, wanted[3])
        problems.true(f"{name}: tracks have one around them", all(t.HasField("process") or t.parent_uuid in tracks or
                                                                  t.name.startswith("GPU ") for t in tracks.values()))
