/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices from compute capability 9.0 on have: thread block clusters, with the rules of
 * cuda.h; and that older devices refuse them. The argument is the device. */
#include <cuda_runtime_api.h>

#include "sim_stub.h"
#include "sim_test.h"

static CUfunction f;

static CUresult launch(unsigned grid_x, unsigned x, unsigned y, unsigned z)
{
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {x, y, z}};
    CUlaunchConfig config = {.gridDimX = grid_x, .gridDimY = 2, .gridDimZ = 1,
                             .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1,
                             .attrs = &cluster, .numAttrs = 1};
    return cuLaunchKernelEx(&config, f, NULL, NULL);
}

static int attribute(CUdevice_attribute which)
{
    return GOT(int, cuDeviceGetAttribute(&got, which, 0));
}

/* ---- clusters ---- */

TEST(clusters_must_divide_the_grid_and_be_of_a_portable_size)
{
    OK(launch(16, 8, 1, 1));
    OK(launch(16, 2, 2, 1));
    OK(launch(16, 1, 1, 1));
    OK(launch(16, 0, 0, 0)); /* none */
    FAILS(launch(15, 2, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    FAILS(launch(16, 16, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    FAILS(launch(16, 1, 1, 2), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    INVALID(launch(16, 2, 0, 1));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(launch(16, 16, 1, 1));
    FAILS(launch(32, 32, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0));
    OK(cuCtxSynchronize());
}

TEST(clusters_a_function_may_require_its_clusters)
{
    int width;
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    OK(cuFuncGetAttribute(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, f));
    assert_int_equal(width, 4);
    OK(launch(16, 4, 1, 1));
    FAILS(launch(16, 2, 1, 1), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuLaunchKernel(f, 8, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    FAILS(cuLaunchKernel(f, 6, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
          CUDA_ERROR_INVALID_CLUSTER_SIZE);
    INVALID(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, -1));
    for (int i = 0; i < 3; i++)
        OK(cuFuncSetAttribute(f, (CUfunction_attribute)(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i), 0));
    OK(cuCtxSynchronize());
}

TEST(clusters_a_preferred_cluster_is_a_multiple_of_the_regular_one)
{
    CUlaunchAttribute attributes[] = {
        {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}},
        {.id = CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
         .value.preferredClusterDim = {4, 2, 1}}};
    CUlaunchConfig config = {.gridDimX = 8, .gridDimY = 2, .gridDimZ = 2,
                             .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1,
                             .attrs = attributes, .numAttrs = 2};
    OK(cuLaunchKernelEx(&config, f, NULL, NULL));
    attributes[1].value.preferredClusterDim.z = 2;
    FAILS(cuLaunchKernelEx(&config, f, NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    attributes[1].value.preferredClusterDim.z = 1;
    attributes[0].value.clusterDim.x = 8;
    FAILS(cuLaunchKernelEx(&config, f, NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(cuCtxSynchronize());
}

/* H100: 132 SMs in groups of 18, 18 and six times 16. One block of this size fits an SM. */
TEST(clusters_that_run_at_the_same_time_share_groups_of_sms)
{
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {4, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 16, .gridDimY = 1, .gridDimZ = 1,
                             .blockDimX = 1024, .blockDimY = 1, .blockDimZ = 1,
                             .sharedMemBytes = 200 << 10, .attrs = &cluster, .numAttrs = 1};
    int n;
    assert_int_equal(GOT(int, cuOccupancyMaxActiveClusters(&got, f, &config)), 8 * 4);
    cluster.value.clusterDim.x = 2;
    assert_int_equal(GOT(int, cuOccupancyMaxActiveClusters(&got, f, &config)), 66);
    assert_int_equal(GOT(int, cuOccupancyMaxPotentialClusterSize(&got, f, &config)), 8);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuOccupancyMaxPotentialClusterSize(&n, f, &config));
    assert_int_equal(n, 16);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0));
    config.numAttrs = 0;
    FAILS(cuOccupancyMaxActiveClusters(&n, f, &config), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    config.sharedMemBytes = 400 << 10;
    OK(cuOccupancyMaxPotentialClusterSize(&n, f, &config));
    assert_int_equal(n, 0);
    config.blockDimX = 2048;
    INVALID(cuOccupancyMaxPotentialClusterSize(&n, f, &config));
}

TEST(clusters_graphs_keep_clusters_and_check_them)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS params = {.func = f, .gridDimX = 6, .gridDimY = 1, .gridDimZ = 1,
                                      .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    CUkernelNodeAttrValue value = {.clusterDim = {2, 1, 1}}, got;
    CUgraph graph = sim_graph();
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &got));
    assert_int_equal(got.clusterDim.x, 2);
    CUgraphExec exec = sim_exec(graph);
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    OK(cuGraphExecDestroy(exec));
    value.clusterDim.x = 4;
    OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    FAILS(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

static void stub(void) {}

TEST(clusters_the_runtime_launches_clusters)
{
    void **image = __cudaRegisterFatBinary(sim_stub_fat_binary());
    sim_stub_kernel(image, stub, "clustered");
    __cudaRegisterFatBinaryEnd(image);
    cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension,
                                   .val.clusterDim = {4, 1, 1}};
    cudaLaunchConfig_t config = {.gridDim = {8, 1, 1}, .blockDim = {64, 1, 1},
                                 .attrs = &cluster, .numAttrs = 1};
    struct cudaFuncAttributes attributes;
    int n;
    OK(cudaLaunchKernelExC(&config, (const void *)stub, NULL));
    assert_true(GOT(int, cudaOccupancyMaxActiveClusters(&got, (const void *)stub, &config)) > 0);
    OK(cudaOccupancyMaxPotentialClusterSize(&n, (const void *)stub, &config));
    assert_int_equal(n, 8);
    config.gridDim.x = 6;
    FAILS(cudaLaunchKernelExC(&config, (const void *)stub, NULL), cudaErrorInvalidClusterSize);
    OK(cudaFuncSetAttribute((const void *)stub, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    OK(cudaFuncGetAttributes(&attributes, (const void *)stub));
    assert_int_equal(attributes.nonPortableClusterSizeAllowed, 1);
    OK(cudaDeviceSynchronize());
}

TEST(the_device_says_what_it_has)
{
    int has = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9;
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), has);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED), 0);
}

TEST(older_an_older_device_has_no_clusters)
{
    CUlaunchConfig config = {.blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
    int n;
    FAILS(launch(16, 2, 1, 1), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuOccupancyMaxPotentialClusterSize(&n, f, &config), CUDA_ERROR_NOT_SUPPORTED);
    FAILS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
          CUDA_ERROR_NOT_SUPPORTED);
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "h100-80g";
    setenv("VRAMSCOPE_SIMULATE", device, 1);
    sim_start();
    f = sim_function("k");
    cmocka_set_skip_filter(strcmp(device, "h100-80g") ? "clusters_*" : "older_*");
    return vs_run_tests(NULL, NULL);
}
