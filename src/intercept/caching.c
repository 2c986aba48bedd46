/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the allocator meets the driver. It serves cudaMalloc's promise, which is
 * not stream-ordered: a freed block waits for a synchronisation that began after
 * the free (VS_REUSE_AFTER_SYNC), the program's own or, failing that, one made
 * at reuse; the driver's cudaFree would have waited as well.
 *
 * During a stream capture nothing is served from here: the driver's own answer
 * (an error, outside relaxed mode) is the right one. */
#include "intercept/caching.h"

#include <stdatomic.h>

#include "base/vs_log.h"
#include "intercept/hook.h"
#include "intercept/process.h"
#include "intercept/tracker.h"

/* What the event sink needs to know of the call it is in. */
static _Thread_local struct {
    const char *api;
    uint64_t stack, time_ns;
} call __attribute__((tls_model("initial-exec")));

static enum vs_err from_driver(CUresult r)
{
    switch (r) {
    case CUDA_SUCCESS:
        return VS_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return VS_ERR_DEVICE_OOM;
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
        return VS_ERR_STATE;
    default:
        return VS_ERR_DEVICE;
    }
}

/* Runs *body* with the context current, as the program may free or make room from
 * a thread where another one is. */
struct pushed {
    bool did;
};

static enum vs_err context_enter(const struct vs_context *context, struct pushed *pushed)
{
    CUresult (*push)(CUcontext);
    pushed->did = false;
    if (vs_context_handle() == context->handle)
        return VS_OK;
    *(void **)&push = vs_driver_symbol("cuCtxPushCurrent_v2");
    if (!push || push(context->handle) != CUDA_SUCCESS)
        return VS_ERR_DEVICE;
    pushed->did = true;
    return VS_OK;
}

static void context_leave(const struct pushed *pushed)
{
    CUresult (*pop)(CUcontext *);
    CUcontext was;
    if (!pushed->did)
        return;
    *(void **)&pop = vs_driver_symbol("cuCtxPopCurrent_v2");
    if (pop)
        pop(&was);
}

static enum vs_err segment_alloc(void *arg, size_t bytes, uint64_t *addr)
{
    struct pushed pushed;
    CUdeviceptr ptr = 0;
    enum vs_err err = context_enter(arg, &pushed);
    if (err)
        return err;
    err = from_driver(VS_REAL(cuMemAlloc_v2, &ptr, bytes));
    context_leave(&pushed);
    if (!err)
        *addr = ptr;
    return err;
}

static enum vs_err segment_free(void *arg, uint64_t addr, size_t bytes)
{
    (void)bytes;
    struct pushed pushed;
    /* once the runtime unloads, the process's end returns the memory */
    if (vs_process_state() != VS_PROCESS_ACTIVE)
        return VS_ERR_STATE;
    enum vs_err err = context_enter(arg, &pushed);
    if (err)
        return err;
    err = from_driver(VS_REAL(cuMemFree_v2, addr));
    context_leave(&pushed);
    return err;
}

static enum vs_err synchronize_context(const struct vs_context *context)
{
    struct pushed pushed;
    enum vs_err err = context_enter(context, &pushed);
    if (err)
        return err;
    err = from_driver(VS_REAL(cuCtxSynchronize));
    context_leave(&pushed);
    return err;
}

static enum vs_err synchronize(void *arg)
{
    const struct vs_context *own = arg;
    enum vs_err err = synchronize_context(own);
    if (!atomic_load(&vs_peer_access))
        return err;
    for (const struct vs_context *c = vs_context_next(NULL); c && !err; c = vs_context_next(c)) {
        if (c != own && atomic_load(&c->alive))
            err = synchronize_context(c);
    }
    return err;
}

static enum vs_err memory_info(void *arg, uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct pushed pushed;
    size_t f, t;
    enum vs_err err = context_enter(arg, &pushed);
    if (err)
        return err;
    err = from_driver(VS_REAL(cuMemGetInfo_v2, &f, &t));
    context_leave(&pushed);
    if (err)
        return err;
    *free_bytes = f;
    *total_bytes = t;
    return VS_OK;
}

static const struct vs_device_ops device_ops = {
    .segment_alloc = segment_alloc,
    .segment_free = segment_free,
    .synchronize = synchronize,
    .memory_info = memory_info,
};

static void on_alloc(const struct vs_context *context, const struct vs_allocator_event *e)
{
    vs_track_count_alloc(context->device, e->size, e->requested);
    struct vs_event event = {.kind = VS_EVENT_alloc,
                             .alloc = {.addr = e->addr,
                                       .requested = e->requested,
                                       .size = e->size,
                                       .family = VS_FAMILY_DEVICE,
                                       .device = context->device,
                                       .context = context->id,
                                       .api = vs_process_api(call.api),
                                       .stack = call.stack}};
    vs_recorder_event(vs_process_recorder(), &event);
    call.time_ns = event.time_ns;
}

static void on_free(const struct vs_context *context, const struct vs_allocator_event *e)
{
    vs_track_count_free(context->device, e->size, e->requested);
    struct vs_event event = {.kind = VS_EVENT_free,
                             .free = {.addr = e->addr,
                                      .device = context->device,
                                      .api = vs_process_api(call.api)}};
    vs_recorder_event(vs_process_recorder(), &event);
}

static void on_segment(const struct vs_context *context, const struct vs_allocator_event *e,
                       bool alloc)
{
    vs_track_count_reserve(context->device, alloc ? (int64_t)e->size : -(int64_t)e->size);
    struct vs_event event;
    if (alloc)
        event = (struct vs_event){.kind = VS_EVENT_segment_alloc,
                                  .segment_alloc = {.addr = e->addr,
                                                    .size = e->size,
                                                    .device = context->device,
                                                    .context = context->id,
                                                    .pool = e->pool,
                                                    .stack = call.stack}};
    else
        event = (struct vs_event){
            .kind = VS_EVENT_segment_free,
            .segment_free = {.addr = e->addr, .size = e->size, .device = context->device}};
    vs_recorder_event(vs_process_recorder(), &event);
}

static void on_event(void *arg, const struct vs_allocator_event *e)
{
    const struct vs_context *context = arg;
    switch (e->kind) {
    case VS_ALLOCATOR_ALLOC:
        on_alloc(context, e);
        break;
    case VS_ALLOCATOR_FREE:
        on_free(context, e);
        break;
    case VS_ALLOCATOR_SEGMENT_ALLOC:
        on_segment(context, e, true);
        break;
    case VS_ALLOCATOR_SEGMENT_FREE:
        on_segment(context, e, false);
        break;
    default: /* free completed and out of memory: recorded by the caller where it matters */
        break;
    }
}

static const struct vs_event_sink event_sink = {.event = on_event};

struct vs_allocator *vs_caching_create(struct vs_context *context)
{
    struct vs_allocator *allocator = NULL;
    struct vs_allocator_config config = {.reuse = VS_REUSE_AFTER_SYNC};
    if (vs_allocator_create(&config, &device_ops, context, &event_sink, context, &allocator)) {
        vs_log_once(VS_LOG_WARN, "the caching allocator cannot start; allocations go to the driver");
        return NULL;
    }
    return allocator;
}

bool vs_caching_alloc(struct vs_context *context, uint64_t bytes, const char *api, CUdeviceptr *ptr,
                      CUresult *result)
{
    if (!vs_process_caching() || !bytes || !ptr || atomic_load(&vs_capture_count) ||
        vs_process_state() != VS_PROCESS_ACTIVE)
        return false;
    struct vs_allocator *allocator = vs_context_allocator(context);
    if (!allocator)
        return false;
    call.api = api;
    call.stack = vs_process_stack();
    struct vs_allocation allocation;
    enum vs_err err = vs_allocator_malloc(allocator, bytes, 0, &allocation);
    if (err == VS_ERR_DEVICE_OOM && vs_context_make_room(context->device))
        err = vs_allocator_malloc(allocator, bytes, 0, &allocation);
    if (err) /* let the driver say what is wrong; it may have room where a segment had none */
        return false;
    *ptr = allocation.addr;
    *result = CUDA_SUCCESS;
    vs_device_sample(context, call.time_ns);
    return true;
}

/* A block freed where another context is current: that context's work may be what
 * used it (copies between devices), and the driver's cudaFree waits for it as well. */
static void await_current_context(const struct vs_context *owner, struct vs_allocator *allocator,
                                  CUdeviceptr ptr)
{
    struct vs_allocation found;
    bool live;
    if (vs_process_state() != VS_PROCESS_ACTIVE || atomic_load(&vs_capture_count) ||
        vs_context_handle() == owner->handle)
        return;
    if (vs_allocator_find(allocator, ptr, &found, &live) == VS_OK && live && found.addr == ptr)
        VS_REAL(cuCtxSynchronize); /* its error is the program's to find */
}

bool vs_caching_free(CUdeviceptr ptr, const char *api, CUresult *result)
{
    bool several = atomic_load_explicit(&vs_several_contexts, memory_order_relaxed);
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        struct vs_allocator *allocator = atomic_load_explicit(&c->allocator, memory_order_acquire);
        if (!allocator)
            continue;
        if (several)
            await_current_context(c, allocator, ptr);
        call.api = api;
        call.stack = 0;
        enum vs_err err = vs_allocator_free(allocator, ptr);
        if (err == VS_ERR_FOREIGN)
            continue;
        *result = err ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
        return true;
    }
    return false;
}

/* The memory is gone with its context: its blocks and segments end in the trace
 * as they did on the device. */
static void drop(void *arg, const struct vs_segment_info *segment,
                 const struct vs_block_info *block)
{
    const struct vs_context *context = arg;
    struct vs_allocator_event e;
    if (!block)
        return;
    if (block->state == VS_BLOCK_LIVE) {
        e = (struct vs_allocator_event){
            .addr = block->addr, .size = block->size, .requested = block->requested};
        on_free(context, &e);
    }
    if (block->addr + block->size == segment->addr + segment->size) {
        e = (struct vs_allocator_event){.addr = segment->addr, .size = segment->size};
        on_segment(context, &e, false);
    }
}

void vs_caching_context_gone(struct vs_context *context, const char *api)
{
    struct vs_allocator *allocator = atomic_exchange(&context->allocator, NULL);
    if (!allocator)
        return;
    call.api = api;
    vs_allocator_snapshot(allocator, drop, context);
    /* kept, empty: another thread may hold the pointer */
    vs_allocator_abandon(allocator);
}

bool vs_caching_find(CUdeviceptr ptr, struct vs_cached_block *block)
{
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        struct vs_allocator *allocator = atomic_load_explicit(&c->allocator, memory_order_acquire);
        struct vs_allocation found;
        bool live;
        if (!allocator || vs_allocator_find(allocator, ptr, &found, &live) != VS_OK)
            continue;
        *block = (struct vs_cached_block){.addr = found.addr,
                                          .requested = found.requested,
                                          .size = found.size,
                                          .segment = found.segment,
                                          .serial = (uint64_t)c->id << 44 | found.serial,
                                          .live = live,
                                          .context = c};
        return true;
    }
    return false;
}
