# SPDX-License-Identifier: Apache-2.0
"""xxh64(data) by libxxhash, with seed 0; unzstd(data, size) by libzstd: the *size* bytes that *data*
decompresses to, None if it does not."""
import ctypes
import ctypes.util

_zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
_xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
_xxhash.XXH64.restype = ctypes.c_uint64
_xxhash.XXH64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def unzstd(data, size):
    out, data = ctypes.create_string_buffer(size + 1), bytes(data)
    got = _zstd.ZSTD_decompress(out, size, data, len(data))
    return out.raw[:size] if got == size else None


def xxh64(data):
    return _xxhash.XXH64(bytes(data), len(data), 0)
