# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin with tests that use PyTorch, on the simulated GPU. Run by check_plugin.py."""
import sys

import pytest

SIMULATE = "--vramscope-simulate=h100-80g"
HEAD = """
import pytest, torch, vramscope

kept = []

def make(mib):
    return torch.empty(int(mib * (1 << 20)), dtype=torch.uint8, device="cuda")
"""
RESERVED = """
def test_large():
    make(200)

def test_keeps():
    kept.append(make(2))

@pytest.mark.limit_vram("1 MiB", metric="reserved")
def test_held():
    make(2)

@pytest.mark.limit_vram("20 MiB", metric="reserved")
def test_fits():
    make(2)

@pytest.mark.limit_vram_leaks("0", metric="reserved")
def test_clean():
    make(2)

@pytest.mark.limit_vram("100 MiB", metric="reserved")
def test_two_peaks():
    make(80)
    make(90) # at the peak
    torch.cuda.empty_cache()
    make(100)
"""


@pytest.fixture
def run(pytester):
    def start(text, *arguments):
        pytester.path.joinpath("test_case.py").write_text(HEAD + text, encoding="utf-8")
        words = [sys.executable, "-m", "pytest", "-p", "vramscope.pytest_plugin", SIMULATE, *arguments]
        return pytester.run(*map(str, words), timeout=500)
    return start


def test_reserved_memory(run):
    """The verdicts do not depend on the tests before, and what is held adds up."""
    for first in ((), ("test_large", "test_keeps"), ("test_fits", "test_keeps", "test_clean")):
        names = [*first, *(n for n in ("test_held", "test_fits", "test_clean", "test_two_peaks") if n not in first)]
        result = run(RESERVED, *(f"test_case.py::{name}" for name in names))
        result.assert_outcomes(passed=len(names) - 2, failed=2)
        if not first:
            result.stdout.fnmatch_lines([
                "peak of reserved GPU memory 20.0 MiB exceeds the limit of 1.0 MiB by 19.0 MiB *",
                "held at this peak:", "     2.0 MiB   10.0 %     1x  test_case.py:* make < test_held:*",
                "    18.0 MiB   90.0 %         cached but unused",
                "peak of reserved GPU memory 170.0 MiB exceeds the limit of 100.0 MiB by 70.0 MiB *",
                "    90.0 MiB   52.9 %     1x  test_case.py:* make < test_two_peaks:*",
                "    80.0 MiB   47.1 %         cached but unused"])
    run(RESERVED, "-n", "2").assert_outcomes(passed=4, failed=2)


def test_growth_by_nvtx(run):
    result = run("""
@pytest.mark.limit_vram_growth("2 MiB")
@pytest.mark.parametrize("mib", [2, 4])
def test_train(mib):
    for number in range(5):
        with torch.cuda.nvtx.range(f"step {number}"):
            kept.append(make(mib)) # grows
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["growth of GPU memory per step 4.0 MiB exceeds the limit of 2.0 MiB *",
                                 "  12.0 MiB in 3 steps, from 14.0 MiB to 26.0 MiB"])


def test_out_of_memory(run):
    """An expected exception is no failure; the memory of an unexpected one is shown."""
    result = run("""
@pytest.mark.limit_vram("1 GiB")
def test_expected():
    with pytest.raises(torch.OutOfMemoryError):
        make(200 << 10)

def test_unexpected():
    first = make(100)
    make(200 << 10)
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*GPU memory at the peak of the test*",
                                 "device 0: 100.0 MiB allocated by the test at its peak",
                                 "   100.0 MiB  100.0 %     1x  test_case.py:* make < test_unexpected:*"])
