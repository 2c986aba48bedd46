#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pandas for the test of vramscope.Trace.to_pandas: a Python environment in build/pandas.

    pandas_environment.py fetch    installs it
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environments  # noqa: E402
from python_environments import skip  # noqa: E402, F401

PANDAS = python_environments.PythonEnvironment("pandas", ("pandas>=2.2,<4",), "pandas")

if __name__ == "__main__":
    python_environments.main(__doc__, PANDAS)
