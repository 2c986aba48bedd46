#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a program run at the same speed while `vramscope top` watches it?

    bench_watch.py BUILD_DIR [PAIRS [ROUNDS]]
    bench_watch.py --try BUILD_DIR               one short pair of each, whatever its figures

Runs recorded programs in pairs, one alone and one with `vramscope top` on its trace in a terminal of
its own, in changing order. Prints the median of the paired ratios of their times, with the middle
half, for:
  train_lm   processor time: kernels, phases, hundreds of allocations a step
  pairs      allocations and frees as fast as the recorder takes them (bench_pairs); ns for each pair
Exit 1 if a median is more than 2 % off. Needs a quiet machine with a processor for each of program,
recorder and top.
"""
import os
import pty
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 0.02


class Watcher:
    """`vramscope top` in a terminal of 80x24, whose output is read and dropped."""

    def __init__(self, command, trace):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", LINES="24", COLUMNS="80")
            os.execv(command, [command, "top", trace])
        self.bytes = 0
        self.thread = threading.Thread(target=self.drain)
        self.thread.start()

    def drain(self):
        try:
            while part := os.read(self.fd, 65536):
                self.bytes += len(part)
        except OSError:
            pass

    def close(self):
        end = time.monotonic() + 30  # a short program may be over before the first screen
        while self.bytes <= 1000 and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(self.pid, signal.SIGTERM)
        _, _, usage = os.wait4(self.pid, 0)
        self.thread.join()
        os.close(self.fd)
        assert self.bytes > 1000, "top drew nothing"
        return usage.ru_utime + usage.ru_stime


def run(build, words, watched):
    """What the program printed, the processor time of the program and its recorder, that of top."""
    command = os.path.join(build, "bin", "vramscope")
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "x.vst")
        program = subprocess.Popen([command, "run", "-q", "--simulate", "h100-80g,malloc_us=0,free_us=0",
                                    "-o", trace, "--", *words],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        while not os.path.exists(trace + ".live") and program.poll() is None:
            time.sleep(0.001)
        watcher = Watcher(command, trace) if watched else None
        out = program.stdout.read()
        _, _, usage = os.wait4(program.pid, 0)
        program.returncode = 0
        used = watcher.close() if watcher else 0
        return out, usage.ru_utime + usage.ru_stime, used


def measure(build, pairs, words, figures):
    """Prints a line for each of *figures*, (name, unit, function of what run returned)."""
    alone, ratios, used = [[] for _ in figures], [[] for _ in figures], []
    for i in range(pairs):
        times = {}
        for watched in ((False, True) if i % 2 else (True, False)):
            out, seconds, cpu = run(build, words, watched)
            used += [cpu] if watched else []
            times[watched] = [read(out, seconds) for _, _, read in figures]
        for k in range(len(figures)):
            alone[k].append(times[False][k])
            ratios[k].append(times[True][k] / times[False][k])
    good = True
    for k, (name, unit, _) in enumerate(figures):
        ratios[k].sort()
        median = statistics.median(ratios[k])
        low, high = ratios[k][pairs // 4], ratios[k][-1 - pairs // 4]
        print(f"{name:28} {statistics.median(alone[k]):8.2f} {unit:3}  watched / alone {median:.4f}"
              f"  (middle half {low:.4f} to {high:.4f})", flush=True)
        good &= abs(median - 1) <= LIMIT
    print(f"{'':28} top used {statistics.median(used):.2f} s of processor time; {pairs} pairs", flush=True)
    return good


def main():
    trial = "--try" in sys.argv
    words = [word for word in sys.argv[1:] if word != "--try"]
    build = os.path.abspath(words[0])
    pairs = 1 if trial else int(words[1]) if len(words) > 1 else 15
    rounds = "200" if trial else words[2] if len(words) > 2 else "100000"
    good = measure(build, pairs,
                   [os.path.join(build, "bin", "train_lm"), "--steps", "3" if trial else "200"],
                   [("train_lm, processor time", "s", lambda out, seconds: seconds)])
    good &= measure(build, pairs,
                    [os.path.join(build, "tests", "bench_pairs"), "hit", "20", "1", "65536", "64", rounds],
                    [("pairs, best round", "ns", lambda out, seconds: float(out.split()[0])),
                     ("pairs, median round", "ns", lambda out, seconds: float(out.split()[1]))])
    return 0 if good or trial else 1


if __name__ == "__main__":
    sys.exit(main())
