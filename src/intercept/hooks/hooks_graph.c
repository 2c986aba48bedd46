/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of CUDA graphs. An allocation node has an address from its creation, but memory only from
 * a launch until something frees it: a free node, a free outside the graph, or the next launch of a
 * graph that frees automatically. So an executable graph is examined once, when it is instantiated,
 * and each launch records the allocations and frees of its nodes in the program's order. The memory
 * that the device holds for graphs comes from the driver (cuDeviceGetGraphMemAttribute): it shares
 * pages between allocations and keeps them until they are trimmed.
 *
 * A graph needs device memory for itself and for its nodes: if the driver has none left the cache
 * releases some, as for every other family. Programs without memory nodes pay one load at each of
 * these calls.
 *
 * A plan, the allocations and frees of an executable graph, is a chain of small entries that are
 * reused; a graph without memory nodes has none. Plans are walked with the lock held, so that none
 * disappears meanwhile; driver calls that walk a graph are made without it. */
#include "intercept/hooks/hooks_graph.h"

#include <stdatomic.h>

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_map.h"
#include "intercept/cache/device_ops.h"
#include "intercept/cache/room.h"
#include "intercept/cupti/call_site.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/capture.h"
#include "intercept/track/limit.h"
#include "intercept/track/track_change.h"
#include "intercept/track/tracker.h"

struct step {
    struct step *next;
    uint64_t addr, bytes; /* bytes 0: a free */
    uint32_t device;
};

struct chain {
    struct step *first, **last;
    struct vs_map allocated, early; /* addresses; frees seen before their allocation: their steps */
};

static _Atomic bool graph_memory; /* the program has created a memory node; never reset */
static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_GRAPH, "graphs");
static struct vs_items steps;      /* guarded by lock */
static struct vs_map plans;        /* guarded by lock: executable graph -> first step */
static uint64_t devices;           /* guarded by lock: a bit for each device with graph memory */

void vs_graph_memory_seen(void)
{
    if (!atomic_load_explicit(&graph_memory, memory_order_relaxed))
        atomic_store_explicit(&graph_memory, true, memory_order_relaxed);
}

/* --- plans --- */

static struct step *chain_add(struct chain *chain, uint64_t addr, uint64_t bytes, uint32_t device)
{
    vs_lock_acquire(&lock);
    struct step *step = vs_items_take(&steps, sizeof *step);
    vs_lock_release(&lock);
    if (!step) {
        vs_log_once(VS_LOG_WARN, "out of host memory for CUDA graphs: their memory is missing from the trace");
        return NULL;
    }
    *step = (struct step){.addr = addr, .bytes = bytes, .device = device};
    *chain->last = step;
    chain->last = &step->next;
    return step;
}

/* Without host memory for a map, the driver's order is assumed to be right. */
static void chain_free(struct chain *chain, uint64_t addr)
{
    struct step *step = chain_add(chain, addr, 0, 0);
    if (!step || vs_map_get(&chain->allocated, addr))
        return;
    enum vs_err err = vs_map_put_pointer(&chain->early, addr, step);
    (void)err;
}

/* A free of the same address cannot precede the allocation: move it behind. */
static void chain_alloc(struct chain *chain, uint64_t addr, uint64_t bytes, uint32_t device)
{
    chain_add(chain, addr, bytes, device);
    struct step *moved = vs_map_pointer(&chain->early, addr);
    if (moved) {
        moved->addr = 0;
        vs_map_remove(&chain->early, addr, NULL);
    }
    if (vs_map_put(&chain->allocated, addr, 1) == VS_OK && moved)
        chain_free(chain, addr);
}

static void chain_drop_locked(struct step *first)
{
    for (struct step *step = first, *next; step; step = next) {
        next = step->next;
        vs_items_give(&steps, step);
    }
}

static void add_alloc(CUgraphNode node, const struct vs_context *context, struct chain *chain)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    if (VS_CALL(cuGraphMemAllocNodeGetParams, node, &params) != CUDA_SUCCESS || !params.dptr || !params.bytesize)
        return;
    uint32_t device = context ? context->device : 0;
    if (params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        params.poolProps.location.id >= 0 && params.poolProps.location.id < VS_DEVICES_MAX)
        device = (uint32_t)params.poolProps.location.id;
    chain_alloc(chain, params.dptr, params.bytesize, device);
}

#define DEPTH_MAX 32 /* nesting depth of graphs */

/* In the order of the driver's list: the undocumented order of creation. */
static void add_graph(CUgraph graph, const struct vs_context *context, struct chain *chain,
                      int depth)
{
    size_t count = 0;
    if (VS_CALL(cuGraphGetNodes, graph, NULL, &count) != CUDA_SUCCESS || !count || depth > DEPTH_MAX)
        return;
    size_t bytes = count * sizeof(CUgraphNode);
    CUgraphNode *nodes = vs_pages_map(bytes);
    if (!nodes || VS_CALL(cuGraphGetNodes, graph, nodes, &count) != CUDA_SUCCESS)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        CUdeviceptr ptr;
        CUgraph child;
        if (VS_CALL(cuGraphNodeGetType, nodes[i], &type) != CUDA_SUCCESS)
            continue;
        if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            add_alloc(nodes[i], context, chain);
        else if (type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
                 VS_CALL(cuGraphMemFreeNodeGetParams, nodes[i], &ptr) == CUDA_SUCCESS)
            chain_free(chain, ptr);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
                 VS_CALL(cuGraphChildGraphNodeGetGraph, nodes[i], &child) == CUDA_SUCCESS)
            add_graph(child, context, chain, depth + 1);
    }
    vs_pages_unmap(nodes, bytes);
}

static bool plan_replace_locked(CUgraphExec exec, struct step *first)
{
    uint64_t key = (uint64_t)(uintptr_t)exec;
    chain_drop_locked(vs_map_pointer(&plans, key));
    vs_map_remove(&plans, key, NULL);
    return !first || vs_map_put_pointer(&plans, key, first) == VS_OK;
}

/* *exec* was instantiated or updated from *graph*. Costs some driver calls for each of its nodes. */
static void plan_make(CUgraphExec exec, CUgraph graph, const struct vs_context *context)
{
    static const enum vs_driver_function all[] = {
        VS_FN_cuGraphGetNodes,             VS_FN_cuGraphNodeGetType,
        VS_FN_cuGraphMemAllocNodeGetParams, VS_FN_cuGraphMemFreeNodeGetParams,
        VS_FN_cuGraphChildGraphNodeGetGraph, VS_FN_cuDeviceGetGraphMemAttribute};
    struct chain chain = {.first = NULL};
    chain.last = &chain.first;
    if (!vs_driver_has(all, sizeof all / sizeof *all))
        return;
    add_graph(graph, context, &chain, 0);
    vs_map_free(&chain.allocated);
    vs_map_free(&chain.early);
    VS_LOCK_SCOPE(&lock);
    for (const struct step *step = chain.first; step; step = step->next) {
        if (step->bytes)
            devices |= UINT64_C(1) << step->device;
    }
    if (!plan_replace_locked(exec, chain.first))
        chain_drop_locked(chain.first);
}

static const struct step *plan_locked(CUgraphExec exec)
{
    return vs_map_pointer(&plans, (uint64_t)(uintptr_t)exec);
}

/* --- memory held by the driver --- */

static uint64_t ask(uint32_t device, CUgraphMem_attribute which)
{
    cuuint64_t value = 0;
    CUresult r = VS_CALL(cuDeviceGetGraphMemAttribute, (CUdevice)device, which, &value);
    return r == CUDA_SUCCESS ? value : 0;
}

static void sample_locked(uint32_t device, bool always)
{
    uint64_t reserved = ask(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    uint64_t before = vs_track_sums(device)->graph_driver;
    if (reserved == before && !always)
        return;
    if (reserved > before)
        vs_limit_add(device, reserved - before);
    else
        vs_limit_give(device, before - reserved);
    struct vs_event event = {
        .kind = VS_EVENT_graph_memory,
        .graph_memory = {.device = device,
                         .used = ask(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
                         .used_high = ask(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH),
                         .reserved = reserved,
                         .reserved_high = ask(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)}};
    vs_track_change(vs_change_graphs(device, reserved), true, &event);
}

static void sample_all_locked(void)
{
    if (vs_process_state() != VS_PROCESS_ACTIVE)
        return;
    for (uint32_t device = 0; device < VS_DEVICES_MAX; device++) {
        if (devices >> device & 1)
            sample_locked(device, false);
    }
}

/* Records the driver's graph memory on each device that has had some, if it changed. */
static void sample(void)
{
    VS_LOCK_SCOPE(&lock);
    sample_all_locked();
}

/* --- limits --- */

/* Memory that is counted during a call. */
struct taken {
    uint32_t device;
    uint64_t bytes; /* 0: nothing */
};

/* Counts the memory that a launch or upload of *exec* may make the driver take from the device
 * beyond the memory it already holds for graphs, until the call is over. False when that exceeds the
 * device's limit (limit.h). For a graph that allocates on several devices, the first counts. */
static bool taken_begin(CUgraphExec exec, struct taken *taken)
{
    uint64_t bytes = 0, limit;
    *taken = (struct taken){.device = VS_DEVICES_MAX};
    vs_lock_acquire(&lock);
    for (const struct step *step = plan_locked(exec); step; step = step->next) {
        if (step->bytes && taken->device == VS_DEVICES_MAX)
            taken->device = step->device;
        if (step->device == taken->device)
            bytes += step->bytes;
    }
    vs_lock_release(&lock);
    if (!bytes || !vs_limit_of(taken->device, &limit))
        return true;
    uint64_t held_now = ask(taken->device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    uint64_t used_now = ask(taken->device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
    uint64_t spare_now = held_now > used_now ? held_now - used_now : 0;
    bytes = bytes > spare_now ? bytes - spare_now : 0;
    if (!vs_limit_take(taken->device, bytes, VS_LIMIT_NONE))
        return false;
    taken->bytes = bytes;
    return true;
}

static bool graphs_have_memory(void)
{
    return atomic_load_explicit(&graph_memory, memory_order_relaxed);
}

static void failed(CUresult r, uint64_t bytes, uint64_t stream, const char *api)
{
    vs_track_failed(vs_context_current(), bytes, VS_FAMILY_GRAPH, stream, api, r);
}

/* A node that was to allocate *bytes*. */
static void node_failed(CUresult r, uint64_t bytes, const char *driver_name)
{
    if (!vs_hook_active())
        return;
    VS_OWN_WORK();
    failed(r, bytes, 0, vs_api(driver_name));
}

/* --- nodes --- */

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult r = VS_REAL(cuGraphAddMemAllocNode, node, graph, dependencies, count, params);
    if (vs_room_made_unseen(-1, r))
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
    plan_make(*exec, graph, vs_context_current());
    sample();
    return r;
}

#define VS_INSTANTIATE_HOOK(name, params, args, ...) \
    CUresult name params                            \
    {                                               \
        CUresult r = VS_REAL_OF(name, args);        \
        if (vs_room_made_unseen(-1, r))             \
            r = VS_REAL_OF(name, args);             \
        return made(r, phGraphExec, hGraph);        \
    }
#include "generated/hook_table.h"

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
    if (follow) {
        VS_LOCK_SCOPE(&lock);
        plan_replace_locked(exec, NULL);
    }
    CUresult r = VS_REAL(cuGraphExecDestroy, exec);
    if (follow) {
        VS_OWN_WORK();
        sample();
    }
    return r;
}

/* --- launches --- */

/* *exec* was launched into *stream* (the trace's number), not captured. */
static void record_launch(CUgraphExec exec, const struct vs_context *context, uint64_t stream,
                          const char *api)
{
    VS_LOCK_SCOPE(&lock);
    const struct step *step = plan_locked(exec);
    if (step)
        sample_all_locked(); /* first, because the allocations lie in that memory */
    for (; step; step = step->next) {
        /* still live from the previous launch: the graph freed it automatically */
        vs_track_free(step->addr, stream, api, NULL);
        if (!step->bytes)
            continue;
        struct vs_tracked live = {.addr = step->addr,
                               .requested = step->bytes,
                               .size = step->bytes,
                               .device = step->device,
                               .context = context ? context->id : 0,
                               .family = VS_FAMILY_GRAPH};
        vs_track_alloc(&live, stream, api);
    }
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

/* A launch or an upload, in its plain or its per-thread form. */
struct graph_call {
    CUgraphExec exec;
    CUstream stream;
    bool upload, per_thread;
};

static CUresult call_driver(const struct graph_call *call)
{
    if (call->upload)
        return call->per_thread ? VS_REAL(cuGraphUpload_ptsz, call->exec, call->stream)
                                : VS_REAL(cuGraphUpload, call->exec, call->stream);
    return call->per_thread ? VS_REAL(cuGraphLaunch_ptsz, call->exec, call->stream)
                            : VS_REAL(cuGraphLaunch, call->exec, call->stream);
}

/* The driver's result, unless the graph would exceed the device's limit; tried once more if the
 * cache gave memory back. */
static CUresult make_call(const struct graph_call *call, bool follow)
{
    for (bool again = false;; again = true) {
        struct taken taken = {.bytes = 0};
        bool fits = true;
        if (follow) {
            VS_OWN_WORK();
            fits = taken_begin(call->exec, &taken);
        }
        CUresult r = fits ? call_driver(call) : CUDA_ERROR_OUT_OF_MEMORY;
        if (taken.bytes) {
            VS_OWN_WORK();
            sample(); /* from here on the driver's actual graph memory counts */
            vs_limit_give(taken.device, taken.bytes);
        }
        if (again || !vs_room_made_unseen(-1, r))
            return r;
    }
}

static CUresult launch(CUgraphExec exec, CUstream stream, bool per_thread, const void *caller)
{
    bool follow = counts(stream, per_thread);
    uint64_t began_ns = vs_call_begins(VS_CALL_WORK, caller);
    CUresult r = make_call(&(struct graph_call){exec, stream, false, per_thread}, follow);
    if (r == CUDA_SUCCESS)
        vs_call_ended(began_ns, "cuGraphLaunch");
    if (!follow)
        return r;
    VS_OWN_WORK();
    const char *api = vs_api("cuGraphLaunch");
    struct vs_context *context = vs_context_current();
    uint64_t id = context ? vs_stream_id(context, stream, per_thread) : 0;
    uint64_t bytes = 0;
    if (r == CUDA_SUCCESS) {
        record_launch(exec, context, id, api);
        return r;
    }
    vs_lock_acquire(&lock);
    for (const struct step *step = plan_locked(exec); step; step = step->next)
        bytes += step->bytes;
    vs_lock_release(&lock);
    if (bytes)
        failed(r, bytes, id, api);
    return r;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    return launch(exec, stream, false, __builtin_return_address(0));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    return launch(exec, stream, true, __builtin_return_address(0));
}

/* The device's graph memory may have changed. */
static CUresult held_changed(CUresult r)
{
    if (graphs_have_memory() && vs_hook_active()) {
        VS_OWN_WORK();
        sample();
    }
    return r;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    return held_changed(make_call(&(struct graph_call){exec, stream, true, false},
                                  counts(stream, false)));
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    return held_changed(make_call(&(struct graph_call){exec, stream, true, true},
                                  counts(stream, true)));
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
        VS_LOCK_SCOPE(&lock);
        if (device < VS_DEVICES_MAX && (devices >> device & 1) &&
            vs_process_state() == VS_PROCESS_ACTIVE)
            sample_locked((uint32_t)device, true);
    }
    return VS_REAL(cuDeviceSetGraphMemAttribute, device, which, value);
}
