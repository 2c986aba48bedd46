# SPDX-License-Identifier: Apache-2.0
"""The command line of a report, of a program in a folder with a long name. The line was cut at its
end once, which hid the arguments.

  check_command_line.py BIN VICTIM"""

import os
import shutil
import subprocess
import sys
import tempfile

BINARIES, VICTIM = sys.argv[1:]


def command_line(program, *arguments):
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    run = subprocess.run([os.path.join(BINARIES, "vramscope"), "run", "--simulate", "t4-16g", "-o",
                          os.path.join(os.path.dirname(program), "trace.vst"), "--", program, *arguments],
                         capture_output=True, text=True, timeout=600, check=False, env=environment)
    lines = [line for line in run.stderr.splitlines() if line.startswith("  command  ")]
    assert run.returncode == 0 and len(lines) == 1 and len(lines[0]) <= 80, run
    return lines[0][len("  command  "):]


def main():
    # below /tmp: spaces in TMPDIR would be more words to shorten
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        for name in ("f" * 90, "a folder with spaces " + "f" * 90):
            long = os.path.join(folder, name, "bin")
            os.makedirs(long)
            program = shutil.copy(VICTIM, os.path.join(long, "train"))
            line = command_line(program, "device", "--batch", "8")
            assert line == "…/bin/train device --batch 8", line
            line = command_line(program, "device", "--data", os.path.join(long, "train.json"), "--batch", "8")
            assert line.startswith("…/train device --data …") and line.endswith("/train.json --batch 8"), line
        assert command_line("./" + os.path.relpath(program), "device").endswith("/train device")


main()
