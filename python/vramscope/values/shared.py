# SPDX-License-Identifier: Apache-2.0
"""Tensors that get their content past the dispatcher.

Storages of another process are filled by that process: they count as known. Copies between the
devices of one process (torch.nn.parallel.comm, torch.cuda.nccl) are functions of torch._C and no
operations: NCCL moves their data, and their results are known if what went in was.
"""
from . import hide, notes
from .known import KNOWN

_MOVING = ("_broadcast", "_broadcast_out", "_broadcast_coalesced", "_nccl_reduce",
           "_nccl_all_reduce", "_nccl_broadcast", "_nccl_all_gather", "_nccl_reduce_scatter")


def start(torch, shadow):
    @hide.after(torch.UntypedStorage, "_new_shared_cuda", "_new_shared_cuda")  # a class method, bound already
    def shared(storage, *_, **__):
        if storage.nbytes() <= shadow.limit:
            shadow.table.entries[storage._cdata] = KNOWN

    for name in _MOVING:
        if hasattr(torch._C, name):
            _follow(torch._C, name, shadow)


def _follow(owner, name, shadow):
    @hide.replace(owner, name)
    def moving(original, *args, **kwargs):
        state = None
        try:
            inputs = shadow.flat(args[0])
            if name == "_nccl_broadcast":
                inputs = [inputs[args[1]]]
            state = shadow.state_of(inputs)
        except Exception as error:
            notes.failure(name, error)
        result = original(*args, **kwargs)
        try:
            if state:
                _put(shadow, [args, result], state)
        except Exception as error:
            notes.failure(name, error)
        return result


def _put(shadow, values, state):
    """Inputs that the function does not write keep their state, which is not less."""
    with shadow.exclude(shadow.own), shadow.no_autograd():
        for t in shadow.flat(values):
            if shadow.has_values(t) and shadow.table.of(t) != state:
                shadow.table.put(t, state)
