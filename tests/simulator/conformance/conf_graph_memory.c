/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of graphs: allocation and free nodes, permitted frees, and the memory that a device keeps
 * for graphs. */
#include "conf.h"

#define BYTES ((size_t)3 << 20)
#define ALLOC "cuGraphAddMemAllocNode: "
#define FREE "cuGraphAddMemFreeNode: "

static struct {
    CUcontext ctx;
    CUstream a, b;
    unsigned char byte; /* last byte read by a graph */
} p;

SETUP(setup)
{
    p.ctx = conf_context();
    p.a = conf_stream(), p.b = conf_stream();
    return 0;
}

static CUgraphNode add_alloc(CUgraph graph, CUdeviceptr *address)
{
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.bytesize = BYTES};
    CUgraphNode node;
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.poolProps.location.id = 0;
    DO(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    *address = params.dptr;
    return node;
}

static CUgraphNode add_fill(CUgraph graph, CUgraphNode before, CUdeviceptr at, unsigned value)
{
    CUDA_MEMSET_NODE_PARAMS params = {
        .dst = at, .value = value, .elementSize = 1, .width = BYTES, .height = 1};
    return GOT(CUgraphNode, cuGraphAddMemsetNode(&got, graph, &before, 1, &params, p.ctx));
}

static CUgraphNode add_read(CUgraph graph, CUgraphNode before, CUdeviceptr from)
{
    CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = from + BYTES - 1,
                            .srcPitch = 1,
                            .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = &p.byte, .dstPitch = 1,
                            .WidthInBytes = 1, .Height = 1, .Depth = 1};
    return GOT(CUgraphNode, cuGraphAddMemcpyNode(&got, graph, &before, 1, &params, p.ctx));
}

static cuuint64_t attribute(CUgraphMem_attribute attr)
{
    return GOT(cuuint64_t, cuDeviceGetGraphMemAttribute(0, attr, &got));
}

TEST(memory_lives_between_its_nodes)
{
    CUdeviceptr d, freed = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    CUgraphNode release;
    CUgraph graph = conf_graph();
    CUgraphNode alloc = add_alloc(graph, &d);
    FACT(d != 0, ALLOC "returns the address of the allocation");
    DO(cuGraphMemAllocNodeGetParams(alloc, &params));
    FACT(params.dptr == d && params.bytesize >= BYTES, "cuGraphMemAllocNodeGetParams");
    CUgraphNode read_back = add_read(graph, add_fill(graph, alloc, d, 5), d);
    DO(cuGraphAddMemFreeNode(&release, graph, &read_back, 1, d));
    DO(cuGraphMemFreeNodeGetParams(release, &freed));
    FACT(freed == d, "cuGraphMemFreeNodeGetParams");
    CUgraphExec exec = conf_exec(graph);
    for (int i = 0; i < 3; i++) {
        p.byte = 0;
        WORKS(cuGraphLaunch(exec, p.a), ALLOC "freed in the same graph");
        DO(cuStreamSynchronize(p.a));
        FACT_EQ(p.byte, 5, ALLOC "accessed by nodes ordered between the two");
    }
}

TEST(memory_that_is_not_freed_outlives_the_launch)
{
    CUdeviceptr d;
    unsigned char byte = 0;
    CUgraph graph = conf_graph();
    CUgraphNode alloc = add_alloc(graph, &d);
    add_fill(graph, alloc, d, 6);
    CUgraphExec exec = conf_exec(graph);
    DO(cuGraphLaunch(exec, p.a));
    DO(cuMemcpyDtoHAsync(&byte, d + 17, 1, p.a));
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(byte, 6, ALLOC "accessed by stream operations ordered after the graph's execution");
    INVALID(cuGraphLaunch(exec, p.a), "allocations remain unfreed from a previous launch");
    WORKS(cuMemFreeAsync(d, p.a), ALLOC "freed by cuMemFreeAsync");
    WORKS(cuGraphLaunch(exec, p.a), "freed meanwhile");
    DO(cuStreamSynchronize(p.a));
    WORKS(cuMemFree(d), ALLOC "freed by cuMemFree");
    WORKS(cuGraphLaunch(exec, p.a), "freed meanwhile");
    DO(cuStreamSynchronize(p.a));
    DO(cuMemcpyDtoH(&byte, d, 1));
    FACT_EQ(byte, 6, ALLOC "the address remains fixed across launches");
    DO(cuMemFree(d));
}

TEST(another_graph_can_free)
{
    CUdeviceptr d;
    CUgraphNode node;
    CUgraph first = conf_graph(), second = conf_graph();
    CUgraphNode alloc = add_alloc(first, &d);
    add_fill(first, alloc, d, 1);
    WORKS(cuGraphAddMemFreeNode(&node, second, NULL, 0, d),
          ALLOC "freed by launching a graph with a free node for that allocation");
    REFUSED(cuGraphAddMemFreeNode(&node, first, &alloc, 1, d),
            ALLOC "a free node can no longer be added to the owning graph");
    CUgraphExec allocates = conf_exec(first), frees = conf_exec(second);
    for (int i = 0; i < 2; i++) {
        WORKS(cuGraphLaunch(allocates, p.a), ALLOC "freed by the other graph");
        WORKS(cuGraphLaunch(frees, p.a), ALLOC "freed by the other graph");
    }
}

TEST(launches_can_free_what_the_last_one_left)
{
    CUdeviceptr d;
    unsigned char byte = 0;
    CUgraph graph = conf_graph();
    CUgraphNode alloc = add_alloc(graph, &d);
    add_fill(graph, alloc, d, 8);
    CUgraphExec exec;
    DO(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    for (int i = 0; i < 3; i++)
        WORKS(cuGraphLaunch(exec, p.a), "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
    DO(cuMemcpyDtoHAsync(&byte, d, 1, p.a));
    DO(cuStreamSynchronize(p.a));
    FACT_EQ(byte, 8, "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
    WORKS(cuMemFree(d), "the last launch's allocation is still the program's");
}

TEST(frees_must_match_allocations)
{
    CUdeviceptr d, plain;
    CUgraphNode node;
    CUgraph graph = conf_graph(), other = conf_graph();
    CUgraphNode alloc = add_alloc(graph, &d);
    DO(cuMemAlloc(&plain, 256));
    INVALID(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, plain),
            FREE "an address that was not returned by an allocation node");
    DO(cuMemFree(plain));
    DO(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, d));
    INVALID(cuGraphAddMemFreeNode(&node, graph, &alloc, 1, d),
            FREE "an allocation twice in the same graph");
    REFUSED(cuGraphAddMemFreeNode(&node, other, NULL, 0, d),
            ALLOC "freed in the same graph, a free node cannot be added to another");
}

TEST(graphs_with_memory_are_restricted)
{
    CUdeviceptr d;
    CUgraphNode alloc, fill, node;
    CUgraph clone;
    CUgraphExec exec, second;
    CUgraph graph = conf_graph(), parent = conf_graph();
    alloc = add_alloc(graph, &d);
    fill = add_fill(graph, alloc, d, 1);
    REFUSED(cuGraphClone(&clone, graph), ALLOC "the graph cannot be cloned");
    REFUSED(cuGraphDestroyNode(fill), ALLOC "nodes cannot be deleted");
    REFUSED(cuGraphRemoveDependencies(graph, &alloc, &fill, NULL, 1),
            ALLOC "edges cannot be deleted");
    REFUSED(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph),
            ALLOC "in a child node only if the ownership is moved");
    exec = conf_exec(graph);
    REFUSED(cuGraphInstantiate(&second, graph, 0),
            ALLOC "only one instantiation may exist at any point in time");
    DO(cuGraphExecDestroy(exec));
    WORKS(cuGraphInstantiate(&second, graph, 0),
          ALLOC "only one instantiation may exist at any point in time");
}

TEST(captured_allocations_become_nodes)
{
    CUdeviceptr d = 0;
    CUgraph graph;
    CUgraphNode nodes[4];
    CUgraphNodeType type[4];
    size_t count = 4, allocs = 0, frees = 0;
    DO(cuStreamBeginCapture(p.a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    DO(cuMemAllocAsync(&d, BYTES, p.a));
    FACT(d != 0, "cuMemAllocAsync: during capture an allocation node");
    DO(cuMemsetD8Async(d, 9, BYTES, p.a));
    DO(cuMemcpyDtoHAsync(&p.byte, d + BYTES / 2, 1, p.a));
    DO(cuMemFreeAsync(d, p.a));
    DO(cuStreamEndCapture(p.a, &graph));
    DO(cuGraphGetNodes(graph, nodes, &count));
    FACT_EQ(count, 4, "cuMemAllocAsync, cuMemFreeAsync: nodes during capture");
    for (size_t i = 0; i < 4; i++) {
        DO(cuGraphNodeGetType(nodes[i], &type[i]));
        allocs += type[i] == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
        frees += type[i] == CU_GRAPH_NODE_TYPE_MEM_FREE;
    }
    FACT_EQ(allocs, 1, "cuMemAllocAsync: during capture an allocation node");
    FACT_EQ(frees, 1, "cuMemFreeAsync: during capture a free node");
    CUgraphExec exec = conf_exec(graph);
    conf_run(exec, p.b);
    FACT_EQ(p.byte, 9, "cuMemAllocAsync: during capture an allocation node");
}

TEST(the_device_counts_memory_of_graphs)
{
    CUdeviceptr d;
    cuuint64_t zero = 0, held;
    CUgraph graph = conf_graph();
    CUgraphNode alloc = add_alloc(graph, &d);
    add_fill(graph, alloc, d, 1);
    CUgraphExec exec = conf_exec(graph);
    conf_run(exec, p.a);
    FACT(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) >= BYTES,
         "CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: associated with graphs");
    FACT(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= BYTES,
         "CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: allocated for use by graphs");
    FACT(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) >=
             attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT),
         "CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: high watermark");
    FACT(attribute(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= BYTES,
         "CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: high watermark");
    DO(cuDeviceGraphMemTrim(0));
    held = attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    FACT(held >= BYTES, "guide, graph memory nodes: what has not been freed stays");
    DO(cuMemFree(d));
    DO(cuGraphExecDestroy(exec));
    DO(cuGraphDestroy(graph));
    DO(cuDeviceGraphMemTrim(0));
    FACT(attribute(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) < held,
         "cuDeviceGraphMemTrim: unused memory is freed");
    WORKS(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero),
          "can be reset to zero");
    RETURNS(cuDeviceGraphMemTrim(1000), CUDA_ERROR_INVALID_DEVICE);
}

TEST(the_runtime_does_likewise)
{
    struct cudaMemAllocNodeParams params = {.bytesize = BYTES};
    struct cudaMemsetParams set = {.value = 3, .elementSize = 1, .width = BYTES, .height = 1};
    cudaGraph_t graph;
    cudaGraphNode_t alloc, fill, release;
    cudaGraphExec_t exec;
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    DO(cudaGraphCreate(&graph, 0));
    DO(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    FACT(params.dptr != NULL, "cudaGraphAddMemAllocNode");
    set.dst = params.dptr;
    DO(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &set));
    DO(cudaGraphAddMemFreeNode(&release, graph, &fill, 1, params.dptr));
    DO(cudaGraphInstantiate(&exec, graph, 0));
    WORKS(cudaGraphLaunch(exec, p.a), "cudaGraphAddMemFreeNode");
    DO(cudaStreamSynchronize(p.a));
    FACT(GOT(size_t, cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &got)) >= BYTES,
         "cudaDeviceGetGraphMemAttribute");
}
