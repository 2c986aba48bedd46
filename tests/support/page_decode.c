/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header: an independent reading of docs/internals/view-format.md. */
#include "support/page_decode.h"

#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

#include "support/cmocka_test.h"

char *vs_page_element(const char *html, const char *id)
{
    char mark[80];
    snprintf(mark, sizeof mark, " id=\"%s\">", id);
    const char *begin = strstr(html, mark);
    if (!begin)
        return NULL;
    begin += strlen(mark);
    const char *end = strstr(begin, "</script>");
    assert_non_null(end);
    return strndup(begin, (size_t)(end - begin));
}

static const char escaped[] = "\x00\x08\x09\x0a\x0b\x0c\x0d\x1a\x1b\"&<>\x7f";

/* The bytes of an element's text; *room* is enough. */
static size_t bytes_of_text(const char *text, unsigned char *out, size_t room)
{
    uint64_t bits = 0;
    size_t at = 0, have = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        unsigned values[2] = {*p}, count = 1;
        assert_false(*p < 128 && memchr(escaped, *p, sizeof escaped - 1));
        if (*p > 127) {
            unsigned code = (*p & 31u) << 6 | (p[1] & 63u);
            p++;
            assert_in_range(code, 0x100, 0x7ff);
            values[0] = (unsigned char)escaped[(code - 0x100) / 128];
            values[1] = code & 127;
            count = 2;
        }
        for (unsigned i = 0; i < count; i++) {
            bits = bits << 7 | values[i];
            have += 7;
            if (have >= 8 && at < room)
                out[at++] = (unsigned char)(bits >> (have -= 8));
        }
    }
    size_t length = (size_t)out[0] << 24 | (size_t)out[1] << 16 | (size_t)out[2] << 8 | out[3];
    assert_in_range(at, length + 4, length + 6);
    memmove(out, out + 4, length);
    return length;
}

/* Appends the inflated contents of the element *id* to *out*. */
static size_t add_element(const char *html, const char *id, unsigned char *out, size_t room)
{
    char *text = vs_page_element(html, id);
    assert_non_null(text);
    unsigned char *packed = malloc(strlen(text) + 8);
    z_stream stream = {.next_in = packed, .next_out = out, .avail_out = (uInt)room};
    assert_non_null(packed);
    stream.avail_in = (uInt)bytes_of_text(text, packed, strlen(text) + 8);
    assert_int_equal(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    size_t bytes = stream.total_out;
    inflateEnd(&stream);
    free(packed);
    free(text);
    return bytes;
}

static struct json_object *member(struct json_object *object, const char *key)
{
    struct json_object *found = json_object_object_get(object, key);
    if (!found)
        fail_msg("no member %s", key);
    return found;
}

static unsigned char *section_bytes(const char *html, struct json_object *section,
                                    const char *name, size_t total)
{
    char id[64];
    size_t chunks = (size_t)json_object_get_int64(member(section, "chunks")), used = 0;
    unsigned char *bytes = calloc(total + 1, 1);
    assert_non_null(bytes);
    for (size_t k = 0; k < chunks; k++) {
        snprintf(id, sizeof id, chunks > 1 ? "%s.%zu" : "%s", name, k);
        used += add_element(html, id, bytes + used, total - used + 1);
    }
    assert_int_equal(used, total);
    return bytes;
}

static uint64_t from_zigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

static void decode(struct json_object *column, const unsigned char *bytes, uint64_t *out, size_t count)
{
    const char *type = json_object_get_string(member(column, "type"));
    size_t size = (size_t)json_object_get_int64(member(column, "bytes")), at = 0;
    bool by_plane = strncmp(type, "planes", 6) == 0;
    struct json_object *planes = by_plane ? json_object_object_get(column, "planes") : NULL;
    for (size_t k = 0; planes && k < json_object_array_length(planes); k++) {
        size_t filled = (size_t)json_object_get_int64(json_object_array_get_idx(planes, k));
        assert_true(filled <= count);
        for (size_t i = 0; i < filled; i++)
            out[i] |= (uint64_t)bytes[at++] << (8 * k);
    }
    for (size_t i = 0; i < count; i++) {
        bool more = !by_plane;
        for (unsigned shift = 0; more; shift += 7) {
            assert_true(at < size);
            more = strcmp(type, "u8") != 0 && bytes[at] >= 0x80;
            out[i] |= (uint64_t)(strcmp(type, "u8") ? bytes[at] & 0x7f : bytes[at]) << shift;
            at++;
        }
        if (strcmp(type, "delta") == 0 || strchr(type, '_'))
            out[i] = from_zigzag(out[i]);
        if (strstr(type, "delta") && i)
            out[i] += out[i - 1];
    }
    assert_int_equal(at, size);
}

/* The column as it is stored. */
static uint64_t *stored(const char *html, struct json_object *of, const char *section, const char *column, size_t *count)
{
    struct json_object *columns = member(of, "columns"), *wanted = NULL;
    size_t total = 0, before = 0;
    for (size_t i = 0; i < json_object_array_length(columns); i++) {
        struct json_object *one = json_object_array_get_idx(columns, i);
        if (strcmp(json_object_get_string(member(one, "name")), column) == 0) {
            before = total;
            wanted = one;
        }
        total += (size_t)json_object_get_int64(member(one, "bytes"));
    }
    if (!wanted)
        fail_msg("no column %s", column);
    *count = (size_t)json_object_get_int64(member(wanted, "count"));
    unsigned char *bytes = section_bytes(html, of, section, total);
    uint64_t *values = calloc(*count + 1, sizeof *values);
    assert_non_null(values);
    decode(wanted, bytes + before, values, *count);
    free(bytes);
    return values;
}

/* Of blocks: "lived", or a column of differences to the block that was freed last. */
static uint64_t *follow_frees(const char *html, struct json_object *of, const char *section, const char *column,
                              size_t *count)
{
    bool lived = strcmp(column, "lived") == 0;
    uint64_t *born = stored(html, of, section, "born", count), *kept = stored(html, of, section, "kept", count);
    uint64_t *values = stored(html, of, section, lived ? "after" : column, count);
    uint64_t *after = stored(html, of, section, "after", count), *last = calloc(*count + 1, sizeof *last), freed = 0;
    for (size_t i = 0; i < *count; i++) {
        uint64_t died = kept[i] ? born[i + kept[i] - 1] + after[i] : 0, next = i + kept[i];
        after[i] = died;
        if (kept[i] && died > born[i] && (!last[next] || died >= after[last[next] - 1]))
            last[next] = i + 1;
        if (lived)
            values[i] = kept[i] ? died - born[i] + 1 : 0;
    }
    for (size_t i = 0; i < *count && !lived; i++) {
        freed = last[i] ? last[i] : freed;
        values[i] += freed ? values[freed - 1] : 0;
    }
    free(born);
    free(kept);
    free(after);
    free(last);
    return values;
}

uint64_t *vs_page_decoded(const char *html, struct json_object *head, const char *section,
                          const char *column, size_t *count)
{
    struct json_object *of = member(member(head, "sections"), section);
    bool follows = strcmp(section, "blocks") == 0 &&
                   (!strcmp(column, "lived") || !strcmp(column, "place") || !strcmp(column, "segment"));
    return follows ? follow_frees(html, of, section, column, count) : stored(html, of, section, column, count);
}
