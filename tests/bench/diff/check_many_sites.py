#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `vramscope diff` finds in runs of a program with many call sites is what was edited, whatever the
number of sites, and takes memory in proportion to them.

    check_many_sites.py VRAMSCOPE MAKE_DIFF_TRACE"""
import json
import resource
import subprocess
import sys
import tempfile

SITES = 20000
EVENTS = 100000
MEMORY_KIB = 512 * 1024


def main():
    command, maker = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (("a", []), ("b", ["edited"])):
            subprocess.run([maker, f"{folder}/{name}.vst", str(EVENTS), str(SITES), *options], check=True)
        text = subprocess.run([command, "diff", "--json", f"{folder}/a.vst", f"{folder}/b.vst"], check=True,
                              capture_output=True).stdout
        lines = subprocess.run([command, "diff", "--all", f"{folder}/a.vst", f"{folder}/b.vst"], check=True,
                               capture_output=True).stdout.decode().splitlines()
    peak = next(one for one in json.loads(text)["sites"] if one["metric"] == "allocated")
    found = {change: peak[change] for change in ("new", "gone", "grown", "shrunk", "same")}
    wanted = {"new": SITES // 1000, "gone": SITES // 1000, "grown": SITES // 100, "shrunk": 0, "same": 0}
    assert found == wanted, (found, wanted)
    for side in ("a", "b"):
        texts = [one[side]["text"] for one in peak["changes"] if one[side]]
        assert len(texts) == len(set(texts)), f"two call sites of {side} have one text"
    renamed = [one for one in peak["changes"] if one["moved"] == "function"]
    assert 0.09 * SITES < len(renamed) <= 0.1 * SITES, len(renamed)
    row = next(i for i, line in enumerate(lines) if line.endswith("  layer_3 (net_0.py:190)"))
    assert lines[row + 1].endswith("-> forward_layer_3 (net_0.py:194)"), lines[row:row + 2]
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert used < MEMORY_KIB, f"{used} KiB"
    print("ok")


if __name__ == "__main__":
    main()
