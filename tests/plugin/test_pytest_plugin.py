# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin, run by pytest in a process of its own for each test, on the simulated GPU."""
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

import pytest
import unfolded

MIB = 1 << 20
SIMULATE = "--vramscope-simulate=t4-16g"


@pytest.fixture
def restarted(start, monkeypatch):
    """Runs pytest with the plugin and this folder's modules; returns its result."""
    monkeypatch.setenv("PYTHONPATH", f"{os.environ['PYTHONPATH']}:{pathlib.Path(__file__).parent}")
    return start


@pytest.fixture
def run(restarted, forked):
    """The same without the restart, where the first word is a device."""
    return lambda *words: (forked if words and words[0].startswith("--vramscope-simulate=") else restarted)(*words)


def write_tests(pytester, text):
    """Writes the test file of the case; returns the numbers of its lines by what they contain."""
    text = "import pytest, vramscope\nfrom plugin_gpu import allocate, free, select\n" + text
    pytester.path.joinpath("test_case.py").write_text(text, encoding="utf-8")
    return lambda part: next(i for i, line in enumerate(text.splitlines(), 1) if part in line)


PEAK = """
@pytest.fixture(scope="module")
def model():
    pointer = allocate(100)
    yield pointer
    free(pointer)

def forward():
    return allocate(4) # the large one

def twice():
    first = forward()
    second = allocate(2)
    free(first)
    free(second)

@pytest.mark.limit_vram("6 MiB")
def test_exact(model):
    twice()

@pytest.mark.limit_vram("6291455")
def test_one_byte_less(model):
    twice()
"""


def test_peak(pytester, run):
    """The limit is that of the test, without its fixtures; one byte decides."""
    line = write_tests(pytester, PEAK)
    result = run(SIMULATE, "--junit-xml=j.xml")
    result.assert_outcomes(passed=1, failed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines([
        "peak of GPU memory 6,291,456 bytes exceeds the limit of 6,291,455 bytes by 1 B (0.0 %) on device 0",
        "  @pytest.mark.limit_vram('6291455')",
        "  beyond the 100.0 MiB in use before the test",
        "allocated by the test and in use at its peak:",
        f"     4.0 MiB   66.7 %     1x  *plugin_gpu.py:* allocate < forward (test_case.py:{line('large one')}) < "
        f"twice:{line('first = ')} < test_one_byte_less:*",
        "     2.0 MiB   33.3 %     1x  *",
        "more: vramscope report .vramscope/pytest.*.vst --phase test:test_case.py::test_one_byte_less --at @*",
        "*GPU memory of tests (vramscope, simulated t4-16g)*",
        "   6.0 MiB         0 B    6.0 MiB  test_case.py::test_exact",
        "more: vramscope report .vramscope/pytest.*.vst"])
    assert "_inside" not in result.stdout.str() and "model" not in result.stdout.str()
    figures = properties(pytester, "j.xml")["test_exact"]
    assert figures["vramscope_gpu0_peak_bytes"] == str(6 * MIB), figures
    assert figures["vramscope_gpu0_total_peak_bytes"] == str(106 * MIB), figures
    assert figures["vramscope_limit_vram_bytes"] == str(6 * MIB), figures


def properties(pytester, name):
    """By test, the properties of a JUnit file."""
    tree = xml.etree.ElementTree.parse(pytester.path / name)
    return {case.get("name"): {p.get("name"): p.get("value") for p in case.iter("property")}
            for case in tree.iter("testcase")}


UNCOMPUTED = """
from plugin_gpu import count, read

@pytest.fixture(scope="module")
def counted():
    pointer = allocate(1)
    count(pointer)
    yield pointer
    free(pointer)

@pytest.mark.limit_vram("3 MiB")
def test_counts(counted):
    free(allocate(1 + read(counted)))

@pytest.mark.limit_vram("3 MiB")
def test_reads_nothing(counted):
    free(allocate(1))

@pytest.mark.limit_vram("1 MiB")
def test_exceeds(counted):
    free(allocate(2 + read(counted)))

def test_has_no_limit(counted):
    read(counted)
"""


def test_uncomputed_values(pytester, run):
    """A limit does not hold for a test that reads what no kernel computed, unless that is accepted."""
    line = write_tests(pytester, UNCOMPUTED)
    result = run(SIMULATE)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines([
        "cannot be checked: the test read values that were not computed, 1 time",
        f"*read < test_counts (test_case.py:{line('1 + read')})",
        "          4 B copied to the host, after kernel count",
        "sizes may depend on them; --vramscope-allow-uncomputed accepts that",
        "peak of GPU memory 2.0 MiB exceeds *",
        "cannot be checked: the test read values that were not computed, 1 time"])
    run(SIMULATE, "--vramscope-allow-uncomputed").assert_outcomes(passed=3, failed=1)


def test_uncomputed_values_and_a_baseline(pytester, run):
    write_tests(pytester, UNCOMPUTED.replace("@pytest.mark.limit_vram", "#"))
    baseline, write = "--vramscope-baseline=b.json", "--vramscope-update-baseline"
    run(SIMULATE, baseline, write).assert_outcomes(passed=1, failed=3)
    run(SIMULATE, baseline, write, "--vramscope-allow-uncomputed").assert_outcomes(passed=4)
    run(SIMULATE, baseline).assert_outcomes(passed=1, failed=3)
    run(SIMULATE, baseline, "--vramscope-allow-uncomputed").assert_outcomes(passed=4)


def test_peak_of_a_device(pytester, run):
    write_tests(pytester, """
@pytest.mark.limit_vram("2 MiB", device=1)
def test_other_device():
    free(allocate(9)); select(1); free(allocate(2))

@pytest.mark.limit_vram("2 MiB")
def test_each_device():
    free(allocate(1)); select(1); free(allocate(3))

@pytest.mark.limit_vram("1 MiB", device=7)
def test_no_such_device():
    free(allocate(1))

@pytest.mark.limit_vram("2 MiB", metric="reserved")
def test_reserved():
    select(0); free(allocate(1.5)); free(allocate(64))
""")
    result = run("--vramscope-simulate=t4-16g,devices=2", "--junit-xml=j.xml")
    result.assert_outcomes(passed=1, failed=3)
    assert properties(pytester, "j.xml")["test_other_device"]["vramscope_limit_vram_gpu1_bytes"] == str(2 * MIB)
    result.stdout.fnmatch_lines(["   9.0 MiB         0 B               0  test_case.py::test_other_device",
                                 "   2.0 MiB         0 B    2.0 MiB    1  test_case.py::test_other_device"])
    result.stdout.fnmatch_lines(["*exceeds the limit of 2.0 MiB by 1.0 MiB (50.0 %) on device 1",
                                 "*limit_vram('1 MiB', device=7): there is no device 7",
                                 "peak of reserved GPU memory * exceeds the limit of 2.0 MiB*"])


def test_peak_by_several_limits(pytester, run):
    """All limits of a test count, and all that are exceeded are reported; a method's replaces its class's."""
    write_tests(pytester, """
kept = []

@pytest.mark.limit_vram("4 MiB")
@pytest.mark.limit_vram("3 MiB", metric="reserved")
@pytest.mark.limit_vram_leaks(0)
def test_all():
    kept.append(allocate(6))

@pytest.mark.limit_vram("1 MiB")
class TestOwn:
    @pytest.mark.limit_vram("8 MiB")
    def test_own(self):
        free(allocate(8))
""")
    result = run(SIMULATE)
    result.assert_outcomes(passed=1, failed=1)
    text = result.stdout.str()
    for part in ("peak of GPU memory 6.0 MiB exceeds the limit of 4.0 MiB", "leak of GPU memory 6.0 MiB exceeds",
                 "peak of reserved GPU memory 20.0 MiB exceeds the limit of 3.0 MiB"):
        assert part in text, (part, text)
    command = next(line for line in text.splitlines() if line.startswith("more: vramscope report") and "--at" in line)
    shown = pytester.run("sh", "-c", command[len("more: "):]).stdout.str()  # not only the peak of the whole trace
    assert re.search(r"6\.0 MiB +100\.0 % +1× +allocate \(plugin_gpu\.py", shown), shown


def test_leaks(pytester, run):
    line = write_tests(pytester, """
kept = []

@pytest.mark.limit_vram_leaks("0")
def test_leak():
    kept.append(allocate(3)) # kept
    free(allocate(50))

@pytest.mark.limit_vram_leaks
def test_clean():
    free(allocate(50))

class Cycle:
    def __init__(self):
        self.me, self.pointer = self, allocate(5)
    def __del__(self):
        free(self.pointer)

@pytest.mark.limit_vram_leaks()
def test_cycle():
    Cycle()

@pytest.mark.limit_vram_leaks(warmup=2)
def test_warm():
    if len(kept) < 3:
        kept.append(allocate(1))

@pytest.mark.limit_vram_leaks("4 MiB")
class TestAccepted:
    def test_method(self):
        kept.append(allocate(4))
""")
    result = run(SIMULATE)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["leak of GPU memory 3.0 MiB exceeds the limit of 0 B by 3.0 MiB on device 0",
                                 "  in use before the test 0 B, after it 3.0 MiB",
                                 "allocated by the test and still in use:",
                                 f"     3.0 MiB  100.0 %     1x  * < test_leak (test_case.py:{line('# kept')})"])


def test_growth(pytester, run):
    line = write_tests(pytester, """
kept = []

def train(steps, mib):
    for number in range(steps):
        vramscope.step(number)
        batch = allocate(7)
        if not kept:
            kept.append(allocate(20)) # optimizer state of the first step
        if mib:
            kept.append(allocate(mib)) # grows
        free(batch)

@pytest.mark.limit_vram_growth("0")
def test_flat():
    train(5, 0)

@pytest.mark.limit_vram_growth("1 MiB")
def test_grows():
    train(5, 2)

@pytest.mark.limit_vram_growth("2 MiB")
def test_within():
    train(5, 2)

@pytest.mark.limit_vram_growth("0")
def test_too_few():
    train(2, 0)

@pytest.mark.limit_vram_growth("1 MiB")
def test_without_steps():
    kept.append(allocate(3))
""")
    result = run(SIMULATE)
    result.assert_outcomes(passed=2, failed=3)
    result.stdout.fnmatch_lines([
        "growth of GPU memory per step 2.0 MiB exceeds the limit of 1.0 MiB by 1.0 MiB (100.0 %) on device 0",
        "  6.0 MiB in 3 steps, from 22.0 MiB to 28.0 MiB",
        "allocated in these steps and still in use after them:",
        f"     6.0 MiB  100.0 %     3x  * < train (test_case.py:{line('# grows')}) < test_grows:*",
        "*limit_vram_growth('0') needs at least 3 steps in the test, which has 2*",
        "growth of GPU memory 3.0 MiB exceeds the limit of 1.0 MiB by 2.0 MiB (200.0 %) on device 0"])


LONG = """
import pytest, vramscope
from plugin_gpu import allocate, free
kept = []

def optimizer_step_with_a_long_name(mib):
    return allocate(mib)

def train_one_epoch_of_the_model(steps):
    for number in range(steps):
        vramscope.step(number)
        kept.append(optimizer_step_with_a_long_name(1 / 256))

@pytest.mark.limit_vram_growth("0")
def test_training_does_not_grow():
    allocate(80)
    train_one_epoch_of_the_model(5)

@pytest.mark.limit_vram_growth("0")
def test_too_few_steps():
    train_one_epoch_of_the_model(2)

@pytest.mark.limit_vram("1 MiB", metric="reserved")
@pytest.mark.parametrize("name", ["a name with spaces"])
def test_reserved(name):
    for mib in range(1, 5):
        free(optimizer_step_with_a_long_name(mib))

@pytest.mark.limit_vram("1 MiB")
def test_idle_with_a_limit_of_memory_that_it_does_not_need():
    pass

@pytest.mark.limit_vram("1 MiB")
def test_unused_with_a_limit_of_memory_that_it_does_not_need():
    pass
"""


def test_lines_have_80_columns(pytester, run):
    """A line that is longer has one path or name."""
    pytester.path.joinpath("test_with_a_long_name.py").write_text(LONG, encoding="utf-8")
    for words in ((), ("--vramscope-baseline=b.json", "--vramscope-update-baseline"),
                  ("-n", "2", "--vramscope-baseline=b.json")):
        result = run(SIMULATE, *words)
        result.assert_outcomes(passed=2, failed=3)
        text = result.stdout.str()
        for name in ("test_with_a_long_name.py::test_reserved[a name with spaces]", "12.0 KiB in 3 steps, from",
                     "optimizer_step_with_a_long_name (test_with_a_long_name.py:7) < train_one_epoch_of_the_model",
                     "needs at least 3 steps in the test, which has 2: the first 1 not counted (skip), and two"):
            assert name in text, (name, text)
        lines = [line for line in result.printed if len(line) > 80 and not line.startswith(("FAILED ", "rootdir:", "[gw"))]
        one_name = re.compile(r" {10}--phase ('.*'|\S+) \\| *([\d.]+ \w+ +){1,3}\S+( name with spaces\])?| {4}\S+|"
                              r" *[\d.]+ \w+ +[\d.]+ % +\d+x  \S+")
        assert lines and not [line for line in lines if not one_name.fullmatch(line)], lines
    commands = re.findall(r"^more: ((?:.* \\\n)+.*)", "\n".join(result.printed), re.MULTILINE)
    assert len(commands) == 2, commands
    for command in commands:  # as it is printed, in a shell
        assert pytester.run("sh", "-c", command).ret == 0, command


def test_small_growth_has_sizes_that_differ(pytester, run):
    """Not "from 80.0 MiB to 80.0 MiB"."""
    write_tests(pytester, """
@pytest.fixture(scope="module")
def model():
    pointer = allocate(80)
    yield pointer
    free(pointer)

@pytest.mark.limit_vram_growth("0")
def test_steps(model):
    kept = []
    for number in range(5):
        vramscope.step(number)
        kept.append(allocate(1 / 256))

@pytest.mark.limit_vram_leaks
def test_leak(model):
    allocate(1 / 256)
""")
    result = run(SIMULATE)
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["  12.0 KiB in 3 steps, from 83,890,176 bytes to 83,902,464 bytes",
                                 "  in use before the test 83,906,560 bytes, after it 83,910,656 bytes"])


def test_growth_of_marked_steps(pytester, run):
    """Ranges named like steps, of NVTX or of the C API, instead of vramscope.step()."""
    line = write_tests(pytester, """
kept = []

def train(name, mib, steps=5):
    for number in range(steps):
        with vramscope.range(name % number):
            kept.append(allocate(mib)) # grows

@pytest.mark.limit_vram_growth("2 MiB")
def test_grows():
    train("step %d", 3)

@pytest.mark.limit_vram_growth("3 MiB")
def test_within():
    train("iteration %d", 3)

@pytest.mark.limit_vram_growth("0", skip=4)
def test_too_few():
    train("ProfilerStep#%d", 3)

@pytest.mark.limit_vram_growth("15 MiB")
def test_other_ranges():
    train("layer %d", 3)
""")
    result = run(SIMULATE)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines([
        "growth of GPU memory per step 3.0 MiB exceeds the limit of 2.0 MiB by 1.0 MiB (50.0 %) on device 0",
        "  9.0 MiB in 3 steps, from 3.0 MiB to 12.0 MiB",
        "allocated in these steps and still in use after them:",
        f"     9.0 MiB  100.0 %     3x  * < train (test_case.py:{line('# grows')}) < test_grows:*",
        "*limit_vram_growth('0', skip=4) needs at least 6 steps in the test, which has 5*"])


RESERVED = """
kept = []

def test_large():
    free(allocate(200))

def test_leak():
    kept.append(allocate(0.01))

@pytest.mark.limit_vram("1 MiB", metric="reserved")
def test_held():
    free(allocate(1.5))

@pytest.mark.limit_vram("70 MiB", metric="reserved")
def test_fits():
    free(allocate(33)); free(allocate(17))

@pytest.mark.limit_vram_leaks("0", metric="reserved")
def test_clean():
    free(allocate(40))
"""


def test_reserved_memory_of_other_tests(pytester, run, monkeypatch):
    """With a caching allocator: what other tests left cached changes no verdict, in any order."""
    write_tests(pytester, RESERVED)
    monkeypatch.setenv("VRAMSCOPE_ALLOCATOR", "caching")
    limited = ["test_held", "test_fits", "test_clean"]
    orders = [[name] for name in limited] + [["test_large", "test_leak", *limited],
                                             [*reversed(limited), "test_large", "test_leak", *limited]]
    texts = []
    for order in orders:
        result = run(SIMULATE, *(f"test_case.py::{name}" for name in order))
        failed = 1 if "test_held" in order else 0
        result.assert_outcomes(passed=len(set(order)) - failed, failed=failed)
        texts += [line for line in result.stdout.lines if line.startswith("peak of reserved GPU memory ")]
    assert len(texts) == 3, texts
    run(SIMULATE, "-n", "2").assert_outcomes(passed=4, failed=1)


def test_baseline_names_what_is_new(pytester, run):
    """Five other lines hold more than the planted one."""
    lines = "".join(f"    held.append(allocate({100 + i}))\n" for i in range(6))
    text = f"def test_c():\n    held = []\n{lines}{{planted}}    for one in held:\n        free(one)\n"
    arguments = (SIMULATE, "--vramscope-baseline=b.json", "--vramscope-tolerance=2%")
    write_tests(pytester, text.format(planted=""))
    run(*arguments, "--vramscope-update-baseline").assert_outcomes(passed=1)
    write_tests(pytester, "# an edit above\n" + text.format(planted="    held.append(allocate(30))\n"))
    result = run(*arguments)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*more than in the baseline:", "*+30.0 MiB new    *test_c (test_case.py:12)*",
                                 "*more: vramscope report * --top 7"])
    assert "+" not in "".join(line for line in result.outlines if "MiB grown" in line), result.stdout.str()
    write_tests(pytester, text.replace("allocate(103)", "allocate(133)").format(planted=""))
    run(*arguments).stdout.fnmatch_lines(["*+30.0 MiB grown  *test_c (test_case.py:8)*"])


KEEPING = """
import os
more = int(os.environ.get("MORE"))
kept = []

def test_other_line():
    first = allocate(32)
    kept.append(allocate(1 + more)) # kept 1
    if more:
        free(allocate(20)) # temporary
    free(first)

def test_after_the_peak():
    free(allocate(32 + more)) # before
    kept.append(allocate(1 + more)) # kept 2

def test_many_lines():
    pointers = [allocate(20), *([allocate(1),
        allocate(1),
        allocate(1),
        allocate(1),
        allocate(1),
        allocate(1)] if more else [])]
    free(pointers[0])

def test_new_device():
    select(1 if more else 0)
    kept.append(allocate(8)) # kept 3
    select(0)

def test_explained():
    first = allocate(32)
    kept.append(allocate(1 + more)) # kept 4
    free(first)
"""


def test_baseline_of_memory_kept_and_of_the_peak(pytester, run, monkeypatch):
    """Both are reported, unless the memory that is kept is all that raised the peak, and its lines are named."""
    line = write_tests(pytester, KEEPING)
    words = ("--vramscope-simulate=t4-16g,devices=2", "--vramscope-baseline=b.json")
    monkeypatch.setenv("MORE", "0")
    run(*words, "--vramscope-update-baseline").assert_outcomes(passed=5)
    monkeypatch.setenv("MORE", "2")
    result = run(*words)
    result.assert_outcomes(failed=5)
    kept = "GPU memory still in use after the test {} exceeds the baseline of {} by * on device {}".format
    both = "this memory also raised the peak, from {} in the baseline to {}".format
    result.stdout.fnmatch_lines([
        kept("3.0 MiB", "1.0 MiB", 0), f"     3.0 MiB  100.0 % * (test_case.py:{line('# kept 1')})*",
        "peak of GPU memory 55.0 MiB exceeds the baseline of 33.0 MiB by 22.0 MiB (66.7 %) on device 0",
        f"   +20.0 MiB new * (test_case.py:{line('# temporary')})*",
        f"    +2.0 MiB grown * (test_case.py:{line('# kept 1')})*",
        kept("3.0 MiB", "1.0 MiB", 0), f"     3.0 MiB  100.0 % * (test_case.py:{line('# kept 2')})*",
        "peak of GPU memory 34.0 MiB exceeds the baseline of 32.0 MiB by 2.0 MiB (6.2 %) on device 0",
        f"    +2.0 MiB grown * (test_case.py:{line('# before')})*",
        kept("6.0 MiB", "0 B", 0), "*at 1 more call site*",
        "peak of GPU memory 26.0 MiB exceeds the baseline of 20.0 MiB by 6.0 MiB (30.0 %) on device 0",
        kept("8.0 MiB", "0 B", 1), "  b.json, tolerance 0 %", "  " + both("0 B", "8.0 MiB"),
        kept("3.0 MiB", "1.0 MiB", 0), "  b.json, tolerance 0 %", "  " + both("33.0 MiB", "35.0 MiB"),
        f"     3.0 MiB  100.0 % * (test_case.py:{line('# kept 4')})*"])
    text = result.stdout.str()
    assert (text.count("peak of GPU memory"), text.count("also raised the peak")) == (3, 2), text


STOPPED = """
import os
stops = bool(os.environ.get("STOPS"))
kept = []

def test_before():
    free(allocate(10))

def test_peak():
    first = allocate(3) # recorded
    if stops:
        vramscope.stop()
    free(allocate(6 if stops else 5))
    free(first)

def test_stopped():
    free(allocate(8))

@pytest.mark.limit_vram_growth("1 MiB")
@pytest.mark.limit_vram_leaks("1 MiB")
def test_steps():
    for number in range(4):
        with vramscope.range(f"step {number}"):
            kept.append(allocate(4))

def test_fails():
    free(allocate(9))
    assert False

def test_after():
    if stops:
        vramscope.start()
    free(allocate(2))
"""
STOP = "the program stopped the recording"
MISSING = f"call sites are missing: {STOP}"


def test_baseline_and_sites_of_a_stopped_recording(pytester, run, monkeypatch):
    """A failing test says that call sites are missing, and an update keeps those from before."""
    write_tests(pytester, STOPPED)
    words = (SIMULATE, "--vramscope-baseline=b.json")
    monkeypatch.setenv("STOPS", "1")
    result = run(*words, "--vramscope-update-baseline")
    assert f"the baseline has no new call sites of test_case.py::test_peak, test_case.py::test_stopped: {STOP}" \
        in result.stdout.lines, result.stdout.str()
    path = pytester.path / "b.json"
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    assert [bool(tests[f"test_case.py::{name}"]["0"]["sites"]) for name in ("test_before", "test_peak", "test_stopped",
            "test_after")] == [True, False, False, True], tests

    monkeypatch.setenv("STOPS", "")
    run(*words, "--vramscope-update-baseline").assert_outcomes(passed=4, failed=2)
    first = json.loads(path.read_text(encoding="utf-8"))["tests"]
    monkeypatch.setenv("STOPS", "1")
    result = run(*words)
    result.assert_outcomes(passed=3, failed=3)
    result.stdout.fnmatch_lines([
        "peak of GPU memory 9.0 MiB exceeds the baseline of 8.0 MiB by 1.0 MiB *", "  b.json, tolerance 0 %",
        f"{MISSING} (6.0 MiB of the peak)", "growth of GPU memory per step 4.0 MiB exceeds the limit of 1.0 MiB *",
        f"     8.0 MiB  100.0 %         {MISSING}", "leak of GPU memory 16.0 MiB exceeds the limit of 1.0 MiB *",
        f"    16.0 MiB  100.0 %         {MISSING}", "device 0: 9.0 MiB allocated by the test at its peak*",
        f"     9.0 MiB  100.0 %         {MISSING}",
        "more: vramscope report .vramscope/pytest.*.vst --phase *test_fails*"])

    result = run(*words, "--vramscope-update-baseline")
    assert "the baseline has no new call sites of test_case.py::test_peak, test_case.py::test_stopped: " \
        f"{STOP} (those from before are kept)" in result.stdout.lines, result.stdout.str()
    second = json.loads(path.read_text(encoding="utf-8"))["tests"]
    assert second["test_case.py::test_peak"]["0"] == {**first["test_case.py::test_peak"]["0"], "peak": 9 * MIB}, second
    assert second["test_case.py::test_stopped"] == first["test_case.py::test_stopped"], second


def test_sites_of_a_device_that_the_trace_lacks(pytester, run):
    """Text, not an exception of Python."""
    pytester.path.joinpath("conftest.py").write_text("""
from vramscope import trace_report
original = trace_report.Trace.windows
trace_report.Trace.windows = lambda *words: [[] for _ in original(*words)]
""", encoding="utf-8")
    write_tests(pytester, """
def test_fails():
    free(allocate(9))
    assert False

def test_passes():
    free(allocate(9))
""")
    result = run(SIMULATE, "--vramscope-baseline=b.json", "--vramscope-update-baseline")
    result.stdout.fnmatch_lines([
        "call sites are missing: the trace has no memory of device 0",
        "the baseline has no new call sites of test_case.py::test_passes: the trace has no memory of device 0"])


COUNTED = """
import os
from vramscope import commands
original = commands.output_of

def counted(words, *rest, **more):
    with open("readings.txt", "a") as file:
        if "--to=@1" not in words:  # the first record alone: when the trace begins
            file.write(words[0] + "\\n")
    return original(words, *rest, **more)
commands.output_of = counted
"""


def test_baseline_update_reads_each_trace_once(pytester, run, monkeypatch):
    """Also where a test fails, and where a test ends its worker."""
    pytester.path.joinpath("conftest.py").write_text(COUNTED, encoding="utf-8")
    write_tests(pytester, """
import os
@pytest.mark.parametrize("mib", range(2, 12, 2))
def test_sized(mib):
    held = allocate(mib)
    free(held)

def test_failing():
    assert False

def test_last():
    free(allocate(20))
    if os.environ.get("END"):
        os._exit(1)
""")
    readings, path = pytester.path / "readings.txt", pytester.path / "b.json"
    for words, end, failed, passed, traces in (((), "", 1, 6, 1), (("-n", "2"), "", 1, 6, 2),
                                               (("-n", "1"), "1", 2, 5, 1)):
        monkeypatch.setenv("END", end)
        result = run(SIMULATE, "--vramscope-baseline=b.json", "--vramscope-update-baseline", *words)
        result.assert_outcomes(passed=passed, failed=failed)
        assert readings.read_text(encoding="utf-8").split() == ["report"] * traces, result.stdout.str()
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
        assert len(tests) == passed and "test_case.py::test_failing" not in tests
        for mib in range(2, 12, 2):
            assert tests[f"test_case.py::test_sized[{mib}]"]["0"]["sites"] == {
                "allocate (plugin_gpu.py) < test_sized (test_case.py)": [mib * MIB]}
        readings.unlink()
        path.unlink()


def test_baseline_in_any_order(pytester, run):
    """A request is not served by a larger block that another test left in the cache."""
    write_tests(pytester, """
@pytest.mark.parametrize("mib", [10, 11, 14, 16, 20, 3, 5])
def test_sized(mib):
    free(allocate(mib))
""")
    texts = []
    order = [f"test_case.py::test_sized[{mib}]" for mib in (20, 3, 10, 11, 5, 16, 14)]
    for words in ((), ("-n", "2"), order):
        run(SIMULATE, "--vramscope-baseline=b.json", "--vramscope-update-baseline", *words).assert_outcomes(passed=7)
        texts.append(pytester.path.joinpath("b.json").read_text(encoding="utf-8"))
        pytester.path.joinpath("b.json").unlink()
    assert texts[0] == texts[1] == texts[2] and len(json.loads(texts[0])["tests"]) == 7, texts


def test_reserved_memory_adds_up(pytester, run, monkeypatch):
    """The call sites and the cached memory are the peak of reserved memory."""
    line = write_tests(pytester, """
@pytest.fixture
def model():
    pointer = allocate(12)
    yield pointer
    free(pointer)

@pytest.mark.limit_vram("30 MiB", metric="reserved")
def test_two_peaks(model):
    free(allocate(20)) # first
    second = allocate(50) # second
    free(second)
""")
    monkeypatch.setenv("VRAMSCOPE_ALLOCATOR", "caching")
    result = run(SIMULATE)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "peak of reserved GPU memory 70.0 MiB exceeds the limit of 30.0 MiB by 40.0 MiB (133.3 %) on device 0",
        "  beyond the 12.0 MiB in use before the test", "held at this peak:",
        f"    50.0 MiB   71.4 %     1x  * < test_two_peaks (test_case.py:{line('# second')})*",
        "    20.0 MiB   28.6 %         cached but unused"])


def test_phases_of_the_trace(pytester, run):
    """`vramscope check` knows each test, and agrees with the plugin."""
    write_tests(pytester, """
def test_small():
    free(allocate(2))

def test_large():
    free(allocate(5))
""")
    run(SIMULATE).assert_outcomes(passed=2)
    trace, = pytester.path.glob(".vramscope/pytest.*.vst")
    for limit, status in (("4MiB", 1), ("5MiB", 0)):
        pytester.path.joinpath("b.toml").write_text(
            f'[[limit]]\ntest = "test_case.py::test_large"\nmax-peak = "{limit}"\n', encoding="utf-8")
        result = pytester.run("vramscope", "check", str(trace), "--budget", "b.toml", timeout=600)
        assert result.ret == status, result.stdout.str()
    report = json.loads(pytester.run("vramscope", "report", "--json", str(trace)).stdout.str())
    assert {"test:test_case.py::test_small", "test:test_case.py::test_large"} <= {
        phase["name"] for phase in report["phases"]}
    # a test without the peak of the trace: what it held at its own peak
    small = pytester.run("vramscope", "report", "--phase", "test:test_case.py::test_small", str(trace))
    small.stdout.fnmatch_lines(["  peak of the phase      2.0 MiB *", "  live at the phase's peak: 2.0 MiB in 1 block",
                                "*< test_small (test_case.py:*"])


FAILING = """
def test_wrong():
    pointer = allocate(9)
    free(pointer)
    assert 1 == 2

def test_out_of_memory():
    allocate(1 << 30)

def test_host_only():
    assert 1 == 3

@pytest.mark.xfail(strict=True)
@pytest.mark.limit_vram("1 MiB")
def test_expected():
    free(allocate(2))

@pytest.mark.skip
@pytest.mark.limit_vram("1 MiB")
def test_skipped():
    pass
"""


def test_sites_of_failing_tests(pytester, run):
    line = write_tests(pytester, FAILING)
    result = run(SIMULATE)
    result.assert_outcomes(failed=3, xfailed=1, skipped=1)
    result.stdout.fnmatch_lines(["E       assert 1 == 2",
                                 "*GPU memory at the peak of the test*",
                                 "device 0: 9.0 MiB allocated by the test at its peak",
                                 f"     9.0 MiB  100.0 %     1x  * < test_wrong (test_case.py:{line('(9)')})"])
    text = result.stdout.str()
    assert text.count("GPU memory at the peak of the test") == 1, text


def test_workers(pytester, run):
    """pytest-xdist: each worker has a trace; one table, one baseline, the same figures."""
    write_tests(pytester, PEAK + """
@pytest.mark.parametrize("mib", [1, 2, 3, 4, 5, 6])
def test_sized(mib):
    free(allocate(mib))
""")
    outputs = []
    for words in ((), ("-n", "2")):
        result = run(SIMULATE, "--vramscope-top=0", "--vramscope-baseline=b.json", "--vramscope-update-baseline",
                     *words)
        result.assert_outcomes(passed=7, failed=1)
        lines = result.stdout.lines
        outputs.append([text for text in lines if "::test_" in text and " MiB " in text and text.startswith(" ")])
        outputs.append(pytester.path.joinpath("b.json").read_text(encoding="utf-8"))
        pytester.path.joinpath("b.json").unlink()
        result.stdout.fnmatch_lines(["peak of GPU memory 6,291,456 bytes exceeds*", "more: vramscope report .vr*"])
    assert outputs[0] == outputs[2] and len(outputs[0]) == 8, outputs
    assert outputs[1] == outputs[3] and len(json.loads(outputs[1])["tests"]) == 7, outputs


def test_baseline(pytester, run):
    case = """
kept = []

def test_a():
    free(allocate({a}))

def test_b():
    free(allocate(50))

def test_c():
    kept.append(allocate(1 + {c}))
    free(allocate(30))
"""
    path = pytester.path / "base.json"
    write_tests(pytester, case.format(a=100, c=0))
    result = run(SIMULATE, "--vramscope-baseline=base.json")
    assert result.ret == 4
    result.stderr.fnmatch_lines(["*there is no base.json. Write it once with --vramscope-update-baseline*"])
    result = run(SIMULATE, "--vramscope-baseline=base.json", "--vramscope-update-baseline")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["baseline base.json: 3 of 3 tests changed"])
    first = json.loads(path.read_text(encoding="utf-8"))
    assert first["tests"]["test_case.py::test_c"] ["0"].items() >= {"peak": 31 * MIB, "kept": MIB}.items(), first
    run(SIMULATE, "--vramscope-baseline=base.json").assert_outcomes(passed=3)

    write_tests(pytester, case.format(a=102, c=0.5) + "\ndef test_new():\n    free(allocate(1))\n")
    for tolerance, failed in (("0", 2), ("2%", 1), ("1 MiB", 1), ("1%", 2), ("3MiB", 0)):
        result = run(SIMULATE, "--vramscope-baseline=base.json", f"--vramscope-tolerance={tolerance}")
        result.assert_outcomes(passed=4 - failed, failed=failed)
    result = run(SIMULATE, "--vramscope-baseline=base.json")
    result.stdout.fnmatch_lines([
        "peak of GPU memory 102.0 MiB exceeds the baseline of 100.0 MiB by 2.0 MiB (2.0 %) on device 0",
        "  base.json, tolerance 0 %", "more than in the baseline:", "*+2.0 MiB grown *",
        "*GPU memory still in use after the test 1.5 MiB exceeds the baseline of 1.0 MiB by 512.0 KiB*",
        "not in the baseline base.json, so not compared: test_case.py::test_new (*"])
    # an update of a part keeps the rest
    run(SIMULATE, "--vramscope-baseline=base.json", "--vramscope-update-baseline", "-k", "test_a")
    second = json.loads(path.read_text(encoding="utf-8"))
    assert second["tests"]["test_case.py::test_a"]["0"]["peak"] == 102 * MIB
    assert second["tests"]["test_case.py::test_c"] == first["tests"]["test_case.py::test_c"]
    path.write_text('{"schema": "vramscope.baseline/1"}', encoding="utf-8")
    result = run(SIMULATE, "--vramscope-baseline=base.json")
    assert result.ret == 4 and "vramscope.pytest-baseline/1" in result.stderr.str()


def test_unrecorded(pytester, restarted):
    """Without an option a test with a limit is an error, which says what to type; others run."""
    text = PEAK + "\ndef test_other():\n    pass\n"
    pytester.path.joinpath("test_case.py").write_text("import pytest\n" + text, encoding="utf-8")
    result = restarted()
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["@pytest.mark.limit_vram needs a process that vramscope records*",
                                 "    pytest --vramscope-simulate h100-80g    on any machine"])
    pytester.path.joinpath("test_case.py").write_text(
        "import pytest\n@pytest.mark.limit_vram('1 MiB')\ndef test_off():\n    pass\n", encoding="utf-8")
    restarted("--vramscope-off", SIMULATE).assert_outcomes(passed=1)
    assert not pytester.path.joinpath(".vramscope").exists()


def test_unused(pytester, restarted):
    """Without options and markers nothing more of the package is loaded, and nothing is printed."""
    pytester.path.joinpath("test_case.py").write_text("""
import sys
def test_modules():
    loaded = [m for m in sys.modules if m.startswith(("vramscope.pytest_", "torch"))]
    assert loaded == ["vramscope.pytest_plugin"], loaded
""", encoding="utf-8")
    result = restarted()
    result.assert_outcomes(passed=1)
    assert "GPU memory" not in result.stdout.str()


WRONG_MARKS = {
    'limit_vram("2 Gigs")': "'2 Gigs' is not a size", "limit_vram()": "limit_vram() missing 1 required",
    "limit_vram(-1)": "-1 is not a size", 'limit_vram("1.5")': "'1.5' is not a size",
    "limit_vram(1, metrics=2)": "unexpected keyword argument 'metrics'",
    "limit_vram(1, metric='peak')": "metric='peak' is not one of 'allocated', 'reserved'",
    "limit_vram_growth(1, skip=-1)": "skip=-1 is not a number",
    "limit_vram_leaks(0, device='0')": "device='0' is not a number"}


def test_wrong_markers(pytester, restarted):
    text = "".join(f"@pytest.mark.{mark}\ndef test_{i}():\n    pass\n" for i, mark in enumerate(WRONG_MARKS))
    pytester.path.joinpath("test_case.py").write_text("import pytest\n" + text, encoding="utf-8")
    result = restarted()
    assert result.ret == 4, result.stdout.str()
    for i, text in enumerate(WRONG_MARKS.values()):
        lines = [line for line in result.errlines if f"test_case.py::test_{i}: " in line]
        assert len(lines) == 1 and text in lines[0], (text, result.stderr.str())


def test_wrong_marker_in_workers(pytester, run):
    pytester.path.joinpath("test_case.py").write_text(
        "import pytest\n@pytest.mark.limit_vram('many')\ndef test_it():\n    pass\n", encoding="utf-8")
    result = run(SIMULATE, "-n1")
    result.assert_outcomes(errors=1)
    assert "'many' is not a size" in result.stdout.str()


@pytest.mark.parametrize("words, text", [
    (("--vramscope-update-baseline",), "needs --vramscope-baseline FILE"),
    ((SIMULATE, "--vramscope-tolerance=x"), "'x' is not a tolerance"),
    ((SIMULATE, "--vramscope-tolerance=5"), "'5' needs a unit: 5% or 5MiB?"),
    ((SIMULATE, "--vramscope-output=test_case.py"), "cannot write traces to ")])
def test_wrong_option(pytester, restarted, words, text):
    pytester.path.joinpath("test_case.py").write_text("def test_it():\n    pass\n", encoding="utf-8")
    result = restarted(*words)
    assert result.ret == 4 and text in result.stderr.str(), (result.ret, result.stderr.str())


def test_restart_keeps_the_command_line(pytester, restarted, monkeypatch):
    """Arguments, exit status, colours, captured output and the working folder; options of addopts too."""
    pytester.path.joinpath("pytest.ini").write_text(f"[pytest]\naddopts = {SIMULATE}\n", encoding="utf-8")
    write_tests(pytester, """
import os, sys
print("imported", file=sys.stderr)

def test_words():
    assert vramscope.loaded() and "a b 'c'" in sys.orig_argv[-1] and os.path.exists("test_case.py")
    print("hidden")

def test_empty(capfd):
    os.write(1, b"x")
    assert capfd.readouterr().out == "x"
""")
    result = restarted("--color=yes", "-k", "words or empty",
                 "-o", "junit_suite_name=a b 'c'")
    assert "\x1b[" in result.stdout.str() and "2 passed" in result.stdout.str(), result.stdout.str()
    assert "hidden" not in result.stdout.str() and result.ret == 0
    assert restarted("-k", "nothing_of_this").ret == 5
    assert len(list(pytester.path.glob(".vramscope/pytest.*.vst"))) <= 1, "traces of earlier runs stay"


def test_restart_in_a_folder_with_a_percent_sign(pytester, restarted):
    """A checkout of the branch feature/x is often named feature%2Fx."""
    write_tests(pytester, PEAK)
    result = restarted(SIMULATE, "--vramscope-output=feature%2Fx%p")
    result.assert_outcomes(passed=1, failed=1)
    assert list(pytester.path.glob("feature%2Fx%p/pytest.*.vst"))


def test_restart_of_the_script(pytester, restarted):
    """`pytest` instead of `python -m pytest`; a test that changes the folder changes no path."""
    write_tests(pytester, """
import os

def test_folder(tmp_path):
    os.chdir(tmp_path)
    free(allocate(1))
    assert 0
""")
    script = pathlib.Path(sys.executable).with_name("pytest")
    if not script.exists():
        pytest.skip("no script pytest beside this Python")
    result = unfolded.result(pytester.run(
        script, "-p", "vramscope.pytest_plugin", SIMULATE, "--vramscope-output=out", "--vramscope-baseline=b.json",
        "--vramscope-update-baseline", timeout=600))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["more: vramscope report out/pytest.*.vst --phase test:test_case.py::test_folder --at @*",
                                 "baseline b.json: 0 of 0 tests changed; failed tests (1) keep their figures"])
    assert pytester.path.joinpath("b.json").exists() and list(pytester.path.glob("out/pytest.*.vst"))


def test_under_run(pytester, restarted):
    """Somebody else started `vramscope run`: the plugin measures, and starts nothing."""
    write_tests(pytester, PEAK)
    result = unfolded.result(pytester.run(
        "vramscope", "run", "-q", "--simulate", "t4-16g", "-o", "own.vst", "--", sys.executable, "-m", "pytest", "-p",
        "vramscope.pytest_plugin", timeout=600))
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["more: vramscope report own.vst --phase *"])


def test_limit_without_gpu_memory(pytester, run):
    write_tests(pytester, "\n@pytest.mark.limit_vram('1 MiB')\ndef test_idle():\n    pass\n")
    result = run(SIMULATE)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["with a limit, but used no GPU memory: test_case.py::test_idle"])


def test_rows(pytester, run):
    write_tests(pytester, """
@pytest.mark.parametrize("mib", range(1, 13))
def test_sized(mib):
    free(allocate(mib))
""")
    result = run(SIMULATE)
    result.stdout.fnmatch_lines(["  12.0 MiB         0 B             test_case.py::test_sized[[]12]",
                                 "10 of the 12 tests that used GPU memory; --vramscope-top=0 shows all"])
    assert "test_sized[2]" not in result.stdout.str()
    assert "test_sized[2]" in run(SIMULATE, "--vramscope-top=0").stdout.str()
