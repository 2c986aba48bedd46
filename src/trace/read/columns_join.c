/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns to rows (columns.h). The bytes are not trusted: every read ends at its column, every
 * write at the size in the frame's header. Records are only put together here, not checked; the
 * reader decodes them like any others. */
#include "trace/format/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"

struct columns_join_lane {
    const unsigned char *p, *end;
    size_t bytes;
    unsigned flags;
};

/* A field; or several that follow each other and never change: their varints are stored one after
 * the other as in every row. */
struct columns_join_step {
    struct columns_join_lane *lane; /* NULL: constant */
    const unsigned char *from;
    size_t bytes;
};

struct kind {
    bool known;
    unsigned fields, steps;
    struct columns_join_lane lanes[VS_KIND_FIELDS_MAX];
    struct columns_join_step plan[VS_KIND_FIELDS_MAX];
};

struct vs_joiner {
    struct columns_join_lane fixed[VS_COLUMNS_FIXED];
    struct kind kinds[VS_EVENT_CODE_MAX + 1];
    uint64_t last_address;
    uint32_t addresses; /* in the frame up to here */
    uint64_t recent[VS_COLUMN_DISTANCE_END];
};

struct vs_joiner *vs_joiner_open(void)
{
    return vs_xcalloc(1, sizeof(struct vs_joiner));
}

void vs_joiner_close(struct vs_joiner *j)
{
    free(j);
}

/* --- the directory --- */

static bool get_kind(struct vs_joiner *j, const unsigned char **p, const unsigned char *end,
                     uint64_t *last_code)
{
    uint64_t code, fields, coded;
    if (!vs_get_varint(p, end, &code) || !vs_get_varint(p, end, &fields) || code <= *last_code ||
        code > VS_EVENT_CODE_MAX || fields > VS_KIND_FIELDS_MAX)
        return false;
    struct kind *kind = &j->kinds[code];
    kind->known = true;
    kind->fields = (unsigned)fields;
    *last_code = code;
    for (unsigned i = 0; i < fields; i++) {
        if (!vs_get_varint(p, end, &coded))
            return false;
        kind->lanes[i].bytes = (size_t)(coded >> VS_COLUMN_FLAG_BITS);
        kind->lanes[i].flags = (unsigned)coded & (VS_COLUMN_ADDRESS | VS_COLUMN_CONSTANT);
    }
    return true;
}

static bool get_directory(struct vs_joiner *j, const unsigned char **p, const unsigned char *end)
{
    uint64_t bytes, kinds, last_code = 0;
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++) {
        if (!vs_get_varint(p, end, &bytes))
            return false;
        j->fixed[i].bytes = (size_t)bytes;
    }
    for (unsigned i = 0; i <= VS_EVENT_CODE_MAX; i++)
        j->kinds[i].known = false;
    if (!vs_get_varint(p, end, &kinds))
        return false;
    for (; kinds; kinds--) {
        if (!get_kind(j, p, end, &last_code)) /* codes increase, so that this ends */
            return false;
    }
    return true;
}

/* Takes the next column. A constant one must be one varint. */
static bool place(struct columns_join_lane *lane, const unsigned char **p, const unsigned char *end)
{
    if (lane->bytes > (size_t)(end - *p))
        return false;
    const unsigned char *after = lane->p = *p;
    uint64_t value;
    lane->end = *p += lane->bytes;
    return !(lane->flags & VS_COLUMN_CONSTANT) ||
           (vs_get_varint(&after, lane->end, &value) && after == lane->end);
}

/* Plans how to put an event of the kind together. Constant addresses are distances, which still
 * have to be looked up. */
static void make_plan(struct kind *kind)
{
    kind->steps = 0;
    for (unsigned i = 0; i < kind->fields; i++) {
        struct columns_join_lane *lane = &kind->lanes[i];
        struct columns_join_step *last = kind->steps ? &kind->plan[kind->steps - 1] : NULL;
        if (lane->flags != VS_COLUMN_CONSTANT)
            kind->plan[kind->steps++] = (struct columns_join_step){.lane = lane};
        else if (last && !last->lane)
            last->bytes += lane->bytes;
        else
            kind->plan[kind->steps++] = (struct columns_join_step){.from = lane->p, .bytes = lane->bytes};
    }
}

static bool place_columns(struct vs_joiner *j, const unsigned char *p, const unsigned char *end)
{
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++) {
        if (!place(&j->fixed[i], &p, end))
            return false;
    }
    for (unsigned code = 1; code <= VS_EVENT_CODE_MAX; code++) {
        struct kind *kind = &j->kinds[code];
        for (unsigned i = 0; kind->known && i < kind->fields; i++) {
            if (!place(&kind->lanes[i], &p, end))
                return false;
        }
        if (kind->known)
            make_plan(kind);
    }
    return p == end;
}

/* --- records --- */

/* Each of these writes at *out* and returns the byte after; NULL when the column has not enough
 * bytes. */

static inline unsigned char *copy_varint(struct columns_join_lane *lane, unsigned char *out)
{
    const unsigned char *p = lane->p;
    const unsigned char *end = lane->end;
    uint64_t word, ends;
    if (__builtin_expect(end - p >= 8, 1)) {
        memcpy(&word, p, sizeof word);
        memcpy(out, &word, sizeof word); /* there is room; excess bytes are overwritten */
        ends = ~word & UINT64_C(0x8080808080808080);
        if (__builtin_expect(ends != 0, 1)) {
            unsigned bytes = ((unsigned)__builtin_ctzll(ends) + 1) / 8;
            lane->p = p + bytes;
            return out + bytes;
        }
    }
    if (end - p > (ptrdiff_t)VS_VARINT_MAX)
        end = p + VS_VARINT_MAX;
    while (p < end && (*p & 0x80))
        *out++ = *p++;
    if (p == end)
        return NULL;
    *out++ = *p++;
    lane->p = p;
    return out;
}

static inline unsigned char *copy_time(struct vs_joiner *j, unsigned char *out)
{
    for (unsigned i = VS_COLUMN_TIMES; i < VS_COLUMN_TIMES_REST; i++) {
        struct columns_join_lane *lane = &j->fixed[i];
        if (lane->p == lane->end)
            return NULL;
        *out++ = *lane->p++;
        if (!(out[-1] & 0x80))
            return out;
    }
    return copy_varint(&j->fixed[VS_COLUMN_TIMES_REST], out);
}

static inline unsigned char *copy_bytes(struct columns_join_lane *lane, unsigned char *out, size_t bytes)
{
    if (bytes > (size_t)(lane->end - lane->p))
        return NULL;
    memcpy(out, lane->p, bytes);
    lane->p += bytes;
    return out + bytes;
}

static inline unsigned char *copy_constants(const struct columns_join_step *step, unsigned char *out)
{
    for (size_t i = 0; i < step->bytes; i++)
        out[i] = step->from[i];
    return out + step->bytes;
}

static inline unsigned char *join_address(struct vs_joiner *j, struct columns_join_lane *lane,
                                          unsigned char *out)
{
    const unsigned char *p = lane->p;
    uint64_t distance, address;
    if (!vs_get_varint(&p, lane->end, &distance) || distance > j->addresses ||
        distance >= VS_COLUMN_DISTANCE_END)
        return NULL;
    if (!(lane->flags & VS_COLUMN_CONSTANT))
        lane->p = p;
    if (distance) {
        address = j->recent[(j->addresses - distance) % VS_COLUMN_DISTANCE_END];
    } else {
        struct columns_join_lane *deltas = &j->fixed[VS_COLUMN_DELTAS];
        if (!vs_get_varint(&deltas->p, deltas->end, &address))
            return NULL;
        address = j->last_address + vs_unzigzag(address);
    }
    out = vs_put_varint(out, vs_zigzag(address - j->last_address));
    j->recent[j->addresses++ % VS_COLUMN_DISTANCE_END] = j->last_address = address;
    return out;
}

static unsigned char *join_text(struct vs_joiner *j, unsigned char *out, const unsigned char *end)
{
    const unsigned char *p = j->fixed[VS_COLUMN_TEXT_LENGTHS].p;
    uint64_t length;
    if (!vs_get_varint(&p, j->fixed[VS_COLUMN_TEXT_LENGTHS].end, &length) || length > VS_STRING_MAX)
        return NULL;
    out = copy_varint(&j->fixed[VS_COLUMN_TEXT_LENGTHS], out);
    if (!out || out > end || length > (uint64_t)(end - out))
        return NULL;
    return copy_bytes(&j->fixed[VS_COLUMN_TEXTS], out, (size_t)length);
}

static unsigned char *join_node(struct vs_joiner *j, unsigned char *out)
{
    for (unsigned i = VS_COLUMN_UPS; out && i <= VS_COLUMN_OFFSETS; i++)
        out = copy_varint(&j->fixed[i], out);
    return out;
}

static unsigned char *join_description(struct vs_joiner *j, unsigned char *out,
                                       const unsigned char *end)
{
    struct columns_join_lane *lane = &j->fixed[VS_COLUMN_DESCRIPTIONS];
    uint64_t length;
    if (!vs_get_varint(&lane->p, lane->end, &length) || out > end ||
        length > (uint64_t)(end - out))
        return NULL;
    return copy_bytes(lane, out, (size_t)length);
}

static inline unsigned char *join_event(struct vs_joiner *j, unsigned char head, unsigned char *out)
{
    struct kind *kind = &j->kinds[head & VS_RECORD_CODE];
    if (!kind->known)
        return NULL;
    if (head & VS_RECORD_TID)
        out = copy_varint(&j->fixed[VS_COLUMN_THREADS], out);
    if (out && !(head & VS_RECORD_SAME_TIME))
        out = copy_time(j, out);
    for (const struct columns_join_step *step = kind->plan; out && step < kind->plan + kind->steps; step++) {
        struct columns_join_lane *lane = step->lane;
        if (!lane)
            out = copy_constants(step, out);
        else
            out = lane->flags & VS_COLUMN_ADDRESS ? join_address(j, lane, out)
                                                  : copy_varint(lane, out);
    }
    return out;
}

static bool join_records(struct vs_joiner *j, unsigned char *out, const unsigned char *end)
{
    struct columns_join_lane *heads = &j->fixed[VS_COLUMN_HEADS];
    while (heads->p < heads->end) {
        unsigned char head = *heads->p++;
        *out++ = head;
        if (head == VS_DEFINE_STRING)
            out = join_text(j, out, end);
        else if (head == VS_DEFINE_STACK)
            out = join_node(j, out);
        else if (head == VS_DEFINE_KIND)
            out = join_description(j, out, end);
        else
            out = join_event(j, head, out);
        if (!out || out > end)
            return false;
    }
    return out == end;
}

/* No bytes may be left over, so that each byte has one meaning. */
static bool is_used_up(const struct vs_joiner *j)
{
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++) {
        if (j->fixed[i].p != j->fixed[i].end)
            return false;
    }
    for (unsigned code = 1; code <= VS_EVENT_CODE_MAX; code++) {
        const struct kind *kind = &j->kinds[code];
        for (unsigned i = 0; kind->known && i < kind->fields; i++) {
            const struct columns_join_lane *lane = &kind->lanes[i];
            if (lane->p != lane->end && !(lane->flags & VS_COLUMN_CONSTANT))
                return false;
        }
    }
    return true;
}

bool vs_joiner_join(struct vs_joiner *j, const unsigned char *columns, size_t bytes,
                    unsigned char *rows, size_t row_bytes)
{
    const unsigned char *p = columns, *end = columns + bytes;
    j->last_address = 0;
    j->addresses = 0;
    return get_directory(j, &p, end) && place_columns(j, p, end) &&
           join_records(j, rows, rows + row_bytes) && is_used_up(j);
}
