#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A replayed setting against a real run of the same program with that setting.

    check_replayed.py VRAMSCOPE VICTIM CASE...

Each case records a program on the simulated GPU, replays the trace with another setting or on
another device, and then runs the program with it: the same outcome, and a peak of reserved memory
within 1 %. CASE: policies, capacity, limit, others, pool, site, probe, least; without: all.
"""
import json
import os
import subprocess
import sys
import tempfile

MIB = 1 << 20
GPU = "h100-80g,context=400MiB"
# options of `run` and of `replay` for the same setting
SETTINGS = {
    "observe": (["--allocator=observe"], ["--policy", "observe"]),
    "pytorch": (["--allocator=caching"], ["--policy", "pytorch"]),
    "compact": (["--allocator=caching", "--policy=compact"], ["--policy", "compact"]),
    **{conf: (["--allocator=caching", "--alloc-conf=" + conf], ["--set", conf])
       for conf in ("expandable_segments:True", "max_split_size_mb:32", "large_segment_size_mb:40")},
}


class Check:
    def __init__(self, command, victim, folder):
        self.command, self.victim, self.folder = command, victim, folder
        self.runs = {}
        self.compared = 0

    def real(self, mode, setting="observe", device=GPU, options=()):
        """(exit status, peak of reserved, trace) of a run."""
        key = (mode, setting, device, tuple(options))
        if key not in self.runs:
            trace = os.path.join(self.folder, f"{len(self.runs)}.vst")
            run = subprocess.run([self.command, "run", "-q", "--simulate", device, "-o", trace,
                                  *SETTINGS[setting][0], *options, "--", self.victim, *mode.split()],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                 timeout=600)
            assert run.returncode in (0, 3), (key, run.returncode, run.stdout)
            report = subprocess.run([self.command, "report", "--json", trace], stdout=subprocess.PIPE,
                                    check=True, timeout=600).stdout
            peak = json.loads(report)["devices"][0]["peak_reserved"]["bytes"]
            self.runs[key] = (run.returncode, peak, trace)
        return self.runs[key]

    def replay(self, trace, *options):
        """All rows; the first is as recorded."""
        run = subprocess.run([self.command, "replay", "--json", *options, trace], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, check=False, timeout=600)
        assert run.returncode in (0, 1), (trace, options, run.stderr)
        return json.loads(run.stdout)

    def same(self, what, row, real):
        """A replayed *row* is like the *real* run."""
        status, peak, _ = real
        assert row["survives"] == (status == 0), f"{what}: exit status {status}, replayed: {row}"
        off = (row["held_peak_bytes"] - peak) / peak
        assert abs(off) < 0.01, f"{what}: reserved {peak / MIB:.1f} MiB, replayed {off:+.2%}"
        self.compared += 1

    def as_recorded(self, what, real):
        rows = self.replay(real[2], "--policy", "observe")["rows"]
        self.same(f"{what}, as recorded", rows[0], real)

    def replayed(self, what, recorded, real, *options):
        """The run *recorded*, replayed with *options*, is like *real*. Returns the row."""
        row = self.replay(recorded[2], *options)["rows"][-1]
        self.same(what, row, real)
        return row


def policies(check):
    for mode in ("mixed", "fragment 2", "leak"):
        for recorded in SETTINGS:
            real = check.real(mode, recorded)
            check.as_recorded(f"{mode} under {recorded}", real)
            for setting, (_, options) in SETTINGS.items():
                check.replayed(f"{mode}: {recorded} -> {setting}", real, check.real(mode, setting), *options)


def capacity(check):
    for mode, sizes in (("mixed", (1300, 1380, 1460, 2500)), ("fragment 3", (1500, 1800, 2300)),
                        ("leak 20", (900, 1300, 1700))):
        for setting, (_, options) in SETTINGS.items():
            for size in sizes:
                what = f"{mode}, {setting}, {size} MiB"
                real = check.real(mode, setting, f"{GPU},capacity={size}MiB")
                row = check.replayed(what, check.real(mode), real, *options, "--capacity", f"{size}MiB")
                if not row["survives"]:
                    check.as_recorded(what, real)


def limit(check):
    for setting, (_, options) in SETTINGS.items():
        for size in ("800MiB", "1GiB", "2200MiB"):
            limited = check.real("mixed", setting, GPU, [f"--limit={size}"])
            check.replayed(f"limit {size}, {setting}", check.real("mixed"), limited, *options, "--limit", size)
            if limited[0] == 0: # without the limit nothing changes
                check.replayed(f"limit {size} -> none, {setting}", limited, check.real("mixed", setting),
                               *options, "--limit", "none")


def others(check):
    crowded = f"{GPU},capacity=2000MiB,others=700MiB"
    for setting, (_, options) in SETTINGS.items():
        real = check.real("leak 14", setting, crowded)
        check.as_recorded(f"leak beside others, {setting}", real)
        check.replayed(f"leak without others, {setting}", check.real("leak 14", "compact", crowded),
                       check.real("leak 14", setting, f"{GPU},capacity=2000MiB"), *options, "--others", "0")


def pool(check):
    kept, small = check.real("pool"), f"{GPU},capacity=1800MiB"
    failed = check.real("pool", device=small)
    check.replayed("the pool keeps memory", kept, failed, "--capacity", "1800MiB")
    check.replayed("the pool is trimmed", kept, check.real("pool-trimmed", device=small),
                   "--pool-keep", "0", "--capacity", "1800MiB")
    rows = check.replay(failed[2], "--pool-keep", "0")["rows"]
    assert not rows[0]["survives"] and rows[-1]["survives"], rows


def site(check):
    for setting, (_, options) in SETTINGS.items():
        for less, device in (((), GPU), (("--capacity", "1000MiB"), f"{GPU},capacity=1000MiB")):
            check.replayed(f"the site is freed, {setting}, {device}", check.real("leak 20"),
                           check.real("leak-freed 20", setting, device), *options,
                           "--free-site", "log_activation", *less)


def probe(check):
    small = check.real("probe", device=f"{GPU},capacity=1800MiB")
    answer = check.replay(small[2], "--policy", "compact")
    assert answer["recorded"]["failures"] == 2 and not answer["recorded"]["last_failure_event"], answer
    check.same("probe, as recorded", answer["rows"][0], small)
    check.same("probe, compact", answer["rows"][1],
               check.real("probe", "compact", f"{GPU},capacity=1800MiB"))


def least(check):
    for setting, (_, options) in SETTINGS.items():
        rows = check.replay(check.real("mixed")[2], *options, "--find-capacity")["rows"]
        size = rows[-1]["least_capacity_bytes"] // MIB
        assert check.real("mixed", setting, f"{GPU},capacity={size}MiB")[0] == 0, (setting, size)
        assert check.real("mixed", setting, f"{GPU},capacity={size - 2}MiB")[0] == 3, (setting, size)
        assert rows[-1]["least_gpu"] == "rtx4070-12g", rows[-1]
        check.compared += 2


def main():
    command, victim, *cases = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        check = Check(command, victim, folder)
        for case in cases:
            globals()[case](check)
            print(f"{case}: {check.compared} outcomes so far, {len(check.runs)} runs", flush=True)


if __name__ == "__main__":
    main()
