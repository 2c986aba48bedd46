#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn a PyTorch memory snapshot into the text that tests/bench/trace/snapshot_feed.c reads.

Usage: snapshot_to_stacks.py SNAPSHOT.pickle OUT.stacks

One record a line, fields separated by tabs; functions and nodes count up from 1:
  function FILE NAME              a function of any language, as the snapshot names it
  node PARENT FUNCTION LINE       a frame called by that of node PARENT (0: outermost)
  alloc TIME_US ADDR SIZE STREAM NODE
  free TIME_US ADDR STREAM NODE   when it was asked for; its completion is the same event
  segment_alloc TIME_US ADDR SIZE STREAM NODE
  segment_free TIME_US ADDR SIZE

All devices' traces, one after the other. Pickles that name classes are refused:
nothing is executed.
"""
import pickle
import sys


class DataOnly(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"the pickle names {module}.{name}: refused")


class Tree:
    """Functions and stack nodes, written when they first occur."""

    def __init__(self, out):
        self.out, self.functions, self.nodes = out, {}, {}

    def function(self, frame):
        key = tuple(" ".join(str(frame[k]).split()) for k in ("filename", "name"))
        if key not in self.functions:
            self.functions[key] = len(self.functions) + 1
            print("function", *key, sep="\t", file=self.out)
        return self.functions[key]

    def stack(self, frames):
        node = 0
        for frame in reversed(frames):
            key = (node, self.function(frame), frame["line"])
            if key not in self.nodes:
                self.nodes[key] = len(self.nodes) + 1
                print("node", *key, sep="\t", file=self.out)
            node = self.nodes[key]
        return node


def write_events(snapshot, out):
    tree = Tree(out)
    for trace in snapshot["device_traces"]:
        for e in trace:
            what = {"free_requested": "free"}.get(e["action"], e["action"])
            if what not in ("alloc", "free", "segment_alloc", "segment_free"):
                continue
            fields = [e["time_us"], e["addr"]]
            if what != "free":
                fields.append(e["size"])
            if what != "segment_free":
                fields += [e["stream"], tree.stack(e.get("frames", ()))]
            print(what, *fields, sep="\t", file=out)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as f:
        snapshot = DataOnly(f).load()
    with open(sys.argv[2], "w", encoding="utf-8", errors="replace") as out:
        write_events(snapshot, out)


if __name__ == "__main__":
    main()
