# SPDX-License-Identifier: Apache-2.0
#
# Runs python_embed, a program that loads and unloads libpython at run time, under vramscope: it
# must end as it does alone, and its script's allocations must have their Python frames.
import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "decoder"))
import vst  # noqa: E402

SKIPPED = 77


def say(text):
    print(text, flush=True)


def libpythons():
    """The library of the interpreter that runs this script, and the system's."""
    question = "import sysconfig as s; print(s.get_config_var('LIBDIR'), s.get_config_var('INSTSONAME'))"
    found = [(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"), sys.prefix)]
    try:
        answer = subprocess.run(["/usr/bin/python3", "-c", question], capture_output=True, text=True)
        if not answer.returncode:
            found.append((*answer.stdout.split(), "/usr"))
    except OSError:
        pass
    for folder, name, home in found:
        path = os.path.join(folder or "", name or "")
        if ".so" in path and os.path.exists(path):
            yield path, home


def run(options, folder, path, home, extra):
    environment = dict(os.environ, PYTHONHOME=home, LD_LIBRARY_PATH=os.path.dirname(options.runtime))
    environment.update(extra)
    return subprocess.run([options.program, options.runtime, path, options.mode], env=environment,
                          cwd=folder, timeout=600, capture_output=True, text=True, errors="replace")


def functions_of(trace):
    found = set()
    for event in vst.open(trace):
        for frame in event["stack"] if event.kind == "alloc" else []:
            if frame.module and frame.module.function:
                found.add(frame.module.function)
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "mode", "runtime", "preload"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    done = bad = 0
    for path, home in libpythons():
        for stacks in ("both", "python"):
            with tempfile.TemporaryDirectory(prefix="vs_embed_") as folder:
                alone = run(options, folder, path, home, {})
                if alone.returncode:
                    say("%s cannot be used: %s" % (path, alone.stderr.strip()[-300:]))
                    break
                trace = os.path.join(folder, "t.vst")
                with_us = run(options, folder, path, home, {
                    "LD_PRELOAD": options.preload, "VRAMSCOPE_OUTPUT": trace,
                    "VRAMSCOPE_STACKS": stacks,
                    "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"})
                done += 1
                if (with_us.returncode, with_us.stdout) != (alone.returncode, alone.stdout):
                    bad += 1
                    say("%s, stacks=%s: ended with %d: %s" % (path, stacks, with_us.returncode,
                                                               with_us.stderr[-2000:]))
                    continue
                functions = functions_of(trace)
                want = options.mode != "load"
                say("%s, stacks=%s: %s" % (path, stacks, sorted(functions)))
                if ("inside_python" in functions) != want or "larger objects" in with_us.stderr:
                    bad += 1
                    say("the functions are not what they should be; %s" % with_us.stderr[-2000:])
    if not done:
        say("skipped: no shared library of Python is here")
        sys.exit(SKIPPED)
    sys.exit(1 if bad else 0)


main()
