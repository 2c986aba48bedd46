# SPDX-License-Identifier: Apache-2.0
"""python -m vramscope demo: a training program with a leak, on a simulated GPU.

Needs no GPU, no compiler and no PyTorch: the program is part of the package. It records the
program, shows why it ran out of memory, reads the trace from Python, and writes the HTML page.
"""
from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
from typing import List, Optional

from vramscope import commands, library
from vramscope.trace_report import Trace

DEVICE = "t4-16g,capacity=600MiB,context=200MiB"
LEAK = ["--leak", "16MiB", "--steps", "60"]


def _program() -> str:
    """The bundled training program, in the package or in a build tree."""
    root = os.path.dirname(os.path.dirname(commands.command()))
    for path in ("lib/vramscope/examples/train_lm", "bin/train_lm_c"):
        if os.path.exists(os.path.join(root, path)):
            return os.path.join(root, path)
    raise library.Error("the demo's program train_lm is not part of this installation; "
                        "scripts/demo in the source tree builds it")


def _say(text: str) -> None:
    print(f"\n$ {text}", flush=True)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m vramscope demo",
                                     description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("-o", "--output", metavar="FOLDER", default="vramscope-demo",
                        help="folder of the trace and the page (default: %(default)s)")
    folder = parser.parse_args(arguments).output
    try:
        os.makedirs(folder, exist_ok=True)
        return _show(folder)
    except (library.Error, OSError) as error:
        print(f"vramscope demo: {error}", file=sys.stderr)
        return 2


def _show(folder: str) -> int:
    trace, page = os.path.join(folder, "demo.vst"), os.path.join(folder, "demo.html")
    program = _program()
    name = os.path.basename(program)
    _say(f"vramscope run --simulate {DEVICE} -o {trace.replace('%', '%%')} -- {name} {' '.join(LEAK)}")
    words = commands.run_command([program, *LEAK], simulate=DEVICE, output=trace.replace("%", "%%"),
                                 options=["--quiet"])
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    if done.returncode != 1 or not os.path.exists(trace):
        print(f"vramscope demo: the recorded program ended with status {done.returncode} instead of "
              f"running out of memory; run the command above to see why", file=sys.stderr)
        return 2
    print("the program ran out of memory, as it should")
    _say(f"vramscope oom {trace}")
    sys.stdout.write("\n".join(commands.output_of(["oom", trace]).splitlines()[:14]) + "\n…\n")
    _say(f"python -c 'import vramscope; t = vramscope.Trace(\"{trace}\"); print(t.peaks[0].allocated, "
         f"t.sites()[0])'")
    recorded = Trace(trace)
    print(recorded.peaks[0].allocated, recorded.sites()[0])
    _say(f"vramscope view {trace} -o {page}")
    commands.output_of(["view", trace, "-o", page])
    print(f"open the page in a browser: {pathlib.Path(page).resolve().as_uri()}")
    return 0
