/* SPDX-License-Identifier: Apache-2.0
 *
 * An interposer of the driver's cuMemAlloc, cuMemFree and cuGetProcAddress, which forwards by WAY:
 * 1, dlsym(RTLD_NEXT); 2, dlsym on a handle of the driver; 3, a table of its own that
 * cuGetProcAddress filled while the program was being loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef int get_fn(const char *, void **, int, uint64_t, int *);

static int allocs, frees;
static struct {
    int (*alloc)(uintptr_t *, size_t);
    int (*release)(uintptr_t);
    get_fn *get;
} table;

static void find(void *slot, const char *name)
{
    void *handle = RTLD_NEXT;
    if (WAY != 1)
        handle = dlopen("libcuda.so.1", RTLD_NOW);
    void *fn = handle ? dlsym(handle, name) : NULL;
    memcpy(slot, &fn, sizeof fn);
}

static void fill(void)
{
    void *fn = NULL;
    int status;
    if (!table.get)
        find(&table.get, "cuGetProcAddress_v2");
    if (WAY == 3) {
        if (table.get && table.get("cuMemAlloc", &fn, 12000, 0, &status) == 0)
            memcpy(&table.alloc, &fn, sizeof fn);
        if (table.get && table.get("cuMemFree", &fn, 12000, 0, &status) == 0)
            memcpy(&table.release, &fn, sizeof fn);
    } else {
        find(&table.alloc, "cuMemAlloc_v2");
        find(&table.release, "cuMemFree_v2");
    }
}

#if WAY == 3
__attribute__((constructor)) static void start(void)
{
    fill();
}
#endif

EXPORT int cuMemAlloc_v2(uintptr_t *p, size_t bytes);
EXPORT int cuMemAlloc_v2(uintptr_t *p, size_t bytes)
{
    if (!table.alloc)
        fill();
    allocs++;
    return table.alloc(p, bytes);
}

EXPORT int cuMemFree_v2(uintptr_t p);
EXPORT int cuMemFree_v2(uintptr_t p)
{
    if (!table.release)
        fill();
    frees++;
    return table.release(p);
}

EXPORT int cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status);
EXPORT int cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *status)
{
    if (!table.get)
        fill();
    int r = table.get(name, fn, version, flags, status);
    if (r == 0 && strcmp(name, "cuMemAlloc") == 0)
        *fn = (void *)cuMemAlloc_v2;
    else if (r == 0 && strcmp(name, "cuMemFree") == 0)
        *fn = (void *)cuMemFree_v2;
    return r;
}

__attribute__((destructor)) static void report(void)
{
    printf("driver: %d allocations, %d frees\n", allocs, frees);
}
