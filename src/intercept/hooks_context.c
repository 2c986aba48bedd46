/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts come and go, the program synchronises, streams are captured. Creating
 * or retaining a context is what makes a process one that uses CUDA: recording
 * starts there, before the first kernel can run. Context-wide synchronisations of
 * the program's own make freed cached blocks reusable at no cost to it. */
#include <stdatomic.h>

#include "intercept/caching.h"
#include "intercept/collector.h"
#include "intercept/event_ops.h"
#include "intercept/hook.h"
#include "intercept/process.h"
#include "intercept/usage.h"
#include "intercept/vmm_ops.h"

static CUresult context_made(CUresult r, const CUcontext *ctx, const struct vs_usage_mark *mark)
{
    static _Atomic(CUcontext) first;
    CUcontext none = NULL;
    if (r == CUDA_SUCCESS && ctx && !atomic_compare_exchange_strong(&first, &none, *ctx) &&
        none != *ctx)
        atomic_store(&vs_several_contexts, true);
    if (r == CUDA_SUCCESS && ctx)
        vs_usage_context_made(mark, *ctx);
    return r;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
    struct vs_usage_mark mark;
    vs_hook_active();
    vs_usage_context_begins(&mark, device, true);
    return context_made(VS_REAL(cuDevicePrimaryCtxRetain, ctx, device), ctx, &mark);
}

CUresult cuCtxCreate_v2(CUcontext *ctx, unsigned flags, CUdevice device)
{
    struct vs_usage_mark mark;
    vs_hook_active();
    vs_usage_context_begins(&mark, device, false);
    return context_made(VS_REAL(cuCtxCreate_v2, ctx, flags, device), ctx, &mark);
}

CUresult cuCtxCreate_v3(CUcontext *ctx, CUexecAffinityParam *affinity, int count, unsigned flags,
                        CUdevice device)
{
    struct vs_usage_mark mark;
    vs_hook_active();
    vs_usage_context_begins(&mark, device, false);
    return context_made(VS_REAL(cuCtxCreate_v3, ctx, affinity, count, flags, device), ctx, &mark);
}

CUresult cuCtxCreate_v4(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice device)
{
    struct vs_usage_mark mark;
    vs_hook_active();
    vs_usage_context_begins(&mark, device, false);
    return context_made(VS_REAL(cuCtxCreate_v4, ctx, params, flags, device), ctx, &mark);
}

static struct vs_context *primary_of(CUdevice device)
{
    for (struct vs_context *c = vs_context_next(NULL); c; c = vs_context_next(c)) {
        if (c->primary && c->device == (uint32_t)device && atomic_load(&c->alive))
            return c;
    }
    return NULL;
}

static bool primary_active(CUdevice device)
{
    CUresult (*state)(CUdevice, unsigned *, int *);
    unsigned flags;
    int active = 1;
    *(void **)&state = vs_driver_symbol("cuDevicePrimaryCtxGetState");
    return !state || state(device, &flags, &active) != CUDA_SUCCESS || active;
}

/* During exit the runtime's own teardown lets contexts go; what the program left
 * allocated then counts as live at the end, not as freed. */
static bool watching(void)
{
    return !vs_thread.inside && vs_process_state() == VS_PROCESS_ACTIVE;
}

/* Cached memory nobody holds is given back first, so that whoever looks at what a
 * context leaves behind (the simulator's checker, compute-sanitizer) sees what the
 * program left and not what we kept. While something is captured that must wait. */
static void before_teardown(struct vs_context *context)
{
    uint64_t released;
    vs_thread.inside++;
    vs_collector_flush(false);
    for (int i = 0; context && i < VS_CONTEXT_ALLOCATORS; i++) {
        struct vs_allocator *allocator = vs_context_allocator_at(context, i);
        if (allocator && !atomic_load(&vs_capture_count) &&
            vs_allocator_empty_cache(allocator, &released) != VS_OK)
            released = 0; /* then the end of the context takes it */
    }
    vs_thread.inside--;
}

static void after_teardown(struct vs_context *context, const char *api)
{
    vs_thread.inside++;
    vs_context_gone(context, api);
    vs_thread.inside--;
}

static void after_primary(CUdevice device, const char *api)
{
    struct vs_context *context = primary_of(device);
    if (context && !primary_active(device))
        after_teardown(context, api);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    bool watch = watching();
    CUresult r = VS_REAL(cuDevicePrimaryCtxRelease, device);
    if (watch && r == CUDA_SUCCESS)
        after_primary(device, "cuDevicePrimaryCtxRelease");
    return r;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    bool watch = watching();
    CUresult r = VS_REAL(cuDevicePrimaryCtxRelease_v2, device);
    if (watch && r == CUDA_SUCCESS)
        after_primary(device, "cuDevicePrimaryCtxRelease");
    return r;
}

static void after_reset(CUdevice device)
{
    struct vs_context *context = primary_of(device);
    if (context)
        after_teardown(context, "cuDevicePrimaryCtxReset");
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    bool watch = watching();
    if (watch)
        before_teardown(primary_of(device));
    CUresult r = VS_REAL(cuDevicePrimaryCtxReset, device);
    if (watch && r == CUDA_SUCCESS)
        after_reset(device);
    return r;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    bool watch = watching();
    if (watch)
        before_teardown(primary_of(device));
    CUresult r = VS_REAL(cuDevicePrimaryCtxReset_v2, device);
    if (watch && r == CUDA_SUCCESS)
        after_reset(device);
    return r;
}

CUresult cuCtxDestroy_v2(CUcontext ctx)
{
    bool watch = watching();
    struct vs_context *context = watch ? vs_context_find(ctx) : NULL;
    if (watch)
        before_teardown(context);
    CUresult r = VS_REAL(cuCtxDestroy_v2, ctx);
    if (context && r == CUDA_SUCCESS)
        after_teardown(context, "cuCtxDestroy");
    return r;
}

CUresult cuCtxSynchronize(void)
{
    struct vs_allocator *allocator = NULL;
    uint64_t ticket = 0;
    /* with peer access one device's synchronisation does not cover a free */
    if (watching() && vs_process_caching() && !atomic_load(&vs_peer_access)) {
        vs_thread.inside++;
        struct vs_context *context = vs_context_current();
        if (context)
            allocator = atomic_load_explicit(&context->allocator, memory_order_acquire);
        if (allocator)
            ticket = vs_allocator_sync_begin(allocator);
        vs_thread.inside--;
    }
    CUresult r = VS_REAL(cuCtxSynchronize);
    if (allocator && r == CUDA_SUCCESS)
        vs_allocator_sync_end(allocator, ticket);
    return r;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    CUresult r = VS_REAL(cuCtxEnablePeerAccess, peer, flags);
    /* already: before we were there */
    bool enabled = r == CUDA_SUCCESS || r == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    if (enabled && vs_hook_active()) {
        vs_thread.inside++;
        const struct vs_context *own = vs_context_current(); /* to be waited for, it must be known */
        atomic_store(&vs_peer_access, true);
        uint32_t owner;
        if (own && vs_context_device(peer, &owner))
            vs_vmm_peer_enabled(owner, own->device);
        vs_thread.inside--;
    }
    return r;
}

/* Streams that captures began on: one that is destroyed takes its capture with it, and
 * no end of that is ever seen. Beyond so many at a time it stays counted. */
#define ORIGINS_MAX 64
static _Atomic(CUstream) origins[ORIGINS_MAX]; /* atomic; NULL: free */

static bool origins_replace(CUstream from, CUstream to)
{
    for (int i = 0; i < ORIGINS_MAX; i++) {
        CUstream expected = from;
        if (atomic_compare_exchange_strong(&origins[i], &expected, to))
            return true;
    }
    return false;
}

static void capture_is_over(void)
{
    if (atomic_load(&vs_capture_count) > 0)
        atomic_fetch_sub(&vs_capture_count, 1);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    if (watching() && vs_process_serving()) {
        vs_thread.inside++;
        vs_stream_ends(stream);
        vs_thread.inside--;
    }
    /* before: afterwards another stream may have this handle */
    bool captured = stream && origins_replace(stream, NULL);
    CUresult r = VS_REAL(cuStreamDestroy_v2, stream);
    if (captured && r == CUDA_SUCCESS)
        capture_is_over();
    else if (captured)
        origins_replace(NULL, stream);
    return r;
}

/* Counted before it begins: from its first instant on no other thread may make a
 * synchronisation of ours, which would invalidate it. */
static void capture_begins(void)
{
    atomic_fetch_add(&vs_capture_count, 1);
}

static CUresult capture_began(CUstream stream, CUresult r)
{
    if (r != CUDA_SUCCESS)
        atomic_fetch_sub(&vs_capture_count, 1);
    else if (stream)
        origins_replace(NULL, stream);
    return r;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    capture_begins();
    return capture_began(stream, VS_REAL(cuStreamBeginCapture_v2, stream, mode));
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
    capture_begins();
    return capture_began(stream, VS_REAL(cuStreamBeginCapture_v2_ptsz, stream, mode));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                                     const CUgraphEdgeData *edges, size_t count,
                                     CUstreamCaptureMode mode)
{
    capture_begins();
    return capture_began(
        stream, VS_REAL(cuStreamBeginCaptureToGraph, stream, graph, nodes, edges, count, mode));
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                                          const CUgraphEdgeData *edges, size_t count,
                                          CUstreamCaptureMode mode)
{
    capture_begins();
    return capture_began(stream, VS_REAL(cuStreamBeginCaptureToGraph_ptsz, stream, graph, nodes,
                                         edges, count, mode));
}

/* An invalidated capture ends with an error, but ends. Only a call that was no
 * end of a capture at all leaves the count. */
static CUresult capture_ended(CUstream stream, CUresult r)
{
    bool was_none = r == CUDA_ERROR_ILLEGAL_STATE || r == CUDA_ERROR_INVALID_VALUE ||
                    r == CUDA_ERROR_INVALID_HANDLE || r == CUDA_ERROR_NOT_INITIALIZED ||
                    r == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD ||
                    r == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED || r == CUDA_ERROR_NOT_FOUND ||
                    r == CUDA_ERROR_NOT_SUPPORTED;
    if (was_none)
        return r;
    if (stream)
        origins_replace(stream, NULL);
    capture_is_over();
    return r;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    return capture_ended(stream, VS_REAL(cuStreamEndCapture, stream, graph));
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    return capture_ended(stream, VS_REAL(cuStreamEndCapture_ptsz, stream, graph));
}
