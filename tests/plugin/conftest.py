# SPDX-License-Identifier: Apache-2.0
"""What the tests of the plugin have in common."""
import sys

import pytest
import unfolded


@pytest.fixture
def start(pytester):
    """Runs pytest with the plugin in a process of its own, on the test files in the folder of the test;
    returns its result, unfolded."""
    def run(*arguments):
        words = [sys.executable, "-m", "pytest", "-p", "vramscope.pytest_plugin", *arguments]
        return unfolded.result(pytester.run(*map(str, words), timeout=600))
    return run
