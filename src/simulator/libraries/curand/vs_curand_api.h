/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of curand, written by scripts/library_tables.py from the
 * headers of curand 10.3.5.147 (CUDA 12) and curand 10.4.5.25 (CUDA 13). Do not edit.
 * VS_CURAND_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_CURAND_API_H
#define VS_CURAND_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
};

#define CURAND_VER_BUILD 25
#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 4
#define CURAND_VER_PATCH 5

struct CUstream_st;
struct curandDiscreteDistribution_st;
struct curandGenerator_st;


#define VS_CURAND_FUNCTIONS(F) \
    F(3, STATUS, int, curandCreateGenerator, (struct curandGenerator_st **, int)) \
    F(3, STATUS, int, curandCreateGeneratorHost, (struct curandGenerator_st **, int)) \
    F(3, STATUS, int, curandCreatePoissonDistribution, (double, struct curandDiscreteDistribution_st **)) \
    F(3, STATUS, int, curandDestroyDistribution, (struct curandDiscreteDistribution_st *)) \
    F(3, STATUS, int, curandDestroyGenerator, (struct curandGenerator_st *)) \
    F(3, STATUS, int, curandGenerate, (struct curandGenerator_st *, unsigned int *, size_t)) \
    F(3, STATUS, int, curandGenerateBinomial, (struct curandGenerator_st *, unsigned int *, size_t, unsigned int, double)) \
    F(3, STATUS, int, curandGenerateBinomialMethod, (struct curandGenerator_st *, unsigned int *, size_t, unsigned int, double, int)) \
    F(3, STATUS, int, curandGenerateLogNormal, (struct curandGenerator_st *, float *, size_t, float, float)) \
    F(3, STATUS, int, curandGenerateLogNormalDouble, (struct curandGenerator_st *, double *, size_t, double, double)) \
    F(3, STATUS, int, curandGenerateLongLong, (struct curandGenerator_st *, unsigned long long *, size_t)) \
    F(3, STATUS, int, curandGenerateNormal, (struct curandGenerator_st *, float *, size_t, float, float)) \
    F(3, STATUS, int, curandGenerateNormalDouble, (struct curandGenerator_st *, double *, size_t, double, double)) \
    F(3, STATUS, int, curandGeneratePoisson, (struct curandGenerator_st *, unsigned int *, size_t, double)) \
    F(3, STATUS, int, curandGeneratePoissonMethod, (struct curandGenerator_st *, unsigned int *, size_t, double, int)) \
    F(3, STATUS, int, curandGenerateSeeds, (struct curandGenerator_st *)) \
    F(3, STATUS, int, curandGenerateUniform, (struct curandGenerator_st *, float *, size_t)) \
    F(3, STATUS, int, curandGenerateUniformDouble, (struct curandGenerator_st *, double *, size_t)) \
    F(3, STATUS, int, curandGetDirectionVectors32, (unsigned int ** *, int)) \
    F(3, STATUS, int, curandGetDirectionVectors64, (unsigned long long ** *, int)) \
    F(3, STATUS, int, curandGetProperty, (int, int *)) \
    F(3, STATUS, int, curandGetScrambleConstants32, (unsigned int **)) \
    F(3, STATUS, int, curandGetScrambleConstants64, (unsigned long long **)) \
    F(3, STATUS, int, curandGetVersion, (int *)) \
    F(3, STATUS, int, curandSetGeneratorOffset, (struct curandGenerator_st *, unsigned long long)) \
    F(3, STATUS, int, curandSetGeneratorOrdering, (struct curandGenerator_st *, int)) \
    F(3, STATUS, int, curandSetPseudoRandomGeneratorSeed, (struct curandGenerator_st *, unsigned long long)) \
    F(3, STATUS, int, curandSetQuasiRandomGeneratorDimensions, (struct curandGenerator_st *, unsigned int)) \
    F(3, STATUS, int, curandSetStream, (struct curandGenerator_st *, struct CUstream_st *))

#endif
