#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bundled training program under vramscope, on the simulated GPU.

    check_train_lm.py BIN_DIR CHECK     one of the checks below; exit 1 prints the reason

Checks that the profiler does not change the program's output, both builds and both
ways of recording agree with the program's own tally, the timeline holds everything, and
three ways of running out of memory get the right verdict.
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
SMALL = "t4-16g,capacity=600MiB,context=200MiB"


def run(command, status=0, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)
    if done.returncode != status:
        raise AssertionError("%s: status %d, expected %d\n%s" % (
            " ".join(command), done.returncode, status, done.stderr.decode(errors="replace")))
    return done.stdout


def tool(name):
    return os.path.join(BIN, name)


def alone(program, *args):
    env = dict(os.environ, VRAMSCOPE_SIMULATE="h100-80g",
               LD_LIBRARY_PATH=os.path.join(BIN, "..", "lib", "vramscope", "simulator"))
    return run([tool(program), *args], env=env)


def record(name, program, *args, way="observe", gpu="h100-80g", status=0):
    trace = os.path.join(WORK, name + ".vst")
    out = run([tool("vramscope"), "run", "-q", "--simulate", gpu, "--allocator=" + way, "-o", trace,
               "--", tool(program), *args], status)
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


def every_variant_agrees_with_its_own_tally():
    for args in (("--leak", "64KiB"), ("--spike",), ("--precision", "bf16"), ("--checkpoint",),
                 ("--accumulate", "2"), ("--optimizer", "sgd")):
        args = ("--steps", "6", "--selfcheck") + args
        trace, out = record("variant", "train_lm_c", *args, way="caching")
        peak, allocations, frees, live = map(int, re.findall(rb"\d+", out[out.index(b"selfcheck"):])[:4])
        found = report(trace)
        same(" ".join(args), device_figures(found),
             {"allocations": allocations, "frees": frees, "peak requested": peak})
        device, = found["devices"]
        same("live at the end", device["families"]["device"]["live_bytes"] >= live, True)


def running_out_of_memory_is_distinguished():
    cases = (("capacity", "alloc_activation", ("--context", "512", "--batch", "64")),
             ("growth", "keep_for_debugging", ("--leak", "16MiB", "--steps", "60")),
             ("spike", "evaluate_full_context", ("--spike=2GiB", "--steps", "20")))
    for want, site, args in cases:
        for way in WAYS:
            trace, _ = record("oom", "train_lm_c", *args, way=way, gpu=SMALL, status=1)
            found = json.loads(run([tool("vramscope"), "oom", "--json", trace]))
            assert want in found["verdict"], "%s under %s: %s" % (args, way, found["verdict"])
            text = run([tool("vramscope"), "oom", trace]).decode()
            assert site in text, text
            assert ("after 10 completed steps" if want == "spike" else ", step ") in text, text


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


def report_says_in_one_line_what_is_wrong_with_a_file():
    trace, _ = record("whole", "train_lm_c", "--steps", "3")
    with open(trace, "rb") as f:
        whole = f.read()
    files = {"empty.vst": b"", "cut.vst": whole[:len(whole) * 2 // 3], "notes.txt": b"just some text\n" * 9}
    paths = [os.path.join(WORK, "folder"), os.path.join(WORK, "nothing.vst")]
    os.mkdir(paths[0])
    for name, content in files.items():
        path = os.path.join(WORK, name)
        with open(path, "wb") as f:
            f.write(content)
        paths.append(path)
    for path in paths:
        done = subprocess.run([tool("vramscope"), "report", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        same("status of report %s" % path, done.returncode, 2)
        same("output of report %s" % path, done.stdout, b"")
        line = done.stderr.decode()
        assert line.count("\n") == 1 and path in line and len(line) < 400, line


def the_summary_names_functions_and_lines():
    trace = os.path.join(WORK, "summary.vst")
    done = subprocess.run([tool("vramscope"), "run", "--simulate", "h100-80g", "-o", trace, "--",
                           tool("train_lm_c"), "--steps", "4"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=True)
    text = done.stderr.decode()
    for want in ("peak allocated", "peak reserved", "of reserved memory, at its peak", "cached but unused", "alloc_activation",
                 "lm_forward.c:", "backward", "kernels", "HtoD", "live at end", "device 0"):
        assert want in text, "%s is not in:\n%s" % (want, text)


if __name__ == "__main__":
    BIN = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="vramscope-lm-") as WORK:
        try:
            globals()[sys.argv[2]]()
        except AssertionError as why:
            print(why)
            sys.exit(1)
