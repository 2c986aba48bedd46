#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the victim programs alone, observed and with the caching allocator, and compare:
output, exit status, descriptors and threads at the end, and each family's counts in the
trace with the program's own tally.

  compat.py run CONFIG PROGRAM...     run every case
  compat.py run CONFIG PROGRAM -c CASE [-v]
  compat.py table CONFIG              print the table of all cases, which is what `run` expects of them
  compat.py check CONFIG FILE         check that FILE contains the table
  compat.py write CONFIG FILE         write the table into FILE

CONFIG is the file compat.json of the build (written by CMakeLists.txt). victim.h
describes the rows of a program."""

import argparse
import collections
import copy
import glob
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

FAMILIES = ("device", "async", "managed", "pinned", "array", "vmm", "ipc", "graph", "registered")
SHARED_ONLY, STATIC_ONLY, NO_TRACE, NO_TALLY, OBSERVE_ONLY, CACHING_ONLY, ANY_ORDER, CHILDREN, TORN, DIES, LARGER = \
    (1 << i for i in range(11))
COMPACT = 4096
IPC_BYTES = 3 * 9 + FAMILIES.index("ipc")
TALLY = struct.Struct("<q9q9q9q9qqq")
MAGIC = 0x7461000000000001
FDS_MORE = 3        # the trace, and libunwind's pipe
THREADS_MORE = 2    # the trace's writer, and CUPTI's
WRONG = {"stray": "frees of memory that was not live", "twice": "allocations of memory that was already live",
         "wrong": "events before the one above, copies that end before they start, or blocks smaller than requested"}
SECONDS = int(os.environ.get("COMPAT_SECONDS", 300))
BEGIN, END = "<!-- table: made by compat.py -->", "<!-- end of table -->"


class Case:
    def __init__(self, program, runtime, name, title, flags, group):
        self.program, self.runtime, self.name, self.title = program, runtime, name, title
        self.flags, self.group, self.run_name = flags, group, name
        self.settings = collections.defaultdict(list)  # the texts of each kind of victim.h

    def fronts(self):
        if not self.flags & CACHING_ONLY:
            yield "observe"
        if not self.flags & OBSERVE_ONLY:
            yield "caching"
        if self.settings["injected"]:
            yield "injection"

    def compact(self):
        """The same case with the policy compact, if it is marked VF_COMPACT."""
        if self.flags & COMPACT:
            again = copy.deepcopy(self)
            again.name, again.title = self.name + "_compact", self.title + ", policy compact"
            again.flags |= CACHING_ONLY
            again.settings["env"].append("VRAMSCOPE_POLICY=compact")
            yield again

    def beside(self, kind):
        return [os.path.join(os.path.dirname(self.program), name) for name in self.settings[kind]]

    def refused(self, front):
        """The text of an intended difference."""
        return "".join(self.settings[f"refused-{front.upper()}"])


def list_cases(config, program):
    """The cases of a program, from its --list."""
    runtime = "static" if os.path.basename(program).endswith("_static") else "shared"
    env = environment(config, None, "/nonexistent", None)
    env.pop("VICTIM_TALLY")
    rows = subprocess.run([program, "--list"], env=env, capture_output=True, text=True, check=True).stdout
    cases = {}
    for line in rows.splitlines():
        kind, name, text, flags, group = line.split("\t")
        if kind == "case":
            if name in cases:
                sys.exit(f"{program}: two cases are named {name}")
            cases[name] = Case(program, runtime, name, text, int(flags), group)
        elif name not in cases:
            sys.exit(f"{program}: {kind} of {name}, which is not defined above it")
        else:
            cases[name].settings[kind].append(text)
    wrong = SHARED_ONLY if runtime == "static" else STATIC_ONLY
    return [each for c in cases.values() if not c.flags & wrong for each in (c, *c.compact())]


def environment(config, case, folder, front):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("VRAMSCOPE_", "CUDA_", "NVTX_", "LD_PRELOAD", "PYTORCH_"))}
    env["LD_LIBRARY_PATH"] = config["simulator"]
    env["VRAMSCOPE_SIMULATE"] = ["t4-16g,capacity=1GiB,context=400MiB", *(case.settings["simulate"] if case else ())][-1]
    env["VICTIM_TALLY"] = folder
    # victims leak memory on purpose; the tests need a fork that continues
    env["ASAN_OPTIONS"] = "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0"
    env["TSAN_OPTIONS"] = "die_after_fork=0:handle_segv=0:handle_abort=0:report_signal_unsafe=0"
    env["UBSAN_OPTIONS"] = "print_stacktrace=1"
    if front:
        env["VRAMSCOPE_OUTPUT"] = os.path.join(folder, "%n.%p.vst")
        if front == "injection": # the driver loads the library, by observation alone
            env["CUDA_INJECTION64_PATH"] = config["preload"]
        else:
            env["VRAMSCOPE_ALLOCATOR"] = front
        env["NVTX_INJECTION64_PATH"] = config["preload"]
        if "tsan" in config["sanitizer_preload"]: # which cannot follow libunwind's thread destructors
            env["VRAMSCOPE_STACKS"] = "none"
    ours = [config["preload"]] if front and front != "injection" else []
    preload = [*case.beside("before"), *ours, *case.beside("after")] if case else []
    if preload or front:
        env["LD_PRELOAD"] = (config["sanitizer_preload"] + ":".join(preload)).rstrip(":")
    for setting in case.settings["env"] if case else ():
        name, value = setting.split("=", 1)
        env[name] = value.replace("@", os.path.dirname(case.program), 1) if value.startswith("@/") else value
    return env


class Run:
    """One run of one case, and its results."""

    def __init__(self, config, case, front):
        self.folder = tempfile.mkdtemp(prefix="compat-")
        self.traces, self.tally = [], [0] * 36
        self.fds = self.threads = None
        # ThreadSanitizer starts a thread of its own in a child of fork
        self.threads_more = THREADS_MORE + (front is not None and "tsan" in config["sanitizer_preload"])
        self.timeout = False
        out, err = (os.path.join(self.folder, n) for n in ("stdout", "stderr"))
        with open(out, "wb") as o, open(err, "wb") as e:
            process = subprocess.Popen([case.program, case.run_name], stdout=o, stderr=e, cwd=self.folder,
                                       stdin=subprocess.DEVNULL, start_new_session=True,
                                       env=environment(config, case, self.folder, front))
            try:
                self.status = process.wait(SECONDS * config["timeout_factor"])
            except subprocess.TimeoutExpired:
                self.timeout = True
                os.killpg(process.pid, signal.SIGKILL)
                self.status = process.wait()
        with open(out, "rb") as o, open(err, "rb") as e:
            self.out, self.err = o.read(), e.read().decode(errors="replace")
        self.read_tallies()
        self.traces, self.copies = ([self.count(config, t) for t in sorted(glob.glob(self.folder + pattern, recursive=True))]
                                    for pattern in ("/**/*.vst", "/*.vst.copy"))
        shutil.rmtree(self.folder, ignore_errors=True)

    def read_tallies(self):
        for path in glob.glob(os.path.join(self.folder, "tally.*")):
            with open(path, "rb") as f:
                data = f.read()
            if len(data) != TALLY.size:
                continue
            magic, *rest = TALLY.unpack(data)
            if magic != MAGIC:
                continue
            self.tally = [a + b for a, b in zip(self.tally, rest[:36])]
            if rest[36] >= 0: # the most of any of its processes
                self.fds = max(rest[36], self.fds or 0)
                self.threads = max(rest[37], self.threads or 0)

    @staticmethod
    def count(config, path):
        trace = {"families": [0] * 36, "notes": [], "phases": [], "apis": [], "end": None, "condition": ""}
        done = subprocess.run([config["count_trace"], path], capture_output=True, text=True,
                              errors="replace")
        for line in done.stdout.splitlines():
            word, _, rest = line.partition(" ")
            if word == "family":
                i, *numbers = map(int, rest.split())
                for column, number in enumerate(numbers):
                    trace["families"][column * 9 + i] = number
            elif word in ("note", "phase", "api"):
                trace[word + "s"].append(rest)
            elif word == "end":
                trace["end"] = rest
            elif word in ("condition", "unreadable"):
                trace["condition"] = rest if word == "condition" else "9 " + rest
            else:
                trace[word] = int(rest)
        if done.returncode and not trace["condition"].startswith("9"):
            trace["condition"] = "9 count_trace: status %d" % done.returncode
        trace["complete"] = trace["condition"].startswith("0 ")
        return trace

    def ours(self):
        return [line for line in self.err.splitlines() if line.startswith("vramscope")]


def lines(data, flags):
    return sorted(data.splitlines()) if flags & ANY_ORDER else data


def shown(status):
    return f"signal {-status}" if status < 0 else f"status {status}"


def compare_messages(case, run):
    messages = run.ours()
    for text in case.settings["stderr"]:
        found = [line for line in messages if text in line]
        if len(found) != 1:
            yield f"printed {len(found)} times instead of once: {text!r}"
    for line in messages:
        if not any(text in line for text in case.settings["stderr"]):
            yield f"unexpected message: {line}"
    for word in ("ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error:"):
        if word in run.err:
            yield f"{word}: {run.err[run.err.index(word):][:1500]}"


def compare_traces(case, run):
    if case.flags & NO_TRACE:
        if run.traces:
            yield f"{len(run.traces)} traces exist, none expected"
        return
    if not run.traces:
        yield "no trace"
        return
    if len(run.traces) > 1 and not case.flags & CHILDREN:
        yield f"{len(run.traces)} traces instead of one"
    for trace in run.traces:
        condition = int(trace["condition"].split()[0])
        if condition > (1 if case.flags & TORN else 0) and not (case.flags & TORN and case.flags & NO_TALLY):
            yield f"trace: {trace['condition'][2:]}"
        for name, what in WRONG.items():
            if trace.get(name):
                yield f"{trace[name]} {what}"
    yield from compare_recorded_end(case, run)
    if case.flags & NO_TALLY:
        return
    total = [sum(column) for column in zip(*(t["families"] for t in run.traces))]
    for i, (recorded, own) in enumerate(zip(total, run.tally)):
        if case.flags & LARGER and i == IPC_BYTES and recorded > own:
            continue
        if recorded != own:
            what = ("allocations", "frees", "failures", "requested bytes")[i // 9]
            yield f"{FAMILIES[i % 9]} {what}: {recorded} in the trace, {own} counted by the program"


def compare_recorded_end(case, run):
    """The status in the trace must be the exit status of the process (2: it called exec)."""
    if case.flags & (TORN | CHILDREN) or run.status < 0:
        return
    end = run.traces[0]["end"]
    if end is None or end.split()[0] != "2" and end != f"0 {run.status}":
        yield f"the trace's end is {end}, the program's {shown(run.status)}"


def compare_ends(case, alone, run):
    if run.timeout:
        yield "did not end"
    if alone.fds is None or run.fds is None:
        return
    # after a message the descriptor of standard error stays open
    if run.fds - alone.fds > FDS_MORE + bool(case.settings["stderr"]):
        yield f"{run.fds} descriptors open at the end instead of {alone.fds}"
    if run.threads - alone.threads > run.threads_more:
        yield f"{run.threads} threads at the end instead of {alone.threads}"


def compare(case, front, alone, run):
    if not case.refused(front):
        if run.status != alone.status:
            yield f"{shown(run.status)} instead of {shown(alone.status)}; {run.out[-300:]!r} {run.err[-600:]!r}"
        if lines(run.out, case.flags) != lines(alone.out, case.flags):
            yield f"output {run.out[-600:]!r} instead of {alone.out[-600:]!r}"
    elif run.status in (97, 98, 99): # not even then
        yield f"{shown(run.status)}; {run.out[-300:]!r} {run.err[-600:]!r}"
    yield from compare_ends(case, alone, run)
    yield from compare_messages(case, run)
    yield from compare_traces(case, run)


def run_case(config, case, verbose):
    """The errors of a case: (front, text)."""
    alone = Run(config, case, None)
    wrong = []
    if alone.timeout or alone.status in (97, 98, 99):
        wrong.append(("alone", f"{shown(alone.status)}: {alone.out[-600:]!r} {alone.err[-600:]!r}"))
    elif (alone.status < 0) != bool(case.flags & DIES):
        said = "is" if case.flags & DIES else "is not"
        wrong.append(("alone", f"{shown(alone.status)}, and the case {said} marked VF_DIES: {alone.err[-600:]!r}"))
    if alone.traces:
        wrong.append(("alone", "wrote a trace"))
    for front in case.fronts():
        run = Run(config, case, front)
        wrong += [(front, found) for found in compare(case, front, alone, run)]
        if verbose:
            print(f"--- {front}: {shown(run.status)}, traces {run.traces}\n{run.out.decode(errors='replace')}{run.err}")
    return wrong


def run_programs(config, args):
    failed = 0
    for program in map(os.path.abspath, args.programs):
        for case in list_cases(config, program):
            if args.case and case.name != args.case:
                continue
            began = time.monotonic()
            wrong = run_case(config, case, args.verbose)
            took = f"({time.monotonic() - began:.1f} s)"
            print(f"{'not ok' if wrong else 'ok'} {os.path.basename(program)} {case.name} {took}", flush=True)
            for front, text in wrong:
                print(f"    {front}: {text}")
            failed += bool(wrong)
    return 1 if failed else 0


def table(config):
    """All cases as Markdown: a table per group, a row per case; and how many runs they are."""
    rows = {}
    for program in config["programs"]:
        for case in list_cases(config, program):
            key = (case.group, os.path.basename(program).rsplit("_", 1)[0], case.name)
            rows.setdefault(key, (case, []))[1].append(case.runtime)
    out, group = [], None
    for key in sorted(rows, key=lambda k: k[0]): # in a group, the programs' own order
        case, runtimes = rows[key]
        if key[0] != group:
            group = key[0]
            out += ["", f"### {group[0].upper()}{group[1:]}", "",
                    "| program | runtime | observe | caching | injection |",
                    "| --- | --- | --- | --- | --- |"]
        fronts = list(case.fronts())
        cells = " | ".join((case.refused(front) or "same") if front in fronts else "—"
                           for front in ("observe", "caching", "injection"))
        out.append(f"| {case.title.replace('|', '/')} | {'both' if len(runtimes) == 2 else runtimes[0]} | {cells} |")
    return "\n".join(out).strip() + "\n", sum(len(list(case.fronts())) * len(r) for case, r in rows.values())


def check(config, path):
    text, _ = table(config)
    with open(path, encoding="utf-8") as f:
        document = f.read()
    held = document.partition(BEGIN)[2].partition(END)[0].strip() + "\n"
    if held == text:
        return 0
    print(f"{path} is out of date; run scripts/compatibility to update it")
    old, new = set(held.splitlines()), set(text.splitlines())
    print(*(f"  - {line}" for line in sorted(old - new)), *(f"  + {line}" for line in sorted(new - old)), sep="\n")
    return 1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("action", choices=("run", "table", "check", "write"))
    p.add_argument("config")
    p.add_argument("programs", nargs="*", metavar="PROGRAM|FILE")
    p.add_argument("-c", "--case")
    p.add_argument("-v", "--verbose", action="store_true")
    args = p.parse_args()
    with open(args.config, encoding="utf-8") as f:
        config = json.load(f)
    if args.action == "run":
        return run_programs(config, args)
    if args.action == "check":
        return check(config, args.programs[0])
    text, runs = table(config)
    if args.action == "table":
        sys.stdout.write(text)
        return 0
    with open(args.programs[0], encoding="utf-8") as f:
        document = f.read()
    head, _, rest = document.partition(BEGIN)
    with open(args.programs[0], "w", encoding="utf-8") as f:
        f.write(f"{head}{BEGIN}\n{text}{END}{rest.partition(END)[2]}")
    print(f"{args.programs[0]}: {text.count(chr(10) + '| ')} rows, {runs} compared runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
