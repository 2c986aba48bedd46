/* SPDX-License-Identifier: Apache-2.0
 *
 * Rust's older mangling, which is C++'s with a hash as the last part and escapes for what
 * C++'s names cannot hold: what is left to do when the name was read as C++'s. */
#include <stdio.h>
#include <string.h>

#include "trace/symbols/demangle_rust.h"

#define HASH_BYTES 20u /* "17h" 16 digits "E" */

bool vs_demangle_rust_is_legacy(const char *name)
{
    size_t n = strlen(name);
    if (n < HASH_BYTES + 3 || strncmp(name, "_ZN", 3) != 0)
        return false;
    const char *hash = name + n - HASH_BYTES;
    return strncmp(hash, "17h", 3) == 0 && strspn(hash + 3, "0123456789abcdef") == 16 &&
           name[n - 1] == 'E';
}

/* The text that the escape at *p* ("$LT$") stands for; *length* of the escape. */
static const char *escape(const char *p, size_t *length, char *room)
{
    static const struct {
        const char *code, *text;
    } known[] = {{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
                 {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}};
    unsigned code;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *length = strlen(known[i].code);
        if (strncmp(p, known[i].code, *length) == 0)
            return known[i].text;
    }
    if (sscanf(p, "$u%2x$", &code) == 1 && strlen(p) >= 5 && p[4] == '$' && code >= 0x20 &&
        code < 0x7f) {
        *length = 5;
        room[0] = (char)code;
        room[1] = '\0';
        return room;
    }
    return NULL;
}

void vs_demangle_rust_tidy(char *name)
{
    char *out = name, room[2];
    char *hash = strrchr(name, ':');
    size_t length;
    if (hash && hash > name && hash[1] == 'h' && strlen(hash + 1) == 17)
        hash[-1] = '\0';
    for (const char *p = name; *p;) {
        bool begins = p == name || p[-1] == ':';
        const char *text = *p == '$' ? escape(p, &length, room) : NULL;
        if (begins && p[0] == '_' && p[1] == '$') {
            p++; /* stands before an escape that begins a part */
        } else if (text) {
            memmove(out, text, strlen(text)); /* never longer than the escape */
            out += strlen(text);
            p += length;
        } else if (p[0] == '.' && p[1] == '.') {
            *out++ = ':';
            *out++ = ':';
            p += 2;
        } else {
            *out++ = *p++;
        }
    }
    *out = '\0';
}
