/* SPDX-License-Identifier: Apache-2.0
 *
 * What a loaded object exports, read from its own tables: the loader's dlsym waits for
 * whoever is loading something, and that one may be waiting for us. */
#ifndef VS_OBJECT_SYMBOLS_H
#define VS_OBJECT_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct dl_phdr_info; /* of link.h, for those who ask it for that */

struct vs_object_symbols {
    uint64_t base;
    const ElfW(Sym) *symbols;
    const char *strings;
    const uint32_t *gnu_hash, *hash;
};

/* vs_object_symbols_read: the tables of the object that *info* is of; false when it has none.
 * They last as long as the object. */
bool vs_object_symbols_read(const struct dl_phdr_info *info, struct vs_object_symbols *t);

/* vs_object_symbols_find: the symbol *name* as the object defines it, in any version; NULL
 * when it does not. */
const ElfW(Sym) *vs_object_symbols_find(const struct vs_object_symbols *t, const char *name);

/* vs_object_symbols_address: likewise, its address; 0 when there is none. */
uint64_t vs_object_symbols_address(const struct vs_object_symbols *t, const char *name);

#endif
