# SPDX-License-Identifier: Apache-2.0
"""What the tests of the plugin have in common."""
import sys

import fork_server
import pytest
import unfolded
from _pytest.pytester import RunResult


@pytest.fixture
def start(pytester):
    """Runs pytest with the plugin in a process of its own, on the test files in the folder of the test;
    returns its result, unfolded."""
    def run(*arguments):
        words = [sys.executable, "-m", "pytest", "-p", "vramscope.pytest_plugin", *arguments]
        return unfolded.result(pytester.run(*map(str, words), timeout=600))
    return run


@pytest.fixture(scope="session")
def server():
    server = fork_server.Server()
    yield server
    server.process.stdin.close()
    server.process.wait(600)


@pytest.fixture
def forked(pytester, server):
    """As start, on a simulated GPU, and already under `vramscope run`: the plugin need not restart pytest."""
    def run(simulate, *arguments):
        status = server.run(pytester.path, simulate.partition("=")[2], ".vramscope", [simulate, *map(str, arguments)])
        out, err = (pytester.path.joinpath(name).read_text(encoding="utf-8").splitlines() for name in ("stdout", "stderr"))
        print(*out, *err, sep="\n")
        return unfolded.result(RunResult(status, out, err, 0))
    return run
