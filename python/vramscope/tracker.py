# SPDX-License-Identifier: Apache-2.0
"""The peak memory of a part of a program, from the library in its process."""
from __future__ import annotations

import contextlib
import ctypes
import functools
import inspect
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Type

from vramscope import library
from vramscope.trace_report import Site, Trace

if TYPE_CHECKING:
    from typing import Protocol, TypeVar
    from typing_extensions import ParamSpec

    _Parameters = ParamSpec("_Parameters")
    _Result = TypeVar("_Result", covariant=True)

    class Tracked(Protocol[_Parameters, _Result]):
        """A function that a GPUMemoryTracker decorates."""

        tracker: "GPUMemoryTracker"

        def __call__(self, *args: _Parameters.args, **keywords: _Parameters.kwargs) -> _Result: ...

        def __get__(self, instance: Any, owner: Any) -> Callable[..., _Result]: ...

MIB = 1 << 20
SITES = 50


@dataclass(frozen=True)
class WindowStats:
    """Figures of one device since a tracker began, in bytes: when it began (_begin), ended or were
    read (_end), and the highest in between (_peak). *tensors*: memory of PyTorch's tensors. *user*: what
    the program uses: under PyTorch its tensors, and allocated memory that does not hold them (of cuBLAS,
    NCCL, an extension); otherwise allocated memory."""

    device: int
    allocated_begin: int = 0
    allocated_end: int = 0
    allocated_peak: int = 0
    requested_begin: int = 0
    requested_end: int = 0
    requested_peak: int = 0
    reserved_begin: int = 0
    reserved_end: int = 0
    reserved_peak: int = 0
    tensors_begin: int = 0
    tensors_end: int = 0
    tensors_peak: int = 0
    allocations: int = 0
    frees: int = 0
    failures: int = 0
    tensor_allocations: int = 0
    tensor_frees: int = 0
    begin_ns: int = 0
    end_ns: int = 0
    user_begin: int = 0
    user_end: int = 0
    user_peak: int = 0
    user_allocations: int = 0
    user_frees: int = 0

    @property
    def has_tensors(self) -> bool:
        """Does PyTorch's own allocator use the device?"""
        return bool(self.tensors_peak or self.tensor_allocations)

    @property
    def peak_bytes(self) -> int:
        """The peak of what the program uses."""
        return self.user_peak

    @property
    def begin_bytes(self) -> int:
        return self.user_begin

    @property
    def end_bytes(self) -> int:
        return self.user_end


class GPUMemoryTracker:
    """Measures GPU memory between two points of a recorded program.

        with GPUMemoryTracker("load") as t:
            model.cuda()
        print(t.peak_memory_mb, t.memory_delta_mb)

        @GPUMemoryTracker()
        def train_step(batch): ...
        train_step(batch); print(train_step.tracker.peak_bytes)

    A decorated coroutine or generator is measured from its begin to its end, with everything that runs in
    between.

    The figures are exact: every allocation counts, however short its life. Under PyTorch they are
    those of tensors, as torch.cuda.max_memory_allocated, and of memory that does not hold them;
    otherwise of all device memory that the process allocated. Trackers nest and overlap, in any
    threads. Inside the block the figures are those so far.

    *name*: the block is a range of that name in the trace; enter and leave it in one thread then.
    *device*: 1, "cuda:1" or a torch.device; "cuda" is PyTorch's current device when the block begins; None: of all
    devices the one with the highest peak. *required*: raise NotLoaded in a process that is not recorded;
    otherwise all figures are 0 and `recorded` is False.
    """

    def __init__(self, name: Optional[str] = None, *, device: Optional[library.Device] = None,
                 required: bool = True) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError("GPUMemoryTracker takes a name: write @GPUMemoryTracker() above a function")
        self._number = None if device is None else library.device_number(device)
        self.name, self.device, self.required = name, device, required
        self.recorded = False
        self._window: Optional[int] = None
        self._figures: Dict[int, WindowStats] = {}
        self._trace: Optional[str] = None
        self._sites: Optional[List[Site]] = None

    # --- the block ---

    def __enter__(self) -> "GPUMemoryTracker":
        if self._window is not None:
            raise RuntimeError("this GPUMemoryTracker is already in use: make one for each block")
        found = library.need("GPUMemoryTracker") if self.required else library.find()
        self.recorded, self._figures, self._sites = found is not None, {}, None
        if found is None:
            return self
        if self.device is not None:
            self._number = library.ordinal(self.device)
        window = found.window_begin()
        if window < 0:
            raise library.Error("GPUMemoryTracker: 256 are open already, or this is a forked child, "
                                "which has no CUDA")
        self._window = window
        if self.name is not None:
            found.range_push(self.name.encode())
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        found = library.find()
        if found is None or self._window is None:
            return
        if self.name is not None:
            found.range_pop()
        self._figures = self.figures_now()
        self._trace = library.trace_path()
        found.window_end(self._window, 0, None)
        self._window = None

    def __call__(self, function: Callable[_Parameters, _Result]) -> Tracked[_Parameters, _Result]:
        tracked: Any
        if inspect.isasyncgenfunction(function):
            raise TypeError(f"GPUMemoryTracker does not decorate asynchronous generators, such as "
                            f"{function.__qualname__}: use it as a context manager")
        if self.name is not None and (inspect.iscoroutinefunction(function)
                                      or inspect.isgeneratorfunction(function)):
            # other code runs in the thread before the function ends, and would be in the range
            raise TypeError(f"GPUMemoryTracker({self.name!r}) names a range of the thread, and "
                            f"{function.__qualname__} does not run at once: leave out the name")
        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def tracked(*args: Any, **keywords: Any) -> Any:
                with self._one_call():
                    return await function(*args, **keywords)
        elif inspect.isgeneratorfunction(function):
            @functools.wraps(function)
            def tracked(*args: Any, **keywords: Any) -> Any:
                with self._one_call():
                    return (yield from function(*args, **keywords))
        else:
            @functools.wraps(function)
            def tracked(*args: Any, **keywords: Any) -> Any:
                with self._one_call():
                    return function(*args, **keywords)
        tracked.tracker = self
        return tracked  # type: ignore[no-any-return]

    @contextlib.contextmanager
    def _one_call(self) -> Iterator[None]:
        """A tracker for each call, because calls may nest, in several threads. The last to end counts."""
        each = GPUMemoryTracker(self.name, device=self.device, required=self.required)
        try:
            with each:
                yield
        finally:
            self.recorded, self._figures, self._sites = each.recorded, each._figures, None
            self._trace, self._number = each._trace, each._number

    # --- figures ---

    def figures_now(self) -> Dict[int, WindowStats]:
        """The figures of every device so far, inside the block."""
        found = library.find()
        figures: Dict[int, WindowStats] = {}
        if found is None or self._window is None:
            return figures
        raw = library.Window()
        for device in range(library.DEVICES_MAX):
            if found.window_read(self._window, device, ctypes.byref(raw)) != 0:
                break
            figures[device] = WindowStats(
                device, **{name: int(getattr(raw, name)) for name in library.WINDOW_FIELDS})
        return figures

    @property
    def per_device(self) -> Dict[int, WindowStats]:
        """The figures of every device."""
        return self.figures_now() if self._window is not None else self._figures

    @property
    def stats(self) -> WindowStats:
        """All figures of the device: the chosen one, or the one with the highest peak."""
        figures = self.per_device
        if self._number is not None:
            if figures and self._number not in figures:
                raise library.Error(f"there is no CUDA device {self._number}")
            return figures.get(self._number, WindowStats(self._number))
        return max(figures.values(), key=lambda s: (s.peak_bytes, -s.device), default=WindowStats(0))

    @property
    def peak_bytes(self) -> int:
        """The most memory in use at any time in the block, memory from before it included."""
        return self.stats.peak_bytes

    @property
    def peak_memory_mb(self) -> float:
        """peak_bytes in MiB."""
        return self.peak_bytes / MIB

    @property
    def begin_bytes(self) -> int:
        """Memory in use when the block began."""
        return self.stats.begin_bytes

    @property
    def end_bytes(self) -> int:
        """Memory in use when it ended."""
        return self.stats.end_bytes

    @property
    def peak_increase_bytes(self) -> int:
        """How far the peak is above the begin."""
        return self.peak_bytes - self.begin_bytes

    @property
    def memory_delta_bytes(self) -> int:
        """What the block added and kept; below 0 if it freed more."""
        return self.end_bytes - self.begin_bytes

    @property
    def memory_delta_mb(self) -> float:
        """memory_delta_bytes in MiB."""
        return self.memory_delta_bytes / MIB

    @property
    def reserved_peak_bytes(self) -> int:
        """The most memory held from the device, cached memory included."""
        return self.stats.reserved_peak

    @property
    def allocations(self) -> int:
        """Allocations in the block: under PyTorch of tensors, and of memory that does not hold them."""
        return self.stats.user_allocations

    @property
    def frees(self) -> int:
        return self.stats.user_frees

    @property
    def failures(self) -> int:
        """Allocations that the device refused."""
        return self.stats.failures

    @property
    def sites(self) -> List[Site]:
        """The call sites that held the memory at the peak of the block, the largest first. Reads
        the trace, once: some tenths of a second. Empty without a trace."""
        if self._sites is not None:
            return self._sites
        s, path = self.stats, self._trace or library.trace_path()
        if path is None or not s.end_ns:
            return []
        library.flush()
        found = Trace(path, begin_ns=s.begin_ns, end_ns=s.end_ns).sites(s.device, SITES)
        if self._window is None:
            self._sites = found
        return found

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        if not self.recorded:
            return f"<GPUMemoryTracker{name}: not recorded>"
        return (f"<GPUMemoryTracker{name}: peak {self.peak_memory_mb:.1f} MiB, "
                f"{self.memory_delta_mb:+.1f} MiB>")
