# SPDX-License-Identifier: Apache-2.0
"""The steps of one test, and the memory in use when each began, for limit_vram_growth.

Steps of vramscope.step() are measured while the test runs. A test without them may mark its steps by NVTX
ranges such as "step 3": those are read from the trace after it, as reports count them.
"""
from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Dict, List, Optional, Set

from vramscope import library
from vramscope.trace_report import Trace


@dataclass(frozen=True)
class Level:
    """Memory in use at a time."""

    time_ns: int
    allocated: int
    reserved: int

    def of(self, metric: str) -> int:
        return self.reserved if metric == "reserved" else self.allocated


Levels = Dict[int, Level]  # by device


class Steps:
    """Levels at the begins of the steps: of the first ones and of the last one."""

    KEPT = 16

    def __init__(self) -> None:
        self.count = 0
        self.first: List[Levels] = []
        self.last: Levels = {}

    def add(self, levels: Levels) -> None:
        self.count += 1
        self.last = levels
        if len(self.first) < self.KEPT:
            self.first.append(levels)

    def read(self, trace: str, begin_ns: int, end_ns: int, needed: Set[int]) -> None:
        """The steps of a part of a trace; levels only of the *needed* ones and of the last."""
        library.flush()
        times = _begins(Trace(trace, begin_ns=begin_ns, end_ns=end_ns), begin_ns, end_ns)
        for number, time_ns in enumerate(times):
            wanted = number in needed or number == len(times) - 1
            self.add(_levels(trace, time_ns) if wanted else {})


def _begins(part: Trace, begin_ns: int, end_ns: int) -> List[int]:
    """When the completed steps of *part* began. Without SQLite, in Python or in the command, none are known."""
    try:
        import sqlite3
    except ImportError:
        return []
    path: Optional[str] = None
    try:
        with tempfile.NamedTemporaryFile(suffix=".sqlite", delete=False) as file:
            path = file.name
        part.export("sqlite", path)
        database = sqlite3.connect(path)
        try:
            start_ns = part.start_ns
            begins = [start_ns + int(row[0]) for row in database.execute("SELECT start_ns FROM steps")]
        finally:
            database.close()
    except (library.Error, sqlite3.Error):
        return []
    finally:
        if path is not None:
            os.unlink(path)
    return sorted(time_ns for time_ns in begins if begin_ns <= time_ns <= end_ns)


def _levels(trace: str, time_ns: int) -> Levels:
    levels = {}
    for found in Trace(trace, end_ns=time_ns).report(1)["devices"]:
        live = found["sites_live_at_end"]  # tensors, and memory that does not hold them
        size = live["total_bytes"]
        if "exact_bytes" in live:  # a sampled, limited or stopped recording: the rest is in no call site
            size = sum(live[name] for name in ("exact_bytes", "small_bytes", "after_limit_bytes"))
        levels[int(found["device"])] = Level(time_ns, size, found["reserved_at_end_bytes"])
    return levels
