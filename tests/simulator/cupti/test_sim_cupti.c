/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in CUPTI: its records, their content, and that each stream's records do not overlap. */
#include "sim_test.h"

#include <cupti.h>
#include <pthread.h>

enum { RECORDS_MAX = 20000 };

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static size_t buffer_bytes = 1 << 16; /* how large the next buffers are; 0: none given */
static int buffers_out, deliveries, kernels, copies, sets, syncs, externals;
static struct slice {
    CUpti_ActivityKind kind;
    uint64_t start, end, bytes;
    uint32_t stream, correlation, context;
    uint8_t copy_kind, from, to;
    char name[32];
    int grid_x;
} slices[RECORDS_MAX]; /* guarded by mu, like all above */
static int slice_count;
static uint64_t last_external;

static void CUPTIAPI give(uint8_t **buffer, size_t *size, size_t *records)
{
    pthread_mutex_lock(&mu);
    *size = buffer_bytes;
    *buffer = buffer_bytes ? malloc(buffer_bytes) : NULL;
    *records = 0;
    buffers_out += *buffer != NULL;
    pthread_mutex_unlock(&mu);
}

static void keep(const CUpti_Activity *record)
{
    struct slice *s = &slices[slice_count++];
    memset(s, 0, sizeof *s);
    s->kind = record->kind;
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        const CUpti_ActivityKernel10 *k = (const CUpti_ActivityKernel10 *)record;
        kernels++;
        s->start = k->start, s->end = k->end, s->stream = k->streamId,
        s->correlation = k->correlationId;
        s->context = k->contextId, s->grid_x = k->gridX;
        strncpy(s->name, k->name, sizeof s->name - 1);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const CUpti_ActivityMemcpy6 *c = (const CUpti_ActivityMemcpy6 *)record;
        copies++;
        s->start = c->start, s->end = c->end, s->stream = c->streamId,
        s->correlation = c->correlationId;
        s->bytes = c->bytes, s->copy_kind = c->copyKind, s->from = c->srcKind, s->to = c->dstKind;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)record;
        sets++;
        s->start = m->start, s->end = m->end, s->stream = m->streamId,
        s->correlation = m->correlationId;
        s->bytes = m->bytes;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
        syncs++;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
        externals++;
        last_external = ((const CUpti_ActivityExternalCorrelation *)record)->externalId;
    }
}

static void CUPTIAPI take(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t valid)
{
    CUpti_Activity *record = NULL;
    size_t lost;
    (void)ctx, (void)stream, (void)size;
    pthread_mutex_lock(&mu);
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS &&
           slice_count < RECORDS_MAX)
        keep(record);
    buffers_out--;
    deliveries++;
    pthread_mutex_unlock(&mu);
    cuptiActivityGetNumDroppedRecords(NULL, 0, &lost); /* collectors query it from here */
    free(buffer);
}

static void forget(void)
{
    cuptiActivityFlushAll(0);
    slice_count = deliveries = kernels = copies = sets = syncs = externals = 0;
}

static void enable(bool on)
{
    CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                  CUPTI_ACTIVITY_KIND_MEMSET};
    for (int i = 0; i < 3; i++)
        OK(on ? cuptiActivityEnable(kinds[i]) : cuptiActivityDisable(kinds[i]));
}

TEST(flushing_needs_registered_buffers)
{
    FAILS(cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
    FAILS(cuptiActivityRegisterCallbacks(NULL, take), CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiActivityRegisterCallbacks(give, take));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(deliveries, 0); /* no record, no buffer */
}

TEST(kinds_that_are_not_simulated_are_refused)
{
    FAILS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING),
          CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
    FAILS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_JIT), CUPTI_ERROR_INVALID_KIND);
    FAILS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_INVALID_KIND);
    FAILS(cuptiActivityEnable((CUpti_ActivityKind)100000), CUPTI_ERROR_INVALID_KIND);
    FAILS(cuptiActivityConfigurePCSampling(NULL, NULL), CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
    FAILS(cuptiActivityEnableHWTrace(1), CUPTI_ERROR_NOT_SUPPORTED);
}

TEST(every_piece_of_work_gives_one_record)
{
    CUdeviceptr p;
    int host[256], count = 256, what = 1;
    void *args[] = {&p, &count, &what};
    CUstream s;
    OK(cuMemAlloc(&p, sizeof host));
    OK(cuStreamCreate(&s, 0));
    forget();
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
    assert_int_equal(kernels, 200);
    assert_int_equal(copies, 100);
    assert_int_equal(sets, 100);
    assert_int_equal(buffers_out, 0);
    OK(cuMemFree(p));
    OK(cuStreamDestroy(s));
}

/* Uses the records of the test above. */
TEST(records_of_a_stream_follow_each_other)
{
    struct {
        uint32_t stream;
        uint64_t end;
    } last[16] = {{0, 0}};
    int streams = 0;
    assert_true(slice_count > 0);
    for (int i = 0; i < slice_count; i++) {
        int k = 0;
        while (k < streams && last[k].stream != slices[i].stream)
            k++;
        if (k == streams)
            last[streams++].stream = slices[i].stream;
        assert_true(slices[i].start >= last[k].end);
        assert_true(slices[i].end >= slices[i].start);
        last[k].end = slices[i].end;
    }
    assert_int_equal(streams, 2);
}

TEST(records_say_what_ran)
{
    uint64_t adds = 0, others = 0;
    for (int i = 0; i < slice_count; i++) {
        const struct slice *s = &slices[i];
        for (int k = 0; k < i; k++)
            assert_int_not_equal(slices[k].correlation, s->correlation);
        if (s->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && !strcmp(s->name, "add"))
            adds += s->grid_x == 3;
        if (s->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
            !strcmp(s->name, "no_host_function"))
            others += s->grid_x == 7;
        if (s->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
            assert_int_equal(s->copy_kind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
            assert_int_equal(s->from, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
            assert_int_equal(s->to, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
            assert_int_equal(s->bytes, 1024);
        }
        if (s->kind == CUPTI_ACTIVITY_KIND_MEMSET)
            assert_int_equal(s->bytes, 1024);
    }
    assert_int_equal(adds, 100);
    assert_int_equal(others, 100);
}

TEST(ids_in_records_are_those_asked_for)
{
    CUcontext ctx;
    CUstream s;
    uint32_t context, stream;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuStreamCreate(&s, 0));
    OK(cuptiGetContextId(ctx, &context));
    OK(cuptiGetStreamIdEx(ctx, s, 0, &stream));
    forget();
    enable(true);
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    OK(cuStreamSynchronize(s));
    enable(false);
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(slices[0].context, context);
    assert_int_equal(slices[0].stream, stream);
    OK(cuStreamDestroy(s));
}

TEST(a_full_buffer_is_delivered_and_another_asked_for)
{
    forget();
    buffer_bytes = 4 * sizeof(CUpti_ActivityKernel10) + 100;
    enable(true);
    for (int i = 0; i < 10; i++)
        OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
    enable(false);
    assert_int_equal(kernels, 10);
    assert_int_equal(deliveries, 3);
    assert_int_equal(buffers_out, 0);
    buffer_bytes = 1 << 16;
}

TEST(records_without_a_buffer_are_counted_as_dropped)
{
    size_t lost;
    forget();
    buffer_bytes = 0;
    enable(true);
    for (int i = 0; i < 5; i++)
        OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    enable(false);
    buffer_bytes = 1 << 16;
    OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &lost));
    assert_int_equal(lost, 5);
    OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &lost));
    assert_int_equal(lost, 0);
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(kernels, 0);
}

TEST(synchronisations_are_recorded_when_asked_for)
{
    forget();
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
    OK(cuCtxSynchronize());
    OK(cuStreamSynchronize(NULL));
    OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(syncs, 2);
}

TEST(external_ids_are_tied_to_work)
{
    uint64_t id;
    forget();
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
    enable(true);
    OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 4711));
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id));
    assert_int_equal(id, 4711);
    FAILS(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id),
          CUPTI_ERROR_QUEUE_EMPTY);
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    enable(false);
    OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
    OK(cuptiActivityFlushAll(0));
    assert_int_equal(externals, 1);
    assert_int_equal(last_external, 4711);
    assert_int_equal(kernels, 2);
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
    forget();
    enable(true);
    before = my_clock();
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    after = my_clock();
    enable(false);
    OK(cuptiActivityFlushAll(0));
    assert_true(slices[0].start + 20000 >= before && slices[0].end <= after + 20000);
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
    CUstream s;
    CUcontext ctx;
    OK(cuptiSubscribe(&first, on_resource, resource_calls));
    FAILS(cuptiSubscribe(&second, on_resource, NULL),
          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    FAILS(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_NVTX), CUPTI_ERROR_NOT_SUPPORTED);
    FAILS(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_INVALID), CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_RESOURCE));
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamDestroy(s));
    OK(cuCtxCreate(&ctx, NULL, 0, 0));
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

TEST(results_have_names)
{
    const char *text;
    uint32_t version;
    OK(cuptiGetResultString(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, &text));
    assert_string_equal(text, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
    FAILS(cuptiGetResultString((CUptiResult)5555, &text), CUPTI_ERROR_INVALID_PARAMETER);
    OK(cuptiGetVersion(&version));
    assert_int_equal(version, CUPTI_API_VERSION);
}

TEST(after_finalize_nothing_is_recorded)
{
    forget();
    enable(true);
    OK(cuptiFinalize());
    OK(cuLaunchKernel(sim_function("k"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    FAILS(cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
    assert_int_equal(kernels, 0);
    assert_int_equal(buffers_out, 0);
}

static int setup(void **state)
{
    (void)state;
    setenv("VRAMSCOPE_SIMULATE", "a100-40g,capacity=1GiB", 1);
    sim_start();
    sim_register_kernels();
    return 0;
}

int main(void)
{
    return vs_run_tests(setup, NULL);
}
