# SPDX-License-Identifier: Apache-2.0
"""Compares a trace's text by the C reader with the Python decoder's: counting and reporting shared
by check_decoder.py and check_checkpoints.py."""

import subprocess


def read_by_c(tool, paths, remark=None):
    """Returns {path: lines} printed by *tool*, without lines that begin with *remark*."""
    done = subprocess.run([tool], input="".join(p + "\n" for p in paths), capture_output=True,
                          text=True, timeout=600, check=True)
    texts, lines = {}, None
    for line in done.stdout.split("\n")[:-1]:
        if line.startswith("# "):
            lines = texts.setdefault(line[2:], [])
        elif not remark or not line.startswith(remark):
            lines.append(line)
    return texts


class Comparison:
    """Traces compared so far: their number, the number of each kind, and the errors."""

    def __init__(self, tool):
        self.tool, self.traces, self.kinds, self.wrong = tool, 0, {}, []

    def compare(self, name, kind, theirs, ours):
        """Checks that both readers give the same text."""
        self.traces += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        for i, (a, b) in enumerate(zip(theirs + ["(end)"], ours + ["(end)"])):
            if a != b:
                self.wrong.append(f"{name} line {i + 1}:\n"
                                  f"  C reader: {a[:400]}\n  decoder:  {b[:400]}")
                break

    def expect(self, kinds):
        """A comparison without one of *kinds* has not tested enough."""
        if not kinds <= self.kinds.keys():
            self.wrong.append(f"only {sorted(self.kinds)} among them")

    def close(self, counted):
        """Prints the number of traces and *counted*; returns the exit status."""
        print(f"{self.traces} traces, {counted}:",
              ", ".join(f"{n} {c}" for c, n in sorted(self.kinds.items())))
        print(*self.wrong[:20], sep="\n")
        return 1 if self.wrong else 0
