# SPDX-License-Identifier: Apache-2.0
"""Takes traces apart and makes them consistent again, for tests that damage them."""

import struct

import vst
from libraries import xxh64


def frames(data):
    """Offset and sizes of the frames of a whole file."""
    at = 64
    while at + 64 <= len(data) and data[at:at + 4] == vst.SYNC:
        header_bytes, = struct.unpack_from("<H", data, at + 6)
        stored, = struct.unpack_from("<I", data, at + 12)
        yield at, header_bytes, stored
        at += header_bytes + stored


def signed_again(data):
    """Corrects the checksums, so that the contents are compared."""
    data = bytearray(data)
    struct.pack_into("<Q", data, 56, xxh64(bytes(data[:56])))
    for at, header_bytes, stored in frames(data):
        if header_bytes >= 64 and at + header_bytes + stored <= len(data):
            body = bytes(data[at:at + 56] + data[at + 64:at + header_bytes + stored])
            struct.pack_into("<Q", data, at + 56, xxh64(body))
    return bytes(data)


def changed(data, rng, header):
    """Changes one to three bytes, mostly in payloads."""
    data = bytearray(data)
    places = list(frames(data))
    for _ in range(rng.randint(1, 3) if places else 0):
        at, header_bytes, stored = rng.choice(places)
        where = rng.randrange(at + 4, at + header_bytes + stored) if header or not stored else \
            rng.randrange(at + header_bytes, at + header_bytes + stored)
        data[where] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256), data[where] ^ 1))
    return bytes(data)


def as_zstd(data):
    """A zstd frame of raw blocks: its contents can be changed and stay readable."""
    out = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(data))
    pieces = [data[i:i + 100000] for i in range(0, len(data), 100000)] or [b""]
    for i, piece in enumerate(pieces):
        out += ((i + 1 == len(pieces)) | len(piece) << 3).to_bytes(3, "little") + piece
    return out


def rebuilt(data, change):
    """The same trace with each frame replaced by change(type, codec, raw_bytes, stored payload):
    (codec, raw_bytes, stored payload)."""
    out, moved, at, size = bytearray(data[:64]), {}, 64, 0
    for at, header_bytes, stored in frames(data):
        head = bytearray(data[at:at + header_bytes])
        codec, raw, body = change(head[4], head[5], struct.unpack_from("<I", head, 8)[0],
                                  data[at + header_bytes:at + header_bytes + stored])
        head[5] = codec
        struct.pack_into("<II", head, 8, raw, len(body))
        moved[at] = len(out)
        size = header_bytes + stored
        out += head + body
    out = _pointed_again(out, moved)
    return signed_again(bytes(out + _end(data[at + size:], moved, len(out))))


def _in_raw_blocks(_, codec, raw, body):
    if codec == 1:
        body = as_zstd(vst.unzstd(body, raw))
    elif codec == 2:
        body = body[:4] + as_zstd(vst.unzstd(body[4:], int.from_bytes(body[:4], "little")))
    return codec, raw, body


def opened(data):
    """The same trace with its frames' payloads in raw blocks."""
    return rebuilt(data, _in_raw_blocks)


def _pointed_again(data, moved):
    """Index and directory with the frames' new offsets."""
    for at, header_bytes, stored in list(frames(data)):
        payload = at + header_bytes
        if data[at + 4] == vst.INDEX:
            places = [payload] + list(range(payload + 48, payload + stored, 40))
            places += [at + 64] * (header_bytes > 64)
        else:
            places = range(payload + 8, payload + stored, 32) if data[at + 4] == vst.DIRECTORY \
                else ()
        for place in places:
            offset, = struct.unpack_from("<Q", data, place)
            struct.pack_into("<Q", data, place, moved.get(offset, offset))
    return data


def _end(end, moved, size):
    """The trailer, when there is one."""
    if len(end) != vst.TRAILER.size:
        return end
    index, = struct.unpack_from("<Q", end)
    numbers = struct.pack("<QQ", moved.get(index, index), size + len(end))
    return numbers + struct.pack("<Q", xxh64(numbers)) + end[24:]
