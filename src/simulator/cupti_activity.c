/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI's activity interface over the stand-in driver: which kinds are wanted,
 * and the records made of what the driver reports. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "simulator/cupti_callbacks.h"
#include "simulator/cupti_records.h"
#include "simulator/vs_sim_activity.h"

#define EXTERNAL_DEPTH_MAX 64

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static uint32_t enabled; /* guarded by mu for writing: 1 << of the kinds below */
static atomic_bool concurrent_kernels, external_correlation;

/* Ids that the client put over the calls of this thread, per kind. */
static _Thread_local struct {
    uint64_t ids[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE][EXTERNAL_DEPTH_MAX];
    unsigned depth[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];
} external;

void *vs_sim_driver_symbol(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!driver)
        return NULL;
    void *symbol = dlsym(driver, name);
    dlclose(driver); /* the program keeps it loaded */
    return symbol;
}

static void report_kernel(const struct vs_sim_activity *a)
{
    CUpti_ActivityKernel10 k;
    memset(&k, 0, sizeof k);
    k.kind = atomic_load(&concurrent_kernels) ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
                                              : CUPTI_ACTIVITY_KIND_KERNEL;
    k.start = vs_sim_time(a->start_ns);
    k.end = k.completed = vs_sim_time(a->end_ns);
    k.queued = k.submitted = CUPTI_TIMESTAMP_UNKNOWN;
    k.deviceId = a->device;
    k.contextId = a->context;
    k.streamId = a->stream;
    k.correlationId = a->correlation;
    k.gridX = (int32_t)a->u.kernel.grid[0];
    k.gridY = (int32_t)a->u.kernel.grid[1];
    k.gridZ = (int32_t)a->u.kernel.grid[2];
    k.blockX = (int32_t)a->u.kernel.block[0];
    k.blockY = (int32_t)a->u.kernel.block[1];
    k.blockZ = (int32_t)a->u.kernel.block[2];
    k.dynamicSharedMemory = (int32_t)a->u.kernel.shared_bytes;
    k.gridId = (int64_t)a->u.kernel.serial;
    k.name = a->u.kernel.name;
    k.clusterX = k.clusterY = k.clusterZ = 0;
    vs_sim_records_write(&k, sizeof k);
}

static uint8_t memory_kind(uint8_t kind)
{
    switch (kind) {
    case VS_SIM_MEMORY_PAGEABLE: return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    case VS_SIM_MEMORY_PINNED: return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case VS_SIM_MEMORY_DEVICE: return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    case VS_SIM_MEMORY_MANAGED: return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    default: return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
    }
}

static bool is_host(uint8_t kind)
{
    return kind == VS_SIM_MEMORY_PAGEABLE || kind == VS_SIM_MEMORY_PINNED;
}

static uint8_t copy_kind(const struct vs_sim_activity *a)
{
    bool from_host = is_host(a->u.copy.from), to_host = is_host(a->u.copy.to);
    if (from_host)
        return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    return to_host ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

static void report_copy(const struct vs_sim_activity *a)
{
    CUpti_ActivityMemcpy6 m;
    memset(&m, 0, sizeof m);
    m.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    m.copyKind = copy_kind(a);
    m.srcKind = memory_kind(a->u.copy.from);
    m.dstKind = memory_kind(a->u.copy.to);
    m.flags = a->u.copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    m.bytes = a->u.copy.bytes;
    m.start = vs_sim_time(a->start_ns);
    m.end = vs_sim_time(a->end_ns);
    m.deviceId = a->device;
    m.contextId = a->context;
    m.streamId = a->stream;
    m.correlationId = a->correlation;
    m.copyCount = 1;
    vs_sim_records_write(&m, sizeof m);
}

static void report_set(const struct vs_sim_activity *a)
{
    CUpti_ActivityMemset4 m;
    memset(&m, 0, sizeof m);
    m.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    m.value = a->u.set.value;
    m.bytes = a->u.set.bytes;
    m.start = vs_sim_time(a->start_ns);
    m.end = vs_sim_time(a->end_ns);
    m.deviceId = a->device;
    m.contextId = a->context;
    m.streamId = a->stream;
    m.correlationId = a->correlation;
    m.flags = a->u.set.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
    m.memoryKind = memory_kind(a->u.set.memory);
    vs_sim_records_write(&m, sizeof m);
}

static void report_sync(const struct vs_sim_activity *a)
{
    CUpti_ActivitySynchronization2 s;
    memset(&s, 0, sizeof s);
    s.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    s.type = (CUpti_ActivitySynchronizationType)a->u.sync.kind; /* the same values */
    s.start = vs_sim_time(a->start_ns);
    s.end = vs_sim_time(a->end_ns);
    s.correlationId = a->correlation;
    s.contextId = a->context;
    s.streamId = a->stream ? a->stream : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    s.cudaEventId = a->u.sync.event ? a->u.sync.event : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    vs_sim_records_write(&s, sizeof s);
}

static void on_done(const struct vs_sim_activity *a)
{
    switch (a->kind) {
    case VS_SIM_ACTIVITY_KERNEL: report_kernel(a); break;
    case VS_SIM_ACTIVITY_COPY: report_copy(a); break;
    case VS_SIM_ACTIVITY_SET: report_set(a); break;
    case VS_SIM_ACTIVITY_SYNC: report_sync(a); break;
    }
}

/* As CUPTI does: one record for each stack of ids that is not empty. */
static void on_submitted(uint32_t correlation)
{
    for (unsigned k = 0; k < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; k++) {
        unsigned depth = external.depth[k];
        if (!depth || !atomic_load(&external_correlation))
            continue;
        CUpti_ActivityExternalCorrelation e;
        memset(&e, 0, sizeof e);
        e.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
        e.externalKind = (CUpti_ExternalCorrelationKind)k;
        e.externalId = external.ids[k][depth - 1];
        e.correlationId = correlation;
        vs_sim_records_write(&e, sizeof e);
    }
}

static const struct vs_sim_observer observer = {
    .bytes = sizeof observer,
    .done = on_done,
    .submitted = on_submitted,
    .resource = vs_sim_callback_resource,
};

/* The want bits of a kind; 0: not one that the simulator produces. */
static uint32_t want_of(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return VS_SIM_WANT(VS_SIM_ACTIVITY_COPY);
    case CUPTI_ACTIVITY_KIND_MEMSET: return VS_SIM_WANT(VS_SIM_ACTIVITY_SET);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return VS_SIM_WANT(VS_SIM_ACTIVITY_SYNC);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return VS_SIM_WANT_SUBMISSIONS;
    default: return 0;
    }
}

CUptiResult vs_sim_want(uint32_t bits, bool on)
{
    vramscope_sim_observe_fn *observe;
    *(void **)&observe = vs_sim_driver_symbol("vramscopeSimObserve");
    if (!observe)
        return CUPTI_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&mu);
    enabled = on ? enabled | bits : enabled & ~bits;
    int done = observe(&observer, enabled);
    pthread_mutex_unlock(&mu);
    return done ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_COMPATIBLE;
}

static CUptiResult switch_kind(CUpti_ActivityKind kind, bool on)
{
    uint32_t bits = want_of(kind);
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
        return CUPTI_ERROR_INVALID_KIND;
    if (!bits)
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        atomic_store(&concurrent_kernels, on);
    if (kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
        atomic_store(&external_correlation, on);
    return vs_sim_want(bits, on);
}

VS_SIM_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    return switch_kind(kind, true);
}

VS_SIM_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return switch_kind(kind, false);
}

VS_SIM_EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                         CUpti_BuffersCallbackCompleteFunc complete)
{
    return vs_sim_records_register(request, complete);
}

VS_SIM_EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                                     CUpti_Activity **record)
{
    return vs_sim_records_next(buffer, valid, record);
}

VS_SIM_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                                            size_t *dropped)
{
    (void)context;
    (void)stream;
    if (!dropped)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *dropped = vs_sim_records_dropped();
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag; /* records are written when the work is done: none is incomplete */
    vs_sim_records_flush();
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t ms)
{
    return vs_sim_records_period(ms);
}

VS_SIM_EXPORT CUptiResult
cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
    if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
        kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (external.depth[kind] == EXTERNAL_DEPTH_MAX)
        return CUPTI_ERROR_QUEUE_EMPTY;
    external.ids[kind][external.depth[kind]++] = id;
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult
cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *last)
{
    if (kind <= CUPTI_EXTERNAL_CORRELATION_KIND_INVALID ||
        kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!external.depth[kind])
        return CUPTI_ERROR_QUEUE_EMPTY;
    uint64_t id = external.ids[kind][--external.depth[kind]];
    if (last)
        *last = id;
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *timestamp = vs_sim_clock_now();
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
    vs_sim_clock_set(clock);
    return CUPTI_SUCCESS;
}

VS_SIM_EXPORT CUptiResult cuptiFinalize(void)
{
    vs_sim_records_flush();
    vs_sim_records_period(0);
    return vs_sim_want(~0u, false);
}
