#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py SOURCE OUTPUT FROM TO: copies a source file with one place of it changed. FROM
must occur in it exactly once: a mutation that no longer applies must be rewritten."""
import sys

source, output, old, new = sys.argv[1:]
text = open(source, encoding="utf-8").read()
if text.count(old) != 1:
    sys.exit(f"mutate.py: {source}: {text.count(old)} places like: {old}")
with open(output, "w", encoding="utf-8") as f:
    f.write(f'#line 1 "{source}"\n' + text.replace(old, new))
