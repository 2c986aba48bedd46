#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a file: scripts of the command as a user types it, with what they print.

    check_shell.py FILE NAME=VALUE...    NAME: a variable of the scripts; CASE=X runs the case X alone.
                                         Status 77: all cases were skipped

Above the first case are definitions, which every script begins with. A case begins with [NAME], or
[NAME if VARIABLE]: skipped without that variable. It consists of scripts, each in a bash of its own with job
control, all of a file in one folder, with TMPDIR below it; the files last-out and last-err have what the script
before printed. A script ends with a line

    ? STATUS PART | PART...                   lines with an indent of four continue it
    SCRIPT ?? STATUS PART | PART...           the same for a script of one line

STATUS: its exit status; "-": any; "skip": the rest of the case is skipped if it is not 0. PART: a text in
standard output, or with "!" before it in standard error. Behind that "=": nothing else; "~": not there; "^": in
its only line. "@FILE", "~@FILE": the file exists, or does not. "\\n", "\\t", "\\e" and "\\s", a space, are as in C;
"$NAME" is the variable's value. A line that begins with "# " is a comment."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# "alone FILE PROGRAM...": records without the command; "recorded FILE": waits until FILE is being recorded
PRELUDE = """set -m
alone() { local o=$1; shift; VRAMSCOPE_SIMULATE=$DEVICE VRAMSCOPE_OUTPUT=$o LD_LIBRARY_PATH=$SIMULATOR LD_PRELOAD=$LIBRARY "$@"; }
recorded() { for i in $(seq 6000); do [ -s "$1" ] && [ -s "$1.live" ] && return; sleep 0.05; done; }
"""
ESCAPES = {"n": "\n", "t": "\t", "e": "\033", "s": " ", "\\": "\\", "r": "\r"}


def read(path):
    """The definitions of a file, and its cases: (name, variable or None, [(script, status, parts, line)])."""
    definitions, cases, script, checks, began = [], [], [], None, 0

    def end():
        if script:
            sys.exit(f"{path}:{began}: a script without its line '? STATUS'")

    with open(path, encoding="utf-8") as file:
        rows = file.read().splitlines()
    for number, row in enumerate(rows, 1):
        head = re.fullmatch(r"\[(\w+)(?: if (\w+))?\]", row)
        if head:
            end()
            checks = None
            cases.append((head[1], head[2], []))
        elif not cases:
            definitions.append(row)
        elif row.startswith("# ") or not row:
            continue
        elif checks and row.startswith("    ") and not script:
            checks[2] += " " + row.strip()
        else:
            before, mark, check = row.partition(" ?? ") if not row.startswith("? ") else ("", "?", row[2:])
            began = began if script else number
            script += [before] if before or not mark else []
            if mark:
                status, _, parts = check.partition(" ")
                checks = ["\n".join(script), status, parts, number]
                cases[-1][2].append(checks)
                script = []
    end()
    return "\n".join(definitions), cases


def wrong(parts, out, err, folder, variables):
    """The first part that does not hold, or None."""
    for part in parts.split(" | ") if parts else []:
        part = re.sub(r"\$([A-Z]\w*)", lambda m: variables.get(m[1], m[0]), part.strip())
        kind, text = re.fullmatch(r"(~?!?[=^@]?)(.*)", part, re.S).groups()
        text = re.sub(r"\\(.)", lambda m: ESCAPES[m[1]], text)
        if "@" in kind:
            good = os.path.exists(os.path.join(folder, text)) != ("~" in kind)
        else:
            whole = err if "!" in kind else out
            folded = " ".join(whole.split())  # lines end at 80 columns
            good = whole == text if "=" in kind else (text in whole or text in folded) != ("~" in kind)
            good = good and ("^" not in kind or whole.count("\n") == 1 and whole.endswith("\n"))
        if not good:
            return part
    return None


def without_blanks(name, value, folder):
    """The same file by a path that scripts need not quote."""
    if " " not in value or not os.path.exists(value):
        return value
    link = os.path.join(folder, "." + name)  # hidden from "*"
    inside = "" if os.path.isdir(value) else os.path.basename(value)
    os.symlink(os.path.abspath(value if not inside else os.path.dirname(value)), link)
    return os.path.join(link, inside) if inside else link


def run(case, definitions, folder, variables):
    """Prints the result; returns whether it failed, or None for a case that was skipped."""
    title, needed, scripts = case
    if needed and needed not in variables:
        print("skipped", title)
        return None
    for script, status, parts, number in scripts:
        with open(os.path.join(folder, "script.sh"), "w", encoding="utf-8") as file:
            file.write(f"{PRELUDE}{definitions}\n{script}\n")
        # files, not pipes: a child may outlive the script
        for name in ("out", "err"):
            if os.path.exists(os.path.join(folder, name)):
                os.replace(os.path.join(folder, name), os.path.join(folder, "last-" + name))
        with open(os.path.join(folder, "out"), "w+b") as o, open(os.path.join(folder, "err"), "w+b") as e:
            done = subprocess.run(["bash", "script.sh"], cwd=folder, stdout=o, stderr=e, check=False,
                                  env={**os.environ, **variables, "TMPDIR": os.path.join(folder, "tmp")})
            o.seek(0), e.seek(0)
            out, err = (file.read().decode(errors="replace") for file in (o, e))
        if status == "skip" and done.returncode:
            print("skipped", title)
            return None
        failed = f"status {done.returncode}" if status not in ("-", "skip", str(done.returncode)) else \
            wrong(parts, out, err, folder, variables)
        if failed is not None:
            print(f"not ok {title}, line {number}: {failed}\n{script}\n--- printed\n{out}--- errors\n{err}")
            return True
    print("ok", title, flush=True)
    return False


def main():
    variables = dict(word.split("=", 1) for word in sys.argv[2:] if word)
    only = variables.pop("CASE", None)
    definitions, cases = read(sys.argv[1])
    cases = [case for case in cases if only in (None, case[0])]
    if not cases:
        sys.exit(f"{sys.argv[1]}: no case {only or ''}")
    # those of the file's own that are quoted
    quoted = dict(re.findall(r'^([A-Z]\w*)="([^"$]*)"$', definitions, re.M))
    folder = tempfile.mkdtemp(prefix="vramscope-shell-")
    try:
        os.mkdir(os.path.join(folder, "tmp"))
        os.chmod(os.path.join(folder, "tmp"), 0o1777)
        variables = {**quoted, **{name: without_blanks(name, value, folder) for name, value in variables.items()}}
        failed = [run(case, definitions, folder, variables) for case in cases]
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # children may outlive the scripts, and write
    return 1 if any(failed) else 77 if all(f is None for f in failed) else 0


if __name__ == "__main__":
    sys.exit(main())
