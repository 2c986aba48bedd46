# SPDX-License-Identifier: Apache-2.0
"""The tracebacks of a program's errors are those that it has without vramscope's Python part: runs
values_tracebacks.py with it, and by `python -E`, which does not load it. Below one that follows from a
value that was not computed stands that value.

    check_values_tracebacks.py --build BUILD

Runs in each environment with torch (environments.py); exits with 77 without one.
"""
import os
import sys
import tempfile

import environments
import simulated

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "values_tracebacks.py")
CASES = 12
DIVIDES = """import torch
x = torch.randn(1 << 22, device="cuda")
print(1 / x.mean().item())
"""
NAMED = ("ZeroDivisionError: float division by zero\nvramscope: the latest value that the simulated GPU did not "
         "compute: divides.py:3: `x.mean().item()`: read as 0. The error above may follow from it")


def tracebacks(build, environment, *options):
    with tempfile.TemporaryDirectory() as folder:
        status, out, _ = simulated.record(build, environment, "t4-16g", [*options, PROGRAM], folder)
    assert status == 0, (status, out)
    return out[out.index("---"):].split("---")[1:]


def main():
    build = environments.parser(__doc__).parse_args().build
    for environment in environments.needed(environments.find(), "an environment with torch"):
        expected = tracebacks(build, environment, "-E")
        got = tracebacks(build, environment)
        assert len(got) == CASES and not any("no error" in case for case in got[:-1]), got
        for without, with_part in zip(expected, got):
            assert without == with_part, f"{environment.release}\n{with_part}\ninstead of\n{without}"
        with tempfile.TemporaryDirectory() as folder:
            status, out, _ = simulated.record_text(build, environment, "t4-16g", DIVIDES, folder, name="divides.py")
        assert status == 1 and NAMED in out, (status, out)
        print(f"{environment.release}: {CASES} errors have the tracebacks of the program alone", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
