/* SPDX-License-Identifier: Apache-2.0
 *
 * The addresses that each executable graph allocates and frees, and the memory that the driver
 * reports for graphs; see the header. A plan is a chain of small entries that are reused; a graph
 * without memory nodes has none. Plans are walked with the lock held, so that none disappears
 * meanwhile; driver calls that walk a graph are made without it. */
#include "intercept/track/graph_memory.h"

#include "base/vs_arena.h"
#include "base/vs_lock.h"
#include "base/vs_log.h"
#include "base/vs_map.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"
#include "intercept/track/limit.h"
#include "intercept/track/track_change.h"
#include "intercept/track/tracker.h"

struct graph_memory_step {
    struct graph_memory_step *next;
    uint64_t addr, bytes; /* bytes 0: a free */
    uint32_t device;
};

struct chain {
    struct graph_memory_step *first, **last;
    struct vs_map allocated, early; /* addresses; frees seen before their allocation: their steps */
};

struct graph_memory_driver {
    CUresult (*nodes)(CUgraph, CUgraphNode *, size_t *);
    CUresult (*type)(CUgraphNode, CUgraphNodeType *);
    CUresult (*alloc_params)(CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *);
    CUresult (*free_params)(CUgraphNode, CUdeviceptr *);
    CUresult (*child)(CUgraphNode, CUgraph *);
};

_Atomic bool vs_graph_memory;
static struct vs_lock lock = VS_LOCK_INIT(VS_RANK_GRAPH, "graphs");
static struct vs_arena arena;      /* guarded by lock */
static struct graph_memory_step *spare;         /* guarded by lock */
static struct vs_map plans;        /* guarded by lock: executable graph -> first step */
static uint64_t devices;           /* guarded by lock: a bit for each device with graph memory */

void vs_graph_memory_seen(void)
{
    if (!atomic_load_explicit(&vs_graph_memory, memory_order_relaxed))
        atomic_store_explicit(&vs_graph_memory, true, memory_order_relaxed);
}

static bool find_driver(struct graph_memory_driver *driver)
{
    *(void **)&driver->nodes = vs_driver_symbol("cuGraphGetNodes");
    *(void **)&driver->type = vs_driver_symbol("cuGraphNodeGetType");
    *(void **)&driver->alloc_params = vs_driver_symbol("cuGraphMemAllocNodeGetParams");
    *(void **)&driver->free_params = vs_driver_symbol("cuGraphMemFreeNodeGetParams");
    *(void **)&driver->child = vs_driver_symbol("cuGraphChildGraphNodeGetGraph");
    vs_driver_symbol("cuDeviceGetGraphMemAttribute"); /* look it up before the lock is held */
    return driver->nodes && driver->type && driver->alloc_params && driver->free_params &&
           driver->child;
}

/* --- plans --- */

static struct graph_memory_step *chain_add(struct chain *chain, uint64_t addr, uint64_t bytes, uint32_t device)
{
    vs_lock_acquire(&lock);
    struct graph_memory_step *step = spare;
    if (step)
        spare = step->next;
    else
        step = vs_arena_alloc(&arena, sizeof *step);
    vs_lock_release(&lock);
    if (!step) {
        vs_log_once(VS_LOG_WARN, "out of host memory for CUDA graphs: their memory is missing from the trace");
        return NULL;
    }
    *step = (struct graph_memory_step){.addr = addr, .bytes = bytes, .device = device};
    *chain->last = step;
    chain->last = &step->next;
    return step;
}

/* Without host memory for a map, the driver's order is assumed to be right. */
static void chain_free(struct chain *chain, uint64_t addr)
{
    struct graph_memory_step *step = chain_add(chain, addr, 0, 0);
    if (!step || vs_map_get(&chain->allocated, addr))
        return;
    enum vs_err err = vs_map_put(&chain->early, addr, (uint64_t)(uintptr_t)step);
    (void)err;
}

/* A free of the same address cannot precede the allocation: move it behind. */
static void chain_alloc(struct chain *chain, uint64_t addr, uint64_t bytes, uint32_t device)
{
    uint64_t value;
    chain_add(chain, addr, bytes, device);
    bool moved = vs_map_remove(&chain->early, addr, &value);
    if (moved)
        ((struct graph_memory_step *)(uintptr_t)value)->addr = 0;
    if (vs_map_put(&chain->allocated, addr, 1) == VS_OK && moved)
        chain_free(chain, addr);
}

static void chain_drop_locked(struct graph_memory_step *first)
{
    for (struct graph_memory_step *step = first, *next; step; step = next) {
        next = step->next;
        step->next = spare;
        spare = step;
    }
}

static void add_alloc(const struct graph_memory_driver *driver, CUgraphNode node,
                      const struct vs_context *context, struct chain *chain)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    if (driver->alloc_params(node, &params) != CUDA_SUCCESS || !params.dptr || !params.bytesize)
        return;
    uint32_t device = context ? context->device : 0;
    if (params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        params.poolProps.location.id >= 0 && params.poolProps.location.id < VS_DEVICES_MAX)
        device = (uint32_t)params.poolProps.location.id;
    chain_alloc(chain, params.dptr, params.bytesize, device);
}

#define DEPTH_MAX 32 /* nesting depth of graphs */

/* In the order of the driver's list: the undocumented order of creation. */
static void add_graph(const struct graph_memory_driver *driver, CUgraph graph, const struct vs_context *context,
                      struct chain *chain, int depth)
{
    size_t count = 0;
    if (driver->nodes(graph, NULL, &count) != CUDA_SUCCESS || !count || depth > DEPTH_MAX)
        return;
    size_t bytes = count * sizeof(CUgraphNode);
    CUgraphNode *nodes = vs_pages_map(bytes);
    if (!nodes || driver->nodes(graph, nodes, &count) != CUDA_SUCCESS)
        count = 0;
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        CUdeviceptr ptr;
        CUgraph child;
        if (driver->type(nodes[i], &type) != CUDA_SUCCESS)
            continue;
        if (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            add_alloc(driver, nodes[i], context, chain);
        else if (type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
                 driver->free_params(nodes[i], &ptr) == CUDA_SUCCESS)
            chain_free(chain, ptr);
        else if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
                 driver->child(nodes[i], &child) == CUDA_SUCCESS)
            add_graph(driver, child, context, chain, depth + 1);
    }
    vs_pages_unmap(nodes, bytes);
}

static bool plan_replace_locked(CUgraphExec exec, struct graph_memory_step *first)
{
    uint64_t key = (uint64_t)(uintptr_t)exec, old;
    if (vs_map_remove(&plans, key, &old))
        chain_drop_locked((struct graph_memory_step *)(uintptr_t)old);
    return !first || vs_map_put(&plans, key, (uint64_t)(uintptr_t)first) == VS_OK;
}

void vs_graph_made(CUgraphExec exec, CUgraph graph, const struct vs_context *context)
{
    struct graph_memory_driver driver;
    struct chain chain = {.first = NULL};
    chain.last = &chain.first;
    if (!find_driver(&driver))
        return;
    add_graph(&driver, graph, context, &chain, 0);
    vs_map_free(&chain.allocated);
    vs_map_free(&chain.early);
    VS_LOCK_SCOPE(&lock);
    for (const struct graph_memory_step *step = chain.first; step; step = step->next) {
        if (step->bytes)
            devices |= UINT64_C(1) << step->device;
    }
    if (!plan_replace_locked(exec, chain.first))
        chain_drop_locked(chain.first);
}

static const struct graph_memory_step *plan_locked(CUgraphExec exec)
{
    const uint64_t *value = vs_map_get(&plans, (uint64_t)(uintptr_t)exec);
    return value ? (const struct graph_memory_step *)(uintptr_t)*value : NULL;
}

uint64_t vs_graph_requested(CUgraphExec exec)
{
    uint64_t bytes = 0;
    VS_LOCK_SCOPE(&lock);
    for (const struct graph_memory_step *step = plan_locked(exec); step; step = step->next)
        bytes += step->bytes;
    return bytes;
}

void vs_graph_exec_gone(CUgraphExec exec)
{
    VS_LOCK_SCOPE(&lock);
    plan_replace_locked(exec, NULL);
}

/* --- memory held by the driver --- */

static uint64_t ask(uint32_t device, CUgraphMem_attribute which)
{
    cuuint64_t value = 0;
    CUresult (*get)(CUdevice, CUgraphMem_attribute, void *);
    *(void **)&get = vs_driver_symbol("cuDeviceGetGraphMemAttribute");
    return get && get((CUdevice)device, which, &value) == CUDA_SUCCESS ? value : 0;
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

void vs_graph_sample(void)
{
    VS_LOCK_SCOPE(&lock);
    sample_all_locked();
}

void vs_graph_sample_marks(uint32_t device)
{
    VS_LOCK_SCOPE(&lock);
    if (device < VS_DEVICES_MAX && (devices >> device & 1) &&
        vs_process_state() == VS_PROCESS_ACTIVE)
        sample_locked(device, true);
}

/* --- limits --- */

bool vs_graph_take(CUgraphExec exec, struct vs_graph_taken *taken)
{
    uint64_t bytes = 0, limit;
    *taken = (struct vs_graph_taken){.device = VS_DEVICES_MAX};
    vs_lock_acquire(&lock);
    for (const struct graph_memory_step *step = plan_locked(exec); step; step = step->next) {
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
    if (!vs_limit_take(taken->device, bytes))
        return false;
    taken->bytes = bytes;
    return true;
}

void vs_graph_give(const struct vs_graph_taken *taken)
{
    if (!taken->bytes)
        return;
    vs_graph_sample();
    vs_limit_give(taken->device, taken->bytes);
}

/* --- launches --- */

void vs_graph_launched(CUgraphExec exec, const struct vs_context *context, uint64_t stream,
                       const char *api)
{
    VS_LOCK_SCOPE(&lock);
    const struct graph_memory_step *step = plan_locked(exec);
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
