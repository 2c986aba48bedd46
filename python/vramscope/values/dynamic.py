# SPDX-License-Identifier: Apache-2.0
"""Operations whose result is a number or has a shape that depends on data, and collectives.

The CUDA operation runs as on a GPU: the operations that it calls are computed too (a maximum that
it reads back), and the driver answers a count that it reads back directly. If the result still has
another shape than the CPU's, it is replaced by memory of that shape, and counted as assumed. Data
that is not known gives the largest possible shape.
"""
import itertools
import math
import threading

from . import blame, driver, notes
from .known import ASSUMED, KNOWN, UNKNOWN
from . import alias

_COUNTED = {"nonzero", "_unique2", "_unique", "unique_dim", "unique_consecutive",
            "unique_dim_consecutive"}  # they read back the number of rows of their first result

_RECEIVING = {"broadcast_", "recv_", "recv_any_source_"}  # the content is another process's
_OUTPUT_FIRST = {"allgather_", "_allgather_base_", "allgather_coalesced_", "gather_", "scatter_",
                 "allgather_into_tensor_coalesced_", "reduce_scatter_", "_reduce_scatter_base_",
                 "reduce_scatter_tensor_coalesced_", "alltoall_", "alltoall_base_"}

_thread = threading.local()  # .answers: this thread is inside an operation that has answers


def has_mask(plan, args):
    """Does an operation with a list of indices have a mask among them?"""
    for index in args[1] if len(args) > 1 and isinstance(args[1], (list, tuple)) else ():
        if index is not None and index.element_size() == 1:
            return True
    return False


def run(self, plan, keys, args, kwargs, tensors):
    if plan.indices and not has_mask(plan, args):
        return self.ordinary(plan, keys, args, kwargs, tensors)
    if self.capturing():
        return self.device(plan, keys, args, kwargs)
    computed = self.quietly(plan, self.values, plan, args, kwargs, tensors) if self.is_small(tensors) else None
    results, copies, state = computed or (None, [], ASSUMED)
    by_mask = plan.indices or plan.name == "masked_select"  # it alone gives the shape
    shape_state = self.state_of(self.flat(args[1])) if by_mask else state
    answer(self, plan, args, results)
    outer, _thread.inside = getattr(_thread, "inside", False), True
    _thread.counted = results is not None  # operations that this one calls may count its elements
    try:
        result = self.device(plan, keys, args, kwargs)
    finally:
        _thread.answers, _thread.inside = False, outer
        driver.drop_answers()
    if shape_state != KNOWN and not outer:
        self.quietly(plan, _blame, self, plan, args, results, result)
    _thread.counted |= results is not None
    if results is None:
        self.quietly(plan, self.not_computed, plan, args, kwargs, result)
        return result
    with self.exclude(self.own), self.no_autograd():
        try:
            result = _reshaped(self, plan, result, results, copies)
            self.finish(plan, result, results, copies, state)
        except self.torch.OutOfMemoryError:
            raise
        except Exception as error:
            notes.failure(plan.name, error)
    return result


def _blame(self, plan, args, results, result):
    """Reports a result whose shape follows from values that were not computed."""
    shown = self.flat(result if results is None else results)
    if shown:
        shape, counted = list(shown[0].shape), getattr(_thread, "counted", False)
        blame.decided_shape(shape, not counted, _most(plan, args, shape) if counted else None)


def _most(plan, args, shape):
    """The largest shape that a result of *shape* may have, whatever the values; None if it has it, or that is
    not known."""
    place, counted = 0, args[0]
    if plan.name == "masked_select":  # of what both broadcast to, which has the larger of their sizes
        sizes = itertools.zip_longest(*(reversed(t.shape) for t in args[:2]), fillvalue=1)
        most = [math.prod(map(max, sizes))]
        return most if most != shape else None
    if plan.indices:
        given = [i for i, index in enumerate(args[1]) if index is not None]
        place, counted = given[0], args[1][given[0]]
        if len(given) > 1:
            return None
    elif plan.name not in _COUNTED or plan.name.startswith("unique_dim"):
        return None
    most = shape[:place] + [counted.numel()] + shape[place + 1:]
    return most if most != shape else None


def answer(self, plan, args, results):
    """Has the driver answer the count that the operation reads back: without results, the largest
    possible. What is in the device's memory may be any number."""
    if plan.name in _COUNTED:
        _thread.answers = driver.present
        driver.answer(args[0].numel() if results is None else self.flat(results)[0].shape[0])


def _reshaped(self, plan, result, results, copies):
    """*result*, with tensors of the true shape where the device's differ."""
    targets, values = self.flat(result), self.flat(results)
    if all(t.shape == v.shape for t, v in zip(targets, values)):
        return result
    notes.by_host(plan.name, "shape", values)
    fresh = []
    written = {id(t) for t, _ in copies}
    for target, value in zip(targets, values):
        if target.shape == value.shape:
            fresh.append(target)
        elif id(target) in written:
            fresh.append(target.resize_(value.shape))
        else:
            empty = self.torch._VF.empty
            fresh.append(empty(value.shape, dtype=target.dtype, device=target.device))
    return self.like(result, fresh)


def read(self, plan, keys, args, kwargs, tensors):
    """A Python number from the device."""
    if plan.name == "equal":
        return _equal(self, plan, keys, args, kwargs, tensors)
    with self.exclude(self.own):
        number = self.device(plan, keys, args, kwargs)
        try:
            with self.no_autograd():
                source = args[0]
                state = self.table.of(source)
                if state != KNOWN:
                    if getattr(_thread, "answers", False):
                        return number
                    value = alias.of(source).item() if state != UNKNOWN else type(number)(0)
                    if not getattr(_thread, "inside", False):  # else its operation is reported
                        blame.read(value)
                    return value
                return alias.of(source).item()
        except Exception as error:
            notes.failure(plan.name, error)
            return number


def too_large(self, tensor):
    """Can no kernel in Python return every number of *tensor*? In PyTorch 2.6 one above the largest int64 is
    an error."""
    if str(tensor.dtype) != "torch.uint64":
        return False
    try:
        with self.exclude(self.own):
            negative = self.torch._VF.tensor(-1, device="cpu")
            self.torch.ops.aten._local_scalar_dense(negative.view(self.torch.uint64))
        return False
    except RuntimeError:
        return True


def read_63_bits(self, plan, keys, args, kwargs):
    """The program goes on with a number that lacks its highest bit, which is listed as not computed."""
    with self.exclude(self.own):
        signed = args[0].view(self.torch.int64)
    number = self.handle(plan, keys, (signed,), kwargs)
    if number < 0:
        number &= (1 << 63) - 1
        blame.read(number)
    return number


def _equal(self, plan, keys, args, kwargs, tensors):
    with self.exclude(self.own):
        self.device(plan, keys, args, kwargs)
        with self.no_autograd():
            state = self.state_of(tensors)
            same = self.compute(plan, args, kwargs, []) if self.is_small(tensors) else True
            if state != KNOWN:
                blame.read(same)
            return same


def _sent(self, plan, args, tensors):
    """The tensors of this process that a collective reads."""
    if plan.name in _RECEIVING:
        return []
    if plan.name in _OUTPUT_FIRST:
        tensors = []
        self.collect(args[1:], tensors)
    return [t for t in tensors if self.has_values(t)]


def moving():
    """The state of a buffer that is made now: the library fills those that a collective makes, and
    the operation copies from them."""
    return getattr(_thread, "moving", UNKNOWN)


def collective(self, plan, keys, args, kwargs, tensors):
    """The library moves the data; small results are known if what went in was."""
    state = self.state_of(_sent(self, plan, args, tensors))
    outer, _thread.moving = getattr(_thread, "moving", UNKNOWN), state
    try:
        result = self.device(plan, keys, args, kwargs)
    finally:
        _thread.moving = outer
    known = state if state != UNKNOWN else ASSUMED
    for t in tensors:
        if self.has_values(t):
            self.table.put(t, known)
    for t in self.flat(result):  # made where the handler does not see it, inside __torch_dispatch__
        if self.has_values(t) and self.table.of(t) == UNKNOWN:
            self.table.put(t, known)
    return result
