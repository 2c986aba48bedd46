#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes vs_cudnn_attributes.h, the names of cuDNN's graph interface and the table of its attributes.

usage: cudnn_attributes.py OUT ATTRIBUTES

ATTRIBUTES (src/simulator/libraries/cudnn/attributes.txt) has the types of elements, then a line for each
type of descriptor, with the start of its attributes' names where that is another, and its attributes:

  NAME[=NUMBER][NEED][COUNT][:TYPE]
    NUMBER  where it does not follow that of the attribute before
    NEED    !: finalization requires it; <: it can only be read
    COUNT   of elements: * any number, + at least one, ^ one for each dimension; else one
    TYPE    of elements: TENSOR_DESCRIPTOR (the default) or another type of descriptor, ANY_DESCRIPTOR (an
            operation), a type of elements, or REAL, STEP, SEED, CONSTANT, which are several (vs_cudnn_graph.h)

Written: the values CUDNN_TYPE_…, CUDNN_BACKEND_…_DESCRIPTOR and CUDNN_ATTR_…;
VS_CUDNN_DESCRIPTORS(F): F(name); VS_CUDNN_ATTRIBUTES(F): F(name, descriptor, elements, min, max, need, child).
"""
import pathlib
import re
import sys

WORD = re.compile(r"(\w+?)(?:=(\d+))?([!<]?)([*+^]?)(?::(\w+))?$")
COUNTS = {"": (1, 1), "*": (0, "DNN_GRAPH_MANY"), "+": (1, "DNN_GRAPH_MANY"), "^": (1, "CUDNN_DIM_MAX")}
NEEDS = {"": "OPTIONAL", "!": "REQUIRED", "<": "READ"}
SEVERAL = ("REAL", "STEP", "SEED", "CONSTANT")


def read(path):
    """(types, descriptors, rows): a row is (name, number, descriptor, elements, min, max, need, child)."""
    types, descriptors, rows = [], [], []
    start = number = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line[0] != " ":
            name, *other = line.split()
            if name != "types":
                descriptors.append(name)
                start = other[0] if other else name + "_"
            continue
        if not descriptors:
            types += line.split()
            continue
        for word in line.split():
            name, given, need, count, kind = WORD.match(word).groups()
            number = int(given) if given else number + 1
            kind = kind or "TENSOR_DESCRIPTOR"
            child = re.sub("_DESCRIPTOR$", "", kind) if kind.endswith("_DESCRIPTOR") else (
                "TENSOR" if kind == "SEED" else "NONE")
            elements = "DNN_GRAPH_" + kind if kind in SEVERAL else "CUDNN_TYPE_" + (
                "BACKEND_DESCRIPTOR" if kind.endswith("_DESCRIPTOR") else kind)
            rows.append((start + name, number, descriptors[-1], elements, *COUNTS[count], NEEDS[need], child))
    return types, descriptors, rows


def values(path):
    """{name: value} of the enumerations."""
    types, descriptors, rows = read(path)
    return {**{f"CUDNN_TYPE_{name}": i for i, name in enumerate(types)},
            **{f"CUDNN_BACKEND_{name}_DESCRIPTOR": i for i, name in enumerate(descriptors)},
            **{f"CUDNN_ATTR_{row[0]}": row[1] for row in rows}}


def table(name, rows):
    return f"#define {name}(F)" + "".join(" \\\n    F(%s)" % ", ".join(map(str, row)) for row in rows) + "\n"


def main():
    out, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    _, descriptors, rows = read(source)
    text = ("/* SPDX-License-Identifier: Apache-2.0 */\n/* Written by cmake/cudnn_attributes.py. */\n"
            "#ifndef VS_CUDNN_ATTRIBUTES_H\n#define VS_CUDNN_ATTRIBUTES_H\n\nenum {\n" +
            "".join(f"    {name} = {value},\n" for name, value in values(source).items()) + "};\n\n" +
            table("VS_CUDNN_DESCRIPTORS", [(name,) for name in descriptors]) + "\n" +
            table("VS_CUDNN_ATTRIBUTES", [(row[0], *row[2:]) for row in rows]) + "\n#endif\n")
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.exists() or out.read_text(encoding="utf-8") != text:
        out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
