#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pandas for the test of vramscope.Trace.to_pandas, and HolisticTraceAnalysis, which uses it, for that of timelines: a
Python environment in build/pandas.

    pandas_environment.py fetch    installs them
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environments  # noqa: E402
from python_environments import skip  # noqa: E402, F401

PACKAGES = ("pandas>=2.2,<4", "numpy", "python-dateutil", "six", "tzdata", "HolisticTraceAnalysis==0.5.0", "plotly<8",
            "networkx", "narwhals", "packaging", "psutil", "PyYAML")  # of those for notebooks and pictures (400 MB) none
PANDAS = python_environments.PythonEnvironment("pandas", ("--no-deps", *PACKAGES), "pandas, hta.trace_analysis")

if __name__ == "__main__":
    python_environments.main(__doc__, PANDAS)
