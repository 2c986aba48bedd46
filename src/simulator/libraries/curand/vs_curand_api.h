/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of curand, written by scripts/library_tables.py from the
 * headers of curand 10.3.5.147 (CUDA 12) and curand 10.4.5.25 (CUDA 13). Do not edit.
 * VS_CURAND_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CURAND_API_H
#define VS_CURAND_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CURAND_STATUS_SUCCESS = 0, CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102, CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104, CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_LAUNCH_FAILURE = 201, CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
};

#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 4
#define CURAND_VER_PATCH 5

struct CUstream_st;
struct curandGenerator_st;

#define VS_CURAND_FUNCTIONS(F) \
    F(int, curandCreateGenerator, (struct curandGenerator_st **, int)) \
    F(int, curandCreateGeneratorHost, (struct curandGenerator_st **, int)) \
    F(int, curandDestroyGenerator, (struct curandGenerator_st *)) \
    F(int, curandGenerateSeeds, (struct curandGenerator_st *)) \
    F(int, curandGetProperty, (int, int *)) \
    F(int, curandGetVersion, (int *)) \
    F(int, curandSetGeneratorOffset, (struct curandGenerator_st *, unsigned long long)) \
    F(int, curandSetGeneratorOrdering, (struct curandGenerator_st *, int)) \
    F(int, curandSetPseudoRandomGeneratorSeed, (struct curandGenerator_st *, unsigned long long)) \
    F(int, curandSetStream, (struct curandGenerator_st *, struct CUstream_st *))

#endif
