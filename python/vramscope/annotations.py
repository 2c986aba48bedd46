# SPDX-License-Identifier: Apache-2.0
"""Names for parts of a program in its trace: ranges, steps, marks, single allocations.

All of them do nothing in a process that is not recorded, so they may stay in a program.
"""
from __future__ import annotations

import functools
import inspect
import threading
from types import TracebackType
from typing import Any, Callable, List, Optional, Type, TypeVar

from vramscope import library

_Function = TypeVar("_Function", bound=Callable[..., Any])


class range:  # noqa: A001: the name of the concept, as in torch.cuda.nvtx.range
    """A named range of the calling thread, as a context manager or decorator. Ranges nest; reports
    list them as phases."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "range":
        found = library.find()
        if found is not None:
            found.range_push(self.name.encode())
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        found = library.find()
        if found is not None:
            found.range_pop()

    def __call__(self, function: _Function) -> _Function:
        if (inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function)
                or inspect.isasyncgenfunction(function)):
            raise TypeError(f"vramscope.range({self.name!r}) is a range of the thread, and {function.__qualname__} "
                            f"does not run at once: use it as a context manager where nothing waits")

        @functools.wraps(function)
        def inside(*args: Any, **keywords: Any) -> Any:
            with self:
                return function(*args, **keywords)
        return inside  # type: ignore[return-value]


class _Steps(threading.local):
    latest = 0


_steps = _Steps()
step_listeners: List[Callable[[int], None]] = []  # called when a step begins, in its thread


def step(number: Optional[int] = None) -> int:
    """Begin step *number* of the calling thread, and end the one before; without a number, the one
    after the latest. Call it at the start of each iteration. Returns the number."""
    _steps.latest = _steps.latest + 1 if number is None else int(number)
    if _steps.latest < 0:
        raise ValueError(f"step {_steps.latest}: steps are numbered from 0")
    found = library.find()
    if found is not None:
        found.step(_steps.latest)
    for listener in step_listeners:
        listener(_steps.latest)
    return _steps.latest


def step_end() -> None:
    """End the latest step of the calling thread."""
    found = library.find()
    if found is not None:
        found.step_end()


def annotate(name: Optional[str]) -> None:
    """Name the next allocation of the calling thread; under PyTorch the next one of a tensor. None
    takes the name back."""
    found = library.find()
    if found is not None:
        found.annotate(None if name is None else name.encode())


def mark(name: str) -> None:
    """Record a named point in time."""
    found = library.find()
    if found is not None:
        found.mark(name.encode())
