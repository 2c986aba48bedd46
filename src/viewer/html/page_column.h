/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of numbers, as the HTML page decodes them: values are encoded when they are added and
 * kept in pieces of memory, then all columns of a section are compressed (raw deflate) into
 * texts of at most 4 MB each, 7 bits in a character. Not thread-safe. */
#ifndef VS_PAGE_COLUMN_H
#define VS_PAGE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vs_column_type {
    VS_COLUMN_U8,
    VS_COLUMN_VARINT, /* LEB128, unsigned */
    VS_COLUMN_DELTA,  /* zigzag LEB128 of the difference to the value before, the first one to 0 */
    /* All lowest bytes, then all second ones, and so on, each up to the last that is not 0: of values that never
     * repeat, deflate then finds the bits that do. */
    VS_COLUMN_PLANES,
    VS_COLUMN_PLANES_SIGNED, /* zigzag */
    VS_COLUMN_PLANES_DELTA,  /* zigzag of the difference, as above */
    VS_COLUMN_PLANES_FREED,  /* zigzag of the difference to the row that was freed last, which the caller adds */
    VS_COLUMN_TYPES
};

/* vs_column_type_name: "u8", "varint", "delta", "planes", "planes_signed", "planes_delta", "planes_freed". */
const char *vs_column_type_name(enum vs_column_type type);

struct vs_column_piece;

struct vs_column {
    char name[24];
    enum vs_column_type type;
    uint64_t count, bytes; /* values; encoded bytes */
    uint64_t last;         /* the value before */
    unsigned char *next, *end; /* of the newest piece; a value begins before *end* */
    struct vs_column_piece *first, *newest;
    struct vs_column *planes; /* VS_PLANES_MAX; NULL: all values are 0, or the type has none */
};

#define VS_PLANES_MAX 8

#define VS_VARINT_MAX 10

/* vs_column_room: a piece with room for one more value. */
void vs_column_room(struct vs_column *column);

/* vs_column_planes: appends *value*, which is not negative, to the planes. */
void vs_column_planes(struct vs_column *column, uint64_t value);

/* vs_column_add: appends *value*; of a u8 column its lowest byte. */
static inline void vs_column_add(struct vs_column *column, uint64_t value)
{
    uint64_t left = value;
    if (column->type == VS_COLUMN_DELTA || column->type > VS_COLUMN_PLANES) {
        int64_t step = (int64_t)(value - column->last);
        left = (uint64_t)step << 1 ^ (uint64_t)(step >> 63);
        if (column->type == VS_COLUMN_DELTA || column->type == VS_COLUMN_PLANES_DELTA)
            column->last = value;
    }
    if (column->type >= VS_COLUMN_PLANES) {
        vs_column_planes(column, left);
        return;
    }
    if (column->next >= column->end)
        vs_column_room(column);
    column->count++;
    unsigned char *p = column->next;
    if (column->type != VS_COLUMN_U8)
        for (; left >= 0x80; left >>= 7)
            *p++ = (unsigned char)(left | 0x80);
    *p++ = (unsigned char)left;
    column->next = p;
}

/* A section of the page: columns, and after vs_sections_pack their texts. Zero-initialise, then set
 * name. */
struct vs_section {
    const char *name; /* not owned */
    struct vs_column *columns;
    size_t column_count, column_capacity;
    bool unordered;   /* the first column, which should ascend, does not */
    char **texts;     /* each of a deflate stream of its own */
    size_t *lengths;
    size_t text_count, text_capacity, length_capacity;
};

/* vs_section_column: adds a column, whose name is the formatted text; valid until the next one is
 * added. */
struct vs_column *vs_section_column(struct vs_section *section, enum vs_column_type type,
                                    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* vs_sections_pack: compresses the columns, whose pieces are freed on the way; their counts stay.
 * No texts where there are no values. Uses the machine's processors. */
void vs_sections_pack(struct vs_section *sections, size_t count);

void vs_section_free(struct vs_section *section);

#endif
