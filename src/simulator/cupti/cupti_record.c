/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of finished work: kernels, copies, memsets, synchronisation. The driver reports the work
 * on the thread that ran it. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <stdatomic.h>

#define REGISTERS 32 /* as the driver reports for every kernel */

/* What the records of kernels, copies and memsets share; what those of copies share. */
#define WORK(a)                                                                             \
    .start = vs_cupti_time((a)->start_ns), .end = vs_cupti_time((a)->end_ns),               \
    .deviceId = (a)->device, .contextId = (a)->context, .streamId = (a)->stream,            \
    .correlationId = (a)->correlation, .graphNodeId = (a)->graph_node, .graphId = (a)->graph
#define COPY(a)                                                                             \
    WORK(a), .srcKind = (uint8_t)vs_cupti_memory_kind((a)->u.copy.from),                    \
    .dstKind = (uint8_t)vs_cupti_memory_kind((a)->u.copy.to), .bytes = (a)->u.copy.bytes,   \
    .flags = (a)->u.copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE, \
    .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY

static atomic_bool latency_timestamps;

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
    atomic_store(&latency_timestamps, enable != 0);
    return CUPTI_SUCCESS;
}

static void put_kernel(const struct vs_sim_activity *a)
{
    bool latency = atomic_load(&latency_timestamps);
    bool concurrent = vs_cupti_enabled_in(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, a->context);
    if (!concurrent && !vs_cupti_enabled_in(CUPTI_ACTIVITY_KIND_KERNEL, a->context))
        return;
    CUpti_ActivityKernel10 r = {
        .kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL,
        WORK(a),
        .registersPerThread = REGISTERS,
        .completed = vs_cupti_time(a->end_ns),
        .gridX = (int32_t)a->u.kernel.grid[0],
        .gridY = (int32_t)a->u.kernel.grid[1],
        .gridZ = (int32_t)a->u.kernel.grid[2],
        .blockX = (int32_t)a->u.kernel.block[0],
        .blockY = (int32_t)a->u.kernel.block[1],
        .blockZ = (int32_t)a->u.kernel.block[2],
        .dynamicSharedMemory = (int32_t)a->u.kernel.shared_bytes,
        .gridId = (int64_t)a->u.kernel.serial,
        .name = a->u.kernel.name,
        .queued = latency ? vs_cupti_time(a->submit_ns) : CUPTI_TIMESTAMP_UNKNOWN,
        .submitted = latency ? vs_cupti_time(a->submit_ns) : CUPTI_TIMESTAMP_UNKNOWN,
        .sharedMemoryExecuted = a->u.kernel.shared_bytes,
        .channelType = CUPTI_CHANNEL_TYPE_COMPUTE};
    vs_cupti_put(&r);
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

static void put_copy(const struct vs_sim_activity *a)
{
    uint8_t kind = copy_kind(a);
    bool peer = kind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    if (!vs_cupti_enabled_in(peer ? CUPTI_ACTIVITY_KIND_MEMCPY2 : CUPTI_ACTIVITY_KIND_MEMCPY,
                             a->context))
        return;
    if (peer) {
        CUpti_ActivityMemcpyPtoP4 r = {COPY(a),
                                       .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                                       .copyKind = kind,
                                       .srcDeviceId = a->u.copy.from_device,
                                       .srcContextId = a->context,
                                       .dstDeviceId = a->u.copy.to_device,
                                       .dstContextId = a->context};
        vs_cupti_put(&r);
        return;
    }
    CUpti_ActivityMemcpy6 r = {
        COPY(a), .kind = CUPTI_ACTIVITY_KIND_MEMCPY, .copyKind = kind, .copyCount = 1};
    vs_cupti_put(&r);
}

static void put_set(const struct vs_sim_activity *a)
{
    if (!vs_cupti_enabled_in(CUPTI_ACTIVITY_KIND_MEMSET, a->context))
        return;
    CUpti_ActivityMemset4 r = {WORK(a),
                               .kind = CUPTI_ACTIVITY_KIND_MEMSET,
                               .value = a->u.set.value,
                               .bytes = a->u.set.bytes,
                               .flags = a->u.set.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC
                                                       : CUPTI_ACTIVITY_FLAG_NONE,
                               .memoryKind = (uint8_t)vs_cupti_memory_kind(a->u.set.memory),
                               .channelType = CUPTI_CHANNEL_TYPE_COMPUTE};
    vs_cupti_put(&r);
}

static void put_sync(const struct vs_sim_activity *a)
{
    if (!vs_cupti_enabled_in(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, a->context))
        return;
    static const CUpti_ActivitySynchronizationType types[] = {
        [VS_SIM_SYNC_EVENT] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
        [VS_SIM_SYNC_STREAM_WAIT] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
        [VS_SIM_SYNC_STREAM] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
        [VS_SIM_SYNC_CONTEXT] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
    };
    CUpti_ActivitySynchronization2 r = {
        .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        .type = types[a->u.sync.kind],
        .start = vs_cupti_time(a->start_ns),
        .end = vs_cupti_time(a->end_ns),
        .correlationId = a->correlation,
        .contextId = a->context,
        .streamId = a->stream ? a->stream : CUPTI_SYNCHRONIZATION_INVALID_VALUE,
        .cudaEventId = a->u.sync.event ? a->u.sync.event : CUPTI_SYNCHRONIZATION_INVALID_VALUE};
    vs_cupti_put(&r);
}

void vs_cupti_activity_done(const struct vs_sim_activity *a)
{
    switch (a->kind) {
    case VS_SIM_ACTIVITY_KERNEL: put_kernel(a); return;
    case VS_SIM_ACTIVITY_COPY: put_copy(a); return;
    case VS_SIM_ACTIVITY_SET: put_set(a); return;
    case VS_SIM_ACTIVITY_SYNC: put_sync(a); return;
    case VS_SIM_ACTIVITY_MEMORY: vs_cupti_memory(a); return;
    case VS_SIM_ACTIVITY_POOL: vs_cupti_pool(a); return;
    }
}
