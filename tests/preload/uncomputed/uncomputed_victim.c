/* SPDX-License-Identifier: Apache-2.0
 *
 * A program whose allocations depend on what kernels count. Each letter of the argument is a step; see
 * main. The kernel "count" has no host function, "count_on_host" and "pass_on" have one. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include "vramscope_simulator.h"

#define COUNTED 1024

static void count_on_host(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    (void)last;
    if (first == 0)
        **(unsigned **)launch->args[0] = COUNTED;
}

static void pass_on(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    (void)last;
    if (first == 0)
        **(unsigned **)launch->args[1] = **(unsigned **)launch->args[0];
}

/* The code that nvcc would generate. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, void *tid, void *bid, void *bdim, void *gdim, int *wsize);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t bytes,
                       int constant, int global);
static char stubs[3], variable[sizeof(unsigned)];
static const char *const names[] = {"count", "count_on_host", "pass_on"};

static void register_kernels(void)
{
    static const struct {
        int magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, "", NULL};
    static const size_t sizes[] = {sizeof(void *), sizeof(void *)};
    void **handle = __cudaRegisterFatBinary((void *)&wrapper);
    for (int i = 0; i < 3; i++)
        __cudaRegisterFunction(handle, &stubs[i], (char *)names[i], names[i], -1, NULL, NULL, NULL,
                               NULL, NULL);
    __cudaRegisterVar(handle, variable, variable, "found", 0, sizeof variable, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    cudaFree(NULL);
    vramscope_sim_register("count_on_host", count_on_host, sizes, 1);
    vramscope_sim_register("pass_on", pass_on, sizes, 2);
}

static cudaError_t launch(int kernel, void *first, void *second, cudaStream_t stream)
{
    void *args[] = {&first, &second};
    return cudaLaunchKernel(&stubs[kernel], (dim3){1, 1, 1}, (dim3){1, 1, 1}, args, 0, stream);
}

static unsigned counted;

static __attribute__((noinline)) cudaError_t read_count(const void *from)
{
    return cudaMemcpy(&counted, from, sizeof counted, cudaMemcpyDeviceToHost);
}

static cudaError_t captured(void *count, cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaError_t e = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (!e)
        e = launch(0, count, NULL, stream);
    if (!e)
        e = cudaMemcpyAsync(&counted, count, sizeof counted, cudaMemcpyDeviceToHost, stream);
    if (!e)
        e = cudaStreamEndCapture(stream, &graph);
    if (!e)
        e = cudaGraphInstantiate(&exec, graph, 0);
    if (!e)
        e = cudaGraphLaunch(exec, stream);
    return e ? e : cudaStreamSynchronize(stream);
}

int main(int argc, char **argv)
{
    void *count, *other, *block = NULL;
    cudaStream_t stream;
    cudaError_t e = cudaSuccess;
    register_kernels();
    if (cudaMalloc(&count, sizeof counted) || cudaMalloc(&other, sizeof counted) ||
        cudaStreamCreate(&stream))
        return 3;
    for (const char *step = argc > 1 ? argv[1] : ""; *step && !e; step++)
        switch (*step) {
        case 'k': e = launch(0, count, NULL, stream); break;
        case 'c': e = launch(1, count, NULL, stream); break;
        case 'p': e = launch(2, count, other, stream); break; /* count to other */
        case 'm': e = cudaMemset(count, 0, sizeof counted); break;
        case 'h': e = cudaMemcpy(count, &(unsigned){COUNTED}, sizeof counted, cudaMemcpyHostToDevice); break;
        case 'd': e = cudaMemcpy(other, count, sizeof counted, cudaMemcpyDeviceToDevice); break;
        case 'r': e = read_count(count); break;
        case 'o': e = read_count(other); break;
        case 'v': e = cudaMemcpyFromSymbol(&counted, variable, sizeof counted, 0, cudaMemcpyDeviceToHost); break;
        case 'b': e = cudaMemcpy2D(&counted, 2, count, 2, 2, 2, cudaMemcpyDeviceToHost); break;
        case 'f': e = cudaFree(count) ? cudaErrorUnknown : cudaMalloc(&count, (size_t)4 << 20); break;
        case 'g': e = captured(count, stream); break;
        case 'n': e = cudaMallocManaged(&block, 4, cudaMemAttachGlobal); break;
        case 'w': e = cudaDeviceSynchronize(); break;
        case 's': e = cudaStreamSynchronize(stream); break;
        case 'a': e = cudaMalloc(&block, (size_t)counted << 20); break;
        default: return 4;
        }
    if (e)
        printf("%s\n", cudaGetErrorString(e));
    cudaFree(block);
    return e ? 3 : 0;
}
