# SPDX-License-Identifier: Apache-2.0
"""The baseline of tests: a JSON file with the peak and the kept bytes of each test, for review and for
comparison. Written by --vramscope-update-baseline, with sorted keys: the same run gives the same file."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Optional

import pytest

from vramscope.pytest_lines import fold
from vramscope.pytest_measure import Measured
from vramscope.pytest_sizes import size_text, tolerance, two_sizes

SCHEMA = "vramscope.pytest-baseline/1"
Entries = Dict[str, Dict[str, Dict[str, Any]]]  # test, device, "peak", "kept" and "sites"


def read(path: str) -> Entries:
    """The entries of a file. UsageError if it is not a baseline."""
    name = os.path.relpath(path)
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        if content["schema"] != SCHEMA:
            raise pytest.UsageError(
                f"--vramscope-baseline: {name} has the schema {content['schema']!r}, and this vramscope "
                f"reads {SCHEMA!r}: name another file (those of `vramscope check` are for traces), or write "
                f"this one again with --vramscope-update-baseline")
        return {str(test): {str(device): {"peak": int(f["peak"]), "kept": int(f["kept"]), "sites": {
            str(site): [int(size) for size in sizes] for site, sizes in f.get("sites", {}).items()}}
                            for device, f in devices.items()} for test, devices in content["tests"].items()}
    except FileNotFoundError:
        raise pytest.UsageError(f"--vramscope-baseline: there is no {name}. Write it once with "
                                f"--vramscope-update-baseline, and commit it") from None
    except OSError as error:
        raise pytest.UsageError(f"--vramscope-baseline: {name} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise pytest.UsageError(f"--vramscope-baseline: {name} is not a baseline of this plugin. (Those of "
                                f"`vramscope check` are for traces.)") from None


def write(path: str, entries: Entries) -> None:
    """Replace the file. OSError."""
    text = json.dumps({"schema": SCHEMA, "tests": entries}, indent=2, sort_keys=True) + "\n"
    part = f"{path}.{os.getpid()}.part"
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(part, path)


def path_of(config: Any) -> str:
    """The file that the options name, from the folder where pytest was started: tests may change it."""
    return os.path.join(str(config.invocation_params.dir), config.option.vramscope_baseline)


class Baseline:
    """The file that tests are compared with."""

    def __init__(self, path: str, share: float, margin: int) -> None:
        self.path, self.share, self.margin = path, share, margin
        self.entries = read(path)

    @classmethod
    def of(cls, config: Any) -> Optional["Baseline"]:
        """None if the options name none, or it is to be written."""
        options = config.option
        try:
            share, margin = tolerance(options.vramscope_tolerance)
        except ValueError as error:
            raise pytest.UsageError(f"--vramscope-tolerance: {error}") from None
        if not options.vramscope_baseline or options.vramscope_update_baseline:
            return None
        return cls(path_of(config), share, margin)

    def judge(self, test: str, measured: Measured) -> List[List[str]]:
        """Texts of what *measured* exceeds. A test that the file lacks passes."""
        accepted = self.entries.get(test)
        if accepted is None:
            return []
        texts = []
        for device in sorted(measured.devices):
            texts += self._judge(accepted.get(str(device), {"peak": 0, "kept": 0, "sites": {}}), device, measured)
        return texts

    def _judge(self, before: Dict[str, Any], device: int, measured: Measured) -> List[List[str]]:
        from vramscope.pytest_limits import excess_lines
        figures = measured.devices[device]
        kept, peak = figures.kept_of("allocated"), figures.peak_of("allocated")
        texts, peak_exceeds = [], self._exceeds(peak, before["peak"])
        tolerance_line = f"  {os.path.basename(self.path)}, tolerance {self._tolerance()}"
        if self._exceeds(kept, before["kept"]):
            lines = [*excess_lines("GPU memory still in use after the test", device, kept, before["kept"],
                                   "the baseline of"), tolerance_line]
            sites = measured.sites_text("allocated by the test and still in use:", device, kept)
            if peak_exceeds and _explains(before, kept, peak, device, measured):
                was, now = two_sizes(before["peak"], peak)
                lines += fold(f"this memory also raised the peak, from {was} in the baseline to {now}", "  ")
                peak_exceeds = False
            texts.append([*lines, *sites])
        if peak_exceeds:
            sites = (measured.more_than(before["sites"], device) if before["sites"] else
                     measured.sites_text("allocated by the test and in use at its peak:", device, peak, when="peak"))
            texts.append([*excess_lines("peak of GPU memory", device, peak, before["peak"], "the baseline of"),
                          tolerance_line, *sites])
        return texts

    def _exceeds(self, value: int, before: int) -> bool:
        return value > max(before + int(max(before, 0) * self.share) + self.margin, 0)

    def _tolerance(self) -> str:
        return size_text(self.margin) if self.margin else f"{self.share * 100:g} %"


def _explains(before: Dict[str, Any], kept: int, peak: int, device: int, measured: Measured) -> bool:
    """Is the memory that the test keeps beyond the baseline, at call sites that were just named, all of what its
    peak exceeds the baseline by? Without call sites in the baseline that is unknown."""
    if before["peak"] and not before["sites"]:
        return False
    named = min(kept - int(before["kept"]), measured.named_of_peak(before["sites"], device))
    return named >= peak - int(before["peak"])
