# SPDX-License-Identifier: Apache-2.0
"""The counts in FILE.live that are not in events yet (docs/internals/trace-format.md §4, *Counts*)."""
import struct
from collections import namedtuple

HEAD, COUNT = struct.Struct("<IIQQQ"), struct.Struct("<20Q")
AT, HEAD_BYTES, CELLS_MAX = 1088, 64, 256

Count = namedtuple("Count", "version events tid time_ns fields")


class Counts:
    """Reads the counts of FILE.live, which has *header_bytes* before its windows. Raises ValueError
    if there are none."""

    def __init__(self, live, header_bytes):
        self._head = self._read_head(live)
        offset, number, self._version, self._written, self._writing = self._head
        size = number * 2 * COUNT.size
        if offset < AT + HEAD_BYTES or not 0 < number <= CELLS_MAX or offset + size > header_bytes:
            raise ValueError("no counts")
        live.seek(offset)
        data = live.read(size)
        if len(data) < size:
            raise ValueError("no counts")
        copies = [Count(*c[:4], list(c[4:])) for c in COUNT.iter_unpack(data)]
        self._cells = list(zip(copies[::2], copies[1::2]))

    @staticmethod
    def _read_head(live):
        live.seek(AT)
        data = live.read(HEAD_BYTES)
        if len(data) < HEAD_BYTES:
            raise ValueError("no counts")
        return HEAD.unpack_from(data)

    def are_the_same(self, live):
        """Whether the counts are unchanged."""
        try:
            return self._read_head(live) == self._head
        except ValueError:
            return False

    def pending(self, events):
        """The cells that are not in events yet, after *events* events; None if they are
        unusable."""
        pending = []
        for cell in self._cells:
            pending.append([c for c in cell if self._written < c.version <= self._version])
            if not pending[-1]:
                pending.pop()
                break
        # otherwise some cells were lost
        if max([self._written] + [c.version for cell in pending for c in cell]) != self._version:
            return None
        written = 0
        if self._writing and pending:
            written, events = events - (self._writing - 1), self._writing - 1
            if written < 0:
                return None
        found = []
        for copies in pending[written:]:
            copies = [c for c in copies if c.events <= events and not c.tid >> 32]
            if not copies:
                return None
            found.append(max(copies, key=lambda c: c.version))
        return found
