/* SPDX-License-Identifier: Apache-2.0
 *
 * Protocol buffers. A message is built in memory field by field, and written into another one, or to
 * a file as a field of the outermost message. Not thread-safe. */
#ifndef VS_PROTO_WRITER_H
#define VS_PROTO_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/reading/vs_vec.h"

/* A message. Zero-initialise; free(bytes). */
struct vs_proto {
    unsigned char *bytes;
    size_t count, capacity;
};

/* The wire types of fields. */
enum { VS_PROTO_VARINT = 0, VS_PROTO_FIXED64 = 1, VS_PROTO_LENGTH = 2, VS_VARINT_MAX = 10 };

static inline size_t vs_proto_varint(unsigned char *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

/* vs_proto_room: the begin of a field, with room for *more* bytes behind its number and its value. */
static inline unsigned char *vs_proto_room(struct vs_proto *message, uint64_t key, uint64_t value, size_t more)
{
    size_t most = message->count + 2 * VS_VARINT_MAX + more;
    if (most > message->capacity)
        vs_vec_room(&message->bytes, &message->capacity, most, 1);
    message->count += vs_proto_varint(message->bytes + message->count, key);
    message->count += vs_proto_varint(message->bytes + message->count, value);
    message->count += more;
    return message->bytes + message->count - more;
}

/* vs_proto_uints: the numbers that follow, as fields 1, 2, …; those that are 0 are left out. */
#define vs_proto_uints(message, ...)                                \
    vs_proto_fields((message), (const uint64_t[]){__VA_ARGS__}, \
                    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
void vs_proto_fields(struct vs_proto *message, const uint64_t *values, unsigned count);
/* vs_proto_uint: a number, also 0, as field *field*; _fixed64: in eight bytes; _text: a string, with U+FFFD for
 * bytes that are not UTF-8. */
static inline void vs_proto_uint(struct vs_proto *message, unsigned field, uint64_t value)
{
    vs_proto_room(message, field << 3 | VS_PROTO_VARINT, value, 0);
}
void vs_proto_fixed64(struct vs_proto *message, unsigned field, uint64_t value);
void vs_proto_text(struct vs_proto *message, unsigned field, const char *text);
/* vs_proto_begin: what is added until _end belongs to a message inside *message*, its field *field*; _end takes
 * what _begin returned. A message of 128 bytes or more is moved. */
static inline size_t vs_proto_begin(struct vs_proto *message, unsigned field)
{
    vs_proto_room(message, field << 3 | VS_PROTO_LENGTH, 0, 0); /* the length is the last byte, or more than it later */
    return message->count;
}

static inline void vs_proto_end(struct vs_proto *message, size_t at)
{
    unsigned char length[VS_VARINT_MAX];
    size_t count = message->count - at, more = vs_proto_varint(length, count) - 1;
    if (more) {
        vs_vec_room(&message->bytes, &message->capacity, message->count + more, 1);
        memmove(message->bytes + at + more, message->bytes + at, count);
        message->count += more;
    }
    memcpy(message->bytes + at - 1, length, more + 1);
}

static inline void vs_proto_bytes(struct vs_proto *message, unsigned field, const void *bytes, size_t count)
{
    unsigned char *at = vs_proto_room(message, field << 3 | VS_PROTO_LENGTH, count, count);
    if (count)
        memcpy(at, bytes, count);
}
/* vs_proto_packed: several numbers as one field. */
void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values,
                     size_t count);

/* vs_proto_write: writes *message* as field *field* of the outermost message, and empties it.
 * _text, _uint: likewise a string, also an empty one, or a number. The caller checks *out*. */
void vs_proto_write(FILE *out, unsigned field, struct vs_proto *message);
void vs_proto_write_text(FILE *out, unsigned field, const char *text);
void vs_proto_write_uint(FILE *out, unsigned field, uint64_t value);

#endif
