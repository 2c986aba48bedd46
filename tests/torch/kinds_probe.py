# SPDX-License-Identifier: Apache-2.0
"""Runs a training program and writes what it holds, as the program itself can sum it up.

    kinds_probe.py OUTPUT INPUTS PROGRAM [ARGUMENTS]

At the end of forward, of backward and of each optimizer's step it marks the time in the trace
("kinds N") and appends a line of JSON to OUTPUT: the bytes of parameters and buffers, gradients,
optimizer state, tensors saved for backward, and of the program's variables INPUTS (comma-separated
names, of the function that calls backward). A storage counts once, with the size of its block in
PyTorch's allocator: 512-byte units, and what the allocator does not split off. The program is not
changed.
"""
import ctypes
import gc
import json
import os
import runpy
import sys
import weakref

import torch

saved = weakref.WeakSet()
moments = 0


class Saved:
    """A tensor that autograd saved; the graph owns it."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()


def pack(tensor):
    holder = Saved(tensor)
    saved.add(holder)
    return holder


def local(tensor):
    """The part of a distributed tensor in this process."""
    return getattr(tensor, "_local_tensor", tensor)


def block_sizes():
    """{address: bytes} of the blocks in use of PyTorch's allocator."""
    return {block["address"]: block["size"] for segment in torch.cuda.memory_snapshot()
            for block in segment["blocks"] if block["state"] == "active_allocated"}


def storages(tensors, blocks):
    """{address: bytes} of the storages on the device."""
    found = {}
    for tensor in tensors:
        tensor = local(tensor) if tensor is not None else None
        if isinstance(tensor, torch.Tensor) and tensor.is_cuda:
            storage = tensor.untyped_storage()
            if storage.nbytes():
                found[storage.data_ptr()] = blocks.get(storage.data_ptr(), storage.nbytes())
    return found


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)


def instances(*classes):
    """The live objects of each class; type() because isinstance runs code of lazy modules."""
    objects = gc.get_objects()
    return [[o for o in objects if issubclass(type(o), c)] for c in classes]


def held(names, variables):
    fsdp = sys.modules.get("torch.distributed.fsdp._fully_shard._fsdp_param")
    modules, optimizers, scalers, tensors, shards = instances(
        torch.nn.Module, torch.optim.Optimizer, torch.amp.GradScaler, torch.Tensor, fsdp.FSDPParam if fsdp else ())
    owned = [p for o in optimizers for g in o.param_groups for p in g["params"]]
    blocks = block_sizes()
    parameters = list(owned)
    if not any(hasattr(p, "_local_tensor") for p in owned):  # otherwise modules hold gathered ones meanwhile
        parameters += [p for m in modules for p in m._parameters.values()]
    buffers = [b for m in modules for b in m._buffers.values()]
    state = [t for o in optimizers for t in tensors_in(dict(o.state))]
    state += [t for s in scalers for t in (s._scale, s._growth_tracker)]
    kinds = {"parameters": storages(parameters + buffers, blocks),
             "gradients": storages([t.grad for t in parameters + tensors if t is not None and t.is_leaf], blocks),
             "optimizer state": storages(state, blocks),
             "inputs": storages((variable(n, variables) for n in names), blocks)}
    gathered = storages((t for s in shards for t in s.all_gather_outputs), blocks)  # from other ranks
    known = set(gathered) | {address for found in kinds.values() for address in found}
    kept = storages((holder.tensor for holder in saved), blocks)
    kinds["activations"] = {a: n for a, n in kept.items() if a not in known}
    return kinds


def variable(name, variables):
    """"schedule.alphas": the attribute of a variable."""
    name, *attributes = name.split(".")
    value = variables.get(name)
    for attribute in attributes:
        value = getattr(value, attribute, None)
    return value


def caller(frame, names):
    """The frame of the function that has the variables *names*."""
    names = [n.split(".")[0] for n in names]
    while frame.f_back is not None and not all(n in frame.f_locals for n in names):
        frame = frame.f_back
    return frame


def main():
    output, names, program = sys.argv[1], [n for n in sys.argv[2].split(",") if n], sys.argv[3]
    mark = ctypes.CDLL(None).vramscope_mark
    mark.argtypes, mark.restype = [ctypes.c_char_p], None
    backward = torch.Tensor.backward

    def report(moment):
        global moments
        moments += 1
        variables = dict(caller(sys._getframe(2), names).f_locals)  # before the mark: replaces an older copy
        gc.collect()  # otherwise cycles end between the mark and the sums
        mark(b"kinds %d" % moments)
        sums = {kind: [sum(found.values()), len(found)] for kind, found in held(names, variables).items()}
        with open(output.replace("%p", str(os.getpid())), "a", encoding="utf-8") as f:
            f.write(json.dumps({"moment": moments, "at": moment, "kinds": sums,
                                "allocated": torch.cuda.memory_allocated()}) + "\n")

    def watched(self, *args, **kwargs):
        report("forward")
        backward(self, *args, **kwargs)
        report("backward")

    torch.Tensor.backward = watched
    from torch.optim import optimizer
    optimizer.register_optimizer_step_post_hook(lambda *_: report("step"))
    sys.argv = sys.argv[3:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda holder: holder.tensor):
        runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
