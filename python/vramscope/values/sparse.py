# SPDX-License-Identifier: Apache-2.0
"""Operations on sparse tensors.

A sparse tensor is its indices and its values, plain tensors of which known.py has the states. The
CPU computes on a sparse tensor made of their aliases, and its results go into the indices and
values of the device's results. The operations that the CUDA kernel calls are seen as well. How many
elements a result has may depend on data: a count that the kernel reads back is answered by the
driver, and a result that still has another number of them is replaced by a new tensor.
"""
from . import driver, notes
from .known import ASSUMED, KNOWN

_PASSED = {  # they handle the parts themselves, through operations that are seen
    "copy_", "copy_sparse_to_sparse_", "clone", "detach", "_coalesced_", "_to_copy", "empty_like",
    "sparse_resize_", "sparse_resize_and_clear_", "resize_as_sparse_", "_nnz", "sparse_dim",
    "dense_dim", "_dimI", "_dimV", "is_coalesced"}


def parts(torch, tensor):
    """The plain tensors that a sparse one is made of, the values last; a strided one itself."""
    layout = tensor.layout
    if layout is torch.strided:
        return [tensor]
    if layout is torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if layout is torch.sparse_csr or layout is torch.sparse_bsr:
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]


def _layouts(torch):
    return torch.sparse_coo, torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc


def made_of(torch, pieces, like):
    """A sparse tensor with the layout and size of *like*, made of *pieces*."""
    if like.layout is torch.sparse_coo:
        made = torch.sparse_coo_tensor(*pieces, like.size(), check_invariants=False)
        return made._coalesced_(like.is_coalesced())
    return torch.sparse_compressed_tensor(*pieces, like.size(), layout=like.layout,
                                          check_invariants=False)


def _put(shadow, plan, target, value, state):
    """Puts one result into the device's. Returns the tensor that has it: *target*, or a new one if
    the number of elements differs."""
    torch = shadow.torch
    sparse = target.layout is not torch.strided
    if sparse and target.layout is torch.sparse_coo and target.is_coalesced() != value.is_coalesced():
        return target  # the device keeps another order; the operations that it called were handled
    theirs, pieces, settle = parts(torch, target), parts(torch, value), shadow.table.put
    if sparse and any(t.shape != p.shape for t, p in zip(theirs, pieces)):
        if sum(p.nbytes for p in pieces) > shadow.limit:
            return target
        notes.by_host(plan.name, "number of elements", pieces)
        theirs = [torch._VF.empty(p.shape, dtype=p.dtype, device=target.device) for p in pieces]
        target, settle = made_of(torch, theirs, target), shadow.table.fresh
    for there, piece in zip(theirs, pieces):
        if shadow.has_values(there):
            shadow.write(there, piece, state, settle)
    return target


def _put_all(shadow, plan, result, results, copies, state):
    """The result for the program."""
    done = set()
    for target, value in copies:
        if _put(shadow, plan, target, value, state) is not target:
            notes.failure(plan.name, "a sparse tensor changes its number of elements")
        done.add(id(target))
    targets = shadow.flat(result)
    fresh = [t if id(t) in done or not t.is_cuda else _put(shadow, plan, t, v, state)
             for t, v in zip(targets, shadow.flat(results))]
    notes.computed += 1
    return shadow.like(result, fresh) if fresh and len(fresh) == len(targets) else result


def _has_subclass(shadow, values):
    return any(_has_subclass(shadow, v) if isinstance(v, (list, tuple)) else
               isinstance(v, shadow.torch.Tensor) and type(v) not in shadow.plain for v in values)


def run(shadow, plan, keys, args, kwargs):
    """Runs an operation with tensors that are not strided. Returns (handled, result)."""
    torch = shadow.torch

    def plain(values):
        return [p for t in shadow.flat(values) for p in parts(torch, t)]

    def computed():
        driver.settle(torch, shadow.device_of(tensors))
        copies = []
        results = shadow.compute(plan, args, kwargs, copies,
                                 lambda _, here, named, *__: plan.operation(*here, **named))
        return results, copies, KNOWN if shadow.state_of(tensors) == KNOWN else ASSUMED

    if (plan.name in _PASSED or shadow.capturing()
            or _has_subclass(shadow, [*args, *kwargs.values()])):  # to_cpu leaves it on the device
        return False, None
    with shadow.exclude(shadow.own):
        given = shadow.flat([*args, *kwargs.values()])
        if not any(t.is_cuda and t.layout in _layouts(torch) for t in given) or any(
                t.is_quantized or t.layout not in (torch.strided, *_layouts(torch)) for t in given):
            return False, None
        tensors = plain(given)
        if not shadow.is_small(tensors):
            return False, None
    # What is overwritten would be gone, and merging equal indices reads back how many are left.
    early = plan.written or plan.name == "_coalesce"
    values = shadow.quietly(plan, computed) if early else None
    if values and plan.name == "_coalesce":
        driver.answer(values[0]._nnz())
    try:
        result = shadow.device(plan, keys, args, kwargs)
    finally:
        driver.drop_answers()
    with shadow.exclude(shadow.own), shadow.no_autograd():
        if shadow.is_small(plain(result)):
            values = values if early else shadow.quietly(plan, computed)
            result = _put_all(shadow, plan, result, *values) if values else result
    return True, result
