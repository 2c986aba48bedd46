/* SPDX-License-Identifier: Apache-2.0
 *
 * Protocol buffers, as far as a profile needs them: a message is built in memory field by field, and
 * written into another one, or to a gzipped file as a field of the outermost message. Numbers that
 * are 0 are left out, as the encoding allows. Not thread-safe. */
#ifndef VS_PROTO_WRITER_H
#define VS_PROTO_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vs_err.h"

/* A message. Zero-initialise; free(bytes). */
struct vs_proto {
    unsigned char *bytes;
    size_t count, capacity;
};

void vs_proto_uint(struct vs_proto *message, unsigned field, uint64_t value);
void vs_proto_bytes(struct vs_proto *message, unsigned field, const void *bytes, size_t count);
/* vs_proto_packed: several numbers as one field. */
void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values,
                     size_t count);

struct vs_gzip;

/* vs_gzip_open: what is written goes to *out*. */
void vs_gzip_open(FILE *out, struct vs_gzip **gzip);

/* vs_gzip_message: writes *message* as field *field*, and empties it. */
void vs_gzip_message(struct vs_gzip *gzip, unsigned field, struct vs_proto *message);
/* vs_gzip_text, vs_gzip_uint: likewise a string, also an empty one, or a number. */
void vs_gzip_text(struct vs_gzip *gzip, unsigned field, const char *text);
void vs_gzip_uint(struct vs_gzip *gzip, unsigned field, uint64_t value);

/* vs_gzip_close: completes the file. Returns the first error of all calls: VS_ERR_LIMIT, or
 * VS_ERR_IO (errno). */
enum vs_err vs_gzip_close(struct vs_gzip *gzip) VS_MUST_CHECK;

#endif
