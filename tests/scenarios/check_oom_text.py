#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text of `vramscope oom` for some failures, as a user reads it.

    check_oom_text.py BIN_DIR PROGRAM_DIR [--write]

Runs the scenarios of KINDS with seed 1 and compares the output with golden/NAME.txt. Times, and
lines of the source, are replaced. --write replaces the files: read them before you commit them.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check_scenarios  # noqa: E402
import scenarios  # noqa: E402

KINDS = ("growth", "growth_late", "growth_of_tensors", "growth_in_two_sites", "spike_request", "spike_live",
         "kept_pool", "other_stream", "fragmentation", "rounding", "one_huge_context", "many_contexts",
         "other_processes", "libraries", "limited", "absurd", "host", "refused", "capacity_of_data",
         "capacity_in_the_first_step", "two_together", "growth_and_pool", "rounding_and_contexts", "probe",
         "benign")


class Arguments:
    def __init__(self, bin_dir, programs):
        self.bin, self.programs = bin_dir, programs


def plain(text, folder):
    text = text.replace(folder + os.sep, "")
    text = re.sub(r"\b\d+(\.\d+)? (ns|µs|ms|s)\b", "TIME", text)
    # where its first line ends depends on how long the time is
    text = re.sub(r"  - since TIME.*(\n    .*)+", lambda found: found[0].replace("\n    ", " "), text)
    return re.sub(r"(\w+\.(c|cpp)|\w+):\d+", r"\1:N", text)


def main():
    args, folder = Arguments(sys.argv[1], sys.argv[2]), os.path.join(HERE, "golden")
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="vramscope-text-") as work:
        for scenario in scenarios.generate(1):
            kind = scenario.name.split("/")[0]
            if kind not in KINDS:
                continue
            check_scenarios.diagnose(scenario, args, work)
            trace = os.path.join(work, scenario.name.replace("/", "-") + ".vst")
            said = subprocess.run([os.path.join(args.bin, "vramscope"), "oom", trace], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=600)
            text = plain(said.stdout.decode(), work)
            path = os.path.join(folder, kind + ".txt")
            if "--write" in sys.argv:
                with open(path, "w") as f:
                    f.write(text)
                continue
            with open(path) as f:
                want = f.read()
            for line in difflib.unified_diff(want.splitlines(), text.splitlines(), path, "now", lineterm=""):
                print(line)
            wrong += want != text
            for line in said.stdout.decode().splitlines():
                if len(line) > 80:
                    print("%s: more than 80 columns: %s" % (kind, line))
                    wrong += 1
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
