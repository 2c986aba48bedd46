/* SPDX-License-Identifier: Apache-2.0
 *
 * Basic use of memory by the runtime API: every family that has a runtime function, failures, and
 * no use at all. */
#include <cuda_runtime_api.h>

#include "victim.h"

VICTIM("basics", INJECTED)

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

CASE_STATUS(no_cuda, "links CUDA, but never calls it", VF_NO_TRACE)
{
    puts("nothing to see");
    return 3;
}

CASE(device_memory, "cudaMalloc and cudaFree", 0)
{
    void *blocks[100];
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 100; i++) {
            OK(cudaMalloc(&blocks[i], (i + 1) * KIB));
            tally_alloc(VT_DEVICE, (int64_t)((i + 1) * KIB));
        }
        for (size_t i = 0; i < 100; i++) {
            OK(cudaFree(blocks[i]));
            tally_free(VT_DEVICE);
        }
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
    OK(cudaMalloc(&p, MIB));
    tally_alloc(VT_DEVICE, (int64_t)MIB);
    return; /* left live on purpose */
}

CASE(other_families, "managed, pinned, stream-ordered and registered memory", 0)
{
    void *p;
    OK(cudaMallocManaged(&p, 3 * MIB, cudaMemAttachGlobal));
    tally_alloc(VT_MANAGED, (int64_t)(3 * MIB));
    OK(cudaFree(p));
    tally_free(VT_MANAGED);
    OK(cudaMallocHost(&p, 5 * MIB));
    tally_alloc(VT_PINNED, (int64_t)(5 * MIB));
    OK(cudaFreeHost(p));
    tally_free(VT_PINNED);
    OK(cudaMallocAsync(&p, 7 * MIB, 0));
    tally_alloc(VT_ASYNC, (int64_t)(7 * MIB));
    OK(cudaFreeAsync(p, 0));
    tally_free(VT_ASYNC);
    OK(cudaDeviceSynchronize());
    p = aligned_alloc(4096, 64 * KIB);
    CHECK(p);
    OK(cudaHostRegister(p, 64 * KIB, cudaHostRegisterDefault));
    tally_alloc(VT_REGISTERED, (int64_t)(64 * KIB));
    OK(cudaHostUnregister(p));
    tally_free(VT_REGISTERED);
    free(p);
}
