/* SPDX-License-Identifier: Apache-2.0
 *
 * Symbols of one object, read from its own tables: other libraries intercept the loader's dlsym,
 * and it searches more than one object. Runs while the process is still being started, so nothing
 * here calls into libc. */
#define _GNU_SOURCE
#include <link.h>

#include "intercept/route/loaded.h"

#define VERSION_HIDDEN 0x8000
#define VERSION_BASE 1

static bool same(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

const struct link_map *vs_loaded_self(void)
{
    const struct link_map *map = _r_debug.r_map;
    while (map && map->l_ld != _DYNAMIC)
        map = map->l_next;
    return map;
}

bool vs_loaded_symbols(const struct vs_loaded *object, struct vs_loaded_symbols *s)
{
    *s = (struct vs_loaded_symbols){
        .table = vs_loaded_pointer(object, DT_SYMTAB),
        .strings = vs_loaded_pointer(object, DT_STRTAB),
        .gnu_hash = vs_loaded_pointer(object, DT_GNU_HASH),
        .hash = vs_loaded_pointer(object, DT_HASH),
        .versions = vs_loaded_pointer(object, DT_VERSYM),
        .definitions = vs_loaded_pointer(object, DT_VERDEF),
        .definition_count = vs_loaded_value(object, DT_VERDEFNUM)};
    return s->table && s->strings;
}

/* The name of version *index*, NULL if the object does not define it. */
static const char *version_name(const struct vs_loaded_symbols *s, unsigned index)
{
    const char *at = s->definitions;
    for (size_t i = 0; at && i < s->definition_count; i++) {
        const ElfW(Verdef) *definition = (const ElfW(Verdef) *)at;
        if (definition->vd_ndx == index && !(definition->vd_flags & VER_FLG_BASE))
            return s->strings + ((const ElfW(Verdaux) *)(at + definition->vd_aux))->vda_name;
        at += definition->vd_next;
    }
    return NULL;
}

static bool fits(const struct vs_loaded_symbols *s, uint32_t i, const char *name,
                 const char *version)
{
    const ElfW(Sym) *symbol = &s->table[i];
    if (symbol->st_shndx == SHN_UNDEF || !same(s->strings + symbol->st_name, name))
        return false;
    if (!version || !s->versions)
        return true;
    if (!*version)
        return !(s->versions[i] & VERSION_HIDDEN);
    unsigned index = s->versions[i] & ~VERSION_HIDDEN;
    const char *own = version_name(s, index);
    if (own)
        return same(own, version);
    return index == VERSION_BASE && !(s->versions[i] & VERSION_HIDDEN);
}

static uint32_t find_by_gnu_hash(const struct vs_loaded_symbols *s, const char *name,
                                 const char *version)
{
    const uint32_t buckets = s->gnu_hash[0], first = s->gnu_hash[1], words = s->gnu_hash[2];
    const uint32_t *bucket = s->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    if (i < first)
        return 0;
    for (;; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && fits(s, i, name, version))
            return i;
        if (chain[i - first] & 1)
            return 0;
    }
}

static uint32_t find_one_by_one(const struct vs_loaded_symbols *s, const char *name,
                                const char *version)
{
    for (uint32_t i = 1; i < s->hash[1]; i++) {
        if (fits(s, i, name, version))
            return i;
    }
    return 0;
}

void *vs_loaded_symbol(const struct vs_loaded *object, const char *name, const char *version)
{
    struct vs_loaded_symbols s;
    uint32_t i = 0;
    if (!vs_loaded_symbols(object, &s))
        return NULL;
    if (s.gnu_hash)
        i = find_by_gnu_hash(&s, name, version);
    else if (s.hash)
        i = find_one_by_one(&s, name, version);
    return i ? (void *)(object->base + (uintptr_t)s.table[i].st_value) : NULL;
}
