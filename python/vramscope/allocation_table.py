# SPDX-License-Identifier: Apache-2.0
"""The allocations of a trace as a pandas.DataFrame: the rows of `vramscope export -f csv`, read while the
command writes them. Texts that repeat are categories, so that a million rows need about 200 MB."""
from __future__ import annotations

import subprocess
import tempfile
from typing import Any, List, Optional

from vramscope import commands, library

# Nullable where a value may be missing: memory of the host has no device, live memory has no end, and
# memory outside of steps has no step.
_NUMBERS = {"event": "int64", "device": "Int64", "requested_bytes": "int64", "size_bytes": "int64",
            "allocated_ns": "int64", "end_event": "Int64", "end_ns": "Int64", "step": "Int64",
            "stream": "uint64", "context": "uint64", "thread": "int64"}
_CATEGORIES = ("end", "site", "library", "phase", "kind", "family")
_MISSING = {"device": ["host"], "end_event": [""], "end_ns": [""], "step": [""]}


def read(words: List[str]) -> Any:
    """The table that the command line *words* of an export writes. ImportError without pandas;
    library.Error if the command fails."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("Trace.to_pandas() needs pandas: pip install pandas. Without it, Trace.csv() has "
                          "the same rows") from error
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            [commands.command(), *words], stdout=subprocess.PIPE, stderr=errors,
            env=commands.environment()) as process:
        unreadable: Optional[ValueError] = None
        try:
            frame = pandas.read_csv(
                process.stdout, dtype={**_NUMBERS, **dict.fromkeys(_CATEGORIES, "category"), "address": "str"},
                keep_default_na=False, na_values=_MISSING)
        except ValueError as error:  # no header, or part of a row: the command failed
            frame, unreadable = None, error
        finally:
            assert process.stdout is not None
            process.stdout.close()
        status = process.wait()
        errors.seek(0)
        text = errors.read().decode(errors="replace").strip()
    if status != 0:
        raise library.Error(text or f"vramscope {words[0]} ended with status {status}")
    if frame is None:
        raise library.Error(f"cannot read the table of vramscope {words[0]}: {unreadable}") from unreadable
    frame["address"] = [int(text, 16) for text in frame["address"]]
    return frame.astype({"address": "uint64"})
