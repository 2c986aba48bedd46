# SPDX-License-Identifier: Apache-2.0
"""Lines of the plugin's output, folded at 80 columns. Paths, names and markers stay whole: a line that is
longer consists of one of them."""
from __future__ import annotations

import re
import shlex
from typing import List, Sequence

WIDTH = 80
_SPACE = "\0"  # of a text that stays whole
_UNIT = re.compile(r"(?<=\d) (?=[KMGT]i?B\b|B\b|%|bytes\b)")


def whole(text: str) -> str:
    """*text* as one word for fold()."""
    return text.replace(" ", _SPACE)


def fold(text: str, begin: str = "", indent: str = "    ") -> List[str]:
    """Lines: *begin* and *text*, whose further lines begin with *indent*."""
    text = _UNIT.sub(_SPACE, text)
    lines: List[str] = []
    line, empty = begin, True
    for word in text.split(" "):
        longer = line + ("" if empty else " ") + word
        if empty or len(longer) <= WIDTH:
            line = longer
        else:
            lines.append(line)
            line = indent + word
        empty = False
    return [each.replace(_SPACE, " ") for each in [*lines, line]]


def chain(functions: Sequence[str], begin: str) -> List[str]:
    """Lines: *begin* and a call chain, innermost first: "file.py:12 forward", "train (train.py:8)". Further lines begin
    with a caller where it fits on one."""
    indent = " " * (len(begin) + 2)
    units = list(functions[:1]) + ["< " + caller for caller in functions[1:]]
    return fold(" ".join(unit.replace("< ", "<" + _SPACE, 1) if len(indent) + len(unit) > WIDTH else whole(unit)
                         for unit in units), begin, indent)


def command(trace: str, *options: Sequence[str]) -> List[str]:
    """Lines: the command that shows more, for a shell. Each option has its value on its line."""
    words = ["vramscope report " + shlex.quote(trace), *(" ".join(map(shlex.quote, each)) for each in options)]
    if len("more: " + " ".join(words)) <= WIDTH:
        return ["more: " + " ".join(words)]
    return [lead + each + end for lead, each, end in
            zip(["more: "] + ["          "] * len(options), words, [" \\"] * len(options) + [""])]
