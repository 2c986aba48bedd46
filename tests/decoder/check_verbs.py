#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every verb reads random traces, whose events no program would record, to its end: it prints an answer
or one error, and is not killed by a signal.

  check_verbs.py RANDOM_TRACE VRAMSCOPE SEED..."""

import os
import subprocess
import sys
import tempfile

VERBS = ("report --json", "report --windows windows", "oom", "check --max-peak 1GiB", "diff other.vst", "replay",
         "view -o page.html", "export -f chrome", "export -f sqlite -o rows.db", "export -f csv", "export -f pprof",
         "export -f torch-snapshot", "export -f rmm-csv")

# a sanitizer's report is none of the verbs' own statuses
environment = {**os.environ, **{name: os.environ.get(name, "") + ":exitcode=99"
                                for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}}
generator, vramscope = (os.path.abspath(p) for p in sys.argv[1:3])
with tempfile.TemporaryDirectory(prefix="vramscope-verbs-") as folder:
    os.chdir(folder)
    with open("windows", "w") as f:
        f.write("0 20000000\n10000000 90000000\n")
    subprocess.run([generator, "7", "500", "1", "other.vst"], check=True)
    for seed in sys.argv[3:]:
        for counts in ([], ["count"]):
            subprocess.run([generator, seed, "3000", "1", "trace.vst", *counts], check=not counts)
            for verb in VERBS:
                done = subprocess.run([vramscope, *verb.split(), "trace.vst"], env=environment, capture_output=True,
                                      timeout=300)
                if done.returncode not in (0, 1, 2) or (done.returncode == 2 and not done.stderr):
                    sys.exit("%s %s of seed %s: status %d: %s" % (
                        verb, counts, seed, done.returncode, done.stderr.decode(errors="replace")[-2000:]))
