/* SPDX-License-Identifier: Apache-2.0
 *
 * Protocol buffers. A message is built in memory field by field, and written into another one, or to
 * a file as a field of the outermost message. Not thread-safe. */
#ifndef VS_PROTO_WRITER_H
#define VS_PROTO_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A message. Zero-initialise; free(bytes). */
struct vs_proto {
    unsigned char *bytes;
    size_t count, capacity;
};

/* vs_proto_uints: the numbers that follow, as fields 1, 2, …; those that are 0 are left out. */
#define vs_proto_uints(message, ...)                                \
    vs_proto_fields((message), (const uint64_t[]){__VA_ARGS__}, \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void vs_proto_fields(struct vs_proto *message, const uint64_t *values, unsigned count);
/* vs_proto_uint: a number, also 0, as field *field*; _fixed64: in eight bytes; _text: a string, with U+FFFD for
 * bytes that are not UTF-8. */
void vs_proto_uint(struct vs_proto *message, unsigned field, uint64_t value);
void vs_proto_fixed64(struct vs_proto *message, unsigned field, uint64_t value);
void vs_proto_text(struct vs_proto *message, unsigned field, const char *text);
/* vs_proto_begin: what is added until _end belongs to a message inside *message*, its field *field*; _end takes
 * what _begin returned. A message of 128 bytes or more is moved. */
size_t vs_proto_begin(struct vs_proto *message, unsigned field);
void vs_proto_end(struct vs_proto *message, size_t at);
void vs_proto_bytes(struct vs_proto *message, unsigned field, const void *bytes, size_t count);
/* vs_proto_packed: several numbers as one field. */
void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values,
                     size_t count);

/* vs_proto_write: writes *message* as field *field* of the outermost message, and empties it.
 * _text, _uint: likewise a string, also an empty one, or a number. The caller checks *out*. */
void vs_proto_write(FILE *out, unsigned field, struct vs_proto *message);
void vs_proto_write_text(FILE *out, unsigned field, const char *text);
void vs_proto_write_uint(FILE *out, unsigned field, uint64_t value);

#endif
