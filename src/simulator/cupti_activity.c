/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records. The driver reports finished work on the thread that ran it;
 * it is written as a record of this CUPTI version into the client's buffer, which
 * goes back to the client when it is full or flushed. The client's callbacks are
 * called without our lock, so they may call CUPTI. */
#include "simulator/vs_sim_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_ALIGN 8
#define REGISTERS 32 /* as the driver says of every kernel */

union record {
    CUpti_Activity head;
    CUpti_ActivityKernel10 kernel;
    CUpti_ActivityMemcpy6 copy;
    CUpti_ActivityMemcpyPtoP4 peer;
    CUpti_ActivityMemset4 set;
    CUpti_ActivitySynchronization2 sync;
    CUpti_ActivityExternalCorrelation external;
};

static const struct {
    CUpti_ActivityKind kind;
    size_t bytes;
    uint32_t want; /* what the driver must report for it */
} kinds[] = {
    {CUPTI_ACTIVITY_KIND_KERNEL, sizeof(CUpti_ActivityKernel10),
     VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL)},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, sizeof(CUpti_ActivityKernel10),
     VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL)},
    {CUPTI_ACTIVITY_KIND_MEMCPY, sizeof(CUpti_ActivityMemcpy6), VS_SIM_WANT(VS_SIM_ACTIVITY_COPY)},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, sizeof(CUpti_ActivityMemcpyPtoP4),
     VS_SIM_WANT(VS_SIM_ACTIVITY_COPY)},
    {CUPTI_ACTIVITY_KIND_MEMSET, sizeof(CUpti_ActivityMemset4), VS_SIM_WANT(VS_SIM_ACTIVITY_SET)},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sizeof(CUpti_ActivitySynchronization2),
     VS_SIM_WANT(VS_SIM_ACTIVITY_SYNC)},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, sizeof(CUpti_ActivityExternalCorrelation),
     VS_SIM_WANT_SUBMISSIONS},
};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc requested;  /* guarded by mu */
static CUpti_BuffersCallbackCompleteFunc completed; /* guarded by mu */
static struct buffer {
    uint8_t *bytes;
    size_t size, used, records, records_max; /* records_max 0: as many as fit */
} current;                                   /* guarded by mu */
static atomic_size_t dropped;
static atomic_uint enabled; /* bit i: kinds[i] */
static atomic_bool latency_timestamps;

static int index_of(CUpti_ActivityKind kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (kinds[i].kind == kind)
            return (int)i;
    return -1;
}

static bool is_enabled(CUpti_ActivityKind kind)
{
    return atomic_load(&enabled) >> index_of(kind) & 1;
}

/* ---- buffers ---- */

static bool fits_locked(size_t bytes)
{
    return current.bytes && current.size - current.used >= bytes &&
           (!current.records_max || current.records < current.records_max);
}

/* Ask the client for a buffer that holds a record of *bytes*; the one in use, if
 * any, goes back to it. Called with mu held, which is let go meanwhile. */
static void renew_locked(size_t bytes)
{
    struct buffer full = current, fresh = {0};
    CUpti_BuffersCallbackRequestFunc request = requested;
    CUpti_BuffersCallbackCompleteFunc complete = completed;
    current = (struct buffer){0};
    pthread_mutex_unlock(&mu);
    if (full.bytes)
        complete(NULL, 0, full.bytes, full.size, full.used);
    request(&fresh.bytes, &fresh.size, &fresh.records_max);
    pthread_mutex_lock(&mu);
    bool usable = fresh.bytes && fresh.size >= bytes && !((uintptr_t)fresh.bytes % RECORD_ALIGN);
    if (usable && !current.bytes) {
        current = fresh;
        return;
    }
    pthread_mutex_unlock(&mu); /* another thread was faster, or it is of no use: unused, back */
    if (fresh.bytes)
        complete(NULL, 0, fresh.bytes, fresh.size, 0);
    pthread_mutex_lock(&mu);
}

static void put(const union record *record)
{
    size_t bytes = kinds[index_of(record->head.kind)].bytes;
    pthread_mutex_lock(&mu);
    if (requested && !fits_locked(bytes))
        renew_locked(bytes);
    if (requested && fits_locked(bytes)) {
        memcpy(current.bytes + current.used, record, bytes);
        current.used += (bytes + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1);
        current.records++;
    } else {
        atomic_fetch_add(&dropped, 1);
    }
    pthread_mutex_unlock(&mu);
}

static void flush(void)
{
    pthread_mutex_lock(&mu);
    struct buffer out = current;
    CUpti_BuffersCallbackCompleteFunc complete = completed;
    current = (struct buffer){0};
    pthread_mutex_unlock(&mu);
    if (out.bytes)
        complete(NULL, 0, out.bytes, out.size, out.used);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
                                           CUpti_BuffersCallbackCompleteFunc funcBufferCompleted)
{
    if (!funcBufferRequested || !funcBufferCompleted)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    pthread_mutex_lock(&mu);
    requested = funcBufferRequested;
    completed = funcBufferCompleted;
    pthread_mutex_unlock(&mu);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag; /* a record is written when its work is complete: there are no incomplete ones */
    if (!vs_cupti_attach())
        return vs_cupti_result(CUPTI_ERROR_NOT_INITIALIZED);
    pthread_mutex_lock(&mu);
    bool registered = requested != NULL;
    pthread_mutex_unlock(&mu);
    if (!registered)
        return vs_cupti_result(CUPTI_ERROR_INVALID_OPERATION);
    flush();
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlush(CUcontext context, uint32_t streamId, uint32_t flag)
{
    (void)context, (void)streamId; /* buffers are not kept apart */
    return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *count)
{
    (void)context, (void)streamId;
    if (!count)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *count = atomic_exchange(&dropped, 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes,
                                       CUpti_Activity **record)
{
    if (!buffer || !record)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    uint8_t *next = buffer;
    if (*record) {
        int i = index_of((*record)->kind);
        if (i < 0)
            return vs_cupti_result(CUPTI_ERROR_INVALID_KIND);
        next = (uint8_t *)*record +
               ((kinds[i].bytes + RECORD_ALIGN - 1) & ~(size_t)(RECORD_ALIGN - 1));
    }
    if (next >= buffer + validBufferSizeBytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED; /* the ordinary end, not remembered as an error */
    *record = (CUpti_Activity *)next;
    return CUPTI_SUCCESS;
}

/* ---- choosing kinds ---- */

static CUptiResult set_enabled(CUpti_ActivityKind kind, bool on)
{
    int i = index_of(kind);
    if (i < 0)
        return CUPTI_ERROR_INVALID_KIND;
    CUptiResult r = vs_cupti_permission();
    if (r)
        return r;
    unsigned bit = 1u << i, left;
    left = on ? atomic_fetch_or(&enabled, bit) | bit : atomic_fetch_and(&enabled, ~bit) & ~bit;
    bool shared = false; /* another enabled kind needs the same reports */
    for (size_t k = 0; k < KIND_COUNT; k++)
        shared |= (left >> k & 1) && kinds[k].want == kinds[i].want;
    if (on || !shared)
        vs_cupti_want(kinds[i].want, on);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return vs_cupti_result(set_enabled(kind, true));
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return vs_cupti_result(set_enabled(kind, false));
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    atomic_store(&latency_timestamps, enable != 0);
    return CUPTI_SUCCESS;
}

/* Sizes of buffers that a real device's driver keeps; here there are none, and the
 * values are only kept for asking. */
static pthread_mutex_t attributes_mu = PTHREAD_MUTEX_INITIALIZER;
static size_t attributes[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED + 1] = {
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = 3200000,
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250,
};

static size_t attribute_bytes(CUpti_ActivityAttribute attr)
{
    return attr == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
                   attr == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED
               ? sizeof(uint8_t)
               : sizeof(size_t);
}

static CUptiResult attribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value, bool set)
{
    if (!valueSize || !value ||
        (unsigned)attr > CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED)
        return CUPTI_ERROR_INVALID_PARAMETER;
    size_t bytes = attribute_bytes(attr);
    if (*valueSize < bytes)
        return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    pthread_mutex_lock(&attributes_mu);
    if (set) {
        attributes[attr] = 0;
        memcpy(&attributes[attr], value, bytes);
    } else {
        memcpy(value, &attributes[attr], bytes);
    }
    pthread_mutex_unlock(&attributes_mu);
    *valueSize = bytes;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
    return vs_cupti_result(attribute(attr, valueSize, value, true));
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
    return vs_cupti_result(attribute(attr, valueSize, value, false));
}

/* ---- records ---- */

static void put_kernel(const struct vs_sim_activity *a)
{
    bool latency = atomic_load(&latency_timestamps);
    bool concurrent = is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    if (!concurrent && !is_enabled(CUPTI_ACTIVITY_KIND_KERNEL))
        return;
    union record r = {
        .kernel = {.kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                      : CUPTI_ACTIVITY_KIND_KERNEL,
                   .registersPerThread = REGISTERS,
                   .start = vs_cupti_time(a->start_ns),
                   .end = vs_cupti_time(a->end_ns),
                   .completed = vs_cupti_time(a->end_ns),
                   .deviceId = a->device,
                   .contextId = a->context,
                   .streamId = a->stream,
                   .gridX = (int32_t)a->u.kernel.grid[0],
                   .gridY = (int32_t)a->u.kernel.grid[1],
                   .gridZ = (int32_t)a->u.kernel.grid[2],
                   .blockX = (int32_t)a->u.kernel.block[0],
                   .blockY = (int32_t)a->u.kernel.block[1],
                   .blockZ = (int32_t)a->u.kernel.block[2],
                   .dynamicSharedMemory = (int32_t)a->u.kernel.shared_bytes,
                   .correlationId = a->correlation,
                   .gridId = (int64_t)a->u.kernel.serial,
                   .name = a->u.kernel.name,
                   .queued = latency ? vs_cupti_time(a->submit_ns) : CUPTI_TIMESTAMP_UNKNOWN,
                   .submitted = latency ? vs_cupti_time(a->submit_ns) : CUPTI_TIMESTAMP_UNKNOWN,
                   .sharedMemoryExecuted = a->u.kernel.shared_bytes,
                   .channelType = CUPTI_CHANNEL_TYPE_COMPUTE}};
    put(&r);
}

static uint8_t copy_kind(const struct vs_sim_activity *a)
{
    bool from_host = a->u.copy.from <= VS_SIM_MEMORY_PINNED,
         to_host = a->u.copy.to <= VS_SIM_MEMORY_PINNED,
         from_array = a->u.copy.from == VS_SIM_MEMORY_ARRAY,
         to_array = a->u.copy.to == VS_SIM_MEMORY_ARRAY;
    if (from_array && to_array)
        return CUPTI_ACTIVITY_MEMCPY_KIND_ATOA;
    if (from_array)
        return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_ATOH : CUPTI_ACTIVITY_MEMCPY_KIND_ATOD;
    if (to_array)
        return from_host ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOA : CUPTI_ACTIVITY_MEMCPY_KIND_DTOA;
    if (from_host)
        return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    if (to_host)
        return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    return a->u.copy.from_device == a->u.copy.to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
                                                        : CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
}

static uint8_t memory_kind(unsigned kind)
{
    switch (kind) {
    case VS_SIM_MEMORY_PAGEABLE: return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    case VS_SIM_MEMORY_PINNED: return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case VS_SIM_MEMORY_DEVICE: return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    case VS_SIM_MEMORY_MANAGED: return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    case VS_SIM_MEMORY_ARRAY: return CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
    default: return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
    }
}

static void put_peer(const struct vs_sim_activity *a)
{
    union record r = {.peer = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                               .copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                               .srcKind = memory_kind(a->u.copy.from),
                               .dstKind = memory_kind(a->u.copy.to),
                               .flags = a->u.copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC
                                                        : CUPTI_ACTIVITY_FLAG_NONE,
                               .bytes = a->u.copy.bytes,
                               .start = vs_cupti_time(a->start_ns),
                               .end = vs_cupti_time(a->end_ns),
                               .deviceId = a->device,
                               .contextId = a->context,
                               .streamId = a->stream,
                               .srcDeviceId = a->u.copy.from_device,
                               .srcContextId = a->context,
                               .dstDeviceId = a->u.copy.to_device,
                               .dstContextId = a->context,
                               .correlationId = a->correlation,
                               .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY}};
    put(&r);
}

static void put_copy(const struct vs_sim_activity *a)
{
    uint8_t kind = copy_kind(a);
    if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) {
        if (is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY2))
            put_peer(a);
        return;
    }
    if (!is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY))
        return;
    union record r = {.copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                               .copyKind = kind,
                               .srcKind = memory_kind(a->u.copy.from),
                               .dstKind = memory_kind(a->u.copy.to),
                               .flags = a->u.copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC
                                                        : CUPTI_ACTIVITY_FLAG_NONE,
                               .bytes = a->u.copy.bytes,
                               .start = vs_cupti_time(a->start_ns),
                               .end = vs_cupti_time(a->end_ns),
                               .deviceId = a->device,
                               .contextId = a->context,
                               .streamId = a->stream,
                               .correlationId = a->correlation,
                               .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
                               .copyCount = 1}};
    put(&r);
}

static void put_set(const struct vs_sim_activity *a)
{
    union record r = {.set = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                              .value = a->u.set.value,
                              .bytes = a->u.set.bytes,
                              .start = vs_cupti_time(a->start_ns),
                              .end = vs_cupti_time(a->end_ns),
                              .deviceId = a->device,
                              .contextId = a->context,
                              .streamId = a->stream,
                              .correlationId = a->correlation,
                              .flags = a->u.set.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC
                                                      : CUPTI_ACTIVITY_FLAG_NONE,
                              .memoryKind = memory_kind(a->u.set.memory),
                              .channelType = CUPTI_CHANNEL_TYPE_COMPUTE}};
    put(&r);
}

static void put_sync(const struct vs_sim_activity *a)
{
    static const CUpti_ActivitySynchronizationType types[] = {
        [VS_SIM_SYNC_EVENT] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
        [VS_SIM_SYNC_STREAM_WAIT] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
        [VS_SIM_SYNC_STREAM] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
        [VS_SIM_SYNC_CONTEXT] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
    };
    union record r = {
        .sync = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                 .type = types[a->u.sync.kind],
                 .start = vs_cupti_time(a->start_ns),
                 .end = vs_cupti_time(a->end_ns),
                 .correlationId = a->correlation,
                 .contextId = a->context,
                 .streamId = a->stream ? a->stream : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
                 .cudaEventId =
                     a->u.sync.event ? a->u.sync.event : CUPTI_SYNCHRONIZATION_INVALID_VALUE}};
    put(&r);
}

void vs_cupti_activity_done(const struct vs_sim_activity *a)
{
    switch (a->kind) {
    case VS_SIM_ACTIVITY_KERNEL: put_kernel(a); return;
    case VS_SIM_ACTIVITY_COPY: put_copy(a); return;
    case VS_SIM_ACTIVITY_SET: put_set(a); return;
    case VS_SIM_ACTIVITY_SYNC: put_sync(a); return;
    }
}

/* ---- external correlation: a stack per kind in each thread ---- */

#define EXTERNAL_DEPTH 64

static _Thread_local struct {
    uint64_t id[EXTERNAL_DEPTH];
    unsigned depth;
} external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

static bool external_kind_ok(CUpti_ExternalCorrelationKind kind)
{
    return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
           kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    if (!external_kind_ok(kind))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    if (external[kind].depth == EXTERNAL_DEPTH)
        return vs_cupti_result(CUPTI_ERROR_MAX_LIMIT_REACHED);
    external[kind].id[external[kind].depth++] = id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t *lastId)
{
    if (!external_kind_ok(kind))
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    if (!external[kind].depth)
        return vs_cupti_result(CUPTI_ERROR_QUEUE_EMPTY);
    external[kind].depth--;
    if (lastId)
        *lastId = external[kind].id[external[kind].depth];
    return CUPTI_SUCCESS;
}

void vs_cupti_submitted(uint32_t correlation)
{
    if (!is_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
        return;
    for (unsigned k = 0; k < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; k++) {
        if (!external[k].depth)
            continue;
        union record r = {.external = {.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                       .externalKind = (CUpti_ExternalCorrelationKind)k,
                                       .externalId = external[k].id[external[k].depth - 1],
                                       .correlationId = correlation}};
        put(&r);
    }
}

void vs_cupti_activity_finish(void)
{
    atomic_store(&enabled, 0);
    flush();
    pthread_mutex_lock(&mu);
    requested = NULL;
    completed = NULL;
    pthread_mutex_unlock(&mu);
}
