/* SPDX-License-Identifier: Apache-2.0
 *
 * 64 MiB that stay, then 300 MiB of one family that are allocated and freed between two readings of free
 * memory: device, managed, graph, vmm, pool, array, or none. Exit status 1 if a call fails. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define OK(call)                                               \
    do {                                                       \
        if ((call) != 0) {                                     \
            fprintf(stderr, "between: %s failed\n", #call);    \
            return 1;                                          \
        }                                                      \
    } while (0)

static int with_graph(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *p;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync(&p, 300 * MIB, stream));
    OK(cudaFreeAsync(p, stream));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaDeviceGraphMemTrim(0));
    return 0;
}

static int with_vmm(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    CUmemGenericAllocationHandle handle;
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
    CUresult (*release)(CUmemGenericAllocationHandle);
    OK(!driver || !(*(void **)&create = dlsym(driver, "cuMemCreate")) ||
       !(*(void **)&release = dlsym(driver, "cuMemRelease")));
    OK(create(&handle, 300 * MIB, &prop, 0));
    OK(release(handle));
    return 0;
}

int main(int argc, char **argv)
{
    const char *family = argc > 1 ? argv[1] : "";
    struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t array;
    cudaStream_t stream;
    void *kept, *p;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&kept, 64 * MIB));
    if (strcmp(family, "device") == 0) {
        OK(cudaMalloc(&p, 300 * MIB));
        OK(cudaFree(p));
    } else if (strcmp(family, "managed") == 0) {
        OK(cudaMallocManaged(&p, 300 * MIB, cudaMemAttachGlobal));
        OK(cudaMemset(p, 0, 300 * MIB));
        OK(cudaFree(p));
    } else if (strcmp(family, "graph") == 0) {
        OK(with_graph(stream));
    } else if (strcmp(family, "vmm") == 0) {
        OK(with_vmm());
    } else if (strcmp(family, "pool") == 0) {
        OK(cudaMallocAsync(&p, 300 * MIB, stream));
        OK(cudaFreeAsync(p, stream));
        OK(cudaStreamSynchronize(stream));
    } else if (strcmp(family, "array") == 0) {
        OK(cudaMallocArray(&array, &bytes, 30 * 1024, 10 * 1024, 0));
        OK(cudaFreeArray(array));
    }
    OK(cudaFree(kept));
    return 0;
}
