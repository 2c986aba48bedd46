/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "passed through");

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    VS_RT_CALL(vs_rt.StreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData,
                                          size_t numDependencies, enum cudaStreamCaptureMode mode)
{
    VS_RT_CALL(vs_rt.StreamBeginCaptureToGraph(stream, graph, dependencies,
                                               (const CUgraphEdgeData *)dependencyData,
                                               numDependencies, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    VS_RT_CALL(vs_rt.StreamEndCapture(stream, pGraph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    VS_RT_CALL(vs_rt.StreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out,
                                     const cudaGraphEdgeData **edgeData_out,
                                     size_t *numDependencies_out)
{
    cuuint64_t number;
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_error(vs_rt.StreamGetCaptureInfo(
            stream, (CUstreamCaptureStatus *)captureStatus_out, &number, graph_out, dependencies_out,
            (const CUgraphEdgeData **)edgeData_out, numDependencies_out));
    if (!e && id_out && *captureStatus_out == cudaStreamCaptureStatusActive)
        *id_out = number;
    return vs_rt_result(e);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData,
                                                size_t numDependencies, unsigned int flags)
{
    VS_RT_CALL(vs_rt.StreamUpdateCaptureDependencies(stream, dependencies,
                                                     (const CUgraphEdgeData *)dependencyData,
                                                     numDependencies, flags));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.ThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode)));
}
