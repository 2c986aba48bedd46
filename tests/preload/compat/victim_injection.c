/* SPDX-License-Identifier: Apache-2.0
 *
 * Basic use of memory, and no use at all, also recorded by the library that the driver loads
 * (CUDA_INJECTION64_PATH), which only receives reports of calls. Resets and destroyed contexts are
 * in victim_contexts_many.c. */
#include "victim_memory.h"

VICTIM("basics", INJECTED)

CASE_STATUS(no_cuda, "links CUDA, but never calls it", VF_NO_TRACE)
{
    puts("nothing to see");
    return 3;
}

CASE_STATUS(only_asks, "only queries the number of devices", VF_NO_TRACE)
{
    int count = 0;
    OK(cudaGetDeviceCount(&count));
    printf("%d\n", count);
    return 4;
}

CASE(device_memory, "cudaMalloc and cudaFree, some memory not freed", 0)
{
    for (size_t i = 1; i <= 200; i++)
        give(take(i * KIB));
    some_work();
    take(MIB); /* left live on purpose */
    OK(cudaFree(NULL));
}

CASE(families, "pitched, managed, pinned and registered memory", 0)
{
    void *p;
    size_t pitch;
    char *own = aligned_alloc(4096, 64 * KIB);
    ALLOCATES(VT_DEVICE, 100 * 100, cudaMallocPitch(&p, &pitch, 100, 100));
    FREES(VT_DEVICE, cudaFree(p));
    ALLOCATES(VT_MANAGED, MIB, cudaMallocManaged(&p, MIB, cudaMemAttachGlobal));
    FREES(VT_MANAGED, cudaFree(p));
    ALLOCATES(VT_PINNED, 2 * MIB, cudaMallocHost(&p, 2 * MIB));
    FREES(VT_PINNED, cudaFreeHost(p));
    ALLOCATES(VT_REGISTERED, 64 * KIB, cudaHostRegister(own, 64 * KIB, cudaHostRegisterDefault));
    FREES(VT_REGISTERED, cudaHostUnregister(own));
    free(own);
}

CASE(streams, "stream-ordered memory in two streams", 0)
{
    void *p[20];
    cudaStream_t stream = new_stream(0);
    for (size_t i = 0; i < 20; i++) {
        OK(cudaMallocAsync(&p[i], (i + 1) * KIB, i % 2 ? stream : 0));
        tally_alloc(VT_ASYNC, (int64_t)((i + 1) * KIB));
    }
    for (size_t i = 0; i < 20; i++)
        FREES(VT_ASYNC, cudaFreeAsync(p[i], stream));
    OK(cudaStreamSynchronize(stream));
}

CASE(refusals, "allocations and frees that fail", 0)
{
    void *p = NULL;
    size_t free_bytes, total;
    int local;
    OK(cudaMemGetInfo(&free_bytes, &total));
    printf("%s\n", cudaGetErrorName(cudaMalloc(&p, 2 * total)));
    tally_failed(VT_DEVICE);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    printf("%s\n", cudaGetErrorName(cudaMallocHost(&p, (size_t)1 << 60)));
    tally_failed(VT_PINNED);
    printf("%s\n", cudaGetErrorName(cudaFree(&local)));
    p = take(MIB);
    /* the driver refuses this free: the memory stays */
    printf("%d\n", (int)cuMemFree((CUdeviceptr)(uintptr_t)p + 512));
    printf("%d\n", (int)cuMemFreeHost(p));
    give(p);
}

static void *reuse(void *arg)
{
    size_t seed = (size_t)arg + 1;
    for (size_t i = 1; i <= 300; i++)
        give(take((i * seed % 97 + 1) * KIB));
    return NULL;
}

/* Addresses are reused between threads: each free must be reported before the next owner's
 * allocation. */
CASE(threads, "eight threads reuse each other's addresses", 0)
{
    OK(cudaFree(NULL));
    in_threads(8, reuse, NULL);
}
