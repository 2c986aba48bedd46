#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the gate is green for a program that did not change, on a loaded machine.

    bench_repeat.py BIN_DIR [--runs N] [--load N] [--steps N]

Records train_lm on the simulated GPU, makes a baseline, and then N times records it again and checks
it with a tolerance of 0, while LOAD processes keep the processors busy. Prints how many were green;
exit 1 unless all were.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

BUSY = "while True: sum(i * i for i in range(10000))"


def record(args, trace):
    subprocess.run([os.path.join(args.bin, "vramscope"), "run", "-q", "--simulate", "h100-80g", "-o", trace, "--",
                    os.path.join(args.bin, "train_lm"), "--steps", args.steps], check=True, timeout=600,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check(args, base, trace, *options):
    return subprocess.run([os.path.join(args.bin, "vramscope"), "check", "--baseline", base, "--no-leaks",
                           "--max-growth-per-step", "0", *options, trace], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin")
    p.add_argument("--runs", type=int, default=50)
    p.add_argument("--load", type=int, default=2 * (os.cpu_count() or 1))
    p.add_argument("--steps", default="12")
    args = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="vramscope-repeat-") as folder:
        base, trace = os.path.join(folder, "memory.json"), os.path.join(folder, "run.vst")
        record(args, trace)
        done = check(args, base, trace, "--update-baseline")
        if done.returncode:
            sys.exit("no baseline: " + done.stdout + done.stderr)
        load = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(args.load)]
        began, green, peaks = time.monotonic(), 0, set()
        try:
            for n in range(args.runs):
                record(args, trace)
                done = check(args, base, trace, "--format", "json")
                green += done.returncode == 0
                rows = json.loads(done.stdout)["traces"][0]["limits"]
                peaks.add(tuple(row["bytes"] for row in rows))
                for row in rows:
                    if not row["held"]:
                        print("run %d: %s" % (n + 1, row["sentence"]))
        finally:
            for process in load:
                process.kill()
                process.wait()
        print("%d of %d runs green, %d different sets of figures; %.1f s, %d busy processes on %d processors" %
              (green, args.runs, len(peaks), time.monotonic() - began, args.load, os.cpu_count()))
        return 0 if green == args.runs else 1


if __name__ == "__main__":
    sys.exit(main())
