# SPDX-License-Identifier: Apache-2.0
"""unzstd(data, size): decompress zstd with any available library.

The first of these is used: the standard library's (3.14), the `zstandard` package, libzstd through
ctypes. At most *size* + 1 bytes are decompressed. Returns None if the result is not exactly *size*
bytes.
"""
import ctypes
import ctypes.util


def _standard():
    from compression import zstd

    def unzstd(data, size):
        out, data = b"", bytes(data)
        try:
            while data and len(out) <= size: # one frame after the other
                one = zstd.ZstdDecompressor()
                out += one.decompress(data, max_length=size + 1 - len(out))
                if not one.eof:
                    return None
                data = one.unused_data
        except zstd.ZstdError:
            return None
        return out if len(out) == size else None
    return unzstd


def _package():
    import zstandard

    def unzstd(data, size):
        try:
            out = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True).read(size + 1)
        except zstandard.ZstdError:
            return None
        return out if len(out) == size else None
    return unzstd


def _library():
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p,
                                        ctypes.c_size_t]

    def unzstd(data, size):
        out = ctypes.create_string_buffer(size + 1)
        data = bytes(data)
        got = library.ZSTD_decompress(out, size, data, len(data))
        return out.raw[:size] if got == size else None
    return unzstd


def _find():
    for find in (_standard, _package, _library):
        try:
            return find()
        except (ImportError, OSError, AttributeError):
            continue
    raise ImportError("reading a trace needs zstd: Python 3.14, the package 'zstandard' "
                      "(pip install zstandard) or the library libzstd (apt install libzstd1)")


unzstd = _find()
