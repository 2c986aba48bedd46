/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA runtime that can be unloaded, like NVIDIA's: two functions over the driver, with NVIDIA's
 * soname and symbol version. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int (*alloc)(uintptr_t *, size_t);
static int (*release)(uintptr_t);

static int enter(void)
{
    int (*get)(const char *, void **, int, uint64_t, int *) = NULL;
    int (*init)(unsigned) = NULL, (*retain)(void **, int) = NULL, (*set)(void *) = NULL;
    int status;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    void *fn = driver ? dlsym(driver, "cuGetProcAddress_v2") : NULL;
    memcpy(&get, &fn, sizeof fn);
    if (!get || get("cuInit", (void **)&init, 12000, 0, &status) ||
        get("cuMemAlloc", (void **)&alloc, 12000, 0, &status) ||
        get("cuMemFree", (void **)&release, 12000, 0, &status) ||
        get("cuDevicePrimaryCtxRetain", (void **)&retain, 12000, 0, &status) ||
        get("cuCtxSetCurrent", (void **)&set, 12000, 0, &status))
        return 1;
    return init(0) || retain(&context, 0) || set(context);
}

EXPORT int cudaMalloc(void **p, size_t bytes);
EXPORT int cudaMalloc(void **p, size_t bytes)
{
    uintptr_t address = 0;
    int e = alloc ? 0 : enter();
    if (!e)
        e = alloc(&address, bytes);
    *p = (void *)address;
    return e;
}

EXPORT int cudaFree(void *p);
EXPORT int cudaFree(void *p)
{
    return release ? release((uintptr_t)p) : 1;
}
