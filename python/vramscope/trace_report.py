# SPDX-License-Identifier: Apache-2.0
"""What a trace contains: peaks, call sites, leaks, events, tables.

Nothing is read before it is asked for, and all is read by the `vramscope` command.
"""
from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, TypeVar

from vramscope import commands, library

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Frame:
    """One frame of a call stack; *library*: which one it belongs to, None for the user's code."""

    function: str
    file: str
    line: int
    library: Optional[str] = None

    def __str__(self) -> str:
        place = f" ({os.path.basename(self.file)}:{self.line})" if self.file else ""
        return f"{self.function or '?'}{place}"


@dataclass(frozen=True)
class Site:
    """A call site and the memory it holds. *text*: as reports name it, the innermost function
    first. *source*: where a thread without Python frames allocated, such as PyTorch's in a backward
    pass: the user's line that it worked for, "loss.backward() (train.py:40)"."""

    bytes: int
    count: int
    text: str
    allocations: int = 0
    frees: int = 0
    growing: bool = False
    source: Optional[str] = None
    frames: Tuple[Frame, ...] = field(default=(), repr=False)

    @property
    def key(self) -> Any:
        """Equal for the same call site in two lists of a trace."""
        return self.frames or self.text

    @property
    def mb(self) -> float:
        """bytes in MiB."""
        return self.bytes / (1 << 20)

    @property
    def location(self) -> Optional[Tuple[str, int]]:
        """File and line of the innermost frame of the user's own code; None if unknown."""
        for frame in self.frames:
            if frame.library is None and frame.file:
                return frame.file, frame.line
        found = re.search(r"\(([^()]+):(\d+)\)$", self.source or "")
        return (found.group(1), int(found.group(2))) if found else None

    def __str__(self) -> str:
        blocks = f" in {self.count}" if self.count else ""  # none: they were freed at the end of the program
        return f"{self.mb:.1f} MiB{blocks}: {self.text}"


@dataclass(frozen=True)
class Event:
    """One event: its number from 1, time since the start of the program, thread, kind, and its fields by name,
    event["size"]: those of docs/internals/trace-format.md, a stack as a tuple of Frame, the innermost first."""

    number: int
    time_ns: int
    tid: int
    kind: str
    fields: Dict[str, Any] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.fields.get(name, default)

    def items(self) -> Any:
        return self.fields.items()


@dataclass(frozen=True)
class UncomputedRead:
    """Reads, at one call site, of values that no kernel of the simulated GPU computed: *kernel* is the latest that
    was not computed, or *value* says what one of them decided. The other is ""."""

    site: Site
    kernel: str
    value: str


@dataclass(frozen=True)
class Peak:
    """Highest values of one device, in bytes. *time_ns*: since the start, of the peak of allocated
    memory; *phase*: the ranges and the step then. *level*: "framework" if allocated memory is
    that of PyTorch's tensors."""

    device: int
    name: str
    total_bytes: int
    allocated: int
    requested: int
    reserved: int
    time_ns: int
    phase: str
    level: str


@dataclass(frozen=True)
class WindowPeak:
    """The peak of one device in a window of time, in bytes. *event*: the number of the event that made it; 0:
    the begin. *sites*: the bytes of call sites at the peak less those at the begin, the largest difference
    first; below 0 if a site has fewer. *incomplete*: why the trace lacks call sites, such as those of memory allocated
    while the program had stopped the recording; "" if it lacks none."""

    device: int
    begin_bytes: int
    peak_bytes: int
    end_bytes: int
    event: int
    sites: List[Site] = field(default_factory=list, repr=False)
    incomplete: str = ""


def _frames(raw: Sequence[Dict[str, Any]]) -> Tuple[Frame, ...]:
    return tuple(Frame(f["function"] or "", f["file"] or "", f["line"] or 0, f["library"]) for f in raw)


def _site(raw: Dict[str, Any]) -> Site:
    line = raw.get("line")
    return Site(bytes=raw["bytes"], count=raw["count"], text=raw["text"],
                allocations=raw.get("allocations", 0), frees=raw.get("frees", 0),
                growing=bool(raw.get("growing")), source=line if isinstance(line, str) else None,
                frames=_frames(raw.get("frames", ())))


def site_changes(more: Sequence[Site], less: Sequence[Site]) -> List[Site]:
    """By how many bytes and blocks each call site of *more* holds more than in *less*, the largest first."""
    sums: Dict[Any, List[int]] = {}
    for sign, sites in ((1, more), (-1, less)):
        for site in sites:
            total = sums.setdefault(site.key, [0, 0])
            total[0] += sign * site.bytes
            total[1] += sign * site.count
    by_key = {site.key: site for site in [*less, *more]}
    changed = [Site(size, max(count, 0), by_key[key].text, frames=by_key[key].frames)
               for key, (size, count) in sums.items() if size]
    return sorted(changed, key=lambda site: (-site.bytes, site.text))


def why_incomplete(report: Dict[str, Any]) -> str:
    """Why a trace lacks call sites; "" if it has those of all allocations."""
    recording = report.get("recording") or {}
    if recording.get("stops"):
        return "the program stopped the recording"
    return "the trace reached its size limit" if recording.get("allocations_ended_ns") else ""


def _window_peak(raw: Dict[str, Any], why: str) -> WindowPeak:
    more, less = ([_site(s) for s in raw[name]["sites"]] for name in ("sites_more_at_peak", "sites_less_at_peak"))
    return WindowPeak(raw["device"], raw["begin_bytes"], raw["peak_bytes"], raw["end_bytes"], raw["peak_event"],
                      site_changes(more, less), why)


class Trace:
    """A trace, complete, of a running program, or of a killed one.

    *begin_ns*, *end_ns*: only this part of it, in CLOCK_MONOTONIC (time.monotonic_ns() of the
    machine that recorded it): memory from before the part that is live in it counts. *events*: the
    numbers of its first and last event, from 1, instead of times.
    """

    def __init__(self, path: "os.PathLike[str] | str", *, begin_ns: Optional[int] = None,
                 end_ns: Optional[int] = None, events: Optional[Tuple[int, int]] = None) -> None:
        self.path = os.fspath(path)
        self._begin_ns, self._end_ns, self._events = begin_ns, end_ns, events
        if events is not None and (begin_ns is not None or end_ns is not None):
            raise ValueError("Trace takes times or events, not both")
        self._reports: Dict[int, Dict[str, Any]] = {}
        self._start_ns: Optional[int] = None
        if not os.path.exists(self.path):
            raise FileNotFoundError(f"there is no trace {self.path}")

    def _span(self) -> List[str]:
        if self._events is not None:
            return [f"--from=@{self._events[0]}", f"--to=@{self._events[1]}"]
        words = []
        for flag, time_ns in (("--from", self._begin_ns), ("--to", self._end_ns)):
            if time_ns is not None:
                since = max(time_ns - self.start_ns, 0)
                words.append(f"{flag}={since // 10**9}.{since % 10**9:09d}s")
        return words

    @property
    def start_ns(self) -> int:
        """When the times of reports and exports begin, in CLOCK_MONOTONIC."""
        if self._start_ns is None:
            head = commands.output_of(["export", "-f", "json", "--partial", "--from=@1", "--to=@1", self.path])
            self._start_ns = int(json.loads(head.split("\n", 1)[0])["start_ns"])
        return self._start_ns

    def report(self, sites: int = 50) -> Dict[str, Any]:
        """The members of `vramscope report --json`, with at most *sites* call sites in each list.
        See docs/schema/report.schema.json. Read once."""
        if sites not in self._reports:
            self._reports[sites] = json.loads(self._verb(["report", "--json", "--partial",
                                                          f"--top={sites}"]))
        return self._reports[sites]

    def uncomputed_reads(self) -> List[UncomputedRead]:
        """Reads of values that no kernel of the simulated GPU computed, in their order."""
        return [UncomputedRead(_site(raw), raw.get("kernel", ""), raw.get("value", ""))
                for raw in self.report(10000)["uncomputed_reads"]]

    def windows(self, times: Sequence[Tuple[int, int]], sites: int = 50) -> List[List[WindowPeak]]:
        """The peaks in many windows, each from one time of CLOCK_MONOTONIC to another: for each window
        its devices. One reading for all of them. With at most *sites* call sites in each list."""
        if not times:
            return []
        start_ns = self.start_ns
        since = [(max(begin - start_ns, 0), max(end - start_ns, 0)) for begin, end in times]
        with tempfile.NamedTemporaryFile("w", suffix=".windows") as file:
            file.writelines(f"{begin} {end}\n" for begin, end in since)
            file.flush()
            report = json.loads(commands.output_of(["report", "--json", "--partial", f"--top={sites}",
                                                    f"--windows={file.name}", self.path]))
        why = why_incomplete(report)
        found = {(w["from_ns"], w["to_ns"]): [_window_peak(raw, why) for raw in w["devices"]]
                 for w in report["windows"]}
        return [found[window] for window in since]

    def _verb(self, words: List[str]) -> str:
        return self._within(lambda span: commands.output_of([*words, *span, self.path]))

    def _within(self, read: Callable[[List[str]], _Result]) -> _Result:
        """What *read* gets with the options of this part of the trace."""
        span = self._span()
        try:
            return read(span)
        except library.Error:
            if self._end_ns is None and self._events is None:
                raise
            # the part may end after the last event: then it ends with the trace
            return read(span[:-1])

    @property
    def peaks(self) -> Dict[int, Peak]:
        """The peaks of each device: of tensors under PyTorch, as in `vramscope report`."""
        peaks = {}
        for d in self.report()["devices"]:
            user = d.get("peak_user") or d["peak_allocated"]
            peaks[d["device"]] = Peak(
                device=d["device"], name=d["name"] or "", total_bytes=d["total_bytes"] or 0,
                allocated=user["bytes"], requested=d["peak_requested"]["bytes"],
                reserved=d["peak_reserved"]["bytes"], time_ns=user["time_ns"] or 0,
                phase=user["phase"] or "", level=d["level"])
        return peaks

    @property
    def peak_bytes(self) -> int:
        """The peak of the device with the highest one."""
        return max((p.allocated for p in self.peaks.values()), default=0)

    def _list(self, name: str, device: Optional[int], count: int) -> List[Site]:
        found: List[Site] = []
        for d in self.report(count)["devices"]:
            if device is None or d["device"] == device:
                found += [_site(s) for s in (d.get(name) or {}).get("sites", ())]
        return sorted(found, key=lambda s: -s.bytes)[:count]

    def sites(self, device: Optional[int] = None, count: int = 50) -> List[Site]:
        """The call sites that held the memory at the peak, the largest first."""
        return self._list("sites_at_peak_allocated", device, count)

    def leaks(self, device: Optional[int] = None, count: int = 50) -> List[Site]:
        """The call sites of memory that is live at the end."""
        return self._list("sites_live_at_end", device, count)

    def growing(self, device: Optional[int] = None, count: int = 50) -> List[Site]:
        """The call sites whose memory grows from step to step."""
        return self._list("sites_growing", device, count)

    @property
    def phases(self) -> List[Dict[str, Any]]:
        """The ranges: path, times, time_ns, allocations, peak_allocated, …"""
        return list(self.report()["phases"])

    @property
    def steps(self) -> Optional[Dict[str, Any]]:
        """The steps: begun, done, peak_bytes, net_bytes, …; None without any."""
        return self.report().get("steps")

    @property
    def complete(self) -> bool:
        """Did the program end, and its trace with it?"""
        return bool(self.report()["trace"]["condition"] == "complete")

    def events(self, *kinds: str) -> Iterator[Event]:
        """Every event of the whole trace, or those of *kinds* ("alloc", "framework_alloc", "kernel", …), in
        order. Times count from the start of the program (start_ns), as in reports."""
        stacks: Dict[Optional[int], Tuple[Frame, ...]] = {None: ()}
        for text in commands.lines_of(["export", "-f", "json", "--partial", self.path]):
            line = json.loads(text)
            if "frames" in line:
                stacks[line["stack"]] = _frames(line["frames"])
            elif "event" in line and (not kinds or line["kind"] in kinds):
                fields = line["fields"]
                if "stack" in fields:
                    fields["stack"] = stacks[fields["stack"]]
                yield Event(line["event"], line["time_ns"], line["tid"], line["kind"], fields)

    def export(self, format: str, path: "os.PathLike[str] | str") -> None:
        """Write `vramscope export -f` *format* to *path*: "sqlite", "chrome", "pprof", …"""
        self._verb(["export", "-f", format, "--partial", "-o", os.fspath(path)])

    def csv(self) -> str:
        """One row for each allocation: address, bytes, times, call site, phase, step, …"""
        return self._verb(["export", "-f", "csv", "--partial", "-o", "-"])

    def to_pandas(self) -> Any:
        """The allocations as a pandas.DataFrame: csv() with numbers, and categories for texts. ImportError
        without pandas."""
        from vramscope import allocation_table
        return self._within(lambda span: allocation_table.read(
            ["export", "-f", "csv", "--partial", "-o", "-", *span, self.path]))

    def __repr__(self) -> str:
        return f"Trace({self.path!r})"
