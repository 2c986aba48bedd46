# SPDX-License-Identifier: Apache-2.0
"""Tensors that get their content past the dispatcher.

Storages of another process are filled by that process: they count as known. Copies between the
devices of one process (torch.nn.parallel.comm, torch.cuda.nccl) are functions of torch._C and no
operations: NCCL moves their data, and their results are known if what went in was.
"""
from . import hide
from .known import KNOWN

_MOVING = ("_broadcast", "_broadcast_out", "_broadcast_coalesced", "_nccl_reduce",
           "_nccl_all_reduce", "_nccl_broadcast", "_nccl_all_gather", "_nccl_reduce_scatter")


def start(torch, shadow):
    @hide.after(torch.UntypedStorage, "_new_shared_cuda", "_new_shared_cuda")  # a class method, bound already
    def shared(storage, *_, **__):
        if storage.nbytes() <= shadow.limit:
            shadow.table.entries[storage._cdata] = KNOWN

    for name in filter(lambda name: hasattr(torch._C, name), _MOVING):
        @hide.after(torch._C, name, name)
        def moved(result, *args, name=name, **__):
            inputs = shadow.flat(args[0])
            state = shadow.state_of([inputs[args[1]]] if name == "_nccl_broadcast" else inputs)
            with shadow.exclude(shadow.own), shadow.no_autograd():
                for t in shadow.flat([args, result]) if state else ():
                    # inputs that the function does not write keep their state, which is not less
                    if shadow.has_values(t) and shadow.table.of(t) != state:
                        shadow.table.put(t, state)
