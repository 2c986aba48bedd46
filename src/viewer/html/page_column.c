/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. A text ends after TEXT_BYTES of compressed data, so that a browser never has to
 * hold a longer one; the columns run on from one text to the next. */
#include "viewer/html/page_column.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analysis/state/vec.h"

#define PIECE_BYTES ((size_t)256 << 10)
#define TEXT_BYTES ((size_t)2800 << 10) /* of deflate: 3.8 MB of base64 */
#define LEVEL 6

struct vs_column_piece {
    struct vs_column_piece *next;
    size_t used; /* of all but the newest */
    unsigned char bytes[PIECE_BYTES];
};

const char *vs_column_type_name(enum vs_column_type type)
{
    return type == VS_COLUMN_U8 ? "u8" : type == VS_COLUMN_VARINT ? "varint" : "delta";
}

static size_t used_of(const struct vs_column *column, const struct vs_column_piece *piece)
{
    return piece == column->newest ? (size_t)(column->next - piece->bytes) : piece->used;
}

bool vs_column_room(struct vs_column *column)
{
    struct vs_column_piece *piece = column->failed ? NULL : malloc(sizeof *piece);
    if (!piece) {
        column->failed = true;
        return false;
    }
    piece->next = NULL;
    if (column->newest) {
        column->newest->used = used_of(column, column->newest);
        column->bytes += column->newest->used;
        column->newest->next = piece;
    } else {
        column->first = piece;
    }
    column->newest = piece;
    column->next = piece->bytes;
    column->end = piece->bytes + PIECE_BYTES;
    return true;
}

void vs_column_free(struct vs_column *column)
{
    for (struct vs_column_piece *piece = column->first, *next; piece; piece = next) {
        next = piece->next;
        free(piece);
    }
    column->first = column->newest = NULL;
    column->next = column->end = NULL;
}

/* --- packing --- */

struct section_packer {
    struct vs_section *section;
    z_stream stream;
    bool open;
    unsigned char *out; /* TEXT_BYTES and more: one piece may be added beyond */
    size_t capacity;
};

static void put_base64(char *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (; count >= 3; count -= 3, bytes += 3, out += 4) {
        uint32_t bits = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
        out[0] = digits[bits >> 18];
        out[1] = digits[bits >> 12 & 63];
        out[2] = digits[bits >> 6 & 63];
        out[3] = digits[bits & 63];
    }
    if (count) {
        uint32_t bits = (uint32_t)bytes[0] << 16 | (count > 1 ? (uint32_t)bytes[1] << 8 : 0);
        out[0] = digits[bits >> 18];
        out[1] = digits[bits >> 12 & 63];
        out[2] = count > 1 ? digits[bits >> 6 & 63] : '=';
        out[3] = '=';
    }
}

static enum vs_err keep_text(struct section_packer *packer)
{
    struct vs_section *section = packer->section;
    size_t bytes = packer->stream.total_out, length = (bytes + 2) / 3 * 4;
    enum vs_err err = vs_vec_grow(&section->texts, &section->text_capacity, section->text_count + 1,
                                  sizeof *section->texts);
    if (!err)
        err = vs_vec_grow(&section->lengths, &section->length_capacity, section->text_count + 1,
                          sizeof *section->lengths);
    char *text = err ? NULL : malloc(length);
    if (!text)
        return VS_ERR_NOMEM;
    put_base64(text, packer->out, bytes);
    section->texts[section->text_count] = text;
    section->lengths[section->text_count++] = length;
    return VS_OK;
}

static enum vs_err open_stream(struct section_packer *packer)
{
    packer->stream = (z_stream){0};
    if (deflateInit2(&packer->stream, LEVEL, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return VS_ERR_NOMEM;
    packer->open = true;
    packer->stream.next_out = packer->out;
    packer->stream.avail_out = (uInt)packer->capacity;
    return VS_OK;
}

static enum vs_err close_stream(struct section_packer *packer)
{
    /* the buffer has room for everything: deflate finishes in one call */
    enum vs_err err = deflate(&packer->stream, Z_FINISH) == Z_STREAM_END ? keep_text(packer)
                                                                         : VS_ERR_NOMEM;
    deflateEnd(&packer->stream);
    packer->open = false;
    return err;
}

static enum vs_err pack_piece(struct section_packer *packer, unsigned char *bytes, size_t count)
{
    enum vs_err err = packer->open ? VS_OK : open_stream(packer);
    if (err)
        return err;
    packer->stream.next_in = bytes;
    packer->stream.avail_in = (uInt)count;
    if (deflate(&packer->stream, Z_NO_FLUSH) != Z_OK || packer->stream.avail_in)
        return VS_ERR_NOMEM;
    return packer->stream.total_out < TEXT_BYTES ? VS_OK : close_stream(packer);
}

static enum vs_err pack_column(struct section_packer *packer, struct vs_column *column)
{
    enum vs_err err = column->failed ? VS_ERR_NOMEM : VS_OK;
    if (column->newest)
        column->bytes += used_of(column, column->newest);
    while (!err && column->first) {
        struct vs_column_piece *piece = column->first;
        size_t count = used_of(column, piece);
        if (count)
            err = pack_piece(packer, piece->bytes, count);
        column->first = piece->next;
        free(piece);
    }
    if (!column->first)
        column->newest = NULL, column->next = column->end = NULL;
    return err;
}

enum vs_err vs_section_pack(struct vs_section *section)
{
    struct section_packer packer = {.section = section, .capacity = TEXT_BYTES + 2 * PIECE_BYTES};
    packer.out = malloc(packer.capacity);
    enum vs_err err = packer.out ? VS_OK : VS_ERR_NOMEM;
    for (size_t i = 0; !err && i < section->column_count; i++)
        err = pack_column(&packer, &section->columns[i]);
    if (packer.open && !err)
        err = close_stream(&packer);
    if (packer.open)
        deflateEnd(&packer.stream);
    free(packer.out);
    return err;
}

void vs_section_free(struct vs_section *section)
{
    for (size_t i = 0; i < section->column_count; i++)
        vs_column_free(&section->columns[i]);
    for (size_t i = 0; i < section->text_count; i++)
        free(section->texts[i]);
    free(section->texts);
    free(section->lengths);
    section->texts = NULL;
    section->lengths = NULL;
    section->text_count = section->text_capacity = section->length_capacity = 0;
}
