#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Families of processes (tree_victim.c): the reported parents, and the reported peak of their
sum. Usage: check_process_tree.py VRAMSCOPE TREE_VICTIM"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

MIB = 1 << 20


def record(command, victim, folder, *arguments):
    """Runs it; returns the summary of the run."""
    # the end of its output is the end of the last process: children may outlive the run
    done = subprocess.run([command, "run", "--simulate=t4-16g,capacity=2GiB,context=400MiB", "--allocator=observe",
                           "-o", os.path.join(folder, "%n.%p.vst"), "--", victim, *arguments],
                          capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"{arguments}: status {done.returncode}: {done.stderr}")
    return done.stderr


def family(command, folder):
    done = subprocess.run([command, "report", "--json", folder], capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"report: {done.stderr}")
    return json.loads(done.stdout)


def shape(found):
    """[(link, place of the parent, own peak in MiB)] by peak."""
    processes = found["processes"]
    rows = [(p["link"], processes[p["parent"]]["peak_allocated_bytes"] // MIB if p["parent"] is not None
             else None, p["peak_allocated_bytes"] // MIB) for p in processes]
    return sorted(rows, key=lambda row: row[2])


def unusable_ones(command, folder, found):
    """Files that are no traces hide the others no longer than --partial is missing."""
    with open(os.path.join(folder, "empty.vst"), "w"):
        pass
    os.mkdir(os.path.join(folder, "folder.vst"))
    wrong = []
    for options, status in (([], 2), (["--partial"], 0)):
        done = subprocess.run([command, "report", "--json", *options, folder], capture_output=True,
                              text=True, timeout=600)
        if done.returncode != status or "empty.vst is empty" not in done.stderr or \
                "folder.vst" in done.stderr or ("--partial" in done.stderr) != (not options):
            wrong.append(f"an empty trace, {options}: {done.returncode} {done.stderr}")
        if status == 0 and json.loads(done.stdout) != found:
            wrong.append("an empty trace among them changes the report")
    return wrong


def main():
    command, victim = sys.argv[1:]
    wrong = []
    cases = {
        ("spawn", "20"): [("child", 5, i) for i in range(1, 21) if i != 5],
        ("chain", "4"): [("exec", 2, 1), ("exec", 3, 2), ("exec", 4, 3), ("none", None, 4)],
        ("orphan",): [("none", None, 1), ("fork", 1, 2)],
        ("daemon",): [("none", None, 1), ("below", 1, 2)],
        ("vfork",): [("child", 1, 1), ("none", None, 1)],
        ("fork",): [("none", None, 1), ("fork", 1, 2)],
    }
    for arguments, expected in cases.items():
        folder = tempfile.mkdtemp(prefix="tree-")
        try:
            said = record(command, victim, folder, *arguments)
            found = family(command, folder)
            rows = shape(found)
            if arguments[0] == "spawn":
                if sorted([("none", None, 5), ("child", 5, 5)], key=str) != \
                        sorted((r for r in rows if r[2] == 5), key=str):
                    wrong.append(f"{arguments}: {rows}")
                rows = [r for r in rows if r[2] != 5]
                device = found["devices"][0]
                if device["peak_allocated_bytes"] != 215 * MIB or device["processes"] != 21 or \
                        sum(device["shares"]) != 215 * MIB:
                    wrong.append(f"{arguments}: together {device}")
                if not re.search(r"peak 215\.0 MiB allocated", said) or "├─ child " not in said:
                    wrong.append(f"{arguments}: the run said {said[-3000:]}")
                wrong += unusable_ones(command, folder, found)
            if sorted(rows, key=str) != sorted(expected, key=str):
                wrong.append(f"{arguments}: {rows} instead of {expected}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
