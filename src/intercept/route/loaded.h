/* SPDX-License-Identifier: Apache-2.0
 *
 * The objects loaded into this process: found by name or by an address in them, and the symbols
 * that one of them defines. */
#ifndef VS_LOADED_H
#define VS_LOADED_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/stacks/elf_symbols.h"

/* A loaded object. The texts belong to the loader and live as long as the object. */
struct vs_loaded {
    const char *path; /* as in the loader's list; empty for the program */
    const char *name; /* its soname, else the last part of the path */
    uintptr_t base;
    const ElfW(Dyn) *dynamic;
};

/* A copy of its names, which outlasts it. */
struct vs_loaded_names {
    char path[PATH_MAX], name[NAME_MAX + 1];
};

/* vs_loaded_from: converts the loader's entry. */
struct vs_loaded vs_loaded_from(const struct link_map *map);

/* vs_loaded_is: does the name or the file's name begin with *prefix*? */
bool vs_loaded_is(const struct vs_loaded *object, const char *prefix);

/* vs_loaded_each: calls *visit* for every object of the program's namespace until it returns other
 * than 0, which is then the result. The loader's lock of its list is held: dladdr, dlsym and dlopen
 * take another lock before it, so calling them there can hang the process. */
int vs_loaded_each(int (*visit)(const struct vs_loaded *, void *), void *arg);

/* vs_loaded_find: the first object that vs_loaded_is *prefix*; *names* may be NULL. */
bool vs_loaded_find(const char *prefix, struct vs_loaded_names *names);

/* vs_loaded_open: a handle of that object, which the caller closes; NULL if there is none. Loads
 * nothing. */
void *vs_loaded_open(const char *prefix);

/* vs_loaded_at: the object that contains *address*; false if there is none. Waits for the loader
 * only if the program's namespace has no such object. */
bool vs_loaded_at(const void *address, struct vs_loaded *object);
/* vs_loaded_at_in_visit: the same, in the program's namespace only; may be called from a visit. */
bool vs_loaded_at_in_visit(const void *address, struct vs_loaded *object);

/* vs_loaded_at_start: was it loaded with the program, not by dlopen? */
bool vs_loaded_at_start(const struct vs_loaded *object);

/* vs_loaded_stays: true for an object that is never unloaded: it was loaded with the program, or is
 * one of CUDA's, which this call then keeps loaded. Waits for the loader once for each of those. */
bool vs_loaded_stays(const struct vs_loaded *object);

/* vs_loaded_self: the loader's entry of this library; NULL if not available. Like vs_loaded_from
 * and vs_loaded_symbol it calls nothing outside this library, so it works while the process is
 * still being started. */
const struct link_map *vs_loaded_self(void);

/* vs_loaded_self_at_start: was this library loaded with the program? */
bool vs_loaded_self_at_start(void);

/* vs_loaded_symbol: the definition of *name* in *object*, as a reference to *version* would find
 * it: of that version or of none. NULL *version*: any; VS_LOADED_DEFAULT: for a reference without a
 * version. NULL if it has none. */
#define VS_LOADED_DEFAULT VS_ELF_DEFAULT
void *vs_loaded_symbol(const struct vs_loaded *object, const char *name, const char *version);

/* vs_loaded_symbols: the tables of its symbols; false if it has none. */
bool vs_loaded_symbols(const struct vs_loaded *object, struct vs_elf_symbols *symbols);

/* vs_loaded_value: a number of its dynamic section; 0 if the section lacks it. */
size_t vs_loaded_value(const struct vs_loaded *object, ElfW(Sxword) tag);

#endif
