# SPDX-License-Identifier: Apache-2.0
"""JSON lines: every event with every field, as the Python decoder of traces reads them; golden traces of
earlier versions as well."""
import glob
import json
import os
import sys


def lines_of(problems, what, text):
    head, *rest = [json.loads(line) for line in text.decode().splitlines()]
    problems.same(f"{what}: members of the first line", sorted(head), ["schema", "start_ns"])
    problems.same(f"{what}: schema", head["schema"], "vramscope.events/1")
    return head["start_ns"], rest


def check_trace(problems, what, decoder, path, text):
    records, vst = decoder
    start, lines = lines_of(problems, what, text)
    stacks, at = {}, 0
    with vst.open(path) as trace:
        for number, event in enumerate(trace, 1):
            while "frames" in lines[at]:
                problems.true(f"{what}: a stack is there twice", lines[at]["stack"] not in stacks)
                stacks[lines[at]["stack"]] = lines[at]["frames"]
                at += 1
            line, at = lines[at], at + 1
            problems.same(f"{what}: event {number}", (line["event"], line["time_ns"], line["tid"], line["kind"]),
                          (number, event.time_ns - start, event.tid, event.kind))
            for i, (name, value) in enumerate(event.items()):
                found = line["fields"][name]
                codec = event.layout.codecs[i]
                if codec == records.STK:
                    problems.same(f"{what}: event {number}: stack", found or 0, event.raw[i])
                    problems.true(f"{what}: event {number}: frames come before the event", not found or stacks[found])
                else:
                    wanted = value - start if codec == records.T else value
                    if codec == records.T and not -(1 << 63) <= wanted < 1 << 63:
                        wanted = (wanted + (1 << 63)) % (1 << 64) - (1 << 63)
                    problems.same(f"{what}: event {number}: {name}", found, wanted)
    problems.same(f"{what}: lines after the last event", len(lines) - at, 0)


def check(recorded, problems, root):
    sys.path.insert(0, os.path.join(root, "tests/decoder"))
    import records
    import vst
    for name, path in recorded.traces.items():
        check_trace(problems, name, (records, vst), path, recorded.export(name, "json"))
    for path in sorted(glob.glob(os.path.join(root, "tests/golden/*.vst"))):
        name = os.path.basename(path)
        recorded.traces[name] = path
        check_trace(problems, name, (records, vst), path, recorded.export(name, "json", "--partial"))
    _, every = lines_of(problems, "plain", recorded.export("plain", "json"))
    _, span = lines_of(problems, "plain", recorded.export("plain", "json", "--from", "@50", "--to", "@80"))
    problems.same("a span", [x for x in span if "event" in x],
                  [x for x in every if "event" in x and 50 <= x["event"] <= 80])
