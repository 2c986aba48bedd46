/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames as columns: joining restores exactly the rows that were split, whatever their contents;
 * damaged columns are rejected and never read beyond their end. test_trace_roundtrip has traces with
 * such frames. */
#include "trace_test.h"

#include "unit/trace/join_columns.h"

#define ROWS_MAX ((size_t)256 << 10)

static struct vs_splitter *splitter;
static struct vs_reader *reader;
static unsigned char rows[ROWS_MAX + 8192], joined[ROWS_MAX + 8192];

SETUP(open_both)
{
    splitter = vs_splitter_open(ROWS_MAX);
    reader = join_columns_reader();
    return !splitter;
}

TEARDOWN(close_both)
{
    vs_splitter_close(splitter);
    vs_reader_close(reader);
    return 0;
}

/* Numbers of all lengths, small ones mostly. */
static uint64_t some_number(uint64_t *seed)
{
    uint64_t bits = vs_random(seed) % 8 ? vs_random(seed) % 16 : vs_random(seed) % 64;
    return vs_random(seed) & ((UINT64_C(2) << bits) - 1);
}

static unsigned char *put_text(unsigned char *p, uint64_t *seed)
{
    size_t length = vs_random(seed) % 40;
    p = vs_put_varint(p, length);
    for (size_t i = 0; i < length; i++)
        *p++ = (unsigned char)vs_random(seed);
    return p;
}

static unsigned char *put_definition(unsigned char *p, uint64_t *seed)
{
    unsigned fields = (unsigned)(vs_random(seed) % 5);
    switch (vs_random(seed) % 3) {
    case 0:
        *p++ = VS_DEFINE_STRING;
        return put_text(p, seed);
    case 1:
        *p++ = VS_DEFINE_STACK;
        p = vs_put_varint(p, 1 + some_number(seed) % (UINT64_C(1) << 30));
        p = vs_put_varint(p, some_number(seed));
        return vs_put_varint(p, some_number(seed));
    default: /* of a kind that no event here has */
        *p++ = VS_DEFINE_KIND;
        *p++ = VS_DEFINE_RESERVED;
        *p++ = (unsigned char)fields;
        for (unsigned i = 0; i < fields; i++)
            *p++ = (unsigned char)(vs_random(seed) % 6);
        for (unsigned i = 0; i <= fields; i++)
            p = put_text(p, seed);
        return p;
    }
}

static unsigned char *put_event(unsigned char *p, unsigned kind, uint64_t *seed, uint64_t *address)
{
    const struct vs_event_info *info = vs_event_describe(kind);
    unsigned char flags = (unsigned char)(vs_random(seed) & 0xc0);
    *p++ = (unsigned char)(kind | flags);
    if (flags & VS_RECORD_TID)
        p = vs_put_varint(p, some_number(seed) & UINT32_MAX);
    if (!(flags & VS_RECORD_SAME_TIME))
        p = vs_put_varint(p, some_number(seed) & ((UINT64_C(1) << 48) - 1));
    for (unsigned i = 0; i < info->field_count; i++) {
        uint64_t value = i % 3 == 2 ? 1 : some_number(seed); /* also columns that never change */
        if (info->fields[i].codec >= VS_CODEC_STR)
            value %= UINT64_C(1) << 30;
        if (info->fields[i].codec == VS_CODEC_A) {
            uint64_t next = vs_random(seed) % 300 * 512 + (vs_random(seed) % 9 ? 0 : value);
            value = vs_zigzag(next - *address);
            *address = next;
        }
        p = vs_put_varint(p, value);
    }
    return p;
}

/* About *bytes* of rows. */
static size_t make_rows(size_t bytes, uint64_t seed)
{
    unsigned char *p = rows;
    uint64_t address = 0;
    while ((size_t)(p - rows) < bytes) {
        unsigned kind = (unsigned)(vs_random(&seed) % 64);
        if (vs_random(&seed) % 8 == 0)
            p = put_definition(p, &seed);
        else
            p = put_event(p, vs_event_describe(kind) ? kind : VS_EVENT_alloc, &seed, &address);
    }
    return (size_t)(p - rows);
}

static size_t split(size_t bytes, const unsigned char **columns)
{
    struct vs_column_part parts[VS_COLUMN_PARTS_MAX];
    size_t count = 0, at = 0;
    size_t total = vs_splitter_split(splitter, rows, bytes, columns, parts, &count);
    for (size_t i = 0; i < count && total; i++) {
        assert_int_equal(parts[i].begin, at); /* they divide it without gaps */
        at += parts[i].bytes;
    }
    assert_int_equal(at, total);
    return total;
}

/* Byte for byte: the shortest encoding, and no byte before it is touched. */
static void check_varint(uint64_t value)
{
    unsigned char expected[VS_VARINT_MAX], got[1 + VS_VARINT_MAX] = {0x5a};
    size_t n = 0;
    uint64_t rest = value, back = 0;
    for (; rest >= 0x80; rest >>= 7)
        expected[n++] = (unsigned char)(rest | 0x80);
    expected[n++] = (unsigned char)rest;
    const unsigned char *p = got + 1;
    assert_ptr_equal(vs_put_varint(got + 1, value), got + 1 + n);
    assert_memory_equal(got + 1, expected, n);
    assert_int_equal(got[0], 0x5a);
    assert_true(vs_get_varint(&p, got + sizeof got, &back));
    assert_true(back == value && p == got + 1 + n);
}

TEST(varints_of_all_lengths_are_the_shortest)
{
    uint64_t seed = 11;
    for (uint64_t value = 0; value < 70000; value++)
        check_varint(value);
    for (unsigned bit = 0; bit < 64; bit++) {
        check_varint((UINT64_C(1) << bit) - 1);
        check_varint(UINT64_C(1) << bit);
        check_varint(UINT64_MAX >> bit);
        for (int i = 0; i < 100; i++)
            check_varint(UINT64_C(1) << bit | vs_random(&seed) >> (63 - bit));
    }
}

TEST(joining_gives_the_rows_that_were_split)
{
    for (uint64_t seed = 1; seed <= 120; seed++) {
        const unsigned char *columns;
        size_t bytes = make_rows(seed % 3 ? seed * 97 : ROWS_MAX * 3 / 4, seed);
        size_t total = split(bytes, &columns);
        assert_true(total > 0);
        memset(joined, 0xaa, sizeof joined);
        assert_true(join_columns(reader, columns, total, joined, bytes));
        assert_memory_equal(joined, rows, bytes);
        assert_false(join_columns(reader, columns, total, joined, bytes - 1));
        assert_false(join_columns(reader, columns, total, joined, bytes + 1));
    }
}

TEST(rows_that_cannot_be_followed_are_left_alone)
{
    const unsigned char *columns;
    size_t bytes = make_rows(2000, 7);
    rows[bytes] = VS_EVENT_alloc; /* truncated after its first byte */
    assert_int_equal(split(bytes + 1, &columns), 0);
    rows[bytes] = VS_DEFINE_RESERVED;
    assert_int_equal(split(bytes + 1, &columns), 0);
    memcpy(rows, "\x94\x80\x00\x01\x01", 5); /* an address whose difference is 0 in two bytes */
    assert_int_equal(split(5, &columns), 0);
    memcpy(rows, "\x38\x7f", 2); /* a text longer than the remaining bytes */
    assert_int_equal(split(2, &columns), 0);
    assert_true(split(make_rows(2000, 8), &columns) > 0); /* the error left no state behind */
}

/* A copy of exactly its size each time: a sanitizer detects a read beyond it. */
static void join_copy(const unsigned char *columns, size_t bytes, size_t row_bytes)
{
    unsigned char *copy = malloc(bytes + 1);
    unsigned char *out = malloc(row_bytes + 1);
    memcpy(copy + 1, columns, bytes);
    (void)!join_columns(reader, copy + 1, bytes, out, row_bytes);
    free(copy);
    free(out);
}

TEST(damaged_columns_are_refused)
{
    const unsigned char *columns;
    size_t bytes = make_rows(1500, 11), total = split(bytes, &columns);
    unsigned char *work = malloc(total);
    uint64_t seed = 5;
    for (size_t cut = 0; cut < total; cut++) {
        join_copy(columns, cut, bytes);
        assert_false(join_columns(reader, columns, cut, joined, bytes));
    }
    for (unsigned i = 0; i < 20000; i++) {
        memcpy(work, columns, total);
        for (unsigned n = 0; n <= i % 3; n++)
            work[vs_random(&seed) % (i % 2 ? total : 200)] = (unsigned char)vs_random(&seed);
        join_copy(work, total, bytes);
    }
    free(work);
}
