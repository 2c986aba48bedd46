/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#define _GNU_SOURCE /* fopencookie */
#include "viewer/common/gzip_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/reading/vs_xalloc.h"

#define BUFFER_BYTES 65536
#define PIECE_MAX ((size_t)1 << 30) /* zlib counts in 32 bits */
#define GZIP_WINDOW (15 + 16) /* 16: with the header of gzip */

struct gzip {
    FILE *out;
    z_stream stream;
    bool failed;
    unsigned char buffer[BUFFER_BYTES];
};

static bool compress_bytes(struct gzip *gzip, const void *bytes, size_t count, int flush)
{
    int code = Z_OK;
    gzip->stream.next_in = (Bytef *)(uintptr_t)bytes;
    gzip->stream.avail_in = (uInt)count;
    do {
        gzip->stream.next_out = gzip->buffer;
        gzip->stream.avail_out = BUFFER_BYTES;
        code = deflate(&gzip->stream, flush);
        size_t made = BUFFER_BYTES - gzip->stream.avail_out;
        gzip->failed |= made && fwrite(gzip->buffer, 1, made, gzip->out) != made;
    } while (!gzip->failed && !gzip->stream.avail_out && code != Z_STREAM_END);
    return !gzip->failed;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t count)
{
    bool written = true;
    for (size_t at = 0; written && at < count; at += PIECE_MAX)
        written = compress_bytes(cookie, bytes + at, count - at < PIECE_MAX ? count - at : PIECE_MAX,
                                 Z_NO_FLUSH);
    return written ? (ssize_t)count : 0;
}

static int gzip_close(void *cookie)
{
    struct gzip *gzip = cookie;
    bool done = compress_bytes(gzip, "", 0, Z_FINISH);
    deflateEnd(&gzip->stream);
    free(gzip);
    return done ? 0 : EOF;
}

FILE *vs_gzip_stream(FILE *out)
{
    static const cookie_io_functions_t functions = {.write = gzip_write, .close = gzip_close};
    struct gzip *gzip = vs_xcalloc(1, sizeof *gzip);
    gzip->out = out;
    FILE *stream = fopencookie(gzip, "w", functions);
    if (!stream || deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                                Z_DEFAULT_STRATEGY) != Z_OK)
        vs_out_of_memory();
    setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
    return stream;
}
