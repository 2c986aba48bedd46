/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that uses CUDA: linked with its own runtime, static or of another major version,
 * without that runtime's headers. MOMENT 1: also in its constructor; 2: its constructor opens
 * another plugin and calls it; 3: without a runtime, it looks up the driver's functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#if MOMENT == 3
#include <cuda.h>
#define DRIVER(name, ...) (*(CUresult(*)(__VA_ARGS__))dlsym(dlopen("libcuda.so.1", RTLD_LAZY), name))

static int cudaMalloc(void **p, size_t bytes)
{
    CUcontext context;
    int e = DRIVER("cuInit", unsigned)(0);
    if (!e)
        e = DRIVER("cuDevicePrimaryCtxRetain", CUcontext *, CUdevice)(&context, 0);
    if (!e)
        e = DRIVER("cuCtxSetCurrent", CUcontext)(context);
    return e ? e : (int)DRIVER("cuMemAlloc_v2", void **, size_t)(p, bytes);
}
static int cudaFree(void *p) { return (int)DRIVER("cuMemFree_v2", void *)(p); }
static int cudaRuntimeGetVersion(int *version) { return (int)DRIVER("cuDriverGetVersion", int *)(version); }
static int cudaGetLastError(void) { return 2; }
#else
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaRuntimeGetVersion(int *);
int cudaGetLastError(void);
#endif

/* plugin_work: *count* allocations of *bytes* and their frees; 0, or the error. */
EXPORT int plugin_work(int count, size_t bytes);
EXPORT int plugin_work(int count, size_t bytes)
{
    for (int i = 0; i < count; i++) {
        void *p;
        int e = cudaMalloc(&p, bytes);
        if (!e)
            e = cudaFree(p);
        if (e)
            return e;
    }
    return 0;
}

/* plugin_version: of the runtime that its calls use. */
EXPORT int plugin_version(void);
EXPORT int plugin_version(void)
{
    int version = 0;
    return cudaRuntimeGetVersion(&version) ? -1 : version;
}

/* plugin_error: does the runtime that plugin_work's calls use keep their error? */
EXPORT int plugin_fails(void);
EXPORT int plugin_fails(void)
{
    void *p;
    int e = cudaMalloc(&p, (size_t)1 << 50);
    int kept = cudaGetLastError();
    return e == kept ? e : -1;
}

#if MOMENT == 1
__attribute__((constructor)) static void start(void)
{
    if (plugin_work(2, 4096))
        _Exit(96);
}
#elif MOMENT == 2
__attribute__((constructor)) static void start(void)
{
    char path[4096];
    Dl_info info;
    if (!dladdr((void *)start, &info))
        _Exit(96);
    snprintf(path, sizeof path - 32, "%s", info.dli_fname);
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "libroute_plugin_static.so");
    void *other = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*work)(int, size_t) = NULL;
    void *fn = other ? dlsym(other, "plugin_work") : NULL;
    memcpy(&work, &fn, sizeof fn);
    if (!work || work(3, 8192))
        _Exit(96);
    dlclose(other);
}
#endif
