/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that allocates device memory for itself, as NCCL and cuBLAS do. Built under such names,
 * once with a static CUDA runtime and once with the shared one. */
#include <cuda_runtime.h>

__attribute__((visibility("default"))) void *LIBRARY_TAKE(size_t bytes);
__attribute__((visibility("default"))) int LIBRARY_GIVE(void *memory);

void *LIBRARY_TAKE(size_t bytes)
{
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
}

int LIBRARY_GIVE(void *memory)
{
    return (int)cudaFree(memory);
}
