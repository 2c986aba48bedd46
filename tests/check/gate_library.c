/* SPDX-License-Identifier: Apache-2.0
 *
 * A library of C code with debug information, which check_sites.py calls from Python by ctypes. The
 * argument of library_step chooses the memory bug: the line marked "planted: gradients". */
#include <cuda_runtime_api.h>
#include <stddef.h>

#define MIB ((size_t)1 << 20)

__attribute__((visibility("default"))) int library_open(void);
__attribute__((visibility("default"))) int library_step(int bug);

static void *weights, *activations;

int library_open(void)
{
    return cudaMalloc(&weights, 8 * MIB);
}

static int backward(int bug)
{
    void *gradients;
    int status = bug ? (int)cudaMalloc(&gradients, 2 * MIB) : 0; /* planted: gradients */
    return status ? status : (int)cudaFree(activations);
}

int library_step(int bug)
{
    int status = cudaMalloc(&activations, 4 * MIB);
    return status ? status : backward(bug);
}
