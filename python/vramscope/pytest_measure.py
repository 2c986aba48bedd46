# SPDX-License-Identifier: Apache-2.0
"""The GPU memory of one test: figures from a peak window of the library, call sites from the trace.

What is measured is the call of the test function, without its fixtures: above the memory that was in use
when it began, so that the figures do not depend on the tests before it. They are exact at once; the
trace is read only for tests that fail. Reference cycles of Python are collected before and after, as they
would otherwise be freed at a time that depends on the other tests. For the same reason caches are
released before each test: a request may be served by a larger cached block, which then counts as a whole.
"""
from __future__ import annotations

import ctypes
import difflib
import gc
import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from vramscope import library
from vramscope.annotations import step_end, step_listeners
from vramscope.pytest_lines import chain, command, fold
from vramscope.pytest_held import Held, between, missing
from vramscope.pytest_sites import SiteNames
from vramscope.pytest_sizes import percent, size_text
from vramscope.pytest_steps import Level, Steps
from vramscope.trace_report import Site, Trace
from vramscope.tracker import GPUMemoryTracker, WindowStats

SHOWN = 5  # call sites


@dataclass(frozen=True)
class Figures:
    """One device in one test."""

    begin: Level
    peak: Level  # without a time: those of the two peaks differ
    end: Level
    used: bool
    cached: int = 0  # reserved and not in use when it began: segments that also hold memory in use

    @property
    def live(self) -> int:
        """Reserved memory that was in use when it began."""
        return self.begin.reserved - self.cached

    def peak_of(self, metric: str) -> int:
        """Bytes above what was in use at the begin. Memory cached before the test counts as reserved: what
        the test finds cached would otherwise depend on the tests before it."""
        if metric == "reserved":
            return max(self.peak.reserved - self.live, 0) if self.used else 0
        return max(self.peak.of(metric) - self.begin.of(metric), 0)

    def kept_of(self, metric: str) -> int:
        """Bytes added and not freed; below 0 if more was freed."""
        return self.end.of(metric) - self.begin.of(metric)


def _figures(stats: WindowStats, cached: int = 0) -> Figures:
    used = bool(stats.allocations or stats.frees or stats.tensor_allocations or stats.tensor_frees)
    return Figures(Level(stats.begin_ns, stats.begin_bytes, stats.reserved_begin),
                   Level(0, stats.peak_bytes, stats.reserved_peak),
                   Level(stats.end_ns, stats.end_bytes, stats.reserved_end), used, cached)


class Measured:
    """One test, from its begin to its report."""

    def __init__(self, item: Any, limits: Sequence[Any]) -> None:
        self.item = item
        self.names = SiteNames(str(item.config.rootpath))
        self.warmup = max([limit.warmup for limit in limits], default=0)
        self.reserved_end = any(limit.metric == "reserved" and limit.marker != "limit_vram" for limit in limits)
        self.skips = {limit.skip for limit in limits if limit.marker == "limit_vram_growth"}
        self.cached: Dict[int, int] = {}
        self.name = "test:" + item.nodeid.encode(errors="replace").decode()
        self.devices: Dict[int, Figures] = {}
        self.steps = Steps()
        self.trace: Optional[str] = None
        self.exceeded = False
        self.uncomputed = 0  # reads of values that no kernel computed
        self._shown: Optional[str] = None  # the time of the call sites shown last, for --at of the report
        self._listed = 0                   # how many call sites there are there
        self._named: Dict[Any, int] = {}   # bytes of those that were listed, not summed up
        self._tracker: Optional[GPUMemoryTracker] = None

    # --- the run ---

    def run(self, test: Callable[[], None]) -> None:
        for _ in range(self.warmup):
            test()
        release_caches()
        self._tracker = GPUMemoryTracker(self.name)
        read_before = library.uncomputed_reads()
        try:
            with self._tracker:
                if _used():
                    self.cached = {d: _cached(s) for d, s in self._tracker.figures_now().items()}
                self._inside(test)
        finally:
            self.devices = {d: _figures(s, self.cached.get(d, 0))
                            for d, s in self._tracker.per_device.items()}
            self.trace = library.trace_path()
            self.uncomputed = library.uncomputed_reads() - read_before
        if self.skips and not self.steps.count and self.trace is not None:
            times = [(f.begin.time_ns, f.end.time_ns) for f in self.devices.values()]
            self.steps.read(self.trace, *times[0], self.skips)

    def _inside(self, test: Callable[[], None]) -> None:
        step_listeners.append(self._step)
        try:
            test()
            if _used():
                gc.collect()
            if self.reserved_end and not self.steps.count:
                release_caches()
        finally:
            step_listeners.remove(self._step)
            if self.steps.count:
                step_end()

    def _step(self, _: int) -> None:
        if self._tracker is not None:
            self.steps.add({d: _figures(s).end for d, s in self._tracker.figures_now().items()})

    @property
    def used(self) -> bool:
        return any(figures.used for figures in self.devices.values())

    # --- call sites ---

    def _held_at(self, device: int, before_ns: int, after_ns: int, when: str) -> Held:
        """What call sites hold at a point in time of a span: pytest_held."""
        if self.trace is None:
            return Held([], None)
        library.flush()
        found = between(self.trace, device, before_ns, after_ns, when)
        self._shown = found.at
        return found

    def sites_text(self, title: str, device: int, total: int, span: Optional[Tuple[int, int]] = None,
                   when: str = "end", metric: str = "allocated") -> List[str]:
        """Lines: the call sites, their bytes and shares of *total*, and the command that shows more. Of reserved
        memory, the memory that is not in use is a row, and so is memory from before the span that was
        freed: the sum is *total*."""
        figures = self.devices[device]
        before, after = span or (figures.begin.time_ns, figures.end.time_ns)
        try:
            found = self._held_at(device, before, after, when)
        except (library.Error, OSError, ValueError) as error:
            return [*fold(missing(str(error))), *self._more()]
        changed = found.sites
        sites = [site for site in changed if site.bytes > 0]
        self._listed = len(sites)
        self._named = {site.key: site.bytes for site in sites[:SHOWN]}
        rows = [(site.bytes, site.count, *self.names.place(site)) for site in sites[:SHOWN]]
        rest = sum(site.bytes for site in sites[SHOWN:])
        if rest:
            rows.append((rest, 0, [_further(len(sites))], ""))
        unknown = found.unknown(total) if metric == "allocated" else 0
        if unknown:
            rows.append((unknown, 0, [missing(found.why)], ""))
        if metric == "reserved":
            freed = sum(site.bytes for site in changed if site.bytes < 0)
            cached = total - sum(site.bytes for site in changed)
            unused = "cached but unused" + (f", or {missing(found.why)}" if found.why else "")
            rows += [row for row in ((cached, 0, [unused], ""),
                                     (freed, 0, ["allocated before the test, and freed by it"], "")) if row[0]]
        lines = [title] if rows and title else []
        for size, count, place, source in rows:
            number = f"{count:>5}x" if count else " " * 6
            lines += chain(place, f"  {_signed(size):>10} {percent(size, total):>8} {number}  ")
            if source:
                lines.append(" " * 30 + source)
        return lines + self._more()

    def uncomputed_text(self) -> List[str]:
        """Lines: the values that the test read and that no kernel computed."""
        times = [(f.begin.time_ns, f.end.time_ns) for f in self.devices.values()]
        lines = fold(f"cannot be checked: the test read values that were not computed, {self.uncomputed} time"
                     + ("s" if self.uncomputed != 1 else ""))
        try:
            library.flush()
            trace = Trace(self.trace or "", begin_ns=times[0][0], end_ns=times[0][1])
            reads = trace.uncomputed_reads()
        except (library.Error, OSError, ValueError, IndexError) as error:
            return [*lines, *fold(missing(str(error)))]
        for read in reads[:SHOWN]:
            begin = f"  {read.site.count:>5}x  "
            if read.value:
                lines += fold(read.value, begin, " " * len(begin))
                continue
            place, source = self.names.place(read.site)
            lines += chain(place, begin)
            lines += [" " * len(begin) + source] if source else []
            what = f"{size_text(read.site.bytes)} copied to the host" if read.site.bytes else "managed memory"
            lines.append(" " * len(begin) + f"{what}, after kernel {read.kernel}")
        if len(reads) > SHOWN:
            lines.append(f"  {_further(len(reads))}")
        return lines + fold("sizes may depend on them; --vramscope-allow-uncomputed accepts that")

    def _grown(self, accepted: Mapping[str, Sequence[int]], device: int) -> Tuple[Held, List[Tuple[int, str, Site]]]:
        """What call sites hold at the peak, and those that hold more than in *accepted*, which is of
        SiteNames.for_baseline(): by how many bytes, and whether they are "new" or have "grown"."""
        figures = self.devices[device]
        found = self._held_at(device, figures.begin.time_ns, figures.end.time_ns, "peak")
        rows: List[Tuple[int, str, Site]] = []
        for name, sites in self.names.by_name(found.sites).items():
            before, now = list(accepted.get(name, ())), [site.bytes for site in sites]
            for what, i, end, j, stop in difflib.SequenceMatcher(None, before, now, False).get_opcodes():
                for k in range(j, stop) if what != "equal" else ():
                    was = before[i + k - j] if i + k - j < end else 0
                    if now[k] > was:
                        rows.append((now[k] - was, "grown" if was else "new", sites[k]))
        return found, sorted(rows, key=lambda row: (-row[0], row[2].text))

    def named_of_peak(self, accepted: Mapping[str, Sequence[int]], device: int) -> int:
        """How much of what call sites hold at the peak beyond *accepted* is memory of the call sites that the last
        sites_text() named."""
        try:
            _, rows = self._grown(accepted, device)
        except (library.Error, OSError, ValueError):
            return 0
        return sum(min(more, self._named.get(site.key, 0)) for more, _, site in rows)

    def more_than(self, accepted: Mapping[str, Sequence[int]], device: int) -> List[str]:
        """Lines: the call sites that hold more at the peak than in *accepted*."""
        try:
            found, rows = self._grown(accepted, device)
        except (library.Error, OSError, ValueError) as error:
            return [*fold(missing(str(error))), *self._more()]
        self._listed = sum(site.bytes > 0 for site in found.sites)
        lines = ["more than in the baseline:"] if rows else []
        for more, change, site in rows[:SHOWN]:
            place, source = self.names.place(site)
            lines += chain(place, f"  {'+' + size_text(more):>10} {change:<5}  ")
            lines += [" " * 20 + source] if source else []
        rest = sum(more for more, _, _ in rows[SHOWN:])
        if rest:
            lines.append(f"  {'+' + size_text(rest):>10}        {_further(len(rows))}")
        unknown = found.unknown(self.devices[device].peak_of("allocated"))
        if unknown:
            lines += fold(f"{missing(found.why)} ({size_text(unknown)} of the peak)")
        return lines + self._more()

    def _more(self) -> List[str]:
        """The command that shows the same time in full."""
        if self.trace is None:
            return []
        options = [["--phase", self.name]]
        options += [["--at", self._shown]] if self._shown else []
        options += [["--top", str(self._listed)]] if self._listed > SHOWN else []
        return command(self.trace_name(), *options)

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
            lines += self.sites_text("", device, peak, when="peak")
        return "\n".join(lines)


def _further(count: int) -> str:
    return f"at {count - SHOWN} more call site" + ("s" if count - SHOWN != 1 else "")


def _signed(size: int) -> str:
    return f"-{size_text(-size)}" if size < 0 else size_text(size)


def release_caches() -> None:
    """Return unused cached memory of PyTorch and of vramscope's allocator to the device."""
    found = library.find()
    if found is None or not _used():
        return
    gc.collect()
    torch: Any = sys.modules.get("torch")
    try:
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.empty_cache()
    except (AttributeError, RuntimeError):  # still being imported; an allocator without a cache
        pass
    for device in range(library.DEVICES_MAX):
        if found.get_device_stats(device, ctypes.byref(library.DeviceStats())) != 0:
            break
        found.trim(device)


def _cached(stats: WindowStats) -> int:
    """Reserved memory that is not in use: in vramscope's cache, or in segments of PyTorch."""
    return max(stats.reserved_end - stats.end_bytes, 0)


def _used() -> bool:
    """Has this process used a GPU?"""
    return library.trace_path() is not None
