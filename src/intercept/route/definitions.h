/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the definitions of a name without the loader's lock. dlsym and dlopen wait while another
 * thread loads a library, and that library's constructors may wait for the caller: a call of CUDA
 * must not depend on them. */
#ifndef VS_DEFINITIONS_H
#define VS_DEFINITIONS_H

#include <stdbool.h>

#include "intercept/route/loaded.h"

struct vs_definition {
    void *fn; /* NULL: none */
    struct vs_loaded object;
};

#define VS_DEFINITIONS_LATER 8

/* The definitions of one name outside this library. If the program opened this library itself, all
 * count as later ones. */
struct vs_definitions {
    struct vs_definition start; /* the first after us, among those loaded with the program */
    struct vs_definition later[VS_DEFINITIONS_LATER]; /* of libraries that were opened, in order */
    unsigned later_count;                             /* may exceed the number stored */
};

/* vs_definitions_find: *name* in its default version. Any thread; takes only the lock of the
 * loader's list, which no constructor runs under. */
void vs_definitions_find(const char *name, struct vs_definitions *found);

/* vs_next_symbol: the result of RTLD_NEXT from here. Calls the loader only for a name that no
 * object loaded with the program defines. */
void *vs_next_symbol(const char *name);

/* vs_next_stored: the same, stored in *slot* once it is found. */
void *vs_next_stored(_Atomic(void *) *slot, const char *name);

/* vs_next_symbol_of: the same, in a library named *prefix*, which may be in a scope that RTLD_NEXT
 * does not search. */
void *vs_next_symbol_of(const char *prefix, const char *name);

/* vs_definition_in: *name* in the first object that vs_loaded_is *prefix*; NULL if there is none or
 * it lacks the name. */
void *vs_definition_in(const char *prefix, const char *name);

#endif
