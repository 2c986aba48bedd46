/* SPDX-License-Identifier: Apache-2.0
 *
 * A minimal interposer of the driver that works like vramscope: preloaded, it replaces
 * cuGetProcAddress_v2 in dlsym and in its own results, and cuMemAlloc_v2 and cuMemFree_v2 by the
 * address of the exported symbol. At exit it prints the number of calls. */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static CUresult (*real_get)(const char *, void **, int, cuuint64_t,
                            CUdriverProcAddressQueryResult *);
static CUresult (*real_alloc)(CUdeviceptr *, size_t);
static CUresult (*real_free)(CUdeviceptr);
static int lookups, allocs, frees;

static CUresult hooked_alloc(CUdeviceptr *p, size_t bytes)
{
    allocs++;
    return real_alloc(p, bytes);
}

static CUresult hooked_free(CUdeviceptr p)
{
    frees++;
    return real_free(p);
}

static CUresult hooked_get(const char *symbol, void **pfn, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult *status)
{
    CUresult e = real_get(symbol, pfn, version, flags, status);
    lookups++;
    if (e != CUDA_SUCCESS || !*pfn)
        return e;
    if (*pfn == (void *)real_alloc)
        *pfn = (void *)hooked_alloc;
    else if (*pfn == (void *)real_free)
        *pfn = (void *)hooked_free;
    else if (*pfn == (void *)real_get)
        *pfn = (void *)hooked_get;
    return e;
}

static void *next_dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);
    if (!real)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (!real)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!real)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17"); /* aarch64 */
    return real ? real(handle, name) : NULL;
}

EXPORT void *dlsym(void *handle, const char *name)
{
    void *found = next_dlsym(handle, name);
    if (!found || strcmp(name, "cuGetProcAddress_v2"))
        return found;
    *(void **)&real_get = found;
    *(void **)&real_alloc = next_dlsym(handle, "cuMemAlloc_v2");
    *(void **)&real_free = next_dlsym(handle, "cuMemFree_v2");
    return (void *)hooked_get;
}

__attribute__((destructor)) static void report(void)
{
    if (lookups)
        printf("interposed: %s lookups, %d allocations, %d frees\n", lookups > 100 ? "all" : "few",
               allocs, frees);
}
