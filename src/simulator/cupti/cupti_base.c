/* SPDX-License-Identifier: Apache-2.0
 *
 * The connection to the stand-in driver; time, ids, versions and error names. */
#include "simulator/cupti/vs_sim_cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vs_clock.h"
#include "simulator/cupti/vs_sim_cupti_major.h"
#include "simulator/driver/vs_sim_spec.h"

static pthread_once_t attach_once = PTHREAD_ONCE_INIT;
static vramscope_sim_observe_fn *observe;         /* immutable after attach_once */
static vramscope_sim_identify_fn *identify;       /* immutable after attach_once */
static vramscope_sim_graph_id_fn *identify_graph; /* likewise */
static CUptiResult refusal;                       /* immutable after attach_once */
static bool callbacks_only; /* likewise: cuptiSubscribe is not refused */

static pthread_mutex_t want_mu = PTHREAD_MUTEX_INITIALIZER;
static uint32_t wanted[VS_CUPTI_SOURCES]; /* guarded by want_mu */

static _Thread_local CUptiResult last_error;

CUptiResult vs_cupti_result(CUptiResult result)
{
    if (result != CUPTI_SUCCESS)
        last_error = result;
    return result;
}

CUptiResult cuptiGetLastError(void)
{
    CUptiResult result = last_error;
    last_error = CUPTI_SUCCESS;
    return result;
}

/* ---- the driver ---- */

/* The child of a fork has no device, and our locks may stay locked in it. */
static atomic_bool forked;

static void forked_child(void) { atomic_store(&forked, true); }

/* The simulated machine's answer to a request to profile. */
static CUptiResult refusal_of(void *driver, bool *callbacks)
{
    vramscope_sim_cupti_state_fn *state;
    void *found = dlsym(driver, "vramscopeSimCuptiState");
    memcpy(&state, &found, sizeof state);
    int now = state ? state() : VS_SIM_CUPTI_WORKS;
    *callbacks = now == VS_SIM_CUPTI_CALLBACKS;
    switch (now) {
    case VS_SIM_CUPTI_REFUSED: return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    case VS_SIM_CUPTI_CALLBACKS: /* only cuptiSubscribe works */
    case VS_SIM_CUPTI_UNPRIVILEGED: return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    case VS_SIM_CUPTI_NONE: return CUPTI_ERROR_NOT_INITIALIZED;
    default: return CUPTI_SUCCESS;
    }
}

static void attach(void)
{
    pthread_atfork(NULL, NULL, forked_child);
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return;
    void *o = dlsym(driver, "vramscopeSimObserve"), *i = dlsym(driver, "vramscopeSimIdentify");
    if (!o || !i)
        return;
    refusal = refusal_of(driver, &callbacks_only);
    if (refusal == CUPTI_ERROR_NOT_INITIALIZED)
        return;
    void *g = dlsym(driver, "vramscopeSimGraphId");
    memcpy(&identify_graph, &g, sizeof g);
    memcpy(&identify, &i, sizeof i);
    memcpy(&observe, &o, sizeof o);
}

bool vs_cupti_attach(void)
{
    if (atomic_load(&forked))
        return false;
    pthread_once(&attach_once, attach);
    return observe != NULL;
}

CUptiResult vs_cupti_permission(bool subscribe)
{
    if (!vs_cupti_attach())
        return CUPTI_ERROR_NOT_INITIALIZED;
    return subscribe && callbacks_only ? CUPTI_SUCCESS : refusal;
}

CUresult vs_cupti_identify(CUcontext context, CUstream stream, int per_thread,
                           struct vs_sim_identity *identity)
{
    return identify(context, stream, per_thread, identity);
}

void vs_cupti_want(enum vs_cupti_source source, uint32_t bits)
{
    static const struct vs_sim_observer observer = {.bytes = sizeof observer,
                                                    .done = vs_cupti_activity_done,
                                                    .resource = vs_cupti_resource,
                                                    .entered = vs_cupti_call_entered,
                                                    .left = vs_cupti_call_left};
    uint32_t all = 0;
    pthread_mutex_lock(&want_mu);
    wanted[source] = bits;
    for (int i = 0; i < VS_CUPTI_SOURCES; i++)
        all |= wanted[i];
    observe(&observer, all);
    pthread_mutex_unlock(&want_mu);
}

/* ---- time: one fixed offset per clock, which preserves order ---- */

static _Atomic(CUpti_TimestampCallbackFunc) clock_callback;
static pthread_once_t offset_once = PTHREAD_ONCE_INIT;
static atomic_int_least64_t offset_ns; /* reported time - CLOCK_MONOTONIC, at the time *since_ns* */
static uint64_t since_ns;              /* immutable after offset_once, like the next */
static double drift;                   /* the reported clock is faster by this part */

static uint64_t shown_now(void)
{
    CUpti_TimestampCallbackFunc callback = atomic_load(&clock_callback);
    return callback ? callback() : vs_clock_realtime_ns();
}

static void measure_offset(void)
{
    int64_t best = 0;
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 16; i++) { /* use the reading with the least delay between the clocks */
        uint64_t before = vs_clock_ns(), shown = shown_now(), after = vs_clock_ns();
        if (after - before >= best_gap)
            continue;
        best_gap = after - before;
        best = (int64_t)(shown - (before + (after - before) / 2));
    }
    atomic_store(&offset_ns, best);
}

static void begin_clock(void)
{
    const char *ppm = getenv("VRAMSCOPE_SIMULATE_DRIFT"); /* parts per million */
    drift = ppm ? strtod(ppm, NULL) / 1e6 : 0;
    since_ns = vs_clock_ns();
    measure_offset();
}

uint64_t vs_cupti_time(uint64_t monotonic_ns)
{
    pthread_once(&offset_once, begin_clock);
    int64_t drifted = drift ? (int64_t)((double)(int64_t)(monotonic_ns - since_ns) * drift) : 0;
    return monotonic_ns + (uint64_t)(atomic_load(&offset_ns) + drifted);
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *timestamp = vs_cupti_time(vs_clock_ns());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
    if (!funcTimestamp)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    vs_cupti_time(0);
    atomic_store(&clock_callback, funcTimestamp);
    measure_offset();
    return CUPTI_SUCCESS;
}

/* ---- ids ---- */

static CUptiResult identity_of(CUcontext context, CUstream stream, int per_thread,
                               struct vs_sim_identity *id)
{
    if (!vs_cupti_attach())
        return CUPTI_ERROR_NOT_INITIALIZED;
    switch (identify(context, stream, per_thread, id)) {
    case CUDA_SUCCESS: return CUPTI_SUCCESS;
    case CUDA_ERROR_NOT_INITIALIZED: return CUPTI_ERROR_NOT_INITIALIZED;
    case CUDA_ERROR_INVALID_CONTEXT: return CUPTI_ERROR_INVALID_CONTEXT;
    default: return CUPTI_ERROR_INVALID_STREAM;
    }
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
    struct vs_sim_identity id;
    CUptiResult r =
        contextId ? identity_of(context, CU_STREAM_LEGACY, 0, &id) : CUPTI_ERROR_INVALID_PARAMETER;
    if (r == CUPTI_SUCCESS)
        *contextId = id.context;
    return vs_cupti_result(r);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
    struct vs_sim_identity id;
    CUptiResult r =
        deviceId ? identity_of(context, CU_STREAM_LEGACY, 0, &id) : CUPTI_ERROR_INVALID_PARAMETER;
    if (r == CUPTI_SUCCESS)
        *deviceId = id.device;
    else if (r != CUPTI_ERROR_INVALID_PARAMETER && r != CUPTI_ERROR_NOT_INITIALIZED)
        r = CUPTI_ERROR_INVALID_DEVICE;
    return vs_cupti_result(r);
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
                               uint32_t *streamId)
{
    struct vs_sim_identity id;
    CUptiResult r = streamId ? identity_of(context, stream, perThreadStream, &id)
                             : CUPTI_ERROR_INVALID_PARAMETER;
    if (r == CUPTI_SUCCESS)
        *streamId = id.stream;
    return vs_cupti_result(r);
}

VS_CUPTI_AS(cuptiGetStreamId, (CUcontext context, CUstream stream, uint32_t *streamId),
            cuptiGetStreamIdEx(context, stream, 0, streamId))

static CUptiResult graph_id(enum vs_sim_graph_handle what, const void *handle, uint64_t *id)
{
    if (!handle || !id)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!vs_cupti_attach() || !identify_graph)
        return CUPTI_ERROR_NOT_INITIALIZED;
    CUresult e = identify_graph(what, handle, id);
    return e == CUDA_SUCCESS                 ? CUPTI_SUCCESS
           : e == CUDA_ERROR_NOT_INITIALIZED ? CUPTI_ERROR_NOT_INITIALIZED
                                             : CUPTI_ERROR_INVALID_PARAMETER;
}

VS_CUPTI_AS(cuptiGetGraphNodeId, (CUgraphNode node, uint64_t *nodeId),
            graph_id(VS_SIM_HANDLE_NODE, node, nodeId))

static CUptiResult short_graph_id(enum vs_sim_graph_handle what, const void *handle, uint32_t *id)
{
    uint64_t found;
    CUptiResult r = id ? graph_id(what, handle, &found) : CUPTI_ERROR_INVALID_PARAMETER;
    if (r == CUPTI_SUCCESS)
        *id = (uint32_t)found;
    return vs_cupti_result(r);
}

VS_CUPTI_AS(cuptiGetGraphId, (CUgraph graph, uint32_t *pId),
            short_graph_id(VS_SIM_HANDLE_GRAPH, graph, pId))
VS_CUPTI_AS(cuptiGetGraphExecId, (CUgraphExec graphExec, uint32_t *pId),
            short_graph_id(VS_SIM_HANDLE_EXEC, graphExec, pId))

/* ---- versions and names ---- */

CUptiResult cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *version = VS_SIM_CUPTI_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
    const char *name = NULL;
    switch (result) {
#define VS_RT_ERROR(code)
#define VS_CUPTI_RESULT(code) case code: name = #code; break;
#include "generated/vs_sim_error_table.h"
    default: break;
    }
    if (!str || !name)
        return vs_cupti_result(CUPTI_ERROR_INVALID_PARAMETER);
    *str = name;
    return CUPTI_SUCCESS;
}

VS_CUPTI_AS(cuptiGetErrorMessage, (CUptiResult result, const char **str),
            cuptiGetResultString(result, str))

CUptiResult cuptiFinalize(void)
{
    if (!vs_cupti_attach())
        return vs_cupti_result(CUPTI_ERROR_NOT_INITIALIZED);
    vs_cupti_callback_finish();
    vs_cupti_activity_finish();
    vs_cupti_buffer_finish();
    return CUPTI_SUCCESS;
}
