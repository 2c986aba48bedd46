/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of kernel nodes and of streams. */
#include "conf.h"

static CUcontext ctx;
static CUstream stream;
static CUmodule module;
static CUdeviceptr words;

SETUP(start)
{
    ctx = conf_context();
    stream = conf_stream();
    words = conf_alloc(256);
    module = conf_module();
    return 0;
}

static CUgraphNode add_fill(CUgraph graph, int value, unsigned block)
{
    int count = 64;
    void *args[] = {&words, &value, &count};
    CUDA_KERNEL_NODE_PARAMS params = {.func = conf_function(module, "conf_fill"), .gridDimX = 1,
                                      .gridDimY = 1, .gridDimZ = 1, .blockDimX = block,
                                      .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
    return GOT(CUgraphNode, cuGraphAddKernelNode(&got, graph, NULL, 0, &params));
}

static int cooperative(CUgraphNode node)
{
    CUkernelNodeAttrValue value;
    memset(&value, 0xff, sizeof value);
    DO(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
    return value.cooperative;
}

TEST(kernel_nodes_keep_attributes)
{
    CUkernelNodeAttrValue value;
    CUgraph graph, clone;
    CUgraphNode node, copy;
    NEED(DEVICE_ATTRIBUTE(COOPERATIVE_LAUNCH), "no cooperative launches");
    DO(cuGraphCreate(&graph, 0));
    node = add_fill(graph, 1, 64);
    FACT_EQ(cooperative(node), 0, "CUlaunchAttributeValue: not cooperative unless asked");
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    DO(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
    FACT_EQ(cooperative(node), 1, "cuGraphKernelNodeGetAttribute: queries the attribute");
    DO(cuGraphClone(&clone, graph));
    DO(cuGraphNodeFindInClone(&copy, node, clone));
    FACT_EQ(cooperative(copy), 1, "cuGraphClone: a copy of the graph");
}

TEST(attributes_are_copied_between_nodes)
{
    CUkernelNodeAttrValue value;
    CUgraphNode from, to;
    NEED(DEVICE_ATTRIBUTE(COOPERATIVE_LAUNCH), "no cooperative launches");
    CUgraph graph = conf_graph();
    from = add_fill(graph, 1, 64);
    to = add_fill(graph, 2, 64);
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    DO(cuGraphKernelNodeSetAttribute(from, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
    DO(cuGraphKernelNodeCopyAttributes(to, from));
    FACT_EQ(cooperative(to), 1, "cuGraphKernelNodeCopyAttributes: from source to destination");
}

TEST(a_cooperative_launch_is_captured_as_such)
{
    int value = 7, count = 64, out = 0;
    void *args[] = {&words, &value, &count};
    CUgraph graph;
    CUgraphNode node;
    size_t nodes = 1;
    NEED(DEVICE_ATTRIBUTE(COOPERATIVE_LAUNCH), "no cooperative launches");
    CUfunction f = conf_function(module, "conf_fill");
    DO(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    DO(cuLaunchCooperativeKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, args));
    DO(cuStreamEndCapture(stream, &graph));
    DO(cuGraphGetNodes(graph, &node, &nodes));
    FACT_EQ(nodes, 1, "cuStreamBeginCapture: one node for the launch");
    FACT_EQ(cooperative(node), 1, "CU_LAUNCH_ATTRIBUTE_COOPERATIVE: of graph nodes");
    CUgraphExec exec = conf_exec(graph);
    conf_run(exec, stream);
    DO(cuMemcpyDtoH(&out, words, sizeof out));
    FACT_EQ(out, 7, "cuGraphLaunch: executes the graph");
}

TEST(streams_keep_attributes)
{
    CUstreamAttrValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    DO(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    memset(&value, 0, sizeof value);
    DO(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    FACT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD, "cuStreamGetAttribute: queries the attribute");
    CUstream other = conf_stream();
    DO(cuStreamCopyAttributes(other, stream));
    DO(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
    FACT_EQ(value.syncPolicy, CU_SYNC_POLICY_YIELD,
            "cuStreamCopyAttributes: from source to destination");
}

TEST(the_runtime_has_them_too)
{
    cudaLaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = cudaSyncPolicySpin;
    DO(cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    memset(&value, 0, sizeof value);
    DO(cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value));
    FACT_EQ(value.syncPolicy, cudaSyncPolicySpin, "cudaStreamGetAttribute: queries the attribute");
}
