# SPDX-License-Identifier: Apache-2.0
"""Large tensors of the host that only travel to the device: they keep no pages of memory.

With data=small the device has no content of large tensors, so weights that the program makes on the CPU
need none either. Random numbers for a tensor of at least _LEAST bytes are not drawn: its pages stay untouched,
or are given back. Copies and computations of such a tensor are not made, their results are as empty. Nor are
weights of a mapped file copied or converted. Small results are computed, from the zeros that untouched pages
have. All of these count as not computed: a Python number or a shape that comes from one is reported like that
of a device tensor. Zeros are left out too, but stay what they are.

Not followed: content that leaves PyTorch, as by numpy(); it is zeros.
"""
import ctypes
import mmap
import weakref

from . import blame, draws, dynamic, notes, plans

_LEAST = 4 << 20
_DRAWN = ("normal_", "uniform_")
_GIVE_BACK = 4  # MADV_DONTNEED

_libc = ctypes.PyDLL(None)
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def _inside(tensor):
    """(address, bytes) of the whole pages of a contiguous tensor."""
    begin = tensor.data_ptr()
    end = (begin + tensor.nbytes) & -mmap.PAGESIZE
    begin = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE
    return begin, end - begin


def _mapping(address):
    """(end, access, inode) of the mapping that has *address*."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as f:
        for line in f:
            span, access, _, _, inode = line.split(None, 5)[:5]
            first, last = (int(n, 16) for n in span.split("-"))
            if first <= address < last:
                return last, access, int(inode)
    return 0, "", 0


class Host:
    """Operations on tensors of the CPU alone. Threads: any."""

    def __init__(self, shadow):
        C = shadow.torch._C
        self.shadow = shadow
        self.torch = shadow.torch
        self.cpu, self.meta = C.DispatchKeySet(C.DispatchKey.CPU), C.DispatchKeySet(C.DispatchKey.Meta)
        self.number = C._storage_id
        self.empty = {}  # storages without content, by number: a weak reference

    def mark(self, tensor, give_back=False):
        """The storage of *tensor*, or a part of it, was not computed. *give_back*: its content is worth nothing."""
        if give_back and tensor.is_contiguous():
            _libc.madvise(*_inside(tensor), _GIVE_BACK)
        number, forget = self.number(tensor), self.empty.pop
        if number not in self.empty:
            self.empty[number] = weakref.ref(tensor.untyped_storage(), lambda _: forget(number, None))

    def has_none(self, tensor):
        """Is *tensor* one of the CPU without content?"""
        return bool(self.empty) and self.number(tensor) in self.empty

    def run(self, plan, keys, args, kwargs, tensors):
        """Runs an operation without device tensors."""
        shadow, name = self.shadow, plan.name
        with shadow.exclude(shadow.own):
            if name in _DRAWN and self.leave_out(plan, args[0], kwargs) or name == "zero_" and self.clear(args[0]):
                return args[0]
        if plan.random:
            draws.catch_up(self.torch)
        if not any(map(self.has_none, tensors)) and not (plan.kind == plans.COPY and self.is_checkpoint(*args[:2])):
            return shadow.device(plan, keys, args, kwargs)
        with shadow.exclude(shadow.own):
            return self.without_content(plan, keys, args, kwargs, tensors)

    def leave_out(self, plan, tensor, kwargs):
        """Random numbers are not drawn. False if they must be."""
        if not self.is_whole(tensor) or kwargs.get("generator") is not None or tensor.is_shared():
            return False
        draws.skip(self.torch, plan, self.cpu, tensor)
        self.mark(tensor, True)
        notes.host += tensor.nbytes
        return True

    def is_checkpoint(self, target, source):
        """Are weights copied that were mapped from a file?"""
        return (self.is_whole(target) and self.is_whole(source) and source.is_floating_point()
                and _mapping(source.data_ptr())[2] != 0)

    def clear(self, tensor):
        """Zeros need no pages. False if the memory must be written."""
        if not self.is_whole(tensor):
            return False
        begin, nbytes = _inside(tensor)
        end, access, inode = _mapping(begin)
        if begin + nbytes > end or access != "rw-p" or inode or _libc.madvise(begin, nbytes, _GIVE_BACK):
            return False  # only private memory without a file then reads as zeros
        ctypes.memset(tensor.data_ptr(), 0, begin - tensor.data_ptr())
        ctypes.memset(begin + nbytes, 0, tensor.data_ptr() + tensor.nbytes - begin - nbytes)
        if self.shadow.table.covers(tensor):
            self.empty.pop(self.number(tensor), None)
        return True

    def without_content(self, plan, keys, args, kwargs, tensors):
        """An operation with a tensor that has no content."""
        written = self.shadow.flat(plan.targets(args, kwargs))
        if plan.overwrites and not self.has_none_among(args[1:]):
            result = self.shadow.device(plan, keys, args, kwargs)
            for t in written:
                if self.shadow.table.covers(t):
                    self.empty.pop(self.number(t), None)
            return result
        if written and self.is_large(written) and not any(type(p) is str for p in plan.written):
            for t in written:
                self.mark(t, True)
            return args[0] if plan.operation._schema.returns else None
        result = None
        by_data = plan.kind == plans.DYNAMIC and not (plan.indices and not dynamic.has_mask(plan, args))
        if not written and not by_data and plan.kind != plans.READ and self.is_large(tensors):
            result = self.shaped(plan, args, kwargs)
        if result is None:
            result = self.shadow.device(plan, keys, args, kwargs)
        for t in written + self.shadow.flat(result):
            self.mark(t)
        if plan.kind == plans.READ:
            blame.read(result)
        elif by_data:
            blame.decided_shape(self.shadow.flat(result)[0].shape, False)
        return result

    def has_none_among(self, args):
        return any(map(self.has_none, self.shadow.flat(args)))

    def is_whole(self, tensor):
        return tensor.is_cpu and tensor.nbytes >= _LEAST and tensor.is_contiguous()

    def is_large(self, tensors):
        return any(t.nbytes >= _LEAST for t in tensors)

    def shaped(self, plan, args, kwargs):
        """Results as the operation makes them, without content; None if their shapes are not known."""
        torch = self.torch

        def other(value, device, make):
            if type(value) in (list, tuple):
                return type(value)(other(v, device, make) for v in value)
            if isinstance(value, torch.device):
                return torch.device(device)
            return make(value, device) if isinstance(value, torch.Tensor) else value

        def like(tensor, device):
            made = torch._VF.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype,
                                           device=device)
            return made if device == "meta" or made.nbytes >= _LEAST else made.zero_()

        try:
            with self.shadow.no_autograd():
                shapes = plan.redispatch(self.meta, *other(list(args), "meta", like),
                                         **{k: other(v, "meta", like) for k, v in kwargs.items()})
                return other(shapes, "cpu", like)
        except Exception:
            return None  # the operation itself reports what is wrong
