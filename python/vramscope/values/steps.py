# SPDX-License-Identifier: Apache-2.0
"""Steps and phases of training programs that mark none themselves.

A step ends with the step() of the optimizer that stepped first, and when it is gone of the one that steps next:
gradient accumulation and further optimizers make no steps of their own. Inside a step, the phases are backward (autograd's engine
runs), optimizer (any step()), and forward, what comes before these. Between the last pass of the
engine and the optimizer, where gradients are clipped, the step has no phase. Which pass is the last
is known from the number of passes before the previous optimizer's step: one, before the first.
A step(closure) calls the forward and backward pass itself (Lightning, LBFGS): its phase is forward until
the engine has run, then optimizer.

They are ranges of the recording library on the main thread, whose range also counts for the threads
of the backward pass. At the first range or step of the program (vramscope.range, vramscope.step, NVTX)
they end for good: its own names are better. Inside the range of a test they count from 1.
Before the first optimizer, and in programs without one, only the program's line is marked
while the engine runs.
"""
import ctypes
import os
import sys
import threading
import weakref

from . import blame, hide

_place = _era = _end_all = _mark = None
_in_era = 0      # the library's era in which the names below were set (automatic_steps.h)
_step = 0        # number of the current step; 0: no optimizer yet
_nested = 0      # calls of the engine inside each other
_passes = 0      # calls of the engine since the latest step() of an optimizer
_passes_before = 1  # as many as there were between the two latest ones
_closure = False  # an optimizer's step() was called with a closure
_leader = None   # a weak reference to the optimizer that counts
_is_compiling = None


def start(torch):
    """Called when CUDA is initialised. Does nothing without the recording library."""
    global _place, _era, _end_all, _mark, _is_compiling
    try:
        library = ctypes.PyDLL(None)
        _era, _end_all = library.vramscope_automatic_era, library.vramscope_automatic_stop
        _place, _mark = library.vramscope_automatic_place, library.vramscope_mark
    except AttributeError:
        return
    _place.argtypes, _mark.argtypes = [ctypes.c_uint64, ctypes.c_char_p], [ctypes.c_char_p]
    _place.restype = _end_all.restype = _mark.restype = None
    _era.restype = ctypes.c_uint32
    _is_compiling = torch.compiler.is_compiling
    from torch.optim import optimizer
    blame.start(torch)
    _watch_ranges(torch)
    _watch_engine(torch)
    _watch_optimizers(optimizer)


def _ours():
    """May this thread mark? Dynamo sees a constant here and nothing of the rest."""
    return (_place is not None and not _is_compiling() and
            threading.current_thread() is threading.main_thread() and _follow_era())


def _follow_era():
    """False once the program marks itself. In a new era the steps are counted from 1."""
    global _in_era, _step, _passes, _passes_before, _leader
    era = _era()
    if not era or "nvtx" in sys.modules:
        _stop()
        return False
    if era != _in_era:
        _in_era, _step, _passes, _passes_before, _leader = era, 0, 0, 1, None
    return True


def _phase(name):
    """Replaces the current phase; None: none."""
    _place(_step, name)


def _mark_line():
    """Records the program's line that opened the phase: threads of the backward pass have none."""
    frame = blame.users_frame()
    if frame is not None:
        _mark(b"at %s:%d" % (os.fsencode(os.path.abspath(frame.f_code.co_filename)), frame.f_lineno))


def _next_step():
    global _step
    _step += 1
    _phase(b"forward")


def _stop():
    """The program marks itself. The main thread, which has the ranges, ends them: on another thread
    this is before its next mark (_follow_era)."""
    global _place
    if _place is None:
        return
    _end_all()
    if threading.current_thread() is threading.main_thread():
        _place = None


def _watch_ranges(torch):
    """Sees the first range of torch.cuda.nvtx."""
    try:
        from torch._C import _nvtx
        names = [n for n in ("rangePushA", "rangeStartA") if hasattr(_nvtx, n)]
    except ImportError:
        return
    originals = {n: getattr(_nvtx, n) for n in names}

    def first(name):
        @hide.hidden
        def call(*args):
            for n, original in originals.items():
                setattr(_nvtx, n, original)
            _stop()
            return originals[name](*args)
        return call

    for n in names:
        setattr(_nvtx, n, first(n))


def _watch_engine(torch):
    run = torch.autograd._engine_run_backward

    def watched(*args, **kwargs):
        global _nested, _passes
        line_only = not _nested and not _step
        if not _nested:
            if _step:
                _phase(b"backward")
            _mark_line()
        _nested += 1
        try:
            return run(*args, **kwargs)
        finally:
            _nested -= 1
            if line_only:
                _mark(b"at end")
            if not _nested and _ours() and _step:
                _passes += 1
                _phase(b"optimizer" if _closure else b"forward" if _passes < _passes_before else None)

    def _engine_run_backward(*args, **kwargs):
        if _is_compiling():
            return run(*args, **kwargs)
        try:
            return (watched if _ours() else run)(*args, **kwargs)
        except BaseException as error:
            hide.strip(error)
            raise

    torch.autograd._engine_run_backward = _engine_run_backward


def _watch_optimizers(optimizer):
    @hide.after(optimizer.Optimizer, "__init__", "the first step")
    def created(*_, **__):
        if _ours() and not _step:
            _next_step()

    def before(self, args, kwargs):
        global _passes, _passes_before, _closure
        if _ours():
            _closure = callable(args[1] if len(args) > 1 else kwargs.get("closure"))
            if not _step:
                _next_step()
            accumulated = _passes
            if accumulated:
                _passes_before, _passes = _passes, 0
            if not _closure:
                _phase(b"optimizer")
            elif accumulated:
                _phase(b"forward")
            _mark_line()

    def after(self, args, kwargs):
        global _leader, _closure, _passes
        if _closure:
            _closure, _passes = False, 0
        if _ours() and _step:
            if _leader is None or _leader() is None:
                _leader = weakref.ref(self)
            if _leader() is self:
                _next_step()
            else:
                _phase(b"forward")

    optimizer.register_optimizer_step_pre_hook(before)
    optimizer.register_optimizer_step_post_hook(after)
