# SPDX-License-Identifier: Apache-2.0
"""Which device memory has computed values.

Per storage of at most the limit: KNOWN (every element was computed from known values), ASSUMED
(computed, but from values that were not known), or Partly: some elements of a storage that is
otherwise unwritten. A storage without an entry is UNKNOWN: nothing of it was computed. Large
storages never have one.

Entries go by the address of PyTorch's storage object, which is used again after its end: whoever
creates a storage calls fresh, forget, or put. A weak reference would do without that, but it makes
a Python object of each storage, and PyTorch's autograd counts that as an owner: it would then
add gradients into new memory instead of in place.
"""
UNKNOWN, ASSUMED, KNOWN = 0, 1, 2


class Partly:
    """A byte per byte of the storage: 1 where an element was written."""

    __slots__ = ("written", "state")

    def __init__(self, torch, nbytes):
        self.written = torch._VF.zeros(nbytes, dtype=torch.uint8, device="cpu")
        self.state = KNOWN

    def of(self, tensor):
        item = tensor.element_size()
        size, stride = list(tensor.size()), [s * item for s in tensor.stride()]
        return self.written.as_strided(size + [item], stride + [1], tensor.storage_offset() * item)


class Table:
    """The states of all storages. Threads: any."""

    def __init__(self, torch, limit):
        self.torch = torch
        self.limit = limit
        self.entries = {}
        self.captured = {}  # storages that captured work wrote and that still exist, by number
        self.capture = None  # those of the capture that is going on
        self.number = torch._C._storage_id
        self.same_storage_size = torch.ops.aten._has_same_storage_numel.default

    def of(self, tensor):
        """UNKNOWN, ASSUMED or KNOWN: the least of the tensor's elements."""
        state = self.entries.get(self.number(tensor))
        if state is None:
            return UNKNOWN if tensor.numel() else KNOWN
        if type(state) is int:
            return state
        return state.state if bool(state.of(tensor).all()) else UNKNOWN

    def fresh(self, tensor, state):
        """*tensor* has a new storage of its own, all written with this state."""
        if self.captured:
            self.forget(tensor)
        self.entries[self.number(tensor)] = state

    def forget(self, tensor):
        """*tensor* has a new storage of which nothing is written."""
        number = self.number(tensor)
        self.entries.pop(number, None)
        if self.capture is not None:
            self._captures(number)
        elif self.captured:  # what captured work wrote under this number was another storage
            self.captured.pop(number, None)

    def _captures(self, number):
        """The work that is being captured writes this storage."""
        self.capture.add(number)
        self.captured[number] = True

    def put(self, tensor, state):
        """All elements of *tensor*, at most the limit, were just written with this state."""
        number = self.number(tensor)
        old = self.entries.get(number)
        if type(old) is int and state <= old:
            self.entries[number] = state
        elif self.covers(tensor):
            self.entries[number] = state
        elif type(old) is not int:
            self._put_part(number, old, tensor, state)

    def covers(self, tensor):
        """Is every byte of the storage one of *tensor*'s?"""
        if tensor.storage_offset() or not (tensor.is_contiguous() or 0 not in tensor.stride()):
            return False
        return self.same_storage_size(
            tensor, self.torch._VF.empty(tensor.numel(), dtype=tensor.dtype, device="meta"))

    def _put_part(self, number, old, tensor, state):
        if old is None:
            nbytes = tensor.untyped_storage().nbytes()
            if not nbytes or nbytes > self.limit:
                return
            old = self.entries[number] = Partly(self.torch, nbytes)
        old.state = min(old.state, state)
        old.of(tensor).fill_(1)
        if bool(old.written.all()):
            self.entries[number] = old.state

    def doubt(self, tensor):
        """*tensor* was written with something that could not be computed; its memory kept its
        content."""
        number = self.number(tensor)
        self._doubt(number)
        if self.capture is not None:
            self._captures(number)

    def _doubt(self, number):
        state = self.entries.get(number)
        if type(state) is int:
            self.entries[number] = min(state, ASSUMED)
        elif state is not None:
            state.state = min(state.state, ASSUMED)

    # ---- CUDA graphs ----

    def begin_capture(self):
        self.capture = set()
        self.captured.setdefault(None)  # so that new storages are noticed

    def end_capture(self):
        """The numbers of the storages that the captured work wrote."""
        numbers, self.capture = self.capture or set(), None
        return numbers

    def replayed(self, numbers):
        """Captured work wrote these storages again; their memory kept its content."""
        for number in numbers:
            if number in self.captured:
                self._doubt(number)
