# SPDX-License-Identifier: Apache-2.0
"""The effect of each change, in the run's notes (vramscope_values.notes), written at the end of the process.

`changed`: NAME is the line of the program to change, BYTES how often the change took effect, TEXT the
code to write there. `unchanged`: TEXT says why it had no effect; a change that the program got in the
way of has this line alone, although it took effect somewhere. Processes of PyTorch's own modules and
those that did not use CUDA, such as torchrun's, write neither. The program's lines are those outside
Python's and installed packages' folders.
"""
import atexit
import os
import sys

from vramscope_values import blame, notes

_torch = None


def start(torch):
    global _torch
    _torch = torch


def place():
    """FILE:LINE of the program's innermost frame."""
    last = None
    for last in blame.frames():
        if blame.is_users(last):
            return blame.place(last)
    return blame.place(last) if last else "?"


def variable(is_it):
    """The name that the program's innermost frame has for a model; "model" if it has none."""
    frame = blame.users_frame()
    found = (name for name, value in (frame.f_locals.items() if frame else ())
             if isinstance(value, _torch.nn.Module) and is_it(value))
    return next(found, "model")


def name_of(cls):
    """As the program would write it."""
    return f"torch.optim.{cls.__name__}" if cls.__module__.startswith("torch.optim") else cls.__name__


def is_programs():
    """Is this a process of the program that used CUDA? torch.compile has workers of its own."""
    own = os.path.join(os.path.dirname(_torch.__file__), "")
    return _torch.cuda.is_initialized() and not (sys.argv or [""])[0].startswith(own)


class Effect:
    """One change of the run. *why*: the reason in its note if it never takes effect."""

    def __init__(self, name, why="the program never got there"):
        self.name, self.why = name, why
        self.count, self.where, self.code, self.refused = 0, "?", "", None
        self.others = {}     # further lines where the same has to be written
        self.inside = False  # for a change that calls the replaced function
        atexit.register(self._end, os.getpid())

    def took(self, code, where=None, count=1):
        """It took effect. The code and the place are those of the first time."""
        if not self.code:
            self.code, self.where = code, where or place()
        self.count += count

    def took_at_each(self, code):
        """Likewise, of a change that has to be written wherever it took effect."""
        where = place()
        self.took(code, where)
        if where != self.where:
            self.others[where] = None

    def refuse(self, why):
        """The program's own code makes the change impossible or needless."""
        self.refused = self.refused or why

    def _end(self, pid):
        if pid != os.getpid() or not is_programs():
            return
        if self.count and not self.refused:
            also = f"; likewise at {', '.join(self.others)}" if self.others else ""
            notes.write("changed", self.where, self.code + also, self.count, library=self.name)
        else:
            notes.write("unchanged", self.where, self.refused or self.why, library=self.name)
