/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI: the records of a program's work and their relations; callbacks; errors. Uses the runtime
 * API without kernels, whose device code would have to exist. A copy of the records is stored on
 * arrival. */
#include "conf.h"

#include "../cupti/sim_records.h"

#include <unistd.h>

#define RUNTIME CUPTI_ACTIVITY_KIND_RUNTIME
#define EXTERNAL(name) CUPTI_EXTERNAL_CORRELATION_KIND_##name
#define ID(name) CUPTI_RUNTIME_TRACE_CBID_##name

static void flush(void) { DO(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)); }

/* Removes the records so far. */
static void forget(void)
{
    DO(cudaDeviceSynchronize());
    flush();
    record_count = 0;
}

/* The earliest call of *cbid* that started after *before* (NULL: the first of all):
 * records arrive in any order. */
static const CUpti_ActivityAPI *call_after(CUpti_CallbackId cbid, const CUpti_ActivityAPI *before)
{
    const CUpti_ActivityAPI *best = NULL;
    for (int i = 0; i < record_count; i++) {
        const CUpti_ActivityAPI *call = &records[i].api;
        if (call->kind == RUNTIME && call->cbid == cbid && call != before &&
            (!before || call->start > before->start) && (!best || call->start < best->start))
            best = call;
    }
    return best;
}

static const CUpti_ActivityAPI *call_of(CUpti_CallbackId cbid) { return call_after(cbid, NULL); }

/* From here on only records of these kinds (the last is INVALID) come; stop() ends it. */
static const CUpti_ActivityKind *recorded;

static void record(const CUpti_ActivityKind *kinds)
{
    for (recorded = kinds; *kinds != CUPTI_ACTIVITY_KIND_INVALID; kinds++)
        DO(cuptiActivityEnable(*kinds));
    forget();
}
#define RECORD(...) record((CUpti_ActivityKind[]){__VA_ARGS__, CUPTI_ACTIVITY_KIND_INVALID})

static void stop(void)
{
    DO(cudaDeviceSynchronize());
    for (; *recorded != CUPTI_ACTIVITY_KIND_INVALID; recorded++)
        DO(cuptiActivityDisable(*recorded));
    flush();
}

static void CUPTIAPI on_call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *about);

/* ---- errors that need no work ---- */

TEST(bad_arguments_are_refused)
{
    static uint8_t buffer[64] __attribute__((aligned(8)));
    CUpti_Activity *record = NULL;
    CUpti_SubscriberHandle sub;
    RETURNS(cuptiGetVersion(NULL), CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiGetTimestamp(NULL), CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiActivityRegisterCallbacks(NULL, records_take), CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiActivityRegisterCallbacks(records_give, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiActivityGetNextRecord(NULL, 8, &record), CUPTI_ERROR_INVALID_PARAMETER);
    FACT_EQ(cuptiActivityGetNextRecord(buffer, 0, &record), CUPTI_ERROR_MAX_LIMIT_REACHED,
            "no more records in the buffer");
    RETURNS(cuptiActivityGetNumDroppedRecords(NULL, 0, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiSubscribe(NULL, on_call, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_NOT_COMPATIBLE);
    DO(cuptiSubscribe(&sub, on_call, NULL));
    DO(cuptiUnsubscribe(sub));
}

TEST(results_have_their_names)
{
    const char *text = NULL;
    DO(cuptiGetResultString(CUPTI_SUCCESS, &text));
    FACT(strstr(text, "SUCCESS") != NULL, "cuptiGetResultString");
    DO(cuptiGetResultString(CUPTI_ERROR_INVALID_KIND, &text));
    FACT(!strcmp(text, "CUPTI_ERROR_INVALID_KIND"), "cuptiGetResultString");
    RETURNS(cuptiGetResultString(CUPTI_SUCCESS, NULL), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST(time_goes_forward)
{
    uint64_t before;
    DO(cuptiGetTimestamp(&before));
    FACT(before != 0 && before <= GOT(uint64_t, cuptiGetTimestamp(&got)), "cuptiGetTimestamp");
}

TEST(there_is_one_subscriber)
{
    CUpti_SubscriberHandle first, second;
    DO(cuptiSubscribe(&first, on_call, NULL));
    FACT_EQ(cuptiSubscribe(&second, on_call, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
            "if there is already a CUPTI subscriber");
    DO(cuptiUnsubscribe(first));
    WORKS(cuptiSubscribe(&second, on_call, NULL), "cuptiUnsubscribe");
    DO(cuptiUnsubscribe(second));
}

static uint64_t popped(CUpti_ExternalCorrelationKind kind)
{
    return GOT(uint64_t, cuptiActivityPopExternalCorrelationId(kind, &got));
}

TEST(external_ids_are_a_stack_per_kind)
{
    uint64_t id = 0;
    RETURNS(cuptiActivityPopExternalCorrelationId(EXTERNAL(CUSTOM0), &id), CUPTI_ERROR_QUEUE_EMPTY);
    RETURNS(cuptiActivityPushExternalCorrelationId(EXTERNAL(INVALID), 1),
            CUPTI_ERROR_INVALID_PARAMETER);
    DO(cuptiActivityPushExternalCorrelationId(EXTERNAL(CUSTOM0), 1));
    DO(cuptiActivityPushExternalCorrelationId(EXTERNAL(CUSTOM0), 2));
    DO(cuptiActivityPushExternalCorrelationId(EXTERNAL(CUSTOM1), 3));
    FACT_EQ(popped(EXTERNAL(CUSTOM0)), 2,
            "cuptiActivityPopExternalCorrelationId: the last of kind");
    FACT_EQ(popped(EXTERNAL(CUSTOM0)), 1,
            "cuptiActivityPopExternalCorrelationId: the last of kind");
    DO(cuptiActivityPopExternalCorrelationId(EXTERNAL(CUSTOM1), NULL));
}

TEST(contexts_and_streams_have_ids)
{
    cudaStream_t a, b;
    uint32_t context, device = 77, first, second;
    CUcontext ctx = conf_context();
    DO(cudaStreamCreate(&a));
    DO(cudaStreamCreate(&b));
    RETURNS(cuptiGetContextId(ctx, NULL), CUPTI_ERROR_INVALID_PARAMETER);
    WORKS(cuptiGetContextId(NULL, &context), "as cuptiGetDeviceId: NULL is the current context");
    DO(cuptiGetContextId(ctx, &context));
    DO(cuptiGetDeviceId(ctx, &device));
    FACT_EQ(device, 0, "cuptiGetDeviceId: the device that contains the context");
    DO(cuptiGetDeviceId(NULL, &device));
    FACT_EQ(device, 0, "cuptiGetDeviceId: NULL is the current context");
    DO(cuptiGetStreamIdEx(ctx, (CUstream)a, 0, &first));
    DO(cuptiGetStreamIdEx(ctx, (CUstream)b, 0, &second));
    FACT(first != second, "cuptiGetStreamIdEx: unique within a context");
    DO(cuptiGetStreamIdEx(NULL, (CUstream)a, 0, &second));
    FACT_EQ(second, first, "cuptiGetStreamIdEx: the context may be NULL");
    RETURNS(cuptiGetStreamIdEx(ctx, (CUstream)a, 0, NULL), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST(attributes_are_sized)
{
    size_t value = 0, size = sizeof value;
    DO(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
    FACT(value > 0, "CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE");
    FACT_EQ(size, sizeof value, "cuptiActivityGetAttribute");
    size = 1;
    RETURNS(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value),
            CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
    RETURNS(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, NULL, &value),
            CUPTI_ERROR_INVALID_PARAMETER);
    RETURNS(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, NULL),
            CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- API records ---- */

TEST(each_runtime_call_is_a_record)
{
    void *p;
    RECORD(RUNTIME);
    DO(cudaMalloc(&p, CONF_MIB));
    DO(cudaMemset(p, 7, CONF_MIB));
    DO(cudaFree(p));
    stop();
    const CUpti_ActivityAPI *call[] = {call_of(ID(cudaMalloc_v3020)),
                                       call_of(ID(cudaMemset_v3020)),
                                       call_of(ID(cudaFree_v3020))};
    for (int i = 0; i < 3; i++) {
        FACT(call[i] != NULL, "CUPTI_ACTIVITY_KIND_RUNTIME");
        FACT(call[i]->start && call[i]->start <= call[i]->end, "CUpti_ActivityAPI");
        FACT_EQ(call[i]->processId, getpid(), "CUpti_ActivityAPI.processId");
        FACT_EQ(call[i]->returnValue, 0, "CUpti_ActivityAPI.returnValue");
        if (!i)
            continue;
        FACT(call[i - 1]->end <= call[i]->start, "a thread's calls follow each other");
        FACT(call[i - 1]->correlationId != call[i]->correlationId,
             "CUpti_ActivityAPI.correlationId: unique");
        FACT_EQ(call[i]->threadId, call[0]->threadId, "CUpti_ActivityAPI.threadId");
    }
    FACT(!call_after(ID(cudaMalloc_v3020), call[0]), "one record for each invocation");
    FACT_EQ(sizes_wrong, 0, "CUpti_BuffersCallbackCompleteFunc: size and validSize");
}

TEST(a_failed_call_says_so)
{
    void *p;
    size_t free_bytes, total;
    DO(cudaMemGetInfo(&free_bytes, &total));
    RECORD(RUNTIME);
    DO(cudaMalloc(&p, total + CONF_MIB) != cudaErrorMemoryAllocation);
    stop();
    const CUpti_ActivityAPI *call = call_of(ID(cudaMalloc_v3020));
    FACT(call != NULL, "CUPTI_ACTIVITY_KIND_RUNTIME");
    FACT_EQ(call->returnValue, cudaErrorMemoryAllocation,
            "CUpti_ActivityAPI.returnValue: a cudaError_t");
}

TEST(direct_driver_calls_are_driver_records)
{
    size_t free_bytes, total;
    RECORD(CUPTI_ACTIVITY_KIND_DRIVER);
    DO(cuMemGetInfo(&free_bytes, &total));
    stop();
    int found = 0;
    for (int i = 0; i < record_count; i++)
        found += records[i].head.kind == CUPTI_ACTIVITY_KIND_DRIVER &&
                 records[i].api.cbid == CUPTI_DRIVER_TRACE_CBID_cuMemGetInfo_v2;
    FACT_EQ(found, 1, "CUPTI_ACTIVITY_KIND_DRIVER");
}

TEST(functions_can_be_left_out)
{
    void *p;
    RECORD(RUNTIME);
    DO(cuptiActivityEnableRuntimeApi(ID(cudaMalloc_v3020), 0));
    DO(cudaMalloc(&p, 4096));
    DO(cudaFree(p));
    stop();
    FACT(!call_of(ID(cudaMalloc_v3020)), "cuptiActivityEnableRuntimeApi");
    FACT(call_of(ID(cudaFree_v3020)) != NULL, "cuptiActivityEnableRuntimeApi");
    RECORD(RUNTIME); /* overrides the disabled ones */
    stop();
}

/* ---- work ---- */

TEST(copies_belong_to_their_calls)
{
    cudaStream_t s;
    void *device, *host;
    uint32_t context, stream;
    DO(cudaStreamCreate(&s));
    DO(cudaMalloc(&device, CONF_MIB));
    DO(cudaMallocHost(&host, CONF_MIB));
    CUcontext ctx = conf_context();
    DO(cuptiGetContextId(ctx, &context));
    DO(cuptiGetStreamIdEx(NULL, (CUstream)s, 0, &stream));
    RECORD(RUNTIME, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET);
    DO(cudaMemcpyAsync(device, host, CONF_MIB, cudaMemcpyHostToDevice, s));
    DO(cudaMemsetAsync(device, 5, 4096, s));
    DO(cudaMemcpyAsync(host, device, 12345, cudaMemcpyDeviceToHost, s));
    stop();
    FACT_EQ(records_of(CUPTI_ACTIVITY_KIND_MEMCPY), 2, "one record for each copy");
    FACT_EQ(records_of(CUPTI_ACTIVITY_KIND_MEMSET), 1, "one record for each memset");
    const CUpti_ActivityAPI *first = call_of(ID(cudaMemcpyAsync_v3020)),
                            *second = call_after(ID(cudaMemcpyAsync_v3020), first);
    FACT(first && second, "CUPTI_ACTIVITY_KIND_RUNTIME");
    const CUpti_ActivityMemcpy6 *to = NULL, *from = NULL;
    for (int i = 0; i < 2; i++) {
        const CUpti_ActivityMemcpy6 *c = &records_find(CUPTI_ACTIVITY_KIND_MEMCPY, i)->copy;
        *(c->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD ? &to : &from) = c;
    }
    FACT(to && from, "CUpti_ActivityMemcpyKind");
    FACT_EQ(to->bytes, CONF_MIB, "CUpti_ActivityMemcpy6.bytes");
    FACT_EQ(from->bytes, 12345, "CUpti_ActivityMemcpy6.bytes");
    FACT_EQ(from->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, "CUpti_ActivityMemcpyKind");
    FACT_EQ(to->srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, "CUpti_ActivityMemoryKind");
    FACT_EQ(to->dstKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, "CUpti_ActivityMemoryKind");
    FACT(to->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC, "CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC");
    FACT_EQ(to->correlationId, first->correlationId,
            "CUpti_ActivityAPI.correlationId: identical to that of the memcpy");
    FACT_EQ(from->correlationId, second->correlationId,
            "CUpti_ActivityAPI.correlationId: identical to that of the memcpy");
    FACT_EQ(to->streamId, stream, "CUpti_ActivityMemcpy6.streamId");
    FACT_EQ(to->contextId, context, "CUpti_ActivityMemcpy6.contextId");
    FACT_EQ(to->deviceId, 0, "CUpti_ActivityMemcpy6.deviceId");
    const CUpti_ActivityMemset4 *set = &records_find(CUPTI_ACTIVITY_KIND_MEMSET, 0)->set;
    FACT_EQ(set->bytes, 4096, "CUpti_ActivityMemset4.bytes");
    FACT_EQ(set->streamId, stream, "CUpti_ActivityMemset4.streamId");
    FACT_EQ(set->correlationId, call_of(ID(cudaMemsetAsync_v3020))->correlationId,
            "CUpti_ActivityAPI.correlationId: identical to that of the memset");
    FACT(to->start <= to->end && set->start <= set->end && from->start <= from->end,
         "cupti_activity.h: start and end");
}

TEST(disabled_kinds_give_nothing)
{
    void *device;
    char host[64] = {0};
    DO(cudaMalloc(&device, sizeof host));
    RECORD(CUPTI_ACTIVITY_KIND_MEMCPY);
    stop();
    forget();
    DO(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    DO(cudaDeviceSynchronize());
    flush();
    FACT_EQ(records_of(CUPTI_ACTIVITY_KIND_MEMCPY), 0, "cuptiActivityDisable");
}

TEST(waiting_is_recorded)
{
    cudaStream_t s;
    cudaEvent_t e;
    uint32_t stream;
    int seen_types[8] = {0}, found = 0;
    DO(cudaStreamCreate(&s));
    DO(cudaEventCreate(&e));
    DO(cuptiGetStreamIdEx(NULL, (CUstream)s, 0, &stream));
    RECORD(RUNTIME, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
    DO(cudaEventRecord(e, s));
    DO(cudaStreamSynchronize(s));
    DO(cudaEventSynchronize(e));
    DO(cudaDeviceSynchronize());
    stop();
    const CUpti_ActivityAPI *wait = call_of(ID(cudaStreamSynchronize_v3020));
    FACT(wait != NULL, "CUPTI_ACTIVITY_KIND_RUNTIME");
    for (int i = 0; i < record_count; i++) {
        const CUpti_ActivitySynchronization2 *r = &records[i].sync;
        if (r->kind != CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
            continue;
        FACT(r->start <= r->end, "CUpti_ActivitySynchronization2");
        if ((unsigned)r->type < 8)
            seen_types[r->type]++;
        if (r->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE &&
            r->streamId == stream && r->correlationId == wait->correlationId)
            found++;
    }
    FACT(found >= 1, "CUpti_ActivitySynchronization2: streamId, correlationId");
    FACT(seen_types[CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE] &&
             seen_types[CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE] &&
             seen_types[CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE],
         "CUpti_ActivitySynchronizationType");
}

TEST(external_ids_come_with_calls)
{
    void *p;
    const CUpti_ActivityExternalCorrelation *tied = NULL;
    RECORD(RUNTIME, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    DO(cuptiActivityPushExternalCorrelationId(EXTERNAL(CUSTOM2), 815));
    DO(cudaMalloc(&p, 4096));
    DO(cuptiActivityPopExternalCorrelationId(EXTERNAL(CUSTOM2), NULL));
    DO(cudaFree(p));
    stop();
    const CUpti_ActivityAPI *in = call_of(ID(cudaMalloc_v3020)),
                            *after = call_of(ID(cudaFree_v3020));
    FACT(in && after, "CUPTI_ACTIVITY_KIND_RUNTIME");
    for (int i = 0; i < record_count; i++) {
        const CUpti_ActivityExternalCorrelation *r = &records[i].external;
        if (r->kind != CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
            continue;
        FACT(r->correlationId != after->correlationId,
             "outside the region there is no external id");
        if (r->correlationId == in->correlationId)
            tied = r;
    }
    FACT(tied != NULL, "cuptiActivityPushExternalCorrelationId");
    FACT_EQ(tied->externalId, 815, "CUpti_ActivityExternalCorrelation.externalId");
    FACT_EQ(tied->externalKind, EXTERNAL(CUSTOM2),
            "CUpti_ActivityExternalCorrelation.externalKind");
}

/* ---- memory ---- */

static const CUpti_ActivityMemory4 *memory_at(const void *address,
                                              CUpti_ActivityMemoryOperationType operation)
{
    for (int i = 0; i < record_count; i++)
        if (records[i].head.kind == CUPTI_ACTIVITY_KIND_MEMORY2 &&
            records[i].memory.address == (uintptr_t)address &&
            records[i].memory.memoryOperationType == operation)
            return &records[i].memory;
    return NULL;
}

static void is_recorded(const void *address, size_t bytes, CUpti_ActivityMemoryKind kind)
{
    const CUpti_ActivityMemory4 *a = memory_at(address,
                                               CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION),
                                *r = memory_at(address,
                                               CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
    FACT(a && r, "CUpti_ActivityMemory4: a record for each operation");
    FACT_EQ(a->bytes, bytes, "CUpti_ActivityMemory4.bytes");
    FACT_EQ(a->memoryKind, kind, "CUpti_ActivityMemory4.memoryKind");
    FACT_EQ(a->isAsync, 0, "CUpti_ActivityMemory4.isAsync");
    FACT_EQ(a->processId, getpid(), "CUpti_ActivityMemory4.processId");
    FACT(a->timestamp <= r->timestamp, "CUpti_ActivityMemory4.timestamp");
}

TEST(allocations_and_releases_are_recorded)
{
    void *device, *host, *managed;
    NEED(DEVICE_ATTRIBUTE(MANAGED_MEMORY), "no managed memory");
    RECORD(CUPTI_ACTIVITY_KIND_MEMORY2, RUNTIME);
    DO(cudaMalloc(&device, 3 * CONF_MIB));
    DO(cudaMallocHost(&host, 2 * CONF_MIB));
    DO(cudaMallocManaged(&managed, CONF_MIB, cudaMemAttachGlobal));
    DO(cudaFree(managed));
    DO(cudaFreeHost(host));
    DO(cudaFree(device));
    stop();
    is_recorded(device, 3 * CONF_MIB, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
    is_recorded(host, 2 * CONF_MIB, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
    is_recorded(managed, CONF_MIB, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
    FACT_EQ(memory_at(device, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION)->correlationId,
            call_of(ID(cudaMalloc_v3020))->correlationId, "CUpti_ActivityMemory4.correlationId");
    FACT_EQ(memory_at(managed, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE)->correlationId,
            call_of(ID(cudaFree_v3020))->correlationId, "CUpti_ActivityMemory4.correlationId");
}

TEST(stream_ordered_memory_names_its_stream_and_pool)
{
    cudaStream_t s;
    void *p;
    uint32_t stream;
    NEED(DEVICE_ATTRIBUTE(MEMORY_POOLS_SUPPORTED), "the device has no memory pools");
    DO(cudaStreamCreate(&s));
    DO(cuptiGetStreamIdEx(NULL, (CUstream)s, 0, &stream));
    RECORD(CUPTI_ACTIVITY_KIND_MEMORY2);
    DO(cudaMallocAsync(&p, CONF_MIB, s));
    DO(cudaFreeAsync(p, s));
    DO(cudaStreamSynchronize(s));
    stop();
    const CUpti_ActivityMemory4 *a = memory_at(p, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION),
                                *r = memory_at(p, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
    FACT(a && r, "CUpti_ActivityMemory4: a record for each operation");
    FACT_EQ(a->isAsync, 1, "CUpti_ActivityMemory4.isAsync");
    FACT_EQ(r->isAsync, 1, "CUpti_ActivityMemory4.isAsync");
    FACT_EQ(a->streamId, stream, "CUpti_ActivityMemory4.streamId");
    FACT_EQ(a->memoryPoolConfig.memoryPoolType, CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
            "CUpti_ActivityMemory4.memoryPoolConfig");
}

/* ---- callbacks ---- */

static struct {
    int entered, left;
    uint32_t correlation;
    uint64_t kept;
    int result, name_ok;
} seen;

static void CUPTIAPI on_call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *about)
{
    const CUpti_CallbackData *call = about;
    if (data != &seen || domain != CUPTI_CB_DOMAIN_RUNTIME_API || id != ID(cudaMalloc_v3020))
        return;
    if (call->callbackSite == CUPTI_API_ENTER) {
        seen.entered++;
        seen.correlation = call->correlationId;
        seen.name_ok = strstr(call->functionName, "cudaMalloc") != NULL;
        *call->correlationData = 0x0123456789abcdef;
    } else {
        seen.left += call->correlationId == seen.correlation;
        seen.kept = *call->correlationData;
        seen.result = *(const int *)call->functionReturnValue;
    }
}

TEST(callbacks_come_around_calls)
{
    CUpti_SubscriberHandle sub;
    void *p;
    uint32_t on = 7;
    memset(&seen, 0, sizeof seen);
    seen.result = -1;
    RECORD(RUNTIME);
    DO(cuptiSubscribe(&sub, on_call, &seen));
    DO(cuptiGetCallbackState(&on, sub, CUPTI_CB_DOMAIN_RUNTIME_API, ID(cudaMalloc_v3020)));
    FACT_EQ(on, 0, "cuptiSubscribe: all callbacks are disabled at first");
    RETURNS(cuptiEnableCallback(1, sub, CUPTI_CB_DOMAIN_INVALID, 1), CUPTI_ERROR_INVALID_PARAMETER);
    DO(cuptiEnableCallback(1, sub, CUPTI_CB_DOMAIN_RUNTIME_API, ID(cudaMalloc_v3020)));
    DO(cuptiGetCallbackState(&on, sub, CUPTI_CB_DOMAIN_RUNTIME_API, ID(cudaMalloc_v3020)));
    FACT(on != 0, "cuptiGetCallbackState");
    DO(cudaMalloc(&p, 4096));
    DO(cudaFree(p));
    FACT_EQ(seen.entered, 1, "CUPTI_API_ENTER");
    FACT_EQ(seen.left, 1, "CUPTI_API_EXIT");
    FACT(seen.name_ok, "CUpti_CallbackData.functionName");
    FACT_EQ(seen.kept, 0x0123456789abcdef, "CUpti_CallbackData.correlationData");
    FACT_EQ(seen.result, 0, "CUpti_CallbackData.functionReturnValue");
    DO(cuptiEnableDomain(0, sub, CUPTI_CB_DOMAIN_RUNTIME_API));
    DO(cudaMalloc(&p, 4096));
    DO(cudaFree(p));
    FACT_EQ(seen.entered, 1, "cuptiEnableDomain");
    DO(cuptiUnsubscribe(sub));
    stop();
    FACT_EQ(call_of(ID(cudaMalloc_v3020))->correlationId, seen.correlation,
            "CUpti_CallbackData.correlationId: as in CUpti_ActivityAPI");
}

TEST(every_buffer_comes_back)
{
    flush();
    pthread_mutex_lock(&records_mu);
    int out = buffers_out, taken = buffers_delivered;
    pthread_mutex_unlock(&records_mu);
    FACT(out >= 0, "CUpti_BuffersCallbackCompleteFunc");
    FACT(taken > 0, "cuptiActivityFlushAll");
}

SETUP(setup)
{
    DO(cuptiActivityRegisterCallbacks(records_give, records_take));
    return 0;
}
