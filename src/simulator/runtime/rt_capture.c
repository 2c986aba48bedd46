/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

_Static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData), "passed through");

/* One function body for both exported forms: *pt* determines the meaning of stream 0. */
#define CALL(call)                                    \
    do {                                              \
        cudaError_t e = vs_rt_enter_context();        \
        return vs_rt_result(e ? e : vs_rt_error(call)); \
    } while (0)

static cudaError_t begin(cudaStream_t stream, enum cudaStreamCaptureMode mode, bool pt)
{
    CALL(vs_rt.StreamBeginCapture(vs_rt_stream(stream, pt), (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return begin(stream, mode, false);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return begin(stream, mode, true);
}

static cudaError_t begin_to(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *nodes,
                            const cudaGraphEdgeData *edges, size_t count,
                            enum cudaStreamCaptureMode mode, bool pt)
{
    CALL(vs_rt.StreamBeginCaptureToGraph(vs_rt_stream(stream, pt), graph, nodes,
                                         (const CUgraphEdgeData *)edges, count,
                                         (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData,
                                          size_t numDependencies, enum cudaStreamCaptureMode mode)
{
    return begin_to(stream, graph, dependencies, dependencyData, numDependencies, mode, false);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t *dependencies,
                                               const cudaGraphEdgeData *dependencyData,
                                               size_t numDependencies,
                                               enum cudaStreamCaptureMode mode)
{
    return begin_to(stream, graph, dependencies, dependencyData, numDependencies, mode, true);
}

static cudaError_t end(cudaStream_t stream, cudaGraph_t *graph, bool pt)
{
    CALL(vs_rt.StreamEndCapture(vs_rt_stream(stream, pt), graph));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    return end(stream, pGraph, false);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *pGraph)
{
    return end(stream, pGraph, true);
}

static cudaError_t is_capturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status, bool pt)
{
    CALL(vs_rt.StreamIsCapturing(vs_rt_stream(stream, pt), (CUstreamCaptureStatus *)status));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    return is_capturing(stream, status, false);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    return is_capturing(stream, status, true);
}

static cudaError_t info(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                        unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes,
                        const cudaGraphEdgeData **edges, size_t *count, bool pt)
{
    cuuint64_t number;
    cudaError_t e = vs_rt_enter_context();
    if (!e)
        e = vs_rt_error(vs_rt.StreamGetCaptureInfo(
            vs_rt_stream(stream, pt), (CUstreamCaptureStatus *)status, &number, graph, nodes,
            (const CUgraphEdgeData **)edges, count));
    if (!e && id && *status == cudaStreamCaptureStatusActive)
        *id = number;
    return vs_rt_result(e);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out,
                                     const cudaGraphEdgeData **edgeData_out,
                                     size_t *numDependencies_out)
{
    return info(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                numDependencies_out, false);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                          enum cudaStreamCaptureStatus *captureStatus_out,
                                          unsigned long long *id_out, cudaGraph_t *graph_out,
                                          const cudaGraphNode_t **dependencies_out,
                                          const cudaGraphEdgeData **edgeData_out,
                                          size_t *numDependencies_out)
{
    return info(stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                numDependencies_out, true);
}

static cudaError_t update(cudaStream_t stream, cudaGraphNode_t *nodes,
                          const cudaGraphEdgeData *edges, size_t count, unsigned flags, bool pt)
{
    CALL(vs_rt.StreamUpdateCaptureDependencies(vs_rt_stream(stream, pt), nodes,
                                               (const CUgraphEdgeData *)edges, count, flags));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData,
                                                size_t numDependencies, unsigned int flags)
{
    return update(stream, dependencies, dependencyData, numDependencies, flags, false);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                     cudaGraphNode_t *dependencies,
                                                     const cudaGraphEdgeData *dependencyData,
                                                     size_t numDependencies, unsigned int flags)
{
    return update(stream, dependencies, dependencyData, numDependencies, flags, true);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.ThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode)));
}
