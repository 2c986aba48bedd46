# SPDX-License-Identifier: Apache-2.0
"""The records of a trace (docs/internals/trace-format.md §3): definitions and events.

`Definitions` contains the definitions so far (texts, stacks, modules, kinds) and decodes frames of
records, which add to it.
"""
from collections import namedtuple

from columns import Bad, Columns

STRING, NODE, KIND = 56, 57, 58
STRING_MAX = 65536
MASK = (1 << 64) - 1

Frame = namedtuple("Frame", "pc module offset")  # module: a Module, None = unknown

# The kinds of §3.4: their fields with their codecs. Other kinds, and fields appended to known
# kinds, are read by the description in the trace.
U, S, A, T, STR, STK = range(6)
KINDS = {}


def _kind(code, name, fields):
    """*fields*: names with their codec letters, "addr:A size" = A and U."""
    pairs = [(field.split(":") + ["U"])[:2] for field in fields.split()]
    KINDS[code] = (name, [n for n, _ in pairs], [globals()[c] for _, c in pairs])


_kind(1, "process", "pid ppid start_realtime_ns start_ns exe:STR cmdline:STR host:STR version:STR "
                    "policy:STR page_bytes born_ns parent_born_ns boot:STR lineage:STR")
_kind(2, "option", "name:STR value:STR")
_kind(3, "device", "device name:STR uuid:STR total_bytes sm_count cc_major cc_minor simulated "
                   "driver_version")
_kind(4, "context", "context device handle primary alive")
_kind(5, "stream", "stream device handle name:STR alive")
_kind(6, "thread", "tid name:STR")
_kind(7, "module", "module base start end path:STR build_id:STR alive function:STR")
_kind(8, "unrecorded", "level why device family allocs requested size frees freed_requested "
                       "freed_size reserved:S family_peak peak_allocated peak_requested "
                       "peak_reserved peak_ns:T")
_kind(9, "recording_changed", "what min_size sample seed limit_bytes file_bytes")
_kind(16, "alloc", "addr:A requested size family device context stream api:STR stack:STK")
_kind(17, "free", "addr:A device stream api:STR stack:STK")
_kind(18, "alloc_failed", "requested family device context stream api:STR stack:STK error "
                          "device_free_bytes device_total_bytes")
_kind(19, "segment_alloc", "addr:A size device context stream pool stack:STK")
_kind(20, "segment_free", "addr:A size device")
_kind(21, "framework_alloc", "addr:A size device total_allocated total_reserved stack:STK "
                             "framework_stream requested")
_kind(22, "framework_free", "addr:A size device total_allocated total_reserved")
_kind(23, "framework_oom", "requested device total_allocated total_reserved stack:STK "
                           "framework_stream")
_kind(24, "device_sample", "device free_bytes total_bytes")
_kind(25, "segment_map", "addr:A size reserved device context stream pool stack:STK")
_kind(26, "segment_unmap", "addr:A size reserved device")
_kind(27, "vmm_map", "addr:A size memory offset device imported stack:STK")
_kind(28, "vmm_unmap", "addr:A size memory device")
_kind(29, "graph_memory", "device used used_high reserved reserved_high")
_kind(30, "device_usage", "device what bytes count pid name:STR how")
_kind(31, "overhead", "device context what bytes:S how stack:STK")
_kind(36, "overhead_failed", "what device context api:STR stack:STK error device_free_bytes "
                             "device_total_bytes")
_kind(39, "finding", "what addr:A bytes api:STR stack:STK error alloc_stack:STK earlier_stack:STK "
                     "text:STR")
_kind(32, "kernel", "start_ns:T end_ns:T device context stream name:STR correlation grid_x grid_y "
                    "grid_z block_x block_y block_z shared_bytes graph graph_node")
_kind(33, "memcpy", "start_ns:T end_ns:T device context stream bytes copy_kind async correlation "
                    "src_kind dst_kind src_device dst_device graph graph_node")
_kind(34, "memset", "start_ns:T end_ns:T device context stream bytes value correlation "
                    "memory_kind graph graph_node")
_kind(37, "work_call", "correlation api:STR stack:STK thread")
_kind(41, "clock_reading", "device_ns error_ns drift_ppb:S")
_kind(42, "cupti_overhead", "start_ns:T end_ns:T thread overhead_kind")
_kind(43, "activity_switched", "on by step range:STR")
_kind(40, "api_call", "start_ns:T end_ns:T thread api:STR correlation driver result")
_kind(38, "uncomputed_read", "device what bytes text:STR stack:STK")
_kind(35, "sync", "start_ns:T end_ns:T device context stream sync_kind api:STR stack:STK")
_kind(48, "range_push", "name:STR domain:STR colour payload_kind payload")
_kind(49, "range_pop", "domain:STR")
_kind(50, "range_start", "range name:STR domain:STR colour payload_kind payload")
_kind(51, "range_end", "range")
_kind(52, "mark", "name:STR domain:STR colour payload_kind payload")
_kind(53, "torch_module", "path:STR pass")
_kind(54, "torch_tensor", "addr:A device name:STR what")
_kind(60, "note", "severity text:STR")
_kind(61, "dropped", "what:STR count")
_kind(62, "end", "reason status")


class Damage(Exception):
    """A record or frame is invalid."""


# one U+FFFD for each byte that is not part of a valid character, and for NUL
_REPLACED = dict.fromkeys([0, *range(0xDC80, 0xDD00)], "\ufffd")


def decode_text(data):
    return data.decode("utf-8", "surrogateescape").translate(_REPLACED)


def varint(data, at):
    """The varint at *at* and the position after it. Raises IndexError if it is cut off."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        if shift == 63 and byte > 1:
            raise Damage("contains a number of more than 64 bits")
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def unzigzag(value):
    """Modulo 2^64."""
    return (value >> 1) ^ (MASK if value & 1 else 0)


class Module:
    """A loaded object, as described by its latest event. `function` is "" for native code; for a
    Python function it is its name, and offsets are lines."""

    __slots__ = ("index", "base", "start", "end", "path", "build_id", "function")

    def __init__(self, index):
        self.index, self.base, self.start, self.end = index, 0, 0, 0
        self.path = self.build_id = self.function = ""


class Kind:
    """The layout of an event kind in this trace."""

    __slots__ = ("code", "name", "names", "codecs", "known")

    def __init__(self, code, name, names, field_codecs):
        self.code = code
        known = KINDS.get(code, (name, [], []))
        shared = len(known[1])
        if known[2][:len(field_codecs)] != field_codecs[:shared]:
            raise Damage("has an invalid description of an event kind")
        self.name, self.codecs = known[0], field_codecs
        self.names = known[1][:len(names)] + names[shared:]
        self.known = min(shared, len(names)) if code in KINDS else None


class Event:
    """One event: `kind`, `time_ns`, `tid`, and its fields by name: event["size"]. Texts are str,
    stacks are tuples of Frame, innermost first; `raw` contains the numbers as stored in the file."""

    __slots__ = ("kind", "code", "time_ns", "tid", "layout", "raw", "trace")

    def __init__(self, layout, time_ns, tid, raw, trace):
        self.layout, self.time_ns, self.tid, self.raw, self.trace = layout, time_ns, tid, raw, trace
        self.kind, self.code = layout.name, layout.code

    def _resolve(self, i):
        value, codec = self.raw[i], self.layout.codecs[i]
        if codec == S:
            return value - (value >> 63 << 64)
        if codec == STR:
            return self.trace.string(value)
        return self.trace.stack(value) if codec == STK else value

    def __getitem__(self, name):
        try:
            return self._resolve(self.layout.names.index(name))
        except ValueError:
            raise KeyError(name) from None

    def items(self):
        return [(name, self._resolve(i)) for i, name in enumerate(self.layout.names)]

    def __repr__(self):
        fields = " ".join(f"{name}={value!r}" for name, value in self.items())
        return f"<{self.time_ns} {self.tid} {self.kind} {fields}>"


class Definitions:
    """The definitions so far, by id or index."""

    def __init__(self):
        self.forget()

    def forget(self):
        self._strings, self._nodes = [""], [None]
        self._modules, self._kinds = [], {}

    def kind(self, code):
        """The layout of an event kind; None before it is described."""
        return self._kinds.get(code)

    def string(self, text_id):
        """"" for 0."""
        return self._strings[text_id]

    def stack(self, node):
        """Innermost first."""
        frames = []
        while node:
            pc, parent, module = self._nodes[node]
            base = module.base if module else 0
            frames.append(Frame(pc, module, (pc - base) & MASK))
            node = parent
        return tuple(frames)

    def decode(self, data, base_ns):
        """The events of one frame, its rows or its columns; its definitions are added to the tables."""
        columns = isinstance(data, Columns)
        time_ns = last_t = base_ns
        tid = address = 0
        try:
            for data in data.records(self.kind) if columns else (data,):
                at, end = 0, len(data)
                while at < end:
                    first = data[at]
                    at += 1
                    code = first & 0x3F
                    if STRING <= code <= KIND and first == code:
                        at = (self._string, self._node, self._describe)[code - STRING](data, at)
                        if columns and at < end:
                            raise Damage("has an invalid description of an event kind")
                        continue
                    kind = self._kinds.get(code)
                    if kind is None:
                        raise Damage("has a kind without a description")
                    if first & 0x40:
                        tid, at = varint(data, at)
                        if tid >> 32:
                            raise Damage("has an invalid thread id")
                    if not first & 0x80:
                        step, at = varint(data, at)
                        time_ns += step
                        if time_ns > MASK:
                            raise Damage("has a time beyond 64 bits")
                    raw = []
                    for codec in kind.codecs:
                        value = data[at]
                        if value < 0x80:
                            at += 1
                        else:
                            value, at = varint(data, at)
                        if codec == S:
                            value = unzigzag(value)
                        elif codec == A:
                            value = address = (address + unzigzag(value)) & MASK
                        elif codec == T:
                            value = last_t = (last_t + unzigzag(value)) & MASK
                        elif (codec == STR and value >= len(self._strings)) or \
                                (codec == STK and value >= len(self._nodes)):
                            raise Damage("has an undefined reference")
                        raw.append(value)
                    yield Event(kind, time_ns, tid, raw, self)
        except IndexError:
            raise Damage("is cut off") from None
        except Bad:
            raise Damage("is not what the columns contain") from None

    def _string(self, data, at):
        length, at = varint(data, at)
        if length > STRING_MAX or length > len(data) - at:
            raise Damage("defines a text that is cut off")
        self._strings.append(decode_text(data[at:at + length]))
        return at + length

    def _node(self, data, at):
        up, at = varint(data, at)
        code, at = varint(data, at)
        offset, at = varint(data, at)
        node = len(self._nodes)
        if not 0 < up <= node:
            raise Damage("defines a stack with an undefined parent")
        module = self._modules[code - 1] if 0 < code <= len(self._modules) else None
        base = module.base if module else 0
        self._nodes.append(((base + offset) & MASK, node - up, module))
        return at

    def _describe(self, data, at):
        code, at = varint(data, at)
        count, at = varint(data, at)
        if not 0 < code < 64 or count > 64 or count > len(data) - at:
            raise Damage("has an invalid description of an event kind")
        field_codecs = list(data[at:at + count])
        at += count
        if any(codec > STK for codec in field_codecs):
            raise Damage("has an invalid description of an event kind")
        names = []
        for _ in range(count + 1):
            length, at = varint(data, at)
            if length > len(data) - at:
                raise Damage("has an invalid description of an event kind")
            names.append(decode_text(data[at:at + length]))
            at += length
        self._kinds[code] = Kind(code, names[0], names[1:], field_codecs)
        return at

    def set_module(self, event):
        value = dict(zip(event.layout.names, event.raw))
        index = value.get("module", 0)
        if index > len(self._modules) or index >= 0xFFFFFFFF:
            return
        if index == len(self._modules):
            self._modules.append(Module(index))
        elif not value.get("alive", 0):
            return
        module = self._modules[index]
        module.base, module.start, module.end = (value.get(n, 0) for n in ("base", "start", "end"))
        module.path, module.build_id, module.function = (
            self.string(value.get(n, 0)) for n in ("path", "build_id", "function"))
