/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of graphs, by both layers: added as nodes or captured, freed by the graph, in a stream, by
 * the host, by another graph or by the next launch. Tallied as allocated by a launch and freed by
 * the operation that frees it. */
#include "victim_memory.h"

VICTIM("graphs", INJECTED)

static CUdevice device;

static void print_held(void)
{
    uint64_t used = 0, reserved = 0;
    OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved));
    printf("used %llu, reserved %llu\n", (unsigned long long)used, (unsigned long long)reserved);
}

/* An empty graph, in the primary context. */
static CUgraph new_graph(void)
{
    CUgraph graph;
    start();
    OK(cuGraphCreate(&graph, 0));
    return graph;
}

static void finish(CUgraphExec exec, CUgraph graph)
{
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuDeviceGraphMemTrim(device));
    print_held();
}

CASE(freed_inside, "allocation nodes freed by their own graph, launched repeatedly", 0)
{
    CUdeviceptr a, b;
    CUgraph graph = new_graph();
    CUstream stream;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUgraphNode first = add_alloc(graph, NULL, 3 * MIB, &a);
    CUgraphNode second = add_alloc(graph, first, 5 * MIB, &b);
    add_free(graph, add_free(graph, second, a), b);
    CUgraphExec exec = executable(graph, 0);
    for (int i = 0; i < 5; i++) {
        ALLOCATES(VT_GRAPH, 3 * MIB, cuGraphLaunch(exec, stream));
        tally_alloc(VT_GRAPH, 5 * MIB);
        tally_free(VT_GRAPH);
        tally_free(VT_GRAPH);
    }
    OK(cuStreamSynchronize(stream));
    print_held();
    finish(exec, graph);
}

/* Frees of a launch's memory outside its graph. */
static void freed_outside(int by_host)
{
    CUdeviceptr ptr;
    CUgraph graph = new_graph();
    add_alloc(graph, NULL, 7 * MIB, &ptr);
    CUgraphExec exec = executable(graph, 0);
    for (int i = 0; i < 3; i++) {
        ALLOCATES(VT_GRAPH, 7 * MIB, cuGraphLaunch(exec, NULL));
        OK(cuMemsetD8Async(ptr, 7, 7 * MIB, NULL));
        printf("again without a free: %d\n", cuGraphLaunch(exec, NULL) != CUDA_SUCCESS);
        tally_failed(VT_GRAPH);
        OK(cuCtxSynchronize());
        FREES(VT_GRAPH, by_host ? cuMemFree(ptr) : cuMemFreeAsync(ptr, NULL));
    }
    finish(exec, graph);
}

CASE_OF(freed_in_stream, freed_outside(0), "memory of a launch freed by cuMemFreeAsync", 0)
CASE_OF(freed_by_host, freed_outside(1), "memory of a launch freed by cuMemFree", 0)

CASE(freed_by_next_launch, "memory freed by the next launch (AUTO_FREE_ON_LAUNCH)", 0)
{
    CUdeviceptr ptr;
    CUgraph graph = new_graph();
    add_alloc(graph, NULL, 4 * MIB, &ptr);
    CUgraphExec exec = executable(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    for (int i = 0; i < 4; i++) {
        OK(cuGraphLaunch(exec, NULL));
        if (i)
            tally_free(VT_GRAPH);
        tally_alloc(VT_GRAPH, 4 * MIB);
    }
    FREES(VT_GRAPH, cuMemFreeAsync(ptr, NULL));
    finish(exec, graph);
}

CASE(freed_by_other_graph, "memory of one graph freed by another graph", 0)
{
    CUdeviceptr ptr;
    CUgraph allocating = new_graph(), freeing = new_graph();
    add_alloc(allocating, NULL, 6 * MIB, &ptr);
    add_free(freeing, NULL, ptr);
    CUgraphExec first = executable(allocating, 0), second = executable(freeing, 0);
    for (int i = 0; i < 3; i++) {
        ALLOCATES(VT_GRAPH, 6 * MIB, cuGraphLaunch(first, NULL));
        FREES(VT_GRAPH, cuGraphLaunch(second, NULL));
    }
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(first));
    OK(cuGraphDestroy(allocating));
    finish(second, freeing);
}

/* Destroying a graph does not free its allocations. */
CASE(outlives_its_graph, "memory freed after its graph was destroyed", 0)
{
    CUdeviceptr ptr;
    CUgraph graph = new_graph();
    add_alloc(graph, NULL, 2 * MIB, &ptr);
    CUgraphExec exec = executable(graph, 0);
    ALLOCATES(VT_GRAPH, 2 * MIB, cuGraphLaunch(exec, NULL));
    finish(exec, graph);
    OK(cuMemsetD8(ptr, 1, 2 * MIB));
    FREES(VT_GRAPH, cuMemFree(ptr));
    OK(cuDeviceGraphMemTrim(device));
    print_held();
}

CASE(by_general_node, "cuGraphAddNode, cuGraphInstantiateWithParams, cuGraphUpload", 0)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUgraphNode node, last;
    CUgraph graph = new_graph();
    CUgraphExec exec;
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {0};
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.alloc.bytesize = 9 * MIB;
    OK(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    CUgraphNodeParams free_params = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    free_params.free.dptr = params.alloc.dptr;
    OK(cuGraphAddNode(&last, graph, &node, NULL, 1, &free_params));
    OK(cuGraphInstantiateWithParams(&exec, graph, &how));
    OK(cuGraphUpload(exec, NULL));
    ALLOCATES(VT_GRAPH, 9 * MIB, cuGraphLaunch(exec, NULL));
    tally_free(VT_GRAPH);
    finish(exec, graph);
}

CASE(captured, "cudaMallocAsync and cudaFreeAsync in a capture", 0)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *inside, *kept;
    cudaStream_t stream = new_stream(0);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&inside, 3 * MIB, stream));
    OK(cudaMemsetAsync(inside, 1, 3 * MIB, stream));
    OK(cudaMallocAsync(&kept, 2 * MIB, stream));
    OK(cudaFreeAsync(inside, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        ALLOCATES(VT_GRAPH, 3 * MIB, cudaGraphLaunch(exec, stream));
        tally_alloc(VT_GRAPH, 2 * MIB);
        tally_free(VT_GRAPH);
        FREES(VT_GRAPH, cudaFreeAsync(kept, stream));
    }
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceGraphMemTrim(0));
    print_held();
}

/* A captured allocation that is never launched has no memory. */
CASE(never_launched, "captured allocations that are never launched", 0)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *p;
    cudaStream_t stream = new_stream(0);
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaMallocAsync(&p, 3 * MIB, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    print_held();
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
}

CASE(no_room, "a launch fails for lack of memory, then succeeds", 0)
{
    CUdeviceptr ptr;
    CUgraph graph = new_graph();
    add_alloc(graph, NULL, 400 * MIB, &ptr);
    CUgraphExec exec = executable(graph, 0);
    CUdeviceptr big = allocate(400 * MIB);
    CUresult r = cuGraphLaunch(exec, NULL);
    printf("launch: %d\n", r);
    tally_failed(VT_GRAPH);
    release(big); /* a cache keeps it, but releases it when needed */
    ALLOCATES(VT_GRAPH, 400 * MIB, cuGraphLaunch(exec, NULL));
    FREES(VT_GRAPH, cuMemFree(ptr));
    r = cuMemAlloc(&big, 400 * MIB);
    printf("while the driver keeps it: %d\n", r);
    if (r)
        tally_failed(VT_DEVICE);
    OK(cuDeviceGraphMemTrim(device));
    release(allocate(400 * MIB));
    finish(exec, graph);
}

CASE(updated, "an executable graph is updated", 0)
{
    CUgraphExecUpdateResultInfo info;
    start();
    CUgraph graph = graph_of(MIB);
    CUgraphExec exec = executable(graph, 0);
    for (int i = 0; i < 3; i++) {
        CUresult r = cuGraphExecUpdate(exec, graph, &info);
        printf("update: %d\n", r);
        ALLOCATES(VT_GRAPH, MIB, cuGraphLaunch(exec, NULL));
        tally_free(VT_GRAPH);
    }
    finish(exec, graph);
}

/* Handles are reused: an executable graph without memory after one with it. */
CASE(made_and_destroyed_often, "executable graphs created and destroyed 200 times", 0)
{
    CUgraphNode node;
    CUgraph plain = new_graph(), graph = graph_of(MIB);
    OK(cuGraphAddEmptyNode(&node, plain, NULL, 0));
    for (int i = 0; i < 200; i++) {
        CUgraphExec exec = executable(i % 2 ? plain : graph, 0);
        OK(cuGraphLaunch(exec, NULL));
        if (i % 2 == 0) {
            tally_alloc(VT_GRAPH, MIB);
            tally_free(VT_GRAPH);
        }
        OK(cuCtxSynchronize());
        OK(cuGraphExecDestroy(exec));
    }
    OK(cuGraphDestroy(plain));
    OK(cuGraphDestroy(graph));
    OK(cuDeviceGraphMemTrim(device));
    print_held();
}

CASE(context_ends_first, "the context is destroyed with live memory of a graph", 0)
{
    CUgraph graph;
    CUdeviceptr ptr;
    CUcontext context = new_context(0);
    OK(cuGraphCreate(&graph, 0));
    add_alloc(graph, NULL, 2 * MIB, &ptr);
    CUgraphExec exec = executable(graph, 0);
    ALLOCATES(VT_GRAPH, 2 * MIB, cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    FREES(VT_GRAPH, cuCtxDestroy(context));
    OK(cuDeviceGraphMemTrim(0));
    print_held();
}

CASE(marks_are_reset, "the program resets the peaks of graph memory", 0)
{
    uint64_t zero = 0, high;
    start();
    CUgraph graph = graph_of(20 * MIB);
    CUgraphExec exec = executable(graph, 0);
    ALLOCATES(VT_GRAPH, 20 * MIB, cuGraphLaunch(exec, NULL));
    tally_free(VT_GRAPH);
    OK(cuCtxSynchronize());
    OK(cuDeviceSetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    OK(cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &high));
    printf("high %llu\n", (unsigned long long)high);
    finish(exec, graph);
}
