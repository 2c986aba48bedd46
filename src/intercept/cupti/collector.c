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
#include "intercept/cupti/call_site.h"
#include "intercept/cupti/cupti_clock.h"
#include "intercept/cupti/cupti_library.h"
#include "intercept/cupti/kernel_switch.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/capture.h"
#include "intercept/track/wait.h"
#include "trace/record/selection.h"

#define BUFFER_BYTES ((size_t)1 << 20) /* about 5000 kernels */
#define BUFFERS_KEPT 4
#define BUFFERS_MAX 16
#define FLUSH_PERIOD_MS 1000 /* of full buffers, by CUPTI; of others, by us, after a wait */

#define LEFT_TO_OTHERS \
    VS_NOTE_ACTIVITY_LEFT " and gets the kernels and copies from here on; memory is still recorded"

static const CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    /* with kernels=api or copy_stacks */
    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
    /* with kernels=api */
    CUPTI_ACTIVITY_KIND_OVERHEAD};
enum { WORK_KINDS = 4, CALL_KINDS = 6, ALL_KINDS = 7 };

static const struct vs_cupti *cupti; /* written before state leaves OFF */
enum { OFF, RUNNING, ASIDE };
static _Atomic int state; /* atomic; release on RUNNING pairs with acquire */

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_COLLECTOR, "collector");
static struct vs_lock handing_over = VS_LOCK_INIT(VS_RANK_TRACKER, "CUPTI hand-over");
static uint8_t *kept[BUFFERS_KEPT]; /* guarded by lock */
static unsigned kept_count;         /* guarded by lock */
static CUpti_ActivityThreadIdType thread_ids; /* guarded by handing_over: the program's, if calls are wanted */
static bool all_calls; /* immutable after RUNNING: they get events; otherwise they only find copies' call sites */
static _Atomic int part = VS_SCHEDULE_ON; /* enum vs_schedule_part; written with handing_over held */
static bool part_asked;            /* guarded by handing_over */
static size_t kinds_wanted;        /* likewise: as many of *kinds* as this CUPTI has */
static size_t kinds_on;           /* guarded by handing_over: the first of *kinds* */
static unsigned buffer_count;       /* guarded by lock: mapped and not returned */

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

/* What records have in common: of all kinds, of kernels, copies and memsets, of copies. */
#define TIMES(a, clock) .start_ns = vs_cupti_clock_ns(clock, (a)->start), .end_ns = vs_cupti_clock_ns(clock, (a)->end)
#define WORK(a, clock)                                                                            \
    TIMES(a, clock), .device = (a)->deviceId, .context = (a)->contextId, .stream = (a)->streamId, \
    .correlation = (a)->correlationId, .graph = (a)->graphId, .graph_node = (a)->graphNodeId
#define COPY(a, clock)                                                                            \
    WORK(a, clock), .bytes = (a)->bytes, .copy_kind = (a)->copyKind,                              \
    .async = ((a)->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0,                                \
    .src_kind = (a)->srcKind, .dst_kind = (a)->dstKind

/* Calls that only ask: far more than the others, never of interest, and some of them our own. *name*: CUPTI's, with
 * a version: cudaGetDevice_v3020. */
static bool only_asks(const char *name)
{
    static const char asks[] =
        " cuCtxGetCurrent cuCtxSetCurrent cuCtxGetDevice cuCtxGetApiVersion cuCtxPushCurrent cuCtxPopCurrent cuDeviceGet"
        " cuDeviceGetCount cuDeviceGetName cuDeviceGetUuid cuDeviceGetAttribute cuDeviceTotalMem cuDeviceGetPCIBusId"
        " cuDevicePrimaryCtxGetState cuDriverGetVersion cuGetProcAddress cuMemGetInfo cuPointerGetAttribute"
        " cuPointerGetAttributes cuStreamGetId cuStreamGetCtx cuStreamIsCapturing cuEventQuery cuStreamQuery"
        " cuFuncGetAttribute cuOccupancyMaxActiveBlocksPerMultiprocessor"
        " cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cudaGetDevice cudaSetDevice cudaGetLastError"
        " cudaPeekAtLastError cudaGetDeviceCount cudaDeviceGetAttribute cudaMemGetInfo cudaPointerGetAttributes"
        " cudaEventQuery cudaStreamQuery cudaStreamIsCapturing cudaStreamGetCaptureInfo cudaFuncGetAttributes"
        " cudaDeviceGetStreamPriorityRange cudaOccupancyMaxActiveBlocksPerMultiprocessor"
        " cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags ";
    char word[80];
    const char *version = strstr(name, "_v");
    snprintf(word, sizeof word, " %.*s ", version ? (int)(version - name) : (int)strlen(name), name);
    return strstr(asks, word);
}

/* Whether the function with this name in CUPTI begins copies; kernels or memsets. */
static bool copies(const char *name)
{
    return strstr(name, "Memcpy");
}

static bool begins_work(const char *name)
{
    return copies(name) || strstr(name, "Launch") || strstr(name, "Memset");
}

#define CALL_IDS 1024
#define CALL_IGNORED 1u /* in the word of a name */
#define CALL_BEGINS_WORK 2u

static void record_call(const CUpti_Activity *activity, const struct vs_cupti_clock *clock)
{
    static _Atomic uint64_t names[2][CALL_IDS]; /* string id * 4 + the above; 0: not known yet */
    const CUpti_ActivityAPI *call = (const CUpti_ActivityAPI *)activity;
    bool driver = activity->kind == CUPTI_ACTIVITY_KIND_DRIVER;
    if (call->cbid >= CALL_IDS)
        return;
    _Atomic uint64_t *known = &names[driver][call->cbid];
    uint64_t name = atomic_load_explicit(known, memory_order_relaxed);
    if (!name) {
        const char *text = NULL;
        (void)cupti->callback_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, call->cbid,
                                   &text);
        /* __cudaPushCallConfiguration and the like are part of a launch; CUPTI itself asks for names of kernels */
        bool other = !text || only_asks(text) || strstr(text, "CallConfiguration") || strstr(text, "GetName");
        name = other ? CALL_IGNORED : vs_process_string(text) * 4;
        name |= name != CALL_IGNORED && begins_work(text) ? CALL_BEGINS_WORK : 0;
        atomic_store_explicit(known, name, memory_order_relaxed);
    }
    if (name == CALL_IGNORED)
        return;
    uint64_t start_ns = vs_cupti_clock_ns(clock, call->start), end_ns = vs_cupti_clock_ns(clock, call->end);
    if (name & CALL_BEGINS_WORK)
        vs_call_found(call->threadId, start_ns, end_ns, call->correlationId);
    if (!all_calls)
        return;
    VS_RECORD(api_call, .start_ns = start_ns,
              .end_ns = end_ns,
              .thread = call->threadId,
              .api = name / 4,
              .correlation = call->correlationId,
              .driver = driver,
              .result = call->returnValue);
}

static void record_activity(const CUpti_Activity *activity, const struct vs_cupti_clock *clock)
{
    const CUpti_ActivityKernel9 *k = (const CUpti_ActivityKernel9 *)activity;
    const CUpti_ActivityMemcpy5 *copy = (const CUpti_ActivityMemcpy5 *)activity;
    const CUpti_ActivityMemcpyPtoP4 *peer = (const CUpti_ActivityMemcpyPtoP4 *)activity;
    const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)activity;
    const CUpti_ActivityOverhead *o = (const CUpti_ActivityOverhead *)activity;
    switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        VS_RECORD(kernel, WORK(k, clock), .name = vs_process_string(k->name ? k->name : "kernel"),
                  .grid_x = (uint64_t)(uint32_t)k->gridX,
                  .grid_y = (uint64_t)(uint32_t)k->gridY,
                  .grid_z = (uint64_t)(uint32_t)k->gridZ,
                  .block_x = (uint64_t)(uint32_t)k->blockX,
                  .block_y = (uint64_t)(uint32_t)k->blockY,
                  .block_z = (uint64_t)(uint32_t)k->blockZ,
                  .shared_bytes = (uint64_t)(uint32_t)k->staticSharedMemory +
                                  (uint64_t)(uint32_t)k->dynamicSharedMemory);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        VS_RECORD(memcpy, COPY(copy, clock), .src_device = copy->deviceId, .dst_device = copy->deviceId);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        VS_RECORD(memcpy, COPY(peer, clock), .src_device = peer->srcDeviceId, .dst_device = peer->dstDeviceId);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        VS_RECORD(memset, WORK(set, clock), .bytes = set->bytes, .value = set->value, .memory_kind = set->memoryKind);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        record_call(activity, clock);
        break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
        VS_RECORD(cupti_overhead, TIMES(o, clock), .overhead_kind = (uint64_t)o->overheadKind,
                  .thread = o->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? o->objectId.pt.threadId : 0);
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
    bool record = vs_process_records() && atomic_load_explicit(&part, memory_order_relaxed) == VS_SCHEDULE_ON;
    struct vs_cupti_clock clock = {.count = 0};
    if (record && valid)
        vs_cupti_clock_read(cupti, &clock);
    while (record && valid && cupti->next_record(buffer, valid, &activity) == CUPTI_SUCCESS)
        record_activity(activity, &clock);
    size_t lost = 0;
    if (record && cupti->dropped && cupti->dropped(context, stream, &lost) == CUPTI_SUCCESS && lost)
        VS_RECORD(dropped, .what = vs_process_string("activity records"), .count = lost);
    if (record && (lost = vs_calls_forgotten()))
        VS_RECORD(dropped, .what = vs_process_string("call sites"), .count = lost);
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

/* Leaves on only the calls that copy. CUPTI has no way to begin with none once CUDA is initialised. */
static void only_copies(void)
{
    const char *name;
    for (uint32_t id = 1; id < CALL_IDS; id++) {
        if (cupti->callback_name(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) == CUPTI_SUCCESS && !copies(name))
            (void)cupti->enable_driver_call(id, 0);
        if (cupti->callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, id, &name) == CUPTI_SUCCESS && !copies(name))
            (void)cupti->enable_runtime_call(id, 0);
    }
}

static void CUPTIAPI no_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void *data)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)data;
}

/* How CUPTI numbers threads concerns all tools: it is restored when calls are not wanted any more. */
static bool calls_start(void)
{
    return cupti->callback_name && cupti->get_thread_ids && cupti->set_thread_ids &&
           cupti->enable_driver_call && cupti->enable_runtime_call &&
           cupti->get_thread_ids(&thread_ids) == CUPTI_SUCCESS &&
           cupti->set_thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS;
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
    if (kinds_on > WORK_KINDS && !all_calls)
        only_copies();
    return r;
}

static CUptiResult switch_on(void)
{
    CUptiResult r = cupti->register_callbacks(on_request, on_complete);
    if (r == CUPTI_SUCCESS)
        r = kinds_start(WORK_KINDS);
    if (r != CUPTI_SUCCESS) {
        kinds_stop(0);
        return r;
    }
    kinds_wanted = WORK_KINDS;
    all_calls = vs_process_options()->number[VS_OPT_kernels] == 2;
    if (!all_calls && !vs_process_options()->number[VS_OPT_copy_stacks])
        return CUPTI_SUCCESS;
    bool started = calls_start();
    if (!started || kinds_start(all_calls ? ALL_KINDS : CALL_KINDS) != CUPTI_SUCCESS) {
        kinds_stop(WORK_KINDS); /* some may be on */
        if (started)
            (void)cupti->set_thread_ids(thread_ids);
        say("calls are not recorded: this CUPTI does not report them; kernels and copies are");
        return CUPTI_SUCCESS;
    }
    kinds_wanted = kinds_on;
    return CUPTI_SUCCESS;
}

/* What other files record, or not, with the kernels. */
static void tell_part(bool on)
{
    unsigned calls = kinds_wanted > WORK_KINDS ? VS_CALL_COPIES | (all_calls ? VS_CALL_WORK : 0) : 0;
    atomic_fetch_and_explicit(&vs_calls_wanted, VS_CALL_SIGNALLED, memory_order_relaxed); /* a signal may set it now */
    atomic_fetch_or_explicit(&vs_calls_wanted, on ? calls : 0, memory_order_relaxed);
    atomic_store_explicit(&vs_waits_off, !on, memory_order_relaxed);
}

/* Of the part before *to*: its last records. */
static void change_part(enum vs_schedule_part from, enum vs_schedule_part to)
{
    if (from == VS_SCHEDULE_OFF)
        (void)kinds_start(kinds_wanted);
    cupti->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (to == VS_SCHEDULE_OFF)
        kinds_stop(0);
}

void vs_collector_switch(enum vs_schedule_part to, enum vs_switch by, uint64_t step, const char *range)
{
    VS_OWN_WORK();
    bool running = vs_collector_running();
    int before = atomic_load_explicit(&part, memory_order_relaxed);
    if (running && (before == VS_SCHEDULE_ON) != (to == VS_SCHEDULE_ON) && !vs_capture_any())
        (void)VS_REAL_OF(cuCtxSynchronize, ());
    VS_LOCK_SCOPE(&handing_over);
    int from = atomic_load_explicit(&part, memory_order_relaxed); /* another thread may have switched */
    bool changes = (from == VS_SCHEDULE_ON) != (to == VS_SCHEDULE_ON);
    part_asked = true;
    if (vs_collector_running() && from != (int)to)
        change_part((enum vs_schedule_part)from, to);
    tell_part(to == VS_SCHEDULE_ON); /* of waits also without CUPTI */
    if (changes && vs_process_records() && atomic_load_explicit(&state, memory_order_relaxed) != ASIDE)
        VS_RECORD(activity_switched, .on = to == VS_SCHEDULE_ON, .by = by, .step = step,
                  .range = *range ? vs_process_string(range) : 0);
    atomic_store_explicit(&part, (int)to, memory_order_relaxed);
}

bool vs_collector_part_on(void)
{
    return atomic_load_explicit(&part, memory_order_relaxed) == VS_SCHEDULE_ON;
}

/* Our kinds first, so that none of our records end up in the other tool's buffers. */
static void switch_off(void)
{
    VS_OWN_WORK();
    kinds_stop(0);
    cupti->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (kinds_wanted > WORK_KINDS)
        (void)cupti->set_thread_ids(thread_ids);
    kinds_wanted = 0; /* a later switch asks for no calls */
    atomic_fetch_and_explicit(&vs_calls_wanted, VS_CALL_SIGNALLED, memory_order_relaxed);
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
    if (!subscribed) {
        /* only a subscriber learns of a tool that started before us. We unsubscribe immediately:
         * otherwise every later subscriber would be refused */
        r = vs_cupti_subscribe(cupti, &handle, no_callback, other);
        if (r == CUPTI_SUCCESS)
            r = cupti->unsubscribe(handle);
    }
    struct vs_cupti_clock begins; /* before the first record */
    vs_cupti_clock_read(cupti, &begins);
    if (r == CUPTI_SUCCESS)
        r = switch_on();
    if (r != CUPTI_SUCCESS) {
        char why[256], line[512];
        snprintf(line, sizeof line, VS_NOTE_NO_ACTIVITY ": CUPTI failed (%s); memory is recorded",
                 vs_cupti_reason(cupti, r, other, why, sizeof why));
        say(line);
        return;
    }
    if (cupti->flush_period && cupti->flush_period(FLUSH_PERIOD_MS) != CUPTI_SUCCESS)
        vs_log(VS_LOG_DEBUG, "CUPTI has no periodic flush");
    if (atomic_load_explicit(&part, memory_order_relaxed) == VS_SCHEDULE_OFF)
        kinds_stop(0);
    atomic_store_explicit(&state, RUNNING, memory_order_release);
}

void vs_collector_start(bool subscribed)
{
    VS_LOCK_SCOPE(&handing_over);
    if (atomic_load(&state) == ASIDE)
        say(LEFT_TO_OTHERS);
    else {
        if (vs_switch_given() && !part_asked)
            atomic_store_explicit(&part, VS_SCHEDULE_OFF, memory_order_relaxed);
        start_locked(subscribed);
        tell_part(atomic_load_explicit(&part, memory_order_relaxed) == VS_SCHEDULE_ON);
        bool range = *vs_process_options()->text[VS_OPT_kernels_range],
             steps = *vs_process_options()->text[VS_OPT_kernels_steps];
        if (atomic_load_explicit(&part, memory_order_relaxed) != VS_SCHEDULE_ON)
            VS_RECORD(activity_switched, .by = !vs_switch_given() ? VS_SWITCH_CALL
                                               : range            ? VS_SWITCH_RANGE
                                               : steps            ? VS_SWITCH_STEP
                                                                  : VS_SWITCH_SIGNAL);
        if (!vs_switch_signal())
            say("the program handles the signal of --kernels-signal itself: kernels are not recorded");
    }
}

void vs_collector_flush(bool forced)
{
    if (atomic_load_explicit(&state, memory_order_acquire) != RUNNING)
        return;
    cupti->flush_all(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void vs_collector_waited(void)
{
    static _Atomic uint64_t flushed_ns;
    uint64_t now_ns = vs_clock_ns(), before = atomic_load_explicit(&flushed_ns, memory_order_relaxed);
    if (now_ns - before >= FLUSH_PERIOD_MS * UINT64_C(1000000) &&
        atomic_compare_exchange_strong_explicit(&flushed_ns, &before, now_ns, memory_order_relaxed,
                                                memory_order_relaxed))
        vs_collector_flush(false);
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
