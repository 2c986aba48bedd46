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

static cudaError_t kernel(P *all, const struct cudaKernelNodeParams *p)
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

static cudaError_t copy(P *all, const struct cudaMemcpy3DParms *p)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_MEMCPY};
    return vs_rt_describe_3d(p, &all->memcpy.copyParams);
}

static cudaError_t copy_1d(P *all, void *to, const void *from, size_t bytes,
                           enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms p = {.srcPtr = {(void *)from, bytes, bytes, 1},
                                  .dstPtr = {to, bytes, bytes, 1},
                                  .extent = {bytes, 1, 1},
                                  .kind = kind};
    return copy(all, &p);
}

static cudaError_t copy_to_symbol(P *all, const void *symbol, const void *from, size_t bytes,
                                  size_t offset, enum cudaMemcpyKind kind)
{
    char *at;
    cudaError_t e = vs_rt_symbol_part(symbol, offset, bytes, kind, cudaMemcpyHostToDevice, &at);
    return e ? e : copy_1d(all, at, from, bytes, kind);
}

static cudaError_t copy_from_symbol(P *all, void *to, const void *symbol, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind)
{
    char *at;
    cudaError_t e = vs_rt_symbol_part(symbol, offset, bytes, kind, cudaMemcpyDeviceToHost, &at);
    return e ? e : copy_1d(all, to, at, bytes, kind);
}

static cudaError_t set(P *all, const struct cudaMemsetParams *p)
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

static cudaError_t host(P *all, const struct cudaHostNodeParams *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    *all = (P){.type = CU_GRAPH_NODE_TYPE_HOST};
    all->host.fn = p->fn;
    all->host.userData = p->userData;
    return cudaSuccess;
}

static cudaError_t child(P *all, cudaGraph_t graph)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_GRAPH};
    all->graph.graph = graph;
    return cudaSuccess;
}

static cudaError_t event_wait(P *all, cudaEvent_t event)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    all->eventWait.event = event;
    return cudaSuccess;
}

static cudaError_t event_record(P *all, cudaEvent_t event)
{
    *all = (P){.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD};
    all->eventRecord.event = event;
    return cudaSuccess;
}

/* ---- and to the driver ---- */

/* *e*: of the conversion into *all*, which is used only if it succeeded. */
static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                       const cudaGraphEdgeData *edges, size_t count, P *all, cudaError_t e)
{
    if (!e)
        e = vs_rt_enter_context();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.GraphAddNode(
                                node, graph, before, (const CUgraphEdgeData *)edges, count, all)));
}

static cudaError_t change(cudaGraphNode_t node, P *all, cudaError_t e)
{
    if (!e)
        e = vs_rt_enter_context();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.GraphNodeSetParams(node, all)));
}

static cudaError_t change_exec(cudaGraphExec_t exec, cudaGraphNode_t node, P *all, cudaError_t e)
{
    if (!e)
        e = vs_rt_enter_context();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.GraphExecNodeSetParams(exec, node, all)));
}

/* The three functions of one form of parameters: for a new node, a node, and a node of an
 * executable graph. The conversion needs a context. */
#define NODE_FORMS(Add, Set, ExecSet, convert, given, ...)                                      \
    cudaError_t Add(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,                             \
                    const cudaGraphNode_t *pDependencies, size_t numDependencies, __VA_ARGS__)  \
    {                                                                                           \
        P all = {0};                                                                            \
        cudaError_t e = vs_rt_enter_context();                                                  \
        return add(pGraphNode, graph, pDependencies, NULL, numDependencies, &all,               \
                   e ? e : convert given);                                                      \
    }                                                                                           \
    cudaError_t Set(cudaGraphNode_t node, __VA_ARGS__)                                          \
    {                                                                                           \
        P all = {0};                                                                            \
        cudaError_t e = vs_rt_enter_context();                                                  \
        return change(node, &all, e ? e : convert given);                                       \
    }                                                                                           \
    cudaError_t ExecSet(cudaGraphExec_t exec, cudaGraphNode_t node, __VA_ARGS__)                \
    {                                                                                           \
        P all = {0};                                                                            \
        cudaError_t e = vs_rt_enter_context();                                                  \
        return change_exec(exec, node, &all, e ? e : convert given);                            \
    }

/* clang-format off */
NODE_FORMS(cudaGraphAddKernelNode, cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams,
           kernel, (&all, p), const struct cudaKernelNodeParams *p)
NODE_FORMS(cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
           copy, (&all, p), const struct cudaMemcpy3DParms *p)
NODE_FORMS(cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D,
           cudaGraphExecMemcpyNodeSetParams1D, copy_1d, (&all, dst, src, count, kind),
           void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
NODE_FORMS(cudaGraphAddMemcpyNodeToSymbol, cudaGraphMemcpyNodeSetParamsToSymbol,
           cudaGraphExecMemcpyNodeSetParamsToSymbol, copy_to_symbol,
           (&all, symbol, src, count, offset, kind),
           const void *symbol, const void *src, size_t count, size_t offset,
           enum cudaMemcpyKind kind)
NODE_FORMS(cudaGraphAddMemcpyNodeFromSymbol, cudaGraphMemcpyNodeSetParamsFromSymbol,
           cudaGraphExecMemcpyNodeSetParamsFromSymbol, copy_from_symbol,
           (&all, dst, symbol, count, offset, kind),
           void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
NODE_FORMS(cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams,
           set, (&all, p), const struct cudaMemsetParams *p)
NODE_FORMS(cudaGraphAddHostNode, cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams,
           host, (&all, p), const struct cudaHostNodeParams *p)
NODE_FORMS(cudaGraphAddEventRecordNode, cudaGraphEventRecordNodeSetEvent,
           cudaGraphExecEventRecordNodeSetEvent, event_record, (&all, event), cudaEvent_t event)
NODE_FORMS(cudaGraphAddEventWaitNode, cudaGraphEventWaitNodeSetEvent,
           cudaGraphExecEventWaitNodeSetEvent, event_wait, (&all, event), cudaEvent_t event)
/* clang-format on */

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                  const cudaGraphNode_t *pDependencies, size_t numDependencies)
{
    P all = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add(pGraphNode, graph, pDependencies, NULL, numDependencies, &all, cudaSuccess);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t *pDependencies,
                                       size_t numDependencies, cudaGraph_t childGraph)
{
    P all;
    cudaError_t e = child(&all, childGraph);
    return add(pGraphNode, graph, pDependencies, NULL, numDependencies, &all, e);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                     struct cudaMemAllocNodeParams *nodeParams)
{
    P all = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    if (!nodeParams)
        return vs_rt_result(cudaErrorInvalidValue);
    memcpy(&all.alloc, nodeParams, sizeof *nodeParams);
    cudaError_t e =
        add(pGraphNode, graph, pDependencies, NULL, numDependencies, &all, cudaSuccess);
    if (!e)
        nodeParams->dptr = (void *)all.alloc.dptr;
    return e;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t *pDependencies, size_t numDependencies,
                                    void *dptr)
{
    P all = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    all.free.dptr = (CUdeviceptr)dptr;
    return add(pGraphNode, graph, pDependencies, NULL, numDependencies, &all, cudaSuccess);
}

/* ---- any type ---- */

static cudaError_t convert(P *all, const struct cudaGraphNodeParams *p)
{
    struct cudaKernelNodeParams k;
    struct cudaMemsetParams s;
    struct cudaHostNodeParams h;
    cudaError_t e = vs_rt_enter_context();
    if (e)
        return e;
    if (!p || p->reserved0[0] || p->reserved0[1] || p->reserved0[2] || p->reserved2)
        return cudaErrorInvalidValue;
    *all = (P){.type = (CUgraphNodeType)p->type};
    switch (p->type) { /* the newer structures begin with the older ones */
    case cudaGraphNodeTypeKernel: memcpy(&k, &p->kernel, sizeof k); return kernel(all, &k);
    case cudaGraphNodeTypeMemcpy: return copy(all, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: memcpy(&s, &p->memset, sizeof s); return set(all, &s);
    case cudaGraphNodeTypeHost: memcpy(&h, &p->host, sizeof h); return host(all, &h);
    case cudaGraphNodeTypeGraph:
        child(all, p->graph.graph);
        all->graph.ownership = (CUgraphChildGraphNodeOwnership)p->graph.ownership;
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent: return event_wait(all, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return event_record(all, p->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: memcpy(&all->alloc, &p->alloc, sizeof p->alloc); break;
    case cudaGraphNodeTypeMemFree: all->free.dptr = (CUdeviceptr)p->free.dptr; break;
    default: break; /* the driver checks the others */
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
                             const cudaGraphNode_t *pDependencies,
                             const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                             struct cudaGraphNodeParams *nodeParams)
{
    P all;
    cudaError_t e = convert(&all, nodeParams);
    e = add(pGraphNode, graph, pDependencies, dependencyData, numDependencies, &all, e);
    if (!e && nodeParams->type == cudaGraphNodeTypeMemAlloc)
        nodeParams->alloc.dptr = (void *)all.alloc.dptr;
    return e;
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *nodeParams)
{
    P all;
    cudaError_t e = convert(&all, nodeParams);
    return change(node, &all, e);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *nodeParams)
{
    P all;
    cudaError_t e = convert(&all, nodeParams);
    return change_exec(graphExec, node, &all, e);
}

/* ---- queries ---- */

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         struct cudaKernelNodeParams *pNodeParams)
{
    CUDA_KERNEL_NODE_PARAMS p;
    cudaError_t e = pNodeParams ? vs_rt_enter_context() : cudaErrorInvalidValue;
    if (!e)
        e = vs_rt_error(vs_rt.GraphKernelNodeGetParams(node, &p));
    if (e)
        return vs_rt_result(e);
    *pNodeParams =
        (struct cudaKernelNodeParams){.func = vs_rt_stub_of(p.func),
                                      .gridDim = {p.gridDimX, p.gridDimY, p.gridDimZ},
                                      .blockDim = {p.blockDimX, p.blockDimY, p.blockDimZ},
                                      .sharedMemBytes = p.sharedMemBytes,
                                      .kernelParams = p.kernelParams,
                                      .extra = p.extra};
    return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemcpy3DParms *pNodeParams)
{
    CUDA_MEMCPY3D p;
    cudaError_t e = pNodeParams ? vs_rt_enter_context() : cudaErrorInvalidValue;
    if (!e)
        e = vs_rt_error(vs_rt.GraphMemcpyNodeGetParams(node, &p));
    return vs_rt_result(e ? e : vs_rt_params_3d(&p, pNodeParams));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemsetParams *pNodeParams)
{
    CUDA_MEMSET_NODE_PARAMS p;
    cudaError_t e = pNodeParams ? vs_rt_enter_context() : cudaErrorInvalidValue;
    if (!e)
        e = vs_rt_error(vs_rt.GraphMemsetNodeGetParams(node, &p));
    if (!e)
        *pNodeParams = (struct cudaMemsetParams){.dst = (void *)p.dst,
                                                 .pitch = p.pitch,
                                                 .value = p.value,
                                                 .elementSize = p.elementSize,
                                                 .width = p.width,
                                                 .height = p.height};
    return vs_rt_result(e);
}
