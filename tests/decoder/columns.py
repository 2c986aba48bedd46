# SPDX-License-Identifier: Apache-2.0
"""Codec 2 of a trace's frames: its columns, converted back to rows.

Written from §2.6 of docs/internals/trace-format.md.
"""
DISTANCE_END, FIELDS_MAX, VARINT_MAX = 65536, 64, 10
FIXED = ("heads", "threads", "times", "second", "rest", "ups", "modules", "offsets", "lengths",
         "descriptions", "texts", "deltas")
STRING, NODE, KIND = 56, 57, 58
ADDRESS = 2  # the codec
MASK = (1 << 64) - 1


class Bad(Exception):
    """The data are not valid columns."""


class Column:
    """Bytes that are consumed from the front."""

    __slots__ = ("data", "at", "end")

    def __init__(self, data, at, size):
        self.data, self.at, self.end = data, at, at + size
        if self.end > len(data):
            raise Bad

    def take(self, size):
        if size > self.end - self.at:
            raise Bad
        self.at += size
        return self.data[self.at - size:self.at]

    def copy(self):
        """The bytes of the next varint, without validation."""
        start = self.at
        while self.at < self.end and self.at - start < VARINT_MAX:
            self.at += 1
            if self.data[self.at - 1] < 0x80:
                return self.data[start:self.at]
        raise Bad

    def varint(self):
        """The value of the next varint, and its bytes."""
        start, value = self.at, 0
        for shift in range(0, 70, 7):
            if self.at == self.end:
                raise Bad
            byte = self.data[self.at]
            self.at += 1
            if shift == 63 and byte > 1:
                raise Bad
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value, self.data[start:self.at]
        raise Bad

    def rest(self):
        return self.end - self.at


class Field:
    """A field's column: returns the bytes of one event's field at a time."""

    def __init__(self, column, flags, addresses):
        self.column, self.addresses, self.is_address = column, addresses, flags & 1
        self.constant = None
        if flags & 2:
            self.constant = column.varint()
            if column.rest():
                raise Bad

    def take(self):
        if not self.is_address:
            return self.constant[1] if self.constant else self.column.copy()
        return self.addresses.row((self.constant or self.column.varint())[0])


class Addresses:
    """The addresses of the frame so far."""

    def __init__(self, deltas):
        self.deltas, self.seen, self.last = deltas, [], 0

    def row(self, distance):
        """The bytes in the row: the zigzag varint of the difference to the last address."""
        if distance >= DISTANCE_END:
            raise Bad
        if distance:
            if distance > len(self.seen):
                raise Bad
            address = self.seen[-distance]
            difference = (address - self.last) & MASK
            coded = (difference << 1 & MASK) ^ (MASK if difference >> 63 else 0)
        else:
            coded, _ = self.deltas.varint()
            address = (self.last + ((coded >> 1) ^ (MASK if coded & 1 else 0))) & MASK
        self.seen.append(address)
        self.last = address
        return put_varint(coded)


def put_varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_directory(data):
    """Fixed columns by name, and for each kind its fields; all of *data* is used up."""
    head = Column(data, 0, len(data))
    sizes = [head.varint()[0] for _ in FIXED]
    kinds, last = [], 0
    for _ in range(head.varint()[0]):
        code, fields = head.varint()[0], head.varint()[0]
        if code <= last or code > 63 or fields > FIELDS_MAX:
            raise Bad
        kinds.append((code, [head.varint()[0] for _ in range(fields)]))
        last = code
    at, columns, layouts = head.at, {}, {}
    for name, size in zip(FIXED, sizes):
        columns[name] = Column(data, at, size)
        at = columns[name].end
    addresses = Addresses(columns["deltas"])
    for code, fields in kinds:
        layouts[code] = []
        for coded in fields:
            column = Column(data, at, coded >> 2)
            at = column.end
            layouts[code].append(Field(column, coded & 3, addresses))
    if at != len(data):
        raise Bad
    return columns, layouts


class Columns:
    """The columns of a frame. Raises Bad if the directory is not that of *data*."""

    def __init__(self, data):
        self.columns, self.layouts = read_directory(data)

    def records(self, kind):
        """Each record as its row; kind(code): its description so far. Raises Bad at the first record
        that the columns do not have, and at the end if anything is left in them."""
        columns, layouts = self.columns, self.layouts
        while columns["heads"].rest():
            head = columns["heads"].take(1)
            row = [head]
            if head[0] == STRING:
                count, coded = columns["lengths"].varint()
                row += [coded, columns["texts"].take(count)]
            elif head[0] == NODE:
                row += [columns[name].copy() for name in ("ups", "modules", "offsets")]
            elif head[0] == KIND:
                row.append(columns["descriptions"].take(columns["descriptions"].varint()[0]))
            else:
                layout, described = layouts.get(head[0] & 0x3F, []), kind(head[0] & 0x3F)
                if not described or [f.is_address for f in layout] != \
                        [int(codec == ADDRESS) for codec in described.codecs]:
                    raise Bad
                if head[0] & 0x40:
                    row.append(columns["threads"].copy())
                if not head[0] & 0x80:
                    row.append(take_time(columns["times"], columns["second"], columns["rest"]))
                row += [field.take() for field in layout]
            yield b"".join(row)
        if any(column.rest() for column in columns.values()) or \
                any(f.column.rest() for layout in layouts.values() for f in layout):
            raise Bad


def take_time(first, second, rest):
    data = first.take(1)
    if data[0] >= 0x80:
        data += second.take(1)
        if data[1] >= 0x80:
            data += rest.copy()
    return data
