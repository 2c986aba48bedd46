/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, events and host functions in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    VS_RT_CALL(vs_rt.StreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(pStream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *pStream)
{
    return cudaStreamCreateWithPriority(pStream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    VS_RT_CALL(vs_rt.StreamDestroy(stream));
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    VS_RT_CALL(vs_rt.StreamQuery(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    VS_RT_CALL(vs_rt.StreamSynchronize(stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    VS_RT_CALL(vs_rt.StreamWaitEvent(stream, event, flags));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    VS_RT_CALL(vs_rt.StreamAddCallback(stream, (CUstreamCallback)callback, userData, flags));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                     unsigned int flags)
{
    VS_RT_CALL(vs_rt.StreamAttachMemAsync(stream, (CUdeviceptr)devPtr, length, flags));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    VS_RT_CALL(vs_rt.LaunchHostFunc(stream, fn, userData));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    VS_RT_CALL(vs_rt.StreamGetPriority(stream, priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    VS_RT_CALL(vs_rt.StreamGetFlags(stream, flags));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *streamId)
{
    VS_RT_CALL(vs_rt.StreamGetId(stream, streamId));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    VS_RT_CALL(vs_rt.StreamGetDevice(stream, device));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    VS_RT_CALL(vs_rt.EventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    VS_RT_CALL(vs_rt.EventRecordWithFlags( event, stream, flags));
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    VS_RT_CALL(vs_rt.EventCreate(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.EventDestroy(event)));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.EventQuery(event)));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.EventSynchronize(event)));
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    cudaError_t e = vs_rt_enter();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.EventElapsedTime(ms, start, end)));
}
