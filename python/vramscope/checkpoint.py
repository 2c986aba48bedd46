# SPDX-License-Identifier: Apache-2.0
"""The checkpoints of a trace (docs/trace-format.md §2.8), written from the document alone.

    with vst.open("vramscope.train.812.vst") as trace:
        for checkpoint in trace.checkpoints():
            print(checkpoint.sequence, checkpoint.state()["totals"]["events"])
            for event in trace.since(checkpoint): ...

`read` returns the usable checkpoints in order, or none if something is inconsistent. The fields
of a state have the names of the document; see checkpoint_state.py.
"""
import struct
from collections import namedtuple

from vramscope.checkpoint_state import read_state
from vramscope.records import KINDS, Damage, Definitions, decode_text
from vramscope.xxh64 import xxh64

FRAME_TYPE, VERSION = 3, 1
DEFINITIONS, STATE, TABLE = 1, 2, 3
MODULE_BYTE = 7 | 0x80  # without thread and time
UNPACKED_MAX, UNPACKED_FACTOR = 64 << 20, 64

PREFIX = struct.Struct("<II")
TABLE_HEADER = struct.Struct("<QQQQQQQII")
TABLE_ENTRY = struct.Struct("<QQQQQQIIQ")

Table = namedtuple("Table", "known_kinds unknown fingerprint frames events first_ns last_ns count "
                            "spare_frames")
Entry = namedtuple("Entry", "sequence events known_events time_ns strings stack_nodes "
                            "definition_frames state_frames reserved")


class Checkpoint(namedtuple("Checkpoint", Entry._fields + ("checkpoints", "number"))):
    """One entry of the table."""

    __slots__ = ()

    def definitions(self):
        """The definitions before it, as Definitions. Raises Damage."""
        return self.checkpoints.definitions(self.number)

    def state(self):
        """A dictionary; see read_state. Raises Damage."""
        state = read_state(self.checkpoints.payloads(self.number, STATE))
        if state["totals"]["events"] != self.known_events:
            raise Damage("is the state of another time")
        return state


class Checkpoints:
    """A sequence of Checkpoint; `table` is their common table. `problem`: the reason why existing
    checkpoints cannot be used, otherwise ""."""

    def __init__(self, trace, table, entries, offsets, problem=""):
        self.trace, self.table, self.offsets, self.problem = trace, table, offsets, problem
        self.entries = [Checkpoint(*entry, self, i) for i, entry in enumerate(entries)]
        at, self.first = 0, []
        for entry in entries:
            self.first.append(at)
            at += entry.definition_frames + entry.state_frames

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, number):
        return self.entries[number]

    def payloads(self, number, what):
        """The payloads of one checkpoint's definition or state frames. Raises Damage."""
        entry, first = self.entries[number], self.first[number]
        count = entry.definition_frames if what == DEFINITIONS else entry.state_frames
        first += 0 if what == DEFINITIONS else entry.definition_frames
        unpacked = stored = 0
        for offset in self.offsets[first:first + count]:
            size, data = _payload(self.trace, offset, what)
            unpacked, stored = unpacked + len(data), stored + size
            if unpacked > UNPACKED_MAX and unpacked // UNPACKED_FACTOR > stored:
                raise Damage("decompresses to more than the limit")
            yield data

    def definitions(self, number):
        """All definitions up to one checkpoint. Raises Damage."""
        growing = self.growing_definitions()
        for _ in range(number):
            next(growing)
        return next(growing)

    def growing_definitions(self):
        """The definitions before each checkpoint in turn: the same object, which grows. Raises Damage."""
        found = Definitions()
        for i, entry in enumerate(self.entries):
            for data in self.payloads(i, DEFINITIONS):
                read_definitions(found, data)
            if found.counts() != (entry.strings, entry.stack_nodes):
                raise Damage("defines another number of texts or stacks than the table states")
            yield found


def read_definitions(found, data):
    """Add the definitions of a definition frame to *found*. Raises Damage."""
    for event in found.decode(data, 0, only=MODULE_BYTE):
        found.set_module(event)


def _payload(trace, offset, what):
    head, _, payload, _ = trace.read_frame(offset)
    if head.type != FRAME_TYPE or len(payload) < PREFIX.size or \
            PREFIX.unpack_from(payload) != (VERSION, what):
        raise Damage("is not the expected part of a checkpoint")
    return head.stored_bytes, payload[PREFIX.size:]


def fingerprint(frames):
    """The fingerprint of event frames, given as in the index."""
    return xxh64(b"".join(struct.pack("<QQQQ", f.first_event, f.base_ns, f.last_ns, f.events)
                          for f in frames))


def read(trace):
    """The checkpoints of an open trace, as Checkpoints; empty if none can be used."""
    offsets = [e.offset for e in trace.directory() if e.type == FRAME_TYPE]
    nothing = Checkpoints(trace, None, [], [])
    frames = trace.frames()
    if not offsets:
        return nothing
    try:
        _, payload = _payload(trace, offsets.pop(), TABLE)
        if len(payload) < TABLE_HEADER.size:
            raise Damage("is cut off")
        table = Table(*TABLE_HEADER.unpack_from(payload))
        if len(payload) < TABLE_HEADER.size + table.count * TABLE_ENTRY.size:
            raise Damage("is cut off")
        entries = [Entry(*TABLE_ENTRY.unpack_from(payload, TABLE_HEADER.size + 64 * i))
                   for i in range(table.count)]
        _check(table, entries, trace.frames(), len(offsets))
    except Damage as damage:
        return Checkpoints(trace, None, [], [], f"the table of checkpoints {damage.args[0]}")
    return Checkpoints(trace, table, entries, offsets)


def _check(table, entries, frames, parts):
    """Check that the table belongs to this trace and that its kinds are known."""
    if table.frames > len(frames) or table.fingerprint != fingerprint(frames[:table.frames]):
        raise Damage("belongs to other frames")
    ours = sum(1 << code for code in KINDS)
    if table.known_kinds != ours and (table.unknown or table.known_kinds & ~ours):
        raise Damage("was written with other event kinds")
    if sum(e.definition_frames + e.state_frames for e in entries) + table.spare_frames != parts:
        raise Damage("does not match the number of frames")
    before = Entry(*[0] * len(Entry._fields))
    for entry in entries:
        if not before.sequence < entry.sequence <= table.frames or \
                entry.strings < before.strings or entry.stack_nodes < before.stack_nodes or \
                not before.known_events <= entry.known_events <= entry.events:
            raise Damage("is out of order")
        frame = frames[entry.sequence - 1]
        if entry.events != frame.first_event or \
                (entry.sequence > 1 and entry.time_ns > frame.base_ns):
            raise Damage("does not match the event frames")
        before = entry


def as_dicts(trace):
    """The checkpoints in a form for JSON: the table, then each with its state."""
    found = read(trace)
    if found.problem:
        yield {"problem": found.problem}
    if found.table:
        yield found.table._asdict()
    growing, problem = found.growing_definitions(), ""
    for one in found:
        out = dict(zip(Entry._fields, one))
        try:
            if not problem:
                next(growing)
        except Damage as damage:  # later checkpoints use the same definitions
            problem = "the definitions: " + damage.args[0]
        try:
            out.update({"problem": problem} if problem else {"state": _plain(one.state())})
        except Damage as damage:
            out["problem"] = "the state: " + damage.args[0]
        yield out


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return decode_text(value) if isinstance(value, bytes) else value
