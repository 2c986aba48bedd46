#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the pytest plugin with the command and library of a build, by each installed release
of pytest (pytest_environment.py). Skipped (77) without pytest.

    check_plugin.py SOURCE BUILD WORDS    the tests whose names contain WORDS
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest_environment

HERE = pathlib.Path(__file__).resolve().parent


def main():
    source, build, words = sys.argv[1:]
    pythons = pytest_environment.find()
    if not pythons:
        print("skipped: pytest is not installed; `tests/plugin/pytest_environment.py fetch` installs it in "
              "build/pytest")
        sys.exit(pytest_environment.SKIPPED)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMSCOPE_", "PYTEST_"))
           and k not in ("LD_PRELOAD", "PYTHONPATH", "COLUMNS", "CI", "FORCE_COLOR", "NO_COLOR")}
    env.update(PYTHONPATH=f"{pathlib.Path(source).resolve() / 'python'}", PYTHONDONTWRITEBYTECODE="1",
               PATH=f"{pathlib.Path(build).resolve() / 'bin'}:{env['PATH']}")
    status = 0
    for name, python in pythons.items():
        with tempfile.TemporaryDirectory() as scratch:
            print(f"--- {name}", flush=True)
            done = subprocess.run(
                [python, "-m", "pytest", "-q", "-p", "pytester", "-p", "no:cacheprovider", "--rootdir", HERE,
                 "-c", os.devnull, "--basetemp", os.path.join(scratch, "t"), "-k", words,
                 HERE / "test_pytest_plugin.py"], env=env, cwd=scratch)
            status = max(status, done.returncode)
    sys.exit(status)


if __name__ == "__main__":
    main()
