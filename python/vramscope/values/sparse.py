# SPDX-License-Identifier: Apache-2.0
"""Operations on sparse tensors.

A sparse tensor is its indices and its values, plain tensors of which known.py has the states. The
CPU computes on a sparse tensor made of their aliases, and its results go into the indices and
values of the device's results. The operations that the CUDA kernel calls are seen as well. How many
elements a result has may depend on data: a count that the kernel reads back is answered by the
driver, and a result that still has another number of them is replaced by a new tensor.
"""
import struct

from . import driver, notes
from .known import ASSUMED, KNOWN

_PASSED = {  # they handle the parts themselves, through operations that are seen
    "copy_", "copy_sparse_to_sparse_", "clone", "detach", "_coalesced_", "_to_copy", "empty_like",
    "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_", "_nnz", "sparse_dim",
    "dense_dim", "_dimI", "_dimV", "is_coalesced"}


def parts(torch, tensor):
    """The plain tensors that a sparse one is made of, the values last."""
    layout = tensor.layout
    if layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if layout is torch.sparse_csr or layout is torch.sparse_bsr:
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]


def made_of(torch, pieces, like):
    """A sparse tensor with the layout and size of *like*, made of *pieces*."""
    if like.layout is torch.sparse_coo:
        made = torch.sparse_coo_tensor(*pieces, like.size(), check_invariants=False)
        return made._coalesced_(like.is_coalesced())
    return torch.sparse_compressed_tensor(*pieces, like.size(), layout=like.layout,
                                          check_invariants=False)


def is_sparse(torch, tensor):
    return tensor.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc,
                             torch.sparse_bsr, torch.sparse_bsc)


class _Operation:
    """One call of an operation with a sparse tensor among its arguments."""

    def __init__(self, shadow, plan, args, kwargs):
        self.shadow, self.torch, self.plan = shadow, shadow.torch, plan
        self.args, self.kwargs = args, kwargs
        self.inputs, self.supported = [], True  # plain tensors
        self.copies = []  # (tensor, its copy on the CPU) of what the operation writes
        self.found = False  # a sparse tensor on the device
        self.collect(list(args) + list(kwargs.values()))

    def collect(self, values):
        for a in values:
            kind = type(a)
            if kind in self.shadow.plain:
                if a.layout is self.torch.strided:
                    self.inputs.append(a)
                elif is_sparse(self.torch, a):
                    self.found |= a.is_cuda
                    self.inputs += parts(self.torch, a)
                else:
                    self.supported = False
                self.supported &= not a.is_quantized
            elif kind is list or kind is tuple:
                self.collect(a)
            elif isinstance(a, self.torch.Tensor):
                self.supported = False

    def to_cpu(self, a, written):
        kind = type(a)
        if kind in self.shadow.plain and a.layout is not self.torch.strided:
            if not a.is_cuda:
                return a
            pieces = [self.shadow.to_cpu(p, False, None) for p in parts(self.torch, a)]
            here = made_of(self.torch, pieces, a)
            if written:
                here = here.clone()
                self.copies.append((a, here))
            return here
        if kind is list or kind is tuple:
            return [self.to_cpu(v, written) for v in a]
        return self.shadow.to_cpu(a, written, self.copies)

    def compute(self):
        """The results of the CPU, and the state of the values."""
        driver.settle(self.torch, self.shadow.device_of(self.inputs))
        state = KNOWN if self.shadow.state_of(self.inputs) == KNOWN else ASSUMED
        written = self.plan.written
        here = [self.to_cpu(a, i in written) for i, a in enumerate(self.args)]
        named = {k: self.to_cpu(a, k in written) for k, a in self.kwargs.items()}
        return self.plan.operation(*here, **named), state

    def put(self, target, value, state):
        """Puts one result into the device's. Returns the tensor that has it: *target*, or a new
        one if the number of elements differs."""
        if target.layout is self.torch.strided:
            if target.shape == value.shape and self.shadow.has_values(target):
                self.shadow.write(target, value, state, self.shadow.table.put)
            return target
        theirs, pieces = parts(self.torch, target), parts(self.torch, value)
        if (target.layout is self.torch.sparse_coo
                and target.is_coalesced() != value.is_coalesced()):
            return target  # the device keeps another order; the operations that it called were handled
        if any(t.shape != p.shape for t, p in zip(theirs, pieces)):
            return self.replaced(target, pieces, state)
        for there, piece in zip(theirs, pieces):
            if self.shadow.has_values(there):
                self.shadow.write(there, piece, state, self.shadow.table.put)
        return target

    def replaced(self, target, pieces, state):
        if sum(p.nbytes for p in pieces) > self.shadow.limit:
            return target
        notes.assumed += 1
        notes.once("assumed", self.plan.name, "number of elements computed by the host; temporary "
                   "memory of the operation may differ", sum(p.nbytes for p in pieces))
        theirs = []
        for piece in pieces:
            there = self.torch.empty(piece.shape, dtype=piece.dtype, device=target.device)
            self.shadow.write(there, piece.contiguous(), state, self.shadow.table.fresh)
            theirs.append(there)
        return made_of(self.torch, theirs, target)

    def put_all(self, result, results, state):
        """The result for the program."""
        done = set()
        for target, value in self.copies:
            if self.put(target, value, state) is not target:
                notes.failure(self.plan.name, "a sparse tensor changes its number of elements")
            done.add(id(target))
        targets, values = self.shadow.flat(result), self.shadow.flat(results)
        fresh = [t if id(t) in done or not t.is_cuda else self.put(t, v, state)
                 for t, v in zip(targets, values)]
        notes.computed += 1
        if len(fresh) != 1 or type(result) not in self.shadow.plain:
            return result if fresh == [] or type(result) not in (tuple, list) else type(result)(fresh)
        return fresh[0]

    def is_small(self, result):
        found = []
        for t in self.shadow.flat(result):
            found += [t] if t.layout is self.torch.strided else parts(self.torch, t)
        return self.shadow.is_small(found)


def _answer(operation, results):
    """Merging equal indices reads back how many are left."""
    if operation.plan.name == "_coalesce":
        count = results._nnz()
        driver.answer(struct.pack("<i", count))
        driver.answer(struct.pack("<q", count))


def _early(operation):
    """Does the CPU compute first? What is overwritten would be gone, and a count is read back."""
    return operation.plan.written or operation.plan.name == "_coalesce"


def _values(operation):
    """(results, state), or None if the CPU cannot compute them."""
    shadow = operation.shadow
    with shadow.exclude(shadow.own), shadow.no_autograd():
        try:
            return operation.compute()
        except Exception as error:
            notes.failure(operation.plan.name, error)
            return None


def run(shadow, plan, keys, args, kwargs):
    """Runs an operation with tensors that are not strided. Returns (handled, result)."""
    if plan.name in _PASSED or shadow.capturing():
        return False, None
    with shadow.exclude(shadow.own):
        operation = _Operation(shadow, plan, args, kwargs)
        wanted = (operation.found and operation.supported and shadow.is_small(operation.inputs))
    if not wanted:
        return False, None
    values = None
    if _early(operation):
        values = _values(operation)
        if values is not None:
            _answer(operation, values[0])
    try:
        result = shadow.device(plan, keys, args, kwargs)
    finally:
        driver.drop_answers()
    with shadow.exclude(shadow.own):
        if not operation.is_small(result):
            return True, result
        if not _early(operation):
            values = _values(operation)
        if values is not None:
            with shadow.no_autograd():
                result = operation.put_all(result, *values)
    return True, result
