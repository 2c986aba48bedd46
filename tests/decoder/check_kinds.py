#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kinds of events in the three places that name them: src/trace/format/event_table.h, the table
in docs/trace-format.md, and the decoder's. Usage: check_kinds.py ROOT"""

import os
import re
import sys


def in_source(root):
    text = open(os.path.join(root, "src/trace/format/event_table.h"), encoding="utf-8").read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    rows = re.findall(r"VS_EVENT\((\d+),\s*(\w+),(.*?\))\)", text, flags=re.S)
    return {int(code): (name, re.findall(r"F\((\w+),\s*(\w+)\)", fields)) for code, name, fields in rows}


def in_document(root):
    """Names alone: codecs are told in prose (*Codecs*), which fields() reads."""
    text = open(os.path.join(root, "docs/trace-format.md"), encoding="utf-8").read()
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
            # "`start_ns` and `end_ns` of 32–35": the range is of both
            if "–" in wanted:
                low, high = re.search(r"of (\d+)–(\d+)", wanted).groups()
            if name in found and (not low or int(low) <= code <= int(high or low)):
                found[name] = codec
    return [found[n] for n in names]


def main():
    root = sys.argv[1]
    sys.path.insert(0, os.path.join(root, "python"))
    from vramscope import vst
    source, (document, text) = in_source(root), in_document(root)
    letters, wrong = ["U", "S", "A", "T", "STR", "STK"], []
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
