# SPDX-License-Identifier: Apache-2.0
"""What the call sites of a test hold at a point in time, read from the trace: at the end of a span of time, at the
peak of memory in use, or at that of reserved memory.

Memory that was allocated while the program had stopped the recording counts, but its call sites are not in
the trace: `why` says so. How much memory lacks a call site is the difference to the
exact figures of the test; the trace has only sums over parts of that time.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

from vramscope import library
from vramscope.pytest_sites import LIST
from vramscope.trace_report import Site, Trace, WindowPeak, site_changes, why_incomplete

SEGMENT_EVENTS = 8


@dataclass(frozen=True)
class Held:
    """The call sites whose memory differs from that at the begin of the span, the largest first. *at*: the value
    of --at of the report. *why* call sites may be missing; "" if they are not."""

    sites: List[Site]
    at: Optional[str]
    why: str = ""

    def unknown(self, exact: int) -> int:
        """Bytes without a call site, of the *exact* difference of memory in use."""
        return max(exact - sum(site.bytes for site in self.sites), 0) if self.why else 0


def missing(why: str) -> str:
    """Why a list of call sites is incomplete."""
    return f"call sites are missing: {why}"


def peak_of(window: Sequence[WindowPeak], device: int) -> WindowPeak:
    """The peak of a device in a window. library.Error if the trace lacks the device."""
    for peak in window:
        if peak.device == device:
            return peak
    raise library.Error(f"the trace has no memory of device {device}")


def between(path: str, device: int, before_ns: int, after_ns: int, when: str) -> Held:
    """The time "end", "peak" or "reserved" of a span, on a device."""
    if when == "peak":
        window, = Trace(path).windows([(before_ns, after_ns)], LIST)
        peak = peak_of(window, device)
        return Held(peak.sites, f"@{peak.event}" if peak.event else None, peak.incomplete)
    before = Trace(path, end_ns=before_ns)
    span = Trace(path, begin_ns=before_ns, end_ns=after_ns)
    why = _incomplete(before, span)
    if when == "end":
        found = span.leaks(device, LIST)
        since = max(after_ns - span.start_ns, 0)
        at = f"{since // 10**9}.{since % 10**9:09d}s"
    else:
        span = _while_reserved(path, span, device)
        found = span.sites(device, LIST)
        at = f"@{_levels(span, device)[0]['event']}"
    return Held(site_changes(found, before.leaks(device, LIST)), at, why)


def _while_reserved(path: str, span: Trace, device: int) -> Trace:
    """A span whose peak of memory in use is at the peak of reserved memory of *span*."""
    in_use, reserved = _levels(span, device)
    if in_use["reserved_bytes"] == reserved["bytes"]:
        return span
    first, found = reserved["event"] + 1, span
    # after the segment that made the peak comes the first tensor in it, within a few events
    for last in range(first, first + SEGMENT_EVENTS):
        part = Trace(path, events=(first, last))
        if _levels(part, device)[0]["reserved_bytes"] != reserved["bytes"]:
            break
        found = part
    return found


def _incomplete(before: Trace, span: Trace) -> str:
    """Why call sites of a span may be missing."""
    then, now = [trace.report(LIST).get("recording") or {} for trace in (before, span)]
    if now.get("stops", 0) == then.get("stops", 0) and "stopped_since_ns" not in then:
        now = {**now, "stops": 0}
    return why_incomplete({"recording": now})


def _levels(span: Trace, device: int) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The peaks of memory in use and of reserved memory."""
    for found in span.report(LIST)["devices"]:
        if found["device"] == device:
            return found.get("peak_user") or found["peak_allocated"], found["peak_reserved"]
    raise library.Error(f"the trace has no memory of device {device}")
