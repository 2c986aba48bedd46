/* SPDX-License-Identifier: Apache-2.0
 *
 * An interposer of the runtime's cudaMalloc and cudaFree that forwards by dlsym(RTLD_NEXT), and
 * prints the number of its calls at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int allocs, frees;

static void next(void *slot, const char *name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    memcpy(slot, &fn, sizeof fn);
}

EXPORT int cudaMalloc(void **p, size_t bytes);
EXPORT int cudaMalloc(void **p, size_t bytes)
{
    static int (*real)(void **, size_t);
    if (!real)
        next(&real, "cudaMalloc");
    allocs++;
    return real(p, bytes);
}

EXPORT int cudaFree(void *p);
EXPORT int cudaFree(void *p)
{
    static int (*real)(void *);
    if (!real)
        next(&real, "cudaFree");
    frees++;
    return real(p);
}

__attribute__((destructor)) static void report(void)
{
    printf("next: %d allocations, %d frees\n", allocs, frees);
}
