/* SPDX-License-Identifier: Apache-2.0
 *
 * One kind of memory by every entry point: by both layers, by the forms of old CUDA versions, by
 * cuGetProcAddress for several CUDA versions and flags, and by cudaGetDriverEntryPoint. Each
 * allocation counts once. */
#include <stdbool.h>

#include "victim_memory.h"

VICTIM("entry points", INJECTED)

CASE(pitched, "pitched and three-dimensional device memory", 0)
{
    struct cudaExtent extent = {1000, 30, 4};
    struct cudaPitchedPtr box;
    CUdeviceptr d;
    size_t pitch;
    void *p;
    ALLOCATES(VT_DEVICE, 1000 * 50, cudaMallocPitch(&p, &pitch, 1000, 50));
    CHECK(pitch >= 1000);
    FREES(VT_DEVICE, cudaFree(p));
    ALLOCATES(VT_DEVICE, 1000 * 30 * 4, cudaMalloc3D(&box, extent));
    FREES(VT_DEVICE, cudaFree(box.ptr));
    ALLOCATES(VT_DEVICE, 500 * 20, cuMemAllocPitch(&d, &pitch, 500, 20, 16));
    FREES(VT_DEVICE, cuMemFree(d));
}

CASE(host_memory, "page-locked and registered host memory by driver and runtime API", 0)
{
    void *p, *q;
    start();
    ALLOCATES(VT_PINNED, 3 * MIB, cuMemAllocHost(&p, 3 * MIB));
    OK(cuMemHostAlloc(&q, MIB, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED));
    tally_alloc(VT_PINNED, (int64_t)MIB);
    FREES(VT_PINNED, cuMemFreeHost(q));
    FREES(VT_PINNED, cuMemFreeHost(p));
    ALLOCATES(VT_PINNED, 2 * MIB, cudaHostAlloc(&p, 2 * MIB, cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&q, p, 0));
    FREES(VT_PINNED, cudaFreeHost(p));
    p = aligned_alloc(4096, 128 * KIB);
    CHECK(p);
    OK(cuMemHostRegister(p, 128 * KIB, CU_MEMHOSTREGISTER_PORTABLE));
    tally_alloc(VT_REGISTERED, (int64_t)(128 * KIB));
    printf("again: %d\n", cuMemHostRegister(p, 4096, 0));
    tally_failed(VT_REGISTERED);
    FREES(VT_REGISTERED, cuMemHostUnregister(p));
    printf("once more: %d\n", cuMemHostUnregister(p));
    free(p);
}

CASE(managed, "managed memory by driver and runtime API", 0)
{
    CUdeviceptr d;
    void *p;
    start();
    ALLOCATES(VT_MANAGED, MIB, cuMemAllocManaged(&d, MIB, CU_MEM_ATTACH_GLOBAL));
    ALLOCATES(VT_MANAGED, 2 * MIB, cudaMallocManaged(&p, 2 * MIB, cudaMemAttachHost));
    FREES(VT_MANAGED, cudaFree(p));
    FREES(VT_MANAGED, cuMemFree(d));
}

/* Symbols without a version, which programs that look functions up by hand still call. */
CASE(first_forms, "the first cuCtxDestroy and cuMemHostRegister, through dlsym", 0)
{
    CUresult (*enroll)(void *, size_t, unsigned);
    CUresult (*destroy)(CUcontext);
    CUcontext ctx;
    void *p, *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&enroll = find(driver, "cuMemHostRegister");
    *(void **)&destroy = find(driver, "cuCtxDestroy");
    ctx = new_context(0);
    p = aligned_alloc(4096, 64 * KIB);
    ALLOCATES(VT_REGISTERED, 64 * KIB, enroll(p, 64 * KIB, 0));
    FREES(VT_REGISTERED, cuMemHostUnregister(p));
    free(p);
    OK(destroy(ctx));
}

typedef CUresult (*find_v1)(const char *, void **, int, cuuint64_t);
typedef CUresult (*find_v2)(const char *, void **, int, cuuint64_t,
                            CUdriverProcAddressQueryResult *);

static void by_address(int version, unsigned flags, bool v2)
{
    CUresult (*alloc)(CUdeviceptr *, size_t), (*release)(CUdeviceptr);
    CUresult (*alloc_async)(CUdeviceptr *, size_t, CUstream), (*free_async)(CUdeviceptr, CUstream);
    CUresult (*wait)(CUstream);
    struct {
        const char *name;
        void *fn;
    } wanted[] = {{"cuMemAlloc", &alloc},          {"cuMemFree", &release},
                  {"cuMemAllocAsync", &alloc_async}, {"cuMemFreeAsync", &free_async},
                  {"cuStreamSynchronize", &wait}};
    CUdriverProcAddressQueryResult status;
    CUdeviceptr d;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *get = find(driver, v2 ? "cuGetProcAddress_v2" : "cuGetProcAddress");
    start();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (v2)
            OK(((find_v2)get)(wanted[i].name, (void **)wanted[i].fn, version, flags, &status));
        else
            OK(((find_v1)get)(wanted[i].name, (void **)wanted[i].fn, version, flags));
    }
    ALLOCATES(VT_DEVICE, 3 * MIB, alloc(&d, 3 * MIB));
    FREES(VT_DEVICE, release(d));
    ALLOCATES(VT_ASYNC, MIB, alloc_async(&d, MIB, NULL));
    FREES(VT_ASYNC, free_async(d, NULL));
    OK(wait(NULL));
    dlclose(driver);
}

CASE_OF(address_11030, by_address(11030, CU_GET_PROC_ADDRESS_DEFAULT, false),
        "functions through cuGetProcAddress of CUDA 11.3", 0)
CASE_OF(address_12000, by_address(12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, true),
        "functions through cuGetProcAddress_v2 of CUDA 12.0, legacy streams", 0)
CASE_OF(address_13000, by_address(13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, true),
        "functions through cuGetProcAddress_v2 of CUDA 13.0, per-thread streams", 0)

/* The runtime returns the driver's functions. */
CASE(entry_point, "driver functions through the runtime", 0)
{
    CUresult (*alloc)(CUdeviceptr *, size_t) = NULL, (*release)(CUdeviceptr) = NULL;
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long) = NULL;
    CUresult (*drop)(CUmemGenericAllocationHandle) = NULL;
    enum cudaDriverEntryPointQueryResult status;
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = on_device(0);
    CUdeviceptr d;
    OK(cudaFree(NULL));
#if CUDART_VERSION >= 13000
#define POINT(name, fn) OK(cudaGetDriverEntryPointByVersion(name, (void **)(fn), 12000, 0, &status))
#else
#define POINT(name, fn) OK(cudaGetDriverEntryPoint(name, (void **)(fn), 0, &status))
#endif
    POINT("cuMemAlloc", &alloc);
    POINT("cuMemFree", &release);
    POINT("cuMemCreate", &create);
    POINT("cuMemRelease", &drop);
    CHECK(alloc && release && create && drop);
    ALLOCATES(VT_DEVICE, 5 * MIB, alloc(&d, 5 * MIB));
    FREES(VT_DEVICE, release(d));
    ALLOCATES(VT_VMM, 2 * MIB, create(&handle, 2 * MIB, &prop, 0));
    FREES(VT_VMM, drop(handle));
}

/* A function that this driver lacks must not seem to exist because we have it. */
CASE(of_another_driver, "a driver of CUDA 11.8 has no newer functions", VF_NO_TRACE,
     SIMULATE("t4-16g,capacity=1GiB,context=400MiB,driver=11080"))
{
    static const char *const names[] = {"cuMemCreate", "cuMulticastCreate", "cuCtxCreate_v4",
                                        "cuMemPoolImportPointer", "cuMemAlloc_v2"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver);
    OK(cuInit(0));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *fn = NULL;
        CUdriverProcAddressQueryResult status;
        CUresult r = cuGetProcAddress_v2(names[i], &fn, 11080, 0, &status);
        printf("%s: %d %d\n", names[i], r, fn != NULL);
    }
}

/* The context and its memory are destroyed when the last user detaches. */
CASE(detached, "a context is destroyed when its last user detaches", 0)
{
    CUresult (*attach)(CUcontext *, unsigned), (*detach)(CUcontext);
    CUcontext ctx, same;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&attach = find(driver, "cuCtxAttach");
    *(void **)&detach = find(driver, "cuCtxDetach");
    ctx = new_context(0);
    CUdeviceptr d = allocate(MIB);
    OK(attach(&same, 0));
    CHECK(same == ctx);
    OK(detach(ctx));
    OK(cuMemsetD8(d, 1, MIB));
    OK(cuCtxSynchronize());
    FREES(VT_DEVICE, detach(ctx));
    printf("%d\n", cuCtxSynchronize());
}

/* With a variable that takes half of the device. */
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .global .align 4 .b8 large[134217728];\n"
                          ".visible .entry nothing()\n{\n  ret;\n}\n";

static char large[128 << 20];

CASE(code_under_pressure, "a module is loaded while the cache holds most of the device", 0,
     SIMULATE("t4-16g,capacity=256MiB,context=32MiB"))
{
    /* the simulated driver reads no code: the variable has to be declared to it */
    int (*report)(const char *, void *, size_t, int);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver);
    *(void **)&report = dlsym(driver, "vramscopeSimRegisterVariable");
    if (report)
        report("large", large, sizeof large, 0);
    dlclose(driver);
    CUdeviceptr blocks[12], d;
    size_t bytes;
    int count = 0;
    CUmodule module;
    CUfunction function;
    start();
    while (count < 12 && cuMemAlloc(&blocks[count], 16 * MIB) == CUDA_SUCCESS) {
        tally_alloc(VT_DEVICE, (int64_t)(16 * MIB));
        count++;
    }
    if (count < 12)
        tally_failed(VT_DEVICE);
    for (int i = 0; i < count; i++)
        release(blocks[i]);
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetGlobal(&d, &bytes, module, "large"));
    CHECK(bytes == 128 * MIB);
    OK(cuModuleGetFunction(&function, module, "nothing"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(module));
}
