/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#define _GNU_SOURCE /* fopencookie */
#include "viewer/common/gzip_stream.h"

#include <unistd.h>
#include <zlib.h>

#include "base/reading/vs_xalloc.h"

#define BUFFER_BYTES 65536

static ssize_t gzip_write(void *gzip, const char *bytes, size_t count)
{
    return (ssize_t)gzfwrite(bytes, 1, count, gzip);
}

static int gzip_close(void *gzip)
{
    return gzclose(gzip) == Z_OK ? 0 : EOF;
}

FILE *vs_gzip_stream(FILE *out)
{
    static const cookie_io_functions_t functions = {.write = gzip_write, .close = gzip_close};
    fflush(out);
    gzFile gzip = gzdopen(dup(fileno(out)), "wb");
    FILE *stream = gzip && !gzbuffer(gzip, BUFFER_BYTES) ? fopencookie(gzip, "w", functions) : NULL;
    if (!stream)
        vs_out_of_memory();
    setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
    return stream;
}
