/* SPDX-License-Identifier: Apache-2.0
 *
 * Names from a trace as text; see the header. */
#include "analysis/naming/name_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/reading/vs_xalloc.h"

size_t vs_text_width(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

/* The control characters U+0080 to U+009F are two bytes in UTF-8; a single byte in that range is
 * not UTF-8, and terminals ignore it. */
char vs_text_next(const char **text)
{
    const unsigned char *at = (const unsigned char *)(*text)++;
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
        (*text)++;
        return '?';
    }
    return at[0] < ' ' || at[0] == 0x7f ? '?' : (char)at[0];
}

char *vs_text_clean(char *text)
{
    const char *from = text;
    char *to = text;
    while (*from)
        *to++ = vs_text_next(&from);
    *to = 0;
    return text;
}

char *vs_text_clip(char *out, const char *text, size_t columns)
{
    bool cut = vs_text_width(text) > columns;
    size_t keep = cut && columns ? columns - 1 : columns, seen = 0;
    char *p = out;
    while (*text) {
        if (((unsigned char)*text & 0xc0) != 0x80 && seen++ == keep)
            break;
        *p++ = vs_text_next(&text);
    }
    if (cut && columns) {
        memcpy(p, "…", strlen("…"));
        p += strlen("…");
    }
    *p = 0;
    return out;
}

const char *vs_text_copy(struct vs_arena *memory, const char *text)
{
    return vs_xarena_text(memory, text ? text : "");
}
