/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the stand-in driver, beyond the facts of conformance/conf_memory.c, conf_pointer.c,
 * conf_copy.c and conf_pool.c: accounting, capacity, addresses, and pools. */
#include "sim_test.h"

#define CAPACITY (1024 * MIB)
#define CONTEXT (100 * MIB)
#define OTHERS (24 * MIB)
#define FREE_AT_START (CAPACITY - CONTEXT - OTHERS)

TEST(free_is_capacity_less_context_and_others)
{
    size_t free_bytes, total;
    assert_int_equal(GOT(size_t, cuMemGetInfo(&free_bytes, &got)), CAPACITY);
    assert_int_equal(free_bytes, FREE_AT_START);
    OK(cuMemGetInfo(NULL, &total)); /* either may be NULL */
    OK(cuMemGetInfo(&free_bytes, NULL));
}

TEST(small_allocations_share_a_page)
{
    CUdeviceptr p[4096 + 1];
    for (int i = 0; i < 4096; i++) {
        OK(cuMemAlloc(&p[i], i % 512 + 1));
        assert_int_equal(p[i] % 512, 0);
    }
    assert_int_equal(FREE_AT_START - sim_free_bytes(), 2 * MIB);
    OK(cuMemAlloc(&p[4096], 1));
    assert_int_equal(FREE_AT_START - sim_free_bytes(), 4 * MIB);
    for (int i = 0; i <= 4096; i++)
        OK(cuMemFree(p[i]));
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
}

TEST(small_allocations_do_not_overlap)
{
    enum { COUNT = 300 };
    CUdeviceptr p[COUNT];
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = (size_t)(i * 977 % 60000) + 1;
        OK(cuMemAlloc(&p[i], bytes));
        OK(cuMemsetD8(p[i], (unsigned char)i, bytes));
    }
    for (int i = 0; i < COUNT; i++) {
        size_t bytes = (size_t)(i * 977 % 60000) + 1;
        unsigned char *host = malloc(bytes);
        OK(cuMemcpyDtoH(host, p[i], bytes));
        for (size_t k = 0; k < bytes; k++)
            assert_int_equal(host[k], (unsigned char)i);
        free(host);
        OK(cuMemFree(p[i]));
    }
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
}

TEST(an_allocation_beyond_what_is_free_fails_and_changes_nothing)
{
    CUdeviceptr p, q = 77;
    FAILS(cuMemAlloc(&q, FREE_AT_START + 1), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemAlloc(&q, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
    FAILS(cuMemAlloc(&q, SIZE_MAX - 4096), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(q, 77);
    OK(cuMemAlloc(&p, FREE_AT_START)); /* to the last byte */
    assert_int_equal(sim_free_bytes(), 0);
    FAILS(cuMemAlloc(&q, 1), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree(p));
    OK(cuMemAlloc(&q, 1));
    OK(cuMemFree(q));
    INVALID(cuMemAlloc(&q, 0));
    INVALID(cuMemAlloc(NULL, 1));
}

TEST(a_freed_address_does_not_come_back_at_once)
{
    CUdeviceptr p, q;
    OK(cuMemFree(0));
    for (size_t bytes = 4096; bytes <= 64 * MIB; bytes *= 4) {
        OK(cuMemAlloc(&p, bytes));
        INVALID(cuMemFree(p + 512));
        OK(cuMemFree(p));
        OK(cuMemAlloc(&q, bytes));
        assert_int_not_equal(p, q);
        OK(cuMemFree(q));
    }
}

TEST(an_address_range_is_found_from_any_address_in_it)
{
    CUdeviceptr base;
    size_t bytes;
    CUdeviceptr p = sim_alloc(5000);
    OK(cuMemGetAddressRange(&base, &bytes, p + 4999));
    assert_int_equal(base, p);
    assert_int_equal(bytes, 5000);
    FAILS(cuMemGetAddressRange(&base, &bytes, p + 5000), CUDA_ERROR_NOT_FOUND);
    OK(cuMemFree(p));
    FAILS(cuMemGetAddressRange(&base, &bytes, p), CUDA_ERROR_NOT_FOUND);
}

TEST(a_descriptor_of_a_range_reads_and_writes_its_bytes)
{
    const CUmemRangeHandleType dma_buf = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    int fd = -1, has = 0;
    unsigned char bytes[4096];
    OK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0));
    assert_int_equal(has, 1);
    CUdeviceptr p = sim_alloc(3 * MIB);
    OK(cuMemsetD8(p, 0x21, 3 * MIB));
    OK(cuCtxSynchronize());
    INVALID(cuMemGetHandleForAddressRange(&fd, p + 512, MIB, dma_buf, 0));
    INVALID(cuMemGetHandleForAddressRange(&fd, p, 1000, dma_buf, 0));
    INVALID(cuMemGetHandleForAddressRange(&fd, p, 4 * MIB, dma_buf, 0));
    OK(cuMemGetHandleForAddressRange(&fd, p + MIB, MIB, dma_buf, 0));
    assert_int_equal(read(fd, bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(bytes[0], 0x21);
    assert_int_equal(write(fd, "written", 8), 8);
    close(fd);
    OK(cuMemcpyDtoH(bytes, p + MIB + 4096, 8));
    assert_string_equal((char *)bytes, "written");
    OK(cuMemFree(p));
    INVALID(cuMemGetHandleForAddressRange(&fd, p, MIB, dma_buf, 0));
}

TEST(pitched_memory_has_aligned_rows)
{
    CUdeviceptr p;
    size_t pitch;
    OK(cuMemAllocPitch(&p, &pitch, 1000, 3, 4));
    assert_int_equal(pitch, 1024);
    OK(cuMemFree(p));
    INVALID(cuMemAllocPitch(&p, &pitch, 1000, 3, 5));
    FAILS(cuMemAllocPitch(&p, &pitch, SIZE_MAX / 2, 1000, 4), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(the_plural_form_answers_for_memory_cuda_does_not_know)
{
    int ordinal = 5, local;
    unsigned type = 5;
    CUcontext ctx = (CUcontext)5;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT};
    void *out[] = {&ordinal, &type, &ctx};
    OK(cuPointerGetAttributes(3, which, out, (CUdeviceptr)&local));
    assert_int_equal(ordinal, -2);
    assert_int_equal(type, 0);
    assert_null(ctx);
}

TEST(pinned_memory_does_not_count_against_the_device)
{
    void *pinned, *mine = malloc(4096);
    OK(cuMemHostAlloc(&pinned, 64 * MIB, CU_MEMHOSTALLOC_PORTABLE));
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
    INVALID(cuMemFree((CUdeviceptr)pinned));
    OK(cuMemFreeHost(pinned));
    OK(cuMemHostRegister(mine, 4096, CU_MEMHOSTREGISTER_PORTABLE));
    FAILS(cuMemHostRegister((char *)mine + 100, 100, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(mine));
    free(mine);
}

TEST(copies_and_memsets_beyond_an_allocation_are_refused)
{
    int host[100];
    CUdeviceptr p = sim_alloc(sizeof host);
    INVALID(cuMemcpyDtoH(host, p, sizeof host + 1));
    INVALID(cuMemcpyHtoD(p + sizeof host, host, 1));
    INVALID(cuMemcpyHtoD((CUdeviceptr)host, host, 1)); /* not device memory */
    INVALID(cuMemsetD32(p + 2, 0, 1)); /* not aligned to its element */
    INVALID(cuMemsetD8(p, 0, sizeof host + 1));
    CUDA_MEMCPY2D nowhere = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host,
                             .WidthInBytes = 5, .Height = 3};
    INVALID(cuMemcpy2D(&nowhere)); /* srcArray names none */
    OK(cuMemFree(p));
    INVALID(cuMemcpyDtoH(host, p, 4));
}

/* ---- pools ---- */

static const CUmemPoolProps plain = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};

static CUmemoryPool pool_of_at_most(size_t bytes)
{
    CUmemPoolProps props = plain;
    props.maxSize = bytes;
    return GOT(CUmemoryPool, cuMemPoolCreate(&got, &props));
}

/* NULL: of the default pool. */
static cuuint64_t pool_value(CUmemoryPool pool, CUmemPool_attribute attribute)
{
    if (!pool)
        OK(cuDeviceGetDefaultMemPool(&pool, 0));
    return GOT(cuuint64_t, cuMemPoolGetAttribute(pool, attribute, &got));
}

TEST(a_pool_reserves_in_steps_and_gives_back_at_synchronisation)
{
    CUdeviceptr p;
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuMemAllocAsync(&p, 1000, s));
    assert_int_equal(pool_value(NULL, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 32 * MIB);
    assert_int_equal(pool_value(NULL, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1024);
    assert_int_equal(FREE_AT_START - sim_free_bytes(), 32 * MIB);
    OK(cuMemFreeAsync(p, s));
    assert_int_equal(pool_value(NULL, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    OK(cuStreamSynchronize(s));
    assert_int_equal(pool_value(NULL, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
}

TEST(pool_memory_runs_out_at_capacity_and_plain_allocation_gets_it_back)
{
    CUdeviceptr p, q;
    OK(cuMemAllocAsync(&p, FREE_AT_START - 32 * MIB, NULL));
    FAILS(cuMemAllocAsync(&q, 64 * MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemAlloc(&q, FREE_AT_START)); /* takes unused memory of the pool */
    OK(cuMemFree(q));
    OK(cuMemAllocAsync(&p, MIB, NULL));
    OK(cuMemFree(p)); /* allowed for pool memory */
    INVALID(cuMemFreeAsync(p, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
}

TEST(an_own_pool_obeys_its_limit)
{
    CUdeviceptr p, q;
    CUmemoryPool pool = pool_of_at_most(64 * MIB);
    OK(cuMemAllocFromPoolAsync(&p, 40 * MIB, pool, NULL));
    FAILS(cuMemAllocFromPoolAsync(&q, 40 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemPoolDestroy(pool));
    INVALID(cuMemPoolTrimTo(pool, 0));
    CUmemPoolProps props = plain;
    props.handleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    FAILS(cuMemPoolCreate(&pool, &props), CUDA_ERROR_NOT_SUPPORTED);
}

/* Regression: destroyed pools were kept, and every synchronisation visited them. */
TEST(pools_come_and_go_without_end)
{
    CUmemoryPool pool, first = NULL;
    cuuint64_t keep = MIB;
    CUdeviceptr p;
    unsigned again = 0;
    for (int i = 0; i < 200; i++) {
        pool = pool_of_at_most(0);
        first = first ? first : pool;
        again += pool == first;
        /* no state of an earlier use */
        assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), 0);
        assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
        OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
        OK(cuMemAllocFromPoolAsync(&p, 1000, pool, NULL));
        if (i % 2)
            OK(cuMemPoolDestroy(pool)); /* exists until its block is freed */
        OK(cuMemFreeAsync(p, NULL));
        OK(cuCtxSynchronize());
        if (i % 2 == 0)
            OK(cuMemPoolDestroy(pool));
    }
    assert_int_equal(again, 200);
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
}

TEST(a_pool_rearranges_what_is_idle_before_it_says_it_has_no_more)
{
    cuuint64_t keep = UINT64_MAX;
    CUdeviceptr small[3], large;
    CUmemoryPool pool = pool_of_at_most(96 * MIB);
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    for (int i = 0; i < 3; i++)
        OK(cuMemAllocFromPoolAsync(&small[i], 32 * MIB, pool, NULL));
    for (int i = 0; i < 3; i++)
        OK(cuMemFreeAsync(small[i], NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 96 * MIB);
    OK(cuMemAllocFromPoolAsync(&large, 90 * MIB, pool, NULL));
    FAILS(cuMemAllocFromPoolAsync(&small[0], 32 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(large, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemPoolDestroy(pool));
}

/* Regression: each allocation and free walked all blocks of the pool. */
TEST(very_many_blocks_are_allocated_and_freed_in_any_order)
{
    enum { COUNT = 20000 };
    static CUdeviceptr at[COUNT];
    CUstream streams[] = {sim_stream(CU_STREAM_NON_BLOCKING), sim_stream(CU_STREAM_NON_BLOCKING)};
    CUmemoryPool pool = pool_of_at_most(0);
    for (int i = 0; i < COUNT; i++) {
        OK(cuMemAllocFromPoolAsync(&at[i], 512 + 512 * (size_t)(i % 3), pool, streams[0]));
        *(int *)at[i] = i;
    }
    for (int i = 0; i < COUNT; i++) {
        int k = (int)(i * 7919L % COUNT);
        assert_int_equal(*(int *)at[k], k); /* not given to another */
        OK(cuMemFreeAsync(at[k], streams[i & 1]));
        OK(cuMemAllocFromPoolAsync(&at[k], 512 + 512 * (size_t)(i % 4), pool, streams[i >> 1 & 1]));
        *(int *)at[k] = k;
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(*(int *)at[i], i);
        OK(cuMemFreeAsync(at[i], streams[i & 1]));
    }
    OK(cuCtxSynchronize());
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    assert_int_equal(pool_value(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    OK(cuMemPoolDestroy(pool));
}

TEST(resetting_the_primary_context_gives_back_all_but_pool_memory)
{
    CUdeviceptr pooled, p = sim_alloc(100 * MIB);
    OK(cuMemAllocAsync(&pooled, 100 * MIB, NULL));
    OK(cuDevicePrimaryCtxReset(0));
    FAILS(cuMemAlloc(&p, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    sim_retain(0);
    assert_int_equal(sim_free_bytes(), FREE_AT_START - 128 * MIB); /* 4 steps of 32 MiB */
    OK(cuMemFree(pooled));
    OK(cuCtxSynchronize());
    assert_int_equal(sim_free_bytes(), FREE_AT_START);
    OK(cuDevicePrimaryCtxRelease(0));
}

SIM_TESTS_ON("a100-40g,capacity=1GiB,context=100MiB,others=24MiB")
