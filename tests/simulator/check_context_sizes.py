# SPDX-License-Identifier: Apache-2.0
"""A row that cmake/size_tables.py cannot read stops the build, with its line and what is wrong.

usage: check_context_sizes.py cmake/size_tables.py
"""
import os
import subprocess
import sys
import tempfile

GOOD = "driver\t*\t*\tcontext\th100-80g\t400\tassumed\ta guess\n"
LIBRARY = "cudnn\t9.1.0-9.5.9\tsm_90\tconvolution\tk\t100\tassumed\ta guess\n"


def write(folder, table):
    path = os.path.join(folder, "sizes.tsv")
    with open(path, "w", encoding="utf-8") as f:
        f.write(table)
    return subprocess.run([sys.executable, sys.argv[1], path, os.path.join(folder, "out.h")],
                          stderr=subprocess.PIPE, text=True, check=False)


def check(folder, table, expected):
    ran = write(folder, table)
    assert ran.returncode == 1 and expected in ran.stderr, (table, ran.returncode, ran.stderr)
    assert ran.stderr.count("\n") == 1, ran.stderr
    assert not os.path.exists(os.path.join(folder, "out.h"))


with tempfile.TemporaryDirectory() as scratch:
    for good, bad, why in (("400", "400MiB", "'400MiB' is not a number of bytes"),
                           ("\t*\t*\tc", "\t*\tsm_90\tc", "versions and architecture of a context must be *"),
                           ("assumed", "guessed", "the kind is guessed; write measured or assumed"),
                           ("h100-80g", "*", "the key of a context is *; write the name of a GPU"),
                           ("driver\t*", "driver\t1.0.0-2.0.0", "versions and architecture of a context must be *"),
                           ("\ta guess", "", "7 columns instead of 8")):
        check(scratch, GOOD + GOOD.replace(good, bad), f"sizes.tsv:2: {why}")
    for good, bad, why in (("9.1.0-9.5.9", "9.1", "the versions are 9.1; write 9.1.0-9.5.0, or *"),
                           ("sm_90", "90", "the architecture is 90; write sm_90, or *"),
                           ("\t100", "\t3MiB", "'3MiB' is not a number of bytes"), ("\t100", "\t", "'' is not a number"),
                           ("assumed", "guessed", "the kind is guessed"), ("\ta guess", "\ta guess\tmore", "9 columns")):
        check(scratch, GOOD + LIBRARY.replace(good, bad), f"sizes.tsv:2: {why}")
    ran = write(scratch, "# a comment\n" + GOOD + LIBRARY)
    assert ran.returncode == 0, ran.stderr
    with open(os.path.join(scratch, "out.h"), encoding="utf-8") as f:
        assert f.read().endswith('VS_SIM_CONTEXT("h100-80g", 400, "assumed", "a guess")\n'
                                 'VS_LIBRARY_SIZE("cudnn", 90100, 90509, 90, "convolution", "k", 100, 0, "a guess")\n')
