# SPDX-License-Identifier: Apache-2.0
"""Process groups without their other ranks.

Every store is a client of this process's server. NCCL's communicators come from unique ids, never
from a split, which does not say how many ranks are in its parts. Groups on the CPU are PyTorch's
FakeProcessGroup, in which each collective is finished at once.
"""
import atexit
import os
import sys
from urllib.parse import urlparse

from vramscope_values import hide, imports, notes

from . import choice, per_node, rank, store, world
from . import folder as _folder

_server = None
_c10d = None
_groups = {}      # by their order in this process: (description, global ranks, sends)


def start(torch):
    global _c10d
    import torch.distributed as dist
    from torch._C import _distributed_c10d as native
    from torch.distributed import distributed_c10d
    _c10d = distributed_c10d
    _use_server(native)
    native.ProcessGroup.bound_device_id = property(lambda self: None, lambda self, value: None)
    _replace_gloo(native)
    _tell_nodes(native)
    imports.after("torch.distributed.fsdp._fully_shard._fsdp_common", _share_empty_chunks)
    for module in (dist, distributed_c10d):
        module.split_group = _split_group

        @hide.replace(module, "destroy_process_group")
        def destroy_process_group(destroy, *args, **kwargs):
            _look()
            return destroy(*args, **kwargs)
    atexit.register(_note_ranks, os.getpid())


def _use_server(native):
    from torch.distributed.rendezvous import _query_to_dict, _rendezvous_handlers

    @hide.replace(native.TCPStore, "__init__")
    def to_server(connect, self, host_name, port, world_size=None, is_master=False, timeout=None, *_, **__):
        global _server
        if _server is None:
            _server = store.Server(world, _folder)
        limit = {} if timeout is None else {"timeout": timeout}
        connect(self, "127.0.0.1", _server.port, world_size, False, wait_for_workers=False, **limit)

    def from_file(url, timeout=None, **kwargs):
        query = _query_to_dict(urlparse(url).query)
        yield native.TCPStore("", 0), int(query["rank"]), int(query["world_size"])
        raise RuntimeError("Unable to perform rerendezvous using file method")

    _rendezvous_handlers["file"] = from_file


def _tell_nodes(native):
    """NCCL's buffers depend on which ranks of a group are on this node. The stand-in for NCCL finds them in
    the name of the network; without its other options, a group has the default ones."""
    kinds = [getattr(native, name, None) for name in ("ProcessGroupNCCL", "ProcessGroupNCCL2", "ProcessGroupNCCLLazy")]
    for kind in filter(None, kinds):
        @hide.replace(kind, "__init__")
        def with_node(create, self, prefix, group_rank, group_size, *options, **named):
            for value in options:
                if isinstance(value, type(self).Options):
                    ranks = value.global_ranks_in_group or range(group_size)
                    near = [i for i, r in enumerate(ranks) if r // per_node == rank // per_node]
                    value.config.net_name = f"vramscope-node:{near[0]}:{near[-1] + 1}:{group_size}"
            create(self, prefix, group_rank, group_size, *options, **named)


def _replace_gloo(native):
    if not hasattr(_c10d, "ProcessGroupGloo"):
        return
    fake = native.FakeProcessGroup
    fake._set_sequence_number_for_group = lambda self: None
    native.ProcessGroup.monitored_barrier = lambda *args, **kwargs: None
    create = getattr(fake, "_create_internal", fake)

    class _Kind(type(native.ProcessGroupGloo)):
        def __instancecheck__(cls, value):
            return isinstance(value, fake)

        def __call__(cls, prefix, group_rank, group_size, *args, **kwargs):
            return create(group_rank, group_size)

    class ProcessGroupGloo(native.ProcessGroupGloo, metaclass=_Kind):
        pass

    _c10d.ProcessGroupGloo = ProcessGroupGloo


@hide.hidden
def _split_group(parent_pg=None, split_ranks=None, timeout=None, pg_options=None, group_desc=None,
                 **kwargs):
    of_parent = _c10d.get_process_group_ranks(parent_pg or _c10d._get_default_group())
    own = [[of_parent[r] for r in part] for part in split_ranks]
    own = [part for part in own if rank in part]
    return _c10d.new_group(own[0], timeout=timeout, group_desc=group_desc) if own else None


def _share_empty_chunks(module):
    """FSDP makes an empty tensor for each rank behind the last chunk of each parameter, of which it uses its
    own: half a million in a world of 16,384."""
    if not hasattr(module, "_chunk_with_empty"):
        return
    import torch

    def _chunk_with_empty(tensor, num_chunks, dim):
        chunks = list(torch.chunk(tensor, num_chunks, dim=dim))
        if len(chunks) < num_chunks:
            chunks += [chunks[0].new_empty(0)] * (num_chunks - len(chunks))
        return chunks

    module._chunk_with_empty = _chunk_with_empty


def position(group):
    """The place of *group* among those that this rank is in, which is the same on all ranks."""
    return list(_c10d._world.pg_map).index(group)


def sends(group):
    """Called when a group is used for messages between two ranks, as pipelines do."""
    place = position(group)
    if place not in _groups or not _groups[place][2]:
        _look()
        description, ranks, _ = _groups[place]
        _groups[place] = (description, ranks, True)


def _look():
    if _c10d.is_initialized() and _c10d.get_rank() != rank:
        notes.once("unanswered", "rank", f"the program made itself rank {_c10d.get_rank()}, not rank {rank}: it has to "
                   "take its rank from RANK (or NODE_RANK and LOCAL_RANK)")
    for place, (group, ranks) in enumerate(_c10d._world.pg_group_ranks.items()):
        if place not in _groups and group is not None:
            _groups[place] = (getattr(group, "group_desc", "") or "", sorted(ranks), False)


def _note_ranks(pid):
    """The ranks that may differ from this one; nothing if the program made no group."""
    if pid != os.getpid():
        return
    _look()
    if not _groups:
        own = os.path.dirname(os.path.dirname(_c10d.__file__))
        if (sys.argv or [""])[0].startswith(os.path.join(own, "")):
            return  # a worker of torch.compile
        notes.write("unanswered", "torch.distributed", "the program made no process group")
        return
    size = len(_groups[min(_groups)][1])
    if size != world:
        notes.write("unanswered", "torch.distributed",
                    f"the program made a world of {size} ranks, not of {world}")
    notes.write("ranks", "", " ".join(map(str, choice.ranks(size, _groups.values()))))
