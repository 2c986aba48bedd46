/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of allocated and released memory and of pools. A pool is identified by its handle: pools
 * of the simulator have no base address. */
#define _GNU_SOURCE /* dladdr */
#include "simulator/cupti/vs_sim_cupti.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_bool source_wanted;

bool vs_cupti_wants_source(void) { return atomic_load(&source_wanted); }

CUptiResult cuptiActivityEnableAllocationSource(uint8_t enable)
{
    if (!vs_cupti_attach())
        return vs_cupti_result(CUPTI_ERROR_NOT_INITIALIZED);
    atomic_store(&source_wanted, enable != 0);
    vs_cupti_source_changed();
    return CUPTI_SUCCESS;
}

uint32_t vs_cupti_memory_kind(unsigned kind)
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

/* The file that contains the calling code; the dynamic linker owns the string. */
static const char *source_of(uint64_t caller)
{
    Dl_info info;
    return caller && atomic_load(&source_wanted) && dladdr((void *)(uintptr_t)caller, &info)
               ? info.dli_fname
               : NULL;
}

void vs_cupti_memory(const struct vs_sim_activity *a)
{
    if (!vs_cupti_enabled_in(CUPTI_ACTIVITY_KIND_MEMORY2, a->context))
        return;
    uint32_t kind = a->u.memory.global ? CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC
                                       : vs_cupti_memory_kind(a->u.memory.memory);
    CUpti_ActivityMemory4 r = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                               .memoryOperationType =
                                   a->u.memory.release
                                       ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                       : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
                               .memoryKind = (CUpti_ActivityMemoryKind)kind,
                               .correlationId = a->correlation,
                               .address = a->u.memory.address,
                               .bytes = a->u.memory.bytes,
                               .timestamp = vs_cupti_time(a->start_ns),
                               .PC = a->u.memory.caller,
                               .processId = (uint32_t)getpid(),
                               .deviceId = a->device,
                               .contextId = a->context ? a->context : CUPTI_INVALID_CONTEXT_ID,
                               .streamId = a->stream ? a->stream : CUPTI_INVALID_STREAM_ID,
                               .isAsync = a->stream != 0,
                               .source = source_of(a->u.memory.caller)};
    if (a->u.memory.pool.handle) {
        r.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
        r.memoryPoolConfig.address = a->u.memory.pool.handle;
        r.memoryPoolConfig.releaseThreshold = a->u.memory.pool.release_threshold;
        r.memoryPoolConfig.pool.size = a->u.memory.pool.reserved;
        r.memoryPoolConfig.utilizedSize = a->u.memory.pool.used;
    }
    vs_cupti_put(&r);
}

void vs_cupti_pool(const struct vs_sim_activity *a)
{
    static const CUpti_ActivityMemoryPoolOperationType operations[] = {
        [VS_SIM_POOL_CREATED] = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED,
        [VS_SIM_POOL_DESTROYED] = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED,
        [VS_SIM_POOL_TRIMMED] = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED,
    };
    CUpti_ActivityMemoryPool3 r = {.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                   .memoryPoolOperationType = operations[a->u.pool.event],
                                   .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
                                   .correlationId = a->correlation,
                                   .processId = (uint32_t)getpid(),
                                   .deviceId = a->device,
                                   .minBytesToKeep = a->u.pool.keep,
                                   .address = a->u.pool.state.handle,
                                   .size = a->u.pool.state.reserved,
                                   .releaseThreshold = a->u.pool.state.release_threshold,
                                   .timestamp = vs_cupti_time(a->start_ns),
                                   .utilizedSize = a->u.pool.state.used};
    vs_cupti_put(&r);
}
