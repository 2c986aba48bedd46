#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mypy for the test of the package's types, with pytest, which the plugin imports: a Python environment in
build/types.

    type_checker.py fetch    installs it
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environments  # noqa: E402
from python_environments import skip  # noqa: E402, F401

TYPES = python_environments.PythonEnvironment("types", ("mypy==2.4.1", "pytest==9.2.0"), "mypy, pytest")

if __name__ == "__main__":
    python_environments.main(__doc__, TYPES)
