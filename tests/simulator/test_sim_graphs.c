/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs on the stand-in driver: kernels with host functions, branches that run concurrently,
 * capacity, and destruction. */
#include "sim_test.h"

#include <pthread.h>

static int note_log[8192];
static atomic_int note_at;
static CUstream s;

static CUgraph graph_new(void)
{
    CUgraph graph = sim_graph();
    note_at = 0;
    return graph;
}

static void done_with(CUgraph graph, CUgraphExec exec)
{
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

static CUgraphNode add_kernel(CUgraph graph, const CUgraphNode *before, size_t count,
                              const char *name, void **args)
{
    CUDA_KERNEL_NODE_PARAMS params = sim_kernel_params(name, 1, 1, args);
    return GOT(CUgraphNode, cuGraphAddKernelNode(&got, graph, before, count, &params));
}

static CUgraphNode add_note(CUgraph graph, const CUgraphNode *before, size_t count, int what)
{
    int *log = note_log;
    atomic_int *at = &note_at;
    void *args[] = {&log, &at, &what};
    return add_kernel(graph, before, count, "note", args);
}

static CUgraphNode add_gate(CUgraph graph, const CUgraphNode *before, size_t count,
                            atomic_int *open)
{
    void *args[] = {&open};
    return add_kernel(graph, before, count, "gate", args);
}

TEST(arguments_of_kernel_nodes_are_copied_and_shown)
{
    CUgraph graph = graph_new();
    CUDA_KERNEL_NODE_PARAMS params;
    CUgraphNode node = add_note(graph, NULL, 0, 41);
    OK(cuGraphKernelNodeGetParams(node, &params));
    assert_string_equal(GOT(const char *, cuFuncGetName(&got, params.func)), "note");
    assert_int_equal(*(int *)params.kernelParams[2], 41);
    int what = 42;
    void *args[] = {params.kernelParams[0], params.kernelParams[1], &what};
    CUgraphExec exec = sim_exec(graph);
    params.kernelParams = args;
    OK(cuGraphExecKernelNodeSetParams(exec, node, &params));
    what = 0;
    sim_run(exec, s);
    assert_int_equal(note_log[0], 42);
    what = 43;
    OK(cuGraphKernelNodeSetParams(node, &params));
    CUgraphExec second = sim_exec(graph);
    sim_run(second, s);
    assert_int_equal(note_log[1], 43);
}

TEST(branches_run_beside_each_other)
{
    atomic_int open = 0;
    CUgraph graph = graph_new();
    CUgraphNode ends[2] = {add_gate(graph, NULL, 0, &open), add_note(graph, NULL, 0, 1)};
    add_note(graph, ends, 2, 2);
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphLaunch(exec, s));
    while (!atomic_load(&note_at)) /* although the gate is closed */
        usleep(100);
    FAILS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    atomic_store(&open, 1);
    OK(cuStreamSynchronize(s));
    assert_int_equal(note_log[1], 2);
}

TEST(more_branches_than_streams_still_keep_their_order)
{
    CUgraph graph = graph_new();
    CUgraphNode first = add_note(graph, NULL, 0, 0), row[100];
    for (int i = 0; i < 100; i++) {
        row[i] = add_note(graph, &first, 1, 1);
        row[i] = add_note(graph, &row[i], 1, 2);
    }
    add_note(graph, row, 100, 3);
    CUgraphExec exec = sim_exec(graph);
    for (int round = 0; round < 3; round++) {
        note_at = 0;
        sim_run(exec, s);
        assert_int_equal(note_at, 202);
        assert_int_equal(note_log[0], 0);
        assert_int_equal(note_log[201], 3);
    }
}

TEST(a_graph_longer_than_a_queue_is_queued_at_once)
{
    atomic_int open = 0;
    CUgraph graph = graph_new();
    CUgraphNode node = add_gate(graph, NULL, 0, &open);
    for (int i = 0; i < 3000; i++)
        node = add_note(graph, &node, 1, i);
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphLaunch(exec, s)); /* waiting for room would be waiting for the gate */
    atomic_store(&open, 1);
    OK(cuStreamSynchronize(s));
    assert_int_equal(note_at, 3000);
    assert_int_equal(note_log[2999], 2999);
}

TEST(nested_graphs_run_in_their_place)
{
    CUgraph inner = graph_new(), middle = graph_new(), outer = graph_new(), empty = graph_new();
    CUgraphNode a, b;
    a = add_note(inner, NULL, 0, 2);
    add_note(inner, &a, 1, 3);
    OK(cuGraphAddChildGraphNode(&a, middle, NULL, 0, inner));
    OK(cuGraphAddChildGraphNode(&b, middle, &a, 1, empty));
    add_note(middle, &b, 1, 4);
    a = add_note(outer, NULL, 0, 1);
    OK(cuGraphAddChildGraphNode(&b, outer, &a, 1, middle));
    add_note(outer, &b, 1, 5);
    CUgraphExec exec = sim_exec(outer);
    sim_run(exec, s);
    assert_int_equal(note_at, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(note_log[i], i + 1);
}

TEST(a_graph_is_no_child_of_its_own)
{
    CUgraph graph = graph_new();
    CUgraphNode node;
    INVALID(cuGraphAddChildGraphNode(&node, graph, NULL, 0, graph));
}

TEST(stale_handles_are_errors)
{
    CUgraph graph = graph_new();
    CUgraphNode node = add_note(graph, NULL, 0, 1);
    CUgraphExec exec = sim_exec(graph);
    CUgraphNodeType type;
    size_t count;
    done_with(graph, exec);
    INVALID(cuGraphGetNodes(graph, NULL, &count));
    INVALID(cuGraphNodeGetType(node, &type));
    INVALID(cuGraphLaunch(exec, s));
    INVALID(cuGraphExecDestroy(exec));
    INVALID(cuGraphDestroy(graph));
}

/* cuda.h, CUgraphEdgeData: what JAX adds to its graphs on devices of compute capability 9.0. */
TEST(programmatic_dependencies_are_kept_and_give_an_order)
{
    const CUgraphEdgeData edge = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
                                  .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC},
                          full = {.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
    CUgraph graph = graph_new(), copy;
    CUgraphNode a = add_note(graph, NULL, 0, 1), b = add_note(graph, NULL, 0, 2), from[2], to[2], node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    CUgraphEdgeData found[2];
    size_t count = 2;
    INVALID(cuGraphAddNode(&node, graph, &a, &edge, 1, &params)); /* between kernels only */
    INVALID(cuGraphAddDependencies(graph, &b, &a, &full, 1));     /* needs a port of its own */
    OK(cuGraphAddDependencies(graph, &b, &a, &edge, 1));
    FAILS(cuGraphGetEdges(graph, from, to, NULL, &count), CUDA_ERROR_LOSSY_QUERY);
    OK(cuGraphClone(&copy, graph));
    OK(cuGraphGetEdges(copy, from, to, found, &count));
    assert_int_equal(count, 1);
    assert_memory_equal(found, &edge, sizeof edge);
    OK(cuGraphNodeGetDependentNodes(b, to, found, &count));
    assert_memory_equal(found, &edge, sizeof edge);
    CUgraphExec exec = sim_exec(copy);
    sim_run(exec, s);
    assert_int_equal(note_log[0], 2);
    assert_int_equal(note_log[1], 1);
    INVALID(cuGraphRemoveDependencies(graph, &b, &a, NULL, 1));
    OK(cuGraphRemoveDependencies(graph, &b, &a, &edge, 1));
    OK(cuGraphDestroy(graph));
    done_with(copy, exec);
}

TEST(the_child_graph_of_an_executable_one_is_replaced)
{
    CUgraph inner = graph_new(), other = sim_graph(), outer = sim_graph();
    add_note(inner, NULL, 0, 1);
    add_note(other, NULL, 0, 2);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = other}};
    CUgraphNode child = GOT(CUgraphNode, cuGraphAddChildGraphNode(&got, outer, NULL, 0, inner));
    CUgraphExec exec = sim_exec(outer);
    OK(cuGraphExecNodeSetParams(exec, child, &params));
    sim_run(exec, s);
    assert_int_equal(note_log[0], 2);
    OK(cuGraphDestroy(inner));
    OK(cuGraphDestroy(other));
    done_with(outer, exec);
}

TEST(what_is_not_simulated_says_so)
{
    CUgraph graph = graph_new();
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node;
    CUgraphExec exec;
    FAILS(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
    params.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
    FAILS(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH),
          CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- memory ---- */

TEST(memory_of_graphs_is_taken_at_the_launch_and_kept_until_trimmed)
{
    size_t before = sim_free_bytes(), bytes = 5 * MIB; /* three pages */
    CUgraph graph = graph_new();
    CUdeviceptr d;
    CUgraphNode alloc = sim_alloc_node(graph, bytes, &d), release;
    OK(cuGraphAddMemFreeNode(&release, graph, &alloc, 1, d));
    CUgraphExec exec = sim_exec(graph);
    assert_int_equal(sim_free_bytes(), before);
    for (int i = 0; i < 3; i++) {
        sim_run(exec, s);
        assert_int_equal(before - sim_free_bytes(), 6 * MIB);
    }
    cuuint64_t used = 1, reserved = 0;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    assert_int_equal(used, 6 * MIB);
    assert_int_equal(reserved, 6 * MIB);
    OK(cuDeviceGraphMemTrim(0));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    assert_int_equal(used, 0);
    assert_int_equal(sim_free_bytes(), before);
}

TEST(a_launch_that_does_not_fit_changes_nothing)
{
    size_t before = sim_free_bytes();
    CUgraph graph = graph_new();
    CUdeviceptr d[2];
    sim_alloc_node(graph, before / 2 + MIB, &d[0]);
    sim_alloc_node(graph, before / 2 + MIB, &d[1]);
    CUgraphExec exec = sim_exec(graph);
    FAILS(cuGraphLaunch(exec, s), CUDA_ERROR_OUT_OF_MEMORY);
    INVALID(cuMemFree(d[0]));
    OK(cuDeviceGraphMemTrim(0));
    assert_int_equal(sim_free_bytes(), before);
}

TEST(memory_that_was_not_freed_outlives_graph_and_executable)
{
    size_t before = sim_free_bytes();
    CUgraph graph = graph_new();
    CUdeviceptr d;
    unsigned char byte = 0;
    sim_alloc_node(graph, MIB, &d);
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphLaunch(exec, s));
    done_with(graph, exec);
    OK(cuMemsetD8Async(d, 7, MIB, s));
    OK(cuMemcpyDtoHAsync(&byte, d + MIB - 1, 1, s));
    OK(cuStreamSynchronize(s));
    assert_int_equal(byte, 7);
    OK(cuMemFreeAsync(d, s));
    INVALID(cuMemFreeAsync(d, s));
    OK(cuStreamSynchronize(s));
    INVALID(cuMemsetD8(d, 0, 1)); /* the address is unused now */
    OK(cuDeviceGraphMemTrim(0));
    assert_int_equal(sim_free_bytes(), before);
}

TEST(a_graph_with_memory_can_be_moved_into_another)
{
    CUgraph inner = graph_new(), outer = graph_new();
    CUdeviceptr d;
    CUgraphNode alloc = sim_alloc_node(inner, MIB, &d), node;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    OK(cuGraphAddMemFreeNode(&node, inner, &alloc, 1, d));
    params.graph.graph = inner;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    OK(cuGraphAddNode(&node, outer, NULL, NULL, 0, &params));
    INVALID(cuGraphDestroy(inner)); /* owned by its parent now */
    CUgraphExec exec = sim_exec(outer);
    OK(cuGraphLaunch(exec, s));
    sim_run(exec, s);
    OK(cuDeviceGraphMemTrim(0));
}

TEST(memory_used_before_it_is_allocated_is_an_illegal_address)
{
    CUgraph graph = graph_new();
    CUdeviceptr d;
    CUdevice device;
    CUcontext old = sim_context();
    OK(cuCtxGetDevice(&device));
    CUcontext ctx = sim_context_on(device); /* the error is permanent */
    CUstream own = sim_stream(CU_STREAM_NON_BLOCKING);
    sim_alloc_node(graph, MIB, &d);
    OK(cuMemsetD8Async(d, 1, MIB, own)); /* the graph was not launched */
    FAILS(cuStreamSynchronize(own), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuCtxDestroy(ctx));
    OK(cuCtxSetCurrent(old));
}

TEST(a_context_takes_the_memory_of_its_graphs_with_it)
{
    CUgraph graph = graph_new();
    CUdeviceptr d;
    CUdevice device;
    size_t before = sim_free_bytes();
    CUcontext old = sim_context();
    OK(cuCtxGetDevice(&device));
    CUcontext ctx = sim_context_on(device);
    sim_alloc_node(graph, MIB, &d);
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphLaunch(exec, CU_STREAM_LEGACY));
    OK(cuCtxDestroy(ctx)); /* with the allocation unfreed */
    OK(cuCtxSetCurrent(old));
    INVALID(cuMemFree(d));
    INVALID(cuGraphLaunch(exec, s));
    OK(cuDeviceGraphMemTrim(0));
    assert_int_equal(sim_free_bytes(), before);
}

/* ---- threads ---- */

static void *launch_many(void *arg)
{
    CUgraphExec exec = arg;
    CUcontext ctx;
    CUstream own;
    bool failed = cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx) ||
                  cuStreamCreate(&own, CU_STREAM_NON_BLOCKING);
    for (int i = 0; i < 50 && !failed; i++)
        failed = cuGraphLaunch(exec, own);
    failed = failed || cuStreamSynchronize(own) || cuStreamDestroy(own);
    cuDevicePrimaryCtxRelease(0);
    return failed ? exec : NULL;
}

TEST(threads_launching_one_graph_take_turns)
{
    CUgraph graph = graph_new();
    CUgraphNode a = add_note(graph, NULL, 0, 1);
    pthread_t threads[4];
    add_note(graph, &a, 1, 2);
    CUgraphExec exec = sim_exec(graph);
    for (int i = 0; i < 4; i++)
        OK(pthread_create(&threads[i], NULL, launch_many, exec));
    for (int i = 0; i < 4; i++)
        assert_null(GOT(void *, pthread_join(threads[i], &got)));
    assert_int_equal(note_at, 400);
    for (int i = 0; i < 400; i++)
        assert_int_equal(note_log[i], 1 + i % 2);
}

SETUP(start)
{
    sim_begin_on(NULL);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return 0;
}
