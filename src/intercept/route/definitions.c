/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Objects loaded with the program come first in the loader's list, in the order in
 * which references are bound, and stay; the loader itself is the last of them that is identified as
 * such. Objects opened later may be in any scope: the caller decides what that means for a name. */
#define _GNU_SOURCE
#include "intercept/route/definitions.h"

#include <dlfcn.h>
#include <string.h>

#include "intercept/route/real_symbols.h"

struct definitions_search {
    const char *name;
    struct vs_definitions *found;
    bool start_over; /* after the objects loaded with the program */
    bool after_us;
};

static int look_at(const struct vs_loaded *object, void *arg)
{
    struct definitions_search *s = arg;
    struct vs_definitions *found = s->found;
    bool start = !s->start_over;
    s->start_over |= object->base == _r_debug.r_ldbase;
    if (object->dynamic == _DYNAMIC) {
        s->after_us = start;
        return 0;
    }
    if (start && s->after_us && found->start.fn)
        return 0;
    void *fn = vs_loaded_symbol(object, s->name, VS_LOADED_DEFAULT);
    if (fn && start && s->after_us)
        found->start = (struct vs_definition){fn, *object};
    else if (fn && found->later_count++ < VS_DEFINITIONS_LATER)
        found->later[found->later_count - 1] = (struct vs_definition){fn, *object};
    return 0;
}

static int look_behind_us(const struct vs_loaded *object, void *arg)
{
    struct definitions_search *s = arg;
    return s->after_us || object->dynamic == _DYNAMIC ? look_at(object, arg) : 0;
}

void vs_definitions_find(const char *name, struct vs_definitions *found)
{
    struct definitions_search search = {.name = name, .found = found};
    *found = (struct vs_definitions){.later_count = 0};
    /* objects before us are not searched by RTLD_NEXT; if we were opened later, their order is
     * unknown */
    vs_loaded_each(vs_loaded_self_at_start() ? look_behind_us : look_at, &search);
}

/* The list of objects loaded with the program never changes, and the loader ends it: it is walked
 * without any lock, as in the child of a fork one may be held for ever by a thread that does not
 * exist there. */
static void *next_at_start(const char *name)
{
    const struct link_map *map = vs_loaded_self_at_start() ? vs_loaded_self() : NULL;
    bool last = !map;
    while (!last && (map = map->l_next)) {
        struct vs_loaded object = vs_loaded_from(map);
        void *fn = vs_loaded_symbol(&object, name, VS_LOADED_DEFAULT);
        if (fn)
            return fn;
        last = object.base == _r_debug.r_ldbase;
    }
    return NULL;
}

void *vs_next_symbol(const char *name)
{
    struct vs_definitions found;
    void *fn = next_at_start(name);
    if (fn)
        return fn;
    vs_definitions_find(name, &found);
    if (found.start.fn || !found.later_count)
        return found.start.fn;
    return vs_libc_dlsym()(RTLD_NEXT, name);
}

void *vs_next_stored(_Atomic(void *) *slot, const char *name)
{
    void *fn = atomic_load_explicit(slot, memory_order_relaxed);
    if (!fn) {
        fn = vs_next_symbol(name);
        atomic_store_explicit(slot, fn, memory_order_relaxed);
    }
    return fn;
}

void *vs_next_symbol_of(const char *prefix, const char *name)
{
    struct vs_definitions found;
    vs_definitions_find(name, &found);
    if (found.start.fn || !found.later_count)
        return found.start.fn;
    if (found.later_count == 1 && vs_loaded_is(&found.later[0].object, prefix))
        return found.later[0].fn;
    void *fn = vs_libc_dlsym()(RTLD_NEXT, name);
    return fn ? fn : vs_definition_in(prefix, name);
}

struct definitions_wanted {
    const char *prefix, *name;
    void *fn;
};

static int look_into(const struct vs_loaded *object, void *arg)
{
    struct definitions_wanted *wanted = arg;
    if (!vs_loaded_is(object, wanted->prefix))
        return 0;
    wanted->fn = vs_loaded_symbol(object, wanted->name, VS_LOADED_DEFAULT);
    return 1;
}

void *vs_definition_in(const char *prefix, const char *name)
{
    struct definitions_wanted wanted = {prefix, name, NULL};
    vs_loaded_each(look_into, &wanted);
    return wanted.fn;
}
