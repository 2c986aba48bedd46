# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: options, markers, and the measurement of each test.

    pytest --vramscope-simulate h100-80g

    @pytest.mark.limit_vram("2 GiB")
    def test_fits(): ...

pytest loads this module in every run in which vramscope is installed, so it imports nothing else of the
plugin before an option or a marker asks for it. With an option, pytest restarts itself under `vramscope
run` before it loads tests and captures output. Each test is then measured in the process that runs it,
also in workers of pytest-xdist; the figures travel in the reports of tests (`user_properties`), from
which the controller makes the table, as --junit-xml does its properties.
"""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generator, List, Optional

import pytest

if TYPE_CHECKING:
    from vramscope.pytest_limits import Limits
    from vramscope.pytest_measure import Measured
    from vramscope.pytest_table import Table

MARKERS = ("limit_vram", "limit_vram_growth", "limit_vram_leaks")
OFF_HINT = "--vramscope-off runs the tests without their limits"
_MEASURED: "pytest.StashKey[Measured]" = pytest.StashKey()
RESTARTED = "PYTEST_VRAMSCOPE_RESTARTED"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("vramscope", "GPU memory of tests (vramscope)")
    group.addoption("--vramscope", action="store_true",
                    help="measure the GPU memory of each test, on the GPU of this machine")
    group.addoption("--vramscope-simulate", metavar="DEVICE",
                    help="the same on a simulated GPU, such as h100-80g: no GPU is needed")
    group.addoption("--vramscope-off", action="store_true",
                    help="do not measure; the markers limit_vram, limit_vram_growth and limit_vram_leaks "
                         "have no effect")
    group.addoption("--vramscope-baseline", metavar="FILE",
                    help="fail tests that need more GPU memory than FILE says")
    group.addoption("--vramscope-update-baseline", action="store_true",
                    help="write the figures of the tests that pass to the file of --vramscope-baseline")
    group.addoption("--vramscope-tolerance", metavar="2%|SIZE", default="0",
                    help="how much more than the baseline is accepted (default: 0)")
    group.addoption("--vramscope-allow-uncomputed", action="store_true",
                    help="judge tests that read values which no kernel of the simulated GPU computed, although "
                         "their sizes may depend on them")
    group.addoption("--vramscope-top", metavar="N", type=int, default=10,
                    help="rows of the table at the end (default: 10; 0: all tests)")
    group.addoption("--vramscope-output", metavar="FOLDER",
                    help="where the traces are written (default: .vramscope in pytest's rootdir)")


def _wanted(options: Any) -> bool:
    """Does an option ask for a recorded process?"""
    return not options.vramscope_off and bool(
        options.vramscope or options.vramscope_simulate or options.vramscope_baseline)


# --- before the tests are loaded: restart under `vramscope run` ---

@pytest.hookimpl(hookwrapper=True, tryfirst=True)  # outside of the wrapper that starts the capture
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, None, None]:
    options = early_config.known_args_namespace
    if _wanted(options) and not getattr(options, "help", False) and "PYTEST_XDIST_WORKER" not in os.environ:
        from vramscope import library
        if not library.loaded():
            _restart(early_config, options)
    yield


def _restart(config: pytest.Config, options: Any) -> None:
    from vramscope import commands, library, pytest_table
    if os.environ.get(RESTARTED) == str(os.getppid()) or os.environ.get(RESTARTED) == str(os.getpid()):
        raise pytest.UsageError(
            "vramscope: pytest was started under `vramscope run`, but the library is not in the process: "
            "something removed LD_PRELOAD from its environment. `vramscope doctor` checks this machine; "
            + OFF_HINT)
    folder = os.path.abspath(options.vramscope_output or os.path.join(str(config.rootpath), ".vramscope"))
    try:
        pytest_table.prepare_folder(folder)
        os.environ[RESTARTED] = str(os.getpid())
        commands.restart(simulate=options.vramscope_simulate, options=["--quiet"],
                         output=os.path.join(folder.replace("%", "%%"), "pytest.%p.vst"))
    except OSError as error:
        raise pytest.UsageError(f"vramscope cannot write traces to {folder}: {error.strerror}. "
                                f"--vramscope-output names another folder") from None
    except library.Error as error:
        raise pytest.UsageError(f"--vramscope: {error}") from None


def pytest_configure(config: pytest.Config) -> None:
    common = "device=None, metric=\"allocated\", warmup=0"
    for line in (f"limit_vram(size, *, {common}): fail if the test needs more GPU memory than size, such as "
                 f"\"512 MiB\", beyond what was in use before it",
                 f"limit_vram_growth(size, *, skip=1, {common}): fail if GPU memory grows by more than "
                 f"size for each step after the first (vramscope.step(), NVTX ranges); in a test without steps, in "
                 f"all of it",
                 f"limit_vram_leaks(size=0, *, {common}): fail if the test leaves more GPU memory in use "
                 f"than there was before it"):
        config.addinivalue_line("markers", line)
    options = config.option
    if options.vramscope_update_baseline and not options.vramscope_baseline:
        raise pytest.UsageError("--vramscope-update-baseline needs --vramscope-baseline FILE, the file to "
                                "write")
    if options.vramscope_off:
        return
    plugin = _Session(config)
    config.pluginmanager.register(plugin, "vramscope-session")


# --- one run of pytest ---

class _Session:
    """The hooks of a run; in a process that is not recorded they only look for markers."""

    def __init__(self, config: pytest.Config) -> None:
        from vramscope import library
        self.config = config
        self.loaded = library.loaded()
        self.worker = hasattr(config, "workerinput")
        self.table: Optional["Table"] = None
        self.limits: Optional["Limits"] = None
        if self.loaded or _wanted(config.option):
            self._start()

    def _start(self) -> None:
        from vramscope.pytest_limits import Limits
        from vramscope.pytest_table import Table
        self.limits = Limits(self.config)
        self.table = Table(self.config)

    @pytest.hookimpl(trylast=True)  # after -k, -m and other plugins have chosen the tests
    def pytest_collection_modifyitems(self, items: List[pytest.Item]) -> None:
        marked = [item for item in items if any(item.get_closest_marker(name) for name in MARKERS)]
        if not marked:
            return
        if self.limits is None:
            self._start()
        assert self.limits is not None
        wrong = [f"{item.nodeid}: {text}" for item in marked for text in self.limits.read(item)]
        if wrong and not self.worker:  # the worker's tests report it: its own end would not be understood
            raise pytest.UsageError("limits of GPU memory that cannot be read:\n  " + "\n  ".join(wrong))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self.limits is None:
            return
        if self.limits.wrong(item):
            pytest.fail("\n".join(self.limits.wrong(item)), pytrace=False)
        if self.loaded:
            # before the fixtures, which would otherwise keep segments cached by another test
            from vramscope.pytest_measure import release_caches
            release_caches()
        if not self.limits.of(item):
            return
        if not self.loaded:
            name = self.limits.of(item)[0].marker
            pytest.fail(f"@pytest.mark.{name} needs a process that vramscope records. Run\n"
                        f"    pytest --vramscope-simulate h100-80g    on any machine\n"
                        f"    pytest --vramscope                      on a machine with a GPU\n"
                        f"({OFF_HINT})", pytrace=False)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        if not self.loaded or self.limits is None:
            yield
            return
        from vramscope.pytest_measure import Measured
        from vramscope.pytest_table import properties
        measured = Measured(item, self.limits.of(item))
        original = item.runtest

        def runtest() -> None:
            assert self.limits is not None
            measured.run(original)
            excess = self.limits.judge(item, measured)
            if excess:
                measured.exceeded = True
                pytest.fail(excess, pytrace=False)
        item.runtest = runtest  # type: ignore[method-assign]
        try:
            yield
        finally:
            item.__dict__.pop("runtest", None)
            item.stash[_MEASURED] = measured
            # a test that runs again (pytest-rerunfailures) has only its latest figures
            item.user_properties[:] = [p for p in item.user_properties if not p[0].startswith("vramscope_")]
            item.user_properties += properties(measured, self.limits.of(item),
                                               item.config.option.vramscope_update_baseline)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item,
                                  call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        outcome = yield
        measured = item.stash.get(_MEASURED, None)
        if call.when != "call" or measured is None:
            return
        report = outcome.get_result()
        text = measured.text_of_failure() if report.failed else ""
        if text:
            report.sections.append(("GPU memory at the peak of the test", text))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self.table is not None or any(name.startswith("vramscope_") for name, _ in report.user_properties):
            if self.table is None:
                self._start()  # in the controller of pytest-xdist, which sees no markers
            assert self.table is not None
            self.table.add(report)

    @pytest.hookimpl(hookwrapper=True, trylast=True)  # after the workers have ended, before the summary
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        if self.table is not None and not self.worker:
            self.table.update_baseline()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.table is not None and not self.worker:
            self.table.write(terminalreporter)


