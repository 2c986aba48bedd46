# SPDX-License-Identifier: Apache-2.0
"""Tensors that get their content past the dispatcher.

Storages of another process are filled by that process: they count as known. Copies between the
devices of one process (torch.nn.parallel.comm, torch.cuda.nccl) are functions of torch._C and no
operations: NCCL moves their data, and their results are known if what went in was.
"""
import functools

from . import hide, notes
from .known import KNOWN

_MOVING = ("_broadcast", "_broadcast_out", "_broadcast_coalesced", "_nccl_reduce",
           "_nccl_all_reduce", "_nccl_broadcast", "_nccl_all_gather", "_nccl_reduce_scatter")


def start(torch, shadow):
    _know_shared(torch, shadow)
    for name in _MOVING:
        original = getattr(torch._C, name, None)
        if original is not None:
            setattr(torch._C, name, _followed(original, shadow))


def _know_shared(torch, shadow):
    storage_class = torch.UntypedStorage
    original = storage_class._new_shared_cuda

    @hide.hidden
    def _new_shared_cuda(cls, *args, **kwargs):
        storage = original(*args, **kwargs)
        try:
            if storage.nbytes() <= shadow.limit:
                shadow.table.entries[storage._cdata] = KNOWN
        except Exception as error:
            notes.failure("_new_shared_cuda", error)
        return storage

    storage_class._new_shared_cuda = classmethod(_new_shared_cuda)


def _followed(original, shadow):
    @hide.hidden
    @functools.wraps(original)
    def moving(*args, **kwargs):
        state = None
        try:
            inputs = shadow.flat(args[0])
            if original.__name__ == "_nccl_broadcast":
                inputs = [inputs[args[1]]]
            state = shadow.state_of(inputs)
        except Exception as error:
            notes.failure(original.__name__, error)
        result = original(*args, **kwargs)
        try:
            if state:
                _put(shadow, [args, result], state)
        except Exception as error:
            notes.failure(original.__name__, error)
        return result
    return moving


def _put(shadow, values, state):
    """Inputs that the function does not write keep their state, which is not less."""
    with shadow.exclude(shadow.own), shadow.no_autograd():
        for t in shadow.flat(values):
            if shadow.has_values(t) and shadow.table.of(t) != state:
                shadow.table.put(t, state)
