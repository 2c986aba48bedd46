# SPDX-License-Identifier: Apache-2.0
"""Starting a program on the simulated GPU, as a user does: with `vramscope run --simulate`.

VS_TORCH_LAUNCHER replaces that command by another one that takes the program and its arguments
and finds the device in VRAMSCOPE_SIMULATE, to try another set of libraries.
"""
import glob
import os
import shlex
import signal
import subprocess


def empty_notes(folder):
    """The file of notes of a run: the libraries write to one that exists."""
    path = os.path.join(os.path.abspath(folder), "notes.tsv")
    with open(path, "w", encoding="utf-8"):
        return path


def command(build, device, program, folder, options=()):
    """(command, environment) of *program* on *device*; traces and notes are left in *folder*."""
    program = [str(word) for word in program]
    env = dict(os.environ)
    env["VRAMSCOPE_SIMULATE_NOTES"] = empty_notes(folder)
    env.setdefault("OMP_NUM_THREADS", "1")
    launcher = env.get("VS_TORCH_LAUNCHER")
    if launcher:
        env["VRAMSCOPE_SIMULATE"] = device
        return [*shlex.split(launcher), *program], env
    return [os.path.join(str(build), "bin/vramscope"), "run", "-q", "--simulate", device, "-o",
            os.path.join(os.path.abspath(folder), "trace.%p.vst"), *options, "--", *program], env


def record(build, environment, device, program, folder, options=(), settings=None, timeout_s=600):
    """(exit status, output, largest trace) of Python with the words *program* in *folder*; *settings*
    are added to its environment. The traces of an earlier program there are removed."""
    traces = os.path.join(glob.escape(folder), "*.vst")
    for old in glob.glob(traces):
        os.remove(old)
    words, env = command(build, device, [environment.python, *program], folder, options)
    status, out = run(words, {**env, **(settings or {})}, folder, timeout_s)
    return status, out, max(glob.glob(traces), key=os.path.getsize, default=None)


def record_text(build, environment, device, text, folder, *arguments, name="program.py", python=(), **more):
    """record() of a program with this *text*, and its *arguments*. *python*: options of Python."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return record(build, environment, device, [*python, path, *arguments], folder, **more)


def printed(build, *words):
    """What `vramscope` prints on standard output."""
    return subprocess.run([os.path.join(str(build), "bin/vramscope"), *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False).stdout


def run(command_words, env, folder, timeout_s):
    """(exit status, or None after the time limit; output). Ends all processes of the program."""
    process = subprocess.Popen(command_words, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        out, _ = process.communicate(timeout=timeout_s)
        return process.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        return None, out
