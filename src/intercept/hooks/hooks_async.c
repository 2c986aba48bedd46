/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: always from the driver's pools, recorded by family. An allocation made
 * inside a capture becomes a node of the graph: it gets memory when the graph is launched, and is
 * recorded then (hooks_graph.c). */
#include <stdatomic.h>

#include "intercept/cache/caching.h"
#include "intercept/hooks/hooks_graph.h"
#include "intercept/track/capture.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"
#include "intercept/track/tracker.h"

static bool capturing(CUstream stream, bool per_thread)
{
    return vs_capture_any() && vs_capture_active(stream, per_thread, false);
}

/* An allocation by one of the four functions. */
struct ordered_request {
    size_t bytes;
    CUmemoryPool pool;
    CUstream stream;
    bool from_pool, per_thread;
};

static CUresult driver_alloc(const struct ordered_request *q, CUdeviceptr *ptr)
{
    if (q->from_pool && q->per_thread)
        return VS_REAL(cuMemAllocFromPoolAsync_ptsz, ptr, q->bytes, q->pool, q->stream);
    if (q->from_pool)
        return VS_REAL(cuMemAllocFromPoolAsync, ptr, q->bytes, q->pool, q->stream);
    return q->per_thread ? VS_REAL(cuMemAllocAsync_ptsz, ptr, q->bytes, q->stream)
                         : VS_REAL(cuMemAllocAsync, ptr, q->bytes, q->stream);
}

static CUresult alloc_ordered(const struct ordered_request *q, CUdeviceptr *ptr)
{
    const char *api = vs_api(q->from_pool ? "cuMemAllocFromPoolAsync" : "cuMemAllocAsync");
    if (capturing(q->stream, q->per_thread)) { /* it becomes a node */
        CUresult r = driver_alloc(q, ptr);
        if (r == CUDA_SUCCESS)
            vs_graph_memory_seen();
        else
            vs_track_failed(vs_context_current(), q->bytes, VS_FAMILY_GRAPH, 0, api, r);
        return r;
    }
    struct vs_context *context = vs_context_current();
    uint32_t device = vs_limit_device(context);
    CUresult r = VS_LIMITED(device, q->bytes, driver_alloc(q, ptr));
    if (context && vs_room_made_on(device, r)) {
        r = VS_LIMITED(device, q->bytes, driver_alloc(q, ptr));
        vs_room_served(r, api);
    }
    uint64_t id = context ? vs_stream_id(context, q->stream, q->per_thread) : 0;
    if (r != CUDA_SUCCESS) {
        vs_track_failed(context, q->bytes, VS_FAMILY_ASYNC, id, api, r);
        return r;
    }
    struct vs_tracked live = vs_live_in(context, *ptr, q->bytes, q->bytes, VS_FAMILY_ASYNC);
    uint64_t now_ns = vs_track_alloc(&live, id, api);
    if (context)
        vs_device_sample(context, now_ns);
    return r;
}

CUresult vs_on_cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
    return alloc_ordered(&(struct ordered_request){bytes, NULL, stream, false, false}, ptr);
}

CUresult vs_on_cuMemAllocAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUstream stream)
{
    return alloc_ordered(&(struct ordered_request){bytes, NULL, stream, false, true}, ptr);
}

CUresult vs_on_cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool,
                                       CUstream stream)
{
    return alloc_ordered(&(struct ordered_request){bytes, pool, stream, true, false}, ptr);
}

CUresult vs_on_cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool,
                                            CUstream stream)
{
    return alloc_ordered(&(struct ordered_request){bytes, pool, stream, true, true}, ptr);
}

static CUresult driver_free(CUdeviceptr ptr, CUstream stream, bool per_thread)
{
    return per_thread ? VS_REAL(cuMemFreeAsync_ptsz, ptr, stream)
                      : VS_REAL(cuMemFreeAsync, ptr, stream);
}

static CUresult free_async(CUdeviceptr ptr, CUstream stream, bool per_thread, bool refused,
                           bool active)
{
    if (!refused && !active)
        return driver_free(ptr, stream, per_thread);
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (refused || capturing(stream, per_thread)) { /* refused, or a node: without our cache */
        if (!refused)
            r = driver_free(ptr, stream, per_thread);
        if (r == CUDA_SUCCESS) {
            vs_graph_memory_seen();
        } else if (active || vs_hook_active()) {
            VS_OWN_WORK();
            vs_track_free_failed(ptr, vs_api("cuMemFreeAsync"), r);
        }
        return r;
    }
    VS_OWN_WORK();
    const char *api = vs_api("cuMemFreeAsync");
    struct vs_context *context = vs_context_current();
    struct vs_tracked live;
    uint64_t id = context ? vs_stream_id(context, stream, per_thread) : 0;
    bool known = vs_track_leave(ptr, api, &live);
    /* memory of cudaMalloc may be freed this way too; the driver would free the whole segment */
    if (known || !vs_caching_free(ptr, api, &r)) {
        r = driver_free(ptr, stream, per_thread);
        if (known)
            vs_track_left(&live, id, api, r == CUDA_SUCCESS);
        if (known && r == CUDA_SUCCESS)
            vs_limit_gone(&live);
    }
    vs_track_free_failed(ptr, api, r);
    return r;
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
    bool refused = vs_caching_owns_ordered(ptr);
    return free_async(ptr, stream, false, refused, !refused && vs_hook_active());
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream)
{
    bool refused = vs_caching_owns_ordered(ptr);
    return free_async(ptr, stream, true, refused, !refused && vs_hook_active());
}
