// SPDX-License-Identifier: Apache-2.0
// The same work as graphs: once captured from two streams, temporary memory included, and
// once built node by node with memory nodes; launched many times, then with new numbers.
#include <cmath>
#include <vector>

#include "graph_kernels.cuh"
#include "program.h"

static const int N = 5000, LAUNCHES = 25, BLOCK = 128, GRID = (N + BLOCK - 1) / BLOCK;

static double expected_once(const std::vector<float> &in, float scale)
{
    double sum = 0;
    for (float v : in)
        sum += (double)(v * scale + 1.0f) * (v * -0.5f + 2.0f);
    return sum;
}

static bool close_to(const char *what, double got, double right)
{
    bool ok = fabs(got - right) <= 1e-5 * fabs(right);
    printf("%s: %s\n", what, ok ? "ok" : "WRONG");
    if (!ok)
        fprintf(stderr, "%s: %f, expected %f\n", what, got, right);
    return ok;
}

static double read_and_clear(double *d_sum, cudaStream_t stream)
{
    double sum;
    CUDA_CHECK(cudaMemcpyAsync(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaMemsetAsync(d_sum, 0, sizeof sum, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return sum;
}

static cudaGraph_t captured(const float *in, double *d_sum, cudaStream_t stream, cudaStream_t side)
{
    cudaGraph_t graph;
    Event fork(cudaEventDisableTiming), join(cudaEventDisableTiming);
    float *a, *b;
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CUDA_CHECK(cudaMallocAsync(&a, N * sizeof(float), stream));
    CUDA_CHECK(cudaMallocAsync(&b, N * sizeof(float), stream));
    CUDA_CHECK(cudaEventRecord(fork, stream));
    CUDA_CHECK(cudaStreamWaitEvent(side, fork, 0));
    scale_add<<<GRID, BLOCK, 0, stream>>>(in, a, N, 3.0f, 1.0f);
    scale_add<<<GRID, BLOCK, 0, side>>>(in, b, N, -0.5f, 2.0f);
    CUDA_CHECK(cudaEventRecord(join, side));
    CUDA_CHECK(cudaStreamWaitEvent(stream, join, 0));
    multiply<<<GRID, BLOCK, 0, stream>>>(a, b, a, N);
    accumulate<<<1, 128, 0, stream>>>(a, N, d_sum);
    CUDA_CHECK(cudaFreeAsync(a, stream));
    CUDA_CHECK(cudaFreeAsync(b, stream));
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    return graph;
}

struct Built {
    cudaGraph_t graph;
    cudaGraphNode_t first; // the kernel whose scale changes
    cudaKernelNodeParams params;
    float *memory;
};

static cudaKernelNodeParams kernel_params(void *function, int grid, void **args)
{
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = dim3(grid);
    p.blockDim = dim3(BLOCK);
    p.kernelParams = args;
    return p;
}

static Built built(const float *in, double *d_sum)
{
    Built g;
    CUDA_CHECK(cudaGraphCreate(&g.graph, 0));
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = 2 * N * sizeof(float);
    cudaGraphNode_t alloc, second, product, sum, release;
    CUDA_CHECK(cudaGraphAddMemAllocNode(&alloc, g.graph, NULL, 0, &memory));
    g.memory = (float *)memory.dptr;
    float *a = g.memory, *b = g.memory + N, scale = 3.0f, one = 1.0f, half = -0.5f, two = 2.0f;
    int n = N;
    void *first_args[] = {&in, &a, &n, &scale, &one}, *second_args[] = {&in, &b, &n, &half, &two};
    void *product_args[] = {&a, &b, &a, &n}, *sum_args[] = {&a, &n, &d_sum};
    g.params = kernel_params((void *)scale_add, GRID, first_args);
    CUDA_CHECK(cudaGraphAddKernelNode(&g.first, g.graph, &alloc, 1, &g.params));
    cudaKernelNodeParams p = kernel_params((void *)scale_add, GRID, second_args);
    CUDA_CHECK(cudaGraphAddKernelNode(&second, g.graph, &alloc, 1, &p));
    cudaGraphNode_t both[] = {g.first, second};
    p = kernel_params((void *)multiply, GRID, product_args);
    CUDA_CHECK(cudaGraphAddKernelNode(&product, g.graph, both, 2, &p));
    p = kernel_params((void *)accumulate, 1, sum_args);
    CUDA_CHECK(cudaGraphAddKernelNode(&sum, g.graph, &product, 1, &p));
    CUDA_CHECK(cudaGraphAddMemFreeNode(&release, g.graph, &sum, 1, a));
    return g;
}

static void launch_many(cudaGraphExec_t exec, cudaStream_t stream, const char *what)
{
    Event begin, end;
    CUDA_CHECK(cudaEventRecord(begin, stream));
    for (int i = 0; i < LAUNCHES; i++)
        CUDA_CHECK(cudaGraphLaunch(exec, stream));
    CUDA_CHECK(cudaEventRecord(end, stream));
    CUDA_CHECK(cudaEventSynchronize(end));
    fprintf(stderr, "%s: %.3f ms a launch\n", what, ms_between(begin, end) / LAUNCHES);
}

int main()
{
    std::vector<float> host(N);
    for (int i = 0; i < N; i++)
        host[i] = noise(i);
    Device<float> in(host);
    Device<double> d_sum(1);
    d_sum.clear();
    Stream stream, side;
    cudaGraphExec_t exec;
    size_t nodes = 0;

    cudaGraph_t graph = captured(in, d_sum, stream, side);
    CUDA_CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    CUDA_CHECK(cudaGraphInstantiate(&exec, graph, 0));
    bool ok = nodes == 8 && read_and_clear(d_sum, stream) == 0.0; // captured, not run
    printf("captured %zu nodes\n", nodes);
    launch_many(exec, stream, "captured");
    ok &= close_to("captured", read_and_clear(d_sum, stream), LAUNCHES * expected_once(host, 3.0f));
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(graph));

    Built g = built(in, d_sum);
    CUDA_CHECK(cudaGraphInstantiate(&exec, g.graph, 0));
    launch_many(exec, stream, "built");
    ok &= close_to("built", read_and_clear(d_sum, stream), LAUNCHES * expected_once(host, 3.0f));
    float *a = g.memory, scale = -7.0f, one = 1.0f;
    int n = N;
    void *args[] = {&in.p, &a, &n, &scale, &one};
    g.params.kernelParams = args;
    CUDA_CHECK(cudaGraphExecKernelNodeSetParams(exec, g.first, &g.params));
    launch_many(exec, stream, "changed");
    ok &= close_to("changed", read_and_clear(d_sum, stream), LAUNCHES * expected_once(host, -7.0f));
    CUDA_CHECK(cudaGraphExecDestroy(exec));
    CUDA_CHECK(cudaGraphDestroy(g.graph));
    CUDA_CHECK(cudaDeviceGraphMemTrim(0));
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
