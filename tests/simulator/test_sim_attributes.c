/* SPDX-License-Identifier: Apache-2.0
 *
 * Cooperative launches, and attributes of launches, kernel nodes and streams on the simulated
 * device: hints are stored, attributes that are not simulated are refused. */
#include "sim_test.h"

static CUstream s;
static atomic_int calls;
static atomic_ulong blocks_run;

static void count_calls(const struct vramscope_sim_launch *launch, unsigned long first,
                        unsigned long last)
{
    (void)launch;
    atomic_fetch_add(&calls, 1);
    atomic_fetch_add(&blocks_run, last - first);
}

static CUDA_KERNEL_NODE_PARAMS counting(unsigned blocks)
{
    return sim_kernel_params("count", blocks, 256, NULL);
}

static unsigned most_blocks(void)
{
    int per_sm, sms;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sim_function("count"), 256, 0));
    OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    return (unsigned)(per_sm * sms);
}

static void make_cooperative(CUgraphNode node)
{
    CUkernelNodeAttrValue value = {.cooperative = 1};
    OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
}

TEST(a_cooperative_launch_is_one_wave_in_one_call)
{
    CUfunction f = sim_function("count");
    unsigned most = most_blocks();
    OK(cuLaunchCooperativeKernel(f, most, 1, 1, 256, 1, 1, 0, NULL, NULL));
    OK(cuCtxSynchronize());
    assert_int_equal(atomic_load(&calls), 1);
    assert_int_equal(atomic_load(&blocks_run), most);
    FAILS(cuLaunchCooperativeKernel(f, most + 1, 1, 1, 256, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cuLaunchCooperativeKernel(f, 65536, 65535, 65535, 256, 1, 1, 0, NULL, NULL),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuLaunchKernel(f, most + 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}

TEST(a_cooperative_node_runs_in_one_call_if_it_fits)
{
    unsigned most = most_blocks();
    CUDA_KERNEL_NODE_PARAMS params = counting(most + 1);
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph = sim_graph();
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    make_cooperative(node);
    FAILS(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    params.gridDimX = most;
    OK(cuGraphKernelNodeSetParams(node, &params)); /* the attribute stays */
    exec = sim_exec(graph);
    atomic_store(&calls, 0);
    sim_run(exec, s);
    assert_int_equal(atomic_load(&calls), 1);
    params.gridDimX = most + 1;
    FAILS(cuGraphKernelNodeSetParams(node, &params), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    FAILS(cuGraphExecKernelNodeSetParams(exec, node, &params),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST(an_update_does_not_change_whether_a_node_is_cooperative)
{
    CUDA_KERNEL_NODE_PARAMS params = counting(1);
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node;
    CUgraph graph = sim_graph();
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphExecUpdate(exec, graph, &info));
    make_cooperative(node);
    FAILS(cuGraphExecUpdate(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    assert_int_equal(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED);
}

TEST(captured_launches_have_the_streams_attributes_and_their_own)
{
    CUlaunchAttributeValue value = {.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE};
    CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value = {.priority = -3}};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                             .blockDimY = 1, .blockDimZ = 1, .hStream = s, .attrs = &own,
                             .numAttrs = 1};
    OK(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchKernelEx(&config, sim_function("count"), NULL, NULL));
    CUgraphNode node = sim_only_node(sim_captured(s));
    OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
    assert_int_equal(value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
    assert_int_equal(value.priority, -3);
}

TEST(windows_are_kept)
{
    CUstreamAttrValue got, value = {
        .accessPolicyWindow = {.base_ptr = (void *)4096, .num_bytes = 512, .hitRatio = 0.5f,
                               .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
                               .missProp = CU_ACCESS_PROPERTY_STREAMING}};
    OK(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
    OK(cuStreamGetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &got));
    assert_int_equal(got.accessPolicyWindow.num_bytes, 512);
    assert_ptr_equal(got.accessPolicyWindow.base_ptr, (void *)4096);
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
    INVALID(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
}

TEST(what_is_not_simulated_or_not_valid_is_refused)
{
    CUDA_KERNEL_NODE_PARAMS params = counting(1);
    CUlaunchAttributeValue value = {.clusterDim = {1, 1, 1}};
    CUgraphNode node, empty;
    CUgraph graph = sim_graph();
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
    FAILS(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value),
          CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value),
          CUDA_ERROR_INVALID_VALUE);
    INVALID(cuGraphKernelNodeGetAttribute(empty, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
    INVALID(cuGraphKernelNodeCopyAttributes(node, empty));
    INVALID(cuStreamGetAttribute(s, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    INVALID(cuStreamSetAttribute(s, CU_STREAM_ATTRIBUTE_PRIORITY, NULL));
}

SETUP(begin)
{
    sim_begin_on("a100-40g");
    assert_int_equal(vramscope_sim_register("count", count_calls, NULL, 0), 1);
    s = sim_stream(CU_STREAM_NON_BLOCKING);
    return 0;
}
