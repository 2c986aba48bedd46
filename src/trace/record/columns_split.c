/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows to columns (columns.h), on the background thread. Two passes: the first computes an upper
 * bound of each column's length, the second fills the columns in; then gaps are closed and the
 * directory is put in front. The rows are ours, but they lie in a mapping that the program could
 * overwrite, so every length is checked; rows that cannot be parsed are left as they are, and the
 * frame is compressed without columns.
 *
 * An address is looked up among the earlier ones of the frame in a small table that may lose
 * entries: a lost address is written as a difference. */
#include "trace/format/columns.h"

#include <string.h>

#include "base/vs_arena.h"

#define KINDS (VS_EVENT_CODE_MAX + 1u)
#define COLUMNS (VS_COLUMNS_FIXED + KINDS * VS_EVENT_FIELDS_MAX)
#define DISTANCE_BYTES 3u /* varint of less than VS_COLUMN_DISTANCE_END */
#define LENGTH_BYTES 5u
#define SLOT_BITS 14u
#define WAYS 4u
#define PART_BYTES 512u /* a column of this size is worth compressing separately */

struct columns_split_lane {
    unsigned char *begin, *end, *limit; /* second pass */
    size_t bytes;                       /* first pass: upper bound */
    bool overfull; /* the rows changed between the passes: the program wrote into our mapping */
};

struct vs_splitter {
    size_t mapped, room;
    unsigned char *columns; /* room bytes, behind this struct */
    struct columns_split_lane lanes[COLUMNS];
    uint64_t last_address;
    uint32_t addresses; /* in the frame so far */
    uint64_t recent[VS_COLUMN_DISTANCE_END];
    uint32_t slots[1u << SLOT_BITS]; /* number of an address + 1 */
};

struct vs_splitter *vs_splitter_open(size_t raw_max)
{
    /* a description or an address may take a few bytes more than in its row; a frame where this
     * adds more than a quarter is left as rows */
    size_t room = raw_max + raw_max / 4 + VS_COLUMNS_SLACK;
    size_t mapped = sizeof(struct vs_splitter) + room;
    struct vs_splitter *s = vs_pages_map(mapped);
    if (s) {
        s->mapped = mapped;
        s->room = room;
        s->columns = (unsigned char *)(s + 1);
    }
    return s;
}

void vs_splitter_close(struct vs_splitter *s)
{
    if (s)
        vs_pages_unmap(s, s->mapped);
}

static struct columns_split_lane *field_lane(struct vs_splitter *s, unsigned kind, unsigned field)
{
    return &s->lanes[VS_COLUMNS_FIXED + kind * VS_EVENT_FIELDS_MAX + field];
}

/* The distance back to the same address, 0 when it is not in the table; adds this one. */
static uint32_t find_address(struct vs_splitter *s, uint64_t address)
{
    uint32_t number = s->addresses++, found = 0;
    uint32_t first = (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - SLOT_BITS));
    uint32_t *slot = &s->slots[first];
    for (unsigned way = 0; way < WAYS; way++) {
        uint32_t *candidate = &s->slots[first ^ way];
        uint32_t distance = number + 1 - *candidate;
        if (*candidate && distance < VS_COLUMN_DISTANCE_END &&
            s->recent[(*candidate - 1) % VS_COLUMN_DISTANCE_END] == address) {
            slot = candidate;
            found = distance;
            break;
        }
        if (*candidate < *slot)
            slot = candidate;
    }
    *slot = number + 1;
    s->recent[number % VS_COLUMN_DISTANCE_END] = address;
    return found;
}

/* The end of the varint at *p*; NULL when it is incomplete. */
static inline const unsigned char *varint_end(const unsigned char *p, const unsigned char *end)
{
    if (p < end && !(*p & 0x80))
        return p + 1;
    const unsigned char *last = end - p > (ptrdiff_t)VS_VARINT_MAX ? p + VS_VARINT_MAX : end;
    while (p < last && (*p & 0x80))
        p++;
    return p < last ? p + 1 : NULL;
}

/* Copy bytes of a row into a column, or only count them. */
static inline void put(struct columns_split_lane *lane, const unsigned char *from, const unsigned char *to,
                       bool fill)
{
    if (!fill)
        lane->bytes += (size_t)(to - from);
    else if (__builtin_expect(to - from > lane->limit - lane->end, 0))
        lane->overfull = true;
    else
        while (from < to)
            *lane->end++ = *from++;
}

/* Each of these parses the row from *p* on and returns where parsing continues; NULL when the row
 * is invalid. */

static inline const unsigned char *put_varint(struct columns_split_lane *lane, const unsigned char *p,
                                              const unsigned char *end, bool fill)
{
    uint64_t word, ends;
    if (__builtin_expect(end - p >= 8 && (!fill || lane->limit - lane->end >= 8), 1)) {
        memcpy(&word, p, sizeof word);
        ends = ~word & UINT64_C(0x8080808080808080);
        if (__builtin_expect(ends != 0, 1)) {
            unsigned bytes = ((unsigned)__builtin_ctzll(ends) + 1) / 8;
            if (fill) {
                memcpy(lane->end, &word, sizeof word); /* excess bytes are overwritten later */
                lane->end += bytes;
            } else {
                lane->bytes += bytes;
            }
            return p + bytes;
        }
    }
    const unsigned char *after = varint_end(p, end);
    if (after)
        put(lane, p, after, fill);
    return after;
}

static inline const unsigned char *put_time(struct vs_splitter *s, const unsigned char *p,
                                            const unsigned char *end, bool fill)
{
    const unsigned char *after = varint_end(p, end);
    for (unsigned i = VS_COLUMN_TIMES; after && i < VS_COLUMN_TIMES_REST && p < after; i++, p++)
        put(&s->lanes[i], p, p + 1, fill);
    if (after)
        put(&s->lanes[VS_COLUMN_TIMES_REST], p, after, fill);
    return after;
}

static inline const unsigned char *put_address(struct vs_splitter *s, struct columns_split_lane *lane,
                                               const unsigned char *p, const unsigned char *end,
                                               bool fill)
{
    struct columns_split_lane *deltas = &s->lanes[VS_COLUMN_DELTAS];
    if (!fill) {
        lane->bytes += DISTANCE_BYTES;
        return put_varint(deltas, p, end, false);
    }
    const unsigned char *from = p;
    uint64_t coded;
    if (!vs_get_varint(&p, end, &coded) || (p - from > 1 && !p[-1]))
        return NULL; /* longer than necessary: joining would not give the same bytes */
    s->last_address += vs_unzigzag(coded);
    uint32_t distance = find_address(s, s->last_address);
    unsigned char varint[VS_VARINT_MAX];
    put(lane, varint, vs_put_varint(varint, distance), true);
    if (!distance)
        put(deltas, from, p, true);
    return p;
}

static const unsigned char *put_text(struct vs_splitter *s, const unsigned char *p,
                                     const unsigned char *end, bool fill)
{
    const unsigned char *from = p;
    uint64_t length;
    if (!vs_get_varint(&p, end, &length) || length > (uint64_t)(end - p))
        return NULL;
    put(&s->lanes[VS_COLUMN_TEXT_LENGTHS], from, p, fill);
    put(&s->lanes[VS_COLUMN_TEXTS], p, p + length, fill);
    return p + length;
}

static const unsigned char *put_node(struct vs_splitter *s, const unsigned char *p,
                                     const unsigned char *end, bool fill)
{
    for (unsigned i = VS_COLUMN_UPS; p && i <= VS_COLUMN_OFFSETS; i++)
        p = put_varint(&s->lanes[i], p, end, fill);
    return p;
}

static const unsigned char *put_description(struct vs_splitter *s, const unsigned char *p,
                                            const unsigned char *end, bool fill)
{
    const unsigned char *from = p;
    struct columns_split_lane *lane = &s->lanes[VS_COLUMN_DESCRIPTIONS];
    uint64_t code, fields, length;
    if (!vs_get_varint(&p, end, &code) || !vs_get_varint(&p, end, &fields) ||
        fields > VS_KIND_FIELDS_MAX || fields > (uint64_t)(end - p))
        return NULL;
    p += fields;
    for (uint64_t i = 0; i <= fields; i++) {
        if (!vs_get_varint(&p, end, &length) || length > (uint64_t)(end - p))
            return NULL;
        p += length;
    }
    unsigned char varint[VS_VARINT_MAX];
    if (fill)
        put(lane, varint, vs_put_varint(varint, (uint64_t)(p - from)), true);
    else
        lane->bytes += LENGTH_BYTES;
    put(lane, from, p, fill);
    return p;
}

static inline const unsigned char *put_event(struct vs_splitter *s, unsigned char head,
                                             const unsigned char *p, const unsigned char *end,
                                             bool fill)
{
    unsigned code = head & VS_RECORD_CODE;
    const struct vs_event_info *info = vs_event_describe(code);
    if (!info)
        return NULL;
    if (head & VS_RECORD_TID)
        p = put_varint(&s->lanes[VS_COLUMN_THREADS], p, end, fill);
    if (p && !(head & VS_RECORD_SAME_TIME))
        p = put_time(s, p, end, fill);
    for (unsigned i = 0; p && i < info->field_count; i++) {
        struct columns_split_lane *lane = field_lane(s, code, i);
        p = info->fields[i].codec == VS_CODEC_A ? put_address(s, lane, p, end, fill)
                                                : put_varint(lane, p, end, fill);
    }
    return p;
}

/* One pass over the rows. *fill* is a constant in every caller. */
static inline __attribute__((always_inline)) bool pass(struct vs_splitter *s,
                                                       const unsigned char *p,
                                                       const unsigned char *end, bool fill)
{
    while (p && p < end) {
        put(&s->lanes[VS_COLUMN_HEADS], p, p + 1, fill);
        unsigned char head = *p++;
        if (head == VS_DEFINE_STRING)
            p = put_text(s, p, end, fill);
        else if (head == VS_DEFINE_STACK)
            p = put_node(s, p, end, fill);
        else if (head == VS_DEFINE_KIND)
            p = put_description(s, p, end, fill);
        else
            p = put_event(s, head, p, end, fill);
    }
    return p != NULL;
}

/* Place all columns behind the room for the directory; false when they do not fit. */
static bool place_lanes(struct vs_splitter *s)
{
    unsigned char *next = s->columns + VS_COLUMNS_SLACK / 2;
    size_t left = s->room - VS_COLUMNS_SLACK / 2;
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct columns_split_lane *lane = &s->lanes[i];
        if (lane->bytes > left)
            return false;
        lane->begin = lane->end = next;
        lane->limit = next += lane->bytes;
        left -= lane->bytes;
    }
    return true;
}

static bool is_overfull(const struct vs_splitter *s)
{
    bool overfull = false;
    for (unsigned i = 0; i < COLUMNS; i++)
        overfull |= s->lanes[i].overfull;
    return overfull;
}

/* Whether the column is one varint repeated; if so, the column is cut to that one. */
static bool make_constant(struct columns_split_lane *lane)
{
    const unsigned char *second = varint_end(lane->begin, lane->end);
    if (!second || second == lane->end)
        return false;
    if (memcmp(lane->begin, second, (size_t)(lane->end - second)) != 0)
        return false;
    lane->end = lane->begin + (second - lane->begin);
    return true;
}

static bool kind_is_used(struct vs_splitter *s, unsigned kind, const struct vs_event_info *info)
{
    return info && info->field_count && field_lane(s, kind, 0)->end > field_lane(s, kind, 0)->begin;
}

/* Write the directory at *p*, which has VS_COLUMNS_SLACK / 2 of room. */
static unsigned char *put_directory(struct vs_splitter *s, unsigned char *p)
{
    unsigned used = 0;
    for (unsigned kind = 0; kind < KINDS; kind++)
        used += kind_is_used(s, kind, vs_event_describe(kind));
    for (unsigned i = 0; i < VS_COLUMNS_FIXED; i++)
        p = vs_put_varint(p, (uint64_t)(s->lanes[i].end - s->lanes[i].begin));
    p = vs_put_varint(p, used);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct vs_event_info *info = vs_event_describe(kind);
        if (!kind_is_used(s, kind, info))
            continue;
        p = vs_put_varint(p, kind);
        p = vs_put_varint(p, info->field_count);
        for (unsigned i = 0; i < info->field_count; i++) {
            struct columns_split_lane *lane = field_lane(s, kind, i);
            unsigned flags = make_constant(lane) ? VS_COLUMN_CONSTANT : 0;
            flags |= info->fields[i].codec == VS_CODEC_A ? VS_COLUMN_ADDRESS : 0;
            p = vs_put_varint(p, (uint64_t)(lane->end - lane->begin) << VS_COLUMN_FLAG_BITS | flags);
        }
    }
    return p;
}

static bool is_text(unsigned column)
{
    return column == VS_COLUMN_DESCRIPTIONS || column == VS_COLUMN_TEXTS;
}

/* Close the gaps; columns below PART_BYTES share a part. Returns the total bytes. */
static size_t gather(struct vs_splitter *s, size_t directory, struct vs_column_part *parts,
                     size_t *count)
{
    size_t at = directory, n = 0;
    parts[n++] = (struct vs_column_part){.bytes = directory};
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct columns_split_lane *lane = &s->lanes[i];
        size_t bytes = (size_t)(lane->end - lane->begin);
        if (!bytes)
            continue;
        memmove(s->columns + at, lane->begin, bytes);
        bool alone = bytes >= PART_BYTES || parts[n - 1].bytes >= PART_BYTES;
        bool text = is_text(i), together = text && parts[n - 1].text;
        if (alone && !together && n < VS_COLUMN_PARTS_MAX)
            parts[n++] = (struct vs_column_part){.begin = at, .text = text};
        parts[n - 1].bytes += bytes;
        at += bytes;
    }
    *count = n;
    return at;
}

size_t vs_splitter_split(struct vs_splitter *s, const unsigned char *rows, size_t bytes,
                         const unsigned char **out, struct vs_column_part *parts, size_t *count)
{
    memset(s->lanes, 0, sizeof s->lanes);
    if (!pass(s, rows, rows + bytes, false) || !place_lanes(s))
        return 0;
    memset(s->slots, 0, sizeof s->slots);
    s->last_address = 0;
    s->addresses = 0;
    if (!pass(s, rows, rows + bytes, true) || is_overfull(s))
        return 0;
    size_t directory = (size_t)(put_directory(s, s->columns) - s->columns);
    *out = s->columns;
    size_t total = gather(s, directory, parts, count);
    return total <= bytes + VS_COLUMNS_SLACK ? total : 0;
}
