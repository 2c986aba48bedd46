#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the kinds of events in the three places that list them: src/trace/format/event_table.h,
the table in docs/internals/trace-format.md, and the decoder's; and the document's sentences about the
kinds' properties. Usage: check_kinds.py ROOT"""

import os
import re
import sys

import vst


def in_source(root):
    text = open(os.path.join(root, "src/trace/format/event_table.h"), encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    rows = re.findall(r"VS_EVENT\((\d+),\s*(\w+),(.*?\))\)", text, flags=re.S)
    properties = {int(code): set(re.findall(r"P\((\w+)\)", row)) for code, _, row in rows}
    return {int(code): (name, re.findall(r"F\((\w+),\s*(\w+)\)", row))
            for code, name, row in rows}, properties


def in_document(root):
    """Names only: codecs are described in prose (*Codecs*), which fields() reads."""
    text = open(os.path.join(root, "docs/internals/trace-format.md"), encoding="utf-8").read()
    kinds, section = {}, text[text.index("### 3.4"):text.index("### 3.5")]
    for code, name, cell in re.findall(r"^\| (\d+) \| (\w+) \| (.*) \|$", section, flags=re.M):
        while re.search(r"\([^()]*\)", cell):
            cell = re.sub(r"\s*\([^()]*\)", "", cell)
        listed = re.split(r"[:.]", cell)[0]
        kinds[int(code)] = (name, [w.split()[0] for w in re.split(r",| and ", listed) if w.strip()])
    return kinds, text


def codecs_of_document(text, code, names):
    rule = re.search(r"\*Codecs\*: (.*?); all else is U\.", text).group(1)
    found = dict.fromkeys(names, "U")
    for part in rule.split("; "):
        wanted, codec = re.match(r"(.*) (?:is|are) (\w+)$", part).groups()
        for name, low, high in re.findall(r"`(\w+)`(?: of (\d+)(?:–(\d+))?)?", wanted):
            # "`start_ns` and `end_ns` of 32–35": the range applies to both
            if "–" in wanted:
                low, high = re.search(r"of (\d+)–(\d+)", wanted).groups()
            if name in found and (not low or int(low) <= code <= int(high or low)):
                found[name] = codec
    return [found[n] for n in names]


def properties_of_document(text, kinds):
    """Property -> the codes that the document's sentence about it names."""
    codes = {name: code for code, (name, _) in kinds.items()}
    sums = re.search(r"each event that refers to the state of memory \(([\d, –]+)\)", text).group(1)
    ranges = [part.split("–") for part in sums.split(", ")]
    activity = re.search(r"\b1: ([\w, ]+) events end here", text).group(1)
    kept = re.search(r"\b3: all events end except ([\w, ]+);", text).group(1)
    named = [{codes[word] for word in re.split(r", | and ", part)} for part in (activity, kept)]
    return {"SUMS_FIRST": {c for r in ranges for c in range(int(r[0]), int(r[-1]) + 1)},
            "ACTIVITY": named[0], "KEPT, and neither ALLOCATES nor FREES": named[1]}


def wrong_properties(text, kinds, properties):
    def codes(*names):
        return {code for code, has in properties.items() if has & set(names)}

    begin = ["start_ns", "end_ns", "device", "context", "stream"]
    known = {"SUMS_FIRST": codes("SUMS_FIRST"), "ACTIVITY": codes("ACTIVITY"),
             "KEPT, and neither ALLOCATES nor FREES":
                 codes("KEPT", "KEPT_IF_ROOM") - codes("ALLOCATES", "FREES")}
    for name, listed in properties_of_document(text, kinds).items():
        if listed != known[name]:
            yield f"{name}: source {sorted(known[name])}, document {sorted(listed)}"
    for code in codes("ACTIVITY"):
        if [field for field, _ in kinds[code][1]][:len(begin)] != begin:
            yield f"{code}: an ACTIVITY without the fields of struct vs_event_activity"
    for code in codes("NUMBERED"):
        if kinds[code][1][0][1] != "U" or "STATE" not in properties[code]:
            yield f"{code}: NUMBERED, but without STATE or a number in its first field"


def main():
    root = sys.argv[1]
    (source, properties), (document, text) = in_source(root), in_document(root)
    letters, wrong = ["U", "S", "A", "T", "STR", "STK"], []
    wrong += wrong_properties(text, source, properties)
    for code in sorted(source.keys() | document.keys() | vst.KINDS.keys()):
        name, fields = source.get(code, ("", []))
        names = [field for field, _ in fields]
        if document.get(code) != (name, names):
            wrong.append(f"{code}: source {name} {names}, document {document.get(code)}")
        elif codecs_of_document(text, code, names) != [c for _, c in fields]:
            wrong.append(f"{code} {name}: source {fields}, document "
                         f"{codecs_of_document(text, code, names)}")
        decoder = vst.KINDS.get(code)
        if not decoder or (decoder[0], list(zip(decoder[1], [letters[c] for c in decoder[2]]))) != \
                (name, fields):
            wrong.append(f"{code}: source {name} {fields}, decoder {decoder}")
    print(f"{len(source)} kinds")
    print(*wrong, sep="\n")
    return 1 if wrong or len(source) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
