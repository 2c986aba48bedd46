/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures begin and end, and streams end. Counted whatever the state of the
 * recording: a process may begin one before anything else is known of it. */
#include "intercept/capture.h"
#include "intercept/event_ops.h"
#include "intercept/hook.h"
#include "intercept/process.h"

/* The form of CUDA 10.0, whose mode is global. */
CUresult cuStreamBeginCapture(CUstream stream)
{
    vs_capture_begins();
    return vs_capture_began(stream, false, VS_REAL(cuStreamBeginCapture, stream));
}

CUresult cuStreamBeginCapture_ptsz(CUstream stream)
{
    vs_capture_begins();
    return vs_capture_began(stream, true, VS_REAL(cuStreamBeginCapture_ptsz, stream));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    vs_capture_begins();
    return vs_capture_began(stream, false, VS_REAL(cuStreamBeginCapture_v2, stream, mode));
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode)
{
    vs_capture_begins();
    return vs_capture_began(stream, true, VS_REAL(cuStreamBeginCapture_v2_ptsz, stream, mode));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                                     const CUgraphEdgeData *edges, size_t count,
                                     CUstreamCaptureMode mode)
{
    vs_capture_begins();
    return vs_capture_began(stream, false, VS_REAL(cuStreamBeginCaptureToGraph, stream, graph,
                                                   nodes, edges, count, mode));
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *nodes,
                                          const CUgraphEdgeData *edges, size_t count,
                                          CUstreamCaptureMode mode)
{
    vs_capture_begins();
    return vs_capture_began(stream, true, VS_REAL(cuStreamBeginCaptureToGraph_ptsz, stream, graph,
                                                  nodes, edges, count, mode));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    return vs_capture_ended(stream, false, VS_REAL(cuStreamEndCapture, stream, graph));
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    return vs_capture_ended(stream, true, VS_REAL(cuStreamEndCapture_ptsz, stream, graph));
}

/* Before: afterwards another stream may have this handle. */
static bool stream_ends(CUstream stream)
{
    if (!vs_thread.inside && vs_process_state() == VS_PROCESS_ACTIVE && vs_process_serving()) {
        vs_thread.inside++;
        vs_stream_ends(stream);
        vs_thread.inside--;
    }
    return vs_capture_taken(stream);
}

static CUresult stream_ended(CUstream stream, bool captured, CUresult r)
{
    if (captured && r != CUDA_SUCCESS)
        vs_capture_given_back(stream);
    return r;
}

CUresult cuStreamDestroy(CUstream stream)
{
    bool captured = stream_ends(stream);
    return stream_ended(stream, captured, VS_REAL(cuStreamDestroy, stream));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    bool captured = stream_ends(stream);
    return stream_ended(stream, captured, VS_REAL(cuStreamDestroy_v2, stream));
}
