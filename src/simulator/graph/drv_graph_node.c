/* SPDX-License-Identifier: Apache-2.0
 *
 * The node types: adding a node, and its parameters. All functions use CUgraphNodeParams, which has
 * a member for each type. A kernel's arguments are copied according to its host function's
 * registration; without one only the shape is stored. Semaphores and conditional nodes are not
 * simulated. */
#include "simulator/graph/vs_sim_graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts ---- */

/* The context of *n*: the given one, else its present one, else the current one. */
static CUresult context_for(const struct vs_sim_node *n, CUcontext given,
                            struct vs_sim_context **ctx)
{
    *ctx = given ? vs_sim_context_of(given) : n->ctx ? n->ctx : vs_sim_context_current();
    if (!*ctx)
        return CUDA_ERROR_INVALID_CONTEXT;
    return atomic_load(&(*ctx)->alive) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* ---- setting ---- */

static CUresult op_replace(struct vs_sim_node *n, struct vs_sim_op *op)
{
    vs_sim_op_clean(&n->op);
    if (vs_sim_checking)
        op->check_made = vs_sim_check_stack();
    bool ok = vs_sim_op_copy(&n->op, op);
    vs_sim_op_clean(op);
    return ok ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult set_kernel(struct vs_sim_node *n, const CUDA_KERNEL_NODE_PARAMS_v3 *p)
{
    struct vs_sim_op op = {.kind = VS_SIM_OP_KERNEL, .deps = op.deps_inline};
    unsigned grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
    unsigned block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    struct vs_sim_context *ctx;
    struct vs_sim_function *f = vs_sim_function_of(p->func ? (void *)p->func : (void *)p->kern);
    if (!f)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = context_for(n, p->func ? NULL : p->ctx, &ctx);
    if (!e)
        e = vs_sim_launch_describe(&op.u.launch, f, grid, block, p->sharedMemBytes, p->kernelParams,
                                   p->extra);
    if (!e && n->op.kind == VS_SIM_OP_KERNEL) { /* attributes are not parameters */
        op.u.launch.attributes = n->op.u.launch.attributes;
        e = vs_sim_launch_fits(&op.u.launch);
    }
    if (e) {
        vs_sim_op_clean(&op);
        return e;
    }
    free(n->u.params);
    n->u.params = NULL;
    n->ctx = ctx;
    return op_replace(n, &op);
}

static CUresult set_copy(struct vs_sim_node *n, const CUDA_MEMCPY_NODE_PARAMS *p)
{
    struct vs_sim_op op = {.kind = VS_SIM_OP_COPY, .deps = op.deps_inline};
    struct vs_sim_context *ctx;
    if (p->flags || p->reserved)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = context_for(n, p->copyCtx, &ctx);
    if (!e)
        e = vs_sim_copy_describe(&p->copyParams, &op.u.copy);
    if (e)
        return e;
    n->u.copy = p->copyParams;
    n->ctx = ctx;
    return op_replace(n, &op);
}

static CUresult set_set(struct vs_sim_node *n, const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
    struct vs_sim_op op = {.kind = VS_SIM_OP_SET, .deps = op.deps_inline};
    struct vs_sim_context *ctx;
    CUDA_MEMSET_NODE_PARAMS params = {p->dst, p->pitch, p->value, p->elementSize, p->width,
                                      p->height};
    CUresult e = context_for(n, p->ctx, &ctx);
    if (!e)
        e = vs_sim_set_describe(&params, &op.u.set);
    if (e)
        return e;
    n->u.set = params;
    n->ctx = ctx;
    return op_replace(n, &op);
}

static CUresult set_host(struct vs_sim_node *n, const CUDA_HOST_NODE_PARAMS_v2 *p)
{
    if (!p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    n->op.kind = VS_SIM_OP_HOST;
    n->op.u.host.fn = p->fn;
    n->op.u.host.data = p->userData;
    return CUDA_SUCCESS;
}

static CUresult set_event(struct vs_sim_node *n, CUevent handle)
{
    struct vs_sim_event *event;
    if (vs_sim_event_of(handle, &event))
        return CUDA_ERROR_INVALID_VALUE;
    n->u.event = handle;
    n->ctx = vs_sim_event_context(event);
    return CUDA_SUCCESS;
}

static CUresult set_batch(struct vs_sim_node *n, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *p)
{
    struct vs_sim_op op = {.kind = VS_SIM_OP_VALUES, .deps = op.deps_inline};
    struct vs_sim_context *ctx;
    CUresult e = context_for(n, p->ctx, &ctx);
    if (!e)
        e = vs_sim_values_describe(p->paramArray, p->count, p->flags, &op.u.values);
    if (e)
        return e;
    free(n->u.batch);
    n->u.batch = NULL;
    n->ctx = ctx;
    return op_replace(n, &op);
}

CUresult vs_sim_node_set(struct vs_sim_node *n, const CUgraphNodeParams *p)
{
    if (p->type != n->type)
        return CUDA_ERROR_INVALID_VALUE;
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return set_kernel(n, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return set_copy(n, &p->memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return set_set(n, &p->memset);
    case CU_GRAPH_NODE_TYPE_HOST: return set_host(n, &p->host);
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return set_event(n, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return set_event(n, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return set_batch(n, &p->memOp);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- adding ---- */

static bool holds(const struct vs_sim_graph *outer, const struct vs_sim_graph *graph)
{
    for (; graph; graph = graph->parent ? graph->parent->graph : NULL)
        if (graph == outer)
            return true;
    return false;
}

static void add_memory(struct vs_sim_graph *g)
{
    for (; g; g = g->parent ? g->parent->graph : NULL)
        g->has_memory = true;
}

static CUresult add_child(struct vs_sim_graph *g, struct vs_sim_node *const *before, size_t count,
                          const CUDA_CHILD_GRAPH_NODE_PARAMS *p, struct vs_sim_node **node)
{
    struct vs_sim_graph *child = vs_sim_graph_of(p->graph);
    bool move = p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (!child || (!move && p->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) ||
        child->captures || holds(child, g) || (move && (child->parent || child->execs)))
        return CUDA_ERROR_INVALID_VALUE;
    if (child->has_memory && (!move || g->moved))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = vs_sim_node_new(g, CU_GRAPH_NODE_TYPE_GRAPH, before, count, node);
    if (e)
        return e;
    struct vs_sim_graph *own = move ? child : vs_sim_graph_clone(child, g->private_clone);
    if (!own) {
        vs_sim_node_free(*node);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    own->parent = *node;
    own->moved = move;
    (*node)->u.child = own;
    if (own->has_memory)
        add_memory(g);
    return CUDA_SUCCESS;
}

static CUresult alloc_check(const struct vs_sim_graph *g, const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p)
{
    if (!p->bytesize || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        (p->accessDescCount && !p->accessDescs) || p->accessDescCount > vs_sim_spec.devices)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || g->moved)
        return CUDA_ERROR_NOT_SUPPORTED;
    return vs_sim_device_find(p->poolProps.location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static bool access_copy(struct vs_sim_alloc_params *a)
{
    size_t bytes = a->params.accessDescCount * sizeof *a->access;
    if (!bytes)
        return true;
    a->access = malloc(bytes);
    if (a->access)
        memcpy(a->access, a->params.accessDescs, bytes);
    a->params.accessDescs = a->access;
    return a->access != NULL;
}

static CUresult add_alloc(struct vs_sim_graph *g, struct vs_sim_node *const *before, size_t count,
                          CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p, struct vs_sim_node **node)
{
    CUresult e = alloc_check(g, p);
    int device = p->poolProps.location.id;
    struct vs_sim_context *ctx = vs_sim_context_current();
    struct vs_sim_block *block;
    if (e)
        return e;
    if (!ctx || ctx->device->ordinal != device)
        ctx = vs_sim_devices[device].primary;
    e = vs_sim_block_new(ctx, device, p->bytesize, &block, &p->dptr);
    if (e)
        return e;
    e = vs_sim_node_new(g, CU_GRAPH_NODE_TYPE_MEM_ALLOC, before, count, node);
    if (e) {
        vs_sim_block_release(block);
        return e;
    }
    struct vs_sim_alloc_params *a = &(*node)->u.alloc;
    a->block = block;
    vs_sim_block_own(block, g);
    a->params = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = p->poolProps,
                                             .accessDescs = p->accessDescs,
                                             .accessDescCount = p->accessDescCount,
                                             .bytesize = p->bytesize,
                                             .dptr = p->dptr};
    if (access_copy(a)) {
        add_memory(g);
        return CUDA_SUCCESS;
    }
    a->params.accessDescCount = 0;
    vs_sim_node_free(*node);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult add_free(struct vs_sim_graph *g, struct vs_sim_node *const *before, size_t count,
                         CUdeviceptr address, struct vs_sim_node **node)
{
    if (g->moved)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult e = vs_sim_node_new(g, CU_GRAPH_NODE_TYPE_MEM_FREE, before, count, node);
    if (e)
        return e;
    if ((e = vs_sim_block_plan_free(address, g))) {
        vs_sim_node_free(*node);
        return e;
    }
    (*node)->u.freed = address;
    add_memory(g);
    return CUDA_SUCCESS;
}

CUresult vs_sim_node_add(struct vs_sim_graph *g, struct vs_sim_node *const *before, size_t count,
                         CUgraphNodeParams *p, struct vs_sim_node **node)
{
    CUresult e;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH: return add_child(g, before, count, &p->graph, node);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return add_alloc(g, before, count, &p->alloc, node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return add_free(g, before, count, p->free.dptr, node);
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_HOST:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: break;
    default:
        return (unsigned)p->type > CU_GRAPH_NODE_TYPE_CONDITIONAL ? CUDA_ERROR_INVALID_VALUE
                                                                  : CUDA_ERROR_NOT_SUPPORTED;
    }
    if ((e = vs_sim_node_new(g, p->type, before, count, node)))
        return e;
    if ((e = vs_sim_node_set(*node, p)))
        vs_sim_node_free(*node);
    return e;
}

/* ---- from captured work ---- */

static CUmemorytype type_of(const struct vs_sim_end *end)
{
    bool host = end->memory == VS_SIM_MEMORY_PAGEABLE || end->memory == VS_SIM_MEMORY_PINNED;
    return end->memory == VS_SIM_MEMORY_ARRAY ? CU_MEMORYTYPE_ARRAY
           : host                             ? CU_MEMORYTYPE_HOST
                                              : CU_MEMORYTYPE_DEVICE;
}

static void params_of_source(const struct vs_sim_copy *c, CUDA_MEMCPY3D *p)
{
    p->srcMemoryType = type_of(&c->from);
    if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY) {
        p->srcArray = c->from.array;
        p->srcXInBytes = c->from.at[0];
        p->srcY = c->from.at[1];
        p->srcZ = c->from.at[2];
        return;
    }
    p->srcHost = (const void *)c->from.base;
    p->srcDevice = c->from.base;
    p->srcPitch = c->from.pitch ? c->from.pitch : c->width;
    p->srcHeight = c->from.slice ? c->from.slice / p->srcPitch : c->height;
}

static void params_of_destination(const struct vs_sim_copy *c, CUDA_MEMCPY3D *p)
{
    p->dstMemoryType = type_of(&c->to);
    if (p->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
        p->dstArray = c->to.array;
        p->dstXInBytes = c->to.at[0];
        p->dstY = c->to.at[1];
        p->dstZ = c->to.at[2];
        return;
    }
    p->dstHost = (void *)c->to.base;
    p->dstDevice = c->to.base;
    p->dstPitch = c->to.pitch ? c->to.pitch : c->width;
    p->dstHeight = c->to.slice ? c->to.slice / p->dstPitch : c->height;
}

static CUDA_MEMCPY3D params_of_copy(const struct vs_sim_copy *c)
{
    CUDA_MEMCPY3D p = {.WidthInBytes = c->width, .Height = c->height, .Depth = c->depth};
    params_of_source(c, &p);
    params_of_destination(c, &p);
    return p;
}

CUresult vs_sim_node_take(struct vs_sim_graph *g, const struct vs_sim_nodes *before,
                          struct vs_sim_context *ctx, const struct vs_sim_op *op,
                          struct vs_sim_node **node)
{
    CUgraphNodeType type;
    switch (op->kind) {
    case VS_SIM_OP_KERNEL: type = CU_GRAPH_NODE_TYPE_KERNEL; break;
    case VS_SIM_OP_COPY: type = CU_GRAPH_NODE_TYPE_MEMCPY; break;
    case VS_SIM_OP_SET: type = CU_GRAPH_NODE_TYPE_MEMSET; break;
    case VS_SIM_OP_HOST: type = CU_GRAPH_NODE_TYPE_HOST; break;
    case VS_SIM_OP_VALUES: type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP; break;
    default: return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    CUresult e = vs_sim_node_new(g, type, before->at, before->count, node);
    if (e)
        return e;
    struct vs_sim_node *n = *node;
    n->ctx = type == CU_GRAPH_NODE_TYPE_HOST ? NULL : ctx;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        n->u.copy = params_of_copy(&op->u.copy);
    if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        n->u.set = (CUDA_MEMSET_NODE_PARAMS){op->u.set.to.base, op->u.set.to.pitch, op->u.set.value,
                                             op->u.set.element, op->u.set.width, op->u.set.height};
    if (vs_sim_op_copy(&n->op, op))
        return CUDA_SUCCESS;
    vs_sim_node_free(n);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- the entry points that add ---- */

static CUresult add_with(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                         const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *p)
{
    struct vs_sim_node *node;
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    struct vs_sim_graph *g = vs_sim_graph_of(graph);
    if (!out || !g || (count && !before))
        return vs_sim_graph_leave(CUDA_ERROR_INVALID_VALUE);
    e = vs_sim_edges_plain(edges, count);
    if (!e)
        e = vs_sim_node_add(g, (struct vs_sim_node *const *)before, count, p, &node);
    if (!e)
        *out = (CUgraphNode)node;
    return vs_sim_graph_leave(e);
}

static CUresult add(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                    CUgraphNodeParams *p)
{
    return add_with(out, graph, before, NULL, count, p);
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    if (!vs_sim_node_params_ok(nodeParams))
        return CUDA_ERROR_INVALID_VALUE;
    return add_with(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  CUgraph childGraph)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    all.graph.graph = childGraph;
    return childGraph ? add(phGraphNode, hGraph, dependencies, numDependencies, &all)
                      : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                             const CUgraphNode *dependencies, size_t numDependencies)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                const CUgraphNode *dependencies, size_t numDependencies,
                                CUDA_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&all.alloc, nodeParams, sizeof *nodeParams);
    CUresult e = add(phGraphNode, hGraph, dependencies, numDependencies, &all);
    if (!e)
        nodeParams->dptr = all.alloc.dptr;
    return e;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                               const CUgraphNode *dependencies, size_t numDependencies,
                               CUdeviceptr dptr)
{
    CUgraphNodeParams all = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    all.free.dptr = dptr;
    return add(phGraphNode, hGraph, dependencies, numDependencies, &all);
}

/* ---- queries and changes ---- */

/* The node of *handle*, of this *type*; the lock is held unless it returns an error. */
static CUresult node_enter(CUgraphNode handle, CUgraphNodeType type, const void *out,
                           struct vs_sim_node **node)
{
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    *node = vs_sim_node_of(handle);
    return *node && (*node)->type == type && out ? CUDA_SUCCESS
                                                 : vs_sim_graph_leave(CUDA_ERROR_INVALID_VALUE);
}

static CUresult change(CUgraphNode handle, const CUgraphNodeParams *p)
{
    struct vs_sim_node *n;
    CUresult e = node_enter(handle, p->type, p, &n);
    return e ? e : vs_sim_graph_leave(vs_sim_node_set(n, p));
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return vs_sim_node_params_ok(nodeParams) ? change(hNode, nodeParams) : CUDA_ERROR_INVALID_VALUE;
}

static bool params_make(struct vs_sim_node *n)
{
    const struct vs_sim_launch_op *op = &n->op.u.launch;
    if (!op->args || n->u.params)
        return true;
    n->u.params = malloc((op->host->arg_count + 1) * sizeof *n->u.params);
    for (unsigned i = 0; n->u.params && i < op->host->arg_count; i++)
        n->u.params[i] = op->args + op->host->offset[i];
    return n->u.params != NULL;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct vs_sim_node *n;
    CUresult e = node_enter(hNode, CU_GRAPH_NODE_TYPE_KERNEL, p, &n);
    if (e)
        return e;
    if (!params_make(n))
        return vs_sim_graph_leave(CUDA_ERROR_OUT_OF_MEMORY);
    const struct vs_sim_launch_op *op = &n->op.u.launch;
    *p = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)op->function,
                                   .gridDimX = op->grid[0],
                                   .gridDimY = op->grid[1],
                                   .gridDimZ = op->grid[2],
                                   .blockDimX = op->block[0],
                                   .blockDimY = op->block[1],
                                   .blockDimZ = op->block[2],
                                   .sharedMemBytes = op->shared_bytes,
                                   .kernelParams = n->u.params,
                                   .kern = op->function->is_kernel ? (CUkernel)op->function : NULL,
                                   .ctx = (CUcontext)n->ctx};
    return vs_sim_graph_leave(CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS p;
    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cuGraphKernelNodeGetParams_v2(hNode, &p);
    if (!e)
        memcpy(nodeParams, &p, sizeof *nodeParams);
    return e;
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode,
                                        CUDA_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    struct vs_sim_node *n;
    CUresult e = node_enter(hNode, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out, &n);
    if (e)
        return e;
    const struct vs_sim_values *v = &n->op.u.values;
    if (!n->u.batch && v->count) {
        n->u.batch = malloc(v->count * sizeof *n->u.batch);
        for (unsigned i = 0; n->u.batch && i < v->count; i++)
            n->u.batch[i] = v->list[i].params;
    }
    *nodeParams_out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = (CUcontext)n->ctx, .count = v->count, .paramArray = n->u.batch};
    return vs_sim_graph_leave(n->u.batch || !v->count ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

#define GET(name, node_type, type, value)                                                     \
    CUresult name(CUgraphNode hNode, type *out)                                               \
    {                                                                                         \
        struct vs_sim_node *n;                                                                \
        CUresult e = node_enter(hNode, node_type, out, &n);                                   \
        if (e)                                                                                \
            return e;                                                                         \
        *out = (value);                                                                       \
        return vs_sim_graph_leave(CUDA_SUCCESS);                                              \
    }

GET(cuGraphMemcpyNodeGetParams, CU_GRAPH_NODE_TYPE_MEMCPY, CUDA_MEMCPY3D, n->u.copy)
GET(cuGraphMemsetNodeGetParams, CU_GRAPH_NODE_TYPE_MEMSET, CUDA_MEMSET_NODE_PARAMS, n->u.set)
GET(cuGraphHostNodeGetParams, CU_GRAPH_NODE_TYPE_HOST, CUDA_HOST_NODE_PARAMS,
    ((CUDA_HOST_NODE_PARAMS){n->op.u.host.fn, n->op.u.host.data}))
GET(cuGraphChildGraphNodeGetGraph, CU_GRAPH_NODE_TYPE_GRAPH, CUgraph, (CUgraph)n->u.child)
GET(cuGraphEventRecordNodeGetEvent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CUevent, n->u.event)
GET(cuGraphEventWaitNodeGetEvent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, CUevent, n->u.event)
GET(cuGraphMemAllocNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS,
    n->u.alloc.params)
GET(cuGraphMemFreeNodeGetParams, CU_GRAPH_NODE_TYPE_MEM_FREE, CUdeviceptr, n->u.freed)

/* ---- one type: what is given, as CUgraphNodeParams ---- */

/* Later versions of a structure begin with the earlier ones. *to*: a member of *all*. */
static CUresult given(CUgraphNodeParams *all, CUgraphNodeType type, void *to, const void *from,
                      size_t bytes)
{
    *all = (CUgraphNodeParams){.type = type};
    if (!from)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, from, bytes);
    return CUDA_SUCCESS;
}

static CUresult node_KernelNode(CUgraphNodeParams *all, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    return given(all, CU_GRAPH_NODE_TYPE_KERNEL, &all->kernel, p, sizeof *p);
}

static CUresult node_KernelNode_v2(CUgraphNodeParams *all, const CUDA_KERNEL_NODE_PARAMS *p)
{
    return given(all, CU_GRAPH_NODE_TYPE_KERNEL, &all->kernel, p, sizeof *p);
}

static CUresult node_MemcpyNode(CUgraphNodeParams *all, const CUDA_MEMCPY3D *p, CUcontext ctx)
{
    CUresult e = given(all, CU_GRAPH_NODE_TYPE_MEMCPY, &all->memcpy.copyParams, p, sizeof *p);
    all->memcpy.copyCtx = ctx;
    return e;
}

static CUresult node_MemsetNode(CUgraphNodeParams *all, const CUDA_MEMSET_NODE_PARAMS *p,
                                CUcontext ctx)
{
    CUresult e = given(all, CU_GRAPH_NODE_TYPE_MEMSET, &all->memset, p, sizeof *p);
    all->memset.ctx = ctx;
    return e;
}

static CUresult node_HostNode(CUgraphNodeParams *all, const CUDA_HOST_NODE_PARAMS *p)
{
    return given(all, CU_GRAPH_NODE_TYPE_HOST, &all->host, p, sizeof *p);
}

static CUresult node_EventRecordNode(CUgraphNodeParams *all, CUevent event)
{
    return given(all, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &all->eventRecord.event,
                 event ? &event : NULL, sizeof event);
}

static CUresult node_EventWaitNode(CUgraphNodeParams *all, CUevent event)
{
    return given(all, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &all->eventWait.event, event ? &event : NULL,
                 sizeof event);
}

static CUresult node_BatchMemOpNode(CUgraphNodeParams *all, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return given(all, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, &all->memOp, p, sizeof *p);
}

#define change_exec vs_sim_exec_change
#define VS_RT_NODE(...)
#define VS_DRIVER_NODE(symbol, parameters, what, of, form, given)                              \
    CUresult symbol parameters                                                                 \
    {                                                                                          \
        CUgraphNodeParams all;                                                                 \
        CUresult e = node_##form given;                                                        \
        return e ? e : what of;                                                                \
    }
#include "generated/vs_sim_node_table.h"
