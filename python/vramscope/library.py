# SPDX-License-Identifier: Apache-2.0
"""The C API (vramscope.h) of the library in this process, through ctypes.

The library is looked up among the symbols of the process: it is there if the process was started
by `vramscope run`, with LD_PRELOAD, or if part of the program is linked with it. Loading it later
would not record anything, because the program has its CUDA functions by then.
"""
from __future__ import annotations

import ctypes
import os
import re
import sys
from typing import Any, Callable, Dict, Optional, Tuple, Union

DEVICES_MAX = 64
FALLBACK_VERSION = "0.1.0"  # as in CMakeLists.txt, which tests compare


class Error(RuntimeError):
    """A call that failed; the text says why and what to do."""


class NotLoaded(Error):
    """This process is not recorded: it was not started by `vramscope run`."""


DEVICE_FIELDS = ("allocated", "requested", "reserved", "allocated_peak", "requested_peak",
                 "reserved_peak", "allocations", "frees", "failures")
WINDOW_FIELDS = ("allocated_begin", "allocated_end", "allocated_peak",
                 "requested_begin", "requested_end", "requested_peak",
                 "reserved_begin", "reserved_end", "reserved_peak",
                 "tensors_begin", "tensors_end", "tensors_peak",
                 "allocations", "frees", "failures", "tensor_allocations", "tensor_frees",
                 "begin_ns", "end_ns",
                 "user_begin", "user_end", "user_peak", "user_allocations", "user_frees")


class DeviceStats(ctypes.Structure):
    """struct vramscope_device_stats."""

    _fields_ = [(name, ctypes.c_uint64) for name in DEVICE_FIELDS]


class Window(ctypes.Structure):
    """struct vramscope_window_stats."""

    _fields_ = [(name, ctypes.c_uint64) for name in WINDOW_FIELDS]


_VISIT = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p)
_UINT64 = ctypes.POINTER(ctypes.c_uint64)
_PROTOTYPES: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "vramscope_version": (ctypes.c_char_p, ()),
    "vramscope_recording": (ctypes.c_int, ()),
    "vramscope_trace_path": (ctypes.c_int, (ctypes.c_char_p, ctypes.c_size_t)),
    "vramscope_get_device_stats": (ctypes.c_int, (ctypes.c_int, ctypes.POINTER(DeviceStats))),
    "vramscope_reset_peaks": (ctypes.c_int, (ctypes.c_int,)),
    "vramscope_get_memory_info": (ctypes.c_int, (ctypes.c_int, _UINT64, _UINT64)),
    "vramscope_visit_statistics": (ctypes.c_int, (ctypes.c_int, _VISIT, ctypes.c_void_p)),
    "vramscope_window_begin": (ctypes.c_int64, ()),
    "vramscope_window_read": (ctypes.c_int, (ctypes.c_int64, ctypes.c_int, ctypes.POINTER(Window))),
    "vramscope_window_end": (ctypes.c_int, (ctypes.c_int64, ctypes.c_int, ctypes.POINTER(Window))),
    "vramscope_range_push": (None, (ctypes.c_char_p,)),
    "vramscope_range_pop": (None, ()),
    "vramscope_step": (None, (ctypes.c_uint64,)),
    "vramscope_step_end": (None, ()),
    "vramscope_annotate": (None, (ctypes.c_char_p,)),
    "vramscope_mark": (None, (ctypes.c_char_p,)),
    "vramscope_trim": (ctypes.c_uint64, (ctypes.c_int,)),
    "vramscope_stop_recording": (ctypes.c_int, ()),
    "vramscope_start_recording": (ctypes.c_int, ()),
    "vramscope_record_kernels": (ctypes.c_int, (ctypes.c_int,)),
    "vramscope_flush": (None, ()),
    "vramscope_dump": (ctypes.c_int, (ctypes.c_char_p,)),
}


class Library:
    """The functions of one loaded library, by their names without `vramscope_`."""

    def __init__(self, dll: ctypes.CDLL) -> None:
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(dll, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name[len("vramscope_"):], function)

    def __getattr__(self, name: str) -> Callable[..., Any]:  # for type checkers
        raise AttributeError(name)


_found: Optional[Library] = None
_looked = False


def find() -> Optional[Library]:
    """The library of this process; None without one."""
    global _found, _looked
    if not _looked:
        program = ctypes.CDLL(None, use_errno=True)
        try:
            _found = Library(program) if hasattr(program, "vramscope_version") else None
        except AttributeError as error:
            raise Error(f"the vramscope library in this process is older than this package: it has "
                        f"no {error}. Run the program with `python -m vramscope run`") from None
        _looked = True
    return _found


def _this_command() -> str:
    """The command line of this process, as somebody would type it under `vramscope run`."""
    arguments = list(getattr(sys, "orig_argv", [])) or [sys.executable, *sys.argv]
    words = [os.path.basename(arguments[0]), *arguments[1:]]
    text = " ".join(words)
    return text if len(text) <= 100 and "\n" not in text else "python PROGRAM"


def need(what: str) -> Library:
    """The library of this process. NotLoaded, naming *what* needs it, without one."""
    library = find()
    if library is None:
        raise NotLoaded(f"{what} needs a process that vramscope records, and this one is not. "
                        f"Start it with\n    python -m vramscope run -- {_this_command()}\n"
                        f"On a machine without a GPU add --simulate h100-80g before the --.")
    return library


def loaded() -> bool:
    """Is the library in this process? If so, it records from the first CUDA call on."""
    return find() is not None


def recording() -> bool:
    """Is a trace being recorded now? False before the first CUDA call, after stop(), and in a
    process without the library."""
    library = find()
    return library is not None and bool(library.recording())


def version() -> str:
    """The version of the library in this process; without one, of this package."""
    library = find()
    return library.version().decode() if library is not None else FALLBACK_VERSION


def trace_path() -> Optional[str]:
    """The trace that this process records; None before its first CUDA call and without a trace."""
    library = find()
    if library is None:
        return None
    length = library.trace_path(None, 0)
    if length < 0:
        return None
    text = ctypes.create_string_buffer(length + 1)
    library.trace_path(text, length + 1)
    return os.path.abspath(os.fsdecode(text.value))


def uncomputed_reads() -> int:
    """How many values this process has read that no kernel of the simulated GPU computed; 0 on a real GPU."""
    try:
        count = ctypes.CDLL("libcuda.so.1", os.RTLD_NOLOAD | os.RTLD_NOW).vramscopeSimUncomputedReads
    except (OSError, AttributeError):
        return 0
    count.restype = ctypes.c_uint64
    return int(count())


def flush() -> None:
    """Write everything recorded so far to the trace. Returns when it is written."""
    library = find()
    if library is not None:
        library.flush()


def dump(path: "os.PathLike[str] | str") -> str:
    """Write a complete trace of everything so far to *path*; the recording goes on. Returns the
    path. OSError if it cannot be written."""
    library = need("vramscope.dump()")
    name = os.fspath(path)
    if library.dump(os.fsencode(name)) != 0:
        error = ctypes.get_errno()
        if trace_path() is None:
            raise Error("vramscope.dump(): this process has recorded nothing yet: it has not called "
                        "CUDA, or it was started with record=off")
        raise OSError(error, os.strerror(error), name)
    return name


def stop() -> None:
    """Stop recording single allocations, kernels and copies. Totals and peaks stay exact."""
    if need("vramscope.stop()").stop_recording() != 0:
        raise Error("vramscope.stop(): this process has no trace (record=off, or a forked child)")


def start() -> None:
    """Continue the recording after stop()."""
    if need("vramscope.start()").start_recording() != 0:
        raise Error("vramscope.start(): this process has no trace (record=off, or a forked child)")


def record_kernels(on: bool = True) -> None:
    """Record kernels, copies and waits from here on, or no longer; memory is recorded throughout."""
    if need("vramscope.record_kernels()").record_kernels(int(on)) != 0:
        raise Error("vramscope.record_kernels(): this process records no kernels (kernels=off, no trace, or a "
                    "forked child)")


Device = Union[int, str, Any]  # 1, "cuda:1" or torch.device("cuda:1"); Any: torch need not be there


def _no_device(device: int) -> Error:
    return Error(f"there is no CUDA device {device}, or this process has not used it yet")


def device_number(device: Device) -> Optional[int]:
    """The number of *device*; None for "cuda" and torch.device("cuda"), PyTorch's current device. Makes no
    CUDA call."""
    if isinstance(device, int) and not isinstance(device, bool):
        if not 0 <= device < DEVICES_MAX:
            raise _no_device(device)
        return device
    match = re.fullmatch(r"cuda(?::(\d{1,4}))?", str(device))
    if match is None or device is None:
        raise TypeError(f"device takes a number, \"cuda:1\" or torch.device(\"cuda:1\"), not {device!r}")
    return None if match.group(1) is None else device_number(int(match.group(1)))


def ordinal(device: Device) -> int:
    """The number of *device*. Does not initialize CUDA in PyTorch, whose current device is 0 before."""
    number = device_number(device)
    if number is not None:
        return number
    torch: Any = sys.modules.get("torch")
    try:
        return int(torch.cuda.current_device()) if torch is not None and torch.cuda.is_initialized() else 0
    except AttributeError:  # still being imported
        return 0


def device_stats(device: Device = 0) -> Dict[str, int]:
    """Allocated, requested and reserved memory of *device*, their peaks, and counts, by the names
    of struct vramscope_device_stats. Under PyTorch allocated memory is that of its segments."""
    stats, device = DeviceStats(), ordinal(device)
    if need("vramscope.device_stats()").get_device_stats(device, ctypes.byref(stats)) != 0:
        raise _no_device(device)
    return {name: int(getattr(stats, name)) for name in DEVICE_FIELDS}


def memory_info(device: Device = 0) -> Tuple[int, int]:
    """Free and total memory of *device*. Memory cached by vramscope's allocator is free."""
    device = ordinal(device)
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    if need("vramscope.memory_info()").get_memory_info(device, ctypes.byref(free),
                                                       ctypes.byref(total)) != 0:
        raise _no_device(device)
    return free.value, total.value


def reset_peaks(device: Device = 0) -> None:
    """Peaks of *device* restart from the current values: those of device_stats() and of stats(), under
    PyTorch its own as well. Open GPUMemoryTrackers keep theirs."""
    device = ordinal(device)
    if need("vramscope.reset_peaks()").reset_peaks(device) != 0:
        raise _no_device(device)
    if _torch_stats(device) is not None:
        sys.modules["torch"].cuda.reset_peak_memory_stats(device)


def trim(device: Device = 0) -> int:
    """Release unused cached memory of vramscope's allocator to the driver. Returns the bytes."""
    device = ordinal(device)
    memory_info(device)  # there is such a device
    return int(need("vramscope.trim()").trim(device))


def _torch_stats(device: int) -> Optional[Dict[str, int]]:
    """PyTorch's own statistics, if it is imported and uses CUDA with its own allocator."""
    torch: Any = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return None
        return {str(key): int(value) for key, value in torch.cuda.memory_stats(device).items()}
    except (AttributeError, RuntimeError):  # still being imported; another allocator is in use
        return None


def stats(device: Device = 0) -> Dict[str, int]:
    """Statistics by the keys of torch.cuda.memory_stats, such as "allocated_bytes.all.peak".

    They are those of the allocator that serves *device*: PyTorch's where the program uses it,
    vramscope's with --allocator=caching. Where vramscope only observes a program without PyTorch,
    the keys of allocated, requested and reserved bytes and of allocations are those of the driver.
    """
    library, device = find(), ordinal(device)
    theirs = _torch_stats(device)
    if library is None:
        if theirs is not None:
            return theirs
        need("vramscope.stats()")
    assert library is not None
    values: Dict[str, int] = {}

    def visit(key: bytes, value: int, _: object) -> None:
        values[key.decode()] = value

    if library.visit_statistics(device, _VISIT(visit), None) != 0:
        raise _no_device(device)
    if theirs is not None and theirs.get("allocation.all.allocated"):
        return theirs  # also where a MemPool of PyTorch's has its segments from vramscope's allocator
    if values["segment.all.allocated"]:
        return values
    if theirs is not None:
        return theirs
    own = device_stats(device)
    for name in ("allocated", "requested", "reserved"):
        values[f"{name}_bytes.all.current"] = own[name]
        values[f"{name}_bytes.all.peak"] = own[f"{name}_peak"]
    values["allocation.all.current"] = own["allocations"] - own["frees"]
    values["allocation.all.allocated"], values["allocation.all.freed"] = own["allocations"], own["frees"]
    values["num_ooms"] = own["failures"]
    return values
