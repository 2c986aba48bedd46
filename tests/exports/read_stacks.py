# SPDX-License-Identifier: Apache-2.0
"""Flame graphs, collapsed stacks and speedscope: their sums are those of the report, and the files
follow their formats."""
import json
import os
import re
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"


def collapsed(text):
    """{frames: value}"""
    stacks = {}
    for line in text.decode().splitlines():
        frames, value = re.fullmatch(r"(.+) (\d+)", line).groups()
        assert frames not in stacks, f"a stack is there twice: {frames}"
        stacks[frames] = int(value)
    return stacks


def frame_text(frame):
    place = os.path.basename(frame["file"] or "")
    where = f" ({place}:{frame['line']})" if place and frame["line"] else f" ({place})" if place else ""
    return (frame["function"] + where).replace(";", ":")


def check_speedscope(problems, what, document):
    """The rules of speedscope's file format (file-format-spec.ts), for the parts that are used."""
    problems.same(f"{what}: $schema", document["$schema"], "https://www.speedscope.app/file-format-schema.json")
    problems.true(f"{what}: unknown members",
                  set(document) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"})
    frames = document["shared"]["frames"]
    for frame in frames:
        problems.true(f"{what}: a frame has a name and unknown members",
                      "name" in frame and set(frame) <= {"name", "file", "line", "col"})
    for profile in document["profiles"]:
        problems.same(f"{what}: members of a profile", set(profile),
                      {"type", "name", "unit", "startValue", "endValue", "samples", "weights"})
        problems.true(f"{what}: type and unit", profile["type"] == "sampled" and profile["unit"] in ("bytes", "none"))
        problems.same(f"{what}: as many weights as samples", len(profile["weights"]), len(profile["samples"]))
        problems.same(f"{what}: endValue", profile["endValue"], sum(profile["weights"]))
        problems.true(f"{what}: samples refer to frames",
                      all(0 <= i < len(frames) for sample in profile["samples"] for i in sample))
        problems.true(f"{what}: no sample is empty", all(profile["samples"]))


def check_flamegraph(problems, what, text, total, count):
    root = xml.fromstring(text)
    scripts = list(root.iter(SVG + "script"))
    problems.same(f"{what}: scripts", [s.get("type") for s in scripts], ["application/json", None])
    for element in root.iter():
        for key, value in element.attrib.items():
            problems.true(f"{what}: {element.tag} has {key}={value}",
                          not key.startswith("on") and "href" not in key and "url(" not in value and key != "style")
    data = json.loads(scripts[0].text)
    nodes = [data["nodes"][i:i + 4] for i in range(0, len(data["nodes"]), 4)]
    problems.same(f"{what}: bytes of the root", nodes[0][2], total)
    problems.same(f"{what}: blocks of the root", nodes[0][3], count)
    above = []
    inner = [0] * len(nodes)
    for i, (_, depth, size, _) in enumerate(nodes):
        del above[depth:]
        if above:
            inner[above[-1]] += size
        above.append(i)
    problems.true(f"{what}: callees hold at most their caller's bytes",
                  all(inner[i] <= nodes[i][2] for i in range(len(nodes))))
    drawn = [g for g in root.iter(SVG + "g") if (g.get("class") or "").startswith("frame")]
    problems.true(f"{what}: frames are drawn without the script", drawn and len(drawn) <= len(nodes))
    for g in drawn:
        rect = g.find(SVG + "rect")
        problems.true(f"{what}: a frame lies outside of the picture",
                      0 <= float(rect.get("x")) and float(rect.get("x")) + float(rect.get("width")) <= 1200.1)
    return [data["frames"][n[0]][0] for n in nodes[1:]]


def check_one(recorded, problems, name, report, options):
    what = " ".join((name, *options))
    stacks = collapsed(recorded.export(name, "collapsed", *options))
    blocks = collapsed(recorded.export(name, "collapsed", "--by", "count", *options))
    inverted = collapsed(recorded.export(name, "collapsed", "--inverted", *options))
    device = report["devices"][0]
    sites = device["sites_at_peak_allocated"]
    if not options:
        total, count = sites["total_bytes"], sum(s["count"] for s in sites["sites"])
        if name == "sampled": # and what is too small to be recorded
            total, count = total + sites["small_bytes"], count + sites["small_count"]
        else:
            problems.same(f"{what}: bytes", sum(stacks.values()), device["peak_user"]["bytes"])
    else:
        total, count = device["live"]["bytes"], device["live"]["blocks"]
    problems.same(f"{what}: bytes of all sites", sum(stacks.values()), total)
    problems.same(f"{what}: blocks of all sites", sum(blocks.values()), count)
    problems.same(f"{what}: inverted", sorted(inverted.values()), sorted(stacks.values()))
    problems.same(f"{what}: inverted frames", {";".join(reversed(s.split(";"))) for s in inverted}, set(stacks))
    document = json.loads(recorded.export(name, "speedscope", *options))
    check_speedscope(problems, what, document)
    problems.same(f"{what}: speedscope", [p["endValue"] for p in document["profiles"]],
                  [total, count] if count else [])
    shown = check_flamegraph(problems, what, recorded.export(name, "flamegraph", *options), total, count)
    problems.true(f"{what}: all frames are in the graph",
                  {f[:300] for s in stacks for f in s.split(";")} == {s.replace(";", ":")[:300] for s in shown})
    if options or name == "sampled":
        return
    for site in sites["sites"]:
        key = ";".join(frame_text(f) for f in reversed(site["frames"]))
        # exports shorten C++ names, and show the source of a line outside of functions
        whole = all("(" not in f["function"] and f["function"] != "<module>" for f in site["frames"])
        if site["stacks"] == 1 and site["frames"] and not site["line"] and whole:
            problems.same(f"{what}: {site['text']}", stacks.get(key), site["bytes"])


def check_span(recorded, problems, name):
    span = ("--from", "20%", "--to", "70%")
    families = recorded.report(name, *span)["devices"][0]["families"]
    blocks = collapsed(recorded.export(name, "collapsed", "--by", "count", *span))
    wanted = sum(f["allocations"] for f in families.values())
    problems.same(f"{name}: allocated in a span", sum(blocks.values()), wanted)


def check(recorded, problems, root):
    del root
    for name in recorded.traces:
        check_one(recorded, problems, name, recorded.report(name), ())
    for name in ("plain", "observed", "tensors"):
        for at in ("@60", "60%", "end", "peak"):
            check_one(recorded, problems, name, recorded.report(name, "--at", at), ("--at", at))
    for name in ("plain", "observed"):
        check_span(recorded, problems, name)
    tensors = collapsed(recorded.export("tensors", "collapsed"))
    problems.true("tensors: names of user's functions", any("append_history" in s for s in tensors))
    bad = recorded.run("export", "-f", "collapsed", "--device", "7", recorded.traces["plain"])
    problems.same("--device 7", (bad.returncode, b"the program did not use that device" in bad.stderr), (2, True))
