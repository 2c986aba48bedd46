# SPDX-License-Identifier: Apache-2.0
"""Small messages from ranks that ran before: broadcasts, sends and receives of at most 1 MiB,
or 4 KiB of floating-point numbers.

A rank writes its messages to files; a later one that receives at the same place of the same kind of
group reads it. So seeds, flags and pickled objects (broadcast_object_list, shapes between pipeline
stages) are those of the other rank. One that has not run is asked for, and waited for until it ends: the
command starts it beside this one. A message that no rank has sent leaves the memory as it was, and is noted.
Device memory of the simulated GPU is host memory, so that nothing is allocated or queued.
"""
import collections
import ctypes
import os
import time

import torch
import torch.distributed as dist
from vramscope_values import blame, hide, imports, notes

from . import choice, folder, groups, rank, store, world

_BYTES = 1 << 20
_REAL_BYTES = 1 << 12  # of floating-point numbers: larger ones are activations, not decisions
_FILES = 4096

_numbers = collections.Counter()  # of messages, by place

def start(torch):
    from torch._C import _distributed_c10d as native
    blame.start(torch)
    kind = native.ProcessGroup
    _watch(kind, "send", lambda group, peer: (group.rank(), peer), True)
    _watch(kind, "recv", lambda group, peer: (peer, group.rank()), True)
    _watch(kind, "broadcast", lambda group, options: (
        options if isinstance(options, int) else options.rootRank, "all"), False)
    for name, complete in (("scatter", _scatter), ("gather", _fill), ("allreduce", _sum)):
        hide.after(kind, name, f"the other ranks' part of {name}", _failed)(complete)
    imports.after("torch.distributed.checkpoint.default_planner", _accept_plans)


def _failed(what, error):
    notes.once("unanswered", "torch.distributed", f"{what}: {type(error).__name__}: {error}")


def _watch(kind, name, ends, paired):
    """*ends* gives the group ranks of source and destination from the second argument."""
    @hide.after(kind, name, "a message of another rank", _failed)
    def message(_work, group, tensors, *args):
        if not args or group.size() == 1:
            return
        if paired:
            groups.sends(group)
            if group.size() == world > choice.STAGES_MAX and not choice.is_pipeline(group.group_desc or "", False):
                notes.once("unanswered", "torch.distributed", "ranks send each other messages; "
                           "those between were not run")
        _pass_on(group, tensors[0] if isinstance(tensors, (list, tuple)) else tensors, ends(group, args[0]), name)


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
        frame = blame.users_frame()
        place = f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno}" if frame else "torch.distributed"
        notes.count("unanswered", place, f"{what} of {size} B from rank {ends[0]} of a group of "
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


def _scatter(_work, group, outputs, inputs, options, *args):
    if isinstance(outputs, list) and group.size() > 1:
        _pass_on(group, outputs[0], (options.rootRank, "each"), "scatter", inputs[0] if inputs else ())


def _fill(_work, group, outputs, inputs, *args):
    """FakeProcessGroup leaves this and _sum to its caller; NCCL's stand-in does not."""
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


def _sum(_work, group, tensors, *args):
    if isinstance(tensors, list) and not tensors[0].is_cuda and (
            not args or getattr(args[0], "reduceOp", args[0]) == dist.ReduceOp.SUM):
        for tensor in tensors:
            tensor.mul_(group.size())


def _accept_plans(planner):
    """The parts of a checkpoint that the others would save are those of this rank again."""
    @hide.replace(planner, "_validate_global_plan")
    def accepted(validate, *args):
        found = validate(*args)  # a list of errors; before 2.12, whether there is none
        if found if isinstance(found, list) else not found:
            notes.once("unanswered", "torch.distributed.checkpoint", "the plan of the other ranks' parts")
        return [] if isinstance(found, list) else True

    planner.dedup_save_plans = lambda plans, *args, **named: plans  # this rank saves all that it has
