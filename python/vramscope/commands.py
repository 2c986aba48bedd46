# SPDX-License-Identifier: Apache-2.0
"""The `vramscope` command and its library: where they are, and how to start programs with them.

The package brings its own in the folder `_data`. A source tree or an installed tree has none there:
its command is found beside it, or in PATH.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import Dict, Iterator, List, Optional, Sequence

from vramscope import library

_HERE = os.path.dirname(os.path.abspath(__file__))


def _candidates() -> List[str]:
    paths = [os.path.join(_HERE, "_data", "bin", "vramscope"),
             # an installed tree: PREFIX/lib/vramscope/python/vramscope
             os.path.join(_HERE, *[os.pardir] * 4, "bin", "vramscope")]
    found = shutil.which("vramscope")
    return paths + ([found] if found else [])


def command() -> str:
    """The path of the `vramscope` command. Error if there is none."""
    for path in _candidates():
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.realpath(path)
    raise library.Error(
        "the command vramscope was not found, in this package or in PATH. The wheel contains it "
        "(pip install vramscope, on Linux x86-64); a build of the source has it in build/*/bin: "
        "add that folder to PATH")


def library_path() -> str:
    """The path of libvramscope.so that belongs to the command. Error if there is none."""
    path = os.path.join(os.path.dirname(os.path.dirname(command())), "lib", "libvramscope.so")
    if not os.path.exists(path):
        raise library.Error(f"{path} was not found: the command was built without CUDA headers, so it "
                            f"can read traces but not record")
    return path


def run_command(program: Sequence[str], simulate: Optional[str] = None,
                output: "Optional[os.PathLike[str] | str]" = None,
                options: Sequence[str] = ()) -> List[str]:
    """The command line that runs *program* under `vramscope run`.

    *simulate*: a simulated GPU, such as "h100-80g". *output*: the trace, a
    pattern in which %p stands for the process and %% for a percent sign. *options*: others of
    `vramscope run`, such as ["--allocator=observe"]. A program whose first word ends in .py is run
    by this Python.
    """
    words = [command(), "run", *options]
    if simulate:
        words.append(f"--simulate={simulate}")
    if output is not None:
        words += ["-o", os.fspath(output)]
    return [*words, "--", *_with_python(program)]


def _with_python(program: Sequence[str]) -> List[str]:
    script = bool(program) and program[0].endswith(".py")
    return [sys.executable, *program] if script else list(program)


def restart(simulate: Optional[str] = None, output: "Optional[os.PathLike[str] | str]" = None,
            options: Sequence[str] = ()) -> None:
    """Replace this process by the same command line under `vramscope run`, unless it runs under it
    already. Call it first in a program; everything done before is lost."""
    if library.loaded():
        return
    arguments = list(getattr(sys, "orig_argv", []))
    if not arguments:  # Python before 3.10
        with open("/proc/self/cmdline", "rb") as file:
            arguments = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    arguments[0] = sys.executable
    words = run_command(arguments, simulate, output, options)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(words[0], words)


def environment() -> Dict[str, str]:
    """The environment for commands that read traces, without the variables that start a recording."""
    hidden = ("LD_PRELOAD", "LD_AUDIT", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    return {key: value for key, value in os.environ.items()
            if key not in hidden and not key.startswith("VRAMSCOPE_")}


def _failed(verb: str, status: int, errors: bytes) -> library.Error:
    text = errors.decode(errors="replace").strip()
    return library.Error(text or f"vramscope {verb} ended with status {status}")


def output_of(words: Sequence[str], accepted: Sequence[int] = (0,)) -> str:
    """The standard output of a verb. Error with its message if its status is not *accepted*."""
    done = subprocess.run([command(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(), check=False)
    if done.returncode not in accepted:
        raise _failed(words[0], done.returncode, done.stderr)
    return done.stdout.decode(errors="replace")


def lines_of(words: Sequence[str]) -> Iterator[bytes]:
    """The lines that a verb prints, as it prints them. Error with its message if it fails."""
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            [command(), *words], stdout=subprocess.PIPE, stderr=errors, env=environment()) as verb:
        assert verb.stdout is not None
        try:
            yield from verb.stdout
        except GeneratorExit:  # the caller needs no more
            verb.kill()
            raise
        if verb.wait():
            errors.seek(0)
            raise _failed(words[0], verb.returncode, errors.read())
