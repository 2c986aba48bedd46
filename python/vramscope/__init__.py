# SPDX-License-Identifier: Apache-2.0
"""vramscope, a GPU memory profiler, from Python.

    python -m vramscope run train.py          # records, and prints where the memory was

    import vramscope

    with vramscope.GPUMemoryTracker() as t:   # in a recorded program: peak of a part of it
        model(batch).sum().backward()
    print(t.peak_memory_mb, t.sites[0])

    vramscope.Trace("vramscope.train.812.vst").peaks   # afterwards: what a trace contains

Sizes are in bytes; names with `_mb` are in MiB (2**20 bytes), as PyTorch counts. All functions may
be called from any thread.
"""
from vramscope.annotations import annotate, mark, range, step, step_end
from vramscope.commands import (command, library_path, restart, run_command)
from vramscope.library import (Error, NotLoaded, device_stats, dump, flush, loaded, memory_info,
                               record_kernels, recording, reset_peaks, start, stats, stop, trace_path, trim, version)
from vramscope.trace_report import Event, Frame, Peak, Site, Trace, WindowPeak
from vramscope.tracker import GPUMemoryTracker, WindowStats

__version__ = version()

__all__ = [
    "Error", "Event", "Frame", "GPUMemoryTracker", "NotLoaded", "Peak", "Site", "Trace", "WindowPeak", "WindowStats",
    "annotate", "command", "device_stats", "dump", "flush", "library_path", "loaded", "mark",
    "memory_info", "range", "record_kernels", "recording", "reset_peaks", "restart", "run_command", "start", "stats",
    "step", "step_end", "stop", "trace_path", "trim", "version",
]
