/* SPDX-License-Identifier: Apache-2.0
 *
 * The symbols of one loaded object, read from its own tables: other libraries intercept the loader's
 * dlsym, it searches more than one object, and it waits for the thread that is loading a library,
 * which may be waiting for us. Nothing here calls the loader or libc: it works in callbacks of
 * dl_iterate_phdr, and while the process is still being started. */
#ifndef VS_ELF_SYMBOLS_H
#define VS_ELF_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dl_phdr_info; /* link.h */

/* The tables of an object's symbols; valid as long as it is loaded. */
struct vs_elf_symbols {
    uintptr_t base;
    const ElfW(Sym) *table;
    const char *strings;
    const uint32_t *gnu_hash;   /* one of the two, or neither */
    const uint32_t *hash;
    const ElfW(Half) *versions; /* may be NULL */
    const char *definitions;    /* likewise; of versions */
    size_t definition_count;
};

/* vs_elf_dynamic: the dynamic section of the object of *info*; NULL if it has none. */
const ElfW(Dyn) *vs_elf_dynamic(const struct dl_phdr_info *info);

/* vs_elf_entry: the entry *tag* of a dynamic section (may be NULL); NULL if there is none.
 * vs_elf_pointer: its value as an address; the loader relocates these in some objects and not in
 * others. */
const ElfW(Dyn) *vs_elf_entry(const ElfW(Dyn) *dynamic, ElfW(Sxword) tag);
const void *vs_elf_pointer(uintptr_t base, const ElfW(Dyn) *dynamic, ElfW(Sxword) tag);

/* vs_elf_symbols_read: finds the tables of the object at *base*; false if it has none. */
bool vs_elf_symbols_read(uintptr_t base, const ElfW(Dyn) *dynamic, struct vs_elf_symbols *symbols);

/* vs_elf_symbols_find: the definition of *name*, as a reference to *version* would find it: of that
 * version or of none. NULL *version*: any; VS_ELF_DEFAULT: for a reference without a version. NULL
 * if there is none. vs_elf_symbols_address: its address; 0 if there is none. */
#define VS_ELF_DEFAULT ""
const ElfW(Sym) *vs_elf_symbols_find(const struct vs_elf_symbols *symbols, const char *name,
                                     const char *version);
uintptr_t vs_elf_symbols_address(const struct vs_elf_symbols *symbols, const char *name,
                                 const char *version);

#endif
