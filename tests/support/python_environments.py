# SPDX-License-Identifier: Apache-2.0
"""Virtual environments with Python packages that tests use, in folders of build/. Only `fetch` downloads
anything; a test that finds its packages missing exits with SKIPPED.

A script that describes an environment ends with `python_environments.main(__doc__, *environments)`: its
command `fetch` then makes them.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def imports(python, modules):
    """Whether *python* has *modules*, names with commas between them."""
    return subprocess.run([str(python), "-c", f"import {modules}"], stderr=subprocess.DEVNULL).returncode == 0


class PythonEnvironment:
    """The environment build/NAME with *packages*, as pip names them; *modules*: what must be importable."""

    def __init__(self, name, packages, modules):
        self.name, self.packages, self.modules = name, packages, modules
        self.folder = ROOT / "build" / name
        self.python = self.folder / "bin/python"

    def complete(self):
        return self.python.exists() and imports(self.python, self.modules)

    def fetch(self):
        """Make it complete; True if it is."""
        if not self.python.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            try:
                venv.create(self.folder, with_pip=True)
            except subprocess.CalledProcessError:  # Debian without python3-venv
                shutil.rmtree(self.folder, ignore_errors=True)
                return False
        return imports(self.python, self.modules) or subprocess.run(
            [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries",
             "2", *self.packages]).returncode == 0

    def require(self, variable, fetched_by, python=None):
        """Run the calling script in this environment if the present Python lacks a module; exit with SKIPPED
        if the environment lacks it too. *variable* marks the process that was started, *fetched_by* is the
        script to name, *python* another interpreter."""
        try:
            exec(f"import {self.modules}")
        except ImportError:
            python = pathlib.Path(python or self.python)
            if os.environ.get(variable) or not python.exists():
                skip(f"a module of {self.modules} is not installed; `{fetched_by} fetch` installs it in "
                     f"build/{self.name}")
            os.environ[variable] = "1"
            os.execv(python, [str(python), *sys.argv])


def skip(why):
    print("skipped:", why)
    sys.exit(SKIPPED)


def main(usage, *environments):
    if sys.argv[1:] != ["fetch"]:
        sys.exit(usage)
    sys.exit(0 if all([environment.fetch() for environment in environments]) else 1)
