/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: the meaning of a record, its completion, time measurement. Events between streams are in
 * the group "stream". */
#include "conf.h"

#define RECORD_RULE "cuEventRecord: captures what is in the stream at the time of the call"

static CUstream stream;
static CUdeviceptr memory;
static int gate;

SETUP(setup)
{
    stream = conf_stream();
    memory = conf_alloc(4096);
    return cuMemsetD8Async(memory, 0, 4096, stream) || cuCtxSynchronize();
}

static void close_gate(void) { conf_close(stream, &gate); }

static void open_gate(void)
{
    conf_open(&gate);
    DO(cuStreamSynchronize(stream));
}

static CUevent new_event(unsigned flags)
{
    return GOT(CUevent, cuEventCreate(&got, flags));
}

TEST(an_event_never_recorded_is_complete)
{
    CUevent event = new_event(CU_EVENT_DEFAULT);
    WORKS(cuEventQuery(event), "success if the event was never recorded");
    WORKS(cuEventSynchronize(event), "success if the event was never recorded");
}

TEST(an_event_completes_with_the_work_before_it)
{
    CUevent event = new_event(CU_EVENT_DEFAULT);
    close_gate();
    DO(cuEventRecord(event, stream));
    BUSY(cuEventQuery(event), "work is incomplete");
    open_gate();
    WORKS(cuEventQuery(event), "all captured work is done");
    DO(cuEventSynchronize(event));
}

TEST(later_work_does_not_matter)
{
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    DO(cuMemsetD8Async(memory, 1, 4096, stream));
    DO(cuEventRecord(event, stream));
    close_gate();
    WORKS(cuEventSynchronize(event), RECORD_RULE);
    WORKS(cuEventQuery(event), RECORD_RULE);
    BUSY(cuStreamQuery(stream), RECORD_RULE);
    open_gate();
}

TEST(the_newest_record_counts)
{
    CUstream other = conf_stream();
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate();
    DO(cuEventRecord(event, stream));
    BUSY(cuEventQuery(event), "work is incomplete");
    DO(cuEventRecord(event, other));
    WORKS(cuEventSynchronize(event), "cuEventRecord: overwrites the previously captured state");
    DO(cuEventRecord(event, stream));
    BUSY(cuEventQuery(event), "cuEventRecord: overwrites the previously captured state");
    open_gate();
}

TEST(flags_of_events)
{
    CUevent event = NULL;
    WORKS(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING), "flags");
    DO(cuEventRecord(event, stream));
    WORKS(cuEventSynchronize(event),
          "CU_EVENT_BLOCKING_SYNC: cuEventSynchronize blocks until the event completes");
    DO(cuEventDestroy(event));
    INVALID(cuEventCreate(&event, CU_EVENT_INTERPROCESS),
            "INTERPROCESS must come with DISABLE_TIMING");
    RETURNS(cuEventCreate(&event, 0x80000000u), CUDA_ERROR_INVALID_VALUE);
    RETURNS(cuEventCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(elapsed_time_lies_between_two_records)
{
    CUevent begin = new_event(CU_EVENT_DEFAULT), end = new_event(CU_EVENT_DEFAULT);
    DO(cuEventRecord(begin, stream));
    DO(cuMemsetD8Async(memory, 2, 4096, stream));
    DO(cuEventRecord(end, stream));
    DO(cuEventSynchronize(end));
    FACT(GOT(float, cuEventElapsedTime(&got, begin, end)) >= 0,
         "cuEventElapsedTime: milliseconds between start and end");
    FACT(GOT(float, cuEventElapsedTime(&got, begin, begin)) == 0,
         "cuEventElapsedTime: between two events, here one and the same");
}

TEST(what_cannot_be_measured)
{
    float ms;
    CUevent begin = new_event(CU_EVENT_DEFAULT), end = new_event(CU_EVENT_DEFAULT);
    CUevent untimed = new_event(CU_EVENT_DISABLE_TIMING);
    FACT_EQ(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE,
            "neither event has been recorded");
    DO(cuEventRecord(begin, stream));
    DO(cuEventRecord(untimed, stream));
    DO(cuStreamSynchronize(stream));
    FACT_EQ(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE,
            "one event has not been recorded");
    FACT_EQ(cuEventElapsedTime(&ms, begin, untimed), CUDA_ERROR_INVALID_HANDLE,
            "an event with CU_EVENT_DISABLE_TIMING");
    FACT_EQ(cuEventElapsedTime(&ms, untimed, begin), CUDA_ERROR_INVALID_HANDLE,
            "an event with CU_EVENT_DISABLE_TIMING");
    close_gate();
    DO(cuEventRecord(end, stream));
    BUSY(cuEventElapsedTime(&ms, begin, end), "one event is not complete");
    open_gate();
    DO(cuEventElapsedTime(&ms, begin, end));
}

TEST(the_runtime_has_the_same_events)
{
    cudaEvent_t begin, end;
    float ms = -1;
    DO(cudaEventCreate(&begin));
    DO(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
    WORKS(cudaEventQuery(begin), "success if never recorded");
    FACT_EQ(cudaEventElapsedTime(&ms, begin, end), cudaErrorInvalidResourceHandle, "not recorded");
    DO(cudaEventRecord(begin, stream));
    close_gate();
    DO(cudaEventRecord(end, stream));
    RETURNS(cudaEventQuery(end), cudaErrorNotReady);
    BUSY(cuEventQuery(end), "guide, interoperability: cudaEvent_t and CUevent are the same");
    BUSY(cudaEventElapsedTime(&ms, begin, end), "not complete");
    open_gate();
    DO(cudaEventSynchronize(end));
    FACT(GOT(float, cudaEventElapsedTime(&got, begin, end)) >= 0, "cudaEventElapsedTime");
}

#define DEVICES "guide, multi-device system, stream and event behavior: "

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
    REFUSED(cudaEventRecord(here_event, there),
            DEVICES "recording fails when event and stream belong to different devices");
    DO(cudaEventRecord(here_event, stream));
    WORKS(cudaEventRecord(there_event, there),
          DEVICES "recording succeeds when both belong to the same device, current or not");
    WORKS(cudaStreamWaitEvent(there, here_event, 0),
          DEVICES "waiting succeeds even if event and stream belong to different devices");
    WORKS(cudaEventSynchronize(there_event),
          DEVICES "an event of another device can be waited for");
    WORKS(cudaEventQuery(there_event), DEVICES "an event of another device can be asked about");
    REFUSED(cudaEventElapsedTime(&ms, here_event, there_event),
            DEVICES "the time between events of different devices is not measured");
}

#define CONTEXTS "cuCtxRecordEvent, cuCtxWaitEvent: "

TEST(a_context_is_recorded_as_a_whole)
{
    CUcontext ctx = conf_context();
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate();
    WORKS(cuCtxRecordEvent(ctx, event), CONTEXTS "returns");
    BUSY(cuEventQuery(event), CONTEXTS "all activities of the context at the time of the call");
    open_gate();
    WORKS(cuEventSynchronize(event), CONTEXTS "completes with them");
}

TEST(a_context_waits_as_a_whole)
{
    CUcontext ctx = conf_context();
    CUstream other = conf_stream();
    CUevent event = new_event(CU_EVENT_DISABLE_TIMING);
    close_gate();
    DO(cuEventRecord(event, stream));
    WORKS(cuCtxWaitEvent(ctx, event), CONTEXTS "returns");
    DO(cuMemsetD8Async(memory, 1, 4096, other));
    BUSY(cuStreamQuery(other), CONTEXTS "all future work of the context waits for the event");
    open_gate();
    WORKS(cuStreamSynchronize(other), CONTEXTS "and goes on after it");
}
