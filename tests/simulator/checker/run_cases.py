#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a case of checker_cases.c or planted.cu with several seeds and holds its reports against the table
below: run_cases.py PROGRAM CASE SEEDS. The planted bug must be reported every time, with
both stacks, and the process must end with status 86; a clean case never reports."""
import os
import re
import subprocess
import sys

RACE, FREED, IN_USE, OWNER = "race", "use after free", "freed in use", "wrong owner"
UNWRITTEN = "uninitialised read"

# case -> (kind of report, function of the first stack, of the second); None: clean.
# A tuple of kinds: which one depends on what ran first.
CASES = {
    "cache_too_early": (RACE, "producer|consumer", "clearer"),
    "cache_waits": None,
    "cache_asks": None,
    "cache_same_stream": None,
    "missing_wait": (RACE, "producer", "consumer"),
    "event_too_early": (RACE, "producer", "consumer"),
    "event_wait": None,
    "alias_wait": None,
    "alias_missing_wait": (RACE, "producer", "consumer"),
    "value_wait": None,
    "value_missing_wait": (RACE, "producer", "consumer"),
    "value_by_memset": None,
    "value_by_stream": None,
    "value_seen_by_host": None,
    "stream_sync": None,
    "stream_query": None,
    "sleep_is_no_sync": (RACE, "producer", "consumer"),
    "legacy_orders_blocking": None,
    "legacy_not_nonblocking": (RACE, "producer", "consumer"),
    "legacy_between": None,
    "destroyed_stream": None,
    "per_thread_sync": None,
    "per_thread_no_sync": (RACE, "producer", "consumer"),
    "double_buffer_waits": None,
    "double_buffer_forgets": (RACE, "consumer", "uploader"),
    "halo_disjoint": None,
    "halo_overlaps": (RACE, "halo", "halo"),
    "columns_disjoint": None,
    "columns_overlap": (RACE, "columns", "columns"),
    "pool_other_stream": ((IN_USE, FREED), "consumer", "pool_releaser"),
    "pool_ordered": None,
    "pool_before_alloc": (OWNER, "pool_allocator", "clearer"),
    "pool_churn": None,
    "freed_then_launched": ("freed pointer", "releaser", "user"),
    "freed_after_launch": None,
    "freed_from_another_context": ((IN_USE, FREED), "producer", "releaser"),
    "host_freed": ((IN_USE, FREED), "uploader", "host_releaser"),
    "host_freed_after_sync": None,
    "host_reads_early": (RACE, "downloader", "host_reader"),
    "host_reads_after_sync": None,
    "graph_waits": None,
    "graph_misses_edge": (RACE, "producer", "consumer"),
    "graph_memory_ordered": None,
    "graph_memory_freed": ((IN_USE, FREED), "clearer", "pool_releaser"),
    "unwritten_kernel": (UNWRITTEN, "allocator", "consumer"),
    "unwritten_copied": (UNWRITTEN, "allocator", "downloader"),
    "unwritten_part": (UNWRITTEN, "allocator", "downloader"),
    "written_kernel": None,
    "written_copied": None,
    "double_free": ("double free", "releaser", "second_releaser"),
    "double_free_async": ("double free", "pool_releaser", "second_releaser"),
    "foreign_free": ("foreign free", "allocator", "second_releaser"),
    "freed_given": ("freed pointer", "releaser", "freed_source"),
    "leak": ("leak", "allocator", None),
    "no_leak": None,
    # planted.cu
    "kernels_disjoint": None,
    "kernels_overlap": (RACE, "first_half", "second_half"),
    "kernels_no_wait": (RACE, "first_half", "both"),
    "kernels_atomics": None,
    "kernels_no_clear": (UNWRITTEN, None, "tallies"),
    "kernels_tally_race": (RACE, "tallies", "reader"),
}

HEAD = re.compile(r"^vramscope checker: ([a-z ]+): ", re.M)


def run(program, case, seed):
    # Bytes that a race leaves unwritten would be reported too.
    more = "" if CASES[case] and CASES[case][0] != UNWRITTEN else "+uninitialised"
    env = dict(os.environ, VRAMSCOPE_SIMULATE=f"t4-16g,seed={seed},check=fail{more}")
    p = subprocess.run([program, case, str(seed)], env=env, capture_output=True, text=True,
                       timeout=600)
    return p.returncode, p.stderr


def stacks_of(report):
    """The stack sections of a report, each the names of its functions."""
    sections = re.split(r"^  \S.*$", report, flags=re.M)
    names = [re.findall(r"^      #\d+ (\w+)", s, re.M) for s in sections]
    return [n for n in names if n]


def wrong_with(expected, code, text):
    text = re.sub(r"(?m)^vramscope checker: the accesses of \d+ kernels? are unknown.*\n", "", text)
    reports = [HEAD.match(r).group(1) for r in re.split(r"(?m)^(?=vramscope checker: )", text)
               if HEAD.match(r)]
    if expected is None:
        return None if code == 0 and not text else f"clean, but status {code}"
    kinds, *functions = expected
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if code != 86:
        return f"status {code} instead of 86"
    if not reports or reports[0] not in kinds:
        return f"reported {reports} instead of {kinds}"
    stacks = stacks_of(text)
    for f in functions:
        if f and not any(set(f.split("|")) & set(s) for s in stacks):
            return f"no stack names {f}"
    return None


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    program, case, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    if not set(names) <= set(CASES):
        print("not in the table:", set(names) - set(CASES))
        return 1
    good = 0
    for seed in range(1, seeds + 1):
        code, text = run(program, case, seed)
        why = wrong_with(CASES[case], code, text)
        good += not why
        if why:
            print(f"seed {seed}: {why}\n{text}")
    print(f"{case}: {good} of {seeds} {'reported' if CASES[case] else 'without a report'}")
    return 0 if good == seeds else 1


if __name__ == "__main__":
    sys.exit(main())
