/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the names of the kernels in a PTX text, so that an unknown name is not found. Nothing else
 * is examined: no instruction, no type, no variable (PTX ISA, "Directives": .version comes first,
 * .entry NAME begins a kernel). */
#include "simulator/driver/vs_sim_driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Skips white space and comments. */
static const char *skip(const char *p)
{
    for (;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (p[0] != '/' || (p[1] != '/' && p[1] != '*'))
            return p;
        const char *close = p[1] == '/' ? "\n" : "*/", *end = strstr(p + 2, close);
        /* an unterminated comment extends to the end */
        p = end ? end + strlen(close) : p + strlen(p);
    }
}

static size_t word_length(const char *p)
{
    size_t n = *p == '.';
    while (isalnum((unsigned char)p[n]) || (p[n] && strchr("_$%", p[n])))
        n++;
    return n;
}

static bool is_word(const char *p, const char *word)
{
    return word_length(p) == strlen(word) && !strncmp(p, word, strlen(word));
}

/* The name of the first kernel at or after **p*, which is advanced past it; NULL: none. */
static const char *next_entry(const char **p, size_t *length)
{
    for (const char *at = skip(*p); *at; at = skip(at)) {
        if (*at == '"') { /* a string: file names, sections */
            const char *end = strchr(at + 1, '"');
            at = end ? end + 1 : at + strlen(at);
            continue;
        }
        bool entry = is_word(at, ".entry");
        size_t n = word_length(at);
        at += n ? n : 1;
        if (!entry)
            continue;
        at = skip(at);
        *length = word_length(at);
        *p = at + *length;
        return at;
    }
    return NULL;
}

char *vs_sim_ptx_entries(const void *image)
{
    const char *begin = image, *name;
    if (*begin != '.' && *begin != '/' && !isspace((unsigned char)*begin))
        return NULL; /* device code of another kind, which may contain no zero byte */
    begin = skip(begin);
    if (!is_word(begin, ".version"))
        return NULL;
    size_t bytes = 1, length;
    for (const char *p = begin; next_entry(&p, &length);)
        bytes += length + 1;
    char *names = calloc(1, bytes), *to = names;
    for (const char *p = begin; names && (name = next_entry(&p, &length)); to += length + 1)
        memcpy(to, name, length);
    return names;
}

bool vs_sim_ptx_has(const char *entries, const char *name)
{
    for (; *entries; entries += strlen(entries) + 1)
        if (!strcmp(entries, name))
            return true;
    return false;
}
