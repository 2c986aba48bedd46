# SPDX-License-Identifier: Apache-2.0
"""Which ranks of a job are run, from the groups of rank 0 (python/vramscope/ranks/choice.py).

    check_ranks_choice.py PYTHON-FOLDER
"""
import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("choice", os.path.join(
    sys.argv[1], "vramscope", "ranks", "choice.py"))
choice = importlib.util.module_from_spec(spec)
spec.loader.exec_module(choice)


def group(name, size, stride=1, paired=False):
    return name, list(range(0, size * stride, stride)), paired


def check(expected, world, *groups):
    found = choice.ranks(world, groups)
    assert found == expected, (found, expected)


check([0], 1, group("", 1))
check([0, 1], 2, group("", 2))
check([0, 1, 1023], 1024, group("", 1024))
# fsdp 128 × tp 8: the ends of each dimension, an inner rank of both, and the last
check([0, 7, 9, 1016, 1023], 1024, group("", 1024), group("mesh_dp", 128, 8), group("mesh_tp", 8))
# dimensions that are joined to one (replicate and shard) add nothing
check([0, 1, 7, 8, 15], 16, group("", 16), group("replicate", 2, 8), group("shard", 8),
      group("flattened", 16))
# every stage of a pipeline, with its first and its last rank, by name or by its messages
for name, paired in (("mesh_pp", False), ("PIPELINE_MODEL_PARALLEL_GROUP", False), ("", True)):
    check([0, 3, 4, 5, 7, 8, 11, 12, 15], 16, group("", 16), group(name, 4, 4, paired), group("dp", 4))
# a pipeline over the whole world, also where its name and its messages are in different groups
check(list(range(8)), 8, group("", 8, 1, True))
check(list(range(8)), 8, group("", 8, 1, True), group("mesh_dp", 1))
check(list(range(128)), 128, group("", 128), group("pp", 128))
check([0, 1, 127], 128, group("", 128, 1, True))
check([0, 3, 4, 5, 7, 8, 11, 12, 15], 16, group("", 16), group("mesh_x", 4, 4), group("a", 4, 4, True),
      group("dp", 4))
# groups that are no mesh of the world: their own first, second and last ranks
check([0, 1, 2, 5, 9], 10, group("", 10), ("odd", [0, 2, 5], False))
