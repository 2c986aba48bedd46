# SPDX-License-Identifier: Apache-2.0
"""pytest and pytest-xdist for the tests of the plugin: Python environments in build/pytest, one with the
oldest release of pytest that the plugin supports, and one with a new one.

    pytest_environment.py fetch    installs them

Tests use them, or else the Python that runs the test if it has both packages.
"""
import pathlib
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/pytest"
RELEASES = {"oldest": ("pytest==7.2.1", "pytest-xdist==3.1.0", "pluggy==1.0.0",
                       "iniconfig==2.0.0"),
            "newest": ("pytest==9.2.0", "pytest-xdist==3.8.0", "check-jsonschema==0.39.0")}
# what pytest needs before Python 3.11: in pure Python, for the test of the wheel with other versions
OLDER = ("exceptiongroup==1.3.0", "tomli==2.0.1", "typing_extensions==4.15.0")
MODULES = "import pytest, xdist, exceptiongroup, tomli"
SKIPPED = 77


def has_modules(python, modules=MODULES):
    return subprocess.run([python, "-c", modules], stderr=subprocess.DEVNULL).returncode == 0


def fetch():
    """Makes FOLDER complete; True if it is."""
    for name, packages in RELEASES.items():
        python = FOLDER / name / "bin/python"
        if not python.exists():
            shutil.rmtree(FOLDER / name, ignore_errors=True)
            try:
                venv.create(FOLDER / name, with_pip=True)
            except subprocess.CalledProcessError:  # Debian without python3-venv
                shutil.rmtree(FOLDER / name, ignore_errors=True)
                return False
        if not has_modules(python) and subprocess.run(
                [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2",
                 *packages, *OLDER]).returncode != 0:
            return False
    return True


def find():
    """The interpreters to test with, by name."""
    found = {name: FOLDER / name / "bin/python" for name in RELEASES}
    found = {name: python for name, python in found.items() if python.exists() and has_modules(python)}
    if not found and has_modules(sys.executable, "import pytest, xdist"):
        found["this"] = pathlib.Path(sys.executable)
    return found


if __name__ == "__main__":
    if sys.argv[1:] != ["fetch"]:
        sys.exit(__doc__)
    sys.exit(0 if fetch() else 1)
