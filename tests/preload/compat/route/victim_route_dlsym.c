/* SPDX-License-Identifier: Apache-2.0
 *
 * dlsym in all the forms that programs use to find CUDA, or to find that it is missing: its
 * results, dlerror's messages, and whether pointers to one function found in different ways are
 * equal. */
#include "victim_memory.h"

VICTIM("routing")

static void use_names(void *handle)
{
    use_found(dlsym(handle, "cuMemAlloc_v2"), dlsym(handle, "cuMemFree_v2"), MIB);
}

CASE(handles, "dlsym with RTLD_DEFAULT, NULL, RTLD_NEXT, the handles of the program and the driver",
     0)
{
    start();
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
    void *plugin = dlopen(beside("libroute_plugin_driver.so"), RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin);
    start();
    use_names(plugin);
}

CASE(versioned, "dlvsym, and glibc's older dlsym", VF_SHARED_ONLY)
{
    start();
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver);
    void *(*old)(void *, const char *);
#if defined(__x86_64__)
    *(void **)&old = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5");
#else
    *(void **)&old = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.17");
#endif
    CHECK(old);
    use_found(old(driver, "cuMemAlloc_v2"), old(driver, "cuMemFree_v2"), MIB);
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    CHECK(runtime);
    printf("of the wrong version: %d\n", dlvsym(runtime, "cudaMalloc", "libcudart.so.12") == NULL);
    use_found(dlvsym(runtime, "cudaMalloc", "libcudart.so.13"),
              dlvsym(runtime, "cudaFree", "libcudart.so.13"), MIB);
}

CASE(equal, "pointers from dlsym, cuGetProcAddress and the linker compared", 0)
{
    start();
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
    take(4096);
}

CASE(misses, "unknown names: NULL, and the text of dlerror", VF_NO_TRACE)
{
    static const char *const names[] = {"cuNoSuchThing", "cudaNoSuchThing", "curl_easy_init", "cu",
                                        "c", "", "cublasCreate_v2", "malloc", "vramscopeSimNone"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *program = dlopen(NULL, RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        print_lookup("default", RTLD_DEFAULT, names[i]);
        print_lookup("next", RTLD_NEXT, names[i]);
        print_lookup("driver", driver, names[i]);
        print_lookup("program", program, names[i]);
    }
}
