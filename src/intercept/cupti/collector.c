/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUPTI collector. CUPTI's worker thread fills buffers that we map; completed ones are turned
 * into events on CUPTI's thread. Buffers come from mmap; a bounded number is kept for reuse. We
 * hold nothing of CUPTI that another tool in the process may need: no subscription, no clock
 * callback; when another tool starts, we collect our records and leave CUPTI to it (cupti_guard.c).
 * We do not start again: the tool's callbacks are registered for the whole process, and it may
 * start again at any time. */
#define _GNU_SOURCE
#include "intercept/cupti/collector.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/vs_arena.h"
#include "base/vs_clock.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_option.h"
#include "intercept/cupti/cupti_library.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "trace/record/selection.h"

#define BUFFER_BYTES ((size_t)1 << 20) /* about 5000 kernels */
#define BUFFERS_KEPT 4
#define BUFFERS_MAX 16
#define FLUSH_PERIOD_MS 1000

#define LEFT_TO_OTHERS \
    VS_NOTE_ACTIVITY_LEFT " and gets the kernels and copies from here on; memory is still recorded"

static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    /* with kernels=api */
    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};
#define CALL_KINDS 2

static const struct vs_cupti *cupti; /* written before state leaves OFF */
enum { OFF, RUNNING, ASIDE };
static _Atomic int state; /* atomic; release on RUNNING pairs with acquire */
static _Atomic int64_t clock_offset_ns; /* our clock - CUPTI's */

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "collector");
static struct vs_lock handing_over = VS_LOCK_INIT(VS_RANK_TRACKER, "CUPTI hand-over");
static uint8_t *kept[BUFFERS_KEPT]; /* guarded by lock */
static unsigned kept_count;         /* guarded by lock */
static CUpti_ActivityThreadIdType thread_ids; /* guarded by handing_over: before calls_started */
static bool calls_started;                    /* likewise */
static size_t kinds_on;           /* guarded by handing_over: the first of *kinds* */
static unsigned buffer_count;       /* guarded by lock: mapped and not returned */

/* CUPTI could use our clock instead, but never returns to its own: another tool's records would
 * have it. The two may drift apart, so the offset is measured again for each buffer; the reading
 * with the least delay counts. */
static void align_clocks(void)
{
    uint64_t best_gap = UINT64_MAX, theirs;
    for (int i = 0; i < 8; i++) {
        uint64_t before = vs_clock_ns();
        if (cupti->timestamp(&theirs) != CUPTI_SUCCESS)
            return;
        uint64_t gap = vs_clock_ns() - before;
        if (gap >= best_gap)
            continue;
        best_gap = gap;
        atomic_store_explicit(&clock_offset_ns, (int64_t)(before + gap / 2 - theirs),
                              memory_order_relaxed);
    }
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *records_max)
{
    *records_max = 0;
    *bytes = BUFFER_BYTES;
    VS_LOCK_SCOPE(&lock);
    if (atomic_load_explicit(&state, memory_order_relaxed) == ASIDE)
        *buffer = NULL; /* not our records: the other tool has not registered its callbacks yet */
    else if (kept_count)
        *buffer = kept[--kept_count];
    else if (buffer_count < BUFFERS_MAX && (*buffer = vs_pages_map(BUFFER_BYTES)))
        buffer_count++;
    else
        *buffer = NULL; /* CUPTI counts the records that it drops */
    if (!*buffer)
        *bytes = 0;
}

static void buffer_return(uint8_t *buffer)
{
    vs_lock_acquire(&lock);
    bool keep = kept_count < BUFFERS_KEPT;
    if (keep)
        kept[kept_count++] = buffer;
    else
        buffer_count--;
    vs_lock_release(&lock);
    if (!keep)
        vs_pages_unmap(buffer, BUFFER_BYTES);
}

static uint64_t in_our_time(uint64_t t)
{
    return t ? t + (uint64_t)atomic_load_explicit(&clock_offset_ns, memory_order_relaxed) : 0;
}

static void record_kernel(const CUpti_Activity *activity)
{
    const CUpti_ActivityKernel9 *k = (const CUpti_ActivityKernel9 *)activity;
    VS_RECORD(kernel, .start_ns = in_our_time(k->start),
              .end_ns = in_our_time(k->end),
              .device = k->deviceId,
              .context = k->contextId,
              .stream = k->streamId,
              .name = vs_process_string(k->name ? k->name : "kernel"),
              .correlation = k->correlationId,
              .grid_x = (uint64_t)(uint32_t)k->gridX,
              .grid_y = (uint64_t)(uint32_t)k->gridY,
              .grid_z = (uint64_t)(uint32_t)k->gridZ,
              .block_x = (uint64_t)(uint32_t)k->blockX,
              .block_y = (uint64_t)(uint32_t)k->blockY,
              .block_z = (uint64_t)(uint32_t)k->blockZ,
              .shared_bytes = (uint64_t)(uint32_t)k->staticSharedMemory +
                              (uint64_t)(uint32_t)k->dynamicSharedMemory,
              .graph = k->graphId,
              .graph_node = k->graphNodeId);
}

/* Records of copies within a device and between two have the same fields. */
#define RECORD_COPY(m, from, to)                                                \
    VS_RECORD(memcpy, .start_ns = in_our_time((m)->start),                      \
              .end_ns = in_our_time((m)->end),                                  \
              .device = (m)->deviceId,                                          \
              .context = (m)->contextId,                                        \
              .stream = (m)->streamId,                                          \
              .bytes = (m)->bytes,                                              \
              .copy_kind = (m)->copyKind,                                       \
              .async = ((m)->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0,    \
              .correlation = (m)->correlationId,                                \
              .src_kind = (m)->srcKind,                                         \
              .dst_kind = (m)->dstKind,                                         \
              .src_device = (from),                                             \
              .dst_device = (to),                                               \
              .graph = (m)->graphId,                                            \
              .graph_node = (m)->graphNodeId)

static void record_memset(const CUpti_Activity *activity)
{
    const CUpti_ActivityMemset4 *m = (const CUpti_ActivityMemset4 *)activity;
    VS_RECORD(memset, .start_ns = in_our_time(m->start),
              .end_ns = in_our_time(m->end),
              .device = m->deviceId,
              .context = m->contextId,
              .stream = m->streamId,
              .bytes = m->bytes,
              .value = m->value,
              .correlation = m->correlationId,
              .memory_kind = m->memoryKind,
              .graph = m->graphId,
              .graph_node = m->graphNodeId);
}

/* Calls that only ask: far more than the others, never of interest, and some of them our own. */
static bool only_asks(bool driver, CUpti_CallbackId id)
{
    static const uint16_t of_driver[] = {
#define ROW(name) CUPTI_DRIVER_TRACE_CBID_##name,
        ROW(cuCtxGetCurrent) ROW(cuCtxSetCurrent) ROW(cuCtxGetDevice) ROW(cuCtxGetApiVersion)
        ROW(cuCtxPushCurrent_v2) ROW(cuCtxPopCurrent_v2) ROW(cuDeviceGet) ROW(cuDeviceGetCount)
        ROW(cuDeviceGetName) ROW(cuDeviceGetUuid_v2) ROW(cuDeviceGetAttribute) ROW(cuDeviceTotalMem_v2)
        ROW(cuDeviceGetPCIBusId) ROW(cuDevicePrimaryCtxGetState) ROW(cuDriverGetVersion)
        ROW(cuGetProcAddress) ROW(cuGetProcAddress_v2) ROW(cuMemGetInfo_v2) ROW(cuPointerGetAttribute)
        ROW(cuPointerGetAttributes) ROW(cuStreamGetId) ROW(cuStreamGetCtx) ROW(cuStreamIsCapturing)
        ROW(cuEventQuery) ROW(cuStreamQuery) ROW(cuFuncGetAttribute)
        ROW(cuOccupancyMaxActiveBlocksPerMultiprocessor)
        ROW(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
#undef ROW
    }, of_runtime[] = {
#define ROW(name) CUPTI_RUNTIME_TRACE_CBID_##name,
        ROW(cudaGetDevice_v3020) ROW(cudaSetDevice_v3020) ROW(cudaGetLastError_v3020)
        ROW(cudaPeekAtLastError_v3020) ROW(cudaGetDeviceCount_v3020) ROW(cudaDeviceGetAttribute_v5000)
        ROW(cudaMemGetInfo_v3020) ROW(cudaPointerGetAttributes_v4000) ROW(cudaEventQuery_v3020)
        ROW(cudaStreamQuery_v3020) ROW(cudaStreamIsCapturing_v10000)
        ROW(cudaStreamGetCaptureInfo_v10010) ROW(cudaFuncGetAttributes_v3020)
        ROW(cudaDeviceGetStreamPriorityRange_v5050)
        ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6000)
        ROW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000)
#undef ROW
    };
    const uint16_t *ids = driver ? of_driver : of_runtime;
    size_t count = driver ? sizeof of_driver / sizeof *of_driver : sizeof of_runtime / sizeof *of_runtime;
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static void record_call(const CUpti_Activity *activity)
{
    static _Atomic uint64_t names[2][1024]; /* string ids; 0: not known yet, 1: not to be recorded */
    const CUpti_ActivityAPI *call = (const CUpti_ActivityAPI *)activity;
    bool driver = activity->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    if (call->cbid >= sizeof names[0] / sizeof names[0][0])
        return;
    _Atomic uint64_t *known = &names[driver][call->cbid];
    uint64_t name = atomic_load_explicit(known, memory_order_relaxed);
    if (!name) {
        const char *text = NULL;
        if (!only_asks(driver, call->cbid))
            (void)cupti->callback_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API,
                                       call->cbid, &text);
        /* __cudaPushCallConfiguration and the like are part of a launch */
        bool part = text && strstr(text, "CallConfiguration");
        name = text && !part ? vs_process_string(text) + 1 : 1;
        atomic_store_explicit(known, name, memory_order_relaxed);
    }
    if (name == 1)
        return;
    VS_RECORD(api_call, .start_ns = in_our_time(call->start),
              .end_ns = in_our_time(call->end),
              .thread = call->threadId,
              .api = name - 1,
              .correlation = call->correlationId,
              .driver = driver,
              .result = call->returnValue);
}

static void record_activity(const CUpti_Activity *activity)
{
    const CUpti_ActivityMemcpy5 *copy = (const CUpti_ActivityMemcpy5 *)activity;
    const CUpti_ActivityMemcpyPtoP4 *peer = (const CUpti_ActivityMemcpyPtoP4 *)activity;
    switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        record_kernel(activity);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        RECORD_COPY(copy, copy->deviceId, copy->deviceId);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        RECORD_COPY(peer, peer->srcDeviceId, peer->dstDeviceId);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        record_memset(activity);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        record_call(activity);
        break;
    default:
        break;
    }
}

static void on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                        size_t valid)
{
    (void)bytes;
    CUpti_Activity *activity = NULL;
    VS_OWN_WORK();
    bool record = vs_process_records();
    if (record && valid)
        align_clocks();
    while (record && valid && cupti->next_record(buffer, valid, &activity) == CUPTI_SUCCESS)
        record_activity(activity);
    size_t lost = 0;
    if (record && cupti->dropped && cupti->dropped(context, stream, &lost) == CUPTI_SUCCESS && lost)
        VS_RECORD(dropped, .what = vs_process_string("activity records"), .count = lost);
    if (buffer)
        buffer_return(buffer);
}

/* Logs a line once for the user, and records it once as a note in the trace. */
static void say(const char *line)
{
    vs_log(VS_LOG_WARN, "%s", line);
    if (vs_process_recorder())
        vs_process_note(VS_LOG_WARN, line);
}

static void CUPTIAPI no_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)data;
}

/* How CUPTI numbers threads concerns all tools: calls_stop restores it. */
static bool calls_start(void)
{
    return cupti->callback_name && cupti->get_thread_ids && cupti->set_thread_ids &&
           cupti->get_thread_ids(&thread_ids) == CUPTI_SUCCESS &&
           cupti->set_thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS;
}

static void calls_stop(void)
{
    if (calls_started)
        (void)cupti->set_thread_ids(thread_ids);
    calls_started = false;
}

/* All but the first *count* of the kinds. */
static void kinds_stop(size_t count)
{
    while (kinds_on > count)
        cupti->disable(kinds[--kinds_on]);
}

/* The first *count* of the kinds. */
static CUptiResult kinds_start(size_t count)
{
    CUptiResult r = CUPTI_SUCCESS;
    while (r == CUPTI_SUCCESS && kinds_on < count) {
        r = cupti->enable(kinds[kinds_on]);
        kinds_on += r == CUPTI_SUCCESS;
    }
    return r;
}

static CUptiResult switch_on(void)
{
    size_t all = sizeof kinds / sizeof *kinds, work = all - CALL_KINDS;
    CUptiResult r = cupti->register_callbacks(on_request, on_complete);
    if (r == CUPTI_SUCCESS)
        r = kinds_start(work);
    if (r != CUPTI_SUCCESS) {
        kinds_stop(0);
        return r;
    }
    if (vs_process_options()->number[VS_OPT_kernels] == 2) {
        calls_started = calls_start();
        if (!calls_started || kinds_start(all) != CUPTI_SUCCESS) {
            kinds_stop(work); /* one of both may be on */
            calls_stop();
            say("calls are not recorded: this CUPTI does not report them; kernels and copies are");
        }
    }
    return CUPTI_SUCCESS;
}

/* --- the call stacks of copies ---
 *
 * CUPTI's records of copies have none, so its callbacks of the functions that copy, on the program's
 * own thread, record the stack under the number that the copy's record will have. For the option
 * copy_stacks only, because CUPTI has one subscriber and other profilers are then refused. A runtime
 * function and the driver function below it usually share their number; where they do not, both are
 * recorded, and the copy's record selects one. */

static CUpti_SubscriberHandle copies_handle; /* guarded by handing_over */
static bool copies_started;               /* likewise */

static void CUPTIAPI on_copy(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void *cbdata)
{
    static _Thread_local uint32_t last __attribute__((tls_model("initial-exec")));
    const CUpti_CallbackData *data = cbdata;
    (void)user;
    (void)domain;
    (void)id;
    if (data->callbackSite != CUPTI_API_ENTER || vs_thread.inside || data->correlationId == last ||
        vs_process_state() != VS_PROCESS_ACTIVE ||
        !vs_recorder_wants_activity(vs_process_recorder()))
        return;
    last = data->correlationId;
    VS_OWN_WORK();
    VS_RECORD(work_call, .correlation = data->correlationId,
              .api = vs_process_api(data->functionName),
              .stack = vs_process_stack());
}

/* Becomes the subscriber; *other* as in vs_cupti_subscribe. Once per process. */
static CUptiResult copy_calls_start(char other[VS_CUPTI_NAME_MAX])
{
    /* functions of the driver, each also for the per-thread default stream */
    static const CUpti_CallbackId driver[] = {
#define ROW(name) CUPTI_DRIVER_TRACE_CBID_##name,
        ROW(cuMemcpy) ROW(cuMemcpy_ptds) ROW(cuMemcpyAsync) ROW(cuMemcpyAsync_ptsz)
        ROW(cuMemcpyHtoD_v2) ROW(cuMemcpyHtoD_v2_ptds) ROW(cuMemcpyHtoDAsync_v2)
        ROW(cuMemcpyHtoDAsync_v2_ptsz) ROW(cuMemcpyDtoH_v2) ROW(cuMemcpyDtoH_v2_ptds)
        ROW(cuMemcpyDtoHAsync_v2) ROW(cuMemcpyDtoHAsync_v2_ptsz) ROW(cuMemcpyDtoD_v2)
        ROW(cuMemcpyDtoD_v2_ptds) ROW(cuMemcpyDtoDAsync_v2) ROW(cuMemcpyDtoDAsync_v2_ptsz)
        ROW(cuMemcpy2D_v2) ROW(cuMemcpy2D_v2_ptds) ROW(cuMemcpy2DUnaligned_v2)
        ROW(cuMemcpy2DUnaligned_v2_ptds) ROW(cuMemcpy2DAsync_v2) ROW(cuMemcpy2DAsync_v2_ptsz)
        ROW(cuMemcpy3D_v2) ROW(cuMemcpy3D_v2_ptds) ROW(cuMemcpy3DAsync_v2)
        ROW(cuMemcpy3DAsync_v2_ptsz) ROW(cuMemcpyPeer) ROW(cuMemcpyPeer_ptds) ROW(cuMemcpyPeerAsync)
        ROW(cuMemcpyPeerAsync_ptsz) ROW(cuMemcpyHtoA_v2) ROW(cuMemcpyAtoH_v2) ROW(cuMemcpyDtoA_v2)
        ROW(cuMemcpyAtoD_v2) ROW(cuMemcpyAtoA_v2) ROW(cuMemcpyHtoAAsync_v2)
        ROW(cuMemcpyAtoHAsync_v2)
#undef ROW
    };
    static const CUpti_CallbackId runtime[] = {
#define ROW(name) CUPTI_RUNTIME_TRACE_CBID_##name,
        ROW(cudaMemcpy_v3020) ROW(cudaMemcpy_ptds_v7000) ROW(cudaMemcpyAsync_v3020)
        ROW(cudaMemcpyAsync_ptsz_v7000) ROW(cudaMemcpy2D_v3020) ROW(cudaMemcpy2D_ptds_v7000)
        ROW(cudaMemcpy2DAsync_v3020) ROW(cudaMemcpy2DAsync_ptsz_v7000) ROW(cudaMemcpy3D_v3020)
        ROW(cudaMemcpy3DAsync_v3020) ROW(cudaMemcpyPeer_v4000) ROW(cudaMemcpyPeerAsync_v4000)
        ROW(cudaMemcpyToSymbol_v3020) ROW(cudaMemcpyToSymbolAsync_v3020)
        ROW(cudaMemcpyFromSymbol_v3020) ROW(cudaMemcpyFromSymbolAsync_v3020)
        ROW(cudaMemcpyToArray_v3020) ROW(cudaMemcpyFromArray_v3020)
#undef ROW
    };
    CUptiResult r = vs_cupti_subscribe(cupti, &copies_handle, on_copy, other);
    if (r != CUPTI_SUCCESS)
        return r;
    copies_started = true;
    /* a function that this driver lacks is not called either */
    for (size_t i = 0; i < sizeof driver / sizeof *driver; i++)
        (void)cupti->enable_callback(1, copies_handle, CUPTI_CB_DOMAIN_DRIVER_API, driver[i]);
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        (void)cupti->enable_callback(1, copies_handle, CUPTI_CB_DOMAIN_RUNTIME_API, runtime[i]);
    return CUPTI_SUCCESS;
}

static void copy_calls_stop(void)
{
    if (copies_started)
        (void)cupti->unsubscribe(copies_handle);
    copies_started = false;
}

/* Our kinds first, so that none of our records end up in the other tool's buffers. */
static void switch_off(void)
{
    VS_OWN_WORK();
    copy_calls_stop();
    kinds_stop(0);
    cupti->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    calls_stop();
    if (cupti->flush_period)
        cupti->flush_period(0);
}

static void start_locked(bool subscribed)
{
    char other[VS_CUPTI_NAME_MAX] = "";
    cupti = vs_cupti_load();
    if (!cupti) {
        char line[512];
        snprintf(line, sizeof line, VS_NOTE_NO_ACTIVITY ": %s; memory is recorded",
                 *vs_cupti_trouble() ? vs_cupti_trouble()
                                     : "libcupti was not found beside the CUDA runtime, in CUDA_PATH "
                                       "or the library path");
        say(line);
        return;
    }
    CUpti_SubscriberHandle handle;
    CUptiResult r = CUPTI_SUCCESS;
    if (!subscribed && vs_process_options()->number[VS_OPT_copy_stacks])
        r = copy_calls_start(other);
    else if (!subscribed) {
        /* only a subscriber learns of a tool that started before us. We unsubscribe immediately:
         * otherwise every later subscriber would be refused */
        r = vs_cupti_subscribe(cupti, &handle, no_callback, other);
        if (r == CUPTI_SUCCESS)
            r = cupti->unsubscribe(handle);
    }
    align_clocks();
    if (r == CUPTI_SUCCESS)
        r = switch_on();
    if (r != CUPTI_SUCCESS) {
        copy_calls_stop(); /* other tools may subscribe */
        char why[256], line[512];
        snprintf(line, sizeof line, VS_NOTE_NO_ACTIVITY ": CUPTI failed (%s); memory is recorded",
                 vs_cupti_reason(cupti, r, other, why, sizeof why));
        say(line);
        return;
    }
    if (cupti->flush_period && cupti->flush_period(FLUSH_PERIOD_MS) != CUPTI_SUCCESS)
        vs_log(VS_LOG_DEBUG, "CUPTI has no periodic flush");
    atomic_store_explicit(&state, RUNNING, memory_order_release);
}

void vs_collector_start(bool subscribed)
{
    VS_LOCK_SCOPE(&handing_over);
    if (atomic_load(&state) == ASIDE)
        say(LEFT_TO_OTHERS);
    else
        start_locked(subscribed);
}

void vs_collector_flush(bool forced)
{
    if (atomic_load_explicit(&state, memory_order_acquire) == RUNNING)
        cupti->flush_all(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

bool vs_collector_running(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == RUNNING;
}

void vs_collector_hand_over(void)
{
    int was = atomic_load_explicit(&state, memory_order_acquire);
    if (was == ASIDE || vs_thread.inside || vs_process_forked())
        return;
    vs_lock_acquire(&handing_over); /* a second caller waits until it is done */
    was = atomic_load_explicit(&state, memory_order_acquire);
    if (was == RUNNING)
        switch_off();
    atomic_store_explicit(&state, ASIDE, memory_order_release);
    vs_lock_release(&handing_over);
    if (was == RUNNING)
        say(LEFT_TO_OTHERS);
}

/* Not after the hand-over: the other tool may have detached CUPTI from the process, and a query
 * would attach it again. */
bool vs_collector_stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t *id)
{
    return atomic_load_explicit(&state, memory_order_acquire) == RUNNING && cupti->stream_id &&
           cupti->stream_id(context, stream, per_thread, id) == CUPTI_SUCCESS;
}
