# SPDX-License-Identifier: Apache-2.0
#
# Runs a victim under an interpreter and vramscope, and compares the Python frames of each stack in
# each process's trace with those that the interpreter reported; and the positions of native frames
# between them, where these are known.
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "decoder"))
import vst  # noqa: E402

DEPTH = 128
TEXT_MAX = 1024  # VS_PYTHON_TEXT_MAX
SKIPPED = 77
NAMELESS = "<nameless>"  # a function whose name is empty
# where code outside any object lies between Python's frames, or the interpreter's own frames below
# those of another interpreter
OTHERS = ("trampoline", "interpreter")
# one letter per frame: p Python, e the extension, f libffi or _ctypes, c the C library, m another
# Python module in C; p* at the end stands for any number of Python frames
NATIVE = {
    "extension": "eepp*",
    "extension, GIL released": "eepp*",
    "plain": "fpp*",
    "gil held": "fpp*",
    "called by an extension": "fppp" "e" "pp*",
    "called twice": "ee" "pp" "e" "p" "e" "pp*",
    "in an extension's thread": "fppp" "e" "c",
    "recursion below an extension": "f" + 23 * "p" + "epp*",
    "qsort": "fppp" "f" "c" "f" "pp*",
}


def say(text):
    print(text, flush=True)


def is_python(frame):
    return bool(frame.module and frame.module.function)


def python_frames(stack):
    return [[f.module.function, f.module.path, f.offset] for f in stack if is_python(f)]


def letter(frame):
    if is_python(frame):
        return "p"
    name = os.path.basename(frame.module.path) if frame.module else "?"
    for start, sign in (("libffi", "f"), ("_ctypes", "f"), ("victim_ext", "e"), ("libc.so", "c"),
                        ("libasan", "c"), ("_greenlet.", "g")):  # it precedes the C library
        if name.startswith(start):
            return sign
    if frame.module and ("lib-dynload" in frame.module.path or "gevent" in frame.module.path):
        return "m"
    return "<%s>" % name


def shape(stack):
    """As in NATIVE: runs of f and c count as one; the runtime's own frames are omitted."""
    text = ""
    for frame in stack:
        sign = letter(frame)
        if not text and "libcudart" in sign:
            continue
        if sign not in "fc" or not text.endswith(sign):
            text += sign
    return text


def has_shape(text, want):
    if want.endswith("*"):
        return text.startswith(want[:-1]) and not text[len(want) - 1:].strip("p")
    return text == want


def as_read(text):
    """A name as stored in a trace: truncated, with invalid UTF-8 replaced."""
    data = b""
    for character in text:
        if len(data) + 4 > TEXT_MAX:
            break
        if "\udc80" <= character <= "\udcff":
            data += character.encode("utf-8", "surrogateescape")
        else:
            data += ("\ufffd" if "\ud800" <= character <= "\udfff" or not ord(character)
                     else character).encode()
    return data.decode("utf-8", "replace")


def show(case, want, got):
    say("case %r: Python said | the trace has" % case)
    for w, g in zip(want + [None] * len(got), got + [None] * len(want)):
        if w or g:
            say("   %s %s | %s" % ("  " if w == g else "->", w, g))


def load(folder):
    """The output of each process, by pid."""
    processes = {}
    for name in os.listdir(folder):
        if name.startswith("reported."):
            reported = processes[name[len("reported."):]] = {}
            with open(os.path.join(folder, name), encoding="utf-8") as lines:
                for line in lines:
                    one = json.loads(line)
                    reported[one["size"]] = one
    return {process: reported for process, reported in processes.items() if reported}


def check(trace_path, reported, stacks):
    found, wrong = collections.Counter(), 0
    trace = vst.open(trace_path)
    for event in trace:
        one = reported.get(event["requested"]) if event.kind == "alloc" else None
        if not one:
            continue
        found[one["size"]] += 1
        stack = event["stack"]
        cut = bool(stack) and not stack[-1].module and stack[-1].offset == 0  # more frames
        if cut or (stack and not stack[-1].module and stack[-1].offset == 1):  # caller unknown
            stack = stack[:-1]
        got = python_frames(stack)
        want = [[as_read(f[0]) or NAMELESS, as_read(f[1]), f[2] or 0] for f in one["frames"]]
        # a stack of the maximum depth ends early
        if got != want and not (cut and len(stack) == DEPTH and got == want[:len(got)] and len(got) > 50):
            wrong += 1
            if wrong <= 20:
                show(one["case"], want, got)
        elif stacks == "python" and len(stack) != len(got):
            wrong += 1
            say("case %r: native frames in %s" % (one["case"], shape(stack)))
        elif stacks == "both" and not any(o in one["case"] for o in OTHERS) and (
                set(shape(stack)) - set("pefcmg") or shape(stack).endswith("g")):
            wrong += 1  # the interpreter's own frames, or an object that should not be there
            say("case %r: %s" % (one["case"], shape(stack)))
        elif stacks == "both" and not has_shape(shape(stack), NATIVE.get(one["case"], shape(stack))):
            wrong += 1
            say("case %r: %s, not %s" % (one["case"], shape(stack), NATIVE[one["case"]]))
    lost = [one["case"] for size, one in reported.items() if found[size] != 1]
    say("%d stacks of %d cases: %d wrong, %d lost %s" % (
        len(reported), len({one["case"] for one in reported.values()}), wrong, len(lost), lost[:5]))
    say("the trace: %s, %s" % (trace.condition, trace.text))
    return not wrong and not lost and trace.condition == "complete"


def check_all(folder, options):
    processes = load(folder)
    good = sum(map(len, processes.values())) >= options.least
    for process, reported in sorted(processes.items()):
        trace = os.path.join(folder, "t.%s.vst" % process)
        if os.path.exists(trace):
            good &= check(trace, reported, options.stacks)
        else:
            good = False
            say("process %s has no trace, but %d stacks of %s" % (
                process, len(reported), sorted({one["case"] for one in reported.values()})))
    return good


def command(options, folder):
    """The command prefix and the environment for the interpreter."""
    settings = {"stacks": options.stacks, "stack-depth": str(DEPTH),
                "output": os.path.join(folder, "t.%p.vst")}
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if not options.preload:
        return [options.vramscope, "run", "--quiet", "--simulate=h100-80g"] + [
            "--%s=%s" % one for one in settings.items()] + ["--"], environment
    # a sanitizer's runtime must be the first library
    environment.update(LD_PRELOAD=options.preload,
                       LD_LIBRARY_PATH=os.path.dirname(options.runtime),
                       ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
    for name, value in settings.items():
        environment["VRAMSCOPE_" + name.upper().replace("-", "_")] = value
    return [], environment


def main():
    parser = argparse.ArgumentParser()
    for name in ("python", "stacks", "vramscope", "runtime", "extension"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--preload", default="")
    parser.add_argument("--victim", default="python_victim.py")
    parser.add_argument("--least", type=int, default=200, help="stacks that it writes down")
    parser.add_argument("--needs", default="ctypes", help="modules that the interpreter must have")
    options = parser.parse_args()
    python = shutil.which(options.python)
    question = "import sys, %s; print(sys.version_info[:2] >= (3, 9), sys.version)" % options.needs
    answer = subprocess.run([python, "-c", question], capture_output=True, text=True) if python else None
    if not answer or not answer.stdout.startswith("True"):
        say("skipped: %s is not there, has no %s, or is older than 3.9" % (options.python,
                                                                          options.needs))
        sys.exit(SKIPPED)
    say(answer.stdout[5:].strip())
    with tempfile.TemporaryDirectory(prefix="vs_python_") as folder:
        before, environment = command(options, folder)
        done = subprocess.run(
            before + [python, os.path.join(HERE, options.victim), options.runtime,
                      os.path.join(folder, "reported"), options.extension], timeout=600, env=environment)
        if done.returncode:
            say("the program ended with %d" % done.returncode)
            sys.exit(1)
        sys.exit(0 if check_all(folder, options) else 1)


if __name__ == "__main__":
    main()
