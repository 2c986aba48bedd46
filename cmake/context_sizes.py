#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sizes of the simulated GPU's CUDA contexts from the table of measured sizes.

usage: context_sizes.py TABLE OUT

TABLE is sizes.tsv, OUT the header. It has VS_SIM_CONTEXT(sm, bytes, assumed) for each architecture
that has a row `driver * sm_NN context *`, and as the last line, with 0 for sm, the row for all other
architectures (`*`). assumed: the source of an assumed size; NULL for a measured one. A measured row
wins over an assumed one of the same architecture, then the first. Exits with 1 and one line when a
row is wrong or the row for all other architectures is missing.
"""
import json
import re
import sys

COLUMNS = 8


def architecture(text):
    """90 of "sm_90", 0 of "*"."""
    if text == "*":
        return 0
    found = re.fullmatch(r"sm_([1-9][0-9]*)", text)
    if not found:
        raise ValueError(f"the architecture is {text}; write sm_ and a number, or *")
    return int(found.group(1))


def size_of(line):
    """(sm, bytes, measured, source) of a context's row; None for any other line."""
    row = line.split("\t")
    if line.startswith("#") or row[0] != "driver" or row[3:4] != ["context"]:
        return None
    if len(row) != COLUMNS:
        raise ValueError(f"{len(row)} columns instead of {COLUMNS}")
    _, versions, sm, _, key, size, kind, source = row
    if (versions, key) != ("*", "*"):
        raise ValueError("versions and key of a context must be *")
    if not re.fullmatch(r"[0-9]{1,18}", size):
        raise ValueError(f"'{size}' is not a number of bytes")
    if kind not in ("measured", "assumed"):
        raise ValueError(f"the kind is {kind}; write measured or assumed")
    return architecture(sm), int(size), kind == "measured", source


def sizes_of(path):
    """{sm: (bytes, measured, source)}, the row that wins of each architecture."""
    sizes = {}
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            try:
                found = size_of(line.rstrip("\n"))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
            if found and (found[0] not in sizes or (found[2] and not sizes[found[0]][1])):
                sizes[found[0]] = found[1:]
    if 0 not in sizes:
        raise ValueError(f"{path}: no row 'driver * * context *', for all other architectures")
    return sizes


def line_of(sm, size, measured, source):
    return f"VS_SIM_CONTEXT({sm}, {size}, {'NULL' if measured else json.dumps(source)})\n"


def main():
    try:
        sizes = sizes_of(sys.argv[1])
    except (OSError, ValueError) as error:
        sys.exit(f"context_sizes.py: {error}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("/* Written by cmake/context_sizes.py. */\n")
        for sm in sorted(sizes, reverse=True):  # 0 is the last
            out.write(line_of(sm, *sizes[sm]))


if __name__ == "__main__":
    main()
