# SPDX-License-Identifier: Apache-2.0
#
# What the victims allocate with: each time they write down what Python itself says of the
# stack, a JSON line with the bytes asked for, which no two allocations of a process share,
# and the frames, innermost first. Every process has a file of its own, with its number in
# the name. Arguments: the CUDA runtime, and how the files' names begin.
import ctypes
import itertools
import json
import os
import sys

runtime = ctypes.CDLL(sys.argv[1])
runtime_locked = ctypes.PyDLL(sys.argv[1])  # keeps the GIL
reported = None
sizes = itertools.count(4097)


def report_path():
    return "%s.%d" % (sys.argv[2], os.getpid())


def begin():
    """Here, and in every child that begins as a copy."""
    global reported
    reported = os.open(report_path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


begin()
os.register_at_fork(after_in_child=begin)


def frames_from(frame):
    chain = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        chain.append([name, code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return chain


def take_size():
    return next(sizes)


def report_line(line):
    """At once and without a lock, as a collection on the way may bring us here again."""
    os.write(reported, (json.dumps(line) + "\n").encode())


def report(size, case, depth=1):
    report_line({"size": size, "case": case, "frames": frames_from(sys._getframe(depth))})


def malloc(size, library=runtime, case=None):
    """The allocation and its report share a line."""
    pointer = ctypes.c_void_p()
    library.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)), case and report(size, case)


def plain(case, library=runtime):
    return malloc(take_size(), library, case)
