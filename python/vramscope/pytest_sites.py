# SPDX-License-Identifier: Apache-2.0
"""Names of call sites in the plugin: the user's frames up to the test, with files below pytest's rootdir.

A baseline has names without lines, so that an edit elsewhere in a file changes none; the sites of one name
are in the order of their lines.
"""
from __future__ import annotations

import linecache
import os
import re
from typing import Dict, List, Sequence, Tuple

from vramscope.trace_report import Frame, Site

LIST = 10000  # call sites of a test
CHAIN = 5  # frames of one
SOURCE = 50  # characters of a line
_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CALLER = "pytest_measure.py"  # calls the test; pytest called it
_CALLED = re.compile(r"\[\w+: [^\]]*\]$")  # the function of a library that the user's code called


class SiteNames:
    """Names for the tests of one project. *root*: pytest's rootdir."""

    def __init__(self, root: str) -> None:
        self.root = root

    def frames(self, site: Site) -> List[Frame]:
        """The user's frames, up to the test."""
        frames = []
        for frame in site.frames:
            if os.path.dirname(frame.file) == _PACKAGE and os.path.basename(frame.file) == _CALLER:
                break
            if frame.file and (frame.library is None or self._own(frame.file)):
                frames.append(frame)
        return frames

    def by_name(self, changed: Sequence[Site]) -> Dict[str, List[Site]]:
        """Sites that hold memory, by name, in the order of their lines."""
        found: Dict[str, List[Site]] = {}
        for site in changed:
            if site.bytes > 0:
                frames = self.frames(site)
                name = " < ".join(f"{f.function} ({os.path.basename(f.file)})" for f in frames) or site.text
                found.setdefault(name, []).append(site)
        for sites in found.values():
            sites.sort(key=lambda site: [frame.line for frame in self.frames(site)])
        return found

    def for_baseline(self, changed: Sequence[Site], peak: int) -> Dict[str, List[int]]:
        """What call sites hold at a peak: the bytes of each line of a name, without names of less than a
        hundredth of the peak."""
        return {name: [site.bytes for site in sites] for name, sites in self.by_name(changed).items()
                if sum(site.bytes for site in sites) >= peak // 100}

    def place(self, site: Site) -> Tuple[List[str], str]:
        """file:line and function of the user's innermost frame, and its callers up to the test; the text
        of that line, or ""."""
        frames = self.frames(site)
        if not frames:
            return [site.text], ""
        words = [f"{self._file(frames[0].file)}:{frames[0].line} {frames[0].function}"]
        for callee, caller in zip(frames, frames[1:CHAIN]):
            here = "" if caller.file == callee.file else os.path.basename(caller.file)
            words.append(f"{caller.function} ({here}:{caller.line})" if here else
                         f"{caller.function}:{caller.line}")
        if len(frames) > CHAIN:
            words.append("…")
        called = _CALLED.search(site.text)
        source = linecache.getline(frames[0].file, frames[0].line).strip()
        words[-1] += f" {called[0]}" if called else ""
        return words, source if len(source) <= SOURCE else source[:SOURCE - 1] + "…"

    def _own(self, path: str) -> bool:
        """Is a file of a library, such as an extension in C, part of the tested project?"""
        return (path.startswith(os.path.join(self.root, "")) and "site-packages" not in path
                and os.path.exists(path))

    def _file(self, path: str) -> str:
        short = os.path.relpath(path, self.root)
        return path if short.startswith("..") else short
