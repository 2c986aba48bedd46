/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that compresses the bytes written to it. Not thread-safe. */
#ifndef VS_GZIP_STREAM_H
#define VS_GZIP_STREAM_H

#include <stdio.h>

/* vs_gzip_stream: returns a stream; the bytes written to it are compressed and written to *out*. fclose
 * writes the end of the compressed data and leaves *out* open. When a write to *out* fails, the write
 * to the stream, or fclose, fails with the same errno. */
FILE *vs_gzip_stream(FILE *out);

#endif
