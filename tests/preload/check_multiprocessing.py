# SPDX-License-Identifier: Apache-2.0
"""Python's ways to start processes, each with CUDA in its workers (and in the parent,
where that is allowed): output as without us, and every allocation in some trace.

  check_multiprocessing.py COMMAND COUNT_TRACE METHOD"""

import glob
import os
import subprocess
import sys
import tempfile

PROGRAM = """
import ctypes, multiprocessing, sys

def use(n):
    runtime = ctypes.CDLL("libcudart.so.13")
    block = ctypes.c_void_p()
    for i in range(n):
        assert runtime.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(1000 * (i + 1))) == 0
        assert runtime.cudaFree(block) == 0
    return n

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    if sys.argv[1] != "fork":
        use(4)
    with multiprocessing.Pool(3) as pool:
        print(sum(pool.map(use, [5, 6, 7, 8], chunksize=1)))
    if sys.argv[1] == "fork":
        use(4)
"""


def main():
    command, count_trace, method = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        run = subprocess.run([command, "run", "-q", "--simulate", "t4-16g,capacity=1GiB,context=400MiB", "-o", "%n.%p.vst",
                              "--", sys.executable, program, method],
                             cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "26\n", ""), run
        total = 0
        traces = glob.glob(os.path.join(folder, "*.vst"))
        for trace in traces:
            output = subprocess.run([count_trace, trace], capture_output=True, text=True,
                                    check=True).stdout
            device = next(line for line in output.splitlines() if line.startswith("family 0 "))
            allocations, frees = map(int, device.split()[2:4])
            assert allocations == frees, output
            total += allocations
        assert total == 30 and len(traces) >= 2, (total, traces)


main()
