/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym in all the forms that programs use to find CUDA, or to find that it is missing: its
 * results, dlerror's messages, and whether pointers to one function found in different ways are
 * equal. */
#define _GNU_SOURCE
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "victim.h"

VICTIM("routing")

typedef CUresult (*alloc_fn)(CUdeviceptr *, size_t);
typedef CUresult (*free_fn)(CUdeviceptr);
typedef CUresult (*get_fn)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static void context(void)
{
    CUcontext c;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
}

static void use(void *alloc, void *release)
{
    CUdeviceptr p;
    CHECK(alloc && release);
    ALLOCATES(VT_DEVICE, 1 << 20, ((alloc_fn)alloc)(&p, 1 << 20));
    FREES(VT_DEVICE, ((free_fn)release)(p));
}

static void use_names(void *handle)
{
    use(dlsym(handle, "cuMemAlloc_v2"), dlsym(handle, "cuMemFree_v2"));
}

CASE(handles, "dlsym with RTLD_DEFAULT, NULL, RTLD_NEXT, the handles of the program and the driver",
     0)
{
    context();
    use_names(RTLD_DEFAULT);
    use_names(NULL);
    use_names(RTLD_NEXT);
    use_names(dlopen(NULL, RTLD_NOW));
    use_names(dlopen("libcuda.so.1", RTLD_LAZY));
    use_names(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
}

/* A handle of a library also finds the symbols of its dependencies. */
CASE(dependency, "dlsym with the handle of a library that links the driver", 0)
{
    char path[4200];
    ssize_t n = readlink("/proc/self/exe", path, 4096);
    CHECK(n > 0);
    path[n] = 0;
    strcpy(strrchr(path, '/') + 1, "libroute_plugin_driver.so");
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin);
    context();
    use_names(plugin);
}

CASE(versioned, "dlvsym, and glibc's older dlsym", VF_SHARED_ONLY)
{
    context();
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver);
    void *(*old)(void *, const char *);
#if defined(__x86_64__)
    *(void **)&old = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5");
#else
    *(void **)&old = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.17");
#endif
    CHECK(old);
    use(old(driver, "cuMemAlloc_v2"), old(driver, "cuMemFree_v2"));
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    CHECK(runtime);
    printf("of the wrong version: %d\n", dlvsym(runtime, "cudaMalloc", "libcudart.so.12") == NULL);
    use(dlvsym(runtime, "cudaMalloc", "libcudart.so.13"),
        dlvsym(runtime, "cudaFree", "libcudart.so.13"));
}

CASE(equal, "pointers from dlsym, cuGetProcAddress and the linker compared", 0)
{
    context();
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *fn = NULL, *own = NULL;
    CUdriverProcAddressQueryResult status;
    get_fn get = (get_fn)dlsym(driver, "cuGetProcAddress_v2");
    void *alloc = dlsym(driver, "cuMemAlloc_v2");
    printf("linked: %d\n", alloc == (void *)cuMemAlloc);
    printf("default: %d\n", alloc == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
    OK(get("cuMemAlloc", &fn, 12000, 0, &status));
    printf("looked up: %d\n", fn == alloc);
    OK(get("cuMemAllocAsync", &fn, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    printf("per thread: %d\n", fn == dlsym(driver, "cuMemAllocAsync_ptsz"));
    OK(get("cuMemAllocAsync", &fn, 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status));
    printf("legacy: %d\n", fn == dlsym(driver, "cuMemAllocAsync"));
    OK(get("cuGetProcAddress", &own, 12000, 0, &status));
    printf("itself: %d\n", own == (void *)get);
    OK(get("cuGetProcAddress", &own, 11030, 0, &status));
    printf("itself, old: %d\n", own == dlsym(driver, "cuGetProcAddress"));
    OK(get("cuCtxGetId", &fn, 12000, 0, &status));
    printf("another: %d\n", fn == dlsym(driver, "cuCtxGetId"));
    use_names(driver);
}

CASE(equal_runtime, "pointers to runtime functions compared in the same way", VF_SHARED_ONLY)
{
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    CHECK(runtime);
    printf("linked: %d\n", dlsym(runtime, "cudaMalloc") == (void *)(cudaError_t(*)(void **, size_t))cudaMalloc);
    printf("default: %d\n", dlsym(runtime, "cudaMalloc") == dlsym(RTLD_DEFAULT, "cudaMalloc"));
    printf("program: %d\n", dlsym(runtime, "cudaMalloc") == dlsym(dlopen(NULL, RTLD_NOW), "cudaMalloc"));
    printf("next: %d\n", dlsym(runtime, "cudaFree") == dlsym(RTLD_NEXT, "cudaFree"));
    void *p;
    ALLOCATES(VT_DEVICE, 4096, cudaMalloc(&p, 4096));
}

static void ask(const char *way, void *handle, const char *name)
{
    dlerror();
    void *fn = dlsym(handle, name);
    const char *why = dlerror();
    const char *last = why ? strrchr(why, '/') : NULL; /* the folders differ by machine */
    printf("%s %s: %s (%s)\n", way, name, fn ? "found" : "none", last ? last : why ? why : "no error");
    printf("reported again: %s\n", dlerror() ? "yes" : "no");
}

CASE(misses, "unknown names: NULL, and the text of dlerror", VF_NO_TRACE)
{
    static const char *const names[] = {"cuNoSuchThing", "cudaNoSuchThing", "curl_easy_init", "cu",
                                        "c", "", "cublasCreate_v2", "malloc", "vramscopeSimNone"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *program = dlopen(NULL, RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ask("default", RTLD_DEFAULT, names[i]);
        ask("next", RTLD_NEXT, names[i]);
        ask("driver", driver, names[i]);
        ask("program", program, names[i]);
    }
}
