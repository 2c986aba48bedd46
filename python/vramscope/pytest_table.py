# SPDX-License-Identifier: Apache-2.0
"""The figures of all tests of a run, collected from their reports: the table at the end, properties for
--junit-xml, and the baseline. With pytest-xdist this is the controller, and the tests ran elsewhere."""
from __future__ import annotations

import os
import re
import shlex
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from vramscope import library, pytest_baseline
from vramscope.pytest_lines import fold, whole
from vramscope.pytest_held import peak_of
from vramscope.pytest_sites import LIST, SiteNames
from vramscope.pytest_sizes import size_text
from vramscope.trace_report import Trace, WindowPeak

_WINDOW = re.compile(r"vramscope_gpu([0-9]+)_window_ns")
_PROPERTY = re.compile(r"vramscope_gpu([0-9]+)_(peak|kept|total_peak)_bytes")
_LIMIT = re.compile(r"vramscope_limit_vram(_reserved)?(?:_gpu([0-9]+))?_bytes")
_TRACE = re.compile(r"pytest\.([0-9]+)\.vst(?:\.live)?")


def prepare_folder(folder: str) -> None:
    """Make the folder of the traces, and remove those of earlier runs. OSError."""
    os.makedirs(folder, exist_ok=True)
    ignored = os.path.join(folder, ".gitignore")
    if not os.listdir(folder):
        with open(ignored, "w", encoding="utf-8") as file:
            file.write("*\n")
    for name in os.listdir(folder):
        match = _TRACE.fullmatch(name)
        if match and not os.path.exists(f"/proc/{match[1]}"):
            os.unlink(os.path.join(folder, name))
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "Permission denied", folder)


def properties(measured: Any, limits: List[Any], with_window: bool) -> List[Tuple[str, Any]]:
    """The figures of a test for its report; *with_window*: and when it ran, for the call sites of a baseline."""
    found: List[Tuple[str, Any]] = []
    for device, figures in sorted(measured.devices.items()):
        if figures.used:
            name = f"vramscope_gpu{device}"
            found += [(f"{name}_peak_bytes", figures.peak_of("allocated")),
                      (f"{name}_kept_bytes", figures.kept_of("allocated")),
                      (f"{name}_total_peak_bytes", figures.peak.allocated)]
            if with_window:
                found.append((f"{name}_window_ns", f"{figures.begin.time_ns} {figures.end.time_ns}"))
    for limit in limits:
        metric = "_reserved" if limit.metric == "reserved" else ""
        device = "" if limit.device is None else f"_gpu{limit.device}"
        found.append((f"vramscope_{limit.marker}{metric}{device}_bytes", limit.bytes))
    if measured.trace:
        found.append(("vramscope_trace", measured.trace_name()))
    return found


class Row:
    """One test."""

    def __init__(self, report: Any) -> None:
        self.test, self.passed = str(report.nodeid), bool(report.passed)
        self.devices: Dict[int, Dict[str, int]] = {}
        self._limits: Dict[Tuple[bool, Optional[int]], int] = {}  # of reserved memory or not, of a device
        self.trace: Optional[str] = None
        self.marked = False
        self.windows: Dict[int, Tuple[int, int]] = {}  # when it ran, by device
        self.sites: Dict[int, Dict[str, List[int]]] = {}  # at the peak, for a baseline
        for name, value in report.user_properties:
            window = _WINDOW.fullmatch(name)
            if window:
                begin, end = str(value).split()
                self.windows[int(window[1])] = int(begin), int(end)
            match, limit = _PROPERTY.fullmatch(name), _LIMIT.fullmatch(name)
            if limit:
                self._limits[bool(limit[1]), int(limit[2]) if limit[2] else None] = int(value)
            elif match:
                self.devices.setdefault(int(match[1]), {})[match[2]] = int(value)
            elif name == "vramscope_trace":
                self.trace = str(value)
            self.marked = self.marked or name.startswith("vramscope_limit_")

    def limit(self, device: int, reserved: bool = False) -> Optional[int]:
        """That of the peak on *device*; the lower one if there are two."""
        found = [self._limits[key] for key in ((reserved, device), (reserved, None)) if key in self._limits]
        return min(found, default=None)

    def entry(self, stored: Mapping[str, Mapping[str, Any]]) -> Dict[str, Dict[str, Any]]:
        """For the baseline. Where call sites are missing, those of the *stored* entry."""
        return {str(d): {"peak": f["peak"], "kept": f["kept"],
                         "sites": self.sites.get(d, stored.get(str(d), {}).get("sites", {}))}
                for d, f in self.devices.items()}

    @property
    def peak(self) -> int:
        return max((f["peak"] for f in self.devices.values()), default=0)


class Table:
    """Rows by test; the last run of a test counts."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.rows: Dict[str, Row] = {}
        self.messages: List[str] = []

    def add(self, report: Any) -> None:
        if report.when == "call" and not report.skipped:
            self.rows[report.nodeid] = Row(report)

    # --- the baseline ---

    def update_baseline(self) -> None:
        options = self.config.option
        if not options.vramscope_update_baseline:
            return
        path = pytest_baseline.path_of(self.config)
        entries = pytest_baseline.read(path) if os.path.exists(path) else {}
        without = self._find_sites([row for row in self.rows.values() if row.passed and row.windows])
        passed = {row.test: row.entry(entries.get(row.test, {})) for row in self.rows.values()
                  if row.passed and row.devices}
        for row in self.rows.values():
            if row.passed and not row.devices:
                entries.pop(row.test, None)
        changed = sum(1 for test, entry in passed.items() if entries.get(test) != entry)
        try:
            pytest_baseline.write(path, {**entries, **passed})
        except OSError as error:
            self.messages.append(f"the baseline {whole(options.vramscope_baseline)} could not be written: {error.strerror}")
            return
        failed = sum(1 for row in self.rows.values() if not row.passed)
        self.messages.append(f"baseline {whole(options.vramscope_baseline)}: {changed} of {len(passed)} tests changed"
                             + (f"; failed tests ({failed}) keep their figures" if failed else ""))
        for why, tests in without.items():
            some = any(device["sites"] for test in tests for device in entries.get(test, {}).values())
            self.messages.append(f"the baseline has no new call sites of {_some(tests)}: {why}"
                                 + (" (those from before are kept)" if some else ""))

    def _find_sites(self, rows: List[Row]) -> Dict[str, List[str]]:
        """What call sites hold at the peaks of the tests. Each trace is read once, for all of its tests. Returns the
        tests whose call sites are missing, by why."""
        by_trace: Dict[str, List[Tuple[Row, int]]] = {}
        for row in rows:
            for device in row.windows:
                by_trace.setdefault(row.trace or "", []).append((row, device))
        library.flush()
        names = SiteNames(str(self.config.rootpath))
        without: Dict[str, List[str]] = {}
        for trace, tests in by_trace.items():
            path = os.path.join(str(self.config.invocation_params.dir), trace)
            try:
                found = Trace(path).windows([row.windows[device] for row, device in tests], LIST)
            except (library.Error, OSError, ValueError) as error:  # the figures do not need the trace
                without.setdefault(str(error), []).extend(dict.fromkeys(row.test for row, _ in tests))
                continue
            for (row, device), window in zip(tests, found):
                why = _set_sites(row, device, window, names)
                if why and row.test not in without.setdefault(why, []):
                    without[why].append(row.test)
        return without

    def _compare(self) -> None:
        options = self.config.option
        if not options.vramscope_baseline or options.vramscope_update_baseline:
            return
        entries = pytest_baseline.read(pytest_baseline.path_of(self.config))
        lacking = [r.test for r in self.rows.values() if r.devices and r.test not in entries]
        if lacking:
            self.messages.append(f"not in the baseline {whole(options.vramscope_baseline)}, so not compared: "
                                 + _some(lacking) + " (--vramscope-update-baseline adds them)")

    # --- the end of the run ---

    def write(self, terminal: Any) -> None:
        used = sorted((r for r in self.rows.values() if r.devices), key=lambda r: (-r.peak, r.test))
        self._compare()
        idle = [r.test for r in self.rows.values() if r.marked and r.passed and not r.devices]
        if idle:
            self.messages.append("with a limit, but used no GPU memory: " + _some(idle))
        if not used and not self.messages:
            return
        device = self.config.option.vramscope_simulate
        terminal.section("GPU memory of tests (vramscope" + (f", simulated {device})" if device else ")"))
        if used:
            self._write_rows(terminal, used)
        for message in self.messages:
            for line in fold(message):
                terminal.line(line)
        self._write_traces(terminal, used)

    def _write_rows(self, terminal: Any, used: List[Row]) -> None:
        top = self.config.option.vramscope_top
        shown = used if top <= 0 else used[:top]
        several = any(len(row.devices) > 1 or 0 not in row.devices for row in used)
        terminal.line(f"{'peak':>10} {'live at end':>11} {'limit':>10}  {'gpu  ' if several else ''}test")
        for row in shown:
            for device, figures in sorted(row.devices.items()):
                limit = _size_or_nothing(row.limit(device))
                reserved = _size_or_nothing(row.limit(device, reserved=True))
                sizes = f"{size_text(figures['peak']):>10} {size_text(figures['kept']):>11} {limit:>10}"
                begin = f"{sizes}  " + (f"{device:>3}  " if several else "")
                limited = " " + whole(f"(limit of reserved memory: {reserved})") if reserved else ""
                for line in fold(whole(row.test) + limited, begin, " " * (len(begin) + 2)):
                    terminal.line(line)
        if len(shown) < len(used):
            terminal.line(f"{len(shown)} of the {len(used)} tests that used GPU memory; "
                          f"--vramscope-top=0 shows all")

    def _write_traces(self, terminal: Any, used: List[Row]) -> None:
        traces = sorted({row.trace for row in used if row.trace})
        if len(traces) == 1:
            terminal.line(f"more: vramscope report {shlex.quote(traces[0])}")
        elif traces:
            folder = os.path.dirname(traces[0])
            terminal.line(f"{len(traces)} traces in {folder}")
            terminal.line(f"more: vramscope report {shlex.quote(folder)}")


def _size_or_nothing(size: Optional[int]) -> str:
    return "" if size is None else size_text(size)


def _set_sites(row: Row, device: int, window: Sequence[WindowPeak], names: SiteNames) -> str:
    """Sets what call sites hold at the peak of a test. Returns why they are missing: then a comparison with the
    others would call them new."""
    peak = row.devices[device]["peak"]
    try:
        found = peak_of(window, device)
    except library.Error as error:
        return str(error)
    if found.incomplete and peak - sum(site.bytes for site in found.sites) > peak // 100:
        return found.incomplete
    row.sites[device] = names.for_baseline(found.sites, peak)
    return ""


def _some(tests: List[str]) -> str:
    return ", ".join(map(whole, tests[:3])) + (f" and {len(tests) - 3} more" if len(tests) > 3 else "")
