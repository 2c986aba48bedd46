# SPDX-License-Identifier: Apache-2.0
"""Small messages from ranks that ran before: broadcasts, sends and receives of at most 1 MiB,
or 4 KiB of floating-point numbers.

A rank writes what it sends to a file; a later one that receives at the same place of the same kind of
group reads it. So seeds, flags and pickled objects (broadcast_object_list, shapes between pipeline
stages) are those of the other rank. One that has not run is asked for, and waited for until it ends: the
command starts it beside this one. What no rank has sent leaves the memory as it was, and is noted.
Device memory of the simulated GPU is host memory, so that nothing is allocated or queued.
"""
import collections
import ctypes
import os
import sys
import time

import torch
import torch.distributed as dist
from vramscope_values import hide, imports, notes

from . import choice, folder, groups, rank, store, world

_BYTES = 1 << 20
_REAL_BYTES = 1 << 12  # of floating-point numbers: larger ones are activations, not decisions
_FILES = 4096

_numbers = collections.Counter()  # of messages, by place
_NOT_USERS = ("/site-packages/", "/dist-packages/", "/lib/python3")


def start(torch):
    from torch._C import _distributed_c10d as native
    kind = native.ProcessGroup
    kind.send = _watched(kind.send, lambda group, peer: (group.rank(), peer), True)
    kind.recv = _watched(kind.recv, lambda group, peer: (peer, group.rank()), True)
    kind.broadcast = _watched(kind.broadcast, lambda group, options: (
        options if isinstance(options, int) else options.rootRank, "all"), False)
    kind.scatter = _scattered(kind.scatter)
    kind.gather = _on_cpu(kind.gather, _fill)
    kind.allreduce = _on_cpu(kind.allreduce, _sum)
    imports.after("torch.distributed.checkpoint.default_planner", _accept_plans)


def _place():
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith("<") and not any(part in name for part in _NOT_USERS):
            return f"{os.path.relpath(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return "torch.distributed"


def _watched(call, ends, paired):
    """*ends* gives the group ranks of source and destination from the second argument."""
    @hide.hidden
    def message(group, tensors, *args):
        tensor = tensors[0] if isinstance(tensors, (list, tuple)) else tensors
        work = call(group, tensors, *args)
        try:
            if args and group.size() > 1:
                if paired:
                    groups.sends(group)
                    if group.size() == world > choice.STAGES_MAX and not choice.is_pipeline(
                            group.group_desc or "", False):
                        notes.once("unanswered", "torch.distributed", "ranks send each other messages; "
                                   "those between were not run")
                _pass_on(group, tensor, ends(group, args[0]), call.__name__)
        except Exception as error:
            notes.complain("a message of another rank is not known", error)
        return work
    return message


def _pass_on(group, tensor, ends, what, parts=()):
    """*parts*: of a scatter's source, the tensors of all ranks; *tensor* is this rank's."""
    size = tensor.numel() * tensor.element_size()
    count = group.size() if what == "scatter" else 1
    if not size or size * count > (_REAL_BYTES if tensor.is_floating_point() else _BYTES) or (
            not tensor.is_contiguous() or tensor.is_cuda and torch.cuda.is_current_stream_capturing()):
        return
    place = f"{groups.position(group)}.{group.size()}.{ends[0]}-{ends[1]}"
    _numbers[place] += 1
    path = os.path.join(folder, f"message.{place}.{_numbers[place]}")
    if tensor.is_cuda:
        torch.cuda.current_stream(tensor.device).synchronize()
    if ends[0] == group.rank():
        if _numbers.total() <= _FILES:
            store.write_whole(path, b"".join(ctypes.string_at(t.data_ptr(), size) for t in parts or (tensor,)))
        if parts and not tensor.is_cuda:  # FakeProcessGroup leaves it as it was
            tensor.copy_(parts[group.rank()])
        return
    data = _wait_for(path, dist.get_process_group_ranks(group)[ends[0]])
    if len(data) == size * count:
        own = data[size * group.rank():][:size] if count > 1 else data
        ctypes.memmove(tensor.data_ptr(), own, size)
    else:
        notes.count("unanswered", _place(), f"{what} of {size} B from rank {ends[0]} of a group of "
                    f"{group.size()}: the content is not known")


def _is_stuck(path, peer):
    """Whether *peer* waits for this rank, itself or through others, as all do that receive before they
    send. The lowest of such a circle goes on. The paths are looked at last: a message that has come since
    ends the wait of a rank whose file is still there."""
    paths, circle = [path], {rank}
    while peer not in circle:
        circle.add(peer)
        try:
            with open(os.path.join(folder, f"waiting.{peer}")) as f:
                after, path = f.read().split(" ", 1)
        except (OSError, ValueError):
            return False
        paths.append(path)
        peer = int(after)
    return peer == rank == min(circle) and not any(map(os.path.exists, paths))


def _wait_for(path, peer):
    command = int(os.environ.get("VRAMSCOPE_SIMULATE_COMMAND", 0))
    waiting = os.path.join(folder, f"waiting.{rank}")
    ended = os.path.join(folder, f"ended.{peer}")
    asked = False
    while True:
        last = os.path.exists(ended)
        try:
            with open(path, "rb") as f:
                return f.read()
        except OSError:
            pass
        try:
            os.kill(command, 0)
        except ProcessLookupError:
            last = True
        if last or not os.path.isdir(folder) or asked and _is_stuck(path, peer):
            store.write_whole(waiting, b"")
            return b""
        if not asked:
            store.write_whole(waiting, f"{peer} {path}".encode())
            store.write_whole(os.path.join(folder, f"wanted.{peer}"), b"")
            asked = True
        time.sleep(0.005)


def _scattered(call):
    @hide.hidden
    def scatter(group, outputs, inputs, options, *args):
        work = call(group, outputs, inputs, options, *args)
        if isinstance(outputs, list) and group.size() > 1:
            _pass_on(group, outputs[0], (options.rootRank, "each"), "scatter", inputs[0] if inputs else ())
        return work
    return scatter


def _on_cpu(call, complete):
    """FakeProcessGroup leaves these to its caller; NCCL's stand-in does not."""
    @hide.hidden
    def collective(group, tensors, *args):
        work = call(group, tensors, *args)
        complete(group, tensors, *args)
        return work
    return collective


def _fill(group, outputs, inputs, *args):
    own = inputs[0]
    if not own.is_cuda:
        for output in outputs[0] if outputs else ():
            output.copy_(own)
        return
    size = own.numel() * own.element_size()
    if not outputs or not size or size > _BYTES or torch.cuda.is_current_stream_capturing():
        return
    torch.cuda.synchronize(own.device)
    for output in outputs[0]:
        if output.is_contiguous() and own.is_contiguous():
            ctypes.memmove(output.data_ptr(), own.data_ptr(), size)


def _sum(group, tensors, *args):
    if isinstance(tensors, list) and not tensors[0].is_cuda and (
            not args or getattr(args[0], "reduceOp", args[0]) == dist.ReduceOp.SUM):
        for tensor in tensors:
            tensor.mul_(group.size())


def _accept_plans(planner):
    """The parts of a checkpoint that the others would save are those of this rank again."""
    validate = planner._validate_global_plan

    @hide.hidden
    def _validate_global_plan(*args):
        found = validate(*args)  # a list of what is wrong; before 2.12, whether all is well
        if found if isinstance(found, list) else not found:
            notes.once("unanswered", "torch.distributed.checkpoint", "the plan of the other ranks' parts")
        return [] if isinstance(found, list) else True

    planner._validate_global_plan = _validate_global_plan
    planner.dedup_save_plans = lambda plans, *args, **named: plans  # this rank saves all that it has
