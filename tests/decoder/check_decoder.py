#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the decoder in Python with the C reader, record by record: both give the same text and
the same condition for every trace.

  check_decoder.py formats TRACE_TEXT RANDOM_TRACE GOLDEN_FOLDER [SEED [ROUNDS]]
      golden, random, killed, truncated and damaged traces
  check_decoder.py programs TRACE_TEXT VRAMSCOPE PROGRAM...
      traces of programs on the simulated GPU, also killed ones; then with checkpoints. PROGRAM is
      PATH[,ARGUMENT...]; an argument --run=X is passed to `vramscope run`,
      --symbolize makes it add names to the trace, kill=S kills all after S seconds, full=K limits
      files to K KiB, and ends=TEXT is how its trace must end"""

import fcntl
import glob
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import vst
from damage import changed, opened, signed_again


def decoded(path):
    """The decoder's text of the trace, in the format of trace_text.c."""
    try:
        trace = vst.open(path)
    except vst.Error:
        return ["!!"]
    with trace:
        lines = [line for line in map(vst.canonical, trace) if line is not None]
        lines += vst.canonical_symbols(trace)
        return lines + [vst.canonical_end(trace)]


def read_by_c(tool, paths):
    """Returns {path: lines} printed by *tool*, without its remarks."""
    done = subprocess.run([tool], input="".join(p + "\n" for p in paths), capture_output=True,
                          text=True, timeout=600, check=True)
    texts, lines = {}, None
    for line in done.stdout.split("\n")[:-1]:
        if line.startswith("# "):
            lines = texts.setdefault(line[2:], [])
        elif not line.startswith("-- "):
            lines.append(line)
    return texts


class Comparison:
    """Traces compared so far: their number, the number of each kind, and the errors."""

    def __init__(self, tool):
        self.tool, self.traces, self.kinds, self.wrong = tool, 0, {}, []
        self.events, self.endings = 0, set()

    def compare(self, name, kind, theirs, ours):
        """Checks that both readers give the same text."""
        self.traces += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        for i, (a, b) in enumerate(zip(theirs + ["(end)"], ours + ["(end)"])):
            if a != b:
                self.wrong.append(f"{name} line {i + 1}:\n"
                                  f"  C reader: {a[:400]}\n  decoder:  {b[:400]}")
                break

    def expect(self, kinds):
        """A comparison without one of *kinds* has not tested enough."""
        if not kinds <= self.kinds.keys():
            self.wrong.append(f"only {sorted(self.kinds)} among them")

    def check(self, paths, names=None):
        paths = list(paths)
        texts = read_by_c(self.tool, paths)
        for i, path in enumerate(paths):
            ours = decoded(path)
            self.events += len(ours) - 1
            self.endings.add(" ".join(ours[-1].split()[4:]))
            self.compare(names[i] if names else os.path.basename(path),
                         ours[-1].split()[1] if ours[-1] != "!!" else "refused", texts[path], ours)

    def finish(self):
        print(f"{self.traces} traces, {self.events:,} events compared:",
              ", ".join(f"{n} {c}" for c, n in sorted(self.kinds.items())))
        print(*self.wrong[:20], sep="\n")
        return 1 if self.wrong else 0


# --- truncated and damaged ---

def written(path, file, live):
    """Writes the trace and, unless it is None, its FILE.live; returns the path."""
    for name, data in ((path, file), (path + ".live", live)):
        if data is not None:
            with open(name, "wb") as out:
                out.write(data)
    return path


def damaged(folder, data, live, rng, rounds, counts):
    """Writes (file, live) in many damaged states; returns the paths."""
    loose = opened(data)
    for i in range(rounds):
        file, window = rng.choice((data, loose)), live
        how = i % 6
        if how in (0, 5):
            file = file[:rng.randrange(len(file))]
        elif how == 1:
            file = changed(file, rng, True)
        elif how == 2:
            file = signed_again(changed(file, rng, False))
        elif how == 3:
            file = signed_again(changed(file, rng, True))
        if window and how >= 4:
            where = rng.choice((rng.randrange(64 + 4 * 64), rng.randrange(4096, len(window))))
            if counts and rng.random() < 0.6:
                where = rng.choice((rng.randrange(1088, 1152), rng.randrange(4096, 4096 + 4000)))
            window = window[:where] + bytes([rng.randrange(256)]) + window[where + 1:]
        if rng.random() < 0.1:  # never written to the disk
            whole = file[:rng.randrange(64, len(file)) // 512 * 512] if len(file) > 64 else file
            file = whole + bytes(rng.choice((0, 63, 64, 512, 5000)))
        if window and rng.random() < 0.2:
            page = rng.randrange(1, len(window) // 4096) * 4096
            window = window[:page] + bytes(4096) + window[page + 4096:]
        if window and rng.random() < 0.1:
            window = window[:rng.randrange(len(window))]
        yield written(os.path.join(folder, f"damaged.{i}.vst"), file,
                      window if window and rng.random() < 0.9 else None)


def contents(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def with_outcomes(folder, path, rng):
    """Writes the outcome of the process to FILE.live, or an invalid one."""
    file, live = contents(path), contents(path + ".live")
    for outcome, status in [(1, 0), (1, 137), (2, 11), (2, 29), (2, 34), (2, 64), (3, 9),
                         (2, rng.randrange(1 << 32))]:
        yield written(os.path.join(folder, f"outcome.{outcome}.{status}.vst"), file,
                      live[:56] + struct.pack("<II", outcome, status) + live[64:])


COUNTS, COPY_BYTES = struct.Struct("<IIQQQ"), 160  # at 1088 of FILE.live; a cell is two copies


def events_of(path):
    with vst.open(path) as trace:
        return sum(1 for _ in trace)


class CountVariants:
    """A trace that ends in counts, in states that a kill may leave and in others."""

    def __init__(self, folder, path):
        self.file, self.live, self.folder = contents(path), contents(path + ".live"), folder
        self.offset, *_ = COUNTS.unpack_from(self.live, 1088)
        bare = self.write("bare", self.live[:1088] + bytes(8) + self.live[1096:])
        self.events = events_of(bare)
        self.cells = events_of(path) - self.events - 1
        self.brought = self.brought_while_recording = 0

    def write(self, name, live):
        return written(os.path.join(self.folder, f"counts.{name}.vst"), self.file, live)

    def changed(self, rng):
        live, recorded = bytearray(self.live), rng.randrange(self.cells + 1)
        recording = rng.choice((0, self.events + 1 - recorded, self.events + 1 - recorded,
                              rng.randrange(self.events + 3)))
        struct.pack_into("<Q", live, 1112, recording)
        reach = recording - 1 if recording else self.events
        copies = [self.offset + i * COPY_BYTES for i in range(2 * self.cells)]
        for at in copies if rng.random() < 0.8 else ():
            struct.pack_into("<Q", live, at + 8, max(0, reach - rng.choice((0, 0, 1))))
        for at in rng.sample(copies, rng.choice((0, 1, 1, 2))):
            struct.pack_into("<Q", live, at + 8, max(0, reach + rng.choice((-2, 1, 2))))
        if rng.random() < 0.2:  # of another time than the header
            what, by = rng.choice((1096, 1104, rng.choice(copies))), rng.choice((-1, 1))
            version, = struct.unpack_from("<Q", live, what)
            struct.pack_into("<Q", live, what, version + by & (1 << 64) - 1)
        if rng.random() < 0.1:
            at = rng.choice(copies)
            lost = rng.choice((COPY_BYTES, len(live) - at))
            live[at:at + lost] = bytes(lost)
        return bytes(live), recording

    def enough(self):
        return self.brought >= 4 and self.brought_while_recording >= 2

    def all(self, rng, rounds):
        """*rounds* variants, and more until enough of them bring counts. Traces of one seed differ
        in their times and identifiers, and thus the variants do."""
        for i in range(20 * rounds):
            if i >= rounds and self.enough():
                return
            live, recording = self.changed(rng)
            path = self.write(i, live)
            brought = events_of(path) > self.events + 1
            self.brought += brought
            self.brought_while_recording += brought and recording != 0
            yield path


def check_counts(folder, path, rng, rounds, comparison):
    variants = CountVariants(folder, path)
    if variants.cells < 3:
        comparison.wrong.append(f"{path}: {variants.cells} cells are left")
    paths = list(variants.all(rng, rounds))
    comparison.check(paths, [f"{os.path.basename(path)} {os.path.basename(p)}" for p in paths])
    if not variants.enough():
        comparison.wrong.append(f"{path}: {variants.brought} variants brought counts, "
                                f"{variants.brought_while_recording} while recording them")


def check_formats(folder, tool, generator, golden, seed=None, rounds=240):
    comparison = Comparison(tool)
    seed = int(seed or time.time_ns() % 10**9)
    print("seed", seed)
    rng = random.Random(seed)
    comparison.check(sorted(glob.glob(os.path.join(golden, "*.vst"))))
    for i, (events, compression, *how) in enumerate((
            (8000, 3), (3000, 0), (6000, 1, "leave"), (400, 0), (400, 0, "leave"),
            (60, 3), (60, 3, "leave"), (500, 0, "stopped"),
            (300, 0, "count"), (60, 3, "count"))):
        path = os.path.join(folder, f"random.{i}.vst")
        subprocess.run([generator, str(rng.randrange(1 << 60)), str(events), str(compression), path] +
                       how, check=True, timeout=600)
        comparison.check([path])
        if events > 400:
            continue
        if how == ["leave"]:
            comparison.check(with_outcomes(folder, path, rng))
        if how == ["count"]:
            check_counts(folder, path, rng, int(rounds) // 4, comparison)
        variants = list(damaged(folder, contents(path), contents(path + ".live"), rng, int(rounds) // 4,
                                how == ["count"]))
        comparison.check(variants, [f"{os.path.basename(path)} {os.path.basename(v)}" for v in variants])
    comparison.expect({"complete", "live", "truncated", "damaged"})
    if sum(e.startswith("the program was killed by signal") for e in comparison.endings) < 5 or \
            not any(e.startswith("recording stopped early") for e in comparison.endings):
        comparison.wrong.append(f"only {sorted(comparison.endings)} among them")
    return comparison.finish()


# --- traces of programs ---

JUDGED_MAX = 50000  # events: longer traces get no checkpoints, to save time


def fill(kib):
    """Like a disk with this much room for each file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (kib << 10, kib << 10))


def wait_until_free(path):
    """Until no process records the trace: one that was killed still has its lock while it ends."""
    deadline = time.time() + 60
    with open(path, "r+b") as trace:
        while True:
            try:
                fcntl.lockf(trace, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 1 << 62)
                return
            except OSError:
                assert time.time() < deadline, f"{path} is still being recorded"
                time.sleep(0.02)


def run_program(folder, tool, options, program, arguments, kill_after=None, full=None):
    output = os.path.join(folder, "%n.%p.vst")
    process = subprocess.Popen([tool, "run", "--simulate=t4-16g,capacity=1GiB,context=400MiB", "-o", output] + options +
                               ["--", program] + arguments,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder,
                               env=dict(os.environ, TMPDIR=folder),  # what a killed command leaves
                               start_new_session=True,
                               preexec_fn=(lambda: fill(full)) if full else None)
    deadline = time.time() + 60
    if kill_after is not None:
        # once it records; kills both the command and the program
        while time.time() < deadline and process.poll() is None and not glob.glob(folder + "/*.live"):
            time.sleep(0.02)
        time.sleep(kill_after)
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
    try:
        process.wait(timeout=600)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        raise
    for trace in glob.glob(folder + "/*.vst"):
        wait_until_free(trace)


def with_checkpoints(comparison, command, path, entry):
    """Adds checkpoints to the trace at *path*: its events and names stay the same."""
    with vst.open(path) as trace:
        before, symbols = sum(1 for _ in trace), trace.symbols()
        if before > JUDGED_MAX or trace.condition != "complete":
            return
    subprocess.run([command, "index", "--again", "--every=20", "--share=100", path], check=True, timeout=600,
                   stdout=subprocess.DEVNULL)
    comparison.check([path], [f"{entry} {os.path.basename(path)} with checkpoints"])
    with vst.open(path) as trace:
        if sum(1 for _ in trace) < before or trace.symbols() != symbols:
            comparison.wrong.append(f"{entry}: lost something to checkpoints")


def check_programs(folder, tool, command, *programs):
    comparison, kinds = Comparison(tool), set()
    for number, entry in enumerate(programs):
        program, *rest = entry.split(",")
        given = dict(a.split("=", 1) for a in rest if a.startswith(("kill=", "full=", "ends=")))
        options = ["--" + a[6:] for a in rest if a.startswith("--run=")]
        arguments = [a for a in rest if not a.startswith(("kill=", "full=", "ends=", "--run=", "--symbolize"))]
        inside = os.path.join(folder, str(number))
        os.mkdir(inside)
        run_program(inside, command, options, program, arguments,
                    float(given["kill"]) if "kill" in given else None, int(given.get("full", 0)))
        traces = sorted(glob.glob(inside + "/*.vst"))
        if "--symbolize" in rest and traces:
            subprocess.run([command, "symbolize", traces[0]], check=True, timeout=600,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with vst.open(traces[0]) as trace:
                if not trace.symbols():
                    comparison.wrong.append(f"{entry}: no names in it")
        if not traces:
            comparison.wrong.append(f"{entry}: no trace")
        comparison.check(traces, [f"{entry} {os.path.basename(t)}" for t in traces])
        if given.get("ends", "") not in " ".join(comparison.endings):
            comparison.wrong.append(f"{entry}: {sorted(comparison.endings)}")
        for path in traces:
            with vst.open(path) as trace:
                kinds.update(event.kind for event in trace)
                index = trace.index()
                if trace.condition == "complete" and sum(e.events for e in index) != trace.events:
                    comparison.wrong.append(f"{entry}: the index counts other events")
            with_checkpoints(comparison, command, path, entry)
    print("kinds:", " ".join(sorted(kinds)))
    return comparison.finish()


def main():
    what, *arguments = sys.argv[1:]
    folder = tempfile.mkdtemp(prefix="decoder-")
    try:
        return {"formats": check_formats, "programs": check_programs}[what](folder, *arguments)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
