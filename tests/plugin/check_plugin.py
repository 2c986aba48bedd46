#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the pytest plugin with the command and library of a build, by each installed release
of pytest (pytest_environment.py). Skipped (77) without pytest.

    check_plugin.py SOURCE BUILD WORDS    the tests whose names contain WORDS
    check_plugin.py SOURCE BUILD torch    the tests with PyTorch, by each environment with it
"""
import importlib
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest_environment

HERE = pathlib.Path(__file__).resolve().parent


def torch_pythons():
    """The environments with PyTorch, and the folder with a pytest for their release of Python."""
    sys.path.insert(0, str(HERE.parent / "torch"))
    environments = importlib.import_module("environments")
    sites = sorted(pytest_environment.ENVIRONMENTS["newest"].folder.glob("lib/python3.*/site-packages"))
    found = {f"torch {e.release}": e.python for e in environments.find()
             if sites and e.site.parts[-2] == sites[0].parts[-2]}
    if not found:
        print("skipped: no environment with PyTorch for the Python of build/pytest")
        sys.exit(pytest_environment.SKIPPED)
    return found, sites[0]


def main():
    source, build, words = sys.argv[1:]
    pythons, path, tests = pytest_environment.find(), [pathlib.Path(source).resolve() / "python"], "test_pytest_plugin.py"
    if words == "torch":
        pythons, pure = torch_pythons()
        path, tests, words = [*path, pure], "test_plugin_torch.py", "test"
    if not pythons:
        print("skipped: pytest is not installed; `tests/plugin/pytest_environment.py fetch` installs it in "
              "build/pytest")
        sys.exit(pytest_environment.SKIPPED)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("VRAMSCOPE_", "PYTEST_"))
           and k not in ("LD_PRELOAD", "PYTHONPATH", "COLUMNS", "CI", "FORCE_COLOR", "NO_COLOR")}
    env.update(PYTHONPATH=os.pathsep.join(map(str, path)), PYTHONDONTWRITEBYTECODE="1",
               PATH=f"{pathlib.Path(build).resolve() / 'bin'}:{env['PATH']}")
    status = 0
    for name, python in pythons.items():
        with tempfile.TemporaryDirectory() as scratch:
            print(f"--- {name}", flush=True)
            done = subprocess.run(
                [python, "-m", "pytest", "-q", "-p", "pytester", "-p", "no:cacheprovider", "--rootdir", HERE,
                 "-c", os.devnull, "--basetemp", os.path.join(scratch, "t"), "-k", words,
                 HERE / tests], env=env, cwd=scratch)
            status = status or (done.returncode if done.returncode >= 0 else 1)
    sys.exit(status)


if __name__ == "__main__":
    main()
