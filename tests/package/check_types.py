#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The types of the package, by mypy --strict: of the package itself, and of a program that uses it, in
which a planted mistake is found. Skipped (77) without mypy.

    check_types.py SOURCE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import type_checker

HERE = pathlib.Path(__file__).resolve().parent
MISTAKES = (("train_step(3)", 'train_step("3")'), ("text: str", "text: int"),
            ("train_step.tracker.peak_bytes", "train_step.tracked"), ("size: float", "size: str"),
            ("vramscope.step()", 'vramscope.step("1")'))


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    if not type_checker.TYPES.complete():
        type_checker.skip("mypy is not installed; `tests/package/type_checker.py fetch` installs it in build/types")
    with tempfile.TemporaryDirectory() as scratch:
        env = dict(os.environ, MYPYPATH=str(source / "python"))
        words = [type_checker.TYPES.python, "-m", "mypy", "--strict", "--cache-dir", os.path.join(scratch, "cache")]

        def check(*more, cwd=scratch):
            return subprocess.run([*words, *map(str, more)], env=env, cwd=cwd, stdout=subprocess.PIPE, text=True)
        done = check(cwd=source)
        assert done.returncode == 0, done.stdout
        text = (HERE / "typed_program.py").read_text(encoding="utf-8")
        program = pathlib.Path(scratch) / "program.py"
        for before, after in (("", ""), *MISTAKES):
            assert before in text, before
            program.write_text(text.replace(before, after, 1) if before else text, encoding="utf-8")
            done = check("--config-file", source / "pyproject.toml", "program.py")
            found = re.findall(r"^program\.py:\d+: error: .*$", done.stdout, re.M)
            assert len(found) == (1 if before else 0) and done.returncode == len(found), (before, done.stdout)


if __name__ == "__main__":
    main()
