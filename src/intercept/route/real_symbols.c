/* SPDX-License-Identifier: Apache-2.0
 *
 * The real function behind each exported one: the same symbol in the next library of the preload
 * order, another interposer or the library itself. Found on first use and stored, unless it is in
 * an object that may be unloaded; CUDA's own libraries are then kept loaded, so that a program that
 * closes and reopens them gets the same code.
 *
 * The caller may be a thread that another one waits for while it loads a library with the loader's
 * lock held: so symbols are read from the objects' own tables wherever these are unambiguous
 * (definitions.h), and work that takes that lock is done earlier, while the program itself calls
 * the loader for CUDA (vs_hook_prepare).
 *
 * No lock: slots are write-once atomics and every writer stores the same value. */
#define _GNU_SOURCE
#include "intercept/route/real_symbols.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "intercept/route/replayed_call.h"
#include "intercept/route/definitions.h"
#include "intercept/route/loaded.h"

struct hook {
    const char *name;
    void *handler;
    _Atomic(void *) real;   /* atomic, write-once; release pairs with acquire in vs_hook_real */
    _Atomic(void *) driver; /* likewise: the driver's own, if real belongs to another interposer */
    _Atomic bool absent;    /* the loaded driver has no such symbol: do not look it up again */
};

/* hooked as long as programs call them */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static struct hook hooks[VS_HOOK_COUNT] = {
#define VS_DRIVER_HOOK(name, ...) {#name, (void *)name, NULL, NULL, false},
#include "generated/hook_table.h"
};

static const char *const runtime_names[VS_RUNTIME_COUNT] = {
#define VS_RUNTIME_HOOK(name, ...) #name,
#include "generated/hook_table.h"
};

static const char *const runtime_versions[VS_RUNTIME_VERSION_COUNT] = {
#define VS_ROW(suffix, version, ...) version,
    VS_RUNTIME_VERSIONS(VS_ROW, )
#undef VS_ROW
};

static _Atomic(void *) runtime_real[VS_RUNTIME_COUNT][VS_RUNTIME_VERSION_COUNT]; /* write-once */
static _Atomic(void *) driver_handle; /* atomic, write-once; libcuda.so.1, never closed */
static _Atomic(const struct link_map *) driver_map; /* likewise: its entry in the loader's list */

_Thread_local struct vs_hook_thread vs_thread __attribute__((tls_model("initial-exec")));

/* A handle for dlsym. */
static void *driver_open(void)
{
    void *handle = atomic_load_explicit(&driver_handle, memory_order_acquire);
    if (handle)
        return handle;
    handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        handle = vs_loaded_open("libcuda.so");
    if (handle)
        atomic_store_explicit(&driver_handle, handle, memory_order_release);
    return handle;
}

/* The driver, which stays loaded; without the loader if it was loaded with the program. */
static const struct link_map *driver_find(void)
{
    const struct link_map *map = atomic_load_explicit(&driver_map, memory_order_acquire);
    if (map)
        return map;
    for (map = _r_debug.r_map; map && map->l_addr != _r_debug.r_ldbase; map = map->l_next) {
        struct vs_loaded object = vs_loaded_from(map);
        if (strcmp(object.name, "libcuda.so.1") == 0)
            break;
    }
    if (!map || map->l_addr == _r_debug.r_ldbase)
        map = driver_open(); /* as glibc does */
    if (map)
        atomic_store_explicit(&driver_map, map, memory_order_release);
    return map;
}

static int keep_runtime(const struct vs_loaded *object, void *arg)
{
    struct vs_loaded *runtimes = arg;
    for (int i = 0; i < VS_RUNTIME_VERSION_COUNT && vs_loaded_is(object, "libcudart"); i++) {
        if (!runtimes[i].dynamic) {
            runtimes[i] = *object;
            break;
        }
    }
    return 0;
}

void vs_hook_prepare(void)
{
    struct vs_loaded runtimes[VS_RUNTIME_VERSION_COUNT] = {{.dynamic = NULL}};
    if (driver_find())
        (void)driver_open();
    vs_loaded_each(keep_runtime, runtimes);
    for (int i = 0; i < VS_RUNTIME_VERSION_COUNT && runtimes[i].dynamic; i++)
        (void)vs_loaded_stays(&runtimes[i]);
}

/* No library intercepts libc's dlsym, or that of the former libdl. */
static bool chain_is_libcs(void)
{
    static _Atomic int known; /* 1: it is, 2: it is not */
    int is = atomic_load_explicit(&known, memory_order_relaxed);
    if (!is) {
        struct vs_definitions found;
        vs_definitions_find("dlsym", &found);
        is = found.start.fn && (vs_loaded_is(&found.start.object, "libc.so.6") ||
                                vs_loaded_is(&found.start.object, "libdl.so.2"))
                 ? 1
                 : 2;
        atomic_store_explicit(&known, is, memory_order_relaxed);
    }
    return is == 1;
}

static void *driver_own(const struct link_map *map, const char *name)
{
    struct vs_loaded driver = vs_loaded_from(map);
    return vs_loaded_symbol(&driver, name, VS_LOADED_DEFAULT);
}

/* The only definition of *name* is the driver's *own*, or there is none if that is NULL. */
static bool only_driver_has(const char *name, const void *own)
{
    struct vs_definitions found;
    vs_definitions_find(name, &found);
    return (!found.start.fn || found.start.fn == own) &&
           (!found.later_count || (found.later_count == 1 && found.later[0].fn == own));
}

/* The result of dlsym with the driver's handle, by the next definition of dlsym after us. */
static void *look_up_in_driver(const struct link_map *map, const char *name)
{
    void *own = driver_own(map, name);
    bool plain = chain_is_libcs() && (own || only_driver_has(name, NULL));
    void *handle = plain ? NULL : driver_open();
    /* an interposer may intercept one version of dlsym only: the one that is not libc's */
    return handle ? vs_real_dlsym(vs_real_dlsym(false) == vs_libc_dlsym())(handle, name) : own;
}

static bool keep(void *fn)
{
    struct vs_loaded object;
    return vs_loaded_at(fn, &object) && vs_loaded_stays(&object);
}

/* Results are stored: dlsym waits while another thread loads a library, and that library's
 * constructors may wait for a lock that we hold. */
_Atomic(void *) vs_driver_functions[VS_FN_COUNT]; /* atomic, write-once; release pairs with acquire */

void *vs_driver_find(enum vs_driver_function id)
{
    static const char *const names[VS_FN_COUNT] = {
#define VS_DRIVER_FUNCTION(name, params) #name,
#include "generated/driver_table.h"
    };
    static _Atomic bool absent[VS_FN_COUNT]; /* what the driver lacks now, it lacks for good */
    const struct link_map *driver =
        atomic_load_explicit(&absent[id], memory_order_relaxed) ? NULL : driver_find();
    void *fn = driver ? look_up_in_driver(driver, names[id]) : NULL;
    if (driver && !fn)
        atomic_store_explicit(&absent[id], true, memory_order_relaxed);
    else if (fn && (fn == driver_own(driver, names[id]) || keep(fn)))
        atomic_store_explicit(&vs_driver_functions[id], fn, memory_order_release);
    return fn;
}

bool vs_driver_has(const enum vs_driver_function *functions, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all &= vs_driver_function(functions[i]) != NULL;
    return all;
}

static void *hook_resolve(struct hook *hook)
{
    if (atomic_load_explicit(&hook->absent, memory_order_relaxed))
        return NULL;
    const struct link_map *driver = driver_find();
    void *own = driver ? driver_own(driver, hook->name) : NULL;
    bool alone = only_driver_has(hook->name, own);
    if (driver && !own && !alone) {
        void *handle = driver_open();
        own = handle ? vs_libc_dlsym()(handle, hook->name) : NULL;
    }
    /* in the order of the program's own calls: exported symbols after us, then the dlsym after
     * us */
    void *fn = alone ? own : vs_next_symbol(hook->name);
    if (driver && (!fn || fn == own))
        fn = look_up_in_driver(driver, hook->name);
    if (fn == hook->handler)
        fn = own;
    if (!fn) {
        if (driver)
            atomic_store_explicit(&hook->absent, true, memory_order_relaxed);
        return NULL;
    }
    if (own && own != hook->handler)
        atomic_store_explicit(&hook->driver, own, memory_order_release);
    if ((driver && fn == driver_own(driver, hook->name)) || keep(fn))
        atomic_store_explicit(&hook->real, fn, memory_order_release);
    return fn;
}

_Thread_local struct vs_injected_call vs_replay __attribute__((tls_model("initial-exec"))) = {.hook = -1};
bool vs_replay_on;

CUresult vs_replay_result(void)
{
    vs_replay.hook = -1; /* other calls of the handler are real */
    return vs_replay.result;
}

void *vs_hook_real(enum vs_hook_id id)
{
    void *fn = vs_replay_function(id);
    if (!fn)
        fn = atomic_load_explicit(&hooks[id].real, memory_order_acquire);
    return fn ? fn : hook_resolve(&hooks[id]);
}

void *vs_hook_handler(enum vs_hook_id id)
{
    return hooks[id].handler;
}

enum vs_hook_id vs_hook_named(const char *name)
{
    int i = 0;
    while (i < VS_HOOK_COUNT && strcmp(hooks[i].name, name) != 0)
        i++;
    return (enum vs_hook_id)i;
}

enum vs_runtime_id vs_runtime_named(const char *name)
{
    int i = 0;
    while (i < VS_RUNTIME_COUNT && strcmp(runtime_names[i], name) != 0)
        i++;
    return (enum vs_runtime_id)i;
}

static bool same_object(const void *a, const void *b)
{
    struct vs_loaded of_a, of_b;
    return vs_loaded_at(a, &of_a) && vs_loaded_at(b, &of_b) && of_a.dynamic == of_b.dynamic;
}

bool vs_hook_behind(enum vs_hook_id id, const void *fn, const void *caller)
{
    const void *real = vs_hook_real(id);
    const void *own = atomic_load_explicit(&hooks[id].driver, memory_order_acquire);
    if (!real || (fn != real && fn != own))
        return false;
    return real == own || !own || !same_object(real, caller);
}

/* ---- the runtime ---- */

/* The version of the runtime that contains *fn*; _any for a version without a name here, and _COUNT
 * if it is not a runtime function. */
static enum vs_runtime_version version_of(const void *fn)
{
    struct vs_loaded object;
    if (!vs_loaded_at(fn, &object) || !vs_loaded_is(&object, "libcudart"))
        return VS_RUNTIME_VERSION_COUNT;
    int i = VS_RUNTIME_VERSION_COUNT - 1;
    while (i > VS_RUNTIME_VERSION_any && strcmp(object.name, runtime_versions[i]) != 0)
        i--;
    return (enum vs_runtime_version)i;
}

/* The next definition after us. A runtime loaded into a local scope (by a Python extension, for
 * example) is not among the objects that RTLD_NEXT searches, but is used if there is no other. */
static void *runtime_next(const char *name, bool any_will_do)
{
    struct vs_definitions found;
    vs_definitions_find(name, &found);
    bool runtimes = found.later_count && found.later_count <= VS_DEFINITIONS_LATER;
    for (unsigned i = 0; runtimes && i < found.later_count; i++)
        runtimes = vs_loaded_is(&found.later[i].object, "libcudart");
    if (found.start.fn || !found.later_count)
        return found.start.fn;
    if (runtimes && (any_will_do || found.later_count == 1))
        return found.later[0].fn;
    void *fn = vs_libc_dlsym()(RTLD_NEXT, name);
    return fn ? fn : vs_definition_in("libcudart", name);
}

static void *runtime_resolve(enum vs_runtime_id id, enum vs_runtime_version version)
{
    const char *name = runtime_names[id];
    void *fn = runtime_next(name, version != VS_RUNTIME_VERSION_any);
    if (version != VS_RUNTIME_VERSION_any) {
        enum vs_runtime_version found = fn ? version_of(fn) : VS_RUNTIME_VERSION_any;
        /* another interposer's is valid for all */
        void *own = found < VS_RUNTIME_VERSION_COUNT && found != version
                        ? vs_definition_in(runtime_versions[version], name)
                        : NULL;
        fn = own ? own : fn;
    }
    if (fn && same_object(fn, vs_runtime_handlers))
        return NULL;
    if (fn && keep(fn))
        atomic_store_explicit(&runtime_real[id][version], fn, memory_order_release);
    return fn;
}

void *vs_runtime_real(enum vs_runtime_id id, enum vs_runtime_version version)
{
    void *fn = atomic_load_explicit(&runtime_real[id][version], memory_order_acquire);
    return fn ? fn : runtime_resolve(id, version);
}

void *vs_runtime_exported(enum vs_runtime_id id, void *fn)
{
    enum vs_runtime_version version = VS_RUNTIME_VERSION_any;
    if (fn == vs_runtime_handlers[id][VS_RUNTIME_VERSION_any]) {
        void *real = vs_runtime_real(id, VS_RUNTIME_VERSION_any);
        version = real ? version_of(real) : VS_RUNTIME_VERSION_COUNT;
        return version < VS_RUNTIME_VERSION_COUNT ? vs_runtime_handlers[id][version] : fn;
    }
    version = version_of(fn);
    return version < VS_RUNTIME_VERSION_COUNT && vs_runtime_real(id, version) == fn
               ? vs_runtime_handlers[id][version]
               : fn;
}

bool vs_next_is_ours(const char *name, const void *caller)
{
    struct vs_loaded from, object = {.dynamic = NULL};
    const struct link_map *map = _r_debug.r_map, *self = vs_loaded_self();
    if (!self || !vs_loaded_at(caller, &from))
        return false;
    for (; map && map->l_ld != from.dynamic; map = map->l_next)
        ;
    for (map = map ? map->l_next : NULL; map; map = map->l_next) {
        object = vs_loaded_from(map);
        if (vs_loaded_symbol(&object, name, NULL))
            break;
    }
    return map && object.dynamic == self->l_ld;
}
