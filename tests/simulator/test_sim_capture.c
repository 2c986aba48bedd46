/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture on the stand-in driver, beyond the facts of conformance/conf_capture.c: with
 * kernels that have host functions. */
#include "sim_test.h"

static int note_log[4096];
static atomic_int note_at;

static CUgraphExec end_and_instantiate(CUstream s)
{
    CUgraph graph = sim_captured(s);
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphDestroy(graph));
    return exec;
}

TEST(arguments_are_those_of_the_capture)
{
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    int count = 4, what = 10, back[4];
    CUdeviceptr values = sim_alloc(sizeof back);
    OK(cuMemsetD32(values, 1, 4));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    void *args[] = {&values, &count, &what};
    OK(cuLaunchKernel(sim_function("add"), 1, 1, 1, 4, 1, 1, 0, s, args, NULL));
    what = 1000; /* was copied */
    CUgraphExec exec = end_and_instantiate(s);
    OK(cuCtxSynchronize());
    OK(cuGraphLaunch(exec, s));
    sim_run(exec, s);
    OK(cuMemcpyDtoH(back, values, sizeof back));
    assert_int_equal(back[3], 21);
}

TEST(a_destroyed_stream_takes_the_capture_it_began_with_it)
{
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    sim_launch_note(s, note_log, &note_at, 1);
    OK(cuStreamDestroy(s));
    sim_alloc(64); /* nothing forbids it any more */
}

TEST(a_destroyed_fork_must_still_have_been_joined)
{
    CUstream a = sim_stream(CU_STREAM_NON_BLOCKING), b = sim_stream(CU_STREAM_NON_BLOCKING);
    CUgraph graph;
    CUevent ev = sim_event(0);
    OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    sim_launch_note(a, note_log, &note_at, 1);
    OK(cuEventRecord(ev, a));
    OK(cuStreamWaitEvent(b, ev, 0));
    sim_launch_note(b, note_log, &note_at, 2);
    OK(cuStreamDestroy(b));
    FAILS(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
}

TEST(a_launch_into_a_capturing_stream_is_a_child_graph)
{
    CUstream s = sim_stream(CU_STREAM_NON_BLOCKING);
    note_at = 0;
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    sim_launch_note(s, note_log, &note_at, 7);
    CUgraphExec inner = end_and_instantiate(s);
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuGraphLaunch(inner, s));
    CUgraph graph = sim_captured(s);
    assert_int_equal(GOT(CUgraphNodeType, cuGraphNodeGetType(sim_only_node(graph), &got)),
                     CU_GRAPH_NODE_TYPE_GRAPH);
    CUgraphExec outer = sim_exec(graph);
    OK(cuGraphExecDestroy(inner));
    sim_run(outer, s);
    assert_int_equal(note_at, 1);
}

SIM_TESTS_ON(NULL)
