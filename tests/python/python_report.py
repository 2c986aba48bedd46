# SPDX-License-Identifier: Apache-2.0
#
# The victims' allocation function: after each allocation it writes Python's own view of the stack,
# a JSON line with the size, which is unique within a process, and the frames, innermost first.
# Every process writes its own file, with its pid in the name. Arguments: the CUDA runtime, and the
# prefix of the file names.
import contextlib
import ctypes
import importlib.util
import itertools
import json
import os
import sys
import threading

runtime = ctypes.CDLL(sys.argv[1])
runtime_locked = ctypes.PyDLL(sys.argv[1])  # holds the GIL
reported = None
sizes = itertools.count(4097)


def report_path():
    return "%s.%d" % (sys.argv[2], os.getpid())


def begin():
    """Called here, and in every forked child."""
    global reported
    reported = os.open(report_path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


begin()
os.register_at_fork(after_in_child=begin)


def frames_from(frame):
    chain = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        if not code.co_filename.startswith("<vramscope>"):  # the recorder leaves out its own part
            chain.append([name, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return chain


def take_size():
    return next(sizes)


def report_line(line):
    """At once and without a lock, because a garbage collection may call this function recursively."""
    os.write(reported, (json.dumps(line) + "\n").encode())


def report(size, case, depth=1):
    report_line({"size": size, "case": case, "frames": frames_from(sys._getframe(depth))})


def malloc(size, library=runtime, case=None):
    """The allocation and its report are on one line."""
    pointer = ctypes.c_void_p()
    library.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)), case and report(size, case)


def plain(case, library=runtime):
    return malloc(take_size(), library, case)


def recurse(depth, then, *arguments):
    return recurse(depth - 1, then, *arguments) if depth else then(*arguments)


def in_threads(count, work):
    """work(n) of each number in a thread of its own, all at the same time."""
    threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def extension():
    """The extension module of the victims; None without one."""
    if len(sys.argv) < 4 or not sys.argv[3]:
        return None
    spec = importlib.util.spec_from_file_location("victim_ext", sys.argv[3])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# In an interpreter of its own, which has none of these functions: NAME calls itself DEPTH times.
SCRIPT = """
import ctypes, json, sys
runtime = ctypes.CDLL(%r)
def frames_from(frame):
    chain = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        chain.append([name, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return chain
def %s(size, depth):
    if depth:
        return %s(size, depth - 1)
    pointer = ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)); chain = frames_from(sys._getframe())
    with open(%r, "a", encoding="utf-8") as reported:
        reported.write(json.dumps({"size": size, "case": "interpreter %s", "frames": chain}) + "\\n")
%s(%d, %d)
"""


def interpreter_module():
    for name in ("_interpreters", "_xxsubinterpreters"):
        with contextlib.suppress(ImportError):
            return __import__(name)
    return None


def run_in_interpreter(module, name, isolated=False, depth=0):
    try:
        which = module.create("isolated" if isolated else "legacy")
    except (TypeError, ValueError):
        which = module.create(isolated=isolated)
    run = getattr(module, "exec", None) or module.run_string
    run(which, SCRIPT % (sys.argv[1], name, name, report_path(), name, name, take_size(), depth))
    plain("beside an interpreter")
    module.destroy(which)
