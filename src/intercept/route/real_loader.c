/* SPDX-License-Identifier: Apache-2.0
 *
 * The loader's own functions behind those that we export: of the next library in the preload order,
 * and libc's. Found in the objects' own tables, without the loader's functions, which are being
 * looked for; also while the process is still being started. */
#define _GNU_SOURCE
#include <stdatomic.h>

#include "intercept/route/loaded.h"
#include "intercept/route/real_symbols.h"

#if defined(__x86_64__)
#define VERSION_OLD "GLIBC_2.2.5"
#else
#define VERSION_OLD "GLIBC_2.17"
#endif

/* The target of a reference to name@version without us: the first object after us that defines it.
 * Objects loaded with the program are searched in the order of the list; libc is one of them. */
static void *after_us(const char *name, const char *version)
{
    const struct link_map *map = vs_loaded_self();
    for (map = map ? map->l_next : _r_debug.r_map; map; map = map->l_next) {
        struct vs_loaded object = vs_loaded_from(map);
        void *fn = vs_loaded_symbol(&object, name, version);
        if (fn)
            return fn;
    }
    return NULL;
}

static void *of_libc(const char *name)
{
    void *fn = NULL;
    for (const struct link_map *map = _r_debug.r_map; map && !fn; map = map->l_next) {
        struct vs_loaded object = vs_loaded_from(map);
        if (vs_loaded_is(&object, "libc.so.6") || vs_loaded_is(&object, "libdl.so.2"))
            fn = vs_loaded_symbol(&object, name, NULL);
    }
    return fn;
}

/* Before glibc 2.34 the newer version does not exist, nor do its callers. */
static void *next_of(_Atomic(void *) slots[2], const char *name, bool old)
{
    void *fn = atomic_load_explicit(&slots[old], memory_order_acquire);
    if (fn)
        return fn;
    fn = after_us(name, old ? VERSION_OLD : "GLIBC_2.34");
    if (!fn)
        fn = after_us(name, old ? "GLIBC_2.34" : VERSION_OLD);
    if (!fn)
        fn = of_libc(name); /* the program opened us after libc */
    atomic_store_explicit(&slots[old], fn, memory_order_release);
    return fn;
}

vs_dlsym_fn vs_real_dlsym(bool old)
{
    static _Atomic(void *) slots[2];
    return (vs_dlsym_fn)next_of(slots, "dlsym", old);
}

vs_dlvsym_fn vs_real_dlvsym(bool old)
{
    static _Atomic(void *) slots[2];
    return (vs_dlvsym_fn)next_of(slots, "dlvsym", old);
}

char *vs_real_dlerror(void)
{
    static _Atomic(void *) slots[2];
    return ((char *(*)(void))next_of(slots, "dlerror", false))();
}

int vs_real_dlclose(void *handle)
{
    static _Atomic(void *) slots[2];
    return ((int (*)(void *))next_of(slots, "dlclose", false))(handle);
}

vs_dlsym_fn vs_libc_dlsym(void)
{
    static _Atomic(void *) slot;
    void *fn = atomic_load_explicit(&slot, memory_order_acquire);
    if (!fn) {
        fn = of_libc("dlsym");
        if (!fn)
            fn = (void *)vs_real_dlsym(false);
        atomic_store_explicit(&slot, fn, memory_order_release);
    }
    return (vs_dlsym_fn)fn;
}
