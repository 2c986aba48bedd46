/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the target and the names of the kernels in a PTX text, so that an unknown name is not found.
 * Nothing else is examined: no instruction, no type, no variable (PTX ISA, "Directives": .version
 * comes first, then .target sm_NN, .entry NAME begins a kernel). */
#include "simulator/driver/vs_sim_driver.h"

#include <ctype.h>
#include <stdio.h>
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

/* The .version of a PTX text; NULL if *image* is device code of another kind, which may contain no
 * zero byte. */
static const char *version_of(const char *image)
{
    if (*image != '.' && *image != '/' && !isspace((unsigned char)*image))
        return NULL;
    image = skip(image);
    return is_word(image, ".version") ? image : NULL;
}

bool vs_sim_ptx_target(const void *image, unsigned device, unsigned *arch)
{
    const char *version = version_of(image), *target = version ? strstr(version, ".target") : NULL;
    unsigned number;
    char kind = 0;
    if (!target || sscanf(target, ".target sm_%u%c", &number, &kind) < 1)
        return true;
    *arch = number;
    return kind == 'a' ? number == device : number <= device;
}

char *vs_sim_ptx_entries(const void *image)
{
    const char *begin = version_of(image), *name;
    if (!begin)
        return NULL;
    size_t bytes = 1, length;
    for (const char *p = begin; next_entry(&p, &length);)
        bytes += length + 1;
    char *names = vs_sim_need(calloc(1, bytes)), *to = names;
    for (const char *p = begin; (name = next_entry(&p, &length)); to += length + 1)
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
