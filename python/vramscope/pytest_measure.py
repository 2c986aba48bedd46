# SPDX-License-Identifier: Apache-2.0
"""The GPU memory of one test: figures from a peak window of the library, call sites from the trace.

What is measured is the call of the test function, without its fixtures: above the memory that was in use
when it began, so that the figures do not depend on the tests before it. They are exact at once; the
trace is read only for tests that fail. Reference cycles of Python are collected before and after, as
they would otherwise be freed at a moment that depends on the other tests.
"""
from __future__ import annotations

import gc
import linecache
import os
import re
import shlex
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from vramscope import library
from vramscope.annotations import step_end, step_listeners
from vramscope.pytest_sizes import percent, size_text
from vramscope.trace_report import Site, Trace
from vramscope.tracker import GPUMemoryTracker, WindowStats

SHOWN = 5  # call sites
CHAIN = 5  # frames of one
SOURCE = 70  # characters of a line
LIST = 10000
_PACKAGE, _HERE = os.path.split(os.path.abspath(__file__))
_CALLED = re.compile(r"\[\w+: [^\]]*\]$")  # the function of a library that the user's code called


@dataclass(frozen=True)
class Level:
    """Memory in use at a time."""

    time_ns: int
    allocated: int
    reserved: int

    def of(self, metric: str) -> int:
        return self.reserved if metric == "reserved" else self.allocated


@dataclass(frozen=True)
class Figures:
    """One device in one test."""

    begin: Level
    peak: Level  # without a time: those of the two peaks differ
    end: Level
    used: bool

    def peak_of(self, metric: str) -> int:
        """Bytes above the begin."""
        return max(self.peak.of(metric) - self.begin.of(metric), 0)

    def kept_of(self, metric: str) -> int:
        """Bytes added and not freed; below 0 if more was freed."""
        return self.end.of(metric) - self.begin.of(metric)


def _figures(stats: WindowStats) -> Figures:
    used = bool(stats.allocations or stats.frees or stats.tensor_allocations or stats.tensor_frees)
    return Figures(Level(stats.begin_ns, stats.begin_bytes, stats.reserved_begin),
                   Level(0, stats.peak_bytes, stats.reserved_peak),
                   Level(stats.end_ns, stats.end_bytes, stats.reserved_end), used)


class Steps:
    """Levels at the begins of the steps of vramscope.step() in a test: the first ones, the last one."""

    KEPT = 16

    def __init__(self) -> None:
        self.count = 0
        self.first: List[Dict[int, Level]] = []
        self.last: Dict[int, Level] = {}

    def add(self, levels: Dict[int, Level]) -> None:
        self.count += 1
        self.last = levels
        if len(self.first) < self.KEPT:
            self.first.append(levels)


class Measured:
    """One test, from its begin to its report."""

    def __init__(self, item: Any, limits: Sequence[Any]) -> None:
        self.item = item
        self.warmup = max([limit.warmup for limit in limits], default=0)
        self.name = "test:" + item.nodeid.encode(errors="replace").decode()
        self.devices: Dict[int, Figures] = {}
        self.steps = Steps()
        self.trace: Optional[str] = None
        self.exceeded = False
        self._tracker: Optional[GPUMemoryTracker] = None

    # --- the run ---

    def run(self, test: Callable[[], None]) -> None:
        for _ in range(self.warmup):
            test()
        if _used():
            gc.collect()
        self._tracker = GPUMemoryTracker(self.name)
        try:
            with self._tracker:
                self._inside(test)
        finally:
            self.devices = {d: _figures(s) for d, s in self._tracker.per_device.items()}
            self.trace = library.trace_path()

    def _inside(self, test: Callable[[], None]) -> None:
        step_listeners.append(self._step)
        try:
            test()
            if _used():
                gc.collect()
        finally:
            step_listeners.remove(self._step)
            if self.steps.count:
                step_end()

    def _step(self, _: int) -> None:
        if self._tracker is not None:
            self.steps.add({d: _figures(s).end for d, s in self._tracker.per_device.items()})

    @property
    def used(self) -> bool:
        return any(figures.used for figures in self.devices.values())

    # --- call sites ---

    def _sites_between(self, device: int, before_ns: int, after_ns: int, at_peak: bool) -> List[Site]:
        """The call sites that have more at the end, or at the peak, of a span than at its begin."""
        if self.trace is None:
            return []
        library.flush()
        span = Trace(self.trace, begin_ns=before_ns, end_ns=after_ns)
        before = Trace(self.trace, end_ns=before_ns).leaks(device, LIST)
        found = span.sites(device, LIST) if at_peak else span.leaks(device, LIST)
        sums: Dict[Any, List[int]] = {}
        for sign, sites in ((1, found), (-1, before)):
            for site in sites:
                total = sums.setdefault(site.frames or site.text, [0, 0])
                total[0] += sign * site.bytes
                total[1] += sign * site.count
        texts = {site.frames or site.text: site for site in found}
        grown = [Site(size, max(count, 0), texts[key].text, frames=texts[key].frames)
                 for key, (size, count) in sums.items() if size > 0 and key in texts]
        return sorted(grown, key=lambda s: (-s.bytes, s.text))

    def sites_text(self, title: str, device: int, total: int, span: Optional[Tuple[int, int]] = None,
                   at_peak: bool = False) -> List[str]:
        """Lines: the call sites, their bytes and shares of *total*."""
        figures = self.devices[device]
        before, after = span or (figures.begin.time_ns, figures.end.time_ns)
        try:
            sites = self._sites_between(device, before, after, at_peak)
        except (library.Error, OSError, ValueError) as error:
            return [f"call sites are missing: {error}"]
        if not sites:
            return []
        lines = [title]
        for site in sites[:SHOWN]:
            place, source = self._place(site)
            lines.append(f"  {size_text(site.bytes):>10} {percent(site.bytes, total):>8} {site.count:>5}x  "
                         + place)
            if source:
                lines.append(" " * 30 + source)
        rest = sum(site.bytes for site in sites[SHOWN:])
        if rest:
            lines.append(f"  {size_text(rest):>10} {percent(rest, total):>8}         "
                         f"at {len(sites) - SHOWN} more call sites")
        return lines

    def _place(self, site: Site) -> Tuple[str, str]:
        """file:line and function of the user's innermost frame, and its callers up to the test; the text
        of that line, or ""."""
        frames = []
        for frame in site.frames:
            if os.path.dirname(frame.file) == _PACKAGE and os.path.basename(frame.file) == _HERE:
                break  # this file called the test; pytest called this file
            if frame.file and (frame.library is None or self._own(frame.file)):
                frames.append(frame)
        if not frames:
            return site.text, ""
        words = [f"{self._file(frames[0].file)}:{frames[0].line} {frames[0].function}"]
        for callee, caller in zip(frames, frames[1:CHAIN]):
            here = "" if caller.file == callee.file else os.path.basename(caller.file)
            words.append(f"{caller.function} ({here}:{caller.line})" if here else
                         f"{caller.function}:{caller.line}")
        if len(frames) > CHAIN:
            words.append("…")
        called = _CALLED.search(site.text)
        source = linecache.getline(frames[0].file, frames[0].line).strip()
        return (" < ".join(words) + (f" {called[0]}" if called else ""),
                source if len(source) <= SOURCE else source[:SOURCE - 1] + "…")

    def _own(self, path: str) -> bool:
        """Is a file of a library, such as an extension in C, part of the tested project?"""
        root = os.path.join(str(self.item.config.rootpath), "")
        return path.startswith(root) and "site-packages" not in path and os.path.exists(path)

    def _file(self, path: str) -> str:
        short = os.path.relpath(path, str(self.item.config.rootpath))
        return path if short.startswith("..") else short

    def more(self) -> List[str]:
        """The command that shows more."""
        if self.trace is None:
            return []
        return [f"more: vramscope report {shlex.quote(self.trace_name())} --phase {shlex.quote(self.name)}"]

    def trace_name(self) -> str:
        """The trace, as somebody would type it who started pytest: tests may change the folder."""
        short = os.path.relpath(self.trace or "", str(self.item.config.invocation_params.dir))
        return self.trace or "" if short.startswith("..") else short

    def text_of_failure(self) -> str:
        """For the report of a test that failed for another reason than its limits."""
        lines: List[str] = []
        if self.exceeded:
            return ""
        for device, figures in sorted(self.devices.items()):
            peak = figures.peak_of("allocated")
            if not figures.used or not peak:
                continue
            lines.append(f"device {device}: {size_text(peak)} allocated by the test at its peak"
                         + (f", {size_text(figures.begin.allocated)} before it"
                            if figures.begin.allocated else ""))
            lines += self.sites_text("", device, peak, at_peak=True)[1:]
        return "\n".join(lines + self.more()) if lines else ""


def _used() -> bool:
    """Has this process used a GPU?"""
    return library.trace_path() is not None
