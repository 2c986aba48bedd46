/* SPDX-License-Identifier: Apache-2.0
 *
 * Basic use of memory by the runtime API: every family that has a runtime function, failures, and
 * no use at all. */
#include <cuda_runtime_api.h>

#include "victim.h"

VICTIM("basics", INJECTED)

CASE_STATUS(no_cuda, "links CUDA, but never calls it", VF_NO_TRACE)
{
    puts("nothing to see");
    return 3;
}

CASE(device_memory, "cudaMalloc and cudaFree", 0)
{
    void *blocks[100];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 100; i++)
            ALLOCATES(VT_DEVICE, ((i + 1) * KIB), cudaMalloc(&blocks[i], (i + 1) * KIB));
        for (size_t i = 0; i < 100; i++)
            FREES(VT_DEVICE, cudaFree(blocks[i]));
    }
    OK(cudaFree(NULL));
}

CASE(out_of_memory, "an allocation fails, and the program continues", 0)
{
    void *p = NULL;
    size_t free_bytes, total_bytes;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    cudaError_t e = cudaMalloc(&p, 2 * total_bytes);
    tally_failed(VT_DEVICE);
    printf("%s\n", cudaGetErrorName(e));
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    ALLOCATES(VT_DEVICE, MIB, cudaMalloc(&p, MIB));
    return; /* left live on purpose */
}

CASE(other_families, "managed, pinned, stream-ordered and registered memory", 0)
{
    void *p;
    ALLOCATES(VT_MANAGED, 3 * MIB, cudaMallocManaged(&p, 3 * MIB, cudaMemAttachGlobal));
    FREES(VT_MANAGED, cudaFree(p));
    ALLOCATES(VT_PINNED, 5 * MIB, cudaMallocHost(&p, 5 * MIB));
    FREES(VT_PINNED, cudaFreeHost(p));
    ALLOCATES(VT_ASYNC, 7 * MIB, cudaMallocAsync(&p, 7 * MIB, 0));
    FREES(VT_ASYNC, cudaFreeAsync(p, 0));
    OK(cudaDeviceSynchronize());
    p = aligned_alloc(4096, 64 * KIB);
    CHECK(p);
    ALLOCATES(VT_REGISTERED, 64 * KIB, cudaHostRegister(p, 64 * KIB, cudaHostRegisterDefault));
    FREES(VT_REGISTERED, cudaHostUnregister(p));
    free(p);
}
