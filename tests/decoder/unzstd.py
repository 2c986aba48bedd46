# SPDX-License-Identifier: Apache-2.0
"""unzstd(data, size): the *size* bytes that *data* decompresses to by libzstd; None if it does not."""
import ctypes
import ctypes.util

_library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
_library.ZSTD_decompress.restype = ctypes.c_size_t
_library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def unzstd(data, size):
    out, data = ctypes.create_string_buffer(size + 1), bytes(data)
    got = _library.ZSTD_decompress(out, size, data, len(data))
    return out.raw[:size] if got == size else None
