# SPDX-License-Identifier: Apache-2.0
"""XXH64 with seed 0: from the `xxhash` package if it is installed, otherwise in Python.

Written from the algorithm's specification (XXH64, Yann Collet).
"""
import struct

_MASK = 0xFFFFFFFFFFFFFFFF
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _round(lane, word):
    lane = (lane + word * _P2) & _MASK
    return ((lane << 31 | lane >> 33) & _MASK) * _P1 & _MASK


def _rotated(value, bits):
    return (value << bits | value >> (64 - bits)) & _MASK


def _stripes(data, whole):
    """The state after the first *whole* bytes, a multiple of 32 above 0."""
    a, b, c, d = (_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK
    p1, p2, mask = _P1, _P2, _MASK
    for w, x, y, z in struct.iter_unpack("<4Q", memoryview(data)[:whole]):
        a = (a + w * p2) & mask
        a = ((a << 31 | a >> 33) & mask) * p1 & mask
        b = (b + x * p2) & mask
        b = ((b << 31 | b >> 33) & mask) * p1 & mask
        c = (c + y * p2) & mask
        c = ((c << 31 | c >> 33) & mask) * p1 & mask
        d = (d + z * p2) & mask
        d = ((d << 31 | d >> 33) & mask) * p1 & mask
    state = _rotated(a, 1) + _rotated(b, 7) + _rotated(c, 12) + _rotated(d, 18)
    for lane in (a, b, c, d):
        state = ((state ^ _round(0, lane)) * _P1 + _P4) & _MASK
    return state


def xxh64_python(data):
    """XXH64 of *data* with seed 0, without any library."""
    size, whole = len(data), len(data) & ~31
    state = ((_stripes(data, whole) if whole else _P5) + size) & _MASK
    at = whole
    while size - at >= 8:
        state ^= _round(0, int.from_bytes(data[at:at + 8], "little"))
        state = (_rotated(state, 27) * _P1 + _P4) & _MASK
        at += 8
    if size - at >= 4:
        state ^= int.from_bytes(data[at:at + 4], "little") * _P1 & _MASK
        state = (_rotated(state, 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        state = _rotated(state ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    state = (state ^ state >> 33) * _P2 & _MASK
    state = (state ^ state >> 29) * _P3 & _MASK
    return state ^ state >> 32


try:
    from xxhash import xxh64_intdigest as xxh64
except ImportError:
    xxh64 = xxh64_python
