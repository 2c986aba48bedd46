# SPDX-License-Identifier: Apache-2.0
"""Parsers of the formats of CI systems, written by others: Python packages in build/parsers.

    format_parsers.py fetch    installs them

Tests exit with SKIPPED and a message without them.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/parsers"
PACKAGES = ("junitparser==5.0.3", "prometheus_client==0.26.0", "markdown-it-py==4.3.0", "pydantic-sarif==0.1.1",
            "jsonschema==4.26.0")
MODULES = "import junitparser, prometheus_client, markdown_it, pydantic_sarif, jsonschema"
SKIPPED = 77


def fetch():
    """Makes FOLDER complete; True if it is."""
    if not (FOLDER / "bin/python").exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        try:
            venv.create(FOLDER, with_pip=True)
        except subprocess.CalledProcessError:  # Debian without python3-venv
            shutil.rmtree(FOLDER, ignore_errors=True)
            return False
    python = FOLDER / "bin/python"
    if subprocess.run([python, "-c", MODULES], stderr=subprocess.DEVNULL).returncode == 0:
        return True
    return subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                           "--retries", "2", *PACKAGES]).returncode == 0


def require():
    """Runs the calling script in FOLDER's Python if the present one lacks a parser; exits with SKIPPED
    if that is missing too."""
    try:
        exec(MODULES)
    except ImportError:
        python = pathlib.Path(os.environ.get("VS_PARSERS_PYTHON") or FOLDER / "bin/python")
        if os.environ.get("VS_PARSERS_STARTED") or not python.exists():
            print("skipped: the parsers are not installed; `tests/check/format_parsers.py fetch` installs them in "
                  "build/parsers")
            sys.exit(SKIPPED)
        os.environ["VS_PARSERS_STARTED"] = "1"
        os.execv(python, [str(python), *sys.argv])


if __name__ == "__main__":
    if sys.argv[1:] != ["fetch"]:
        sys.exit(__doc__)
    sys.exit(0 if fetch() else 1)
