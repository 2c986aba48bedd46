#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what `vramscope export` writes with independent readers, and compares it with the report.

    check_exports.py COMMAND TRAIN_LM PROGRAMS ROOT PART   exit 1 and a line per problem; 77: skipped

PART names the formats, and the module here that reads them: read_PART.py with a function
`check(recorded, problems, root)`.
"""
import importlib
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from recorded import Problems, Recorded


def main():
    command, train_lm, programs, root, part = sys.argv[1:]
    module = importlib.import_module("read_" + part)
    why = getattr(module, "missing", lambda: None)()
    if why:
        print("skipped:", why)
        return 77
    problems = Problems()
    with tempfile.TemporaryDirectory() as folder:
        module.check(Recorded(command, train_lm, programs, folder), problems, root)
    return problems.finish()


if __name__ == "__main__":
    sys.exit(main())
