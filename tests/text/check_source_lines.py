#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report --full` has the source line below each function of the user's, says where the file changed after
the program started, and is without such lines where the file is missing or no source code.

    check_source_lines.py COMMAND"""
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = """import ctypes
cuda = ctypes.CDLL("libcudart.so")
def take(size):
    p = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(size))  # a comment
    return p
def main():
    return [take(1 << 20) for _ in range(3)]
main()
"""


def full(command, trace):
    return subprocess.run([command, "report", "--full", trace], capture_output=True, text=True, timeout=60, check=True).stdout


def main():
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        texts = {}
        for name in ("lines.py", "lines.conf"):
            path, trace = pathlib.Path(folder) / name, str(pathlib.Path(folder) / f"{name}.vst")
            path.write_text(PROGRAM, encoding="utf-8")
            subprocess.run([command, "run", "-q", "--simulate", "t4-16g", "-o", trace, "--", sys.executable, str(path)], timeout=120, check=True)
            texts[name] = full(command, trace)
            if name == "lines.conf":
                break
            rows = texts[name].splitlines()
            at = next(i for i, row in enumerate(rows) if "take (lines.py:5)" in row and "main" not in row)
            assert rows[at + 1].strip() == "cuda.cudaMalloc(ctypes.byref(p), ctypes.c…", rows[at:at + 2]
            os.utime(path, (2e9, 2e9))
            assert "main()  (changed since then)" in full(command, trace), full(command, trace)
            path.unlink()
            without = full(command, trace)
            assert "cudaMalloc(" not in without, without
            extra = [row for row in rows if row not in without.splitlines()]
            assert extra and all(row.startswith(" " * 38) for row in extra), extra
        assert "take (lines.conf:5)" in texts["lines.conf"] and "cudaMalloc(" not in texts["lines.conf"], texts["lines.conf"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
