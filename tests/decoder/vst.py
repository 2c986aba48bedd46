# SPDX-License-Identifier: Apache-2.0
"""Reads vramscope traces (.vst): written from docs/internals/trace-format.md alone, so that the tests can compare
it with the C reader.

    import vst
    with vst.open("vramscope.train.812.vst") as trace:
        for event in trace:
            if event.kind == "alloc":
                print(event.time_ns, event["size"], event["api"], event["stack"])
        print(trace.condition, trace.text)

TRACE.live of a killed process is read as well. Any input is safe: the events end at the first damage,
and `condition` and `text` give the reason. Checkpoints (§2.8) are not read: the tests of their states are
tests/golden/test_golden_checkpoints.c and tests/unit/analysis/test_trace_state.c.
"""
import builtins
import os
import signal
import struct
from collections import namedtuple

from columns import Bad, Columns
from libraries import unzstd, xxh64
from live_counts import Counts
from records import (A, Damage, Definitions, Event, KINDS,  # noqa: F401
                               S, STK, STR, STRING_MAX, decode_text, unzigzag, varint)

MAGIC, LIVE_MAGIC, END_MAGIC = b"\x89VST\r\n\x1a\n", b"\x89VSL\r\n\x1a\n", b"VSTEND\r\n"
SYNC, BYTE_ORDER, MAJOR = b"\xf5VSF", 0x01020304, 2
RAW_MAX, HEADER_MAX, WINDOWS_MAX = 4 << 20, 4096, 16
COLUMNS_MAX = RAW_MAX + (64 << 10)
STORED_MAX = RAW_MAX + (RAW_MAX >> 8) + 512
EVENTS, INDEX, CHECKPOINT, SYMBOLS, DIRECTORY = 1, 2, 3, 4, 5
END, STOPPED, EXITED, KILLED = 62, 3, 1, 2  # an event, a reason of it, two kinds of end
SUMMED_UP = 4  # a recording_changed
INLINES_MAX, INDEX_MAX, PAGE = 64, 1024, 4096
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
IndexEntry = namedtuple("IndexEntry", "offset first_event base_ns last_ns events definitions")
DirectoryEntry = namedtuple("DirectoryEntry", "type reserved offset time_ns sequence")
Window = namedtuple("Window", "sequence first_event base_ns data cut")
Symbol = namedtuple("Symbol", "function file line")  # "" and 0 = unknown


class FrameHeader(namedtuple("FrameHeader", "sync type codec header_bytes raw_bytes stored_bytes "
                                            "sequence first_event base_ns last_ns events "
                                            "definitions checksum")):
    __slots__ = ()

    def fits(self):
        """Whether its sizes are valid."""
        return self.sync == SYNC and 64 <= self.header_bytes <= HEADER_MAX and \
            self.raw_bytes <= RAW_MAX and self.stored_bytes <= STORED_MAX and self.codec <= 2 and \
            (self.codec or self.stored_bytes == self.raw_bytes)


def _follows(before, this):
    """Whether one (sequence, IndexEntry) directly follows the other; *before* is None at the start
    of the trace."""
    sequence, entry = this
    if entry.last_ns < entry.base_ns or entry.events > MASK - entry.first_event:
        return False
    if before is None:
        return sequence == 1 and entry.first_event == 0
    return sequence == before[0] + 1 and entry.offset > before[1].offset and \
        entry.first_event == before[1].first_event + before[1].events and \
        entry.base_ns >= before[1].last_ns


def _stopped_text(error):
    """The text for a recording that stopped, with its errno (0 or an invalid value: unknown)."""
    text = os.strerror(error) if 0 < error < 1 << 31 else "Unknown error"
    if text.startswith("Unknown error"):
        text = "the trace could not be written"
    return f"recording stopped early ({text})"


def _end_text(kind, status):
    """The end of the process, from FILE.live (§4)."""
    if kind == KILLED:
        names = {int(s): s.name for s in signal.Signals if s < 32}
        names.update({16: "SIGSTKFLT", 29: "SIGPOLL"})  # as <signal.h> has them
        return f"the program was killed by signal {status}" + (
            f" ({names[status]})" if status in names else "")
    if kind == EXITED:
        return f"the program exited with status {status} without ending its trace"
    return "the trace has no end"


class Error(Exception):
    """Not a trace, or completely unreadable."""


def _written(data, offset):
    """The part of a window at *offset* of FILE.live that was written: up to the first page of zeros."""
    for at in range(-offset % PAGE, len(data), PAGE):
        page = data[at:at + PAGE]
        if len(page) > 64 and not any(page):
            return data[:at]
    return data


def read_symbols(data):
    """The places of a symbols frame: ((module, offset), (level, [Symbol]))."""
    count, at = varint(data, 0)
    texts, module, level, offset = [""], None, 0, 0
    for _ in range(count):
        size, at = varint(data, at)
        if size > STRING_MAX or size > len(data) - at:
            raise Damage("contains a text that is cut off")
        texts.append(decode_text(data[at:at + size]))
        at += size
    while at < len(data):
        head, at = varint(data, at)
        if head == 0:
            module, at = varint(data, at)
            level, at = varint(data, at)
            offset = 0
            continue
        if module is None or head - 1 > INLINES_MAX:
            raise Damage("has a place without module, or with too many names")
        step, at = varint(data, at)
        offset, names = (offset + step) & MASK, []
        for _ in range(head - 1):
            (function, at), line = varint(data, at), 0
            file, at = varint(data, at)
            line, at = varint(data, at)
            if function >= len(texts) or file >= len(texts):
                raise Damage("refers to an undefined text")
            names.append(Symbol(texts[function], texts[file], line))
        yield (module, offset), (level, names)


class Trace(Definitions):
    """An open trace. Iterating yields its events, each time from the start. Afterwards
    `condition` is "complete", "live" (unfinished, but nothing is missing in FILE.live),
    "truncated" or "damaged", and `text` is a sentence with the details. `ending` describes the end of
    the recording, if known. A recording that stopped early, according to its `end` event, is complete
    as well; the signal that killed the program is in FILE.live."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._file = builtins.open(self.path, "rb")
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            self.header = self._read_header()
            self.windows, self.live, self.end, self._counts = {}, False, (0, 0), None
            if not self._trailer(self.size - TRAILER.size):
                self._load_live()
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
        if offset >= self.size:
            return b""  # also invalid sizes
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
            raise Error(f"{self.path}: is in format {header.major}.{header.minor}; supported is {MAJOR}")
        return header

    def _trailer(self, offset):
        """The trailer at *offset* as (index_offset, file_bytes); None if there is none."""
        data = self._read(offset, TRAILER.size) if offset >= 0 else b""
        if len(data) < TRAILER.size:
            return None
        index_offset, file_bytes, checksum, magic = TRAILER.unpack(data)
        if magic != END_MAGIC or checksum != xxh64(data[:16]) or \
                file_bytes != offset + TRAILER.size:
            return None
        return index_offset, file_bytes

    def _load_live(self):
        """Read FILE.live (§4) if it belongs to this trace."""
        try:
            live = builtins.open(self.path + ".live", "rb")
        except OSError:
            live = None
        if live:
            with live:
                self._load_windows(live)
                self.size = os.fstat(self._file.fileno()).st_size
                if self._counts and not self._counts.are_the_same(live):
                    self._counts = None
        else:
            self.size = os.fstat(self._file.fileno()).st_size

    def _load_windows(self, live):
        head = live.read(LIVE_HEADER.size + WINDOWS_MAX * 64)
        if len(head) < LIVE_HEADER.size + WINDOWS_MAX * 64:
            return
        magic, major, _, order, uuid, header_bytes, windows, window_bytes, _ = \
            LIVE_HEADER.unpack_from(head)
        if magic != LIVE_MAGIC or major > MAJOR or order != BYTE_ORDER or \
                uuid != self.header.uuid or header_bytes < len(head) or \
                windows > WINDOWS_MAX or window_bytes > RAW_MAX:
            return
        self.live, self.end = True, struct.unpack_from("<II", head, 56)
        try:
            self._counts = Counts(live, header_bytes)
        except ValueError:
            pass
        live.seek(0)
        head = live.read(len(head))  # not older than the counts
        for i in range(windows if len(head) == LIVE_HEADER.size + WINDOWS_MAX * 64 else 0):
            sequence, used, first_event, base_ns = LIVE_WINDOW.unpack_from(head, 64 + i * 64)
            if not sequence or not used:
                continue
            live.seek(header_bytes + i * window_bytes)
            used = min(used, window_bytes)
            data = _written(live.read(used), header_bytes + i * window_bytes)
            live.seek(64 + i * 64)
            again = live.read(LIVE_WINDOW.size)
            if data and len(again) == LIVE_WINDOW.size and \
                    LIVE_WINDOW.unpack(again)[0] == sequence:
                self.windows.setdefault(sequence, Window(sequence, first_event, base_ns, data,
                                                         len(data) < used))

    def read_frame(self, offset):
        """The frame at *offset*: its header, header bytes beyond the 64, its payload, and where
        the next one begins. Raises Damage; its second argument is True if it is cut off."""
        data = self._read(offset, FRAME_HEADER.size)
        if len(data) < FRAME_HEADER.size:
            raise Damage("has an incomplete header", True)
        head = FrameHeader(*FRAME_HEADER.unpack(data))
        if head.sync == bytes(4) and not head.raw_bytes and not head.checksum:
            raise Damage("was never written (zeros)", True)
        if head.sync != SYNC or not 64 <= head.header_bytes <= HEADER_MAX:
            raise Damage("does not start with a frame header")
        if not head.fits() or (head.codec == 2 and head.type != EVENTS):
            raise Damage("has an invalid size")
        extra = head.header_bytes - FRAME_HEADER.size
        rest = self._read(offset + FRAME_HEADER.size, extra + head.stored_bytes)
        if len(rest) < extra + head.stored_bytes:
            raise Damage("is incomplete", True)
        if head.checksum != xxh64(data[:56] + rest):
            raise Damage("has a wrong checksum")
        payload = rest[extra:]
        if head.codec == 1:
            payload = unzstd(payload, head.raw_bytes)
            if payload is None:
                raise Damage("cannot be decompressed")
        if head.codec == 2:
            payload = self._columns(payload)
        return head, rest[:extra], payload, offset + head.header_bytes + head.stored_bytes

    @staticmethod
    def _columns(payload):
        size = int.from_bytes(payload[:4], "little")
        if len(payload) < 4 or size > COLUMNS_MAX:
            raise Damage("has an invalid size")
        columns = unzstd(payload[4:], size)
        if columns is None:
            raise Damage("cannot be decompressed")
        try:
            return Columns(columns)
        except Bad:
            raise Damage("has inconsistent columns") from None

    # --- index and directory ---

    def index(self):
        """Every event frame as an IndexEntry, from the index of a finished trace. None if there is
        no usable index."""
        chunks, trailer = [], self._trailer(self.size - TRAILER.size)
        offset, before = (trailer[0], self.size) if trailer else (0, 0)
        while offset:
            try:
                head, _, payload, _ = self.read_frame(offset)
            except Damage:
                return None
            if head.type != INDEX or head.codec or len(payload) < INDEX_HEADER.size:
                return None
            before, (offset, first, entries) = offset, INDEX_HEADER.unpack_from(payload)[:3]
            if offset >= before or entries > INDEX_MAX or \
                    len(payload) < INDEX_HEADER.size + entries * INDEX_ENTRY.size:
                return None
            chunks.append([(first + i, IndexEntry(*INDEX_ENTRY.unpack_from(
                payload, INDEX_HEADER.size + 40 * i))) for i in range(entries)])
        numbered = [entry for chunk in reversed(chunks) for entry in chunk]
        if not trailer or any(e.offset >= self.size for _, e in numbered) or \
                not all(map(_follows, [None] + numbered, numbered)):
            return None
        return [entry for _, entry in numbered]

    def directory(self):
        """The frames that were added after recording (§2.5), as DirectoryEntry."""
        trailer = self._trailer(self.size - TRAILER.size)
        if not trailer:
            return []
        try:
            head, extra, payload, _ = self.read_frame(trailer[0])
            offset = struct.unpack_from("<Q", extra)[0] if len(extra) >= 8 else 0
            if not 0 < offset < trailer[0] or head.type != INDEX or head.codec or \
                    len(payload) < INDEX_HEADER.size:
                return []
            head, _, payload, _ = self.read_frame(offset)
        except Damage:
            return []
        if head.type != DIRECTORY or head.codec:
            return []
        whole = len(payload) // DIRECTORY_ENTRY.size * DIRECTORY_ENTRY.size
        return [DirectoryEntry(*e) for e in DIRECTORY_ENTRY.iter_unpack(payload[:whole])]

    def symbols(self):
        """The names in the trace (§2.7), as {(module, offset): (level, symbols)}, each
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
            except (Damage, IndexError):
                continue
        return found

    # --- events ---

    def _reset(self):
        self.forget()
        self.events = self.recovered = 0
        self.stopped = None  # the errno of a recording that stopped early
        self.condition, self.text = None, "not at the end yet"

    @property
    def ending(self):
        if self.stopped is not None:
            return _stopped_text(self.stopped)
        return "the trace is complete" if self.condition == "complete" else _end_text(*self.end)

    def _finish(self, condition, problem=None):
        self.condition = condition
        self.text = f"{problem or self.ending}: {self.events:,} events"

    def __iter__(self):
        self._reset()
        yield from self._events_from(1, 0, self.header.header_bytes)

    def _events_from(self, sequence, last_ns, offset):
        recovering, lost, problem, cut, last = False, False, None, False, 0
        while True:
            payload = None
            if not recovering and offset < self.size:
                try:
                    head, _, data, after = self.read_frame(offset)
                    if head.type == EVENTS and head.sequence != sequence:
                        raise Damage("is out of order")
                    if head.type == EVENTS and head.base_ns < last_ns:
                        raise Damage("goes back in time")
                    if self._is_end(head, data, offset, after):
                        return
                    here, offset = offset, after
                    if head.type != EVENTS:
                        continue
                    payload, base_ns, expected = data, head.base_ns, head.events
                except Damage as damage:
                    problem, cut = damage.args[0], len(damage.args) > 1
            if payload is None:
                window = self.windows.get(sequence)
                if not window or window.base_ns < last_ns or (recovering and lost):
                    nothing_missing = not (window or lost) and \
                        max(self.windows, default=0) < sequence and \
                        (not problem or cut or recovering)
                    if nothing_missing and last != END:
                        yield from self._sum_up(last_ns)
                    self._finish_tail(sequence, offset, problem, cut, recovering)
                    return
                recovering, lost, problem, cut = True, window.cut, None, False
                here, payload, base_ns, expected = offset, window.data, window.base_ns, None
            try:
                before = self.events
                for event in self.decode(payload, base_ns):
                    last_ns, last = event.time_ns, event.code
                    self.events += 1
                    self.recovered += recovering
                    if event.code == 7:
                        self.set_module(event)
                    elif event.code == END:
                        self.stopped = event["status"] if event["reason"] == STOPPED else None
                    yield event
                if expected is not None and self.events - before != expected:
                    raise Damage("is missing")
            except Damage as damage:
                self._finish("live" if recovering else "damaged",
                             f"frame {sequence} at byte {here:,}: a record {damage.args[0]}")
                return
            last_ns = max(last_ns, base_ns)
            sequence += 1

    def _sum_up(self, last_ns):
        """The counts up to the kill, as events (§4, *Counts*)."""
        unrecorded, changed = self.kind(8), self.kind(9)
        cells = self._counts and unrecorded and changed and self._counts.pending(self.events)
        if cells is None or not self._counts or not unrecorded or not changed:
            return
        time_ns = max([last_ns] + [cell.time_ns for cell in cells])
        for layout, tid, fields in [(unrecorded, c.tid, c.fields) for c in cells] + \
                [(changed, 0, [SUMMED_UP])]:
            count = len(layout.codecs)
            raw = (fields[:layout.known] + [0] * count)[:count]
            self.events += 1
            self.recovered += 1
            yield Event(layout, time_ns, tid, raw, self)

    def _is_end(self, head, payload, offset, after):
        """Whether this is the final index frame with its trailer: the trace is complete."""
        if head.type != INDEX or len(payload) < INDEX_HEADER.size or \
                not INDEX_HEADER.unpack_from(payload)[3] & 1:
            return False
        trailer = self._trailer(after)
        if not trailer or trailer[0] != offset:
            return False
        self._finish("complete")
        return True

    def _finish_tail(self, sequence, offset, problem, cut, recovering):
        if self.live and max(self.windows, default=0) < sequence and \
                (not problem or cut or recovering):
            self._finish("live")
        else:
            self._finish("truncated" if cut or not problem else "damaged",
                         f"frame {sequence} at byte {offset:,} {problem or 'is missing'}")


def open(path):  # noqa: A001 (as in gzip.open)
    """Open the trace at *path*. Raises OSError, or Error if it is not a trace."""
    return Trace(path)


# --- output ---

def canonical(event):
    """One line of the text that tests compare: known kinds and fields only. None for others."""
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


_QUOTED = {b: f"\\x{b:02x}" for b in range(256) if not 0x20 <= b < 0x7F}
_QUOTED.update({ord(c): "\\" + c for c in '"\\'})


def _quoted(text):
    return '"' + text.encode().decode("latin-1").translate(_QUOTED) + '"'


def canonical_end(trace):
    """The last line: the condition of the trace."""
    good = trace.condition in ("complete", "live")
    return f"== {trace.condition} {trace.events} {trace.recovered}" + (
        f" {trace.ending}" if good else "")


def canonical_symbols(trace):
    """The trace's names as lines, by module and offset."""
    for (module, offset), (level, names) in sorted(trace.symbols().items()):
        yield " ".join([f"symbol {module}+0x{offset:x} {level}"] + [
            f"{_quoted(s.function)} {_quoted(s.file)} {s.line}" for s in names])
