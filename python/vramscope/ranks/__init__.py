# SPDX-License-Identifier: Apache-2.0
"""One rank of a world whose other ranks do not run (`vramscope fit --ranks`).

The process is started with the variables of a launcher. Here PyTorch is made to go on without the
others: the store answers for them (store.py), groups need none of them (groups.py), small messages
come from the ranks that ran before (messages.py), and launchers start nothing but this rank
(launch.py). NCCL itself is alone in the simulator. At the end the ranks that may differ from
this one are written to the notes (choice.py). Loaded by startup/sitecustomize.py after the import
of torch, if VRAMSCOPE_SIMULATE_ALONE is RANK/WORLD/PER_NODE/FOLDER.
"""
import os

from vramscope_values import notes

rank = world = per_node = 0
folder = ""  # of files for later ranks


def start(torch):
    global rank, world, per_node, folder
    fields = os.environ["VRAMSCOPE_SIMULATE_ALONE"].split("/", 3)
    rank, world, per_node, folder = int(fields[0]), int(fields[1]), int(fields[2]), fields[3]
    if not torch.distributed.is_available():
        notes.once("unanswered", "torch.distributed", "this PyTorch has no torch.distributed")
        return
    from . import groups, launch, messages
    launch.start()
    groups.start(torch)
    messages.start(torch)
