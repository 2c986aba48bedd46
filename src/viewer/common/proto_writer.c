/* SPDX-License-Identifier: Apache-2.0
 *
 * Encoding: https://protobuf.dev/programming-guides/encoding. A field is its number
 * and wire type (0: varint, 1: eight bytes, 2: length and bytes), then the value. */
#define _GNU_SOURCE /* fwrite_unlocked */
#include "viewer/common/proto_writer.h"

#include <string.h>

#include "base/reading/vs_vec.h"

#define VARINT 0u
#define FIXED64 1u
#define LENGTH 2u
#define VARINT_MAX 10

static inline size_t varint(unsigned char *out, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

/* The begin of a field, with room for *more* bytes behind its number and its value. */
static inline unsigned char *begin(struct vs_proto *message, uint64_t key, uint64_t value, size_t more)
{
    size_t most = message->count + 2 * VARINT_MAX + more;
    if (most > message->capacity)
        vs_vec_room(&message->bytes, &message->capacity, most, 1);
    message->count += varint(message->bytes + message->count, key);
    message->count += varint(message->bytes + message->count, value);
    message->count += more;
    return message->bytes + message->count - more;
}

void vs_proto_fields(struct vs_proto *message, const uint64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (values[i])
            vs_proto_uint(message, i + 1, values[i]);
}

void vs_proto_bytes(struct vs_proto *message, unsigned field, const void *bytes, size_t count)
{
    unsigned char *at = begin(message, field << 3 | LENGTH, count, count);
    if (count)
        memcpy(at, bytes, count);
}

void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values, size_t count)
{
    unsigned char bytes[VARINT_MAX];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += varint(bytes, values[i]);
    unsigned char *at = begin(message, field << 3 | LENGTH, length, length);
    for (size_t i = 0; i < count; i++)
        at += varint(at, values[i]);
}

void vs_proto_uint(struct vs_proto *message, unsigned field, uint64_t value)
{
    begin(message, field << 3 | VARINT, value, 0);
}

void vs_proto_fixed64(struct vs_proto *message, unsigned field, uint64_t value)
{
    unsigned char *at = begin(message, field << 3 | FIXED64, 0, sizeof value - 1); /* the first byte is a varint of 0 */
    memcpy(at - 1, &value, sizeof value);
}

void vs_proto_text(struct vs_proto *message, unsigned field, const char *text)
{
    char *valid = vs_xvalid(text);
    vs_proto_bytes(message, field, valid ? valid : text, strlen(valid ? valid : text));
    free(valid);
}

size_t vs_proto_begin(struct vs_proto *message, unsigned field)
{
    begin(message, field << 3 | LENGTH, 0, 0); /* the length is the last byte, or more than it later */
    return message->count;
}

void vs_proto_end(struct vs_proto *message, size_t at)
{
    unsigned char length[VARINT_MAX];
    size_t count = message->count - at, more = varint(length, count) - 1;
    if (more) {
        vs_vec_room(&message->bytes, &message->capacity, message->count + more, 1);
        memmove(message->bytes + at + more, message->bytes + at, count);
        message->count += more;
    }
    memcpy(message->bytes + at - 1, length, more + 1);
}

static void write_field(FILE *out, unsigned field, const void *bytes, size_t count)
{
    unsigned char head[2 * VARINT_MAX];
    size_t n = varint(head, field << 3 | LENGTH);
    n += varint(head + n, count);
    fwrite_unlocked(head, 1, n, out);
    fwrite_unlocked(bytes, 1, count, out);
}

void vs_proto_write(FILE *out, unsigned field, struct vs_proto *message)
{
    write_field(out, field, message->bytes, message->count);
    message->count = 0;
}

void vs_proto_write_text(FILE *out, unsigned field, const char *text)
{
    write_field(out, field, text, strlen(text));
}

void vs_proto_write_uint(FILE *out, unsigned field, uint64_t value)
{
    unsigned char bytes[2 * VARINT_MAX];
    size_t n = varint(bytes, field << 3 | VARINT);
    n += varint(bytes + n, value);
    fwrite(bytes, 1, n, out);
}
