#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vramscope attach: check_attach.py BUILD LIBRARY PYTHON...

For each interpreter: the program behaves as without, and its trace has what it held before, with the stacks that
were known, and what followed; blocks that came and went meanwhile are counted once. A thread that is stopped goes on
as if nothing had happened. One without CUDA is recorded once it has loaded it. What cannot be recorded is refused in one line. Exit 77: ptrace is not permitted here.
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
HERE = os.path.dirname(os.path.abspath(__file__))
BEFORE = "allocated before the recording"

WAITS = """import ctypes, sys
def compile(model): return model  # as "from torch import compile"
library, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(None)
if sys.argv[2] == "wait_at_exit":
    libc.__cxa_atexit(ctypes.cast(library.wait_at_exit, ctypes.c_void_p), None, None)
else:
    sys.exit(getattr(library, sys.argv[2])())
"""
LATE = """import ctypes, sys
sys.stdin.readline()
library = ctypes.CDLL(sys.argv[1])
sys.stdin.readline()
library.torch_segment(1 << 20)
"""
PROFILER = """import ctypes, sys
torch, cupti, handle = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libcupti.so.12"), ctypes.c_void_p()
torch.torch_segment(1 << 20)
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p)(lambda *words: None)
print(cupti.cuptiSubscribe(ctypes.byref(handle), function, None), flush=True)
sys.stdin.readline()
print(cupti.cuptiUnsubscribe(handle), flush=True)
sys.stdin.readline()
"""


def attached(build, *words):
    done = subprocess.run([build + "/bin/vramscope", "attach", *words], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def popen(build, *words):
    env = dict(os.environ, LD_LIBRARY_PATH=build + "/lib/vramscope/simulator",
               VRAMSCOPE_SIMULATE="t4-16g")
    return subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True)


def start(build, python, torch, *words):
    program = popen(build, python, HERE + "/attach_program.py", torch, *words)
    assert program.stdout.readline() == "ready\n", program.communicate()
    return program


def check_python(build, python, torch, folder):
    program = start(build, python, torch, "release")
    pid, trace = str(program.pid), folder + "/held.vst"
    answer = attached(build, "-o", folder + "/held.vst", pid)
    if answer[0] and "may not be traced" in answer[2]:
        program.kill()
        print("skipped: ptrace is not permitted here")
        sys.exit(77)
    assert answer == (0, f"process {pid} is recorded: {trace}\n", ""), (python, answer)
    answer = attached(build, pid)
    assert answer == (0, f"process {pid} is already recorded: {trace}\n", ""), (python, answer)
    out = program.communicate("\n", timeout=120)
    assert (program.returncode, *out) == (3, "done\n", ""), (python, program.returncode, out)

    text = subprocess.run([build + "/bin/vramscope", "export", "-f", "csv", "-o", "-", trace], capture_output=True,
                          text=True, check=True).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    tensors = [(int(row["size_bytes"]) // MIB, row["site"], row["end"]) for row in rows
               if row["family"] == "tensor" and int(row["size_bytes"]) != 8 * MIB]
    assert tensors[:2] == [(3, BEFORE, "freed"), (4, "forward (model.py:41)", "freed")], (python, tensors)
    assert len(tensors) == 3 and tensors[2][::2] == (2, "freed"), (python, tensors)
    assert "train_step (attach_program.py:41)" in tensors[2][1], (python, tensors)
    # the block of the other thread: one is live at any time, and at the end
    churn = [row for row in rows if row["family"] == "tensor" and int(row["size_bytes"]) == 8 * MIB]
    assert [row["end"] for row in churn].count("freed") == len(churn) - 1, (python, churn[-3:])
    report = subprocess.run([build + "/bin/vramscope", "report", trace], capture_output=True, text=True, check=True).stdout
    assert re.search(r"\n  device +2 +1 +0 +26.0 MiB +20.0 MiB\n", report), (python, report)  # the segments
    for part in ("only\n           PyTorch's memory is known", "PyTorch tensors   peak 17.0 MiB", "exit 3"):
        assert part in report, (python, part, report)


def check_refusals(build, python, torch, folder):
    sleeper = subprocess.Popen(["sleep", "1000"])
    program = start(build, python, torch)
    pid = str(program.pid)
    try:
        for words, said in (([str(sleeper.pid)], "not Python: start it with vramscope run"),
                            (["4194305"], "there is no process 4194305"), ([], "takes the number of one process"),
                            (["-o", folder + "/none/x.vst", pid], f"it cannot write in {folder}/none")):
            status, out, error = attached(build, *words)
            assert (status, out, error.count("\n")) == (2, "", 1) and said in error, (words, status, out, error)
    finally:
        sleeper.kill()
        out = program.communicate("\n", timeout=120)
    assert (program.returncode, *out) == (3, "done\n", ""), (program.returncode, out)
    program = popen(build, build + "/bin/vramscope", "run", "-q", "--record=off", "--", "sh", "-c",
                    'echo $$; exec "$0" "$@"', python, HERE + "/attach_program.py", torch)
    pid = program.stdout.readline().strip()
    assert program.stdout.readline() == "ready\n", program.communicate()
    status, out, error = attached(build, pid)
    program.communicate("\n", timeout=120)
    assert status == 2 and "started with --record=off" in error, (status, out, error)
    assert os.listdir(folder) == ["held.vst"], os.listdir(folder)


def check_late(build, python, torch, folder):
    """Before the program has loaded CUDA."""
    program = popen(build, os.path.realpath(python), "-c", LATE, torch)
    trace = folder + "/late.vst"
    words = (build + "/bin/vramscope", "attach", "-o", trace, str(program.pid))
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as attach:
        said = attach.stderr.readline()
        assert "has not loaded CUDA yet; waiting until it does" in said and program.poll() is None, (python, said)
        program.stdin.write("\n")
        program.stdin.flush()
        out = *attach.communicate(timeout=120), attach.returncode
    assert out == (f"process {program.pid} is recorded: {trace}\n", "", 0), (python, out)
    assert program.communicate("\n", timeout=120) == ("", "") and not program.returncode, (python, program.returncode)
    report = subprocess.run([build + "/bin/vramscope", "report", trace], capture_output=True, text=True, check=True).stdout
    assert re.search(r"\n  device +1 +0 +0 +1.0 MiB", report), (python, report)


def words_of(pid, file):
    with open(f"/proc/{pid}/{file}", encoding="ascii") as text:
        return text.read().split()


def check_waits(build, python, torch, folder):
    for wait, call in (("wait_epoll", ["232"]), ("wait_inline", ["0", "0x0"]), ("wait_at_exit", ["0", "0x0"])):
        program = popen(build, os.path.realpath(python), "-c", WAITS, torch, wait)
        while words_of(program.pid, "syscall")[:len(call)] != call:
            assert program.poll() is None, program.communicate()
            time.sleep(0.01)
        answer = attached(build, "-o", folder + f"/{wait}.vst", str(program.pid))
        if wait == "wait_at_exit":
            assert answer[0] == 2 and "its Python has not started yet, or has ended" in answer[2], (python, answer)
        else:
            assert answer[0] == 0 and "is recorded" in answer[1], (python, wait, answer)
        out = program.communicate("\n", timeout=120)
        assert (program.returncode, *out) == (0, "", ""), (python, wait, program.returncode, out)
    program = popen(build, os.path.realpath(python), "-c", "")
    while words_of(program.pid, "stat")[2] != "Z":
        time.sleep(0.01)
    answer = attached(build, str(program.pid))
    program.communicate()
    assert answer == (2, "", f"vramscope attach: process {program.pid} has ended, or belongs to the kernel\n"), answer


def check_profiler(build, python, torch, folder):
    program = popen(build, os.path.realpath(python), "-c", PROFILER, torch)
    assert program.stdout.readline() == "0\n", program.communicate()
    words = (build, "-o", folder + "/profiled.vst", str(program.pid))
    answer = attached(*words)
    assert answer[0] == 2 and "needs CUPTI, which failed" in answer[2], (python, answer)
    program.stdin.write("\n")
    program.stdin.flush()
    assert program.stdout.readline() == "0\n", program.communicate()
    answer = attached(*words)
    assert answer[0] == 0 and "is recorded" in answer[1], (python, answer)
    out = program.communicate("\n", timeout=120)
    assert (program.returncode, *out) == (0, "", ""), (python, program.returncode, out)


def main():
    build, torch, *pythons = sys.argv[1:]
    for python in pythons:
        if subprocess.run([os.path.realpath(python), "-I", "-c", "import ctypes"], stderr=subprocess.DEVNULL).returncode:
            continue  # a file that does not run without its wrapper
        with tempfile.TemporaryDirectory() as folder:
            check_python(build, python, torch, folder)
            check_refusals(build, python, torch, folder)
            check_waits(build, python, torch, folder)
            check_late(build, python, torch, folder)
            check_profiler(build, python, torch, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
