/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream that compresses what is written to it. Not thread-safe. */
#ifndef VS_GZIP_STREAM_H
#define VS_GZIP_STREAM_H

#include <stdio.h>

/* vs_gzip_stream: what is written to the returned stream is compressed into *out*, which stays open.
 * fclose completes the compressed data; it, or a write, fails with the errno of *out*. */
FILE *vs_gzip_stream(FILE *out);

#endif
