/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture on the stand-in driver, with kernels that have host functions. */
#include "sim_test.h"

#include <pthread.h>

static int note_log[4096];
static atomic_int note_at;

static CUstream new_stream(void)
{
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

static CUgraphExec end_and_instantiate(CUstream s)
{
    CUgraph graph;
    CUgraphExec exec;
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    return exec;
}

static size_t node_count(CUgraph graph)
{
    size_t count;
    OK(cuGraphGetNodes(graph, NULL, &count));
    return count;
}

TEST(captured_kernels_run_when_the_graph_is_launched)
{
    CUstream s = new_stream();
    note_at = 0;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 5; i++)
        sim_launch_note(s, note_log, &note_at, i);
    CUgraphExec exec = end_and_instantiate(s);
    OK(cuStreamSynchronize(s));
    assert_int_equal(note_at, 0);
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
    assert_int_equal(note_at, 15);
    for (int i = 0; i < 15; i++)
        assert_int_equal(note_log[i], i % 5);
    OK(cuGraphExecDestroy(exec));
    OK(cuStreamDestroy(s));
}

TEST(arguments_are_those_of_the_capture)
{
    CUstream s = new_stream();
    CUdeviceptr values;
    int count = 4, what = 10, back[4];
    OK(cuMemAlloc(&values, sizeof back));
    OK(cuMemsetD32(values, 1, 4));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    void *args[] = {&values, &count, &what};
    OK(cuLaunchKernel(sim_function("add"), 1, 1, 1, 4, 1, 1, 0, s, args, NULL));
    what = 1000; /* was copied */
    CUgraphExec exec = end_and_instantiate(s);
    OK(cuCtxSynchronize());
    OK(cuGraphLaunch(exec, s));
    OK(cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(back, values, sizeof back));
    assert_int_equal(back[3], 21);
    OK(cuGraphExecDestroy(exec));
    OK(cuMemFree(values));
    OK(cuStreamDestroy(s));
}

TEST(a_captured_copy_reads_its_pageable_source_at_each_launch)
{
    CUstream s = new_stream();
    CUdeviceptr d;
    int from = 1, to = 0;
    OK(cuMemAlloc(&d, 64));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyHtoDAsync(d, &from, sizeof from, s));
    OK(cuMemcpyDtoHAsync(&to, d, sizeof to, s));
    CUgraphExec exec = end_and_instantiate(s);
    for (from = 5; from < 8; from++) {
        OK(cuGraphLaunch(exec, s));
        OK(cuStreamSynchronize(s));
        assert_int_equal(to, from);
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuMemFree(d));
    OK(cuStreamDestroy(s));
}

TEST(branches_of_a_captured_fork_run_beside_each_other)
{
    CUstream a = new_stream(), b = new_stream();
    CUevent fork, join;
    atomic_int open = 0;
    note_at = 0;
    OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    sim_launch_note(a, note_log, &note_at, 1);
    OK(cuEventRecord(fork, a));
    OK(cuStreamWaitEvent(b, fork, 0));
    sim_launch_gate(a, &open);
    sim_launch_note(b, note_log, &note_at, 2);
    OK(cuEventRecord(join, b));
    OK(cuStreamWaitEvent(a, join, 0));
    sim_launch_note(a, note_log, &note_at, 3);
    CUgraphExec exec = end_and_instantiate(a);
    OK(cuGraphLaunch(exec, a));
    while (atomic_load(&note_at) < 2) /* 2 runs although the gate is closed */
        usleep(100);
    FAILS(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
    assert_int_equal(note_at, 2);
    atomic_store(&open, 1);
    OK(cuStreamSynchronize(a));
    assert_int_equal(note_log[2], 3);
    OK(cuGraphExecDestroy(exec));
    OK(cuEventDestroy(fork));
    OK(cuEventDestroy(join));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}

TEST(a_capture_in_the_way_of_allocations_is_invalidated_by_them)
{
    CUstream s = new_stream();
    CUgraph graph = (CUgraph)1;
    CUdeviceptr d;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FAILS(cuMemAlloc(&d, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUstreamCaptureStatus status;
    OK(cuStreamIsCapturing(s, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    FAILS(cuMemsetD8Async(1, 0, 1, s), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamEndCapture(s, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    assert_null(graph);
    OK(cuStreamIsCapturing(s, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    OK(cuMemAlloc(&d, 64));
    OK(cuMemFree(d));
    OK(cuStreamDestroy(s));
}

TEST(a_destroyed_stream_takes_the_capture_it_began_with_it)
{
    CUstream s = new_stream();
    CUdeviceptr d;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    sim_launch_note(s, note_log, &note_at, 1);
    OK(cuStreamDestroy(s));
    OK(cuMemAlloc(&d, 64)); /* nothing forbids it any more */
    OK(cuMemFree(d));
}

TEST(a_destroyed_fork_must_still_have_been_joined)
{
    CUstream a = new_stream(), b = new_stream();
    CUevent ev;
    CUgraph graph;
    OK(cuEventCreate(&ev, 0));
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    sim_launch_note(a, note_log, &note_at, 1);
    OK(cuEventRecord(ev, a));
    OK(cuStreamWaitEvent(b, ev, 0));
    sim_launch_note(b, note_log, &note_at, 2);
    OK(cuStreamDestroy(b));
    FAILS(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    OK(cuEventDestroy(ev));
    OK(cuStreamDestroy(a));
}

TEST(a_launch_into_a_capturing_stream_is_a_child_graph)
{
    CUstream s = new_stream();
    CUgraph graph;
    CUgraphNode node;
    CUgraphNodeType type;
    size_t one = 1;
    note_at = 0;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    sim_launch_note(s, note_log, &note_at, 7);
    CUgraphExec inner = end_and_instantiate(s);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuGraphLaunch(inner, s));
    OK(cuStreamEndCapture(s, &graph));
    assert_int_equal(node_count(graph), 1);
    OK(cuGraphGetNodes(graph, &node, &one));
    OK(cuGraphNodeGetType(node, &type));
    assert_int_equal(type, CU_GRAPH_NODE_TYPE_GRAPH);
    CUgraphExec outer;
    OK(cuGraphInstantiate(&outer, graph, 0));
    OK(cuGraphExecDestroy(inner));
    OK(cuGraphLaunch(outer, s));
    OK(cuStreamSynchronize(s));
    assert_int_equal(note_at, 1);
    OK(cuGraphExecDestroy(outer));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(s));
}

static void *end_in_another_thread(void *arg)
{
    CUgraph graph;
    CUcontext ctx;
    intptr_t e = cuDevicePrimaryCtxRetain(&ctx, 0);
    if (!e)
        e = cuCtxSetCurrent(ctx);
    if (!e)
        e = cuStreamEndCapture((CUstream)arg, &graph);
    cuDevicePrimaryCtxRelease(0);
    return (void *)e;
}

TEST(a_wrong_thread_leaves_the_capture_as_it_is)
{
    CUstream s = new_stream();
    CUgraph graph;
    pthread_t thread;
    void *result;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(pthread_create(&thread, NULL, end_in_another_thread, s));
    OK(pthread_join(thread, &result));
    assert_int_equal((intptr_t)result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    OK(cuStreamEndCapture(s, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(s));
}

static int start(void **state)
{
    *state = sim_start();
    sim_register_kernels();
    return 0;
}

int main(void)
{
    return vs_run_tests(start, NULL);
}
