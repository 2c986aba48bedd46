# SPDX-License-Identifier: Apache-2.0
"""The lines that the plugin printed, without the line breaks by which it folds them at 80 columns."""
import re

import pytest

_ROW = re.compile(r" +[-+]?[\d.]+ [KMGT]?i?B +(\d|new|grown|at |cached|allocated)")
_COMMAND = re.compile(r" \\\n {10}(?=-)")  # "more: vramscope report TRACE \" and its options
_CHAIN = re.compile(r"\n( {32}| {22}| {36}| {41}| {12}(?=<))(?=[<(\w\[])")  # callers below a call site; the end of a row


def lines(printed):
    text = _CHAIN.sub(" ", _COMMAND.sub(" ", "\n".join(printed)))
    found = []
    for line in text.split("\n"):
        if re.match(r" {4}[\w(]", line) and not _ROW.match(line) and found and re.match(
                r"[a-zA-Z@].* |  with ", found[-1]) and not line.startswith(("    pytest ", "    def ", "    assert ")):
            found[-1] += line[3:]
        else:
            found.append(line)
    return found


def result(run):
    """A result of pytester, without these line breaks; *printed*: the lines as they were."""
    run.printed = run.stdout.lines
    run.stdout = pytest.LineMatcher(lines(run.printed))
    return run
