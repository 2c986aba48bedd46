/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs that use memory: allocation nodes, executable graphs, launches. A graph needs device
 * memory for itself and for its nodes: if the driver has none left the cache releases some, as for
 * every other family. Programs without memory nodes pay one load at each of these calls. */
#include <stdatomic.h>

#include "intercept/track/capture.h"
#include "intercept/cache/event_ops.h"
#include "intercept/cache/room.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/graph_memory.h"
#include "intercept/track/tracker.h"

static bool graphs_have_memory(void)
{
    return atomic_load_explicit(&vs_graph_memory, memory_order_relaxed);
}

/* Out of memory, but the cache had some: the caller tries once more. */
static bool room_made(CUresult r)
{
    if (r != CUDA_ERROR_OUT_OF_MEMORY || !vs_hook_active())
        return false;
    VS_OWN_WORK();
    const struct vs_context *context = vs_context_current();
    return context && vs_room_make(context->device) > 0;
}

static void failed(CUresult r, uint64_t bytes, uint64_t stream, const char *api)
{
    vs_track_failed(vs_context_current(), bytes, VS_FAMILY_GRAPH, stream, api, r);
}

/* A node that was to allocate *bytes*. */
static CUresult node_failed(CUresult r, uint64_t bytes, const char *driver_name)
{
    if (!vs_hook_active())
        return r;
    VS_OWN_WORK();
    failed(r, bytes, 0, vs_api(driver_name));
    return r;
}

/* --- nodes --- */

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult r = VS_REAL(cuGraphAddMemAllocNode, node, graph, dependencies, count, params);
    if (room_made(r))
        r = VS_REAL(cuGraphAddMemAllocNode, node, graph, dependencies, count, params);
    if (r == CUDA_SUCCESS)
        vs_graph_memory_seen();
    else if (params)
        node_failed(r, params->bytesize, "cuGraphAddMemAllocNode");
    return r;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, CUdeviceptr ptr)
{
    CUresult r = VS_REAL(cuGraphAddMemFreeNode, node, graph, dependencies, count, ptr);
    if (r == CUDA_SUCCESS)
        vs_graph_memory_seen();
    return r;
}

static CUresult node_added(CUresult r, const CUgraphNodeParams *params)
{
    if (r == CUDA_SUCCESS && params &&
        (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
         params->type == CU_GRAPH_NODE_TYPE_MEM_FREE))
        vs_graph_memory_seen();
    if (r != CUDA_SUCCESS && params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        node_failed(r, params->alloc.bytesize, "cuGraphAddNode");
    return r;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, CUgraphNodeParams *params)
{
    return node_added(VS_REAL(cuGraphAddNode, node, graph, dependencies, count, params), params);
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *params)
{
    return node_added(VS_REAL(cuGraphAddNode_v2, node, graph, dependencies, edges, count, params),
                      params);
}

/* --- executable graphs --- */

static CUresult made(CUresult r, const CUgraphExec *exec, CUgraph graph)
{
    if (r != CUDA_SUCCESS || !exec || !graphs_have_memory() || !vs_hook_active())
        return r;
    VS_OWN_WORK();
    vs_graph_made(*exec, graph, vs_context_current());
    vs_graph_sample();
    return r;
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log,
                            size_t bytes)
{
    CUresult r = VS_REAL(cuGraphInstantiate, exec, graph, error, log, bytes);
    if (room_made(r))
        r = VS_REAL(cuGraphInstantiate, exec, graph, error, log, bytes);
    return made(r, exec, graph);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error, char *log,
                               size_t bytes)
{
    CUresult r = VS_REAL(cuGraphInstantiate_v2, exec, graph, error, log, bytes);
    if (room_made(r))
        r = VS_REAL(cuGraphInstantiate_v2, exec, graph, error, log, bytes);
    return made(r, exec, graph);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUresult r = VS_REAL(cuGraphInstantiateWithFlags, exec, graph, flags);
    if (room_made(r))
        r = VS_REAL(cuGraphInstantiateWithFlags, exec, graph, flags);
    return made(r, exec, graph);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    CUresult r = VS_REAL(cuGraphInstantiateWithParams, exec, graph, params);
    if (room_made(r))
        r = VS_REAL(cuGraphInstantiateWithParams, exec, graph, params);
    return made(r, exec, graph);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    CUresult r = VS_REAL(cuGraphInstantiateWithParams_ptsz, exec, graph, params);
    if (room_made(r))
        r = VS_REAL(cuGraphInstantiateWithParams_ptsz, exec, graph, params);
    return made(r, exec, graph);
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *node,
                           CUgraphExecUpdateResult *result)
{
    return made(VS_REAL(cuGraphExecUpdate, exec, graph, node, result), &exec, graph);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    return made(VS_REAL(cuGraphExecUpdate_v2, exec, graph, info), &exec, graph);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    bool follow = graphs_have_memory() && vs_hook_active();
    /* before the call: afterwards another graph may have this handle */
    if (follow)
        vs_graph_exec_gone(exec);
    CUresult r = VS_REAL(cuGraphExecDestroy, exec);
    if (follow) {
        VS_OWN_WORK();
        vs_graph_sample();
    }
    return r;
}

/* --- launches --- */

static void launched(CUresult r, CUgraphExec exec, CUstream stream, bool per_thread)
{
    VS_OWN_WORK();
    const char *api = vs_api("cuGraphLaunch");
    uint64_t bytes = vs_graph_requested(exec);
    struct vs_context *context = vs_context_current();
    uint64_t id = context ? vs_stream_id(context, stream, per_thread) : 0;
    if (r == CUDA_SUCCESS)
        vs_graph_launched(exec, context, id, api);
    else if (bytes)
        failed(r, bytes, id, api);
}

/* Does this launch allocate and free memory, rather than become a node of another graph? */
static bool counts(CUstream stream, bool per_thread)
{
    if (!graphs_have_memory() || !vs_hook_active())
        return false;
    if (!stream && per_thread)
        stream = CU_STREAM_PER_THREAD;
    return !vs_capture_any() || !vs_stream_capturing(stream);
}

/* The driver's result of *call*, unless *exec* would exceed the device's limit. */
#define WITHIN_LIMIT(r, follow, exec, call)                      \
    do {                                                         \
        struct vs_graph_taken taken_ = {.bytes = 0};             \
        bool fits_ = true;                                       \
        vs_thread.inside++;                                      \
        if (follow)                                              \
            fits_ = vs_graph_take(exec, &taken_);                \
        vs_thread.inside--;                                      \
        r = fits_ ? (call) : CUDA_ERROR_OUT_OF_MEMORY;           \
        vs_thread.inside++;                                      \
        vs_graph_give(&taken_);                                  \
        vs_thread.inside--;                                      \
    } while (0)

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    bool follow = counts(stream, false);
    CUresult r;
    WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphLaunch, exec, stream));
    if (room_made(r))
        WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphLaunch, exec, stream));
    if (follow)
        launched(r, exec, stream, false);
    return r;
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    bool follow = counts(stream, true);
    CUresult r;
    WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphLaunch_ptsz, exec, stream));
    if (room_made(r))
        WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphLaunch_ptsz, exec, stream));
    if (follow)
        launched(r, exec, stream, true);
    return r;
}

/* The device's graph memory may have changed. */
static CUresult held_changed(CUresult r)
{
    if (graphs_have_memory() && vs_hook_active()) {
        VS_OWN_WORK();
        vs_graph_sample();
    }
    return r;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    bool follow = counts(stream, false);
    CUresult r;
    WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphUpload, exec, stream));
    if (room_made(r))
        WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphUpload, exec, stream));
    return held_changed(r);
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    bool follow = counts(stream, true);
    CUresult r;
    WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphUpload_ptsz, exec, stream));
    if (room_made(r))
        WITHIN_LIMIT(r, follow, exec, VS_REAL(cuGraphUpload_ptsz, exec, stream));
    return held_changed(r);
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    return held_changed(VS_REAL(cuDeviceGraphMemTrim, device));
}

/* The program resets a high-water mark: its old value must not be lost. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute which, void *value)
{
    if (graphs_have_memory() && device >= 0 && vs_hook_active()) {
        VS_OWN_WORK();
        vs_graph_sample_marks((uint32_t)device);
    }
    return VS_REAL(cuDeviceSetGraphMemAttribute, device, which, value);
}
