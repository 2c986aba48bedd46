/* SPDX-License-Identifier: Apache-2.0 */
#include "viewer/common/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/reading/vs_xalloc.h"
#include "base/vs_utf8.h"
#include "viewer/common/text_style.h"

void vs_json_text(FILE *out, const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *plain = p;
    putc('"', out);
    while (*p) {
        size_t n = vs_utf8_length(p, SIZE_MAX);
        if (n > 0 && *p >= 0x20 && *p != '"' && *p != '\\' && *p != 0x7f) {
            p += n;
            continue;
        }
        fwrite(plain, 1, (size_t)(p - plain), out);
        if (n == 0)
            fputs(VS_UTF8_REPLACEMENT, out);
        else if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else
            fprintf(out, "\\u%04x", *p);
        plain = ++p;
    }
    fwrite(plain, 1, (size_t)(p - plain), out);
    putc('"', out);
}

static void new_line(struct vs_json *json)
{
    if (!json->pretty)
        return;
    putc('\n', json->out);
    for (unsigned i = 0; i < json->depth; i++)
        fputs("  ", json->out);
}

void vs_json_member(struct vs_json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->used[json->depth - 1])
            putc(',', json->out);
        json->used[json->depth - 1] = true;
        new_line(json);
    }
    if (key) {
        vs_json_text(json->out, key);
        fputs(json->pretty ? ": " : ":", json->out);
    }
}

static void begin(struct vs_json *json, const char *key, char bracket)
{
    vs_json_member(json, key);
    putc(bracket, json->out);
    if (json->depth < VS_JSON_DEPTH_MAX)
        json->used[json->depth] = false;
    json->depth++;
}

static void end(struct vs_json *json, char bracket)
{
    json->depth--;
    if (json->used[json->depth])
        new_line(json);
    putc(bracket, json->out);
    if (json->depth == 0)
        putc('\n', json->out);
}

void vs_json_begin_object(struct vs_json *json, const char *key) { begin(json, key, '{'); }
void vs_json_end_object(struct vs_json *json) { end(json, '}'); }
void vs_json_begin_array(struct vs_json *json, const char *key) { begin(json, key, '['); }
void vs_json_end_array(struct vs_json *json) { end(json, ']'); }

void vs_json_string(struct vs_json *json, const char *key, const char *text)
{
    vs_json_member(json, key);
    if (text)
        vs_json_text(json->out, text);
    else
        fputs("null", json->out);
}

void vs_json_uint(struct vs_json *json, const char *key, uint64_t value)
{
    vs_json_member(json, key);
    fprintf(json->out, "%" PRIu64, value);
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
    vs_json_member(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void vs_json_bool(struct vs_json *json, const char *key, bool value)
{
    vs_json_member(json, key);
    fputs(value ? "true" : "false", json->out);
}

void vs_json_ratio(struct vs_json *json, const char *key, double value)
{
    vs_json_member(json, key);
    if (isfinite(value))
        fprintf(json->out, "%.6f", value);
    else
        fputs("null", json->out);
}

void vs_json_put_members(struct vs_json *json, const struct vs_json_item *members)
{
    for (const struct vs_json_item *m = members; m->key; m++)
        switch (m->type) {
        case VS_JSON_ABSENT: break;
        case VS_JSON_UINT: vs_json_uint(json, m->key, m->uint); break;
        case VS_JSON_INT: vs_json_int(json, m->key, m->sint); break;
        case VS_JSON_BOOL: vs_json_bool(json, m->key, m->uint); break;
        case VS_JSON_TEXT: vs_json_string(json, m->key, m->text); break;
        case VS_JSON_RATIO: vs_json_ratio(json, m->key, m->ratio); break;
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
    vs_json_begin_object(json, key);
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
