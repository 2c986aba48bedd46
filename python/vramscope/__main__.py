# SPDX-License-Identifier: Apache-2.0
"""python -m vramscope VERB …, and the script `vramscope`: the command that this package brings.

`python -m vramscope demo` is the only verb of its own. In `run`, a program that ends in .py is run
by this Python, and so is `-m MODULE` in the place of a program.
"""
from __future__ import annotations

import os
import shutil
import sys
from typing import List, NoReturn, Optional

from vramscope import commands, library


def _is_script(word: str) -> bool:
    return word.endswith(".py") and os.path.isfile(word)


def with_python(words: List[str]) -> List[str]:
    """`run [OPTIONS] script.py …`, `run [OPTIONS] -m MODULE …`: by this Python."""
    if not words or words[0] not in ("run", "fit"):
        return words
    for i in range(1, len(words)):
        before, word = words[i - 1], words[i]
        if word == "-m" and i + 1 < len(words):
            if not before.startswith("-") and i > 1 and shutil.which(before):
                break  # an option of that program
            dashes = [] if before == "--" else ["--"]
            return [*words[:i], *dashes, sys.executable, *words[i:]]
        if word.startswith("-") and before != "--":
            continue
        if _is_script(word):
            return [*words[:i], sys.executable, *words[i:]]
        if before == "--" or not before.startswith("-") or "=" in before:
            break  # the program; other words may be the values of the options before them
    return words


def main(arguments: Optional[List[str]] = None) -> NoReturn:
    """Never returns: the command replaces this process."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["demo"]:
        from vramscope import demo
        sys.exit(demo.main(words[1:]))
    try:
        path = commands.command()
    except library.Error as error:
        sys.exit(f"vramscope: {error}")
    os.execv(path, [path, *with_python(words)])


if __name__ == "__main__":
    main()
