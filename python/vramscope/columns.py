# SPDX-License-Identifier: Apache-2.0
"""Frames of codec 2 (docs/trace-format.md §2.6): join(columns, size) puts the rows of a frame
together again, which are then decoded like those of any other frame."""

STRING, NODE, KIND = 56, 57, 58
(HEADS, THREADS, TIMES, SECOND, REST, UPS, MODULES, OFFSETS, LENGTHS, DESCRIPTIONS, TEXTS,
 DELTAS) = range(12)
FIXED = 12
DISTANCE_END, FIELDS_MAX, MASK = 65536, 64, (1 << 64) - 1


class Bad(Exception):
    """What is there is not the columns of any rows."""


class Column:
    __slots__ = ("data", "at", "end", "constant", "addresses")

    def __init__(self, data, at, end, flags=0):
        self.data, self.at, self.end = data, at, end
        self.constant, self.addresses = flags & 2, flags & 1
        if self.constant:
            self.varint()
            if self.at != end:
                raise Bad
            self.at = at

    def take(self, size):
        if size > self.end - self.at:
            raise Bad
        self.at += size
        return self.data[self.at - size:self.at]

    def varint(self):
        """The bytes of one varint."""
        at = self.at
        while at < self.end and self.data[at] & 0x80 and at - self.at < 10:
            at += 1
        if at == self.end or at - self.at == 10:
            raise Bad
        return self.take(at + 1 - self.at)

    def field(self):
        at = self.at
        varint = self.varint()
        if self.constant:
            self.at = at
        return varint


def number(varint):
    value = sum((byte & 0x7F) << 7 * i for i, byte in enumerate(varint))
    if value > MASK:
        raise Bad
    return value


def varint_of(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Joiner:
    def __init__(self, data):
        directory = Column(data, 0, len(data))
        sizes = [number(directory.varint()) for _ in range(FIXED)]
        layout, last = [], 0
        for _ in range(number(directory.varint())):
            code, fields = number(directory.varint()), number(directory.varint())
            if not last < code < 64 or fields > FIELDS_MAX:
                raise Bad
            last = code
            layout.append((code, [number(directory.varint()) for _ in range(fields)]))
        at = directory.at
        self.fixed, self.kinds = [], {}
        for size in sizes:
            self.fixed.append(self._place(data, at, size, 0))
            at += size
        for code, fields in layout:
            self.kinds[code] = []
            for coded in fields:
                self.kinds[code].append(self._place(data, at, coded >> 2, coded & 3))
                at += coded >> 2
        if at != len(data):
            raise Bad
        self.seen, self.last = [], 0

    @staticmethod
    def _place(data, at, size, flags):
        if size > len(data) - at:
            raise Bad
        return Column(data, at, at + size, flags)

    def _address(self, column):
        distance = number(column.field())
        if distance > len(self.seen) or distance >= DISTANCE_END:
            raise Bad
        if distance:
            address = self.seen[-distance]
        else:
            coded = number(self.fixed[DELTAS].varint())
            address = (self.last + ((coded >> 1) ^ -(coded & 1))) & MASK
        step = (address - self.last) & MASK
        self.seen.append(address)
        self.last = address
        return varint_of((step << 1 ^ (MASK if step >> 63 else 0)) & MASK)

    def _time(self):
        out = b""
        for column in self.fixed[TIMES], self.fixed[SECOND]:
            out += column.take(1)
            if out[-1] < 0x80:
                return out
        return out + self.fixed[REST].varint()

    def record(self):
        """The next row, in parts."""
        head = self.fixed[HEADS].take(1)
        yield head
        code = head[0]
        if code == STRING:
            length = self.fixed[LENGTHS].varint()
            yield length
            yield self.fixed[TEXTS].take(number(length))
        elif code == NODE:
            for i in UPS, MODULES, OFFSETS:
                yield self.fixed[i].varint()
        elif code == KIND:
            column = self.fixed[DESCRIPTIONS]
            yield column.take(number(column.varint()))
        else:
            if code & 0x3F not in self.kinds:
                raise Bad
            if code & 0x40:
                yield self.fixed[THREADS].varint()
            if not code & 0x80:
                yield self._time()
            for column in self.kinds[code & 0x3F]:
                yield self._address(column) if column.addresses else column.field()

    def used_up(self):
        columns = self.fixed + [c for fields in self.kinds.values() for c in fields]
        return all(c.constant or c.at == c.end for c in columns)


def join(data, size):
    """The rows of the columns *data*; None when they do not make exactly *size* bytes."""
    rows = bytearray()
    try:
        joiner = Joiner(data)
        heads = joiner.fixed[HEADS]
        while heads.at < heads.end:
            for part in joiner.record():
                rows += part
            if len(rows) > size:
                return None
    except Bad:
        return None
    return bytes(rows) if len(rows) == size and joiner.used_up() else None
