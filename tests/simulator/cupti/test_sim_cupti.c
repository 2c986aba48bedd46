/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in CUPTI: its records, their content, and that each stream's records do not overlap. */
#include "sim_test.h"

#include "sim_records.h"

#define KERNEL CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
#define COPY CUPTI_ACTIVITY_KIND_MEMCPY
#define SET CUPTI_ACTIVITY_KIND_MEMSET

static void CUPTIAPI take(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                          size_t valid)
{
    size_t lost;
    records_take(context, stream, buffer, bytes, valid);
    cuptiActivityGetNumDroppedRecords(NULL, 0, &lost); /* collectors query it from here */
}

static void enable(bool on)
{
    CUpti_ActivityKind kinds[] = {KERNEL, COPY, SET};
    for (int i = 0; i < 3; i++)
        OK(on ? cuptiActivityEnable(kinds[i]) : cuptiActivityDisable(kinds[i]));
}

TEST(flushing_needs_registered_buffers)
{
    FAILS(cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
    FAILS(cuptiActivityRegisterCallbacks(NULL, take), CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiActivityRegisterCallbacks(records_give, take));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(buffers_delivered, 0); /* no record, no buffer */
}

TEST(kinds_that_are_not_simulated_are_refused)
{
    const char *text;
    FAILS(cuptiGetResultString((CUptiResult)5555, &text), CUPTI_ERROR_INVALID_PARAMETER);
    assert_int_equal(GOT(uint32_t, cuptiGetVersion(&got)), CUPTI_API_VERSION);
    FAILS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING),
          CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
    FAILS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_JIT), CUPTI_ERROR_INVALID_KIND);
    FAILS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_NOT_COMPATIBLE);
    FAILS(cuptiActivityEnable((CUpti_ActivityKind)100000), CUPTI_ERROR_INVALID_KIND);
    FAILS(cuptiActivityConfigurePCSampling(NULL, NULL), CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
    FAILS(cuptiActivityEnableHWTrace(1), CUPTI_ERROR_NOT_SUPPORTED);
}

TEST(every_piece_of_work_gives_one_record)
{
    CUdeviceptr p;
    int host[256], count = 256, what = 1;
    void *args[] = {&p, &count, &what};
    OK(cuMemAlloc(&p, sizeof host));
    CUstream s = sim_stream(0);
    records_forget();
    enable(true);
    for (int i = 0; i < 100; i++) {
        OK(cuMemsetD32Async(p, 0, 256, s));
        OK(cuLaunchKernel(sim_function("add"), 3, 1, 1, 128, 1, 1, 0, s, args, NULL));
        OK(cuLaunchKernel(sim_function("no_host_function"), 7, 1, 1, 128, 1, 1, 0, NULL, NULL,
                          NULL));
        OK(cuMemcpyDtoH(host, p, sizeof host));
    }
    OK(cuCtxSynchronize());
    enable(false);
    OK(cuLaunchKernel(sim_function("unseen"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(records_of(KERNEL), 200);
    assert_int_equal(records_of(COPY), 100);
    assert_int_equal(records_of(SET), 100);
    assert_int_equal(buffers_out, 0);
}

/* When a record's work ran, in which stream, for which call. */
struct slice {
    uint64_t start, end;
    uint32_t stream, correlation;
};

static struct slice slice_of(const union record *r)
{
    if (r->head.kind == KERNEL)
        return (struct slice){r->kernel.start, r->kernel.end, r->kernel.streamId,
                              r->kernel.correlationId};
    if (r->head.kind == COPY)
        return (struct slice){r->copy.start, r->copy.end, r->copy.streamId, r->copy.correlationId};
    return (struct slice){r->set.start, r->set.end, r->set.streamId, r->set.correlationId};
}

/* Uses the records of the test above. */
TEST(records_of_a_stream_follow_each_other)
{
    struct slice last[16] = {{0}};
    int streams = 0;
    assert_true(record_count > 0);
    for (int i = 0; i < record_count; i++) {
        struct slice s = slice_of(&records[i]);
        int k = 0;
        while (k < streams && last[k].stream != s.stream)
            k++;
        if (k == streams)
            last[streams++].stream = s.stream;
        assert_true(s.start >= last[k].end);
        assert_true(s.end >= s.start);
        last[k].end = s.end;
    }
    assert_int_equal(streams, 2);
}

TEST(records_say_what_ran)
{
    int adds = 0, others = 0;
    for (int i = 0; i < record_count; i++) {
        const union record *r = &records[i];
        for (int k = 0; k < i; k++)
            assert_int_not_equal(slice_of(&records[k]).correlation, slice_of(r).correlation);
        if (r->head.kind == KERNEL) {
            adds += !strcmp(r->kernel.name, "add") && r->kernel.gridX == 3;
            others += !strcmp(r->kernel.name, "no_host_function") && r->kernel.gridX == 7;
        } else if (r->head.kind == COPY) {
            assert_int_equal(r->copy.copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
            assert_int_equal(r->copy.srcKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
            assert_int_equal(r->copy.dstKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
            assert_int_equal(r->copy.bytes, 1024);
        } else if (r->head.kind == SET) {
            assert_int_equal(r->set.bytes, 1024);
        }
    }
    assert_int_equal(adds, 100);
    assert_int_equal(others, 100);
}

TEST(a_full_buffer_is_delivered_and_another_asked_for)
{
    records_forget();
    records_buffer_bytes = 4 * sizeof(CUpti_ActivityKernel10) + 100;
    enable(true);
    for (int i = 0; i < 10; i++)
        OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    enable(false);
    assert_int_equal(records_of(KERNEL), 10);
    assert_int_equal(buffers_delivered, 3);
    assert_int_equal(buffers_out, 0);
    records_buffer_bytes = 1 << 16;
}

TEST(records_without_a_buffer_are_counted_as_dropped)
{
    records_forget();
    records_buffer_bytes = 0;
    enable(true);
    for (int i = 0; i < 5; i++)
        OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    enable(false);
    records_buffer_bytes = 1 << 16;
    assert_int_equal(GOT(size_t, cuptiActivityGetNumDroppedRecords(NULL, 0, &got)), 5);
    assert_int_equal(GOT(size_t, cuptiActivityGetNumDroppedRecords(NULL, 0, &got)), 0);
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(records_of(KERNEL), 0);
}

static uint64_t CUPTIAPI my_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

TEST(times_are_of_the_clock_that_was_registered)
{
    uint64_t before, after;
    struct timespec earlier, later;
    clock_gettime(CLOCK_REALTIME, &earlier);
    OK(cuptiGetTimestamp(&before));
    clock_gettime(CLOCK_REALTIME, &later);
    assert_in_range(before / 1000000000u, (uint64_t)earlier.tv_sec - 1,
                    (uint64_t)later.tv_sec + 1); /* the default */
    OK(cuptiActivityRegisterTimestampCallback(my_clock));
    records_forget();
    enable(true);
    before = my_clock();
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    after = my_clock();
    enable(false);
    OK(cuptiActivityFlushAll(0));
    assert_true(slice_of(&records[0]).start + 20000 >= before &&
                slice_of(&records[0]).end <= after + 20000);
}

static int resource_calls[8];

static void CUPTIAPI on_resource(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *info)
{
    const CUpti_ResourceData *r = info;
    uint32_t context;
    assert_int_equal(domain, CUPTI_CB_DOMAIN_RESOURCE);
    if (id < 8)
        ((int *)data)[id]++;
    if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) /* clients make queries here */
        cuptiGetContextId(r->context, &context);
}

TEST(there_is_one_subscriber)
{
    CUpti_SubscriberHandle first, second;
    OK(cuptiSubscribe(&first, on_resource, resource_calls));
    FAILS(cuptiSubscribe(&second, on_resource, NULL),
          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    FAILS(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_NVTX), CUPTI_ERROR_NOT_SUPPORTED);
    FAILS(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_INVALID), CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_RESOURCE));
    CUstream s = sim_stream(0);
    OK(cuStreamDestroy(s));
    CUcontext ctx = sim_context_on(0);
    OK(cuCtxDestroy(ctx));
    assert_int_equal(resource_calls[CUPTI_CBID_RESOURCE_STREAM_CREATED], 1);
    assert_int_equal(resource_calls[CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING], 1);
    assert_int_equal(resource_calls[CUPTI_CBID_RESOURCE_CONTEXT_CREATED], 1);
    assert_int_equal(resource_calls[CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING], 1);
    OK(cuptiUnsubscribe(first));
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamDestroy(s));
    assert_int_equal(resource_calls[CUPTI_CBID_RESOURCE_STREAM_CREATED], 1);
    OK(cuptiSubscribe(&second, on_resource, NULL));
    OK(cuptiUnsubscribe(second));
    FAILS(cuptiUnsubscribe(second), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST(after_finalize_nothing_is_recorded)
{
    records_forget();
    enable(true);
    OK(cuptiFinalize());
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    FAILS(cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
    assert_int_equal(records_of(KERNEL), 0);
    assert_int_equal(buffers_out, 0);
}

SIM_TESTS_ON("a100-40g,capacity=1GiB")
