/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: the meaning of a record, its completion, time measurement. Events between streams are in
 * the group "stream". */
#include "conf.h"

#define RECORD_RULE "cuda.h, cuEventRecord: captures what is in the stream at the time of the call"

static CUstream stream;
static CUdeviceptr memory;
static int gate;

static int setup(void **state)
{
    return conf_begin(state) || cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) ||
                   cuMemAlloc(&memory, 4096) || cuMemsetD8Async(memory, 0, 4096, stream) ||
                   cuCtxSynchronize();
}

static void close_gate(void)
{
    gate = 0;
    DO(cuLaunchHostFunc(stream, conf_gate, &gate));
}

static void open_gate(void)
{
    conf_open(&gate);
    DO(cuStreamSynchronize(stream));
}

static CUevent new_event(unsigned flags)
{
    CUevent event = NULL;
    DO(cuEventCreate(&event, flags));
    return event;
}

TEST(an_event_never_recorded_is_complete)
{
    CUevent event = new_event(CU_EVENT_DEFAULT);
    FACT_EQ(cuEventQuery(event), CUDA_SUCCESS,
            "cuEventQuery: success if the event was never recorded");
    FACT_EQ(cuEventSynchronize(event), CUDA_SUCCESS,
            "cuEventSynchronize: success if the event was never recorded");
}

TEST(an_event_completes_with_the_work_before_it)
{
    CUevent event = new_event(CU_EVENT_DEFAULT);
    close_gate();
    DO(cuEventRecord(event, stream));
    FACT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY, "cuEventQuery: work is incomplete");
    open_gate();
    FACT_EQ(cuEventQuery(event), CUDA_SUCCESS, "cuEventQuery: all captured work is done");
    DO(cuEventSynchronize(event));
}

TEST(later_work_does_not_matter)
{
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    DO(cuMemsetD8Async(memory, 1, 4096, stream));
    DO(cuEventRecord(event, stream));
    close_gate();
    FACT_EQ(cuEventSynchronize(event), CUDA_SUCCESS, RECORD_RULE);
    FACT_EQ(cuEventQuery(event), CUDA_SUCCESS, RECORD_RULE);
    FACT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY, RECORD_RULE);
    open_gate();
}

TEST(the_newest_record_counts)
{
    CUstream other = NULL;
    DO(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate();
    DO(cuEventRecord(event, stream));
    FACT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY, "cuEventQuery: work is incomplete");
    DO(cuEventRecord(event, other));
    FACT_EQ(cuEventSynchronize(event), CUDA_SUCCESS,
            "cuEventRecord: overwrites the previously captured state");
    DO(cuEventRecord(event, stream));
    FACT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY,
            "cuEventRecord: overwrites the previously captured state");
    open_gate();
}

TEST(a_pending_event_may_be_destroyed)
{
    CUevent event = new_event(CU_EVENT_DEFAULT);
    close_gate();
    DO(cuEventRecord(event, stream));
    FACT_EQ(cuEventDestroy(event), CUDA_SUCCESS,
            "cuEventDestroy: may be called before the event is complete, does not block");
    FACT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY,
            "cuEventDestroy: does not block on completion");
    open_gate();
}

TEST(flags_of_events)
{
    CUevent event = NULL;
    FACT_EQ(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS,
            "cuEventCreate: flags");
    DO(cuEventRecord(event, stream));
    FACT_EQ(cuEventSynchronize(event), CUDA_SUCCESS,
            "CU_EVENT_BLOCKING_SYNC: cuEventSynchronize blocks until the event completes");
    DO(cuEventDestroy(event));
    FACT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE,
            "cuEventCreate: INTERPROCESS must come with DISABLE_TIMING");
    RETURNS(cuEventCreate(&event, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(elapsed_time_lies_between_two_records)
{
    float ms = -1;
    CUevent begin = new_event(CU_EVENT_DEFAULT), end = new_event(CU_EVENT_DEFAULT);
    DO(cuEventRecord(begin, stream));
    DO(cuMemsetD8Async(memory, 2, 4096, stream));
    DO(cuEventRecord(end, stream));
    DO(cuEventSynchronize(end));
    DO(cuEventElapsedTime(&ms, begin, end));
    FACT(ms >= 0, "cuEventElapsedTime: milliseconds between start and end");
    DO(cuEventElapsedTime(&ms, begin, begin));
    FACT(ms == 0, "cuEventElapsedTime: between two events, here one and the same");
}

TEST(what_cannot_be_measured)
{
    float ms;
    CUevent begin = new_event(CU_EVENT_DEFAULT), end = new_event(CU_EVENT_DEFAULT);
    CUevent untimed = new_event(CU_EVENT_DISABLE_TIMING);
    FACT_EQ(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE,
            "cuEventElapsedTime: neither event has been recorded");
    DO(cuEventRecord(begin, stream));
    DO(cuEventRecord(untimed, stream));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE,
            "cuEventElapsedTime: one event has not been recorded");
    FACT_EQ(cuEventElapsedTime(&ms, begin, untimed), CUDA_ERROR_INVALID_HANDLE,
            "cuEventElapsedTime: an event with CU_EVENT_DISABLE_TIMING");
    FACT_EQ(cuEventElapsedTime(&ms, untimed, begin), CUDA_ERROR_INVALID_HANDLE,
            "cuEventElapsedTime: an event with CU_EVENT_DISABLE_TIMING");
    close_gate();
    DO(cuEventRecord(end, stream));
    FACT_EQ(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_NOT_READY,
            "cuEventElapsedTime: one event is not complete");
    open_gate();
    DO(cuEventElapsedTime(&ms, begin, end));
}

TEST(the_runtime_has_the_same_events)
{
    cudaEvent_t begin, end;
    float ms = -1;
    DO(cudaEventCreate(&begin));
    DO(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    FACT_EQ(cudaEventQuery(begin), cudaSuccess, "cudaEventQuery: success if never recorded");
    FACT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle,
            "cudaEventElapsedTime: not recorded");
    (void)cudaGetLastError();
    DO(cudaEventRecord(begin, stream));
    close_gate();
    DO(cudaEventRecord(end, stream));
    RETURNS(cudaEventQuery(end), cudaErrorNotReady);
    FACT_EQ(cuEventQuery(end), CUDA_ERROR_NOT_READY,
            "CUDA programming guide, interoperability: cudaEvent_t and CUevent are the same");
    FACT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorNotReady,
            "cudaEventElapsedTime: not complete");
    (void)cudaGetLastError();
    open_gate();
    DO(cudaEventSynchronize(end));
    DO(cudaEventElapsedTime(&ms, begin, end));
    FACT(ms >= 0, "cudaEventElapsedTime");
}

#define DEVICES "CUDA programming guide, multi-device system, stream and event behavior: "

TEST(events_and_streams_of_two_devices)
{
    cudaStream_t there = NULL;
    cudaEvent_t here_event, there_event;
    int count = 0;
    float ms;
    DO(cudaGetDeviceCount(&count));
    NEED(count >= 2, "there is one device");
    DO(cudaEventCreate(&here_event));
    DO(cudaSetDevice(1));
    DO(cudaStreamCreate(&there));
    DO(cudaEventCreate(&there_event));
    DO(cudaSetDevice(0));
    FACT(cudaEventRecord(here_event, there) != cudaSuccess,
         DEVICES "recording fails when event and stream belong to different devices");
    (void)cudaGetLastError();
    DO(cudaEventRecord(here_event, stream));
    FACT_EQ(cudaEventRecord(there_event, there), cudaSuccess,
            DEVICES "recording succeeds when both belong to the same device, current or not");
    FACT_EQ(cudaStreamWaitEvent(there, here_event, 0), cudaSuccess,
            DEVICES "waiting succeeds even if event and stream belong to different devices");
    FACT_EQ(cudaEventSynchronize(there_event), cudaSuccess,
            DEVICES "an event of another device can be waited for");
    FACT_EQ(cudaEventQuery(there_event), cudaSuccess,
            DEVICES "an event of another device can be asked about");
    FACT(cudaEventElapsedTime(&ms, here_event, there_event) != cudaSuccess,
         DEVICES "the time between events of different devices is not measured");
    (void)cudaGetLastError();
    DO(cudaStreamSynchronize(there));
}

#define CONTEXTS "cuda.h, cuCtxRecordEvent, cuCtxWaitEvent: "

TEST(a_context_is_recorded_as_a_whole)
{
    CUcontext ctx;
    DO(cuCtxGetCurrent(&ctx));
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate();
    FACT_EQ(cuCtxRecordEvent(ctx, event), CUDA_SUCCESS, CONTEXTS "returns");
    FACT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY,
            CONTEXTS "all activities of the context at the time of the call");
    open_gate();
    FACT_EQ(cuEventSynchronize(event), CUDA_SUCCESS, CONTEXTS "completes with them");
}

TEST(a_context_waits_as_a_whole)
{
    CUcontext ctx;
    CUstream other;
    DO(cuCtxGetCurrent(&ctx));
    DO(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate();
    DO(cuEventRecord(event, stream));
    FACT_EQ(cuCtxWaitEvent(ctx, event), CUDA_SUCCESS, CONTEXTS "returns");
    DO(cuMemsetD8Async(memory, 1, 4096, other));
    FACT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY,
            CONTEXTS "all future work of the context waits for the event");
    open_gate();
    FACT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS, CONTEXTS "and goes on after it");
}

int conf_event(void)
{
    return vs_run_tests_around("event", setup, conf_end, NULL, NULL);
}
