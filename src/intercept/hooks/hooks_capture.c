/* SPDX-License-Identifier: Apache-2.0
 *
 * Begin and end of captures, and destruction of streams. Counted in every state of the recording: a
 * capture may begin before the process is otherwise known to use CUDA. */
#include "intercept/track/capture.h"
#include "intercept/cache/device_ops.h"
#include "intercept/process/process.h"
#include "intercept/route/hook.h"

#define VS_CAPTURE_HOOK(name, params, args, api, per_thread)                             \
    CUresult name params                                                                 \
    {                                                                                    \
        CUcontext context = vs_capture_begins(hStream);                                  \
        return vs_capture_began(hStream, per_thread, context, VS_REAL_OF(name, args));   \
    }
#include "generated/hook_table.h"

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    return vs_capture_ended(stream, false, VS_REAL(cuStreamEndCapture, stream, graph));
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    return vs_capture_ended(stream, true, VS_REAL(cuStreamEndCapture_ptsz, stream, graph));
}

/* Before the call: afterwards another stream may have this handle. */
static bool stream_ends(CUstream stream, CUcontext *context)
{
    if (!vs_thread.inside && vs_process_state() == VS_PROCESS_ACTIVE && vs_process_serving()) {
        VS_OWN_WORK();
        vs_stream_ends(stream);
    }
    return vs_capture_taken(stream, context);
}

static CUresult stream_ended(CUstream stream, bool captured, CUcontext context, CUresult r)
{
    if (captured && r != CUDA_SUCCESS)
        vs_capture_given_back(stream, context);
    return r;
}

CUresult cuStreamDestroy(CUstream stream)
{
    CUcontext context = NULL;
    bool captured = stream_ends(stream, &context);
    return stream_ended(stream, captured, context, VS_REAL(cuStreamDestroy, stream));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUcontext context = NULL;
    bool captured = stream_ends(stream, &context);
    return stream_ended(stream, captured, context, VS_REAL(cuStreamDestroy_v2, stream));
}
