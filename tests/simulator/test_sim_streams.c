/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchrony of the stand-in driver, beyond the facts of conformance/conf_stream.c and conf_event.c:
 * kernels in several streams, full queues, memory that is freed meanwhile, simulated time. */
#include "sim_test.h"

#include <pthread.h>

static int note_log[8192];
static atomic_int note_at;

static int noted(CUstream stream, int what)
{
    sim_launch_note(stream, note_log, &note_at, what);
    return what;
}

TEST(synchronising_the_legacy_stream_waits_for_blocking_streams)
{
    CUstream s = sim_stream(0);
    note_at = 0;
    for (int i = 0; i < 200; i++)
        noted(s, i);
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    assert_int_equal(note_at, 200);
}

TEST(free_waits_for_work_that_may_use_the_memory)
{
    atomic_int open = 0;
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr p;
    int count = 1024, what = 1;
    void *args[] = {&p, &count, &what};
    note_at = 0;
    OK(cuMemAlloc(&p, 4096));
    sim_launch_gate(s, &open);
    for (int i = 0; i < 50; i++)
        OK(cuLaunchKernel(sim_function("add"), 4, 1, 1, 256, 1, 1, 0, s, args, NULL));
    noted(s, 1);
    atomic_store(&open, 1);
    OK(cuMemFree(p));
    assert_int_equal(note_at, 1); /* everything before it had run */
}

TEST(a_grid_is_run_completely_whatever_its_size)
{
    CUfunction add = sim_function("add");
    for (int blocks = 1; blocks <= 20000; blocks = blocks * 3 + 1) {
        int count = blocks * 32, what = 3;
        CUdeviceptr p;
        void *args[] = {&p, &count, &what};
        int *host = malloc((size_t)count * 4);
        OK(cuMemAlloc(&p, (size_t)count * 4));
        OK(cuMemsetD32(p, 4, (size_t)count));
        for (int i = 0; i < 3; i++)
            OK(cuLaunchKernel(add, (unsigned)blocks, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
        OK(cuMemcpyDtoH(host, p, (size_t)count * 4));
        for (int i = 0; i < count; i++)
            assert_int_equal(host[i], 13);
        OK(cuMemFree(p));
        free(host);
    }
}

TEST(events_measure_simulated_time)
{
    float ms;
    atomic_int open = 0;
    CUevent begin = sim_event(0), end = sim_event(0);
    FAILS(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_INVALID_HANDLE); /* never recorded */
    sim_launch_gate(NULL, &open); /* nothing is complete before it opens, however slow this process is */
    OK(cuEventRecord(begin, NULL));
    for (int i = 0; i < 5; i++) /* no host function: kernel_us=2000 each */
        OK(cuLaunchKernel(sim_function("only_time"), 8, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    OK(cuEventRecord(end, NULL));
    FAILS(cuEventElapsedTime(&ms, begin, end), CUDA_ERROR_NOT_READY);
    double before = sim_now_ms();
    atomic_store(&open, 1);
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, begin, end));
    assert_true(ms > 9.99f && ms < 10.01f);
    assert_true(sim_now_ms() - before >= 9.5); /* and it did pass */
}

/* ---- host functions ---- */

static void CUDA_CB allocate(void *result)
{
    CUdeviceptr p;
    *(CUresult *)result = cuMemAlloc(&p, 4);
}

TEST(host_functions_may_not_call_cuda)
{
    CUstream s = sim_stream(0);
    CUresult inside = CUDA_SUCCESS;
    OK(cuLaunchHostFunc(s, allocate, &inside));
    OK(cuStreamSynchronize(s));
    assert_int_equal(inside, CUDA_ERROR_NOT_PERMITTED);
}

/* ---- copies ---- */

TEST(a_pageable_source_may_be_changed_after_an_async_copy)
{
    atomic_int open = 0;
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    int value = 5, back = 0;
    CUdeviceptr p = sim_alloc(4);
    sim_launch_gate(s, &open);
    OK(cuMemcpyHtoDAsync(p, &value, 4, s)); /* staged: returns while the gate is closed */
    value = 6;
    FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    atomic_store(&open, 1);
    OK(cuMemcpyDtoHAsync(&back, p, 4, s)); /* pageable target: returns when done */
    assert_int_equal(back, 5);
}

TEST(a_copy_from_memory_freed_meanwhile_fails_its_context_for_good)
{
    atomic_int open = 0;
    CUdeviceptr p = sim_alloc(4096);
    CUcontext other = sim_context_on(0);
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr q = sim_alloc(4096);
    sim_launch_gate(s, &open);
    OK(cuMemcpyDtoDAsync(q, p, 4096, s));
    OK(cuCtxPopCurrent(NULL));
    OK(cuMemFree(p)); /* waits for p's context, not for the other one's stream */
    atomic_store(&open, 1);
    OK(cuCtxPushCurrent(other));
    FAILS(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    FAILS(cuMemAlloc(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    FAILS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(other));
    OK(cuCtxSynchronize()); /* the primary context is unharmed */
}

TEST(a_full_queue_makes_the_caller_wait)
{
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    note_at = 0;
    for (int i = 0; i < 8000; i++)
        noted(s, i);
    assert_true(note_at >= 8000 - 1024);
    OK(cuStreamSynchronize(s));
    assert_int_equal(note_at, 8000);
    for (int i = 0; i < 8000; i++)
        assert_int_equal(note_log[i], i);
}

TEST(handles_of_streams_and_events_are_checked)
{
    int least, greatest;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    assert_true(greatest < least);
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    assert_int_equal(GOT(CUstreamCaptureStatus, cuStreamIsCapturing(s, &got)),
                     CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuStreamDestroy(s));
    FAILS(cuStreamQuery(s), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy(s), CUDA_ERROR_INVALID_HANDLE);
    INVALID(cuStreamCreate(&s, 0xff));
    FAILS(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    FAILS(cuStreamDestroy(CU_STREAM_LEGACY), CUDA_ERROR_INVALID_HANDLE);
    CUevent ev = sim_event(0);
    OK(cuEventDestroy(ev));
    FAILS(cuEventDestroy(ev), CUDA_ERROR_INVALID_HANDLE);
}

/* ---- threads: results are gathered there and asserted here ---- */

struct hammer {
    CUcontext ctx;
    CUstream shared;
    CUdeviceptr counter;
    CUfunction add;
    int failed;
};

static void *hammer_main(void *arg)
{
    struct hammer *h = arg;
    CUstream own;
    CUevent ev;
    int one = 1;
    void *args[] = {&h->counter, &one, &one};
    h->failed = cuCtxSetCurrent(h->ctx) || cuStreamCreate(&own, 0) || cuEventCreate(&ev, 0);
    for (int i = 0; i < 300 && !h->failed; i++) {
        CUdeviceptr p;
        h->failed = cuLaunchKernel(h->add, 1, 1, 1, 1, 1, 1, 0, h->shared, args, NULL) ||
                    cuMemAllocAsync(&p, 5000, own) || cuMemsetD8Async(p, 1, 5000, own) ||
                    cuEventRecord(ev, h->shared) || cuStreamWaitEvent(own, ev, 0) ||
                    cuMemFreeAsync(p, own) || (i % 50 == 0 && cuStreamSynchronize(own)) ||
                    (i % 70 == 0 && (cuMemAlloc(&p, 100) || cuMemFree(p)));
    }
    h->failed = h->failed || cuStreamDestroy(own) || cuEventDestroy(ev);
    return NULL;
}

TEST(threads_may_share_a_stream)
{
    struct hammer h[4];
    pthread_t threads[4];
    CUstream shared = sim_stream(0);
    CUcontext ctx = sim_context();
    CUdeviceptr counter = sim_alloc(4);
    OK(cuMemsetD32(counter, 0, 1));
    for (int i = 0; i < 4; i++) {
        h[i] = (struct hammer){ctx, shared, counter, sim_function("add"), 0};
        pthread_create(&threads[i], NULL, hammer_main, &h[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(h[i].failed, 0);
    }
    OK(cuCtxSynchronize());
    assert_int_equal(GOT(int, cuMemcpyDtoH(&got, counter, 4)), 4 * 300);
}

/* cuCtxWaitEvent: all future work, also of streams created later. */
TEST(a_waiting_context_holds_streams_that_come_later)
{
    atomic_int open = 0;
    CUcontext ctx = sim_context(), other = sim_context_on(0);
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = sim_event(CU_EVENT_DISABLE_TIMING);
    FAILS(cuCtxRecordEvent(ctx, event), CUDA_ERROR_INVALID_HANDLE); /* of another context */
    sim_launch_gate(s, &open);
    OK(cuCtxRecordEvent(other, event));
    OK(cuCtxSetCurrent(ctx));
    OK(cuCtxWaitEvent(ctx, event));
    CUstream late = sim_stream(CU_STREAM_NON_BLOCKING);
    note_at = 0;
    noted(late, 1);
    usleep(10000);
    assert_int_equal(note_at, 0);
    atomic_store(&open, 1);
    OK(cuStreamSynchronize(late));
    assert_int_equal(note_at, 1);
    OK(cuCtxDestroy(other));
}

TEST(contexts_that_capture_have_no_events)
{
    CUgraph graph;
    CUcontext ctx = sim_context();
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = sim_event(CU_EVENT_DISABLE_TIMING);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    FAILS(cuCtxRecordEvent(ctx, event), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    FAILS(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
TEST(the_last_detach_destroys)
{
    CUcontext again, mine = sim_context(), ctx = sim_context_on(0);
    INVALID(cuCtxAttach(&again, 1));
    OK(cuCtxAttach(&again, 0));
    assert_ptr_equal(again, ctx);
    FAILS(cuCtxDetach(mine), CUDA_ERROR_INVALID_CONTEXT); /* not current */
    OK(cuCtxDetach(ctx));
    OK(cuCtxSynchronize());
    OK(cuCtxDetach(ctx));
    OK(cuCtxGetCurrent(&again));
    assert_ptr_equal(again, mine);
    FAILS(cuCtxPushCurrent(ctx) ? CUDA_SUCCESS : cuCtxSynchronize(),
          CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxPopCurrent(NULL));
}
#pragma GCC diagnostic pop

SIM_TESTS_ON("t4-16g,capacity=1GiB,kernel_us=2000")
