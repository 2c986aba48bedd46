# SPDX-License-Identifier: Apache-2.0
"""Values of operations on the simulated GPU are the CPU's, and errors of the package that computes
them do not reach the program: runs values_operations.py.

    check_values_operations.py --build BUILD --release RELEASE MODE

Exits with 77 where there is no PyTorch of that release.
"""
import os
import sys
import tempfile

import environments
import simulated

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "values_operations.py")


def main():
    parser = environments.parser(__doc__)
    parser.add_argument("mode", choices=("table", "failures"))
    args, environment = environments.parsed(parser)
    with tempfile.TemporaryDirectory() as folder:
        status, out, _ = simulated.record(args.build, environment, "a100-80g", [PROGRAM, args.mode], folder,
                                          ["--stacks=none"], {"VRAMSCOPE_VALUES": "1MiB"}, 1800)
    print(out)
    sys.exit(1 if status is None else status)


if __name__ == "__main__":
    main()
