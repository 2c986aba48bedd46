/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools of the program and of the device, their attributes, the forms for per-thread streams by
 * their own names, and code loaded as libraries. */
#include "victim_memory.h"

VICTIM("entry points", INJECTED)

/* The names that a compilation with --default-stream per-thread binds to. */
cudaError_t cudaMallocAsync_ptsz(void **, size_t, cudaStream_t);
cudaError_t cudaMallocFromPoolAsync_ptsz(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFreeAsync_ptsz(void *, cudaStream_t);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *, size_t, CUstream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *, size_t, CUmemoryPool, CUstream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr, CUstream);

static const CUmemPoolProps pool_on_device = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                         .location = {CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

static void print_pool(const char *when, CUmemoryPool pool)
{
    static const CUmemPool_attribute asked[] = {
        CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH,
        CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD};
    printf("%s:", when);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        cuuint64_t value = 0;
        printf(" %d", (int)cuMemPoolGetAttribute(pool, asked[i], &value));
        printf(" %llu", (unsigned long long)value);
    }
    puts("");
}

CASE(own_pool, "a pool of its own: filled, queried, trimmed, destroyed", 0)
{
    CUmemoryPool pool;
    CUdeviceptr p[4];
    cuuint64_t keep = 64 * MIB, zero = 0;
    start();
    OK(cuMemPoolCreate(&pool, &pool_on_device));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    for (size_t i = 0; i < 4; i++) {
        OK(cuMemAllocFromPoolAsync(&p[i], (i + 1) * MIB, pool, NULL));
        tally_alloc(VT_ASYNC, (int64_t)((i + 1) * MIB));
    }
    print_pool("four", pool);
    for (int i = 0; i < 4; i++)
        FREES(VT_ASYNC, cuMemFreeAsync(p[i], NULL));
    OK(cuStreamSynchronize(NULL));
    print_pool("none", pool);
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
    print_pool("trimmed", pool);
    OK(cuMemPoolDestroy(pool));
    printf("destroyed: %d\n", (int)cuMemAllocFromPoolAsync(&p[0], MIB, NULL, NULL));
    tally_failed(VT_ASYNC);
}

static void take_and_give(CUmemoryPool expected)
{
    cuuint64_t used = 0;
    void *p;
    ALLOCATES(VT_ASYNC, 3 * MIB, cudaMallocAsync(&p, 3 * MIB, NULL));
    OK(cuMemPoolGetAttribute(expected, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    printf("used there: %llu\n", (unsigned long long)used);
    FREES(VT_ASYNC, cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
}

CASE(device_pool, "the device's pool replaced and restored, by old and new functions", 0)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemoryPool standard, pool, now;
    start();
    OK(cuDeviceGetDefaultMemPool(&standard, 0));
    OK(cuMemGetDefaultMemPool(&now, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(now == standard);
    take_and_give(standard);
    OK(cuMemPoolCreate(&pool, &pool_on_device));
    OK(cuDeviceSetMemPool(0, pool));
    OK(cuDeviceGetMemPool(&now, 0));
    CHECK(now == pool);
    take_and_give(pool);
    OK(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, standard));
    OK(cuMemGetMemPool(&now, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
    CHECK(now == standard);
    take_and_give(standard);
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cuMemPoolDestroy(pool)); /* the device uses the standard one again */
    OK(cuDeviceGetMemPool(&now, 0));
    printf("after its end the standard one: %d\n", now == standard);
    take_and_give(now);
}

CASE(pool_for_two, "a pool that another device may use", 0,
     SIMULATE("a100-40g,capacity=1GiB,context=400MiB,devices=2"))
{
    CUmemLocation there = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    CUmemAccessDesc both = {.location = there, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemAccess_flags flags = 0;
    CUmemoryPool pool;
    CUdeviceptr p;
    unsigned char byte = 0;
    start();
    OK(cuMemPoolCreate(&pool, &pool_on_device));
    ALLOCATES(VT_ASYNC, MIB, cuMemAllocFromPoolAsync(&p, MIB, pool, NULL));
    OK(cuMemsetD8Async(p, 0x61, MIB, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolGetAccess(&flags, pool, &there));
    printf("access %d", (int)flags);
    OK(cuMemPoolSetAccess(pool, &both, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &there));
    printf(" then %d\n", (int)flags);
    OK(cudaSetDevice(1));
    OK(cudaMemcpy(&byte, (void *)(uintptr_t)p, 1, cudaMemcpyDeviceToHost));
    CHECK(byte == 0x61);
    OK(cudaSetDevice(0));
    FREES(VT_ASYNC, cuMemFreeAsync(p, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemPoolDestroy(pool));
}

CASE(per_thread_names, "stream-ordered memory through the per-thread stream names", 0)
{
    cudaMemPool_t standard;
    CUdeviceptr d;
    void *p;
    start();
    OK(cudaDeviceGetDefaultMemPool(&standard, 0));
    for (int i = 0; i < 5; i++) {
        ALLOCATES(VT_ASYNC, 5000, cudaMallocAsync_ptsz(&p, 5000, NULL));
        FREES(VT_ASYNC, cudaFreeAsync_ptsz(p, NULL));
        ALLOCATES(VT_ASYNC, 6000, cudaMallocFromPoolAsync_ptsz(&p, 6000, standard, NULL));
        FREES(VT_ASYNC, cudaFreeAsync_ptsz(p, NULL));
        ALLOCATES(VT_ASYNC, 7000, cuMemAllocAsync_ptsz(&d, 7000, NULL));
        FREES(VT_ASYNC, cuMemFreeAsync_ptsz(d, NULL));
        OK(cuMemAllocFromPoolAsync_ptsz(&d, 8000, (CUmemoryPool)standard, NULL));
        tally_alloc(VT_ASYNC, 8000);
        FREES(VT_ASYNC, cuMemFreeAsync_ptsz(d, NULL));
    }
    OK(cudaDeviceSynchronize());
    printf("no pool: %d\n", (int)cudaMallocFromPoolAsync_ptsz(&p, 1, NULL, NULL));
    tally_failed(VT_ASYNC);
}

/* --- queries about future memory, and tables without names --- */

CASE(questions, "granularity, properties, reserved addresses, unnamed export tables", 0,
     STDERR_HAS("contains NVIDIA's CUDA runtime")) /* which asks for the tables */
{
    CUmemAllocationProp prop = on_device(0), same = {0};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr range;
    size_t step = 0;
    start();
    for (int i = 0; i < 3; i++) {
        CUresult r = cuMemGetAllocationGranularity(&step, &prop, (CUmemAllocationGranularity_flags)i);
        printf("steps %d %zu\n", (int)r, step);
    }
    ALLOCATES(VT_VMM, 2 * MIB, cuMemCreate(&handle, 2 * MIB, &prop, 0));
    OK(cuMemGetAllocationPropertiesFromHandle(&same, handle));
    printf("on %d %d\n", (int)same.location.type, same.location.id);
    OK(cuMemAddressReserve(&range, 16 * MIB, 0, 0, 0));
    printf("half of a range: %d\n", (int)cuMemAddressFree(range, 8 * MIB));
    OK(cuMemAddressFree(range, 16 * MIB));
    printf("again: %d\n", (int)cuMemAddressFree(range, 16 * MIB));
    FREES(VT_VMM, cuMemRelease(handle));
    const void *table = NULL;
    CUuuid nobodys = {{1}};
    printf("a table: %d %d\n", (int)cuGetExportTable(&table, &nobodys), table != NULL);
}

static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry nothing()\n{\n ret;\n}\n";

CASE(code_as_library, "a CUDA library loaded, run and unloaded", 0)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    start();
    for (int i = 0; i < 3; i++) {
        void *p = take(MIB);
        OK(cuLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0));
        OK(cuLibraryGetKernel(&kernel, library, "nothing"));
        OK(cuKernelGetFunction(&function, kernel));
        OK(cuLibraryGetModule(&module, library));
        OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        OK(cuCtxSynchronize());
        give(p);
        OK(cuLibraryUnload(library));
    }
}
