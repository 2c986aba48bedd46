/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of memory and pools: one for each allocation and one for each release, of every family,
 * linked to the calls; and recording of one context alone. */
#include "sim_test.h"

#include <cuda_runtime_api.h>

#include "sim_records.h"

#define MEMORY2 CUPTI_ACTIVITY_KIND_MEMORY2
#define POOL CUPTI_ACTIVITY_KIND_MEMORY_POOL
#define ALLOCATED CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
#define RELEASED CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE

static const CUpti_ActivityMemory4 *memory(int nth)
{
    const union record *r = records_find(MEMORY2, nth);
    assert_non_null(r);
    return &r->memory;
}

static void is_pair(uint64_t address, uint64_t bytes, CUpti_ActivityMemoryKind kind)
{
    assert_int_equal(records_of(MEMORY2), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(memory(i)->memoryOperationType, i ? RELEASED : ALLOCATED);
        assert_int_equal(memory(i)->address, address);
        assert_int_equal(memory(i)->bytes, bytes);
        assert_int_equal(memory(i)->memoryKind, kind);
        assert_int_equal(memory(i)->processId, getpid());
    }
    assert_true(memory(0)->timestamp <= memory(1)->timestamp);
    assert_int_not_equal(memory(0)->correlationId, memory(1)->correlationId);
}

/* The two records of what *make* and *drop* do. */
#define PAIR(make, drop, address, bytes, kind)          \
    do {                                                \
        records_forget();                               \
        OK(make);                                       \
        OK(drop);                                       \
        OK(cuptiActivityFlushAll(0));                   \
        is_pair((uintptr_t)(address), bytes, CUPTI_ACTIVITY_MEMORY_KIND_##kind); \
    } while (0)

TEST(every_family_gives_an_allocation_and_a_release)
{
    CUdeviceptr p;
    void *host;
    size_t pitch;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR desc = {
        .Width = 64, .Height = 32, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    records_begin(MEMORY2);
    PAIR(cuMemAlloc(&p, 1000), cuMemFree(p), p, 1000, DEVICE);
    assert_int_equal(memory(0)->isAsync, 0);
    assert_int_equal(memory(0)->streamId, CUPTI_INVALID_STREAM_ID);
    assert_int_equal(memory(0)->memoryPoolConfig.memoryPoolType, 0);
    PAIR(cuMemAllocPitch(&p, &pitch, 100, 10, 4), cuMemFree(p), p, pitch * 10, DEVICE);
    PAIR(cuMemAllocManaged(&p, 5000, CU_MEM_ATTACH_GLOBAL), cuMemFree(p), p, 5000, MANAGED);
    PAIR(cuMemHostAlloc(&host, 300, 0), cuMemFreeHost(host), host, 300, PINNED);
    PAIR(cuArrayCreate(&array, &desc), cuArrayDestroy(array), memory(0)->address,
         memory(0)->bytes, ARRAY);
    assert_true(memory(0)->bytes >= 64 * 32 * 4);
    OK(cuptiActivityDisable(MEMORY2));
    records_forget();
    p = sim_alloc_and_free(1000);
    records_expect(0);
}

TEST(registered_memory_was_not_allocated)
{
    static char own[8192] __attribute__((aligned(4096)));
    records_begin(MEMORY2);
    OK(cuMemHostRegister(own, sizeof own, 0));
    OK(cuMemHostUnregister(own));
    FAILS(cuMemFree(0x1234), CUDA_ERROR_INVALID_VALUE);
    records_expect(0);
}

TEST(stream_ordered_memory_names_stream_and_pool)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemoryPool pool;
    CUdeviceptr p;
    cuuint64_t threshold = 12345678;
    uint32_t id;
    CUstream s = sim_stream(0);
    OK(cuptiGetStreamIdEx(NULL, s, 0, &id));
    OK(cuptiActivityEnable(MEMORY2));
    records_begin(POOL);
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemAllocFromPoolAsync(&p, 3 << 20, pool, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemPoolTrimTo(pool, 77));
    OK(cuMemPoolDestroy(pool));
    OK(cuptiActivityFlushAll(0));
    is_pair(p, 3 << 20, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(memory(i)->isAsync, 1);
        assert_int_equal(memory(i)->streamId, id);
        assert_int_equal(memory(i)->memoryPoolConfig.memoryPoolType,
                         CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
        assert_int_equal(memory(i)->memoryPoolConfig.releaseThreshold, threshold);
        assert_int_equal(memory(i)->memoryPoolConfig.pool.size, 32 << 20);
        assert_int_equal(memory(i)->memoryPoolConfig.utilizedSize, i ? 0 : 3 << 20);
    }
    assert_int_equal(records_of(POOL), 3);
    for (int i = 0; i < 3; i++) {
        static const CUpti_ActivityMemoryPoolOperationType order[] = {
            CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED,
            CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED,
            CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED};
        const CUpti_ActivityMemoryPool3 *r = &records_find(POOL, i)->pool;
        assert_int_equal(r->memoryPoolOperationType, order[i]);
        assert_int_equal(r->address, memory(0)->memoryPoolConfig.address);
        assert_int_equal(r->minBytesToKeep, i == 1 ? 77 : 0);
    }
}

TEST(memory_carries_the_id_of_its_call)
{
    void *p;
    OK(cuptiActivityEnable(MEMORY2));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
    OK(cuptiActivityEnableAllocationSource(1));
    records_forget();
    OK(cudaMalloc(&p, 100));
    OK(cudaFree(p));
    OK(cuptiActivityFlushAll(0));
    const CUpti_ActivityAPI *alloc = records_call(CUPTI_ACTIVITY_KIND_RUNTIME,
                                                  CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, 0),
                            *release = records_call(CUPTI_ACTIVITY_KIND_RUNTIME,
                                                    CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, 0);
    assert_int_equal(memory(0)->correlationId, alloc->correlationId);
    assert_int_equal(memory(1)->correlationId, release->correlationId);
    assert_true(alloc->start <= memory(0)->timestamp && memory(0)->timestamp <= alloc->end);
    uint64_t here = (uintptr_t)memory_carries_the_id_of_its_call;
    assert_true(memory(0)->PC > here && memory(0)->PC < here + 4096);
    assert_non_null(strstr(memory(0)->source, "test_sim_cupti_memory"));
    OK(cuptiActivityEnableAllocationSource(0));
}

TEST(one_context_alone_can_be_recorded)
{
    CUcontext first = sim_context(), second = sim_context_on(0);
    records_forget();
    OK(cuptiActivityEnableContext(second, MEMORY2));
    CUdeviceptr p = sim_alloc(64); /* second is current */
    OK(cuCtxSetCurrent(first));
    CUdeviceptr q = sim_alloc(64);
    records_expect(1);
    assert_int_equal(memory(0)->contextId, GOT(uint32_t, cuptiGetContextId(second, &got)));
    OK(cuptiActivityEnable(MEMORY2));
    OK(cuptiActivityDisableContext(second, MEMORY2));
    records_forget();
    OK(cuMemFree(q));
    OK(cuMemFree(p));
    records_expect(1);
    assert_int_equal(memory(0)->address, q);
    OK(cuCtxDestroy(second));
    OK(cuCtxSetCurrent(first));
}

TEST(overhead_is_the_time_in_the_clients_callbacks)
{
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD));
    records_begin(MEMORY2);
    CUdeviceptr p = sim_alloc(64);
    OK(cuptiActivityFlushAll(0));
    int before = record_count;
    const CUpti_ActivityOverhead3 *o = NULL;
    for (int i = 0; i < before; i++)
        if (records[i].head.kind == CUPTI_ACTIVITY_KIND_OVERHEAD &&
            records[i].overhead.overheadKind == CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST)
            o = &records[i].overhead;
    assert_non_null(o);
    assert_true(o->start <= o->end);
    assert_int_equal(o->objectKind, CUPTI_ACTIVITY_OBJECT_THREAD);
    assert_int_equal(o->objectId.pt.processId, getpid());
    OK(cuptiActivityFlushAll(0)); /* the cost of the first flush */
    assert_true(record_count > before);
    assert_int_equal(records[before].overhead.overheadKind,
                     CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
    OK(cuMemFree(p));
}

TEST(a_buffer_holds_no_more_records_than_its_giver_said)
{
    size_t lost;
    records_begin(MEMORY2);
    records_per_buffer = 3;
    for (int i = 0; i < 5; i++)
        sim_alloc_and_free(64);
    records_expect(10);
    assert_int_equal(buffers_delivered, 4);
    records_per_buffer = 0;
    records_buffer_bytes = sizeof(CUpti_ActivityMemory4) - 8; /* too small for any record */
    records_forget();
    OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &lost));
    sim_alloc_and_free(64);
    records_expect(0);
    assert_int_equal(GOT(size_t, cuptiActivityGetNumDroppedRecords(NULL, 0, &got)), 2);
    assert_int_equal(GOT(size_t, cuptiActivityGetNumDroppedRecords(NULL, 0, &got)), 0);
    assert_int_equal(buffers_out, 0);
    records_buffer_bytes = 1 << 16;
}

TEST(collection_can_begin_again_after_finalize)
{
    OK(cuptiActivityEnable(MEMORY2));
    OK(cuptiFinalize());
    CUdeviceptr p = sim_alloc(64);
    OK(cuptiActivityRegisterCallbacks(records_give, records_take));
    records_forget();
    OK(cuMemFree(p)); /* the kind was disabled, too */
    records_expect(0);
    OK(cuptiActivityEnable(MEMORY2));
    p = sim_alloc_and_free(64);
    OK(cuptiActivityFlushAll(0));
    is_pair(p, 64, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
}

AFTER(stop_recording)
{
    return records_end();
}

SETUP(setup)
{
    sim_start();
    return cuptiActivityRegisterCallbacks(records_give, records_take);
}
