#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the sizes of the simulated GPU's CUDA contexts and modules from the table of measured sizes.

usage: context_sizes.py TABLE OUT

TABLE is sizes.tsv, OUT the header. It has VS_SIM_CONTEXT(gpu, bytes, kind, source) for each GPU, named
as in `vramscope doctor --gpus`, that has a row `driver * * context GPU`, and for "module sm_90" of a row
`driver * sm_90 module *`. A measured row wins over an
assumed one of the same GPU, then the first. Exits with 1 and one line when a row is wrong.
"""
import json
import re
import sys

COLUMNS = 8


def size_of(line):
    """(gpu, bytes, kind, source) of a context's row; None for any other line."""
    row = line.split("\t")
    if line.startswith("#") or row[0] != "driver" or row[3:4] not in (["context"], ["module"]):
        return None
    if len(row) != COLUMNS:
        raise ValueError(f"{len(row)} columns instead of {COLUMNS}")
    _, versions, architecture, what, gpu, size, kind, source = row
    if what == "module":
        gpu, architecture = f"module {architecture}", "*"
    if (versions, architecture) != ("*", "*"):
        raise ValueError("versions and architecture of a context must be *: its key is the GPU")
    if what == "context" and not re.fullmatch(r"[a-z0-9-]+", gpu):
        raise ValueError(f"the key of a context is {gpu}; write the name of a GPU, such as h100-80g")
    if not re.fullmatch(r"[0-9]{1,18}", size):
        raise ValueError(f"'{size}' is not a number of bytes")
    if kind not in ("measured", "assumed"):
        raise ValueError(f"the kind is {kind}; write measured or assumed")
    return gpu, int(size), kind, source


def sizes_of(path):
    """{gpu: (bytes, kind, source)}, the row that wins of each GPU."""
    sizes = {}
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            try:
                found = size_of(line.rstrip("\n"))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
            if found and (found[0] not in sizes or (found[2], sizes[found[0]][1]) == ("measured", "assumed")):
                sizes[found[0]] = found[1:]
    return sizes


def line_of(gpu, size, kind, source):
    return f"VS_SIM_CONTEXT({json.dumps(gpu)}, {size}, \"{kind}\", {json.dumps(source)})\n"


def main():
    try:
        sizes = sizes_of(sys.argv[1])
    except (OSError, ValueError) as error:
        sys.exit(f"context_sizes.py: {error}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("/* Written by cmake/context_sizes.py. */\n")
        for gpu in sizes:
            out.write(line_of(gpu, *sizes[gpu]))


if __name__ == "__main__":
    main()
