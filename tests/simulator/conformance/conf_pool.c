/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation from the default pool and from created ones. Facts about reserved
 * memory use created pools, which have no other users. */
#include "conf.h"

#define GUIDE "guide, stream ordered memory allocator: "
#define BYTES (8 * CONF_MIB)

static CUstream stream;

SETUP(setup)
{
    stream = conf_stream();
    return 0;
}

static CUmemoryPool new_pool(void)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    return GOT(CUmemoryPool, cuMemPoolCreate(&got, &props));
}

static cuuint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    return GOT(cuuint64_t, cuMemPoolGetAttribute(pool, attribute, &got));
}

static int flag(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    return GOT(int, cuMemPoolGetAttribute(pool, attribute, &got));
}

TEST(memory_is_ready_in_its_stream)
{
    CUdeviceptr memory = 0;
    DO(cuMemAllocAsync(&memory, BYTES, stream));
    FACT(memory, "cuMemAllocAsync: the pointer is returned immediately");
    FACT_EQ(memory % 256, 0, "guide, device memory accesses: aligned to 256 bytes");
    DO(cuMemsetD8Async(memory, 0x6b, BYTES, stream));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(conf_byte(memory + BYTES - 1), 0x6b,
            "cuMemAllocAsync: future work of the stream can use it");
    DO(cuMemFreeAsync(memory, stream));
    DO(cuStreamSynchronize(stream));
    RETURNS(cuMemAllocAsync(NULL, BYTES, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST(it_frees_memory_of_cudamalloc_too)
{
    CUdeviceptr memory = conf_alloc(BYTES);
    DO(cuMemsetD8Async(memory, 0x6b, BYTES, stream));
    WORKS(cuMemFreeAsync(memory, stream), "guide, interoperability with cudaMalloc and cudaFree");
}

TEST(the_default_pool_is_current_at_first)
{
    CUmemoryPool first = NULL, mine;
    DO(cuDeviceGetDefaultMemPool(&first, 0));
    FACT(GOT(CUmemoryPool, cuDeviceGetMemPool(&got, 0)) == first,
         "cuDeviceGetMemPool: the default pool unless another has been set");
    FACT(GOT(cudaMemPool_t, cudaDeviceGetDefaultMemPool(&got, 0)) == first,
         "cudaDeviceGetDefaultMemPool: the same pool");
    mine = new_pool();
    DO(cuDeviceSetMemPool(0, mine));
    FACT(GOT(CUmemoryPool, cuDeviceGetMemPool(&got, 0)) == mine,
         "cuDeviceSetMemPool: becomes the current pool");
    FACT(GOT(CUmemoryPool, cuDeviceGetDefaultMemPool(&got, 0)) == first,
         "cuDeviceGetDefaultMemPool: does not change");
    DO(cuMemPoolDestroy(mine));
    FACT(GOT(CUmemoryPool, cuDeviceGetMemPool(&got, 0)) == first,
         "cuMemPoolDestroy: the default pool is current when the current one goes");
    REFUSED(cuMemPoolDestroy(first), "a device's default pool cannot be destroyed");
}

TEST(the_current_pool_serves)
{
    CUmemoryPool first = NULL, owner = NULL;
    CUdeviceptr memory = 0, other = 0;
    CUmemoryPool mine = new_pool();
    DO(cuDeviceGetDefaultMemPool(&first, 0));
    DO(cuDeviceSetMemPool(0, mine));
    DO(cuMemAllocAsync(&memory, BYTES, stream));
    DO(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
    FACT(owner == mine, "cuMemAllocAsync: from the pool current to the stream's device");
    DO(cuMemAllocFromPoolAsync(&other, BYTES, first, stream));
    DO(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, other));
    FACT(owner == first, "cuMemAllocFromPoolAsync: from the specified pool");
    DO(cuMemFreeAsync(memory, stream));
    DO(cuMemFreeAsync(other, stream));
    DO(cuStreamSynchronize(stream));
    DO(cuDeviceSetMemPool(0, first));
}

TEST(attributes_have_their_defaults)
{
    CUmemoryPool pool = new_pool();
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0,
            "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: default 0");
    FACT_EQ(flag(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES), 1,
            "CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES: default enabled");
    FACT_EQ(flag(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 1,
            "CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC: default enabled");
    FACT_EQ(flag(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES), 1,
            "CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: default enabled");
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0,
            "CU_MEMPOOL_ATTR_USED_MEM_CURRENT: nothing is used");
    int off = 0;
    cuuint64_t threshold = 123 * CONF_MIB;
    DO(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
    FACT_EQ(flag(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC), 0,
            "cuMemPoolSetAttribute: seen by cuMemPoolGetAttribute");
    DO(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), threshold,
            "cuMemPoolSetAttribute: seen by cuMemPoolGetAttribute");
    RETURNS(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)1000, &threshold),
            CUDA_ERROR_INVALID_VALUE);
}

TEST(use_is_counted)
{
    CUdeviceptr a = 0, b = 0;
    cuuint64_t keep = ~(cuuint64_t)0, zero = 0, one = 1;
    CUmemoryPool pool = new_pool();
    DO(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    DO(cuMemAllocFromPoolAsync(&a, BYTES, pool, stream));
    DO(cuMemAllocFromPoolAsync(&b, BYTES, pool, stream));
    DO(cuStreamSynchronize(stream));
    cuuint64_t used = number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    cuuint64_t reserved = number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    FACT(used >= 2 * BYTES, "CU_MEMPOOL_ATTR_USED_MEM_CURRENT: in use by the application");
    FACT(reserved >= used, "CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: backs what is used");
    FACT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) >= used,
         "CU_MEMPOOL_ATTR_USED_MEM_HIGH: high watermark");
    FACT(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) >= reserved,
         "CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: high watermark");
    DO(cuMemFreeAsync(a, stream));
    DO(cuMemFreeAsync(b, stream));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0,
            "CU_MEMPOOL_ATTR_USED_MEM_CURRENT: what was freed is not used");
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), reserved,
            "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: reserved memory to hold onto");
    FACT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) >= used,
         "CU_MEMPOOL_ATTR_USED_MEM_HIGH: high watermark");
    WORKS(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero),
          "CU_MEMPOOL_ATTR_USED_MEM_HIGH: can be reset");
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0,
            "CU_MEMPOOL_ATTR_USED_MEM_HIGH: since it was reset");
    REFUSED(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one),
            "CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: may not be set to a non-zero value");
    DO(cuMemPoolTrimTo(pool, 0));
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0,
            "cuMemPoolTrimTo: releases what backs no outstanding allocation");
}

TEST(what_is_in_use_is_not_trimmed)
{
    CUdeviceptr memory = 0;
    CUmemoryPool pool = new_pool();
    DO(cuMemAllocFromPoolAsync(&memory, BYTES, pool, stream));
    DO(cuMemsetD8Async(memory, 0x15, BYTES, stream));
    DO(cuStreamSynchronize(stream));
    DO(cuMemPoolTrimTo(pool, 0));
    FACT(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= BYTES,
         "cuMemPoolTrimTo: cannot release what backs outstanding allocations");
    FACT_EQ(conf_byte(memory), 0x15, "cuMemPoolTrimTo: cannot release what backs allocations");
}

TEST(freed_memory_serves_the_same_stream_again)
{
    CUdeviceptr memory = 0;
    CUmemoryPool pool = new_pool();
    DO(cuMemAllocFromPoolAsync(&memory, 64 * CONF_MIB, pool, stream));
    cuuint64_t reserved = number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    for (int i = 0; i < 10; i++) {
        DO(cuMemFreeAsync(memory, stream));
        DO(cuMemAllocFromPoolAsync(&memory, 64 * CONF_MIB, pool, stream));
    }
    FACT_EQ(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), reserved,
            GUIDE "memory freed earlier in the stream is reused by it");
    DO(cuMemFreeAsync(memory, stream));
    DO(cuStreamSynchronize(stream));
}

TEST(pools_are_reached_from_their_device)
{
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    int count = conf_device_count();
    CUmemoryPool pool = new_pool();
    FACT_EQ(GOT(CUmemAccess_flags, cuMemPoolGetAccess(&got, pool, &here)),
            CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            "cuMemPoolCreate: accessible from the device it is allocated on");
    if (count > 1) {
        here.id = 1;
        FACT_EQ(GOT(CUmemAccess_flags, cuMemPoolGetAccess(&got, pool, &here)),
                CU_MEM_ACCESS_FLAGS_PROT_NONE,
                GUIDE "allocations are not accessible from other devices at first");
    }
}

TEST(a_destroyed_pool_waits_for_its_memory)
{
    CUdeviceptr memory = 0;
    CUmemoryPool pool = new_pool();
    DO(cuMemAllocFromPoolAsync(&memory, BYTES, pool, stream));
    WORKS(cuMemPoolDestroy(pool), "returns immediately with allocations outstanding");
    DO(cuMemsetD8Async(memory, 0x16, BYTES, stream));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(conf_byte(memory + BYTES - 1), 0x16,
            "cuMemPoolDestroy: released once there are no more allocations");
    WORKS(cuMemFreeAsync(memory, stream), "cuMemPoolDestroy: freed as ever");
}

TEST(a_plain_free_is_allowed)
{
    void *memory = NULL;
    DO(cudaMallocAsync(&memory, BYTES, stream));
    DO(cudaStreamSynchronize(stream));
    WORKS(cudaFree(memory), "of cudaMallocAsync memory");
    DO(cudaMallocAsync(&memory, BYTES, stream));
    DO(cudaFreeAsync(memory, stream));
}

TEST(requests_that_make_no_sense_are_refused)
{
    CUmemoryPool pool = NULL;
    CUdeviceptr memory = 0;
    size_t total = 0;
    int count = conf_device_count();
    DO(cuDeviceTotalMem(&total, 0));
    RETURNS(cuDeviceGetDefaultMemPool(&pool, count), CUDA_ERROR_INVALID_DEVICE);
    RETURNS(cuMemPoolCreate(&pool, NULL), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuMemAllocAsync(&memory, total + CONF_MIB, stream), CUDA_ERROR_OUT_OF_MEMORY);
    WORKS(cuMemAllocAsync(&memory, CONF_MIB, stream),
          "CUDA_ERROR_OUT_OF_MEMORY: says nothing of the context, which goes on");
}
