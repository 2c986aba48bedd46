/* SPDX-License-Identifier: Apache-2.0
 *
 * Encoding: https://protobuf.dev/programming-guides/encoding. A field is its number
 * and wire type (0: varint, 1: eight bytes, 2: length and bytes), then the value. */
#define _GNU_SOURCE /* fwrite_unlocked */
#include "viewer/common/proto_writer.h"

#include <stdlib.h>

void vs_proto_fields(struct vs_proto *message, const uint64_t *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (values[i])
            vs_proto_uint(message, i + 1, values[i]);
}

void vs_proto_packed(struct vs_proto *message, unsigned field, const uint64_t *values, size_t count)
{
    unsigned char bytes[VS_VARINT_MAX];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += vs_proto_varint(bytes, values[i]);
    unsigned char *at = vs_proto_room(message, field << 3 | VS_PROTO_LENGTH, length, length);
    for (size_t i = 0; i < count; i++)
        at += vs_proto_varint(at, values[i]);
}

void vs_proto_fixed64(struct vs_proto *message, unsigned field, uint64_t value)
{
    /* The first byte is a varint of 0. */
    unsigned char *at = vs_proto_room(message, field << 3 | VS_PROTO_FIXED64, 0, sizeof value - 1);
    memcpy(at - 1, &value, sizeof value);
}

void vs_proto_text(struct vs_proto *message, unsigned field, const char *text)
{
    char *valid = vs_xvalid(text);
    vs_proto_bytes(message, field, valid ? valid : text, strlen(valid ? valid : text));
    free(valid);
}

static void write_field(FILE *out, unsigned field, const void *bytes, size_t count)
{
    unsigned char head[2 * VS_VARINT_MAX];
    size_t n = vs_proto_varint(head, field << 3 | VS_PROTO_LENGTH);
    n += vs_proto_varint(head + n, count);
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
    unsigned char bytes[2 * VS_VARINT_MAX];
    size_t n = vs_proto_varint(bytes, field << 3 | VS_PROTO_VARINT);
    n += vs_proto_varint(bytes + n, value);
    fwrite(bytes, 1, n, out);
}
