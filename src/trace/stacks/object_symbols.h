/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported symbols of a loaded object, read from its own tables. dlsym is not used: it waits
 * for the thread that is loading a library, and that thread may be waiting for us. */
#ifndef VS_OBJECT_SYMBOLS_H
#define VS_OBJECT_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info; /* link.h */

struct vs_object_symbols {
    uint64_t base;
    const ElfW(Sym) *symbols;
    const char *strings;
    const uint32_t *gnu_hash, *hash;
};

/* vs_object_symbols_read: finds the symbol tables of the object of *info*; false when it has none.
 * They are valid as long as the object is loaded. */
bool vs_object_symbols_read(const struct dl_phdr_info *info, struct vs_object_symbols *t);

/* vs_object_symbols_find: the symbol *name* defined by the object, in any version; NULL when it
 * defines none. */
const ElfW(Sym) *vs_object_symbols_find(const struct vs_object_symbols *t, const char *name);

/* vs_object_symbols_address: the address of that symbol; 0 when there is none. */
uint64_t vs_object_symbols_address(const struct vs_object_symbols *t, const char *name);

#endif
