#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hidden wait, copies of pageable memory and an idle gap, planted in a loop (slow_loop_victim.c): each is named with
its line.

    check_slow_loop.py BIN VICTIM

A kernel takes 50 ms, and the host sleeps 500 ms where it is slow, so that the reason does not depend on how busy
the machine is.
"""
import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slow_loop_victim.c")


def line_of(mark):
    with open(SOURCE, encoding="utf-8") as file:
        return 1 + [f"/* {mark} */" in line for line in file].index(True)


def at(site):
    """The innermost line of the victim's in a call site."""
    return next((f["line"] for f in site["frames"] if (f["file"] or "").endswith("slow_loop_victim.c")), None) if site else None


def main():
    command, victim = os.path.join(sys.argv[1], "vramscope"), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        def report(mode, *options):
            trace = os.path.join(folder, mode + ".vst")
            subprocess.run([command, "run", "-q", "--simulate", "t4-16g,kernel_us=50000", "--allocator=observe",
                            "--kernels=api", "-o", trace, "--", victim, mode], check=True)
            printed = subprocess.run([command, "report", *options, trace], stdout=subprocess.PIPE, check=True)
            text = subprocess.run([command, "report", trace], stdout=subprocess.PIPE, check=True).stdout.decode()
            return json.loads(printed.stdout)["devices"][0], text

        device, _ = report("free", "--json")
        waits = [(wait["api"], wait["count"]) for wait in device["waits_by_site"] if at(wait) == line_of("free")]
        assert waits == [("cudaFree", 5)], waits
        gaps = device["timeline"]["gaps_by_cause"]["rows"]
        assert [gap["cause"] for gap in gaps if at(gap["wait"]) == line_of("free")] == ["wait"], gaps

        device, text = report("pageable", "--json")
        copies = device["timeline"]["pageable_copies"]
        first = copies["rows"][0]
        assert (copies["count"], first["count"], at(first["site"])) == (5, 5, line_of("pageable")), copies
        assert first["saved_ns"] is not None and first["bytes"] == 5 * 64 << 20, first

        device, text = report("idle", "--json")
        gap = device["timeline"]["gaps_by_cause"]["rows"][0]
        assert (gap["cause"], at(gap["wait"]), at(gap["until"])) == ("host", line_of("idle"), line_of("launch")), gap
        kernels = device["timeline"]["kernels_by_site"]["rows"]
        assert [(k["name"], k["count"], at(k["site"])) for k in kernels] == [("work", 5, line_of("launch"))], kernels
        assert gap["time_ns"] >= 4 * 500e6 and gap["count"] == 4, gap
        words = " ".join(text.split())
        assert "device time: idle for" in words and f"slow_loop_victim.c:{line_of('idle')}" in words, text


if __name__ == "__main__":
    sys.exit(main())
