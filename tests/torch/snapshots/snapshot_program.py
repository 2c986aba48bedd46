# SPDX-License-Identifier: Apache-2.0
"""Runs the program of the shared snapshots, on any Python from 3.11 on.

    snapshot_program.py MODEL-FOLDER ARGUMENT…

Its source has two file names with quotes inside an f-string's quotes, which Python accepts
since 3.12; for older ones those two places get the other kind of quotes. The program itself
stays as it is: the same statements allocate in the same order.
"""
import os
import sys


def main():
    folder = os.path.abspath(sys.argv[1])
    path = os.path.join(folder, "cs336_systems/nsys_profile.py")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if sys.version_info < (3, 12):
        text = text.replace('{model.config["context_length"]}', "{model.config['context_length']}")
    sys.path.insert(0, folder)
    sys.argv = [path, *sys.argv[2:]]
    exec(compile(text, path, "exec"), {"__name__": "__main__", "__file__": path})


if __name__ == "__main__":
    main()
