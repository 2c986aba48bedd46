/* SPDX-License-Identifier: Apache-2.0
 *
 * Residency of managed memory: pages of 2 MiB count against the device where they are, others are
 * evicted for them, and there is never more than fits. */
#include "sim_test.h"

#define CAPACITY (256 * MIB)
#define PAGE (2 * MIB)

static const CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0},
                           other = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1},
                           host = {.type = CU_MEM_LOCATION_TYPE_HOST};
static size_t at_start;

static CUdeviceptr managed(size_t bytes)
{
    return GOT(CUdeviceptr, cuMemAllocManaged(&got, bytes, CU_MEM_ATTACH_GLOBAL));
}

static void prefetch(CUdeviceptr p, size_t bytes, CUmemLocation where)
{
    OK(cuMemPrefetchAsync(p, bytes, where, 0, NULL));
    OK(cuCtxSynchronize());
}

static size_t resident(void) { return at_start - sim_free_bytes(); }

static void launch_add(CUdeviceptr p, int count, int what)
{
    int *values = (int *)p;
    void *args[] = {&values, &count, &what};
    OK(cuLaunchKernel(sim_function("add"), (unsigned)(count + 255) / 256, 1, 1, 256, 1, 1, 0, NULL,
                      args, NULL));
    OK(cuCtxSynchronize());
}

TEST(only_the_pages_of_the_range_move)
{
    CUdeviceptr p = managed(64 * MIB);
    assert_int_equal(resident(), 0);
    prefetch(p + 10 * MIB, 4 * MIB, device);
    assert_int_equal(resident(), 4 * MIB);
    prefetch(p + PAGE - 1, 2, device); /* across a boundary */
    assert_int_equal(resident(), 8 * MIB);
    prefetch(p, 64 * MIB, device);
    assert_int_equal(resident(), 64 * MIB);
    prefetch(p + 32 * MIB, 16 * MIB, host);
    assert_int_equal(resident(), 48 * MIB);
    OK(cuMemFree(p));
    assert_int_equal(resident(), 0);
}

TEST(the_bytes_stay_what_they_were)
{
    CUdeviceptr p = managed(8 * MIB);
    ((char *)p)[5] = 7; /* the host reads and writes it directly */
    prefetch(p, 8 * MIB, device);
    prefetch(p, 8 * MIB, host);
    assert_int_equal(((char *)p)[5], 7);
    OK(cuMemFree(p));
}

TEST(a_prefetch_moves_in_stream_order)
{
    atomic_int open = 0;
    CUdeviceptr p = managed(8 * MIB);
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    sim_launch_gate(stream, &open);
    OK(cuMemPrefetchAsync(p, 8 * MIB, device, 0, stream));
    assert_int_equal(resident(), 0);
    atomic_store(&open, 1);
    OK(cuStreamSynchronize(stream));
    assert_int_equal(resident(), 8 * MIB);
    OK(cuMemFree(p));
}

TEST(other_pages_make_room)
{
    size_t most = at_start / 2 & ~(PAGE - 1);
    CUdeviceptr a = managed(most), b = managed(most), c = managed(8 * MIB);
    prefetch(a, most, device);
    prefetch(b, most, device);
    prefetch(c, 8 * MIB, device);
    assert_true(resident() <= at_start);
    assert_true(sim_free_bytes() < PAGE);
    size_t before = resident();
    prefetch(c, 8 * MIB, host); /* was there */
    assert_int_equal(before - resident(), 8 * MIB);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemFree(c));
    assert_int_equal(resident(), 0);
}

TEST(more_than_the_device_holds_is_never_resident)
{
    CUdeviceptr p = managed(4 * CAPACITY);
    prefetch(p, 4 * CAPACITY, device);
    assert_true(resident() <= at_start);
    assert_true(sim_free_bytes() < PAGE);
    OK(cuMemFree(p));
    assert_int_equal(resident(), 0);
}

TEST(kernels_work_on_more_than_the_device_holds)
{
    size_t bytes = 2 * CAPACITY;
    int count = (int)(bytes / sizeof(int));
    CUdeviceptr p = managed(bytes);
    int *values = (int *)p;
    values[0] = 1, values[count / 2] = 2, values[count - 1] = 3;
    launch_add(p, count, 10);
    assert_int_equal(values[0] + values[count / 2] + values[count - 1], 36);
    assert_true(resident() <= at_start && resident() > 0);
    OK(cuMemFree(p));
}

TEST(kernels_bring_what_they_are_given)
{
    CUdeviceptr p = managed(8 * MIB), q = managed(8 * MIB);
    launch_add(p + 4096, 100, 1);
    assert_int_equal(resident(), 8 * MIB);
    prefetch(p, 8 * MIB, host);
    OK(cuMemAdvise(p, 4 * MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    launch_add(p, 100, 1); /* that half is read in place */
    assert_int_equal(resident(), 4 * MIB);
    OK(cuMemFree(p));
    OK(cuMemFree(q));
}

TEST(device_allocations_evict_managed_memory)
{
    CUdeviceptr p = managed(CAPACITY), q, r;
    CUmemoryPool pool;
    prefetch(p, CAPACITY, device);
    assert_true(sim_free_bytes() < PAGE);
    OK(cuMemAlloc(&q, 100 * MIB));
    assert_true(sim_free_bytes() < PAGE);
    OK(cuMemAllocAsync(&r, 32 * MIB, NULL));
    prefetch(p, CAPACITY, host);
    assert_int_equal(resident(), 132 * MIB);
    prefetch(p, CAPACITY, device); /* these do not evict managed memory */
    assert_true(sim_free_bytes() < PAGE);
    OK(cuMemFree(q));
    OK(cuMemFreeAsync(r, NULL));
    OK(cuCtxSynchronize());
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemFree(p));
    assert_int_equal(resident(), 0);
}

TEST(a_request_that_cannot_fit_evicts_nothing)
{
    CUdeviceptr p = managed(64 * MIB), q;
    prefetch(p, 64 * MIB, device);
    FAILS(cuMemAlloc(&q, CAPACITY), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(resident(), 64 * MIB);
    OK(cuMemFree(p));
}

TEST(pages_move_between_devices)
{
    CUdeviceptr p = managed(8 * MIB);
    CUcontext first = sim_context(), second = sim_retain(1);
    OK(cuCtxSetCurrent(second));
    size_t before = sim_free_bytes();
    OK(cuCtxSetCurrent(first));
    prefetch(p, 8 * MIB, device);
    prefetch(p, 4 * MIB, other);
    assert_int_equal(resident(), 4 * MIB);
    OK(cuCtxSetCurrent(second));
    assert_int_equal(before - sim_free_bytes(), 4 * MIB);
    OK(cuCtxSetCurrent(first));
    OK(cuMemFree(p));
    OK(cuDevicePrimaryCtxRelease(1));
    assert_int_equal(resident(), 0);
}

TEST(discarding_gives_pages_back)
{
    CUdeviceptr p = managed(16 * MIB), list[2] = {p, p + 8 * MIB};
    size_t sizes[2] = {8 * MIB, 8 * MIB}, first[2] = {0, 1};
    CUmemLocation where[2] = {device, host};
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    prefetch(p, 16 * MIB, device);
    INVALID(cuMemDiscardBatchAsync(list, sizes, 2, 0, NULL));
    OK(cuMemDiscardBatchAsync(list, sizes, 1, 0, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(resident(), 8 * MIB);
    OK(cuMemPrefetchBatchAsync(list, sizes, 2, where, first, 2, 0, stream));
    OK(cuStreamSynchronize(stream));
    assert_int_equal(resident(), 8 * MIB);
    first[1] = 0;
    INVALID(cuMemPrefetchBatchAsync(list, sizes, 2, where, first, 2, 0, stream));
    OK(cuMemFree(p));
}

TEST(memory_freed_before_its_prefetch_runs_is_left_alone)
{
    atomic_int open = 0;
    CUcontext ctx, mine = sim_context();
    CUdeviceptr p = managed(8 * MIB);
    OK(cuCtxCreate(&ctx, NULL, 0, 0)); /* the owner's free does not wait for its work */
    CUstream stream = sim_stream(CU_STREAM_NON_BLOCKING);
    sim_launch_gate(stream, &open);
    OK(cuMemPrefetchAsync(p, 8 * MIB, device, 0, stream));
    OK(cuCtxSetCurrent(mine));
    OK(cuMemFree(p));
    atomic_store(&open, 1);
    OK(cuCtxDestroy(ctx));
    assert_int_equal(resident(), 0);
}

SETUP(begin)
{
    sim_begin_on("a100-40g,capacity=256MiB,context=16MiB,devices=2");
    at_start = sim_free_bytes();
    return 0;
}
