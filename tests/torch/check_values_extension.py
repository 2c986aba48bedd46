# SPDX-License-Identifier: Apache-2.0
"""Memory that an extension writes counts as not computed, and its operations run their kernels for CUDA:
compiles values_extension.cpp against each torch for CUDA 13 and checks values_extension.py as
check_values_uses.py does. Where vramscope does not see how the extension is loaded, PyTorch before 2.15
runs a kernel for all devices instead: that is listed.

    check_values_extension.py --build BUILD

Exits with 77 without an environment with torch (environments.py) or without c++.
"""
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
    args = environments.parser(__doc__).parse_args()
    found = environments.needed([e for e in environments.find() if e.cuda == 13 and shutil.which("c++")],
                                "an environment with torch for CUDA 13, or c++,")
    program, failed = os.path.join(HERE, "values_extension.py"), 0
    for environment in found:
        with tempfile.TemporaryDirectory() as folder:
            library = compile_extension(environment, folder)
            for moment in ("early", "late"):
                found = check_values_uses.reported(args.build, environment, program, [library, moment])
                wrong = list(check_values_uses.differences(
                    program, check_values_uses.expectations(program), found))
                print("FAILED" if wrong else "ok", environment.release, moment, *wrong,
                      sep="\n  " if wrong else " ", flush=True)
                failed += bool(wrong)
            answer = check_values_uses.answered(args.build, environment, program, [library, "unseen"])
        replaced = [note["name"] for note in answer["replaced_kernels"]]
        older = tuple(int(n) for n in environment.release.split(".")[:2]) < (2, 15)
        wrong = replaced != (["values_extension::both"] if older else [])
        print("FAILED" if wrong else "ok", environment.release, "unseen, replaced:", replaced, flush=True)
        failed += wrong
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
