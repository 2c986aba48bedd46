# SPDX-License-Identifier: Apache-2.0
"""bench_malloc.py LIBRARY PAIRS: the loop of bench_malloc.c from Python, for memray; ns a pair
on standard output, the median of five rounds."""
import ctypes
import statistics
import sys

library = ctypes.CDLL(sys.argv[1])
library.bench_malloc_loop.restype = ctypes.c_double
library.bench_malloc_loop.argtypes = [ctypes.c_uint64]
rounds = [library.bench_malloc_loop(int(sys.argv[2]) // 5) for _ in range(5)]
print(f"{statistics.median(rounds):.1f}")
