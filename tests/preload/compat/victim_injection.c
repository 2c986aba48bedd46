/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of every kind, by both layers, also recorded by the library that the driver loads
 * (CUDA_INJECTION64_PATH), which only receives reports of calls. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>

#include "victim.h"

VICTIM("injection", INJECTED)

static void alloc_free(size_t bytes)
{
    void *p;
    ALLOCATES(VT_DEVICE, bytes, cudaMalloc(&p, bytes));
    FREES(VT_DEVICE, cudaFree(p));
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
        alloc_free(i * KIB);
    void *left;
    ALLOCATES(VT_DEVICE, MIB, cudaMalloc(&left, MIB));
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
    cudaStream_t stream;
    void *p[20];
    OK(cudaStreamCreate(&stream));
    for (size_t i = 0; i < 20; i++) {
        OK(cudaMallocAsync(&p[i], (i + 1) * KIB, i % 2 ? stream : 0));
        tally_alloc(VT_ASYNC, (int64_t)((i + 1) * KIB));
    }
    for (size_t i = 0; i < 20; i++)
        FREES(VT_ASYNC, cudaFreeAsync(p[i], stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

CASE(refusals, "allocations and frees that fail", 0)
{
    void *p = NULL;
    size_t free_bytes, total;
    int local;
    OK(cudaMemGetInfo(&free_bytes, &total));
    printf("%s\n", cudaGetErrorName(cudaMalloc(&p, 2 * total)));
    tally_failed(VT_DEVICE);
    printf("%s\n", cudaGetErrorName(cudaMallocHost(&p, (size_t)1 << 60)));
    tally_failed(VT_PINNED);
    printf("%s\n", cudaGetErrorName(cudaFree(&local)));
    ALLOCATES(VT_DEVICE, MIB, cudaMalloc(&p, MIB));
    /* the driver refuses this free: the memory stays */
    printf("%d\n", (int)cuMemFree((CUdeviceptr)(uintptr_t)p + 512));
    printf("%d\n", (int)cuMemFreeHost(p));
    FREES(VT_DEVICE, cudaFree(p));
}

CASE(driver_api, "driver API, a context is destroyed with live memory", 0)
{
    CUcontext context;
    CUdeviceptr p, q;
    OK(cuInit(0));
#if CUDA_VERSION >= 13000
    OK(cuCtxCreate(&context, NULL, 0, 0));
#else
    OK(cuCtxCreate(&context, 0, 0));
#endif
    ALLOCATES(VT_DEVICE, 3 * MIB, cuMemAlloc(&p, 3 * MIB));
    ALLOCATES(VT_DEVICE, 5 * MIB, cuMemAlloc(&q, 5 * MIB));
    FREES(VT_DEVICE, cuMemFree(p));
    FREES(VT_DEVICE, cuCtxDestroy(context)); /* and q with it */
}

CASE(reset, "three device resets with live memory", 0)
{
    void *p;
    for (int i = 0; i < 3; i++) {
        ALLOCATES(VT_DEVICE, MIB, cudaMalloc(&p, MIB));
        FREES(VT_DEVICE, cudaDeviceReset());
    }
}

static void *churn(void *arg)
{
    size_t seed = (size_t)(uintptr_t)arg;
    for (size_t i = 1; i <= 300; i++)
        alloc_free((i * seed % 97 + 1) * KIB);
    return NULL;
}

/* Addresses are reused between threads: each free must be reported before the next owner's
 * allocation. */
CASE(threads, "eight threads reuse each other's addresses", 0)
{
    pthread_t thread[8];
    OK(cudaSetDevice(0));
    OK(cudaFree(NULL));
    for (size_t i = 0; i < 8; i++)
        CHECK(pthread_create(&thread[i], NULL, churn, (void *)(uintptr_t)(i + 1)) == 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
}
