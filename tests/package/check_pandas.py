#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vramscope.Trace.to_pandas with real pandas: the same rows as csv(), their types, and the memory that
they need. Skipped (77) without pandas.

    check_pandas.py SOURCE BUILD
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

import pandas_environment

ROWS = 200000
PROGRAM = """
import ctypes, sys, vramscope
cuda = ctypes.CDLL("libcudart.so")
cuda.cudaFree.argtypes = [ctypes.c_void_p]
def allocate(size):
    pointer = ctypes.c_void_p()
    assert cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
    return pointer
if len(sys.argv) > 1:
    for number in range(int(sys.argv[1])):
        cuda.cudaFree(allocate(4096))
    sys.exit()
kept = allocate(3 << 20)
for number in range(3):
    vramscope.step(number)
    with vramscope.range("NA"):
        cuda.cudaFree(allocate(5 << 20))
vramscope.step_end()
host = ctypes.c_void_p()
assert cuda.cudaMallocHost(ctypes.byref(host), ctypes.c_size_t(1 << 20)) == 0
"""


def rows():
    """In the environment with pandas: small.vst and large.vst in the present folder."""
    import pandas
    import resource
    import vramscope
    trace = vramscope.Trace("small.vst")
    frame = trace.to_pandas()
    texts = list(csv.DictReader(trace.csv().splitlines()))
    assert len(frame) == len(texts) == 5 and list(frame.columns) == list(texts[0])
    for name, dtype in (("event", "int64"), ("device", "Int64"), ("address", "uint64"), ("size_bytes", "int64"),
                        ("allocated_ns", "int64"), ("end_ns", "Int64"), ("step", "Int64"), ("site", "category"),
                        ("end", "category"), ("kind", "category"), ("stream", "uint64"), ("thread", "int64")):
        assert str(frame[name].dtype) == dtype, (name, frame.dtypes)
    for number, row in enumerate(texts):
        for name, text in row.items():
            value = frame.loc[number, name]
            if text in ("", "host") and name in ("device", "end_event", "end_ns", "step"):
                assert value is pandas.NA, (number, name, value)
            elif frame[name].dtype == "category":
                assert value == text, (number, name, value, text)
            else:
                assert int(value) == int(text, 0), (number, name, value, text)
    on_device = frame[frame.device == 0]
    assert on_device.size_bytes.sum() == (3 + 3 * 5) << 20
    assert frame[frame.end == ""].size_bytes.sum() == 4 << 20  # live at the end, 1 MiB on the host
    assert list(on_device[on_device.phase.str.endswith("NA")].step) == [0, 1, 2], frame.phase
    assert (frame.end_ns - frame.allocated_ns).dropna().ge(0).all()
    begin = trace.start_ns + int(on_device[on_device.step == 2].allocated_ns.iloc[0])
    part = vramscope.Trace("small.vst", begin_ns=begin).to_pandas()
    assert len(part) == 3, part  # what is live in this part
    assert len(vramscope.Trace("small.vst", begin_ns=begin, end_ns=begin + 10**15).to_pandas()) == 3
    with open("bad.vst", "w", encoding="utf-8") as file:
        file.write("nothing")
    try:
        vramscope.Trace("bad.vst").to_pandas()
    except vramscope.Error as error:
        assert "bad.vst" in str(error), error
    else:
        raise AssertionError("bad.vst was read")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    frame = vramscope.Trace("large.vst").to_pandas()
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10) - before
    assert len(frame) == ROWS and (frame.size_bytes == 4096).all()
    kept = int(frame.memory_usage(deep=True).sum())
    print(f"pandas {pandas.__version__}: {kept // ROWS} bytes per row, {used // ROWS} while it is read")
    assert kept < 130 * ROWS and used < 600 * ROWS, (kept, used)


def without_pandas():
    import vramscope
    sys.modules["pandas"] = None  # type: ignore[assignment]
    try:
        vramscope.Trace("small.vst").to_pandas()
    except ImportError as error:
        assert "pip install pandas" in str(error) and "Trace.csv()" in str(error), error
    else:
        raise AssertionError("no ImportError")


def main():
    source, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    if not pandas_environment.PANDAS.complete():
        pandas_environment.skip("pandas is not installed; `tests/package/pandas_environment.py fetch` installs it "
                                "in build/pandas")
    env = {k: v for k, v in os.environ.items() if not k.startswith("VRAMSCOPE_") and k != "LD_PRELOAD"}
    env.update(PYTHONPATH=str(source / "python"), PATH=f"{build / 'bin'}:{env['PATH']}", PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as scratch:
        for name, words in (("small", ()), ("large", (str(ROWS),))):
            subprocess.run([sys.executable, "-m", "vramscope", "run", "-q", "--simulate", "t4-16g", "-o",
                            f"{name}.vst", "--", sys.executable, "-c", PROGRAM, *words], env=env, cwd=scratch,
                           check=True, timeout=600)
        for python, case in ((sys.executable, "without_pandas"), (pandas_environment.PANDAS.python, "rows")):
            subprocess.run([python, __file__, case], env=env, cwd=scratch, check=True, timeout=600)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        globals()[sys.argv[1]]()
    else:
        main()
