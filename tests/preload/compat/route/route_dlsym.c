/* SPDX-License-Identifier: Apache-2.0
 *
 * An interposer of dlsym itself: in both of glibc's versions (VERSIONED), as managers of shared
 * GPUs do, or without any. It replaces the driver's cuGetProcAddress, cuMemAlloc and cuMemFree by
 * functions of its own, forwards to the real ones, and prints the number of its calls at the end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef void *dlsym_fn(void *, const char *);

static int allocs, frees;
static int (*real_alloc)(uintptr_t *, size_t);
static int (*real_free)(uintptr_t);
static int (*real_get)(const char *, void **, int, uint64_t, int *);

static int own_alloc(uintptr_t *p, size_t bytes)
{
    allocs++;
    return real_alloc(p, bytes);
}

static int own_free(uintptr_t p)
{
    frees++;
    return real_free(p);
}

static int own_get(const char *name, void **fn, int version, uint64_t flags, int *status);

/* *fn* is the real function of that name: stores it in *slot*, and returns our own. */
static void *keep(void *slot, void *fn, void *own)
{
    if (fn != own)
        memcpy(slot, &fn, sizeof fn);
    return own;
}

static void *replace(const char *name, void *fn)
{
    if (strcmp(name, "cuMemAlloc") == 0 || strcmp(name, "cuMemAlloc_v2") == 0)
        return keep(&real_alloc, fn, (void *)own_alloc);
    if (strcmp(name, "cuMemFree") == 0 || strcmp(name, "cuMemFree_v2") == 0)
        return keep(&real_free, fn, (void *)own_free);
    if (strcmp(name, "cuGetProcAddress_v2") == 0)
        return keep(&real_get, fn, (void *)own_get);
    return fn;
}

static int own_get(const char *name, void **fn, int version, uint64_t flags, int *status)
{
    int r = real_get(name, fn, version, flags, status);
    bool itself = strcmp(name, "cuGetProcAddress") == 0 && version >= 12000;
    if (r == 0 && *fn)
        *fn = replace(itself ? "cuGetProcAddress_v2" : name, *fn);
    return r;
}

static void *answer(dlsym_fn *real, void *handle, const char *name)
{
    void *fn = real(handle, name);
    return fn && handle != RTLD_NEXT && handle != RTLD_DEFAULT ? replace(name, fn) : fn;
}

static dlsym_fn *next(const char *version, const char *other)
{
    void *fn = dlvsym(RTLD_NEXT, "dlsym", version);
    if (!fn)
        fn = dlvsym(RTLD_NEXT, "dlsym", other);
    dlsym_fn *result;
    memcpy(&result, &fn, sizeof fn);
    return result;
}

#if defined(__x86_64__)
#define OLD "GLIBC_2.2.5"
#else
#define OLD "GLIBC_2.17"
#endif

#if VERSIONED
EXPORT void *dlsym_new(void *handle, const char *name);
EXPORT void *dlsym_old(void *handle, const char *name);
__asm__(".symver dlsym_new, dlsym@@GLIBC_2.34");
__asm__(".symver dlsym_old, dlsym@" OLD);
#define dlsym dlsym_new

EXPORT void *dlsym_old(void *handle, const char *name)
{
    static dlsym_fn *real;
    if (!real)
        real = next(OLD, "GLIBC_2.34");
    return answer(real, handle, name);
}
#endif

EXPORT void *dlsym(void *handle, const char *name)
{
    static dlsym_fn *real;
    if (!real)
        real = next("GLIBC_2.34", OLD);
    return answer(real, handle, name);
}

__attribute__((destructor)) static void report(void)
{
    printf("dlsym: %d allocations, %d frees\n", allocs, frees);
}
