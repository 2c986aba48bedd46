/* SPDX-License-Identifier: Apache-2.0
 *
 * Native call stacks by libunwind with its per-thread cache. The library is
 * loaded with RTLD_LOCAL: it exports _Unwind_* functions, which must not stand
 * in front of the C++ runtime's own in the program's scope. */
#define _GNU_SOURCE
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <pthread.h>

#include "base/vs_log.h"
#include "trace/recorder_internal.h"

/* unw_set_cache_size is a macro for a name with the machine's in it, such as
 * _ULx86_64_set_cache_size */
#define NAME_OF_(symbol) #symbol
#define NAME_OF(symbol) NAME_OF_(symbol)

#define CACHED_PROCEDURES 1024

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*backtrace_fn)(void **, int); /* immutable after load */

static void load(void)
{
    void *handle = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        vs_log(VS_LOG_WARN, "libunwind.so.8 is not there: no call stacks (install libunwind8)");
        return;
    }
    backtrace_fn = (int (*)(void **, int))dlsym(handle, "unw_backtrace");
    if (!backtrace_fn)
        vs_log(VS_LOG_WARN, "libunwind.so.8 has no unw_backtrace: no call stacks");
    unw_addr_space_t *space = dlsym(handle, NAME_OF(unw_local_addr_space));
    __typeof__(&unw_set_caching_policy) set_policy =
        (__typeof__(set_policy))dlsym(handle, NAME_OF(unw_set_caching_policy));
    __typeof__(&unw_set_cache_size) set_size =
        (__typeof__(set_size))dlsym(handle, NAME_OF(unw_set_cache_size));
    if (space && set_policy)
        set_policy(*space, UNW_CACHE_PER_THREAD);
    if (space && set_size)
        set_size(*space, CACHED_PROCEDURES, 0);
}

bool vs_unwind_load(void)
{
    pthread_once(&once, load);
    return backtrace_fn != NULL;
}

size_t vs_unwind_capture(void **pcs, size_t max)
{
    int n = backtrace_fn ? backtrace_fn(pcs, (int)max) : 0;
    return n > 0 ? (size_t)n : 0;
}
