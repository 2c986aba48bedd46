# SPDX-License-Identifier: Apache-2.0
"""Where a value that is not known was used: read, or to decide something.

A line is named by the innermost frame that lies outside Python's and installed packages' folders.
A value that is read and printed does no harm; one in a condition, or that gives a shape, decides
what the program does next. Which it is follows from the source around the innermost frame.
"""
import ast
import linecache
import os
import sys
import sysconfig

from . import notes

_OWN = "<vramscope>"  # startup/sitecustomize.py
_installed = ()
_spans = {}  # by file: line ranges of conditions


def start(torch):
    global _installed
    paths = sysconfig.get_paths()
    folders = {paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.add(os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__))))
    _installed = tuple(os.path.join(f, "") for f in folders)


def _frames():
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_OWN):
            yield frame
        frame = frame.f_back


def _is_users(frame):
    name = frame.f_code.co_filename
    return not name.startswith(_installed) and not name.startswith("<")


def _place(frame):
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def users_line():
    """file:line of the program's own code, or of the outermost frame if there is none of it."""
    last = None
    for last in _frames():
        if _is_users(last):
            break
    return _place(last) if last is not None else "?"


def _conditions(filename):
    """Ranges of lines (first, last) of the conditions in a file."""
    found = _spans.get(filename)
    if found is not None:
        return found
    found = []
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError):
        tree = None
    for node in ast.walk(tree) if tree is not None else ():
        tests = []
        if isinstance(node, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            tests = [node.test]
        elif isinstance(node, ast.comprehension):
            tests = node.ifs
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "bool"):
            tests = [node]
        elif isinstance(node, (ast.BoolOp, ast.Slice, ast.Match)):
            tests = [node.subject if isinstance(node, ast.Match) else node]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            tests = [node]
        found += [(t.lineno, t.col_offset, t.end_lineno, t.end_col_offset) for t in tests]
    _spans[filename] = found
    return found


def _position(frame):
    code = frame.f_code
    if hasattr(code, "co_positions"):
        for i, at in enumerate(code.co_positions()):
            if i * 2 == frame.f_lasti:
                return at
    return (frame.f_lineno, frame.f_lineno, None, None)


def decides():
    """Does the expression that reads a value stand in a condition?"""
    frame = next(_frames(), None)
    if frame is None or frame.f_code.co_filename.endswith("_tensor_str.py"):
        return False  # torch looks at values to print them
    line, _, column, _ = _position(frame)
    for first, left, last, right in _conditions(frame.f_code.co_filename):
        if first <= line <= last:
            if column is None:
                return True
            if (line, column) >= (first, left) and (line, column) < (last, right):
                return True
    return False


def read(name):
    """A value that is not known became a number."""
    if decides():
        notes.decided += 1
        notes.once("decided", name, f"{users_line()}: a condition")
    else:
        notes.read += 1


def decided(name, what):
    notes.decided += 1
    notes.once("decided", name, f"{users_line()}: {what}")
