# SPDX-License-Identifier: Apache-2.0
"""Reads vramscope traces (.vst): pure Python, written from docs/trace-format.md alone.

    import vramscope.vst as vst
    with vst.open("vramscope.train.812.vst") as trace:
        for event in trace:
            if event.kind == "alloc":
                print(event.time_ns, event["size"], event["api"], event["stack"])
        print(trace.condition, trace.text)

    python3 -m vramscope.vst TRACE        every event as a line of JSON

A second reader beside the C one, so that neither can be wrong alone: nothing here was taken
from it. What a process left in TRACE.live is read as well. Any bytes are safe: at damage the
events end, and `condition` and `text` say why. In memory: one frame and what was defined.
"""
import argparse
import builtins
import codecs
import json
import os
import struct
import sys
from collections import namedtuple

from vramscope.columns import join
from vramscope.unzstd import unzstd
from vramscope.xxh64 import xxh64

MAGIC, LIVE_MAGIC, END_MAGIC = b"\x89VST\r\n\x1a\n", b"\x89VSL\r\n\x1a\n", b"VSTEND\r\n"
SYNC, BYTE_ORDER, MAJOR = b"\xf5VSF", 0x01020304, 2
RAW_MAX, HEADER_MAX, STRING_MAX, WINDOWS_MAX = 4 << 20, 4096, 65536, 16
COLUMNS_MAX = RAW_MAX + (64 << 10)
STORED_MAX = RAW_MAX + (RAW_MAX >> 8) + 512
EVENTS, INDEX, CHECKPOINT, SYMBOLS, DIRECTORY = 1, 2, 3, 4, 5
STRING, NODE, KIND = 56, 57, 58
INLINES_MAX, PAGE = 64, 4096
MASK = (1 << 64) - 1

FILE_HEADER = struct.Struct("<8sHHI16sQQIIQ")
FRAME_HEADER = struct.Struct("<4sBBHIIQQQQIIQ")
INDEX_HEADER = struct.Struct("<QQIIQQQ")
INDEX_ENTRY = struct.Struct("<QQQQII")
TRAILER = struct.Struct("<QQQ8s")
LIVE_HEADER = struct.Struct("<8sHHI16sIIQQ")
LIVE_WINDOW = struct.Struct("<QQQQ")
DIRECTORY_ENTRY = struct.Struct("<IIQQQ")

Header = namedtuple("Header", "magic major minor byte_order uuid created_realtime_ns created_ns "
                              "header_bytes flags checksum")
FrameHeader = namedtuple("FrameHeader", "sync type codec header_bytes raw_bytes stored_bytes "
                                        "sequence first_event base_ns last_ns events definitions "
                                        "checksum")
IndexEntry = namedtuple("IndexEntry", "offset first_event base_ns last_ns events definitions")
DirectoryEntry = namedtuple("DirectoryEntry", "type reserved offset time_ns sequence")
Window = namedtuple("Window", "sequence first_event base_ns data")
Symbol = namedtuple("Symbol", "function file line")  # "" and 0 = unknown
Frame = namedtuple("Frame", "pc module offset")  # module: a Module, None = unknown

# The kinds of §3.4: their fields with their codecs. A kind that is not here is read by the
# description that the trace holds of it; so are fields appended to those that are.
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
_kind(21, "framework_alloc", "addr:A size device total_allocated total_reserved stack:STK")
_kind(22, "framework_free", "addr:A size device total_allocated total_reserved")
_kind(23, "framework_oom", "requested device total_allocated total_reserved stack:STK")
_kind(24, "device_sample", "device free_bytes total_bytes")
_kind(25, "segment_map", "addr:A size reserved device context stream pool stack:STK")
_kind(26, "segment_unmap", "addr:A size reserved device")
_kind(27, "vmm_map", "addr:A size memory offset device imported stack:STK")
_kind(28, "vmm_unmap", "addr:A size memory device")
_kind(29, "graph_memory", "device used used_high reserved reserved_high")
_kind(30, "device_usage", "device what bytes count pid name:STR how")
_kind(31, "overhead", "device context what bytes:S how")
_kind(32, "kernel", "start_ns:T end_ns:T device context stream name:STR correlation grid_x grid_y "
                    "grid_z block_x block_y block_z shared_bytes")
_kind(33, "memcpy", "start_ns:T end_ns:T device context stream bytes copy_kind async correlation")
_kind(34, "memset", "start_ns:T end_ns:T device context stream bytes value correlation")
_kind(35, "sync", "start_ns:T end_ns:T device context stream sync_kind")
_kind(48, "range_push", "name:STR domain:STR")
_kind(49, "range_pop", "domain:STR")
_kind(50, "range_start", "range name:STR domain:STR")
_kind(51, "range_end", "range")
_kind(52, "mark", "name:STR domain:STR")
_kind(60, "note", "severity text:STR")
_kind(61, "dropped", "what:STR count")
_kind(62, "end", "reason status")


class Error(Exception):
    """Not a trace, or one of which nothing can be read."""


class _Damage(Exception):
    """A record or frame that makes no sense."""


def _replace(error):
    """One U+FFFD for each byte that is part of no valid character."""
    return "\ufffd" * (error.end - error.start), error.end


codecs.register_error("vst-replace", _replace)


def _text(data):
    return data.decode("utf-8", "vst-replace").replace("\0", "\ufffd")


def _written(data, offset):
    """What of a window at *offset* of FILE.live reached the disk: up to the first page of zeros."""
    for at in range(-offset % PAGE, len(data), PAGE):
        page = data[at:at + PAGE]
        if len(page) > 64 and not any(page):
            return data[:at]
    return data


def _varint(data, at):
    """The varint at *at* and the place after it. IndexError when it is cut off."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        if shift == 63 and byte > 1:
            raise _Damage("holds a number of more than 64 bits")
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _unzigzag(value):
    """Modulo 2^64."""
    return (value >> 1) ^ (MASK if value & 1 else 0)


def read_symbols(data):
    """The places of a symbols frame: ((module, offset), (level, [Symbol]))."""
    count, at = _varint(data, 0)
    texts, module, level, offset = [""], None, 0, 0
    for _ in range(count):
        size, at = _varint(data, at)
        if size > STRING_MAX or size > len(data) - at:
            raise _Damage("holds a text that is cut off")
        texts.append(_text(data[at:at + size]))
        at += size
    while at < len(data):
        head, at = _varint(data, at)
        if head == 0:
            module, at = _varint(data, at)
            level, at = _varint(data, at)
            offset = 0
            continue
        if module is None or head - 1 > INLINES_MAX:
            raise _Damage("names a place in no module, or with too many names")
        step, at = _varint(data, at)
        offset, names = (offset + step) & MASK, []
        for _ in range(head - 1):
            (function, at), line = _varint(data, at), 0
            file, at = _varint(data, at)
            line, at = _varint(data, at)
            if function >= len(texts) or file >= len(texts):
                raise _Damage("names what is no text")
            names.append(Symbol(texts[function], texts[file], line))
        yield (module, offset), (level, names)


class Module:
    """A loaded object as the latest event about it has it. `function` is "" for native code, and
    the name of the function for one of Python, whose offsets are lines."""

    __slots__ = ("index", "base", "start", "end", "path", "build_id", "function")

    def __init__(self, index):
        self.index, self.base, self.start, self.end = index, 0, 0, 0
        self.path = self.build_id = self.function = ""


class Kind:
    """How the trace lays out a kind."""

    __slots__ = ("code", "name", "names", "codecs", "known")

    def __init__(self, code, name, names, field_codecs):
        self.code = code
        known = KINDS.get(code, (name, [], []))
        shared = len(known[1])
        if known[2][:len(field_codecs)] != field_codecs[:shared]:
            raise _Damage("describes an event kind wrongly")
        self.name, self.codecs = known[0], field_codecs
        self.names = known[1][:len(names)] + names[shared:]
        self.known = min(shared, len(names)) if code in KINDS else None


class Event:
    """One event: `kind`, `time_ns`, `tid`, and its fields by name: event["size"]. Texts are str,
    stacks tuples of Frame, innermost first; `raw` holds the numbers as they are in the file."""

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

    def get(self, name, default=None):
        return self[name] if name in self.layout.names else default

    def items(self):
        return [(name, self._resolve(i)) for i, name in enumerate(self.layout.names)]

    def __repr__(self):
        fields = " ".join(f"{name}={value!r}" for name, value in self.items())
        return f"<{self.time_ns} {self.tid} {self.kind} {fields}>"


class Trace:
    """An open trace. Iterating it gives its events, each time from the start; afterwards
    `condition` is "complete", "live" (no end, but nothing is missing that FILE.live could give),
    "truncated" or "damaged", and `text` says so in a sentence."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._file = builtins.open(self.path, "rb")
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            self.header = self._read_header()
            self.windows, self.live = {}, False
            if not self._trailer(self.size - TRAILER.size):
                self._load_live()
                self.size = os.fstat(self._file.fileno()).st_size
        except BaseException:
            self._file.close()
            raise
        self._reset()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._file.close()

    # --- bytes ---

    def _read(self, offset, size):
        self._file.seek(offset)
        return self._file.read(max(0, min(size, self.size - offset)))

    def _read_header(self):
        data = self._read(0, FILE_HEADER.size)
        if not data:
            raise Error(f"{self.path}: is empty")
        if data[:8] != MAGIC[:len(data)]:
            raise Error(f"{self.path}: is not a vramscope trace")
        if len(data) < FILE_HEADER.size:
            raise Error(f"{self.path}: is cut off inside its header")
        header = Header(*FILE_HEADER.unpack(data))
        if header.checksum != xxh64(data[:56]) or header.byte_order != BYTE_ORDER or \
                header.header_bytes < FILE_HEADER.size:
            raise Error(f"{self.path}: the header is damaged")
        if header.major > MAJOR:
            raise Error(f"{self.path}: is in format {header.major}.{header.minor}; this reads {MAJOR}")
        return header

    def _trailer(self, offset):
        """The trailer at *offset* as (index_offset, file_bytes); None when there is none."""
        data = self._read(offset, TRAILER.size) if offset >= 0 else b""
        if len(data) < TRAILER.size:
            return None
        index_offset, file_bytes, checksum, magic = TRAILER.unpack(data)
        if magic != END_MAGIC or checksum != xxh64(data[:16]) or \
                file_bytes != offset + TRAILER.size:
            return None
        return index_offset, file_bytes

    def _load_live(self):
        """FILE.live (§4), when it belongs to this trace."""
        try:
            live = builtins.open(self.path + ".live", "rb")
        except OSError:
            return
        with live:
            head = live.read(LIVE_HEADER.size + WINDOWS_MAX * 64)
            if len(head) < LIVE_HEADER.size + WINDOWS_MAX * 64:
                return
            magic, major, _, order, uuid, header_bytes, windows, window_bytes, _ = \
                LIVE_HEADER.unpack_from(head)
            if magic != LIVE_MAGIC or major > MAJOR or order != BYTE_ORDER or \
                    uuid != self.header.uuid or header_bytes < len(head) or \
                    windows > WINDOWS_MAX or window_bytes > RAW_MAX:
                return
            self.live = True
            for i in range(windows):
                sequence, used, first_event, base_ns = LIVE_WINDOW.unpack_from(head, 64 + i * 64)
                if not sequence or not used:
                    continue
                live.seek(header_bytes + i * window_bytes)
                data = _written(live.read(min(used, window_bytes)), header_bytes + i * window_bytes)
                live.seek(64 + i * 64)
                again = live.read(LIVE_WINDOW.size)
                if data and len(again) == LIVE_WINDOW.size and \
                        LIVE_WINDOW.unpack(again)[0] == sequence:
                    self.windows.setdefault(sequence, Window(sequence, first_event, base_ns, data))

    def read_frame(self, offset):
        """The frame at *offset*: its header, header bytes beyond the 64, its payload, and where
        the next one begins. Raises _Damage; its second argument is True when it is cut off."""
        data = self._read(offset, FRAME_HEADER.size)
        if len(data) < FRAME_HEADER.size:
            raise _Damage("is cut off inside its header", True)
        head = FrameHeader(*FRAME_HEADER.unpack(data))
        if head.sync == bytes(4) and not head.raw_bytes and not head.checksum:
            raise _Damage("is zero, never written", True)
        if head.sync != SYNC or not 64 <= head.header_bytes <= HEADER_MAX:
            raise _Damage("does not begin like a frame")
        if head.raw_bytes > RAW_MAX or head.stored_bytes > STORED_MAX or head.codec > 2 or \
                (head.codec == 0 and head.stored_bytes != head.raw_bytes) or \
                (head.codec == 2 and head.type != EVENTS):
            raise _Damage("has an impossible size")
        extra = head.header_bytes - FRAME_HEADER.size
        rest = self._read(offset + FRAME_HEADER.size, extra + head.stored_bytes)
        if len(rest) < extra + head.stored_bytes:
            raise _Damage("is cut off", True)
        if head.checksum != xxh64(data[:56] + rest):
            raise _Damage("fails its checksum")
        payload = rest[extra:]
        if head.codec == 1:
            payload = unzstd(payload, head.raw_bytes)
            if payload is None:
                raise _Damage("does not decompress")
        if head.codec == 2:
            payload = self._join(head, payload)
        return head, rest[:extra], payload, offset + head.header_bytes + head.stored_bytes

    @staticmethod
    def _join(head, payload):
        size = int.from_bytes(payload[:4], "little")
        if len(payload) < 4 or size > COLUMNS_MAX:
            raise _Damage("has an impossible size")
        columns = unzstd(payload[4:], size)
        if columns is None:
            raise _Damage("does not decompress")
        rows = join(columns, head.raw_bytes)
        if rows is None:
            raise _Damage("has columns that do not fit together")
        return rows

    # --- index and directory ---

    def index(self):
        """Every event frame as an IndexEntry, from the index of a finished trace. None when it
        has none that can be used."""
        chunks, trailer = [], self._trailer(self.size - TRAILER.size)
        offset, before = (trailer[0], self.size) if trailer else (0, 0)
        while offset:
            if offset >= before:
                return None
            try:
                head, _, payload, _ = self.read_frame(offset)
            except _Damage:
                return None
            if head.type != INDEX or len(payload) < INDEX_HEADER.size:
                return None
            previous, _, entries = INDEX_HEADER.unpack_from(payload)[:3]
            if len(payload) < INDEX_HEADER.size + entries * INDEX_ENTRY.size:
                return None
            chunks.append([IndexEntry(*INDEX_ENTRY.unpack_from(payload, INDEX_HEADER.size + 40 * i))
                           for i in range(entries)])
            offset, before = previous, offset
        return [entry for chunk in reversed(chunks) for entry in chunk] if trailer else None

    def directory(self):
        """The frames that were added after recording (§2.5), as DirectoryEntry."""
        trailer = self._trailer(self.size - TRAILER.size)
        if not trailer:
            return []
        try:
            _, extra, _, _ = self.read_frame(trailer[0])
            offset = struct.unpack_from("<Q", extra)[0] if len(extra) >= 8 else 0
            if not offset:
                return []
            head, _, payload, _ = self.read_frame(offset)
        except _Damage:
            return []
        if head.type != DIRECTORY:
            return []
        whole = len(payload) // DIRECTORY_ENTRY.size * DIRECTORY_ENTRY.size
        return [DirectoryEntry(*e) for e in DIRECTORY_ENTRY.iter_unpack(payload[:whole])]

    def symbols(self):
        """The names that the trace holds (§2.7), as {(module, offset): (level, symbols)}, each
        symbol a Symbol, the innermost first."""
        found = {}
        for entry in self.directory():
            if entry.type != SYMBOLS:
                continue
            try:
                head, _, payload, _ = self.read_frame(entry.offset)
                if head.type == SYMBOLS:
                    for place, names in read_symbols(payload):
                        found[place] = names
            except (_Damage, IndexError):
                continue
        return found

    # --- what was defined ---

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

    # --- events ---

    def _reset(self):
        self._strings, self._nodes = [""], [None]
        self._modules, self._kinds = [], {}
        self.events = self.recovered = 0
        self.condition, self.text = None, "not at the end yet"

    def _finish(self, condition, text):
        self.condition, self.text = condition, text

    def __iter__(self):
        self._reset()
        sequence, last_ns, offset, recovering, problem, cut = 1, 0, self.header.header_bytes, False, None, False
        while True:
            payload = None
            if not recovering and offset < self.size:
                try:
                    head, _, data, after = self.read_frame(offset)
                    if head.type == EVENTS and head.sequence != sequence:
                        raise _Damage("is out of order")
                    if head.type == EVENTS and head.base_ns < last_ns:
                        raise _Damage("goes back in time")
                    if self._is_end(head, data, offset, after):
                        return
                    here, offset = offset, after
                    if head.type != EVENTS:
                        continue
                    payload, base_ns, expected = data, head.base_ns, head.events
                except _Damage as damage:
                    problem, cut = damage.args[0], len(damage.args) > 1
            if payload is None:
                window = self.windows.get(sequence)
                if not window or window.base_ns < last_ns:
                    self._finish_tail(sequence, offset, problem, cut, recovering)
                    return
                recovering, problem, cut = True, None, False
                here, payload, base_ns, expected = offset, window.data, window.base_ns, None
            try:
                before = self.events
                for event in self._decode(payload, base_ns):
                    last_ns = event.time_ns
                    self.events += 1
                    self.recovered += recovering
                    if event.code == 7:
                        self._set_module(event)
                    yield event
                if expected is not None and self.events - before != expected:
                    raise _Damage("is missing")
            except _Damage as damage:
                self._finish_record(sequence, here, damage.args[0], recovering)
                return
            last_ns = max(last_ns, base_ns)
            sequence += 1

    def _is_end(self, head, payload, offset, after):
        """A final index frame with its trailer: the trace is complete."""
        if head.type != INDEX or len(payload) < INDEX_HEADER.size or \
                not INDEX_HEADER.unpack_from(payload)[3] & 1:
            return False
        trailer = self._trailer(after)
        if not trailer or trailer[0] != offset:
            return False
        extra = self.size - trailer[1]
        self._finish("complete", f"the trace is complete: {self.events:,} events" + (
            f"; the {extra:,} bytes after its end are ignored" if extra else ""))
        return True

    def _finish_tail(self, sequence, offset, problem, cut, recovering):
        newest = max(self.windows, default=0)
        if self.live and newest < sequence and (not problem or cut or recovering):
            self._finish("live", f"the trace has no end: {self.events:,} events, the last "
                                 f"{self.recovered:,} of them recovered from {self.path}.live")
        elif problem:
            self._finish("truncated" if cut else "damaged",
                         f"frame {sequence} at byte {offset:,} {problem}; {self.events:,} events "
                         "before it are good")
        else:
            self._finish("truncated", f"the trace is cut off at byte {offset:,}, after "
                                      f"{self.events:,} events")

    def _finish_record(self, sequence, offset, problem, recovering):
        if recovering:
            self._finish("live", f"the trace has no end: {self.events:,} events, the last "
                                 f"{self.recovered:,} of them recovered up to a record that {problem}")
        else:
            self._finish("damaged", f"in frame {sequence} at byte {offset:,} a record {problem}; "
                                    f"{self.events:,} events before it are good")

    def _decode(self, data, base_ns):
        """The events of one frame; its definitions go to the tables."""
        at, end = 0, len(data)
        time_ns = last_t = base_ns
        tid = address = 0
        try:
            while at < end:
                first = data[at]
                at += 1
                code = first & 0x3F
                if STRING <= code <= KIND and first == code:
                    at = (self._string, self._node, self._describe)[code - STRING](data, at)
                    continue
                kind = self._kinds.get(code)
                if kind is None:
                    raise _Damage("is of a kind that was never described")
                if first & 0x40:
                    tid, at = _varint(data, at)
                    if tid >> 32:
                        raise _Damage("names an impossible thread")
                if not first & 0x80:
                    step, at = _varint(data, at)
                    time_ns += step
                    if time_ns > MASK:
                        raise _Damage("is later than time goes")
                raw = []
                for codec in kind.codecs:
                    value = data[at]
                    if value < 0x80:
                        at += 1
                    else:
                        value, at = _varint(data, at)
                    if codec == S:
                        value = _unzigzag(value)
                    elif codec == A:
                        value = address = (address + _unzigzag(value)) & MASK
                    elif codec == T:
                        value = last_t = (last_t + _unzigzag(value)) & MASK
                    elif (codec == STR and value >= len(self._strings)) or \
                            (codec == STK and value >= len(self._nodes)):
                        raise _Damage("refers to what was never defined")
                    raw.append(value)
                yield Event(kind, time_ns, tid, raw, self)
        except IndexError:
            raise _Damage("is cut off") from None

    def _string(self, data, at):
        length, at = _varint(data, at)
        if length > STRING_MAX or length > len(data) - at:
            raise _Damage("defines a text that is cut off")
        self._strings.append(_text(data[at:at + length]))
        return at + length

    def _node(self, data, at):
        up, at = _varint(data, at)
        code, at = _varint(data, at)
        offset, at = _varint(data, at)
        node = len(self._nodes)
        if not 0 < up <= node:
            raise _Damage("defines a stack on one that does not exist")
        module = self._modules[code - 1] if 0 < code <= len(self._modules) else None
        base = module.base if module else 0
        self._nodes.append(((base + offset) & MASK, node - up, module))
        return at

    def _describe(self, data, at):
        code, at = _varint(data, at)
        count, at = _varint(data, at)
        if not 0 < code < 64 or count > 64 or count > len(data) - at:
            raise _Damage("describes an event kind wrongly")
        field_codecs = list(data[at:at + count])
        at += count
        if any(codec > STK for codec in field_codecs):
            raise _Damage("describes an event kind wrongly")
        names = []
        for _ in range(count + 1):
            length, at = _varint(data, at)
            if length > len(data) - at:
                raise _Damage("describes an event kind wrongly")
            names.append(_text(data[at:at + length]))
            at += length
        self._kinds[code] = Kind(code, names[0], names[1:], field_codecs)
        return at

    def _set_module(self, event):
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


def open(path):  # noqa: A001 (as in gzip.open)
    """Open the trace at *path*. OSError; Error when it is not one."""
    return Trace(path)


# --- output ---

def canonical(event):
    """One line of the text that tests compare: known kinds and fields alone. None for others."""
    if event.layout.known is None:
        return None
    parts = [str(event.time_ns), str(event.tid), event.kind]
    for i in range(event.layout.known):
        value, codec, name = event.raw[i], event.layout.codecs[i], event.layout.names[i]
        if codec == STK:
            text = "[" + " ".join(f"{f.module.index}+0x{f.offset:x}" if f.module else f"0x{f.pc:x}"
                                  for f in event.trace.stack(value)[:128]) + "]"
        elif codec == STR:
            text = _quoted(event.trace.string(value))
        else:
            text = hex(value) if codec == A else str(value - (value >> 63 << 64) if codec == S
                                                     else value)
        parts.append(f"{name}={text}")
    return " ".join(parts)


def _quoted(text):
    return '"' + "".join(chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else
                         "\\" + chr(b) if b in b'"\\' else f"\\x{b:02x}" for b in text.encode()) + '"'


def canonical_symbols(trace):
    """The trace's names as lines, by module and offset."""
    for (module, offset), (level, names) in sorted(trace.symbols().items()):
        yield " ".join([f"symbol {module}+0x{offset:x} {level}"] + [
            f"{_quoted(s.function)} {_quoted(s.file)} {s.line}" for s in names])


def _json_value(value):
    if not isinstance(value, tuple):
        return value
    frames = []
    for f in value:
        frame = {"pc": f.pc}
        if f.module:
            frame["module"], frame["offset"] = f.module.path, f.offset
            if f.module.function:
                frame["function"] = f.module.function
        frames.append(frame)
    return frames


def as_dict(event):
    """The event as what JSON can hold."""
    out = {"time_ns": event.time_ns, "thread": event.tid, "kind": event.kind}
    for name, value in event.items():
        out[name] = _json_value(value)
    return out


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="vramscope.vst", description="A trace as lines of JSON.",
                                     epilog="Status: 0; 2 when the file is no trace, or is "
                                     "truncated or damaged (the last line tells).")
    parser.add_argument("trace")
    parser.add_argument("--canonical", action="store_true", help="the text that tests compare")
    parser.add_argument("--index", action="store_true", help="the frames instead of the events")
    options = parser.parse_args(arguments)
    try:
        with open(options.trace) as trace:
            if options.index:
                for entry in (trace.index() or []) + trace.directory():
                    print(json.dumps(entry._asdict()))
                sys.stdout.flush()
                return 0
            for event in trace:
                line = canonical(event) if options.canonical else json.dumps(as_dict(event))
                if line is not None:
                    print(line)
            if options.canonical:
                for line in canonical_symbols(trace):
                    print(line)
                print(f"== {trace.condition} {trace.events} {trace.recovered}")
            else:
                print(json.dumps({"condition": trace.condition, "text": trace.text}))
            sys.stdout.flush()
            if trace.condition in ("truncated", "damaged"):
                print(f"vramscope.vst: {trace.text}", file=sys.stderr)
                return 2
    except BrokenPipeError:
        raise
    except (Error, OSError) as error:
        print(f"vramscope.vst: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
