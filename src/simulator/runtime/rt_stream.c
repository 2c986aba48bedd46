/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, events and host functions in the runtime. */
#include "simulator/runtime/vs_sim_runtime.h"

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags, int priority)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.StreamCreateWithPriority(pStream, flags, priority)));
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
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.StreamDestroy(stream)));
}

static cudaError_t stream_query(cudaStream_t stream, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.StreamQuery(vs_rt_stream(stream, per_thread))));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) { return stream_query(stream, false); }

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return stream_query(stream, true); }

static cudaError_t stream_synchronize(cudaStream_t stream, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.StreamSynchronize(vs_rt_stream(stream, per_thread))));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return stream_synchronize(stream, false); }

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    return stream_synchronize(stream, true);
}

static cudaError_t stream_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned int flags,
                                     bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.StreamWaitEvent(vs_rt_stream(stream, per_thread), event, flags)));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return stream_wait_event(stream, event, flags, false);
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
    return stream_wait_event(stream, event, flags, true);
}

static cudaError_t stream_add_callback(cudaStream_t stream, cudaStreamCallback_t callback,
                                       void *userData, unsigned int flags, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e
          : vs_rt_error(vs_rt.StreamAddCallback(vs_rt_stream(stream, per_thread),
                                                (CUstreamCallback)callback, userData, flags)));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    return stream_add_callback(stream, callback, userData, flags, false);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                       void *userData, unsigned int flags)
{
    return stream_add_callback(stream, callback, userData, flags, true);
}

static cudaError_t stream_attach_mem_async(cudaStream_t stream, void *devPtr, size_t length,
                                           unsigned int flags, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e
          : vs_rt_error(vs_rt.StreamAttachMemAsync(vs_rt_stream(stream, per_thread),
                                                   (CUdeviceptr)devPtr, length, flags)));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                     unsigned int flags)
{
    return stream_attach_mem_async(stream, devPtr, length, flags, false);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *devPtr, size_t length,
                                          unsigned int flags)
{
    return stream_attach_mem_async(stream, devPtr, length, flags, true);
}

static cudaError_t launch_host_func(cudaStream_t stream, cudaHostFn_t fn, void *userData,
                                    bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.LaunchHostFunc(vs_rt_stream(stream, per_thread), fn, userData)));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return launch_host_func(stream, fn, userData, false);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return launch_host_func(stream, fn, userData, true);
}

static cudaError_t stream_get_priority(cudaStream_t stream, int *priority, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.StreamGetPriority(vs_rt_stream(stream, per_thread), priority)));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    return stream_get_priority(stream, priority, false);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int *priority)
{
    return stream_get_priority(stream, priority, true);
}

static cudaError_t stream_get_flags(cudaStream_t stream, unsigned int *flags, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.StreamGetFlags(vs_rt_stream(stream, per_thread), flags)));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    return stream_get_flags(stream, flags, false);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int *flags)
{
    return stream_get_flags(stream, flags, true);
}

static cudaError_t stream_get_id(cudaStream_t stream, unsigned long long *streamId, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.StreamGetId(vs_rt_stream(stream, per_thread), streamId)));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *streamId)
{
    return stream_get_id(stream, streamId, false);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *streamId)
{
    return stream_get_id(stream, streamId, true);
}

static cudaError_t stream_get_device(cudaStream_t stream, int *device, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.StreamGetDevice(vs_rt_stream(stream, per_thread), device)));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    return stream_get_device(stream, device, false);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int *device)
{
    return stream_get_device(stream, device, true);
}

static cudaError_t event_record(cudaEvent_t event, cudaStream_t stream, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(
        e ? e : vs_rt_error(vs_rt.EventRecord(event, vs_rt_stream(stream, per_thread))));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return event_record(event, stream, false);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return event_record(event, stream, true);
}

static cudaError_t event_record_with_flags(cudaEvent_t event, cudaStream_t stream,
                                           unsigned int flags, bool per_thread)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e ? e
                          : vs_rt_error(vs_rt.EventRecordWithFlags(
                                event, vs_rt_stream(stream, per_thread), flags)));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return event_record_with_flags(event, stream, flags, false);
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
                                          unsigned int flags)
{
    return event_record_with_flags(event, stream, flags, true);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    cudaError_t e = vs_rt_enter_context();
    return vs_rt_result(e ? e : vs_rt_error(vs_rt.EventCreate(event, flags)));
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
