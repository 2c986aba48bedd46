/* SPDX-License-Identifier: Apache-2.0
 *
 * Routing of a program's calls to our handlers. Three ways, one table: our exported symbols come
 * first in the preload order; dlsym on a handle returns the handler if the real result is a hooked
 * function; cuGetProcAddress likewise, by mapping the pointer that the driver returned (never the
 * name, whose version rules only the driver knows). dlsym calls for other names leave by a jump, so
 * that RTLD_NEXT stays relative to the true caller. real_symbols.c finds the real functions. */
#define _GNU_SOURCE
#include "intercept/route/route.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "base/vs_text.h"
#include "intercept/route/hook.h"
#include "intercept/route/loaded.h"
#include "intercept/route/real_symbols.h"
#include "intercept/route/upcalls.h"

/* A version that no symbol has; dlerror removes it from the message. */
#define NOBODYS_VERSION "VRAMSCOPE_NONE"

/* One lookup: the table's row of the name, and the caller. */
struct route_question {
    enum vs_hook_id hook;          /* VS_HOOK_COUNT: not a driver function of the table */
    enum vs_runtime_id runtime;    /* VS_RUNTIME_COUNT: nor a runtime function */
    const void *caller;
};

static bool is_handler(const struct route_question *q, const void *fn)
{
    if (q->hook < VS_HOOK_COUNT)
        return fn == vs_hook_handler(q->hook);
    return q->runtime < VS_RUNTIME_COUNT &&
           fn == vs_runtime_handlers[q->runtime][VS_RUNTIME_VERSION_any];
}

/* The result, given the real one *fn*. A second copy of the same library keeps its own function:
 * its calls are recorded one layer below, in the driver. */
static void *exported(const struct route_question *q, void *fn)
{
    if (fn && q->hook < VS_HOOK_COUNT && vs_hook_behind(q->hook, fn, q->caller))
        return vs_hook_handler(q->hook);
    return fn && q->runtime < VS_RUNTIME_COUNT ? vs_runtime_exported(q->runtime, fn) : fn;
}

/* dlsym's result if only we have the name: NULL, and an error for dlerror. */
static void *no_such_symbol(void **third, bool old)
{
    *third = (void *)NOBODYS_VERSION;
    return (void *)vs_real_dlvsym(old);
}

/* Is there such a function in the scopes that the loader searches for the caller? Those of a
 * library that was opened may be larger than the program's. */
static bool visible(const struct route_question *q, const char *name)
{
    struct vs_loaded caller;
    if (vs_libc_dlsym()(RTLD_NEXT, name))
        return true;
    if (!vs_loaded_at(q->caller, &caller) || vs_loaded_at_start(&caller))
        return false;
    /* a program that tests whether CUDA is installed must not find only our exports */
    if (q->hook < VS_HOOK_COUNT)
        return vs_hook_real(q->hook) != NULL;
    return q->runtime == VS_RUNTIME_COUNT || vs_runtime_real(q->runtime, VS_RUNTIME_VERSION_any);
}

/* RTLD_DEFAULT and RTLD_NEXT: if the loader would not find our function first, it answers itself,
 * for the true caller. */
static void *in_scope(const struct route_question *q, void *handle, const char *name, void **third,
                      bool old)
{
    bool ours = handle == RTLD_DEFAULT ? is_handler(q, vs_libc_dlsym()(RTLD_DEFAULT, name))
                                       : vs_next_is_ours(name, q->caller);
    if (!ours)
        return (void *)vs_real_dlsym(old);
    if (!visible(q, name))
        return no_such_symbol(third, old);
    if (q->runtime == VS_RUNTIME_COUNT)
        return (void *)vs_real_dlsym(old);
    /* of the version that the program was linked with, so that both compare equal */
    *third = exported(q, vs_runtime_handlers[q->runtime][VS_RUNTIME_VERSION_any]);
    return NULL;
}

void *vs_route_symbol(void *handle, const char *name)
{
    return vs_libc_dlsym()(handle, name);
}

/* As for CUDA's own functions. */
static void *route_cupti(void *handle, const char *name, void **third, bool old)
{
    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT)
        *third = vs_upcalls.cupti_found(name, vs_real_dlsym(old)(handle, name));
    else if (vs_upcalls.cupti_absent(name))
        return no_such_symbol(third, old);
    else
        return (void *)vs_real_dlsym(old);
    return NULL;
}

static void *in_handle(const struct route_question *q, void *handle, const char *name, void **third,
                       enum vs_route_entry entry)
{
    bool old = entry & VS_ROUTE_DLSYM_OLD;
    void *fn = entry & VS_ROUTE_DLVSYM ? vs_real_dlvsym(old)(handle, name, *third)
                                       : vs_real_dlsym(old)(handle, name);
    /* the program's own handle finds ours */
    if (is_handler(q, fn) && !vs_libc_dlsym()(RTLD_NEXT, name))
        return no_such_symbol(third, old);
    *third = exported(q, fn);
    return NULL;
}

/* The real functions by enum vs_route_entry, for dlsym_entry.S; write-once. */
_Atomic(void *) vs_route_next[4] __attribute__((visibility("hidden")));

void *vs_route(void *handle, const char *name, void **third, enum vs_route_entry entry,
               const void *caller)
{
    bool old = entry & VS_ROUTE_DLSYM_OLD, versioned = entry & VS_ROUTE_DLVSYM;
    void *real = versioned ? (void *)vs_real_dlvsym(old) : (void *)vs_real_dlsym(old);
    atomic_store_explicit(&vs_route_next[entry], real, memory_order_release);
    if (name && !versioned && vs_text_begins(name, "cupti"))
        return route_cupti(handle, name, third, old);
    if (!name || name[0] != 'c' || name[1] != 'u' ||
        !((name[2] >= 'A' && name[2] <= 'Z') || (name[2] == 'd' && name[3] == 'a')))
        return real;
    vs_hook_prepare();
    struct route_question q = {vs_hook_named(name), vs_runtime_named(name), caller};
    if (q.hook == VS_HOOK_COUNT && q.runtime == VS_RUNTIME_COUNT)
        return real;
    if (handle != RTLD_NEXT && handle != RTLD_DEFAULT)
        return in_handle(&q, handle, name, third, entry);
    return versioned ? real : in_scope(&q, handle, name, third, old);
}

/* The message of a lookup that no_such_symbol failed, with the text it would have without us. */
VS_EXPORT char *dlerror(void)
{
    char *text = vs_real_dlerror();
    char *ours = text ? strstr(text, ", version " NOBODYS_VERSION) : NULL;
    if (ours)
        *ours = 0;
    return text;
}

static void *map_by_pointer(void *fn, const void *caller)
{
    for (int i = 0; i < VS_HOOK_COUNT; i++) {
        if (vs_hook_behind((enum vs_hook_id)i, fn, caller))
            return vs_hook_handler((enum vs_hook_id)i);
    }
    return fn;
}

VS_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
                                       cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    CUresult r = VS_REAL(cuGetProcAddress_v2, symbol, pfn, version, flags, status);
    if (r == CUDA_SUCCESS && pfn && *pfn)
        *pfn = map_by_pointer(*pfn, __builtin_return_address(0));
    return r;
}

VS_EXPORT CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    CUresult r = VS_REAL(cuGetProcAddress, symbol, pfn, version, flags);
    if (r == CUDA_SUCCESS && pfn && *pfn)
        *pfn = map_by_pointer(*pfn, __builtin_return_address(0));
    return r;
}
