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

static size_t varint(unsigned char out[VARINT_MAX], uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        out[n++] = (unsigned char)(value | 0x80);
    out[n++] = (unsigned char)value;
    return n;
}

static void append(struct vs_proto *message, const void *bytes, size_t count)
{
    if (!count)
        return;
    vs_vec_room(&message->bytes, &message->capacity, message->count + count, 1);
    memcpy(message->bytes + message->count, bytes, count);
    message->count += count;
}

static inline void append_varint(struct vs_proto *message, uint64_t value)
{
    if (message->count + VARINT_MAX > message->capacity)
        vs_vec_room(&message->bytes, &message->capacity, message->count + VARINT_MAX, 1);
    if (value < 0x80)
        message->bytes[message->count++] = (unsigned char)value;
    else
        message->count += varint(message->bytes + message->count, value);
}

void vs_proto_fields(struct vs_proto *message, const uint64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (values[i]) {
            append_varint(message, (i + 1) << 3 | VARINT);
            append_varint(message, values[i]);
        }
}

void vs_proto_bytes(struct vs_proto *message, unsigned field, const void *bytes, size_t count)
{
    append_varint(message, field << 3 | LENGTH);
    append_varint(message, count);
    append(message, bytes, count);
}

void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values, size_t count)
{
    unsigned char bytes[VARINT_MAX];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += varint(bytes, values[i]);
    append_varint(message, field << 3 | LENGTH);
    append_varint(message, length);
    for (size_t i = 0; i < count; i++)
        append_varint(message, values[i]);
}

void vs_proto_uint(struct vs_proto *message, unsigned field, uint64_t value)
{
    append_varint(message, field << 3 | VARINT);
    append_varint(message, value);
}

void vs_proto_fixed64(struct vs_proto *message, unsigned field, uint64_t value)
{
    append_varint(message, field << 3 | FIXED64);
    append(message, &value, sizeof value);
}

void vs_proto_text(struct vs_proto *message, unsigned field, const char *text)
{
    char *valid = vs_xvalid(text);
    vs_proto_bytes(message, field, valid ? valid : text, strlen(valid ? valid : text));
    free(valid);
}

void vs_proto_message(struct vs_proto *message, unsigned field, struct vs_proto *inner)
{
    vs_proto_bytes(message, field, inner->bytes, inner->count);
    inner->count = 0;
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
