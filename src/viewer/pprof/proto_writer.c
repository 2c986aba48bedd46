/* SPDX-License-Identifier: Apache-2.0
 *
 * Encoding: https://protobuf.dev/programming-guides/encoding. A field is its number
 * and wire type (0: varint, 2: length and bytes), then the value. */
#include "viewer/pprof/pprof_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/reading/vs_vec.h"

#define VARINT 0u
#define LENGTH 2u
#define VARINT_MAX 10
#define BUFFER_BYTES 65536
#define GZIP_WINDOW (15 + 16) /* 16: with the header of gzip */

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

static void append_varint(struct vs_proto *message, uint64_t value)
{
    unsigned char bytes[VARINT_MAX];
    append(message, bytes, varint(bytes, value));
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

struct vs_gzip {
    FILE *out;
    z_stream stream;
    enum vs_err err;
    int saved_errno;
    unsigned char buffer[BUFFER_BYTES];
};

void vs_gzip_open(FILE *out, struct vs_gzip **result)
{
    struct vs_gzip *gzip = vs_xcalloc(1, sizeof *gzip);
    gzip->out = out;
    if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        vs_out_of_memory();
    *result = gzip;
}

static void compress_bytes(struct vs_gzip *gzip, const void *bytes, size_t count, int flush)
{
    gzip->stream.next_in = (Bytef *)(uintptr_t)bytes;
    gzip->stream.avail_in = (uInt)count;
    while (!gzip->err) {
        gzip->stream.next_out = gzip->buffer;
        gzip->stream.avail_out = BUFFER_BYTES;
        int code = deflate(&gzip->stream, flush);
        size_t made = BUFFER_BYTES - gzip->stream.avail_out;
        if (made && fwrite(gzip->buffer, 1, made, gzip->out) != made) {
            gzip->err = VS_ERR_IO;
            gzip->saved_errno = errno;
        }
        if (gzip->stream.avail_out || code == Z_STREAM_END)
            return;
    }
}

static void write_field(struct vs_gzip *gzip, unsigned field, const void *bytes, size_t count)
{
    unsigned char head[2 * VARINT_MAX];
    size_t n = varint(head, field << 3 | LENGTH);
    n += varint(head + n, count);
    if (count > UINT32_MAX / 2)
        gzip->err = gzip->err ? gzip->err : VS_ERR_LIMIT;
    compress_bytes(gzip, head, n, Z_NO_FLUSH);
    compress_bytes(gzip, bytes, count, Z_NO_FLUSH);
}

void vs_gzip_message(struct vs_gzip *gzip, unsigned field, struct vs_proto *message)
{
    write_field(gzip, field, message->bytes, message->count);
    message->count = 0;
}

void vs_gzip_text(struct vs_gzip *gzip, unsigned field, const char *text)
{
    write_field(gzip, field, text, strlen(text));
}

void vs_gzip_uint(struct vs_gzip *gzip, unsigned field, uint64_t value)
{
    unsigned char bytes[2 * VARINT_MAX];
    size_t n = varint(bytes, field << 3 | VARINT);
    n += varint(bytes + n, value);
    compress_bytes(gzip, bytes, n, Z_NO_FLUSH);
}

enum vs_err vs_gzip_close(struct vs_gzip *gzip)
{
    compress_bytes(gzip, "", 0, Z_FINISH);
    deflateEnd(&gzip->stream);
    enum vs_err err = gzip->err;
    errno = gzip->saved_errno;
    free(gzip);
    return err;
}
