/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of curand, written by scripts/library_tables.py from the
 * headers of curand 10.3.5.147 (CUDA 12) and curand 10.4.5.25 (CUDA 13). Do not edit. */
#ifndef VS_CURAND_API_H
#define VS_CURAND_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

#include "generated/vs_curand_rows.h" /* VS_CURAND_FUNCTIONS */

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

#endif
