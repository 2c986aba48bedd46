/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: always from the driver's pools, recorded by family. An allocation made
 * inside a capture becomes a node of the graph: it gets memory when the graph is launched, and is
 * recorded then (graph_memory.h). */
#include <stdatomic.h>

#include "intercept/cache/caching.h"
#include "intercept/track/capture.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/graph_memory.h"
#include "intercept/track/limit.h"
#include "intercept/track/tracker.h"

static bool capturing(CUstream stream, bool per_thread)
{
    if (!vs_capture_any())
        return false;
    if (!stream && per_thread) /* the query has a per-thread form as well */
        stream = CU_STREAM_PER_THREAD;
    CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus *);
    *(void **)&is_capturing = vs_driver_symbol("cuStreamIsCapturing");
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return is_capturing && is_capturing(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static void after_alloc(CUresult r, const CUdeviceptr *ptr, size_t bytes, CUstream stream,
                        bool per_thread, struct vs_context *context, const char *api)
{
    uint64_t id = context ? vs_stream_id(context, stream, per_thread) : 0;
    if (r != CUDA_SUCCESS) {
        vs_track_failed(context, bytes, VS_FAMILY_ASYNC, id, api, r);
        return;
    }
    struct vs_tracked live = {.addr = *ptr,
                           .requested = bytes,
                           .size = bytes,
                           .device = context ? context->device : 0,
                           .context = context ? context->id : 0,
                           .family = VS_FAMILY_ASYNC};
    uint64_t now_ns = vs_track_alloc(&live, id, api);
    if (context)
        vs_device_sample(context, now_ns);
}

/* Work of a capture: an allocation is a node from now on. */
static CUresult node_allocated(CUresult r, size_t bytes, const char *api)
{
    if (r == CUDA_SUCCESS) {
        vs_graph_memory_seen();
        return r;
    }
    vs_thread.inside++;
    vs_track_failed(vs_context_current(), bytes, VS_FAMILY_GRAPH, 0, vs_api(api), r);
    vs_thread.inside--;
    return r;
}

/* The four allocating functions differ in the real function and its arguments. */
#define ALLOC_BODY(per_thread, driver_name, call)                                         \
    if (!vs_hook_active())                                                                \
        return call;                                                                      \
    if (capturing(stream, per_thread))                                                    \
        return node_allocated(call, bytes, driver_name);                                  \
    vs_thread.inside++;                                                                   \
    const char *api = vs_api(driver_name);                                                \
    struct vs_context *context = vs_context_current();                                    \
    uint32_t device = vs_limit_device(context);                                           \
    CUresult r = VS_LIMITED(device, bytes, call);                                         \
    if (context && vs_room_made_on(device, r)) {                                          \
        r = VS_LIMITED(device, bytes, call);                                              \
        vs_room_served(r, api);                                                           \
    }                                                                                     \
    after_alloc(r, ptr, bytes, stream, per_thread, context, api);                         \
    vs_thread.inside--;                                                                   \
    return r;

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
    ALLOC_BODY(false, "cuMemAllocAsync", VS_REAL(cuMemAllocAsync, ptr, bytes, stream))
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
    ALLOC_BODY(true, "cuMemAllocAsync", VS_REAL(cuMemAllocAsync_ptsz, ptr, bytes, stream))
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    ALLOC_BODY(false, "cuMemAllocFromPoolAsync",
               VS_REAL(cuMemAllocFromPoolAsync, ptr, bytes, pool, stream))
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool,
                                      CUstream stream)
{
    ALLOC_BODY(true, "cuMemAllocFromPoolAsync",
               VS_REAL(cuMemAllocFromPoolAsync_ptsz, ptr, bytes, pool, stream))
}

static CUresult free_async(CUdeviceptr ptr, CUstream stream, bool per_thread)
{
    vs_thread.inside++;
    const char *api = vs_api("cuMemFreeAsync");
    struct vs_context *context = vs_context_current();
    struct vs_tracked live;
    uint64_t id = context ? vs_stream_id(context, stream, per_thread) : 0;
    bool known = vs_track_leave(ptr, api, &live);
    CUresult r;
    /* memory of cudaMalloc may be freed this way too; the driver would free the whole segment */
    if (known || !vs_caching_free(ptr, api, &r)) {
        r = per_thread ? VS_REAL(cuMemFreeAsync_ptsz, ptr, stream)
                       : VS_REAL(cuMemFreeAsync, ptr, stream);
        if (known)
            vs_track_left(&live, id, api, r == CUDA_SUCCESS);
        if (known && r == CUDA_SUCCESS)
            vs_limit_gone(&live);
    }
    vs_track_free_failed(ptr, api, r);
    vs_thread.inside--;
    return r;
}

/* Without our cache: a node of a capture, or refused. */
static CUresult freed(CUdeviceptr ptr, CUresult r)
{
    if (r == CUDA_SUCCESS) {
        vs_graph_memory_seen();
    } else if (vs_hook_active()) {
        vs_thread.inside++;
        vs_track_free_failed(ptr, vs_api("cuMemFreeAsync"), r);
        vs_thread.inside--;
    }
    return r;
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
    if (vs_caching_owns_ordered(ptr))
        return freed(ptr, CUDA_ERROR_INVALID_VALUE);
    if (!vs_hook_active())
        return VS_REAL(cuMemFreeAsync, ptr, stream);
    if (capturing(stream, false))
        return freed(ptr, VS_REAL(cuMemFreeAsync, ptr, stream));
    return free_async(ptr, stream, false);
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream)
{
    if (vs_caching_owns_ordered(ptr))
        return freed(ptr, CUDA_ERROR_INVALID_VALUE);
    if (!vs_hook_active())
        return VS_REAL(cuMemFreeAsync_ptsz, ptr, stream);
    if (capturing(stream, true))
        return freed(ptr, VS_REAL(cuMemFreeAsync_ptsz, ptr, stream));
    return free_async(ptr, stream, true);
}
