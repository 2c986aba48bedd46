#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytest and pytest-xdist for the tests of the plugin: Python environments in build/pytest, one with the
oldest release of pytest that the plugin supports, and one with a new one.

    pytest_environment.py fetch    installs them

Tests use them, or else the Python that runs the test if it has both packages.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import python_environments  # noqa: E402
from python_environments import SKIPPED, imports  # noqa: E402, F401

# what pytest needs before Python 3.11: in pure Python, for the test of the wheel with other versions
OLDER = ("exceptiongroup==1.3.0", "tomli==2.0.1", "typing_extensions==4.15.0")
RELEASES = {"oldest": ("pytest==7.2.1", "pytest-xdist==3.1.0", "pluggy==1.0.0",
                       "iniconfig==2.0.0"),
            "newest": ("pytest==9.2.0", "pytest-xdist==3.8.0", "check-jsonschema==0.39.0")}
ENVIRONMENTS = {name: python_environments.PythonEnvironment(f"pytest/{name}", [*packages, *OLDER],
                                                            "pytest, xdist, exceptiongroup, tomli")
                for name, packages in RELEASES.items()}


def find():
    """The interpreters to test with, by name."""
    found = {name: each.python for name, each in ENVIRONMENTS.items() if each.complete()}
    if not found and imports(sys.executable, "pytest, xdist"):
        found["this"] = pathlib.Path(sys.executable)
    return found


if __name__ == "__main__":
    python_environments.main(__doc__, *ENVIRONMENTS.values())
