#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bundled training program under vramscope, on the simulated GPU.

    check_train_lm.py BIN_DIR CHECK     one of the checks below; exit 1 prints the reason

Checks that the profiler does not change the program's output, that all builds and both
ways of recording agree with the program's own tally, and the summary of a failure.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

BIN = WORK = None
PROGRAMS = ("train_lm_c", "train_lm_static_sim", "train_lm")
WAYS = ("observe", "caching")


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)
    if done.returncode:
        raise AssertionError("%s: status %d\n%s" % (
            " ".join(command), done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout


def tool(name):
    return os.path.join(BIN, name)


def alone(program, *args):
    env = dict(os.environ, VRAMSCOPE_SIMULATE="h100-80g",
               LD_LIBRARY_PATH=os.path.join(BIN, "..", "lib", "vramscope", "simulator"))
    return run([tool(program), *args], env=env)


def record(name, program, *args, way):
    trace = os.path.join(WORK, name + ".vst")
    out = run([tool("vramscope"), "run", "-q", "--simulate", "h100-80g", "--allocator=" + way, "-o", trace,
               "--", tool(program), *args])
    return trace, out


def report(trace):
    return json.loads(run([tool("vramscope"), "report", "--json", trace]))


def same(what, got, want):
    assert got == want, "%s: %r, expected %r" % (what, got, want)


def device_figures(found):
    device, = found["devices"]
    family = device["families"]["device"]
    return {"allocations": family["allocations"], "frees": family["frees"],
            "peak requested": device["peak_requested"]["bytes"]}


def programs():
    here = [p for p in PROGRAMS if os.path.exists(tool(p))]
    assert {"train_lm_c", "train_lm_static_sim"} <= set(here), "not built: %s" % here
    return here


def output_is_byte_identical_and_counts_agree_everywhere():
    """Shared and static, observe and caching: one set of figures, the program's own."""
    args = ("--steps", "12", "--selfcheck")
    for program in programs():
        plain = alone(program, *args)
        tally = dict(zip(("peak", "allocations", "frees", "live"), map(int, re.search(
            rb"selfcheck: peak requested device bytes (\d+), allocations (\d+), frees (\d+), live at end (\d+)",
            plain).groups())))
        for way in WAYS:
            trace, out = record("%s-%s" % (program, way), program, *args, way=way)
            same("output of %s under %s" % (program, way), out, plain)
            found = report(trace)
            figures = device_figures(found)
            same("%s %s" % (program, way), figures, {
                "allocations": tally["allocations"], "frees": tally["frees"],
                "peak requested": tally["peak"]})
            device, = found["devices"]
            assert device["peak_allocated"]["bytes"] >= device["peak_requested"]["bytes"]
            same("policy", found["process"]["policy"], way)


def the_summary_starts_with_the_verdict():
    """After a failure that ended the program; the same failure is not listed again below."""
    done = subprocess.run([tool("vramscope"), "run", "--simulate", "t4-16g,capacity=500MiB,context=400MiB", "-o",
                           os.path.join(WORK, "first.vst"), "--", tool("train_lm_c"), "--leak",
                           "8MiB", "--steps", "40"], capture_output=True, timeout=600)
    text = done.stderr.decode()
    assert done.returncode == 1, text
    start = text.index("out of memory  8.0 MiB by cudaMalloc on device 0, step ")
    heading = text.index("\ntrain_lm_c  pid ")
    for part in ("\n  why     growth", "\n  where   keep_for_debugging (lm_extras.c:", "\n  try     "):
        assert start < text.index(part) < heading, text
    assert "allocation failed" not in text[heading:], text


if __name__ == "__main__":
    BIN = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vramscope-lm-") as WORK:
        try:
            globals()[sys.argv[2]]()
        except AssertionError as why:
            print(why)
            sys.exit(1)
