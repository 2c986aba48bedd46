# SPDX-License-Identifier: Apache-2.0
"""Reports each use of a value that was not computed: the line, the expression, the value read.

The line is that of the innermost frame outside Python's and installed packages' folders. If the
condition itself is in a package, as in GradScaler.step, its file and line follow.
"""
import os
import sys
import sysconfig

from . import driver, notes, source

_OWN = "<vramscope>"  # startup/sitecustomize.py
# torch prints a tensor, times a kernel, or draws random weights again that are out of range
_HARMLESS = ("_tensor_str.py", "triton_heuristics.py", os.path.join("torch", "nn", "init.py"))
_PASSES = (os.path.join("torch", "_tensor.py"), os.path.join("torch", "overrides.py"))
_installed = ()


def start(torch):
    global _installed
    paths = sysconfig.get_paths()
    folders = {paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.add(os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__))))
    _installed = tuple(os.path.join(f, "") for f in folders)


def frames():
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith((_OWN, "<frozen ")):  # runpy of `python -m`
            yield frame
        frame = frame.f_back


def is_users(frame):
    name = frame.f_code.co_filename
    return not (name.startswith(_installed) or name.startswith("<") or "torchinductor_" in name
                or "/site-packages/" in name or "/dist-packages/" in name)  # a user's, the system's


def users_frame():
    """The program's innermost frame; None if only Python and installed packages are running."""
    return next(filter(is_users, frames()), None)


def place(frame):
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def _use():
    """(what, site): READS or DECIDES, and its line with the expression; None: torch itself reads it, as
    to print it, or a package checks it for NaN, as Hugging Face's Trainer does."""
    using, what, text = None, source.READS, ""
    users = last = None
    for last in frames():
        name = last.f_code.co_filename
        if using is None:
            if name.endswith(_HARMLESS):
                return None
            if not name.endswith(_PASSES):
                what, text = source.use(last)
                if what != source.RETURNS:
                    using = last
        if users is None and is_users(last):
            users = last
        if using is not None and users is not None:
            break
    if what == source.CHECKS:
        if not is_users(using):
            return None
        what = source.DECIDES
    if what == source.RETURNS:
        what = source.READS
    users = using if using is not None and is_users(using) else users or last
    if users is None:
        return what, "?"
    site = place(users) + (f": `{text}`" if text else "")
    if using is not None and using is not users:
        site += f" in {place(using)}"
    return what, site


def _number(value):
    if type(value) is float:
        return f"{value:.6g}"
    return str(value)


_latest = None  # (site, what was read there) of the latest value that was not computed; None: no such


def _remember(site, text):
    """A program that an exception ends may have divided by a loss that nobody computed: the value
    that it read last is named below the traceback."""
    global _latest
    if _latest is None:
        earlier = sys.excepthook

        def explain(kind, error, trace):
            earlier(kind, error, trace)
            if (sys.stderr is not None and issubclass(kind, Exception)
                    and not issubclass(kind, (OSError, ImportError, MemoryError))
                    and kind.__name__ != "OutOfMemoryError"):
                print("vramscope: the latest value that the simulated GPU did not compute: "
                      f"{': '.join(_latest)}. The error above may follow from it; --values=SIZE "
                      "computes larger tensors.", file=sys.stderr)
        sys.excepthook = explain
    _latest = site, text


def _decided(site, text):
    notes.decided += 1
    _remember(site, text)
    driver.decided(f"{site}: {notes.count('decided', site, text)}")


def read(value=None):
    """A value that was not computed became the Python number *value*, or, with None, a copy in the
    host's memory."""
    found = _use()
    if found is None:
        return
    what, site = found
    text = "copied to the host" if value is None else f"read as {_number(value)}"
    if what == source.DECIDES:
        _decided(site, text)
    else:
        notes.read += 1
        _remember(site, text)
        notes.count("read", site, text)


def decided_shape(shape, largest, most=None):
    """An operation on values that were not computed has a result of this shape. *largest*: it is the
    largest possible one, since nothing better is known. *most*: the largest possible one is this."""
    found = _use()
    if found is None:
        return
    _decided(found[1], f"result of shape {list(shape)}" + (", the largest possible" if largest else f", at most {most}" if most else ""))
