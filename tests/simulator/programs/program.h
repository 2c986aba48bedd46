/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the programs here: exit with file and line on a CUDA error, and a repeatable source of
 * numbers. Results go to standard output, which is the same in each run; times go to standard
 * error. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t error_ = (call);                                                       \
        if (error_ != cudaSuccess) {                                                       \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                  \
                    cudaGetErrorString(error_));                                           \
            exit(EXIT_FAILURE);                                                            \
        }                                                                                  \
    } while (0)

/* A number in [0, 1) that depends on *i* alone. */
static inline float noise(unsigned i)
{
    i = (i ^ 61u) ^ (i >> 16);
    i *= 9u;
    i ^= i >> 4;
    i *= 0x27d4eb2du;
    i ^= i >> 15;
    return (float)(i >> 8) / 16777216.0f;
}

#endif
