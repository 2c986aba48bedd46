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

/* Makes *op* the work of *n*, in the context *given* or its own. *op*, whose description had the
 * error *e*, is used up. */
static CUresult op_replace(struct vs_sim_node *n, struct vs_sim_op *op, CUcontext given, CUresult e)
{
    struct vs_sim_context *ctx;
    CUresult found = context_for(n, given, &ctx);
    e = found ? found : e;
    if (!e) {
        vs_sim_node_empty(n);
        if (vs_sim_checking)
            op->check_made = vs_sim_check_stack();
        n->ctx = ctx;
        vs_sim_op_copy(&n->op, op);
    }
    vs_sim_op_clean(op);
    return e;
}

static CUresult set_kernel(struct vs_sim_node *n, const CUDA_KERNEL_NODE_PARAMS_v3 *p)
{
    struct vs_sim_op op = {.kind = VS_SIM_OP_KERNEL, .deps = op.deps_inline};
    unsigned grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
    unsigned block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    struct vs_sim_function *f = vs_sim_function_of(p->func ? (void *)p->func : (void *)p->kern);
    if (!f)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = vs_sim_launch_describe(&op.u.launch, f, grid, block, p->sharedMemBytes,
                                        p->kernelParams, p->extra);
    if (!e && n->op.kind == VS_SIM_OP_KERNEL) { /* attributes are not parameters */
        op.u.launch.attributes = n->op.u.launch.attributes;
        e = vs_sim_launch_fits(&op.u.launch);
    }
    return op_replace(n, &op, p->func ? NULL : p->ctx, e);
}

CUresult vs_sim_node_set(struct vs_sim_node *n, const CUgraphNodeParams *p)
{
    struct vs_sim_op op = {.deps = op.deps_inline};
    const CUDA_MEMSET_NODE_PARAMS_v2 *s = &p->memset;
    CUDA_MEMSET_NODE_PARAMS set;
    struct vs_sim_event *event;
    CUresult e;
    if (p->type != n->type)
        return CUDA_ERROR_INVALID_VALUE;
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return set_kernel(n, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (p->memcpy.flags || p->memcpy.reserved)
            return CUDA_ERROR_INVALID_VALUE;
        op.kind = VS_SIM_OP_COPY;
        e = vs_sim_copy_describe(&p->memcpy.copyParams, &op.u.copy);
        if (!(e = op_replace(n, &op, p->memcpy.copyCtx, e)))
            n->u.copy = p->memcpy.copyParams;
        return e;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        op.kind = VS_SIM_OP_SET;
        set = (CUDA_MEMSET_NODE_PARAMS){s->dst,         s->pitch, s->value,
                                        s->elementSize, s->width, s->height};
        e = vs_sim_set_describe(&set, &op.u.set);
        if (!(e = op_replace(n, &op, s->ctx, e)))
            n->u.set = set;
        return e;
    case CU_GRAPH_NODE_TYPE_HOST:
        if (!p->host.fn)
            return CUDA_ERROR_INVALID_VALUE;
        n->op.kind = VS_SIM_OP_HOST;
        n->op.u.host.fn = p->host.fn;
        n->op.u.host.data = p->host.userData;
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: /* both have the event only */
        if (vs_sim_event_of(p->eventWait.event, &event))
            return CUDA_ERROR_INVALID_VALUE;
        n->u.event = p->eventWait.event;
        n->ctx = vs_sim_event_context(event);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        op.kind = VS_SIM_OP_VALUES;
        e = vs_sim_values_describe(p->memOp.paramArray, p->memOp.count, p->memOp.flags,
                                   &op.u.values);
        return op_replace(n, &op, p->memOp.ctx, e);
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

static CUresult fill_child(struct vs_sim_node *n, const CUDA_CHILD_GRAPH_NODE_PARAMS *p)
{
    struct vs_sim_graph *g = n->graph, *child = vs_sim_graph_of(p->graph);
    bool move = p->ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (!child || (!move && p->ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE) ||
        child->captures || holds(child, g) || (move && (child->parent || child->execs)) ||
        (child->has_memory && (!move || g->moved)))
        return CUDA_ERROR_INVALID_VALUE;
    n->u.child = move ? child : vs_sim_graph_clone(child, g->private_clone);
    n->u.child->parent = n;
    n->u.child->moved = move;
    if (n->u.child->has_memory)
        add_memory(g);
    return CUDA_SUCCESS;
}

static CUresult fill_alloc(struct vs_sim_node *n, CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p)
{
    struct vs_sim_context *ctx = vs_sim_context_current();
    struct vs_sim_alloc_params *a = &n->u.alloc;
    int device = p->poolProps.location.id;
    if (!p->bytesize || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
        (p->accessDescCount && !p->accessDescs) || p->accessDescCount > vs_sim_spec.devices)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || n->graph->moved)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!vs_sim_device_find(device))
        return CUDA_ERROR_INVALID_VALUE;
    if (!ctx || ctx->device->ordinal != device)
        ctx = vs_sim_devices[device].primary;
    CUresult e = vs_sim_block_new(ctx, device, p->bytesize, &a->block, &p->dptr);
    if (e)
        return e;
    vs_sim_block_own(a->block, n->graph);
    a->params = (CUDA_MEM_ALLOC_NODE_PARAMS){.poolProps = p->poolProps,
                                             .accessDescs = p->accessDescs,
                                             .accessDescCount = p->accessDescCount,
                                             .bytesize = p->bytesize,
                                             .dptr = p->dptr};
    add_memory(n->graph);
    vs_sim_access_copy(a);
    return CUDA_SUCCESS;
}

static CUresult fill_free(struct vs_sim_node *n, CUdeviceptr address)
{
    CUresult e =
        n->graph->moved ? CUDA_ERROR_NOT_SUPPORTED : vs_sim_block_plan_free(address, n->graph);
    if (e)
        return e;
    n->u.freed = address;
    add_memory(n->graph);
    return CUDA_SUCCESS;
}

CUresult vs_sim_node_add(struct vs_sim_graph *g, const struct vs_sim_nodes *before,
                         CUgraphNodeParams *p, struct vs_sim_node **node)
{
    if ((unsigned)p->type > CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = vs_sim_node_new(g, p->type, before, node);
    if (e)
        return e;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH: e = fill_child(*node, &p->graph); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: e = fill_alloc(*node, &p->alloc); break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: e = fill_free(*node, p->free.dptr); break;
    default: e = vs_sim_node_set(*node, p); break;
    }
    if (e)
        vs_sim_node_free(*node);
    return e;
}

/* ---- from captured work ---- */

static CUmemorytype type_of(const struct vs_sim_end *end)
{
    return end->memory == VS_SIM_MEMORY_ARRAY ? CU_MEMORYTYPE_ARRAY
           : vs_sim_on_host(end)              ? CU_MEMORYTYPE_HOST
                                              : CU_MEMORYTYPE_DEVICE;
}

static CUDA_MEMCPY3D params_of_copy(const struct vs_sim_copy *c)
{
    const struct vs_sim_end *from = &c->from, *to = &c->to;
    CUDA_MEMCPY3D p = {.srcXInBytes = from->at[0],
                       .srcY = from->at[1],
                       .srcZ = from->at[2],
                       .srcMemoryType = type_of(from),
                       .srcArray = from->array,
                       .dstXInBytes = to->at[0],
                       .dstY = to->at[1],
                       .dstZ = to->at[2],
                       .dstMemoryType = type_of(to),
                       .dstArray = to->array,
                       .WidthInBytes = c->width,
                       .Height = c->height,
                       .Depth = c->depth};
    if (!from->array) {
        p.srcHost = (const void *)from->base;
        p.srcDevice = from->base;
        p.srcPitch = from->pitch;
        p.srcHeight = from->slice / from->pitch;
    }
    if (!to->array) {
        p.dstHost = (void *)to->base;
        p.dstDevice = to->base;
        p.dstPitch = to->pitch;
        p.dstHeight = to->slice / to->pitch;
    }
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
    CUresult e = vs_sim_node_new(g, type, before, node);
    if (e)
        return e;
    struct vs_sim_node *n = *node;
    n->ctx = type == CU_GRAPH_NODE_TYPE_HOST ? NULL : ctx;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        n->u.copy = params_of_copy(&op->u.copy);
    if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        n->u.set = (CUDA_MEMSET_NODE_PARAMS){op->u.set.to.base, op->u.set.to.pitch, op->u.set.value,
                                             op->u.set.element, op->u.set.width, op->u.set.height};
    vs_sim_op_copy(&n->op, op);
    return CUDA_SUCCESS;
}

/* ---- the entry points that add ---- */

static CUresult add_with(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                         const CUgraphEdgeData *edges, size_t count, CUgraphNodeParams *p)
{
    struct vs_sim_node *node;
    const struct vs_sim_nodes given = {.at = (struct vs_sim_node **)before,
                                       .edges = (CUgraphEdgeData *)edges,
                                       .count = count};
    CUresult e = vs_sim_graph_enter();
    if (e)
        return e;
    struct vs_sim_graph *g = vs_sim_graph_of(graph);
    e = out && g ? vs_sim_node_add(g, &given, p, &node) : CUDA_ERROR_INVALID_VALUE;
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

VS_SIM_AS(cuGraphNodeSetParams, (CUgraphNode hNode, CUgraphNodeParams *nodeParams),
          vs_sim_node_params_ok(nodeParams) ? change(hNode, nodeParams) : CUDA_ERROR_INVALID_VALUE)

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct vs_sim_node *n;
    CUresult e = node_enter(hNode, CU_GRAPH_NODE_TYPE_KERNEL, p, &n);
    if (e)
        return e;
    const struct vs_sim_launch_op *op = &n->op.u.launch;
    if (op->args && !n->u.params) {
        n->u.params = vs_sim_need(malloc((op->host->arg_count + 1) * sizeof *n->u.params));
        for (unsigned i = 0; i < op->host->arg_count; i++)
            n->u.params[i] = op->args + op->host->offset[i];
    }
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
        n->u.batch = vs_sim_need(malloc(v->count * sizeof *n->u.batch));
        for (unsigned i = 0; i < v->count; i++)
            n->u.batch[i] = v->list[i].params;
    }
    *nodeParams_out = (CUDA_BATCH_MEM_OP_NODE_PARAMS){
        .ctx = (CUcontext)n->ctx, .count = v->count, .paramArray = n->u.batch};
    return vs_sim_graph_leave(CUDA_SUCCESS);
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
