#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of measured sizes as C: those of the simulated GPU's contexts and modules, and those that the
stand-in libraries look up.

usage: size_tables.py TABLE OUT

TABLE is sizes.tsv, OUT the header. It has VS_SIM_CONTEXT(gpu, bytes, kind, source) for each GPU, named
as in `vramscope doctor --gpus`, that has a row `driver * * context GPU`, and for "module sm_90" of a row
`driver * sm_90 module *`. A measured row wins over an
assumed one of the same GPU, then the first. Every other row is VS_LIBRARY_SIZE(library, first version, last
version, architecture (0: any), what, key, bytes, measured, source). Exits with 1 and one line when a row is wrong.
"""
import json
import re
import sys

COLUMNS = 8


def version(text):
    major, minor, patch = text.split(".")
    return int(major) * 10000 + int(minor) * 100 + int(patch)


def size_of(line):
    """(gpu, bytes, kind, source) of a context's or module's row; the fields of another row."""
    row = line.split("\t")
    if len(row) != COLUMNS:
        raise ValueError(f"{len(row)} columns instead of {COLUMNS}")
    library, versions, architecture, what, key, size, kind, source = row
    if not re.fullmatch(r"[0-9]{1,18}", size):
        raise ValueError(f"'{size}' is not a number of bytes")
    if kind not in ("measured", "assumed"):
        raise ValueError(f"the kind is {kind}; write measured or assumed")
    if library == "driver":
        gpu = f"module {architecture}" if what == "module" else key
        if versions != "*" or (what == "context" and architecture != "*"):
            raise ValueError("versions and architecture of a context must be *: its key is the GPU")
        if what == "context" and not re.fullmatch(r"[a-z0-9-]+", gpu):
            raise ValueError(f"the key of a context is {gpu}; write the name of a GPU, such as h100-80g")
        return gpu, int(size), kind, source
    if not re.fullmatch(r"\*|\d+\.\d+\.\d+-\d+\.\d+\.\d+", versions):
        raise ValueError(f"the versions are {versions}; write 9.1.0-9.5.0, or *")
    if not re.fullmatch(r"\*|sm_\d+", architecture):
        raise ValueError(f"the architecture is {architecture}; write sm_90, or *")
    first, last = [0, 2**31 - 1] if versions == "*" else map(version, versions.split("-"))
    return (library, first, last, int(architecture.replace("*", "0").replace("sm_", "")), what, key, int(size),
            int(kind == "measured"), source)


def sizes_of(path):
    """{gpu: (bytes, kind, source)}, the row that wins of each GPU; the other rows."""
    sizes, others = {}, []
    with open(path, encoding="utf-8") as table:
        for number, line in enumerate(table, 1):
            if line.startswith("#") or not line.strip():
                continue
            try:
                found = size_of(line.rstrip("\n"))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
            if len(found) == COLUMNS + 1:
                others.append(found)
            elif (found[0] not in sizes or (found[2], sizes[found[0]][1]) == ("measured", "assumed")):
                sizes[found[0]] = found[1:]
    return sizes, others


def main():
    try:
        sizes, others = sizes_of(sys.argv[1])
    except (OSError, ValueError) as error:
        sys.exit(f"size_tables.py: {error}")
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        out.write("/* Written by cmake/size_tables.py. */\n")
        for name, rows in ("SIM_CONTEXT", [(gpu, *size) for gpu, size in sizes.items()]), ("LIBRARY_SIZE", others):
            out.writelines("VS_%s(%s)\n" % (name, json.dumps(row)[1:-1]) for row in rows)


if __name__ == "__main__":
    main()
