# SPDX-License-Identifier: Apache-2.0
"""FSDP2 instead of DistributedDataParallel, in programs that are distributed already.

Where the program makes a DistributedDataParallel, it gets its own model back, with the blocks of a module
list sharded one by one and the rest together.
"""
from vramscope_values import hide

from . import effects


def start(torch, effect, settings):
    path = settings["wrap"]
    effect.why = "the program made no DistributedDataParallel"

    @hide.replace(torch.nn.parallel.DistributedDataParallel, "__new__")
    def sharded(new, cls, module, *args, **kwargs):
        try:
            from torch.distributed.fsdp import fully_shard
            for block in module.get_submodule(path).children() if path else ():
                fully_shard(block)
            fully_shard(module)
        except Exception as error:
            effect.refuse(f"{type(error).__name__}: {error}")
            return new(cls)
        blocks = f"for block in model.{path}: fully_shard(block)" if path else ""
        effect.took(f"{blocks}; fully_shard(model)  # instead of {effects.name_of(cls)}(model)".lstrip("; "))
        module.__dict__["module"] = module  # as programs unwrap DistributedDataParallel
        return module
