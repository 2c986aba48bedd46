# SPDX-License-Identifier: Apache-2.0
"""Memory that an extension writes counts as not computed: compiles values_extension.cpp against the
newest torch and checks values_extension.py as check_values_uses.py does.

    check_values_extension.py --build BUILD

Exits with 77 without an environment with torch (environments.py) or without c++.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import check_values_uses
import environments

HERE = os.path.dirname(os.path.abspath(__file__))


def compile_extension(environment, folder):
    library, torch = os.path.join(folder, "extension.so"), environment.site / "torch"
    subprocess.run(["c++", "-std=c++20", "-O0", "-w", "-fPIC", "-shared", f"-I{torch}/include",
                    os.path.join(HERE, "values_extension.cpp"), "-o", library, f"-L{torch}/lib",
                    "-ltorch_cpu", "-lc10"], check=True, timeout=600)
    return library


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    newest = environments.of_cuda(13)
    if not newest or not shutil.which("c++"):
        return environments.skip("an environment with torch for CUDA 13, or c++,")
    program, failed = os.path.join(HERE, "values_extension.py"), 0
    with tempfile.TemporaryDirectory() as folder:
        library = compile_extension(newest, folder)
        for moment in ("early", "late"):
            found = check_values_uses.reported(args.build, newest, program, [library, moment])
            wrong = list(check_values_uses.differences(
                program, check_values_uses.expectations(program), found))
            print("FAILED" if wrong else "ok", moment, *wrong, sep="\n  " if wrong else " ", flush=True)
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
