# SPDX-License-Identifier: Apache-2.0
#
# bench_python.py BUILD/tests [EVENTS]: ns per recorded event in a Python program, half of the
# events with a stack: without stacks, with the native frames alone, and with 20 native and 15
# Python frames merged. Runs under any Python from 3.9 on.
import ctypes
import os
import sys
import tempfile

folder, events = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
bench = ctypes.PyDLL(os.path.join(folder, "libbench_python.so"))
chain = ctypes.PyDLL(os.path.join(folder, "libbench_python_chain.so")).bench_chain
bench.bench_record.restype = ctypes.c_double


def at_depth(frames, call):
    return at_depth(frames - 1, call) if frames > 1 else call()


def record(native, python, frames):
    nodes, size = ctypes.c_uint64(), ctypes.c_double()
    with tempfile.TemporaryDirectory(prefix="vs_bench_") as scratch:
        path = os.path.join(scratch, "t.vst").encode()
        cost = at_depth(frames - 3, lambda: bench.bench_record(
            path, chain, native, python, ctypes.c_uint64(events), ctypes.byref(size),
            ctypes.byref(nodes)))
    return cost, nodes.value, size.value


print("Python %s, %d events, best of 100 slices" % (sys.version.split()[0], events))
for what, native, python, frames in (
        ("without stacks", -1, 0, 15), ("native frames alone", 14, 0, 15),
        ("20 native and 15 Python frames", 14, 1, 15), ("20 native and 30 Python frames", 14, 1, 30)):
    cost, nodes, size = record(native, python, frames)
    print("  %-32s %8.1f ns/event %8.2f bytes/event %6d stack nodes" % (what, cost, size, nodes))
