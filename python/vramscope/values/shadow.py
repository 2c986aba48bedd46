# SPDX-License-Identifier: Apache-2.0
"""The handler of every operation: runs it, and computes its values if its tensors are small.

The CPU computes on aliases of the inputs, and on copies of what is changed in place; the CUDA
operation runs as itself, with all its allocations; then the results go into the memory of its
outputs. An operation with a large tensor is not computed: its small outputs get plain content
(assumed.py) and count as not known. Nothing here keeps a reference to a tensor after the call.
"""
import functools
import operator
import threading

from . import alias, assumed, blame, cpu, driver, notes, numbers, plans, sparse, threads
from .known import ASSUMED, KNOWN, UNKNOWN, Table

_TOTAL = 32  # times the limit: the most bytes of one operation that are computed


class Call:
    """What became of one operation on the device."""
    __slots__ = ("done", "result", "error")

    def __init__(self):
        self.done, self.result, self.error = False, None, None


class Shadow:
    """One per process. Threads: any; an operation is handled by the thread that calls it."""

    def __init__(self, torch, keys, limit):
        C = torch._C
        self.torch = torch
        self.limit = limit
        self.table = Table(torch, limit)
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.own = functools.reduce(operator.or_, map(C.DispatchKeySet, keys))
        self.below = [C._dispatch_keyset_full_after(k) - self.own for k in keys]  # of each key, from above
        self.exclude = C._ExcludeDispatchKeyGuard
        self.no_autograd = C._AutoDispatchBelowAutograd
        self.no_function = C.DisableTorchFunctionSubclass
        self.capturing = C._cuda_isCurrentStreamCapturing
        self.python = C.DispatchKey.Python
        self.modes = C._len_torch_dispatch_stack
        self.over_python = self.below[0].has(self.python)
        self.calls = threading.local()
        self.host = host.Host(self) if driver.data_is_small() else None
        numbers.start(torch)
        cpu.start(torch)
        blame.start(torch)
        threads.start(torch)

    # ---- which tensors ----

    def collect(self, args, found):
        """Appends the tensors among *args*. False if one is not plain and strided."""
        plain = self.plain
        for a in args:
            kind = type(a)
            if kind in plain:
                if a.layout is not self.torch.strided or a.is_quantized:
                    return False
                found.append(a)
            elif kind is list or kind is tuple:
                if a and not isinstance(a[0], (int, float)) and not self.collect(a, found):
                    return False
            elif isinstance(a, self.torch.Tensor):
                return False
        return True

    def unwrapped(self, arg):
        """*arg* with plain tensors for those of subclasses without a __torch_dispatch__, which are plain below
        Python."""
        if type(arg) in (list, tuple):
            return type(arg)(map(self.unwrapped, arg))
        if (type(arg) in self.plain or not isinstance(arg, self.torch.Tensor)
                or self.torch._C._dispatch_keys(arg).has(self.python)):
            return arg
        return arg.as_subclass(self.torch.Tensor)

    def is_small(self, tensors):
        limit, total = self.limit, 0
        for t in tensors:
            nbytes = t.numel() * t.element_size()
            if nbytes > limit:
                return False
            total += nbytes
        return total <= limit * _TOTAL

    def flat(self, result, found=None):
        """The tensors of a result, in order."""
        if found is None:
            found = []
        if type(result) in self.plain:
            found.append(result)
        elif type(result) is tuple or type(result) is list:
            for r in result:
                self.flat(r, found)
        return found

    def like(self, result, tensors):
        """*tensors* in the form of *result*, which has as many."""
        return tensors[0] if type(result) in self.plain else type(result)(tensors)

    def has_values(self, tensor):
        """Can *tensor* have values: a strided one on the device, not larger than the limit?"""
        return (tensor.is_cuda and tensor.layout is self.torch.strided and
                tensor.numel() * tensor.element_size() <= self.limit)

    def state_of(self, tensors):
        state = KNOWN
        for t in tensors:
            if t.is_cuda:
                now = self.table.of(t)
                if now < state:
                    state = now
        return state

    def input_state(self, plan, args, kwargs, tensors):
        """KNOWN, or ASSUMED if an input is not known; targets that are only written don't count."""
        if plan.written:
            tensors = []
            self.collect(args[1:] if plan.overwrites else args, tensors)
            self.collect([a for k, a in kwargs.items() if k not in plan.written], tensors)
        return KNOWN if self.state_of(tensors) == KNOWN else ASSUMED

    # ---- values ----

    def to_cpu(self, arg, written, copies):
        """*arg* with CPU tensors for the device's. Copies of tensors that will be written go to
        *copies*, with the tensor."""
        kind = type(arg)
        if kind in self.plain:
            if not arg.is_cuda:
                return arg
            strided = arg.layout is self.torch.strided
            here = alias.of(arg) if strided else sparse.made_of(
                self.torch, self.to_cpu(sparse.parts(self.torch, arg), False, None), arg)
            if written:
                here = here.clone()
                copies.append((arg, here))
            elif strided and self.table.of(arg) == UNKNOWN:
                here = self.torch.zeros_like(here)
            return here
        if kind is list or kind is tuple:
            return [self.to_cpu(a, written, copies) for a in arg]
        if kind is self.torch.device and arg.type == "cuda":
            return cpu.DEVICE
        return arg

    def compute(self, plan, args, kwargs, copies, run=cpu.run):
        """The results on the CPU. Raises what the CPU's operation raises."""
        written = plan.written
        here = [self.to_cpu(a, i in written, copies) for i, a in enumerate(args)]
        named = {k: self.to_cpu(a, k in written, copies) for k, a in kwargs.items()}
        return run(plan, here, named, args, kwargs)

    def values(self, plan, args, kwargs, tensors):
        """(results of the CPU, copies of what it writes, state), or None if it cannot compute them."""
        try:
            driver.settle(self.torch, self.device_of(tensors))
            copies = []
            state = self.input_state(plan, args, kwargs, tensors)
            return self.compute(plan, args, kwargs, copies), copies, state
        except Exception as error:
            notes.failure(plan.name, error)
            return None

    def write(self, target, value, state, settle_state):
        """Puts a result into device memory. False if the shapes differ."""
        if target.shape != value.shape:
            return False
        if state != KNOWN:
            value = assumed.finite(self.torch, value)
        alias.of(target).copy_(value)
        settle_state(target, state)
        return True

    def finish(self, plan, result, results, copies, state):
        """Puts the results of the CPU into the outputs of the CUDA operation."""
        fits = True
        done = set()
        for target, value in copies:
            fits &= self.write(target, value, state, self.table.put)
            done.add(id(target))
        values = self.flat(results)
        for i, target in enumerate(self.flat(result)):
            if id(target) in done or not target.is_cuda:
                continue
            if i >= len(values):  # the state of a generator: nothing is computed from it
                self.table.fresh(target, state)
            elif self.has_values(target):
                fits &= self.write(target, values[i], state, self.table.fresh)
            else:
                self.table.forget(target)
        if fits:
            notes.computed += 1
        else:
            notes.failure(plan.name, "the shape of the result differs on the CPU")

    def not_computed(self, plan, args, kwargs, result):
        """The small outputs of an operation that was not computed."""
        notes.skipped += 1
        if plan.written:
            self.doubt(plan.targets(args, kwargs))
            return
        for i, t in enumerate(self.flat(result)):
            if not t.is_cuda:
                continue
            self.table.forget(t)
            if self.has_values(t) and t.numel() and not self.capturing():
                driver.settle(self.torch, t.device.index)
                assumed.fill(self.torch, plan, args, alias.of(t), i)
                self.table.fresh(t, ASSUMED)

    # ---- the ways to run an operation ----

    def quietly(self, plan, function, *args):
        """function(*args), whose operations are not handled. What it raises is noted; then the result is None."""
        try:
            with self.exclude(self.own), self.no_autograd():
                return function(*args)
        except Exception as error:
            notes.failure(plan.name, error)
            return None

    def alone(self, plan, keys, args, kwargs):
        """The operation on the device, where those that it calls are not handled."""
        with self.exclude(self.own):
            return self.device(plan, keys, args, kwargs)

    def skip(self, plan, keys, args, kwargs):
        """Runs it and computes nothing."""
        result = self.alone(plan, keys, args, kwargs)
        self.quietly(plan, self.not_computed, plan, args, kwargs, result)
        return result

    def both(self, plan, keys, args, kwargs, tensors):
        """Runs it on the CPU and on the device. An operation that writes into its inputs, draws
        random numbers or is made of others runs on the CPU first; of any other the results must be
        small to be computed: a product of two small matrices may be large."""
        first = bool(plan.written or plan.parts or plan.random)
        computed = self.quietly(plan, self.values, plan, args, kwargs, tensors) if first else None
        result = (self.device if plan.parts else self.alone)(plan, keys, args, kwargs)

        def conclude():
            tried, found = first or self.is_small(self.flat(result)), computed
            if tried and not first:
                found = self.values(plan, args, kwargs, tensors)
            plan.failed += tried and found is None  # not if the device raises as well
            if found is None:
                self.not_computed(plan, args, kwargs, result)
            else:
                self.finish(plan, result, *found)

        self.quietly(plan, conclude)
        return result

    def device_of(self, tensors):
        found = next((t.device.index for t in tensors if t.is_cuda), None)
        return self.torch.cuda.current_device() if found is None else found

    def copied(self, target, source):
        """A copy is done once more on the CPU, since the device converts with a kernel."""
        driver.settle(self.torch, (target if target.is_cuda else source).device.index)
        if not source.is_cuda:
            alias.of(target).copy_(source)
            self.table.put(target, ASSUMED if self.host and self.host.has_none(source) else KNOWN)
            notes.computed += 1
            return
        state = self.table.of(source)
        value = alias.of(source)
        if state == UNKNOWN:
            value = self.torch.zeros_like(value)
        if target.is_cuda:
            alias.of(target).copy_(value)
            self.table.put(target, min(max(state, ASSUMED), KNOWN))
        else:
            target.copy_(value)
            if state != KNOWN:
                blame.read(target.item() if target.numel() == 1 else None)
        notes.computed += 1

    def device(self, plan, keys, args, kwargs):
        """Runs the operation on the device, and leaves what became of it to run."""
        call = self.calls.stack[-1]
        try:
            call.result = plan.redispatch(keys, *args, **kwargs)
        except BaseException as error:
            call.error = error
            raise
        call.done = True
        return call.result

    def run(self, plan, keys, args, kwargs):
        """Runs one operation. *keys*: those below ours. Raises what the operation raises on the device,
        and nothing else: after an error of this package the program gets the device's result."""
        call = Call()
        try:
            stack = self.calls.stack
        except AttributeError:
            stack = self.calls.stack = []
        stack.append(call)
        try:
            return self.handle(plan, keys, args, kwargs)
        except Exception as error:
            own, call.error = call.error, None
            if own is not None:
                try:
                    raise own
                finally:  # the error has this frame, whose tensors would stay until Python's next collection
                    del own
            if isinstance(error, self.torch.OutOfMemoryError):
                raise  # memory for a result whose shape the host computed
            notes.failure(plan.name, error)
        finally:
            stack.pop()
        return call.result if call.done else self.bare(plan, keys, args, kwargs)

    def bare(self, plan, keys, args, kwargs):
        """The operation alone, after an error before it."""
        try:
            dynamic.answer(self, plan, args, None)
            return plan.redispatch(keys, *numbers.replaced(args, plan.tensors), **kwargs)
        finally:
            driver.drop_answers()

    def handle(self, plan, keys, args, kwargs):
        """Runs one operation in its way."""
        if plan.tensors:
            args = numbers.replaced(args, plan.tensors)
        tensors = []
        if self.over_python and (keys.has(self.python) or self.modes()):
            return self.device(plan, keys, args, kwargs)
        if not self.collect(args, tensors) or not self.collect(kwargs.values(), tensors):
            with self.exclude(self.own), self.no_autograd(), self.no_function():
                plain = [a if i in plan.written else self.unwrapped(a) for i, a in enumerate(args)]
                named = {k: a if k in plan.written else self.unwrapped(a) for k, a in kwargs.items()}
            tensors = []
            if not self.collect(plain, tensors) or not self.collect(named.values(), tensors):
                return self.unseen(plan, keys, args, kwargs)
            args, kwargs = plain, named
        if plan.kind == plans.READ and plan.name != "equal" and dynamic.too_large(self, tensors[0]):
            return dynamic.read_63_bits(self, plan, keys, args, kwargs)
        for t in tensors:
            if t.is_cuda:
                break
        else:
            device = kwargs.get("device")
            if device is None or device.type != "cuda":
                if self.host:
                    return self.host.run(plan, keys, args, kwargs, tensors)
                return self.device(plan, keys, args, kwargs)
        return threads.one(WAYS[plan.kind], self, plan, keys, args, kwargs, tensors)

    def unseen(self, plan, keys, args, kwargs):
        """Sparse tensors, subclasses with a __torch_dispatch__, and those that are written. The operations that
        one on a subclass calls are seen; tensors that its kernels write count as not computed."""
        handled, result = sparse.run(self, plan, keys, args, kwargs)
        if handled:
            return result
        result = self.device(plan, keys, args, kwargs)
        if plan.written:
            with self.exclude(self.own), self.no_autograd(), self.no_function():
                self.doubt(self.unwrapped(plan.targets(args, kwargs)))
        elif (type(result) in self.plain and result.is_cuda
              and result.layout is self.torch.strided):
            self.table.forget(result)
        return result

    def doubt(self, values):
        """What was written into the tensors among *values* was not computed."""
        for t in self.flat(values):
            if t.is_cuda and t.layout is self.torch.strided:
                self.table.doubt(t)

    def fresh(self, plan, keys, args, kwargs, tensors):
        result = self.device(plan, keys, args, kwargs)
        if self.has_values(tensors[0]):
            self.table.put(tensors[0], KNOWN)
        return result

    def foreign(self, plan, keys, args, kwargs, tensors):
        """An extension's operation with a kernel on CUDA alone: its kernels write its results, and
        what its schema says or, if it says and returns nothing, any of its tensors."""
        result = self.device(plan, keys, args, kwargs)
        notes.skipped += 1
        results = self.flat(result)
        self.doubt([plan.targets(args, kwargs), results if results or plan.written else tensors])
        return result

    def created(self, plan, keys, args, kwargs, tensors):
        result = self.device(plan, keys, args, kwargs)
        state = dynamic.moving()
        if state and self.has_values(result):
            self.table.fresh(result, state)
        elif result.layout is self.torch.strided:
            self.table.forget(result)
        return result

    def ordinary(self, plan, keys, args, kwargs, tensors):
        if not self.is_small(tensors) or plan.failed > 3 or self.capturing():
            return self.skip(plan, keys, args, kwargs)
        return self.both(plan, keys, args, kwargs, tensors)

    def copying(self, plan, keys, args, kwargs, tensors):
        if not self.is_small(tensors) or self.capturing():
            result = self.skip(plan, keys, args, kwargs)
            if args[1].is_cuda and not args[0].is_cuda and not self.capturing():
                blame.read()
                if self.host and not self.is_small(args[:1]):
                    self.host.mark(args[0])
            return result
        result = self.alone(plan, keys, args, kwargs)
        self.quietly(plan, self.copied, args[0], args[1])
        return result


from . import dynamic, host  # noqa: E402  (they use the class above)

WAYS = {
    plans.COMPUTE: Shadow.ordinary,
    plans.COPY: Shadow.copying,
    plans.FRESH: Shadow.fresh,
    plans.FOREIGN: Shadow.foreign,
    plans.EMPTY: Shadow.created,
    plans.DYNAMIC: dynamic.run,
    plans.READ: dynamic.read,
    plans.COLLECTIVE: dynamic.collective,
}
