/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that look up the driver by cuGetProcAddress, of either form, or through the runtime:
 * versions, flags, the result for a missing name, and calls of all functions found. */
#include "victim_memory.h"

VICTIM("routing")

#undef cuGetProcAddress

typedef CUresult (*free_fn)(CUdeviceptr);
typedef CUresult (*alloc_async_fn)(CUdeviceptr *, size_t, CUstream);
typedef CUresult (*free_async_fn)(CUdeviceptr, CUstream);
typedef CUresult (*old_get_fn)(const char *, void **, int, cuuint64_t);

static void use_async(void *alloc, void *release)
{
    CUdeviceptr p;
    CHECK(alloc && release);
    ALLOCATES(VT_ASYNC, 2 << 20, ((alloc_async_fn)alloc)(&p, 2 << 20, NULL));
    FREES(VT_ASYNC, ((free_async_fn)release)(p, NULL));
    OK(cuCtxSynchronize());
}

CASE(answers, "cuGetProcAddress with right and wrong names, versions and flags", VF_NO_TRACE)
{
    static const struct {
        const char *name;
        int version;
        cuuint64_t flags;
    } questions[] = {{"cuMemAlloc", 3020, 0},       {"cuMemAlloc", 2000, 0},
                     {"cuMemAlloc", 12000, 7},      {"cuMemAlloc", 99000, 0},
                     {"cuMemAlloc_v2", 12000, 0},   {"cuMemAllocAsync", 11020, 1},
                     {"cuMemAllocAsync", 11010, 1}, {"cuNoSuchThing", 12000, 0},
                     {"", 12000, 0},                {"cuGetProcAddress", 11030, 0},
                     {"cuGetProcAddress", 12000, 0}, {"cuCtxCreate", 2000, 0}};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        void *fn = (void *)answers;
        CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)77;
        CUresult r = cuGetProcAddress_v2(questions[i].name, &fn, questions[i].version,
                                         questions[i].flags, &status);
        printf("%s %d %d: %d, %s, status %d\n", questions[i].name, questions[i].version,
               (int)questions[i].flags, r,
               fn == (void *)answers ? "untouched" : fn ? "found" : "none", (int)status);
    }
    void *fn = NULL;
    printf("no status: %d\n", cuGetProcAddress_v2("cuInit", &fn, 12000, 0, NULL));
    printf("no place: %d\n", cuGetProcAddress_v2("cuInit", NULL, 12000, 0, NULL));
    printf("no name: %d\n", cuGetProcAddress_v2(NULL, &fn, 12000, 0, NULL));
}

/* Each form returns the other, and both work. */
CASE(itself, "cuGetProcAddress looked up through itself, both versions", 0)
{
    CUdriverProcAddressQueryResult status;
    void *found = NULL, *old = NULL, *alloc = NULL, *release = NULL;
    start();
    get_fn get = cuGetProcAddress_v2;
    for (int i = 0; i < 3; i++) {
        OK(get("cuGetProcAddress", &found, 12000, 0, &status));
        OK(get("cuGetProcAddress", &old, 11030, 0, &status));
        get = (get_fn)found;
        old_get_fn old_get = (old_get_fn)old;
        OK(get("cuMemAlloc", &alloc, 3020, 0, &status));
        OK(old_get("cuMemFree", &release, 3020, 0));
        use_found(alloc, release, MIB);
        OK(old_get("cuGetProcAddress", &found, 12000, 0));
        get = (get_fn)found;
    }
}

CASE(by_runtime, "cudaGetDriverEntryPointByVersion", 0)
{
    enum cudaDriverEntryPointQueryResult status;
    void *alloc = NULL, *release = NULL, *none = NULL;
    OK(cudaFree(NULL));
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &alloc, 12000, cudaEnableDefault, &status));
    OK(cudaGetDriverEntryPointByVersion("cuMemFree", &release, 12000, cudaEnableDefault, &status));
    use_found(alloc, release, MIB);
    printf("linked: %d\n", alloc == (void *)cuMemAlloc);
    OK(cudaGetDriverEntryPointByVersion("cuMemAllocAsync", &alloc, 12000,
                                        cudaEnablePerThreadDefaultStream, &status));
    OK(cudaGetDriverEntryPointByVersion("cuMemFreeAsync", &release, 12000,
                                        cudaEnablePerThreadDefaultStream, &status));
    use_async(alloc, release);
    int e = cudaGetDriverEntryPointByVersion("cuMemAlloc", &none, 2000, cudaEnableDefault, &status);
    printf("too old: %d %d %d\n", e, (int)status, none != NULL);
    e = cudaGetDriverEntryPointByVersion("cuNoSuchThing", &none, 12000, cudaEnableDefault, &status);
    printf("no such: %d %d %d\n", e, (int)status, none != NULL);
    cudaGetLastError();
}

/* A table filled before any other use of CUDA, and used much later. */
CASE(table_first, "a table of pointers filled before the first CUDA call", 0)
{
    static const char *const names[] = {"cuInit", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
                                        "cuMemAlloc", "cuMemFree", "cuMemGetInfo", "cuMemAllocHost",
                                        "cuMemFreeHost"};
    void *table[8];
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    get_fn get = (get_fn)find(driver, "cuGetProcAddress_v2");
    for (int i = 0; i < 8; i++) {
        CUdriverProcAddressQueryResult status;
        OK(get(names[i], &table[i], 12000, 0, &status));
        CHECK(table[i]);
    }
    CUcontext c;
    void *host;
    OK(((CUresult(*)(unsigned))table[0])(0));
    OK(((CUresult(*)(CUcontext *, int))table[1])(&c, 0));
    OK(((CUresult(*)(CUcontext))table[2])(c));
    use_found(table[3], table[4], MIB);
    ALLOCATES(VT_PINNED, 4096, ((CUresult(*)(void **, size_t))table[6])(&host, 4096));
    FREES(VT_PINNED, ((CUresult(*)(void *))table[7])(host));
    void *p = take(MIB);
    FREES(VT_DEVICE, ((free_fn)table[4])((CUdeviceptr)(uintptr_t)p));
}
