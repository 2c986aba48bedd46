/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters of graph nodes in the runtime: every form is converted to the driver's
 * CUgraphNodeParams. A kernel is identified by its host stub, a device variable by its shadow. */
#include "simulator/runtime/vs_sim_runtime.h"

#include <string.h>

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
               "passed through");
_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "passed through");

typedef CUgraphNodeParams P;

/* ---- to the driver's parameters ---- */

static cudaError_t node_KernelNode(P *all, const struct cudaKernelNodeParams *p)
{
    CUkernel found;
    if (!p)
        return cudaErrorInvalidValue;
    cudaError_t e = vs_rt_kernel_of(p->func, &found);
    if (e)
        return e;
    *all = (P){.type = CU_GRAPH_NODE_TYPE_KERNEL};
    all->kernel = (CUDA_KERNEL_NODE_PARAMS_v3){.kern = found,
                                               .gridDimX = p->gridDim.x,
                                               .gridDimY = p->gridDim.y,
                                               .gridDimZ = p->gridDim.z,
                                               .blockDimX = p->blockDim.x,
                                               .blockDimY = p->blockDim.y,
                                               .blockDimZ = p->blockDim.z,
                                               .sharedMemBytes = p->sharedMemBytes,
                                               .kernelParams = p->kernelParams,
                                               .extra = p->extra};
    return cudaSuccess;
}

static cudaError_t node_MemcpyNode(P *all, const struct cudaMemcpy3DParms *p)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    return vs_rt_describe_3d(p, &all->memcpy.copyParams);
}

static cudaError_t node_MemcpyNode1D(P *all, void *to, const void *from, size_t bytes,
                           enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = {.srcPtr = {(void *)from, bytes, bytes, 1},
                                  .dstPtr = {to, bytes, bytes, 1},
                                  .extent = {bytes, 1, 1},
                                  .kind = kind};
    return node_MemcpyNode(all, &p);
}

static cudaError_t node_MemcpyNodeToSymbol(P *all, const void *symbol, const void *from, size_t bytes,
                                  size_t offset, enum cudaMemcpyKind kind)
{
    char *at;
    cudaError_t e = vs_rt_symbol_part(symbol, offset, bytes, kind, cudaMemcpyHostToDevice, &at);
    return e ? e : node_MemcpyNode1D(all, at, from, bytes, kind);
}

static cudaError_t node_MemcpyNodeFromSymbol(P *all, void *to, const void *symbol, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind)
{
    char *at;
    cudaError_t e = vs_rt_symbol_part(symbol, offset, bytes, kind, cudaMemcpyDeviceToHost, &at);
    return e ? e : node_MemcpyNode1D(all, to, at, bytes, kind);
}

static cudaError_t node_MemsetNode(P *all, const struct cudaMemsetParams *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    *all = (P){.type = CU_GRAPH_NODE_TYPE_MEMSET};
    all->memset = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = (CUdeviceptr)p->dst,
                                               .pitch = p->pitch,
                                               .value = p->value,
                                               .elementSize = p->elementSize,
                                               .width = p->width,
                                               .height = p->height};
    return cudaSuccess;
}

static cudaError_t node_HostNode(P *all, const struct cudaHostNodeParams *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    *all = (P){.type = CU_GRAPH_NODE_TYPE_HOST};
    all->host.fn = p->fn;
    all->host.userData = p->userData;
    return cudaSuccess;
}

static cudaError_t node_EventWaitNode(P *all, cudaEvent_t event)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    all->eventWait.event = event;
    return cudaSuccess;
}

static cudaError_t node_EventRecordNode(P *all, cudaEvent_t event)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    all->eventRecord.event = event;
    return cudaSuccess;
}

/* ---- and to the driver ---- */

static cudaError_t add_with(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                            const cudaGraphEdgeData *edges, size_t count, P *all)
{
    return vs_rt_error(
        vs_rt.GraphAddNode(node, graph, before, (const CUgraphEdgeData *)edges, count, all));
}

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                       size_t count, P *all)
{
    return add_with(node, graph, before, NULL, count, all);
}

static cudaError_t change(cudaGraphNode_t node, P *all)
{
    return vs_rt_error(vs_rt.GraphNodeSetParams(node, all));
}

static cudaError_t change_exec(cudaGraphExec_t exec, cudaGraphNode_t node, P *all)
{
    return vs_rt_error(vs_rt.GraphExecNodeSetParams(exec, node, all));
}

/* One form of parameters, whose conversion needs a context. */
#define VS_DRIVER_NODE(...)
#define VS_RT_NODE(symbol, parameters, what, of, form, given)                                  \
    cudaError_t symbol parameters                                                              \
    {                                                                                          \
        P all = {0};                                                                           \
        cudaError_t e = vs_rt_enter_context();                                                 \
        if (!e)                                                                                \
            e = node_##form given;                                                             \
        return vs_rt_result(e ? e : what of);                                                  \
    }
#include "generated/vs_sim_node_table.h"

cudaError_t cudaGraphAddEmptyNode_context(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *before, size_t count)
{
    return add(node, graph, before, count, &(P){.type = CU_GRAPH_NODE_TYPE_EMPTY});
}

cudaError_t cudaGraphAddChildGraphNode_context(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *before, size_t count,
                                               cudaGraph_t child)
{
    P all = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    all.graph.graph = child;
    return add(node, graph, before, count, &all);
}

cudaError_t cudaGraphAddMemAllocNode_context(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *before, size_t count,
                                             struct cudaMemAllocNodeParams params[static 1])
{
    P all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    memcpy(&all.alloc, params, sizeof *params);
    cudaError_t e = add(node, graph, before, count, &all);
    if (!e)
        params->dptr = (void *)all.alloc.dptr;
    return e;
}

cudaError_t cudaGraphAddMemFreeNode_context(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *before, size_t count, void *dptr)
{
    P all = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    all.free.dptr = (CUdeviceptr)dptr;
    return add(node, graph, before, count, &all);
}

/* ---- any type ---- */

static cudaError_t convert(P *all, const struct cudaGraphNodeParams *p)
{
    struct cudaKernelNodeParams k;
    struct cudaMemsetParams s;
    struct cudaHostNodeParams h;
    if (!p || p->reserved0[0] || p->reserved0[1] || p->reserved0[2] || p->reserved2)
        return cudaErrorInvalidValue;
    *all = (P){.type = (CUgraphNodeType)p->type};
    switch (p->type) { /* the newer structures begin with the older ones */
    case cudaGraphNodeTypeKernel: memcpy(&k, &p->kernel, sizeof k); return node_KernelNode(all, &k);
    case cudaGraphNodeTypeMemcpy: return node_MemcpyNode(all, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: memcpy(&s, &p->memset, sizeof s); return node_MemsetNode(all, &s);
    case cudaGraphNodeTypeHost: memcpy(&h, &p->host, sizeof h); return node_HostNode(all, &h);
    case cudaGraphNodeTypeGraph:
        all->graph.graph = p->graph.graph;
        all->graph.ownership = (CUgraphChildGraphNodeOwnership)p->graph.ownership;
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return node_EventWaitNode(all, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return node_EventRecordNode(all, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: memcpy(&all->alloc, &p->alloc, sizeof p->alloc); break;
    case cudaGraphNodeTypeMemFree: all->free.dptr = (CUdeviceptr)p->free.dptr; break;
    default: break; /* the driver checks the others */
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode_context(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, const cudaGraphEdgeData *edges,
                                     size_t count, struct cudaGraphNodeParams *params)
{
    P all;
    cudaError_t e = convert(&all, params);
    if (!e)
        e = add_with(node, graph, before, edges, count, &all);
    if (!e && params->type == cudaGraphNodeTypeMemAlloc)
        params->alloc.dptr = (void *)all.alloc.dptr;
    return e;
}

cudaError_t cudaGraphNodeSetParams_context(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    P all;
    cudaError_t e = convert(&all, params);
    return e ? e : change(node, &all);
}

cudaError_t cudaGraphExecNodeSetParams_context(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               struct cudaGraphNodeParams *params)
{
    P all;
    cudaError_t e = convert(&all, params);
    return e ? e : change_exec(exec, node, &all);
}

/* ---- queries ---- */

cudaError_t cudaGraphKernelNodeGetParams_context(cudaGraphNode_t node,
                                                 struct cudaKernelNodeParams params[static 1])
{
    CUDA_KERNEL_NODE_PARAMS p;
    cudaError_t e = vs_rt_error(vs_rt.GraphKernelNodeGetParams(node, &p));
    if (e)
        return e;
    *params =
        (struct cudaKernelNodeParams){.func = vs_rt_stub_of(p.func),
                                      .gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ},
                                      .blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ},
                                      .sharedMemBytes = p.sharedMemBytes,
                                      .kernelParams = p.kernelParams,
                                      .extra = p.extra};
    return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeGetParams_context(cudaGraphNode_t node,
                                                 struct cudaMemcpy3DParms params[static 1])
{
    CUDA_MEMCPY3D p;
    cudaError_t e = vs_rt_error(vs_rt.GraphMemcpyNodeGetParams(node, &p));
    return e ? e : vs_rt_params_3d(&p, params);
}

cudaError_t cudaGraphMemsetNodeGetParams_context(cudaGraphNode_t node,
                                                 struct cudaMemsetParams params[static 1])
{
    CUDA_MEMSET_NODE_PARAMS p;
    cudaError_t e = vs_rt_error(vs_rt.GraphMemsetNodeGetParams(node, &p));
    if (!e)
        *params = (struct cudaMemsetParams){.dst = (void *)p.dst,
                                                 .pitch = p.pitch,
                                                 .value = p.value,
                                                 .elementSize = p.elementSize,
                                                 .width = p.width,
                                                 .height = p.height};
    return e;
}
