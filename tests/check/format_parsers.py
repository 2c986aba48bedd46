# SPDX-License-Identifier: Apache-2.0
"""Parsers of the formats of CI systems and of Perfetto, written by others: Python packages in build/parsers; and DuckDB
in build/duckdb.

    format_parsers.py fetch    installs them

Tests exit with SKIPPED and a message without them.
"""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environments  # noqa: E402

PACKAGES = ("junitparser==5.0.3", "prometheus_client==0.26.0", "markdown-it-py==4.3.0", "pydantic-sarif==0.1.1",
            "jsonschema==4.26.0", "perfetto==0.59.1")
MODULES = ("junitparser, prometheus_client, markdown_it, pydantic_sarif, jsonschema, "
           "perfetto.protos.perfetto.trace.perfetto_trace_pb2")
DUCKDB = python_environments.PythonEnvironment("duckdb", ("duckdb==2.0.1",), "duckdb")
PARSERS = python_environments.PythonEnvironment("parsers", PACKAGES, MODULES)


def require():
    """Runs the calling script in the environment's Python if the present one lacks a parser; exits with
    SKIPPED if that is missing too."""
    PARSERS.require("VS_PARSERS_STARTED", "tests/check/format_parsers.py", os.environ.get("VS_PARSERS_PYTHON"))


if __name__ == "__main__":
    python_environments.main(__doc__, PARSERS, DUCKDB)
