#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: check_plans.py TEST_PLAN_PLACE SNAPSHOT_TO_EVENTS SHARED

Converts the shared snapshots and lets the program plan and run each with 1.02 times
the memory that is alive at the worst. Exit 77 where there are none.
"""
import glob
import os
import subprocess
import sys
import tempfile

program, converter, shared = sys.argv[1:]
snapshots = sorted(glob.glob(os.path.join(shared, "traces", "*.pickle")))
if not snapshots:
    print(f"skipped: no traces in {shared}")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    events = []
    for snapshot in snapshots:
        events.append(os.path.join(folder, os.path.basename(snapshot) + ".events"))
        subprocess.run([sys.executable, converter, snapshot, events[-1]], check=True)
    sys.exit(subprocess.run([program, *events]).returncode)
