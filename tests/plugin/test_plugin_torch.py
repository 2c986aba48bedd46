# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin with tests that use PyTorch, on the simulated GPU. Run by check_plugin.py."""
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
def run(pytester, start):
    def run_text(text, *arguments):
        pytester.path.joinpath("test_case.py").write_text(HEAD + text, encoding="utf-8")
        return start(SIMULATE, *arguments)
    return run_text


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


DECIDED = """
@pytest.mark.limit_vram("1 GiB")
def test_large():
    x = torch.randn(2048, 2048, device="cuda")
    for _ in range(2):
        if x.sum() > 3:
            make(100)
    print(x.sum().item())

@pytest.mark.limit_vram("1 GiB")
def test_small():
    make(int((torch.arange(100, device="cuda") > 50).sum()))
"""


def test_decided_by_values(run):
    """What a value decided that was not computed; reading one, and values that were computed, decide nothing."""
    result = run(DECIDED)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["cannot be checked: the test read values that were not computed, 2 times",
                                 "      2x  test_case.py:*: `if x.sum() > 3`: read as False",
                                 "sizes may depend on them; --vramscope-allow-uncomputed accepts that"])
    run(DECIDED, "--vramscope-allow-uncomputed").assert_outcomes(passed=2)


MIXED = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")

def allocate(mib):
    pointer = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(int(mib * (1 << 20)))) == 0
    return pointer

@pytest.fixture(scope="module", autouse=True)
def model():
    return make(30)

@pytest.mark.limit_vram("509 MiB")
@pytest.mark.limit_vram("510 MiB", metric="reserved")
def test_peak():
    tensor, pointer = make(10), allocate(500) # extension
    cuda.cuMemFree_v2(pointer)

@pytest.mark.limit_vram("512 MiB")
@pytest.mark.limit_vram_leaks("4 MiB")
def test_leak():
    kept.append(allocate(5)) # kept

@pytest.mark.limit_vram_growth("2 MiB")
def test_growth():
    for number in range(4):
        vramscope.step(number)
        kept.append(allocate(3))

def test_tracker():
    with vramscope.GPUMemoryTracker() as t:
        pointer = allocate(52)
        tensor = make(4)
        cuda.cuMemFree_v2(pointer)
    assert (t.peak_increase_bytes, t.memory_delta_bytes) == (56 << 20, 4 << 20), t.stats
    assert (t.allocations, t.frees) == (2, 1) and t.sites[0].bytes == 52 << 20
    with vramscope.GPUMemoryTracker() as t:
        make(8)
    assert (t.peak_increase_bytes, t.stats.tensors_peak) == (8 << 20, (30 + 4 + 8) << 20), t.stats
"""


def test_memory_beside_tensors(run):
    """Memory that a CUDA extension allocates counts as well, also where tensors live."""
    result = run(MIXED)
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines([
        "peak of GPU memory 510.0 MiB exceeds the limit of 509.0 MiB by 1.0 MiB *",
        "  beyond the 30.0 MiB in use before the test",
        "   500.0 MiB   98.0 %     1x  test_case.py:* allocate < test_peak:*",
        "    10.0 MiB    2.0 %     1x  test_case.py:* make < test_peak:*",
        "leak of GPU memory 5.0 MiB exceeds the limit of 4.0 MiB by 1.0 MiB *",
        "growth of GPU memory per step 3.0 MiB exceeds the limit of 2.0 MiB by 1.0 MiB *",
        " 510.0 MiB         0 B  509.0 MiB  *test_peak", "  *(limit of reserved memory: 510.0 MiB)"])


def test_cached_blocks_of_other_tests(run):
    """9 MiB are not served by a cached block of 10 MiB, which would count as a whole."""
    run("""
def test_first():
    make(10)

@pytest.mark.limit_vram("9 MiB")
def test_second():
    make(9)
""").assert_outcomes(passed=2)


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
