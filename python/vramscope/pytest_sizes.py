# SPDX-License-Identifier: Apache-2.0
"""Sizes and shares in the plugin, as the command reads and prints them."""
from __future__ import annotations

import re
from typing import Any

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(I?B)?", re.IGNORECASE)
_UNITS = " KMGT"


def size(value: Any) -> int:
    """Bytes of "2 GiB", "512M" (1024), "1.5GB" (1000) or of a number, as the command reads them.
    ValueError with a text for users."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value >= 0:
            return value
    elif isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        if match and ("." not in match[1] or match[2]):
            base = 1000 if (match[3] or "").upper() == "B" else 1024
            return int(float(match[1]) * base ** _UNITS.index(match[2].upper() or " "))
    raise ValueError(f"{value!r} is not a size: write \"512 MiB\", \"2 GiB\" or a number of bytes")


def tolerance(text: str) -> "tuple[float, int]":
    """A share and a number of bytes, one of them 0. ValueError with a text for users."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", text)
    if match:
        return float(match[1]) / 100, 0
    if re.fullmatch(r"[0-9. ]+", text) and text.strip("0. "):
        raise ValueError(f"{text!r} needs a unit: {text.strip()}% or {text.strip()}MiB?")
    try:
        return 0.0, size(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a tolerance: write \"2%\" or a size such as \"1 MiB\"") from None


def size_text(count: int) -> str:
    """12.3 MiB, 1.23 GiB; never rounded up to 1024 of a unit."""
    if abs(count) < 1024:
        return f"{count} B"
    value, unit = float(count), "B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 1023.95:
            break
    return f"{value:.{1 if unit in ('KiB', 'MiB') else 2}f} {unit}"


def two_sizes(first: int, second: int) -> "tuple[str, str]":
    """Two sizes that differ, in texts that differ."""
    texts = size_text(first), size_text(second)
    if texts[0] == texts[1] and first != second:
        return f"{first:,} bytes", f"{second:,} bytes"
    return texts


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole > 0 else ""
