#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No line of text that a verb prints is longer than 80 columns, or ends with a blank.

    check_columns.py COMMAND ROOT TRAIN_LM PROGRAMS   exit 1 and a line per problem

Reads the help of the command, of every verb and of the scripts, and the golden texts, and runs the
commands of tests/text/commands.txt (as in tests/schema/commands.txt, with $FOLDER for the folder of the
traces) on traces in a folder whose name has a usual length. A line may be longer for one long word, a
path or a command line's file, with at most LABEL other characters, but not in help. Errors, which are
one line each, may be longer as well.
"""
import fcntl
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "schema"))
import recorded_traces  # noqa: E402

COLUMNS = 80
LABEL = 30
FOLDER = "experiments/language-model/runs/2026-11-22-width-1024"


def too_long(line):
    if len(line) <= COLUMNS:
        return False
    if "since TIME" in line:  # golden texts have such a sentence in one line: a time's length differs
        return False
    line = line.replace(tempfile.gettempdir(), "/tmp")  # TMPDIR may have spaces
    path = max(line.split(), key=len)
    return "/" not in path or len(line) - len(path) > LABEL


def problems_of(name, text):
    return [f"{name}: {len(line)} columns, or a blank at the end: {line}" for line in text.splitlines()
            if too_long(line) or line.endswith(" ")]


def check_help(command, *arguments):
    """The problems of the text that --help prints, and the text."""
    name = " ".join([os.path.basename(command), *arguments, "--help"])
    done = subprocess.run([command, *arguments, "--help"], capture_output=True, timeout=60, check=False)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0 or not text.lower().startswith("usage: "):
        return [f"{name}: exit {done.returncode}: {text[:80]}"], text
    return [f"{name}: {len(line)} columns: {line}" for line in text.splitlines() if len(line) > COLUMNS], text


def check_every_help(command, scripts):
    """The problems of the help of the command, of each verb that it lists and of the shell scripts, and
    the number of these texts."""
    problems, text = check_help(command)
    verbs = re.findall(r"^  ([a-z]+) +[a-z]", text, re.MULTILINE)
    if not verbs:
        problems.append("--help: no verbs found")
    for verb in verbs:
        problems += check_help(command, verb)[0]
    with_help = []
    for path in sorted(glob.glob(os.path.join(scripts, "*"))):
        with open(path, encoding="utf-8") as file:
            if "\nusage() {" in file.read():
                with_help.append(path)
    if not with_help:
        problems.append(f"{scripts}: no script with help found")
    for path in with_help:
        problems += check_help(path)[0]
    return problems, 1 + len(verbs) + len(with_help)


def run_lines(text):
    """The summary of `vramscope run`, without the program's own lines."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(("vramscope", "train_lm: ")))


def check_command(command, line, arguments):
    done = subprocess.run([command, *arguments], capture_output=True, timeout=600, check=False)
    text = done.stdout.decode(errors="replace")
    if arguments[0] == "run":
        text = run_lines(done.stderr.decode(errors="replace"))
    if not text.strip():
        return [f"{line}: exit {done.returncode}, nothing printed: {done.stderr.decode(errors='replace')[:300]}"]
    return problems_of(line, text)


def in_terminal(arguments, columns):
    """What the command prints to a terminal of so many columns."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = dict(os.environ, NO_COLOR="1")
    environment.pop("COLUMNS", None)
    with subprocess.Popen(arguments, stdout=theirs, env=environment) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the terminal is closed
                part = b""
            if not part:
                break
            text += part
        process.wait()
    os.close(ours)
    return text.decode(errors="replace").replace("\r\n", "\n")


def check_widths(command, trace):
    """oom fits a terminal of 40 columns, and uses one of 120; longer words are left whole."""
    lines = {columns: in_terminal([command, "oom", trace], columns).splitlines() for columns in (40, 120)}
    problems = [f"oom: {len(line)} of {columns} columns: {line}" for columns in lines for line in lines[columns]
                if len(line) > columns and " " in line.strip()]
    if max(len(line) for line in lines[120]) <= COLUMNS:
        problems.append("oom in a terminal of 120 columns is as narrow as in one of 80")
    return problems


def main():
    command, root, train_lm, programs = sys.argv[1:5]
    problems, count = check_every_help(command, os.path.join(root, "scripts"))
    for folder in ("tests/golden/text", "tests/scenarios/golden", "tests/diff/golden"):
        for path in sorted(glob.glob(os.path.join(root, folder, "*.txt"))):
            with open(path, encoding="utf-8") as file:
                problems += problems_of(os.path.basename(path), file.read())
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, FOLDER)
        os.makedirs(folder)
        path = os.path.join(HERE, "commands.txt")
        for line, arguments in recorded_traces.commands(path, command, root, train_lm, programs, folder):
            count += 1
            problems += check_command(command, line, arguments)
        problems += check_widths(command, os.path.join(folder, "leak.vst"))
    for problem in problems:
        print(problem)
    print(f"{count} commands, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
