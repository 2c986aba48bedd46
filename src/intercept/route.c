/* SPDX-License-Identifier: Apache-2.0
 *
 * Routing: how a program's calls arrive at our handlers, and how ours reach the
 * real functions. Three ways in, one table: our exported symbols come first in
 * the preload order; dlsym on a handle is answered with the handler when the
 * real answer is a hooked function; cuGetProcAddress likewise, by mapping the
 * pointer that the driver returned (never the name, whose version rules are the
 * driver's business). Everything that is not CUDA leaves dlsym by a jump, so
 * that RTLD_NEXT stays relative to the true caller.
 *
 * No lock: slots are write-once atomics and every writer stores the same value. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/vs_log.h"
#include "intercept/cupti_guard.h"
#include "intercept/hook.h"
#include "intercept/inject_replay.h"
#include "intercept/route.h"

struct hook {
    const char *name;
    void *handler;
    bool driver;
    _Atomic(void *) real; /* atomic, write-once; release pairs with acquire in vs_hook_real */
    _Atomic bool absent;  /* the loaded driver has no such symbol: no need to ask again */
};

static struct hook hooks[VS_HOOK_COUNT] = {
#define VS_DRIVER_HOOK(name, params, args) {#name, (void *)name, true, NULL, false},
#define VS_RUNTIME_HOOK(name, params, args) {#name, (void *)name, false, NULL, false},
#include "intercept/hook_table.h"
#undef VS_DRIVER_HOOK
#undef VS_RUNTIME_HOOK
};

_Thread_local struct vs_thread vs_thread __attribute__((tls_model("initial-exec")));

typedef void *(*dlsym_fn)(void *, const char *);
static _Atomic(void *) real_dlsym;  /* atomic, write-once */
static _Atomic(void *) driver_handle; /* atomic, write-once; libcuda.so.1, never closed */

static dlsym_fn dlsym_real(void)
{
    void *fn = atomic_load_explicit(&real_dlsym, memory_order_acquire);
    if (fn)
        return (dlsym_fn)fn;
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; !fn && i < sizeof versions / sizeof *versions; i++)
        fn = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    atomic_store_explicit(&real_dlsym, fn, memory_order_release);
    return (dlsym_fn)fn;
}

static void *driver_open(void)
{
    void *handle = atomic_load_explicit(&driver_handle, memory_order_acquire);
    if (handle)
        return handle;
    handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        atomic_store_explicit(&driver_handle, handle, memory_order_release);
    return handle;
}

void *vs_route_symbol(void *handle, const char *name)
{
    return dlsym_real()(handle, name);
}

void *vs_driver_symbol(const char *name)
{
    void *handle = driver_open();
    return handle ? dlsym_real()(handle, name) : NULL;
}

static int find_runtime(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    if (strncmp(base, "libcudart.so", strlen("libcudart.so")) != 0)
        return 0;
    strncpy(arg, info->dlpi_name, PATH_MAX - 1);
    return 1;
}

/* A runtime loaded into a local scope (a Python extension's, say) is not among
 * the objects that RTLD_NEXT searches. */
static void *runtime_symbol(const char *name)
{
    char path[PATH_MAX] = "";
    dl_iterate_phdr(find_runtime, path);
    void *handle = *path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!handle)
        return NULL;
    void *fn = dlsym_real()(handle, name);
    dlclose(handle);
    return fn;
}

static void *hook_resolve(struct hook *hook)
{
    void *fn = NULL;
    if (atomic_load_explicit(&hook->absent, memory_order_relaxed))
        return NULL;
    if (hook->driver)
        fn = vs_driver_symbol(hook->name);
    if (!fn)
        fn = dlsym_real()(RTLD_NEXT, hook->name);
    if (!fn && !hook->driver)
        fn = runtime_symbol(hook->name);
    if (fn == hook->handler)
        fn = NULL;
    if (fn)
        atomic_store_explicit(&hook->real, fn, memory_order_release);
    else if (hook->driver && driver_open())
        atomic_store_explicit(&hook->absent, true, memory_order_relaxed);
    return fn;
}

void *vs_hook_real(enum vs_hook_id id)
{
    void *fn = vs_replay_function(id);
    if (!fn)
        fn = atomic_load_explicit(&hooks[id].real, memory_order_acquire);
    return fn ? fn : hook_resolve(&hooks[id]);
}

static bool hook_resolved(struct hook *hook)
{
    return atomic_load_explicit(&hook->real, memory_order_acquire) || hook_resolve(hook);
}

static struct hook *hook_by_name(const char *name)
{
    for (int i = 0; i < VS_HOOK_COUNT; i++) {
        if (strcmp(hooks[i].name, name) == 0)
            return &hooks[i];
    }
    return NULL;
}

/* Is *pointer* inside an object whose file name starts with *prefix*? */
static bool pointer_in(const void *pointer, const char *prefix)
{
    Dl_info info;
    if (!dladdr(pointer, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    return strncmp(slash ? slash + 1 : info.dli_fname, prefix, strlen(prefix)) == 0;
}

/* The answer to dlsym(handle, name) for *hook*, NULL when the name has none, after
 * the real answer *fn*. A second copy of
 * the same library (another CUDA major) keeps its own function: its calls are
 * seen one layer down, in the driver. */
static void *map_by_name(struct hook *hook, void *fn)
{
    if (!hook || !fn || fn == hook->handler)
        return fn;
    void *known = atomic_load_explicit(&hook->real, memory_order_acquire);
    if (!known && pointer_in(fn, hook->driver ? "libcuda.so" : "libcudart.so")) {
        atomic_store_explicit(&hook->real, fn, memory_order_release);
        known = fn;
    }
    return known == fn ? hook->handler : fn;
}

static void *map_by_pointer(void *fn)
{
    for (int i = 0; i < VS_HOOK_COUNT; i++) {
        if (hooks[i].driver && vs_hook_real((enum vs_hook_id)i) == fn)
            return hooks[i].handler;
    }
    return fn;
}

static bool name_is_cuda(const char *name)
{
    if (name[0] != 'c' || name[1] != 'u')
        return false;
    return (name[2] >= 'A' && name[2] <= 'Z') || (name[2] == 'd' && name[3] == 'a');
}

/* dlsym's answer when only we have *name*: NULL, and an error for dlerror. Nobody
 * has the version asked for. */
static void *no_such_symbol(const char *name)
{
    return dlvsym(RTLD_DEFAULT, name, "CUDA");
}

/* As for CUDA's own functions; see vs_route_dlsym. */
static void *route_cupti(void *handle, const char *name, void **result)
{
    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT)
        *result = vs_cupti_guard(name, dlsym_real()(handle, name));
    else if (vs_cupti_guard_absent(name))
        *result = no_such_symbol(name);
    else
        return (void *)dlsym_real();
    return NULL;
}

void *vs_route_dlsym(void *handle, const char *name, void **result)
{
    dlsym_fn real = dlsym_real();
    if (name && strncmp(name, "cupti", strlen("cupti")) == 0)
        return route_cupti(handle, name, result);
    if (!name || !name_is_cuda(name))
        return (void *)real;
    /* RTLD_NEXT and RTLD_DEFAULT find our exported handlers by themselves, in the
     * order that the loader gives the caller, and so does the handle of the program.
     * A program that only asks whether CUDA is there must not be told so by our
     * presence alone. */
    struct hook *hook = hook_by_name(name);
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT) {
        if (hook && !hook_resolved(hook))
            *result = no_such_symbol(name);
        else
            return (void *)real;
    } else {
        *result = map_by_name(hook, real(handle, name));
        if (hook && *result == hook->handler && !hook_resolved(hook))
            *result = no_such_symbol(name);
    }
    return NULL;
}

VS_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
                                       cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    CUresult r = VS_REAL(cuGetProcAddress_v2, symbol, pfn, version, flags, status);
    if (r == CUDA_SUCCESS && pfn && *pfn)
        *pfn = map_by_pointer(*pfn);
    return r;
}

VS_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    CUresult r = VS_REAL(cuGetProcAddress, symbol, pfn, version, flags);
    if (r == CUDA_SUCCESS && pfn && *pfn)
        *pfn = map_by_pointer(*pfn);
    return r;
}
