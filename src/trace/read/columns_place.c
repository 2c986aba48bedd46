/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the columns of a frame lie (columns.h): the directory at their front says how long each is.
 * The bytes are not trusted: every column ends within them. What is in the columns is decoded like
 * rows (reader.c). */
#include "trace/read/reader_internal.h"

/* Takes the next column. A constant one must be one varint. */
static bool place(struct vs_lane *lane, size_t bytes, unsigned flags, const unsigned char **p,
                  const unsigned char *end)
{
    if (bytes > (size_t)(end - *p))
        return false;
    const unsigned char *after = lane->next = *p;
    uint64_t value;
    lane->end = *p += bytes;
    return !(flags & VS_COLUMN_CONSTANT) ||
           (vs_get_varint(&after, lane->end, &value) && after == lane->end);
}

bool vs_columns_place(struct vs_columns *c, const unsigned char *p, size_t size)
{
    const unsigned char *end = p + size;
    uint64_t bytes[VS_COLUMNS_FIXED], kinds, code = 0, fields, coded;
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++)
        if (!vs_get_varint(&p, end, &bytes[i]))
            return false;
    if (!vs_get_varint(&p, end, &kinds))
        return false;
    c->addresses = 0;
    for (unsigned i = 0; i <= VS_EVENT_CODE_MAX; i++)
        c->kinds[i].count = 0;
    for (uint64_t last = 0; kinds; kinds--, last = code) { /* codes increase, so that this ends */
        if (!vs_get_varint(&p, end, &code) || !vs_get_varint(&p, end, &fields) || code <= last ||
            code > VS_EVENT_CODE_MAX || fields > VS_KIND_FIELDS_MAX)
            return false;
        c->kinds[code].count = (unsigned)fields;
        for (unsigned i = 0; i < fields; i++) {
            if (!vs_get_varint(&p, end, &coded))
                return false;
            c->kinds[code].bytes[i] = (size_t)(coded >> VS_COLUMN_FLAG_BITS);
            c->kinds[code].flags[i] = coded & (VS_COLUMN_ADDRESS | VS_COLUMN_CONSTANT);
        }
    }
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++)
        if (!place(&c->fixed[i], (size_t)bytes[i], 0, &p, end))
            return false;
    for (code = 1; code <= VS_EVENT_CODE_MAX; code++) {
        struct vs_kind_columns *kind = &c->kinds[code];
        for (unsigned i = 0; i < kind->count; i++)
            if (!place(&kind->lanes[i], kind->bytes[i], kind->flags[i], &p, end))
                return false;
    }
    return p == end;
}

bool vs_reader_left_over(const struct vs_reader *r)
{
    const struct vs_columns *c = r->columns;
    bool left = false;
    if (r->fixed[VS_COLUMN_HEADS] == &r->rows)
        return false;
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++)
        left |= c->fixed[i].next != c->fixed[i].end;
    for (unsigned code = 1; code <= VS_EVENT_CODE_MAX; code++)
        for (unsigned i = 0; i < c->kinds[code].count; i++)
            left |= c->kinds[code].lanes[i].next != c->kinds[code].lanes[i].end &&
                    !(c->kinds[code].flags[i] & VS_COLUMN_CONSTANT);
    return left;
}
