/* SPDX-License-Identifier: Apache-2.0
 *
 * Creation and destruction of contexts, and synchronisation. Creating or retaining a context means
 * that the process uses CUDA: recording starts there, before the first kernel can run. Context-wide
 * synchronisations by the program make freed cached blocks reusable at no cost. */
#include <stdatomic.h>

#include "intercept/cache/caching.h"
#include "intercept/track/capture.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/room.h"
#include "intercept/cupti/collector.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/tracker.h"
#include "intercept/track/usage.h"
#include "intercept/track/wait.h"

static CUresult context_made(CUresult r, const CUcontext *ctx, const struct vs_usage_mark *mark,
                             CUdevice device, const char *api)
{
    static _Atomic(CUcontext) first;
    CUcontext none = NULL;
    vs_track_overhead_failed(r, VS_OVERHEAD_CONTEXT, device, api);
    if (r != CUDA_SUCCESS || !ctx)
        return r;
    if (!atomic_compare_exchange_strong(&first, &none, *ctx) && none != *ctx)
        atomic_store(&vs_several_contexts, true);
    vs_usage_context_made(mark, *ctx);
    return r;
}

#define VS_CONTEXT_HOOK(name, params, args, api, per_thread, primary) \
    CUresult name params                                           \
    {                                                              \
        struct vs_usage_mark mark;                                 \
        vs_hook_active();                                          \
        vs_usage_context_begins(&mark, dev, primary);              \
        CUresult r = VS_REAL_OF(name, args);                       \
        if (vs_room_made_unseen(dev, r))                           \
            r = VS_REAL_OF(name, args);                            \
        return context_made(r, pctx, &mark, dev, api);             \
    }
#include "generated/hook_table.h"

static struct vs_context *primary_of(CUdevice device)
{
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        if (c->primary && c->device == (uint32_t)device && atomic_load(&c->alive))
            return c;
    }
    return NULL;
}

/* During exit the runtime's own teardown releases contexts; memory that the program still has
 * allocated then counts as live at the end, not as freed. */
static bool watching(void)
{
    return !vs_thread.inside && vs_process_state() == VS_PROCESS_ACTIVE;
}

/* Releases unused cached memory first, so that a tool that checks for leaks at context destruction
 * (the simulator's checker, compute-sanitizer) sees the program's leaks and not our cache. During a
 * capture this must wait. */
static void before_teardown(struct vs_context *context)
{
    uint64_t released;
    VS_OWN_WORK();
    vs_collector_flush(false);
    for (int i = 0; context && i < VS_CONTEXT_ALLOCATORS; i++) {
        struct vs_allocator *allocator = vs_context_allocator_at(context, i);
        if (allocator && !vs_capture_any() &&
            vs_allocator_empty_cache(allocator, &released) != VS_OK)
            released = 0; /* destroying the context releases it */
    }
}

static void after_teardown(struct vs_context *context, const char *api)
{
    VS_OWN_WORK();
    vs_capture_context_gone(context->handle);
    vs_context_gone(context, api);
}

static CUresult released(CUresult r, bool watch, CUdevice device)
{
    struct vs_context *context = watch && r == CUDA_SUCCESS ? primary_of(device) : NULL;
    if (context && !vs_primary_active(device))
        after_teardown(context, "cuDevicePrimaryCtxRelease");
    return r;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    bool watch = watching();
    return released(VS_REAL(cuDevicePrimaryCtxRelease, device), watch, device);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    bool watch = watching();
    return released(VS_REAL(cuDevicePrimaryCtxRelease_v2, device), watch, device);
}

static CUresult reset(CUdevice device, bool v2)
{
    bool watch = watching();
    if (watch)
        before_teardown(primary_of(device));
    CUresult r = v2 ? VS_REAL(cuDevicePrimaryCtxReset_v2, device)
                    : VS_REAL(cuDevicePrimaryCtxReset, device);
    struct vs_context *context = watch && r == CUDA_SUCCESS ? primary_of(device) : NULL;
    if (context)
        after_teardown(context, "cuDevicePrimaryCtxReset");
    return r;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return reset(device, false);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    return reset(device, true);
}

/* Around the destruction of a context by the program: its remaining memory is released and removed
 * from the tables. */
static struct vs_context *destroying(CUcontext ctx)
{
    if (!watching())
        return NULL;
    struct vs_context *context = vs_context_find(ctx);
    before_teardown(context);
    return context;
}

static CUresult destroyed(CUresult r, CUcontext ctx, struct vs_context *context)
{
    if (r != CUDA_SUCCESS)
        return r;
    vs_capture_context_gone(ctx);
    if (context)
        after_teardown(context, "cuCtxDestroy");
    return r;
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    struct vs_context *context = destroying(ctx);
    return destroyed(VS_REAL(cuCtxDestroy, ctx), ctx, context);
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    struct vs_context *context = destroying(ctx);
    return destroyed(VS_REAL(cuCtxDestroy_v2, ctx), ctx, context);
}

/* The last call of as many as cuCtxAttach destroys it. */
CUresult cuCtxDetach(CUcontext ctx)
{
    struct vs_context *context = watching() ? vs_context_find(ctx) : NULL;
    unsigned version;
    CUresult r = VS_REAL(cuCtxDetach, ctx);
    CUresult still = r == CUDA_SUCCESS ? VS_CALL(cuCtxGetApiVersion, ctx, &version) : r;
    if (r != CUDA_SUCCESS || still == CUDA_SUCCESS || still == CUDA_ERROR_NOT_FOUND)
        return r;
    vs_capture_context_gone(ctx);
    if (context)
        after_teardown(context, "cuCtxDetach");
    return r;
}

CUresult cuCtxSynchronize(void)
{
    struct vs_allocator *allocator = NULL;
    uint64_t ticket = 0;
    /* with peer access, a synchronisation of one device does not cover a free */
    if (watching() && vs_process_caching() && !atomic_load(&vs_peer_access)) {
        VS_OWN_WORK();
        struct vs_context *context = vs_context_current();
        if (context)
            allocator = atomic_load_explicit(&context->allocator, memory_order_acquire);
        if (allocator)
            ticket = vs_allocator_sync_begin(allocator);
    }
    uint64_t began_ns = vs_wait_begins(__builtin_return_address(0));
    CUresult r = VS_REAL(cuCtxSynchronize);
    if (r == CUDA_SUCCESS)
        vs_wait_ended(began_ns, VS_WAIT_CONTEXT, "cuCtxSynchronize", NULL, NULL, false);
    if (allocator && r == CUDA_SUCCESS)
        vs_allocator_sync_end(allocator, ticket);
    return r;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUresult r = VS_REAL(cuCtxEnablePeerAccess, peer, flags);
    /* already: before we were loaded */
    bool enabled = r == CUDA_SUCCESS || r == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    if (enabled && vs_hook_active()) {
        VS_OWN_WORK();
        /* it must be known before it can be waited for */
        const struct vs_context *own = vs_context_current();
        atomic_store(&vs_peer_access, true);
        uint32_t owner;
        if (own && vs_context_device(peer, &owner))
            vs_vmm_peer_enabled(owner, own->device);
    }
    return r;
}
