/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the symbols of one loaded object from its own tables; see the header. Called in callbacks
 * of dl_iterate_phdr, which hold the lock of the loader's list: no function here calls the loader.
 */
#define _GNU_SOURCE
#include "trace/stacks/object_symbols.h"

#include <elf.h>
#include <string.h>

/* The loader relocates these addresses in some objects and not in others. */
static const void *address(uint64_t base, uint64_t value)
{
    return (const void *)(uintptr_t)(value < base ? base + value : value);
}

bool vs_object_symbols_read(const struct dl_phdr_info *info, struct vs_object_symbols *t)
{
    const ElfW(Dyn) *dynamic = NULL;
    *t = (struct vs_object_symbols){.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++) {
        const void *at = address(t->base, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB)
            t->symbols = at;
        else if (d->d_tag == DT_STRTAB)
            t->strings = at;
        else if (d->d_tag == DT_GNU_HASH)
            t->gnu_hash = at;
        else if (d->d_tag == DT_HASH)
            t->hash = at;
    }
    return t->symbols && t->strings && (t->gnu_hash || t->hash);
}

static bool is(const struct vs_object_symbols *t, uint32_t i, const char *name)
{
    return t->symbols[i].st_shndx != SHN_UNDEF &&
           strcmp(t->strings + t->symbols[i].st_name, name) == 0;
}

static const ElfW(Sym) *find_by_gnu_hash(const struct vs_object_symbols *t, const char *name)
{
    const uint32_t buckets = t->gnu_hash[0], first = t->gnu_hash[1], words = t->gnu_hash[2];
    const uint64_t *bloom = (const uint64_t *)(const void *)(t->gnu_hash + 4);
    const uint32_t *bucket = (const uint32_t *)(const void *)(bloom + words);
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    if (!buckets || !words)
        return NULL;
    uint64_t bits = bloom[hash / 64 % words];
    if (!(bits >> hash % 64 & bits >> (hash >> t->gnu_hash[3]) % 64 & 1))
        return NULL;
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && is(t, i, name))
            return &t->symbols[i];
        if (chain[i - first] & 1)
            break;
    }
    return NULL;
}

const ElfW(Sym) *vs_object_symbols_find(const struct vs_object_symbols *t, const char *name)
{
    if (t->gnu_hash)
        return find_by_gnu_hash(t, name);
    for (uint32_t i = 1; i < t->hash[1]; i++) {
        if (is(t, i, name))
            return &t->symbols[i];
    }
    return NULL;
}

uint64_t vs_object_symbols_address(const struct vs_object_symbols *t, const char *name)
{
    const ElfW(Sym) *symbol = vs_object_symbols_find(t, name);
    return symbol ? t->base + symbol->st_value : 0;
}
