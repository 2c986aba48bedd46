/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "trace/stacks/elf_symbols.h"

#define VERSION_HIDDEN 0x8000
#define VERSION_BASE 1

static bool same(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

const ElfW(Dyn) *vs_elf_dynamic(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    return NULL;
}

const ElfW(Dyn) *vs_elf_entry(const ElfW(Dyn) *dynamic, ElfW(Sxword) tag)
{
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == tag)
            return dynamic;
    }
    return NULL;
}

const void *vs_elf_pointer(uintptr_t base, const ElfW(Dyn) *dynamic, ElfW(Sxword) tag)
{
    const ElfW(Dyn) *found = vs_elf_entry(dynamic, tag);
    if (!found)
        return NULL;
    uintptr_t at = (uintptr_t)found->d_un.d_ptr;
    return (const void *)(at < base ? at + base : at);
}

bool vs_elf_symbols_read(uintptr_t base, const ElfW(Dyn) *dynamic, struct vs_elf_symbols *s)
{
    const ElfW(Dyn) *count = vs_elf_entry(dynamic, DT_VERDEFNUM);
    *s = (struct vs_elf_symbols){.base = base,
                                 .table = vs_elf_pointer(base, dynamic, DT_SYMTAB),
                                 .strings = vs_elf_pointer(base, dynamic, DT_STRTAB),
                                 .gnu_hash = vs_elf_pointer(base, dynamic, DT_GNU_HASH),
                                 .hash = vs_elf_pointer(base, dynamic, DT_HASH),
                                 .versions = vs_elf_pointer(base, dynamic, DT_VERSYM),
                                 .definitions = vs_elf_pointer(base, dynamic, DT_VERDEF),
                                 .definition_count = count ? (size_t)count->d_un.d_val : 0};
    return s->table && s->strings;
}

/* The name of version *index*, NULL if the object does not define it. */
static const char *version_name(const struct vs_elf_symbols *s, unsigned index)
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

static bool fits(const struct vs_elf_symbols *s, uint32_t i, const char *name, const char *version)
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

static const ElfW(Sym) *find_by_gnu_hash(const struct vs_elf_symbols *s, const char *name,
                                         const char *version)
{
    const uint32_t buckets = s->gnu_hash[0], first = s->gnu_hash[1], words = s->gnu_hash[2];
    const uint32_t *bucket = s->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    for (; i >= first && i; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && fits(s, i, name, version))
            return &s->table[i];
        if (chain[i - first] & 1)
            break;
    }
    return NULL;
}

const ElfW(Sym) *vs_elf_symbols_find(const struct vs_elf_symbols *s, const char *name,
                                     const char *version)
{
    if (s->gnu_hash)
        return find_by_gnu_hash(s, name, version);
    for (uint32_t i = 1; s->hash && i < s->hash[1]; i++) {
        if (fits(s, i, name, version))
            return &s->table[i];
    }
    return NULL;
}

uintptr_t vs_elf_symbols_address(const struct vs_elf_symbols *s, const char *name,
                                 const char *version)
{
    const ElfW(Sym) *symbol = vs_elf_symbols_find(s, name, version);
    return symbol ? s->base + (uintptr_t)symbol->st_value : 0;
}
