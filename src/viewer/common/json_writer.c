/* SPDX-License-Identifier: Apache-2.0
 *
 * Text collects in memory: writing to the stream piece by piece would be most of the work. */
#define _GNU_SOURCE /* fwrite_unlocked */
#include "viewer/common/json_writer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_utf8.h"
#include "viewer/common/text_style.h"

#define SHORT_TEXT 16 /* bytes: of most keys */

void vs_json_flush(struct vs_json *json)
{
    fwrite_unlocked(json->text, 1, json->length, json->out);
    json->flushed += json->length;
    json->length = 0;
}

/* Where the next *count* bytes go, of which the caller adds as many as it needs to the length. */
static inline char *room(struct vs_json *json, size_t count)
{
    if (count > sizeof json->text - json->length)
        vs_json_flush(json);
    return json->text + json->length;
}

static inline void append(struct vs_json *json, const char *text, size_t count)
{
    if (count > sizeof json->text) {
        vs_json_flush(json);
        fwrite_unlocked(text, 1, count, json->out);
        json->flushed += count;
        return;
    }
    memcpy(room(json, count), text, count);
    json->length += count;
}
#define PUT(json, literal) append(json, literal, sizeof literal - 1)

static void put_text(struct vs_json *json, const char *text)
{
    static const bool as_it_is[256] = {[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};
    const unsigned char *p = (const unsigned char *)text, *plain = p;
    PUT(json, "\"");
    for (;;) {
        while (as_it_is[*p])
            p++;
        size_t n = *p < 0x80 ? 0 : vs_utf8_length(p, SIZE_MAX);
        p += n;
        if (n)
            continue;
        append(json, (const char *)plain, (size_t)(p - plain));
        if (!*p)
            break;
        char escaped[8];
        if (*p >= 0x80)
            PUT(json, VS_UTF8_REPLACEMENT);
        else
            append(json, escaped,
                (size_t)snprintf(escaped, sizeof escaped, *p == '"' || *p == '\\' ? "\\%c" : "\\u%04x", *p));
        plain = ++p;
    }
    PUT(json, "\"");
}

void vs_json_text(FILE *out, const char *text)
{
    struct vs_json json = {.out = out};
    put_text(&json, text);
    vs_json_flush(&json);
}

static void put_uint(struct vs_json *json, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                                "34353637383940414243444546474849505152535455565758596061626364656667"
                                "6869707172737475767778798081828384858687888990919293949596979899";
    enum { DIGITS = 20 };
    char text[2 * DIGITS], *first = text + DIGITS;
    for (; value >= 10; value /= 100)
        memcpy(first -= 2, pairs + 2 * (value % 100), 2);
    if (value || first == text + DIGITS)
        *--first = (char)('0' + value);
    memcpy(room(json, DIGITS), first, DIGITS); /* a known length is a few moves */
    json->length += (size_t)(text + DIGITS - first);
}

static void put_us(struct vs_json *json, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    const char decimals[] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    put_uint(json, ns / 1000);
    append(json, decimals, sizeof decimals);
}

static void new_line(struct vs_json *json)
{
    if (!json->pretty)
        return;
    PUT(json, "\n");
    for (unsigned i = 0; i < json->depth; i++)
        PUT(json, "  ");
}

static void member(struct vs_json *json, const char *key)
{
    if (json->depth > 0) {
        bool *used = &json->used[json->depth - 1];
        if (*used)
            PUT(json, ",");
        *used = true;
        if (json->lines && json->depth == 1)
            PUT(json, "\n");
        new_line(json);
    }
    if (!key)
        return;
    put_text(json, key);
    PUT(json, ":");
    if (json->pretty)
        PUT(json, " ");
}

void vs_json_member(struct vs_json *json, const char *key)
{
    member(json, key);
    vs_json_flush(json);
}

static void begin(struct vs_json *json, const char *key, char bracket)
{
    member(json, key);
    append(json, &bracket, 1);
    if (json->depth < VS_JSON_DEPTH_MAX)
        json->used[json->depth] = false;
    json->depth++;
}

static void end(struct vs_json *json, char bracket)
{
    json->depth--;
    if (json->used[json->depth])
        new_line(json);
    append(json, &bracket, 1);
    if (json->depth)
        return;
    PUT(json, "\n");
    vs_json_flush(json);
}

struct vs_json vs_json_document(FILE *out, const char *schema)
{
    struct vs_json json = {.out = out, .pretty = true};
    vs_json_begin(&json, NULL, VS_J_TEXT("schema", schema));
    return json;
}

void vs_json_begin_object(struct vs_json *json, const char *key) { begin(json, key, '{'); }
bool vs_json_begin_object_if(struct vs_json *json, const char *key, bool has)
{
    if (has)
        vs_json_begin_object(json, key);
    else
        vs_json_string(json, key, NULL);
    return has;
}
void vs_json_end_object(struct vs_json *json) { end(json, '}'); }
void vs_json_begin_array(struct vs_json *json, const char *key) { begin(json, key, '['); }
void vs_json_end_array(struct vs_json *json) { end(json, ']'); }

bool vs_json_next(struct vs_json *json, const char *key, size_t i, size_t count)
{
    if (!i)
        vs_json_begin_array(json, key);
    if (i >= count)
        vs_json_end_array(json);
    return i < count;
}

bool vs_json_next_object(struct vs_json *json, const char *key, size_t i, size_t count)
{
    if (i)
        vs_json_end_object(json);
    bool more = vs_json_next(json, key, i, count);
    if (more)
        vs_json_begin_object(json, NULL);
    return more;
}

void vs_json_string(struct vs_json *json, const char *key, const char *text)
{
    member(json, key);
    if (text)
        put_text(json, text);
    else
        PUT(json, "null");
}

void vs_json_uint(struct vs_json *json, const char *key, uint64_t value)
{
    member(json, key);
    put_uint(json, value);
}

void vs_json_known_uint(struct vs_json *json, const char *key, bool known, uint64_t value)
{
    if (known)
        vs_json_uint(json, key, value);
    else
        vs_json_string(json, key, NULL);
}

void vs_json_int(struct vs_json *json, const char *key, int64_t value)
{
    member(json, key);
    append(json, "-", value < 0);
    put_uint(json, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void vs_json_bool(struct vs_json *json, const char *key, bool value)
{
    member(json, key);
    append(json, value ? "true" : "false", value ? 4 : 5);
}

void vs_json_ratio(struct vs_json *json, const char *key, double value)
{
    if (!isfinite(value)) {
        vs_json_string(json, key, NULL);
        return;
    }
    char text[352]; /* a double has up to 309 digits before the point */
    member(json, key);
    append(json, text, (size_t)snprintf(text, sizeof text, "%.6f", value));
}

/* Without a look at each byte of the key. False: of another type, or not in one line. */
static bool put_at_once(struct vs_json *json, const struct vs_json_item *m)
{
    bool common = m->type == VS_JSON_UINT || (m->type == VS_JSON_TEXT && m->text);
    if (common ? json->pretty : m->type != VS_JSON_US && m->type != VS_JSON_DIGITS)
        return false;
    assert(!json->pretty); /* only what nobody reads has VS_JSON_US and VS_JSON_DIGITS */
    bool *used = &json->used[json->depth - 1], quotes = m->type == VS_JSON_DIGITS;
    char *to = room(json, 1 + (size_t)m->quoted_length);
    *to = ',';
    memcpy(to + *used, m->quoted, m->quoted_length);
    json->length += *used + (size_t)m->quoted_length;
    *used = true;
    if (m->type == VS_JSON_TEXT) {
        put_text(json, m->text);
        return true;
    }
    if (quotes)
        PUT(json, "\"");
    (m->type == VS_JSON_US ? put_us : put_uint)(json, m->uint);
    if (quotes)
        PUT(json, "\"");
    return true;
}

void vs_json_put_members(struct vs_json *json, const struct vs_json_item *members)
{
    char text[32];
    for (const struct vs_json_item *m = members; m->key; m++)
        switch (put_at_once(json, m) ? VS_JSON_ABSENT : m->type) {
        case VS_JSON_ABSENT: case VS_JSON_US: case VS_JSON_DIGITS: break;
        case VS_JSON_UINT: vs_json_uint(json, m->key, m->uint); break;
        case VS_JSON_INT: vs_json_int(json, m->key, m->sint); break;
        case VS_JSON_BOOL: vs_json_bool(json, m->key, m->uint); break;
        case VS_JSON_TEXT: vs_json_string(json, m->key, m->text); break;
        case VS_JSON_RATIO: vs_json_ratio(json, m->key, m->ratio); break;
        case VS_JSON_REAL:
            member(json, m->key);
            append(json, text, (size_t)snprintf(text, sizeof text, "%.9g", isfinite(m->ratio) ? m->ratio : 0));
            break;
        case VS_JSON_TRIPLE:
            vs_json_begin_array(json, m->key);
            for (int i = 0; i < 3; i++)
                vs_json_uint(json, NULL, m->triple[i]);
            vs_json_end_array(json);
            break;
        case VS_JSON_NULL: vs_json_string(json, m->key, NULL); break;
        }
}

void vs_json_put_object(struct vs_json *json, const char *key, const struct vs_json_item *members)
{
    if (!vs_json_begin_object_if(json, key, members))
        return;
    vs_json_put_members(json, members);
    vs_json_end_object(json);
}

void vs_json_command(struct vs_json *json, const char *key, const char *verb, const char *path,
                     const char *options)
{
    char *text = NULL;
    size_t size;
    FILE *out = vs_xstream(&text, &size);
    fprintf(out, "%s ", verb);
    vs_text_shell(out, path);
    fprintf(out, "%s%s", *options ? " " : "", options);
    vs_xstream_end(out);
    vs_json_string(json, key, text);
    free(text);
}
