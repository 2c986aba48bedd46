# SPDX-License-Identifier: Apache-2.0
"""Profiles for pprof: decoded here from the wire format, checked by the rules of profile.proto, and
compared with the report. read_pprof_tool.py opens them with pprof itself."""
import gzip
import re

# message -> {field: (name, kind)}; kinds: u number, s text, [u] numbers, [Message] messages
MESSAGES = {
    "Profile": {1: ("sample_type", "[ValueType]"), 2: ("sample", "[Sample]"), 3: ("mapping", "[Mapping]"),
                4: ("location", "[Location]"), 5: ("function", "[Function]"), 6: ("string_table", "[s]"),
                9: ("time_nanos", "u"), 10: ("duration_nanos", "u"), 11: ("period_type", "ValueType"),
                12: ("period", "u"), 13: ("comment", "[u]"), 14: ("default_sample_type", "u")},
    "ValueType": {1: ("type", "u"), 2: ("unit", "u")},
    "Sample": {1: ("location_id", "[u]"), 2: ("value", "[u]"), 3: ("label", "[Label]")},
    "Label": {1: ("key", "u"), 2: ("str", "u")},
    "Mapping": {1: ("id", "u"), 2: ("memory_start", "u"), 3: ("memory_limit", "u"), 4: ("file_offset", "u"),
                5: ("filename", "u"), 6: ("build_id", "u"), 7: ("has_functions", "u"), 8: ("has_filenames", "u"),
                9: ("has_line_numbers", "u"), 10: ("has_inline_frames", "u")},
    "Location": {1: ("id", "u"), 2: ("mapping_id", "u"), 3: ("address", "u"), 4: ("line", "[Line]")},
    "Line": {1: ("function_id", "u"), 2: ("line", "u")},
    "Function": {1: ("id", "u"), 2: ("name", "u"), 3: ("system_name", "u"), 4: ("filename", "u")},
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            assert shift <= 70
            return value, at


def numbers(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def decode(data, message):
    fields = MESSAGES[message]
    out = {name: [] if kind[0] == "[" else 0 for name, kind in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]  # an unknown field is an error here
        if tag & 7 == 0:
            assert kind in ("u", "[u]"), (message, name)
            value, at = varint(data, at)
            value = [value] if kind == "[u]" else value
        else:
            assert tag & 7 == 2, (message, name)
            length, at = varint(data, at)
            part, at = data[at:at + length], at + length
            assert len(part) == length, (message, name)
            inner = kind.strip("[]")
            value = numbers(part) if inner == "u" else part.decode() if inner == "s" else decode(part, inner)
            value = [value] if kind[0] == "[" and inner != "u" else value
        out[name] = out[name] + value if kind[0] == "[" else value
    return out


class Profile:
    def __init__(self, data):
        self.raw = decode(gzip.decompress(data), "Profile")
        self.text = self.raw["string_table"]
        self.types = [(self.text[t["type"]], self.text[t["unit"]]) for t in self.raw["sample_type"]]
        self.locations = {x["id"]: x for x in self.raw["location"]}
        self.functions = {x["id"]: x for x in self.raw["function"]}
        self.mappings = {x["id"]: x for x in self.raw["mapping"]}

    def sum(self, kind):
        column = [t for t, _ in self.types].index(kind)
        return sum(s["value"][column] for s in self.raw["sample"])

    def by_label(self, key, kind):
        column = [t for t, _ in self.types].index(kind)
        out = {}
        for sample in self.raw["sample"]:
            found = [self.text[x["str"]] for x in sample["label"] if self.text[x["key"]] == key]
            name = found[0] if found else None
            out[name] = out.get(name, 0) + sample["value"][column]
        return {name: value for name, value in out.items() if value}

    def lines(self, sample):
        """The stack as text, the innermost first."""
        out = []
        for number in sample["location_id"]:
            for line in self.locations[number]["line"]:
                function = self.functions[line["function_id"]]
                out.append((self.text[function["name"]], self.text[function["filename"]] or None, line["line"]))
        return tuple(out)


def check_rules(problems, what, p):
    problems.same(f"{what}: the first string", p.text[0], "")
    problems.same(f"{what}: strings are there once", len(set(p.text)), len(p.text))
    problems.same(f"{what}: sample types", p.types, [("alloc_objects", "count"), ("alloc_space", "bytes"),
                                                     ("inuse_objects", "count"), ("inuse_space", "bytes")])
    problems.same(f"{what}: default", p.text[p.raw["default_sample_type"]], "inuse_space")
    for table, rows in (("locations", p.raw["location"]), ("functions", p.raw["function"]),
                        ("mappings", p.raw["mapping"])):
        ids = [row["id"] for row in rows]
        problems.true(f"{what}: ids of {table}", len(set(ids)) == len(ids) and 0 not in ids)
    for location in p.raw["location"]:
        problems.true(f"{what}: a location has lines", location["line"])
        mapping = p.mappings.get(location["mapping_id"])
        problems.true(f"{what}: mapping of a location", not location["mapping_id"] or mapping)
        if mapping:
            problems.true(f"{what}: a location lies in its mapping",
                          mapping["memory_start"] <= location["address"] < mapping["memory_limit"])
            problems.true(f"{what}: a mapping has a build id",
                          re.fullmatch("[0-9a-f]{8,}", p.text[mapping["build_id"]]))
        for line in location["line"]:
            problems.true(f"{what}: a line has its function", line["function_id"] in p.functions)
    for sample in p.raw["sample"]:
        problems.same(f"{what}: values of a sample", len(sample["value"]), 4)
        problems.true(f"{what}: a sample has locations", sample["location_id"])
        problems.true(f"{what}: locations of a sample", all(i in p.locations for i in sample["location_id"]))


def check_one(recorded, problems, name):
    report = recorded.report(name)
    device = report["devices"][0]
    p = Profile(recorded.export(name, "pprof"))
    check_rules(problems, name, p)
    sites = device["sites_at_peak_allocated"]
    if name == "sampled":
        problems.same(f"{name}: in use", (p.sum("inuse_space"), p.sum("inuse_objects")),
                      (sites["total_bytes"] + sites["small_bytes"],
                       sum(s["count"] for s in sites["sites"]) + sites["small_count"]))
        return
    problems.same(f"{name}: in use", (p.sum("inuse_space"), p.sum("inuse_objects")),
                  (device["peak_user"]["bytes"], sum(s["count"] for s in sites["sites"])))
    problems.same(f"{name}: file of the first mapping", p.text[p.raw["mapping"][0]["filename"]],
                  report["process"]["exe"])
    phases = {None if row["name"] == "outside of any range" else row["name"]: row["bytes"]
              for row in device["live"]["by"]["phase"]}
    problems.same(f"{name}: by phase", p.by_label("phase", "inuse_space"), phases)
    problems.same(f"{name}: by device", p.by_label("device", "inuse_space"),
                  {str(device["device"]): device["peak_user"]["bytes"]})
    if device["level"] != "framework":
        allocs = sum(f["allocations"] for family, f in device["families"].items() if family != "ipc")
        problems.same(f"{name}: allocated", p.sum("alloc_objects"), allocs)
    stacks = {}
    for sample in p.raw["sample"]:
        key = p.lines(sample)
        stacks[key] = stacks.get(key, 0) + sample["value"][3]
    for site in sites["sites"]:
        key = tuple((f["function"], f["file"], f["line"]) for f in site["frames"])
        if site["stacks"] == 1 and key and not site["line"]:
            problems.same(f"{name}: {site['text']}", stacks.get(key), site["bytes"])


def check(recorded, problems, root):
    del root
    for name in recorded.traces:
        check_one(recorded, problems, name)
    for name in ("plain", "tensors"):
        at = recorded.report(name, "--at", "@60")["devices"][0]["live"]
        p = Profile(recorded.export(name, "pprof", "--at", "@60"))
        problems.same(f"{name} --at @60", (p.sum("inuse_space"), p.sum("inuse_objects")), (at["bytes"], at["blocks"]))
    span = recorded.report("plain", "--from", "20%", "--to", "70%")["devices"][0]
    p = Profile(recorded.export("plain", "pprof", "--from", "20%", "--to", "70%"))
    problems.same("plain: peak of a span", p.sum("inuse_space"), span["peak_user"]["bytes"])
    problems.same("plain: allocated in a span", p.sum("alloc_objects"),
                  sum(f["allocations"] for f in span["families"].values()))
