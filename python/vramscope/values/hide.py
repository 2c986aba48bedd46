# SPDX-License-Identifier: Apache-2.0
"""Leaves this package out of the tracebacks and of the memory history that the program sees.

The program's calls pass through functions of this package. An exception that does so has their frames
in its traceback, where a user would look for an error of the program. The functions that the program
or PyTorch calls remove them: the frames below, such as those of PyTorch, stay. A bare `raise` adds no
frame of the function that it is in. PyTorch's memory history has the Python stack of each allocation; the
snapshots of it, which the program reads or dumps, are given without these frames.
"""
import functools

from . import notes

_OWN = "<vramscope>"  # startup/sitecustomize.py


def strip(error):
    """Removes the frames of this package from the traceback of *error*."""
    kept = []
    entry = error.__traceback__
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(_OWN):
            kept.append(entry)
        entry = entry.tb_next
    for entry, below in zip(kept, kept[1:] + [None]):
        if entry.tb_next is not below:
            entry.tb_next = below
    error.__traceback__ = kept[0] if kept else None


def hidden(function):
    """*function*, which the program calls in place of another one, without frames of this package in
    what it raises."""
    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            strip(error)
            raise
    return call


def replace(owner, name):
    """A decorator: the function takes the place of *owner*'s *name*, which it gets as its first argument."""
    def decorate(function):
        original = getattr(owner, name)

        @hidden
        @functools.wraps(original)
        def call(*args, **kwargs):
            return function(original, *args, **kwargs)

        setattr(owner, name, call)
        return call
    return decorate


def after(owner, name, what, failed=notes.failure):
    """A decorator: the function gets the result and the arguments of each call of *owner*'s *name*. What it
    raises is given to *failed*, with *what* failed."""
    def decorate(function):
        @replace(owner, name)
        def call(original, *args, **kwargs):
            result = original(*args, **kwargs)
            try:
                function(result, *args, **kwargs)
            except Exception as error:
                failed(what, error)
            return result
        return call
    return decorate


def start(torch):
    @after(torch._C, "_cuda_memorySnapshot", "the stacks of a snapshot")  # torch.cuda.memory takes all from here
    def clean(result, *_, **__):
        _clean(result, set())


def _clean(value, seen):
    """Removes the frames of this package from the stacks in a part of a snapshot. *seen*: the stacks that
    are done, by identity; several entries may share one."""
    if isinstance(value, list):
        for part in value:
            _clean(part, seen)
    elif isinstance(value, dict):
        for key, part in value.items():
            if key != "frames":
                _clean(part, seen)
            elif id(part) not in seen:
                seen.add(id(part))
                part[:] = [f for f in part if not f["filename"].startswith(_OWN)]
