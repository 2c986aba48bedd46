/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs in the runtime, except for the parameters of nodes (rt_graph_node.c). Handles are the
 * driver's. */
#include "simulator/runtime/vs_sim_runtime.h"

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "passed through");
_Static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS),
               "passed through");
_Static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo),
               "passed through");

typedef CUgraphEdgeData E;

/* ---- graphs ---- */

cudaError_t cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
    VS_RT_CALL(vs_rt.GraphCreate(pGraph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { VS_RT_CALL(vs_rt.GraphDestroy(graph)); }

cudaError_t cudaGraphClone(cudaGraph_t *pGraphClone, cudaGraph_t originalGraph)
{
    VS_RT_CALL(vs_rt.GraphClone(pGraphClone, originalGraph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *pNode, cudaGraphNode_t originalNode,
                                     cudaGraph_t clonedGraph)
{
    VS_RT_CALL(vs_rt.GraphNodeFindInClone(pNode, originalNode, clonedGraph));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) { VS_RT_CALL(vs_rt.GraphDestroyNode(node)); }

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
    VS_RT_CALL(vs_rt.GraphNodeGetType(node, (CUgraphNodeType *)pType));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
    VS_RT_CALL(vs_rt.GraphGetNodes(graph, nodes, numNodes));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *pRootNodes,
                                  size_t *pNumRootNodes)
{
    VS_RT_CALL(vs_rt.GraphGetRootNodes(graph, pRootNodes, pNumRootNodes));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              cudaGraphEdgeData *edgeData, size_t *numEdges)
{
    VS_RT_CALL(vs_rt.GraphGetEdges(graph, from, to, (E *)edgeData, numEdges));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
                                         cudaGraphEdgeData *edgeData, size_t *pNumDependencies)
{
    VS_RT_CALL(vs_rt.GraphNodeGetDependencies(node, pDependencies, (E *)edgeData,
                                              pNumDependencies));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
                                           cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes)
{
    VS_RT_CALL(vs_rt.GraphNodeGetDependentNodes(node, pDependentNodes, (E *)edgeData,
                                                pNumDependentNodes));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
                                     size_t numDependencies)
{
    VS_RT_CALL(vs_rt.GraphAddDependencies(graph, from, to, (const E *)edgeData, numDependencies));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edgeData, size_t numDependencies)
{
    VS_RT_CALL(vs_rt.GraphRemoveDependencies(graph, from, to, (const E *)edgeData,
                                             numDependencies));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned int flags)
{
    VS_RT_CALL(vs_rt.GraphDebugDotPrint(graph, path, flags));
}

/* ---- executable graphs ---- */

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    VS_RT_CALL(vs_rt.GraphInstantiateWithFlags(pGraphExec, graph, flags));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(pGraphExec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    VS_RT_CALL(vs_rt.GraphInstantiateWithParams(pGraphExec, graph,
                                                (CUDA_GRAPH_INSTANTIATE_PARAMS *)instantiateParams));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                                cudaGraphInstantiateParams *instantiateParams)
{
    VS_RT_CALL(vs_rt.GraphInstantiateWithParams_ptsz(pGraphExec, graph,
                                                     (CUDA_GRAPH_INSTANTIATE_PARAMS *)instantiateParams));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    VS_RT_CALL(vs_rt.GraphExecDestroy(graphExec));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long *flags)
{
    VS_RT_CALL(vs_rt.GraphExecGetFlags(graphExec, (cuuint64_t *)flags));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo *resultInfo)
{
    VS_RT_CALL(vs_rt.GraphExecUpdate(hGraphExec, hGraph,
                                     (CUgraphExecUpdateResultInfo *)resultInfo));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph)
{
    VS_RT_CALL(vs_rt.GraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned int isEnabled)
{
    VS_RT_CALL(vs_rt.GraphNodeSetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode,
                                    unsigned int *isEnabled)
{
    VS_RT_CALL(vs_rt.GraphNodeGetEnabled(hGraphExec, hNode, isEnabled));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    VS_RT_CALL(vs_rt.GraphLaunch(graphExec, stream));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    VS_RT_CALL(vs_rt.GraphUpload(graphExec, stream));
}

/* ---- memory of graphs, user objects ---- */

cudaError_t cudaDeviceGraphMemTrim(int device) { VS_RT_CALL(vs_rt.DeviceGraphMemTrim(device)); }

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                           void *value)
{
    VS_RT_CALL(vs_rt.DeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                           void *value)
{
    VS_RT_CALL(vs_rt.DeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attr, value));
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object_out, void *ptr, cudaHostFn_t destroy,
                                 unsigned int initialRefcount, unsigned int flags)
{
    VS_RT_CALL(vs_rt.UserObjectCreate(object_out, ptr, destroy, initialRefcount, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    VS_RT_CALL(vs_rt.UserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    VS_RT_CALL(vs_rt.UserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags)
{
    VS_RT_CALL(vs_rt.GraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count)
{
    VS_RT_CALL(vs_rt.GraphReleaseUserObject(graph, object, count));
}
