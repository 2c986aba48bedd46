/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events over the driver, for the stream-ordered allocator. Events are reused; those of
 * a context are destroyed with it. A thread's own default stream is accessible from that thread
 * only: other threads that need an event there wait for the whole context instead, which is rare
 * and correct. Called with the allocator's lock held. */
#include "intercept/track/capture.h"

#include <stdatomic.h>

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_map.h"
#include "intercept/cache/device_ops.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"

struct event_ops_stream {
    uint64_t key, id; /* the allocator's and the trace's; immutable after init */
    CUstream handle;  /* immutable after init */
    const struct vs_context *context; /* of the stream; immutable after init */
    uint64_t thread;  /* the thread of a per-thread default stream; 0: an ordinary stream */
    _Atomic bool ended; /* its handle is invalid, or another stream's; never reset */
};

struct event {
    CUevent handle;
    const struct vs_context *context;
    struct event *next;
};

/* Represents a completed event: the wait for its work was made immediately. */
#define EVENT_DONE UINT64_C(1)

static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_DEVICE, "streams and events");
static struct vs_arena arena;       /* guarded by lock: of streams */
static struct vs_items events;      /* guarded by lock */
static struct event *idle;          /* guarded by lock: events that can be used again */
static struct vs_map streams;       /* guarded by lock: key -> struct event_ops_stream */
static _Atomic uint64_t thread_count; /* atomic */

static _Thread_local uint64_t thread_number __attribute__((tls_model("initial-exec")));
static _Thread_local const struct event_ops_stream *recent __attribute__((tls_model("initial-exec")));

/* Has the driver all that is needed? Newer ones have more, which is looked up as well. */
static bool find_driver(void)
{
    static const enum vs_driver_function needed[] = {
        VS_FN_cuEventCreate,      VS_FN_cuEventRecord,       VS_FN_cuEventQuery,
        VS_FN_cuEventSynchronize, VS_FN_cuStreamSynchronize, VS_FN_cuStreamIsCapturing};
    static const enum vs_driver_function newer[] = {
        VS_FN_cuThreadExchangeStreamCaptureMode, VS_FN_cuStreamGetId, VS_FN_cuStreamGetCtx};
    static _Atomic bool known;
    if (atomic_load_explicit(&known, memory_order_relaxed))
        return true;
    (void)vs_driver_has(newer, sizeof newer / sizeof *newer);
    bool found = vs_driver_has(needed, sizeof needed / sizeof *needed);
    atomic_store_explicit(&known, found, memory_order_relaxed);
    return found;
}

static bool streams_have_numbers(void)
{
    return vs_driver_function(VS_FN_cuStreamGetId) != NULL;
}

/* --- streams --- */

static uint64_t own_thread(void)
{
    if (!thread_number)
        thread_number = atomic_fetch_add(&thread_count, 1) + 1;
    return thread_number;
}

bool vs_stream_is_default(CUstream stream)
{
    return !stream || stream == CU_STREAM_LEGACY;
}

/* Odd: the driver's number of a stream. Even: a context's default stream, or, with
 * a driver before 12.0, which numbers none, a handle. */
static uint64_t key_of(const struct vs_context *context, CUstream stream)
{
    unsigned long long id;
    if (vs_stream_is_default(stream))
        return (uint64_t)context->id << 1;
    if (find_driver() && VS_CALL(cuStreamGetId, stream, &id) == CUDA_SUCCESS)
        return (uint64_t)id << 1 | 1;
    if (stream == CU_STREAM_PER_THREAD)
        return UINT64_C(1) << 63 | own_thread() << 1;
    return (uint64_t)(uintptr_t)stream << 1;
}

static const struct event_ops_stream *find_stream(uint64_t key)
{
    if (recent && recent->key == key)
        return recent;
    vs_lock_acquire(&lock);
    const struct event_ops_stream *stream = vs_map_pointer(&streams, key);
    vs_lock_release(&lock);
    if (stream)
        recent = stream;
    return stream;
}

static void enter_stream(const struct vs_context *context, uint64_t key, CUstream handle)
{
    bool own = handle == CU_STREAM_PER_THREAD;
    CUcontext its;
    const struct vs_context *owner = NULL; /* another device's stream may have been named */
    if (!vs_stream_is_default(handle) && !own &&
        VS_CALL(cuStreamGetCtx, handle, &its) == CUDA_SUCCESS)
        owner = vs_context_find(its);
    context = owner ? owner : context;
    uint64_t id = vs_process_recorder() ? vs_stream_id(context, handle, own) : 0;
    VS_LOCK_SCOPE(&lock);
    struct event_ops_stream *stream = vs_map_get(&streams, key) ? NULL : vs_arena_alloc(&arena, sizeof *stream);
    if (stream) {
        *stream = (struct event_ops_stream){.key = key,
                                  .id = id,
                                  .handle = vs_stream_is_default(handle) ? NULL : handle,
                                  .context = context,
                                  .thread = own ? own_thread() : 0};
        /* without host memory: an unknown stream, for which the context is waited for */
        enum vs_err err = vs_map_put_pointer(&streams, key, stream);
        (void)err;
    }
}

uint64_t vs_stream_key(const struct vs_context *context, CUstream handle)
{
    uint64_t key = key_of(context, handle);
    if (!find_stream(key))
        enter_stream(context, key, handle);
    return key;
}

uint64_t vs_stream_key_id(uint64_t key)
{
    const struct event_ops_stream *stream = find_stream(key);
    return stream ? stream->id : 0;
}

uint64_t vs_stream_key_handle(uint64_t key)
{
    const struct event_ops_stream *stream = find_stream(key);
    return stream ? (uint64_t)(uintptr_t)stream->handle : 0;
}

bool vs_stream_capturing(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return find_driver() && (VS_CALL(cuStreamIsCapturing, stream, &status) != CUDA_SUCCESS ||
                             status != CU_STREAM_CAPTURE_STATUS_NONE);
}

CUstreamCaptureMode vs_capture_relax(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (!find_driver() || VS_CALL(cuThreadExchangeStreamCaptureMode, &mode) != CUDA_SUCCESS)
        return CU_STREAM_CAPTURE_MODE_RELAXED;
    return mode;
}

void vs_capture_restore(CUstreamCaptureMode mode)
{
    if (mode != CU_STREAM_CAPTURE_MODE_RELAXED)
        VS_CALL(cuThreadExchangeStreamCaptureMode, &mode);
}

/* Is the handle still this stream's? Memory is cached, and lent to other streams, longer than the
 * program keeps its streams. */
static bool still_there(const struct event_ops_stream *stream)
{
    unsigned long long id;
    if (!stream->handle || stream->thread || !streams_have_numbers())
        return true;
    return !atomic_load(&stream->ended) &&
           VS_CALL(cuStreamGetId, stream->handle, &id) == CUDA_SUCCESS &&
           ((uint64_t)id << 1 | 1) == stream->key;
}

void vs_stream_ends(CUstream handle)
{
    unsigned long long id;
    if (vs_stream_is_default(handle) || handle == CU_STREAM_PER_THREAD || !find_driver())
        return;
    if (!streams_have_numbers()) /* the next stream of this handle has the same key */
        VS_CALL(cuStreamSynchronize, handle);
    if (VS_CALL(cuStreamGetId, handle, &id) != CUDA_SUCCESS)
        return;
    VS_LOCK_SCOPE(&lock);
    struct event_ops_stream *stream = vs_map_pointer(&streams, (uint64_t)id << 1 | 1);
    if (stream)
        atomic_store(&stream->ended, true);
}

/* --- events --- */

static struct event *event_take(const struct vs_context *context)
{
    VS_LOCK_SCOPE(&lock);
    struct event **link = &idle;
    while (*link && (*link)->context != context)
        link = &(*link)->next;
    struct event *event = *link;
    if (event)
        *link = event->next;
    else if ((event = vs_items_take(&events, sizeof *event)))
        *event = (struct event){.context = context};
    return event;
}

static void event_give(struct event *event)
{
    VS_LOCK_SCOPE(&lock);
    if (event->handle) {
        event->next = idle;
        idle = event;
    } else {
        vs_items_give(&events, event);
    }
}

/* Waits for the whole context, which must not be part of a capture. */
static enum vs_err wait_for_all(void)
{
    if (vs_capture_any())
        return VS_ERR_STATE;
    return vs_err_of_driver(VS_REAL(cuCtxSynchronize));
}

static enum vs_err record(const struct event_ops_stream *stream, uint64_t *out)
{
    if (vs_stream_capturing(stream->handle))
        return VS_ERR_STATE; /* the event would become part of the capture */
    struct event *event = event_take(stream->context);
    if (!event)
        return VS_ERR_NOMEM;
    CUresult r = CUDA_SUCCESS;
    if (!event->handle)
        r = VS_CALL(cuEventCreate, &event->handle, CU_EVENT_DISABLE_TIMING);
    if (r == CUDA_SUCCESS)
        r = VS_CALL(cuEventRecord, event->handle, stream->handle);
    if (r != CUDA_SUCCESS) {
        event_give(event);
        return vs_err_of_driver(r);
    }
    *out = (uint64_t)(uintptr_t)event;
    return VS_OK;
}

static enum vs_err event_record(void *arg, uint64_t key, uint64_t *event)
{
    struct vs_entered entered;
    const struct event_ops_stream *stream = find_stream(key); /* perhaps of another device */
    if (vs_process_state() == VS_PROCESS_EXITING)
        return VS_ERR_STATE;
    enum vs_err err = vs_context_enter(stream ? stream->context : arg, &entered);
    if (err)
        return err;
    bool own = stream && (!stream->thread || stream->thread == own_thread());
    err = own && still_there(stream) ? record(stream, event) : VS_ERR_DEVICE;
    /* no event available, perhaps for good: wait for the enqueued work */
    if (err && err != VS_ERR_STATE) {
        err = wait_for_all();
        if (!err)
            *event = EVENT_DONE;
    }
    vs_context_leave(&entered);
    return err;
}

static enum vs_err event_query(void *arg, uint64_t value, bool *ready)
{
    (void)arg;
    *ready = true;
    if (value == EVENT_DONE)
        return VS_OK;
    CUstreamCaptureMode mode = vs_capture_relax();
    CUresult r = VS_CALL(cuEventQuery, ((struct event *)(uintptr_t)value)->handle);
    vs_capture_restore(mode);
    *ready = r == CUDA_SUCCESS;
    return r == CUDA_ERROR_NOT_READY ? VS_OK : vs_err_of_driver(r);
}

static enum vs_err event_synchronize(void *arg, uint64_t value)
{
    (void)arg;
    if (value == EVENT_DONE)
        return VS_OK;
    CUstreamCaptureMode mode = vs_capture_relax();
    CUresult r = VS_CALL(cuEventSynchronize, ((struct event *)(uintptr_t)value)->handle);
    vs_capture_restore(mode);
    return vs_err_of_driver(r);
}

static void event_release(void *arg, uint64_t value)
{
    (void)arg;
    if (value != EVENT_DONE)
        event_give((struct event *)(uintptr_t)value);
}

/* The program may have destroyed the stream of cached memory, and its handle may belong to another
 * stream by now: wait for the context instead. Freeing plain device memory costs the same. */
static enum vs_err stream_synchronize(void *arg, uint64_t key)
{
    struct vs_entered entered;
    const struct event_ops_stream *stream = find_stream(key);
    if (vs_process_state() == VS_PROCESS_EXITING)
        return VS_ERR_STATE;
    enum vs_err err = vs_context_enter(stream ? stream->context : arg, &entered);
    if (err)
        return err;
    err = wait_for_all();
    vs_context_leave(&entered);
    return err;
}

void vs_event_ops_add(struct vs_device_ops *ops)
{
    if (!find_driver())
        return;
    ops->event_record = event_record;
    ops->event_query = event_query;
    ops->event_synchronize = event_synchronize;
    ops->event_release = event_release;
    ops->stream_synchronize = stream_synchronize;
}

void vs_event_ops_context_gone(const struct vs_context *context)
{
    VS_LOCK_SCOPE(&lock);
    for (struct event **link = &idle, *event; (event = *link);) {
        if (event->context != context) {
            link = &event->next;
            continue;
        }
        *link = event->next;
        vs_items_give(&events, event);
    }
}
