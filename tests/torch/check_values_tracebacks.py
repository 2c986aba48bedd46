# SPDX-License-Identifier: Apache-2.0
"""The tracebacks of a program's errors are those that it has without vramscope's Python part: runs
values_tracebacks.py with it, and by `python -E`, which does not load it.

    check_values_tracebacks.py --build BUILD

Runs in each environment with torch (environments.py); exits with 77 without one.
"""
import argparse
import os
import sys
import tempfile

import environments
import simulated

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "values_tracebacks.py")
CASES = 12


def tracebacks(build, python, *options):
    with tempfile.TemporaryDirectory() as folder:
        command, env = simulated.command(build, "t4-16g", [python, *options, PROGRAM], folder)
        status, out = simulated.run(command, env, folder, 600)
    assert status == 0, (status, out)
    return out[out.index("---"):].split("---")[1:]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default=str(environments.ROOT / "build/dev"))
    args = p.parse_args()
    found = environments.find()
    if not found:
        return environments.skip("an environment with torch")
    for environment in found:
        expected = tracebacks(os.path.abspath(args.build), environment.python, "-E")
        got = tracebacks(os.path.abspath(args.build), environment.python)
        assert len(got) == CASES and not any("no error" in case for case in got[:-1]), got
        for without, with_part in zip(expected, got):
            assert without == with_part, f"{environment.release}\n{with_part}\ninstead of\n{without}"
        print(f"{environment.release}: {CASES} errors have the tracebacks of the program alone", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
