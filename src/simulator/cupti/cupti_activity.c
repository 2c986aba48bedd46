/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kinds of activity records are collected, in all contexts or in one, for which API
 * functions; and the attributes of collection. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "simulator/cupti/vs_sim_cupti_major.h"

#define CALLS (VS_SIM_WANT_DRIVER_CALLS | VS_SIM_WANT_RUNTIME_CALLS)

/* The record of each kind, and the reports it needs from the driver. */
static const struct kind {
    size_t bytes;
    uint32_t want;
} kinds[CUPTI_ACTIVITY_KIND_COUNT] = {
    [CUPTI_ACTIVITY_KIND_KERNEL] = {sizeof(CUpti_ActivityKernel10),
                                    VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL)},
    [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = {sizeof(CUpti_ActivityKernel10),
                                               VS_SIM_WANT(VS_SIM_ACTIVITY_KERNEL)},
    [CUPTI_ACTIVITY_KIND_MEMCPY] = {sizeof(CUpti_ActivityMemcpy6),
                                    VS_SIM_WANT(VS_SIM_ACTIVITY_COPY)},
    [CUPTI_ACTIVITY_KIND_MEMCPY2] = {sizeof(CUpti_ActivityMemcpyPtoP4),
                                     VS_SIM_WANT(VS_SIM_ACTIVITY_COPY)},
    [CUPTI_ACTIVITY_KIND_MEMSET] = {sizeof(CUpti_ActivityMemset4),
                                    VS_SIM_WANT(VS_SIM_ACTIVITY_SET)},
    [CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = {sizeof(CUpti_ActivitySynchronization2),
                                             VS_SIM_WANT(VS_SIM_ACTIVITY_SYNC)},
    [CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] = {sizeof(CUpti_ActivityExternalCorrelation), 0},
    [CUPTI_ACTIVITY_KIND_DRIVER] = {sizeof(CUpti_ActivityAPI), VS_SIM_WANT_DRIVER_CALLS},
    [CUPTI_ACTIVITY_KIND_RUNTIME] = {sizeof(CUpti_ActivityAPI), VS_SIM_WANT_RUNTIME_CALLS},
    [CUPTI_ACTIVITY_KIND_MEMORY2] = {sizeof(CUpti_ActivityMemory4),
                                     VS_SIM_WANT(VS_SIM_ACTIVITY_MEMORY)},
    [CUPTI_ACTIVITY_KIND_MEMORY_POOL] = {sizeof(CUpti_ActivityMemoryPool3),
                                         VS_SIM_WANT(VS_SIM_ACTIVITY_POOL)},
    [CUPTI_ACTIVITY_KIND_MARKER] = {sizeof(CUpti_ActivityMarker2), 0},
    [CUPTI_ACTIVITY_KIND_MARKER_DATA] = {sizeof(CUpti_ActivityMarkerData2), 0},
    [CUPTI_ACTIVITY_KIND_NAME] = {sizeof(CUpti_ActivityName), 0},
    [CUPTI_ACTIVITY_KIND_OVERHEAD] = {sizeof(CUpti_ActivityOverhead3), 0},
};

static atomic_uint_least64_t enabled; /* bit: the kind, in contexts without an own setting */

size_t vs_cupti_record_bytes(CUpti_ActivityKind kind)
{
    return (unsigned)kind < CUPTI_ACTIVITY_KIND_COUNT
               ? vs_cupti_major_bytes(kind, kinds[kind].bytes)
               : 0;
}

bool vs_cupti_enabled(CUpti_ActivityKind kind)
{
    return atomic_load_explicit(&enabled, memory_order_relaxed) >> kind & 1;
}

/* ---- one context's own settings ---- */

#define CONTEXTS_MAX 64

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    uint32_t context;
    uint64_t on, off;             /* bit: the kind */
} settings[CONTEXTS_MAX];         /* guarded by mu */
static atomic_uint setting_count; /* grows under mu */

bool vs_cupti_enabled_in(CUpti_ActivityKind kind, uint32_t context)
{
    bool on = vs_cupti_enabled(kind);
    if (!atomic_load(&setting_count))
        return on;
    pthread_mutex_lock(&mu);
    for (unsigned i = 0; i < atomic_load(&setting_count); i++)
        if (settings[i].context == context)
            on = (on || settings[i].on >> kind & 1) && !(settings[i].off >> kind & 1);
    pthread_mutex_unlock(&mu);
    return on;
}

static CUptiResult set_in_locked(uint32_t context, uint64_t bit, bool on)
{
    unsigned i = 0, count = atomic_load(&setting_count);
    while (i < count && settings[i].context != context)
        i++;
    if (i == CONTEXTS_MAX)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    settings[i].context = context;
    settings[i].on = on ? settings[i].on | bit : settings[i].on & ~bit;
    settings[i].off = on ? settings[i].off & ~bit : settings[i].off | bit;
    if (i == count)
        atomic_store(&setting_count, count + 1);
    return CUPTI_SUCCESS;
}

/* ---- choosing ---- */

/* The error for a kind that cannot be enabled, as documented in cupti_activity.h. */
static CUptiResult refusal_of(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR:
    case CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS:
    case CUPTI_ACTIVITY_KIND_BRANCH:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION:
    case CUPTI_ACTIVITY_KIND_SHARED_ACCESS:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_CORRELATION:
        return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    case CUPTI_ACTIVITY_KIND_INVALID: return CUPTI_ERROR_NOT_COMPATIBLE;
    default: return vs_cupti_record_bytes(kind) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
    }
}

/* Requests from the driver the reports that all settings need. */
static void update_wants(void)
{
    pthread_mutex_lock(&mu);
    uint64_t any = atomic_load(&enabled);
    for (unsigned i = 0; i < atomic_load(&setting_count); i++)
        any |= settings[i].on;
    uint32_t want = 0;
    for (unsigned k = 0; k < CUPTI_ACTIVITY_KIND_COUNT; k++)
        if (any >> k & 1)
            want |= kinds[k].want;
    want = (want & ~CALLS) | vs_cupti_calls_wanted();
    if ((any >> CUPTI_ACTIVITY_KIND_MEMORY2 & 1) && vs_cupti_wants_source())
        want |= CALLS; /* which identify their origin */
    vs_cupti_want(VS_CUPTI_FOR_ACTIVITY, want);
    pthread_mutex_unlock(&mu);
}

static CUptiResult set_enabled(CUpti_ActivityKind kind, bool on)
{
    CUptiResult r = refusal_of(kind);
    if (r == CUPTI_SUCCESS)
        r = vs_cupti_permission(false);
    if (r != CUPTI_SUCCESS)
        return r;
    uint64_t bit = UINT64_C(1) << kind;
    if (on)
        atomic_fetch_or(&enabled, bit);
    else
        atomic_fetch_and(&enabled, ~bit);
    if (kinds[kind].want & CALLS)
        vs_cupti_calls_choose_all(kind, on);
    update_wants();
    return CUPTI_SUCCESS;
}

VS_CUPTI_AS(cuptiActivityEnable, (CUpti_ActivityKind kind), set_enabled(kind, true))
VS_CUPTI_AS(cuptiActivityDisable, (CUpti_ActivityKind kind), set_enabled(kind, false))

/* Kinds with records of the past to dump do not exist here; for the others,
 * cuptiActivityEnableAndDump does the same as cuptiActivityEnable. */
VS_CUPTI_AS(cuptiActivityEnableAndDump, (CUpti_ActivityKind kind), cuptiActivityEnable(kind))

static CUptiResult set_in(CUcontext context, CUpti_ActivityKind kind, bool on)
{
    uint32_t id;
    CUptiResult r = refusal_of(kind);
    if (r == CUPTI_SUCCESS &&
        (!kinds[kind].want || (kinds[kind].want & CALLS)))
        r = CUPTI_ERROR_NOT_COMPATIBLE; /* its records belong to no context */
    if (r == CUPTI_SUCCESS)
        r = cuptiGetContextId(context, &id);
    if (r != CUPTI_SUCCESS)
        return r;
    pthread_mutex_lock(&mu);
    r = set_in_locked(id, UINT64_C(1) << kind, on);
    pthread_mutex_unlock(&mu);
    update_wants();
    return r;
}

VS_CUPTI_AS(cuptiActivityEnableContext, (CUcontext context, CUpti_ActivityKind kind),
            set_in(context, kind, true))
VS_CUPTI_AS(cuptiActivityDisableContext, (CUcontext context, CUpti_ActivityKind kind),
            set_in(context, kind, false))

void vs_cupti_source_changed(void) { update_wants(); }

static CUptiResult choose_call(CUpti_ActivityKind kind, CUpti_CallbackId cbid, bool on)
{
    CUptiResult r = vs_cupti_permission(false);
    if (r == CUPTI_SUCCESS)
        r = vs_cupti_calls_choose(kind, cbid, on);
    if (r == CUPTI_SUCCESS)
        update_wants();
    return r;
}

VS_CUPTI_AS(cuptiActivityEnableDriverApi, (CUpti_CallbackId cbid, uint8_t enable),
            choose_call(CUPTI_ACTIVITY_KIND_DRIVER, cbid, enable))
VS_CUPTI_AS(cuptiActivityEnableRuntimeApi, (CUpti_CallbackId cbid, uint8_t enable),
            choose_call(CUPTI_ACTIVITY_KIND_RUNTIME, cbid, enable))

/* ---- attributes ---- */

/* Buffer sizes of a real device's driver. The simulator has no such buffers: the values are only
 * stored and returned. */
static pthread_mutex_t attributes_mu = PTHREAD_MUTEX_INITIALIZER;
static size_t attributes[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED + 1] = {
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = 3200000,
    [CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250,
};

static CUptiResult attribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value, bool set)
{
    if (!valueSize || !value ||
        (unsigned)attr > CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED)
        return CUPTI_ERROR_INVALID_PARAMETER;
    bool small = attr == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
                 attr == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED;
    size_t bytes = small ? sizeof(uint8_t) : sizeof(size_t);
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

VS_CUPTI_AS(cuptiActivitySetAttribute,
            (CUpti_ActivityAttribute attr, size_t *valueSize, void *value),
            attribute(attr, valueSize, value, true))
VS_CUPTI_AS(cuptiActivityGetAttribute,
            (CUpti_ActivityAttribute attr, size_t *valueSize, void *value),
            attribute(attr, valueSize, value, false))

/* "Starting with CUDA 13.0 ... always returns" this (cupti_activity.h). */
VS_CUPTI_AS(cuptiActivityConfigurePCSampling,
            (CUcontext ctx, CUpti_ActivityPCSamplingConfig *config),
            CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED)

void vs_cupti_activity_finish(void)
{
    pthread_mutex_lock(&mu);
    atomic_store(&enabled, 0);
    atomic_store(&setting_count, 0);
    memset(settings, 0, sizeof settings);
    pthread_mutex_unlock(&mu);
    vs_cupti_calls_choose_all(CUPTI_ACTIVITY_KIND_DRIVER, false);
    vs_cupti_calls_choose_all(CUPTI_ACTIVITY_KIND_RUNTIME, false);
    update_wants();
}
