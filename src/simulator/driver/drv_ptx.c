/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the target, the names of the kernels and the variables in a PTX text, so that an unknown name is
 * not found. Nothing else is examined: no instruction, no initial value (PTX ISA, "Directives": .version
 * comes first, then .target sm_NN, .entry NAME begins a kernel, .global a variable). */
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

/* After .global or .const: its type, name and dimensions. */
static const char *variable_at(const char **p, size_t *length, size_t *bytes)
{
    size_t count = 1, bits = 0, number;
    const char *at = skip(*p);
    for (; *at == '.'; at = skip(at + word_length(at))) {
        if (sscanf(at, ".v%zu", &number) == 1)
            count *= number;
        else if (is_word(at, ".align"))
            at = skip(at + strlen(".align"));
        else if (is_word(at, ".attribute"))
            at = strchr(at, ')') ? strchr(at, ')') + 1 : at;
        else
            sscanf(at, ".%*1[bsuf]%zu", &bits);
    }
    const char *name = at;
    *length = word_length(at);
    for (at = skip(at + *length); *at == '['; at = skip(at)) {
        char *end;
        count *= strtoull(at + 1, &end, 0);
        at = end + strcspn(end, "]");
        at += *at == ']';
    }
    *p = at;
    *bytes = count * bits / 8;
    return *length && *bytes ? name : NULL;
}

const char *vs_sim_ptx_variable(const char **p, size_t *length, size_t *bytes)
{
    bool elsewhere = false; /* .extern */
    int depth = 0;          /* of bodies, initial values and parameters */
    for (const char *at = skip(*p), *name; *at; at = skip(at)) {
        if (*at == '"') {
            const char *end = strchr(at + 1, '"');
            at = end ? end + 1 : at + strlen(at);
            continue;
        }
        depth += (*at == '{' || *at == '(') - (*at == '}' || *at == ')');
        bool variable = !depth && !elsewhere && (is_word(at, ".global") || is_word(at, ".const"));
        elsewhere = is_word(at, ".extern") || (elsewhere && *at != ';');
        at += word_length(at) ? word_length(at) : 1;
        *p = at;
        if (variable && (name = variable_at(p, length, bytes)))
            return name;
        at = *p;
    }
    return NULL;
}

const char *vs_sim_ptx_text(const void *code)
{
    const char *image = code;
    if (*image != '.' && *image != '/' && !isspace((unsigned char)*image))
        return NULL;
    image = skip(image);
    return is_word(image, ".version") ? image : NULL;
}

bool vs_sim_ptx_target(const void *image, unsigned device, unsigned *arch)
{
    const char *version = vs_sim_ptx_text(image), *target = version ? strstr(version, ".target") : NULL;
    unsigned number;
    char kind = 0;
    if (!target || sscanf(target, ".target sm_%u%c", &number, &kind) < 1)
        return true;
    *arch = number;
    return kind == 'a' ? number == device : number <= device;
}

char *vs_sim_ptx_entries(const void *image)
{
    const char *begin = vs_sim_ptx_text(image), *name;
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
