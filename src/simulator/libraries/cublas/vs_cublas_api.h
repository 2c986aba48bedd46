/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cublas, written by scripts/library_tables.py from the
 * headers of cublas 12.4.5.8 (CUDA 12) and cublas 13.10.0.20 (CUDA 13). Do not edit.
 * VS_CUBLAS_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CUBLAS_API_H
#define VS_CUBLAS_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11, CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16, CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2, CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1,
    CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1, CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2,
    CUBLAS_OP_CONJG = 3, CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1,
    CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1, CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16, CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_32F_FAST_16F = 74, CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77, CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_FP32_EMULATED_BF16X9_MATH = 4, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
    CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
    CUBLAS_EMULATION_STRATEGY_DEFAULT = 0, CUBLAS_EMULATION_STRATEGY_EAGER = 2,
};

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 10
#define CUBLAS_VER_PATCH 0

struct CUstream_st;
struct cublasContext;
struct double2;
struct float2;

#define VS_CUBLAS_FUNCTIONS(F) \
    F(int, cublasCreate_v2, (struct cublasContext **)) \
    F(int, cublasDestroy_v2, (struct cublasContext *)) \
    F(size_t, cublasGetCudartVersion, (void)) \
    F(int, cublasGetFixedPointEmulationMantissaBitCountPointer, (struct cublasContext *, int **)) \
    F(int, cublasGetLoggerCallback, (void **)) \
    F(int, cublasGetProperty, (int, int *)) \
    F(const char *, cublasGetStatusName, (int)) \
    F(const char *, cublasGetStatusString, (int)) \
    F(int, cublasGetStream_v2, (struct cublasContext *, struct CUstream_st **)) \
    F(int, cublasGetVersion_v2, (struct cublasContext *, int *)) \
    F(int, cublasLoggerConfigure, (int, int, int, const char *)) \
    F(int, cublasSetFixedPointEmulationMantissaBitCountPointer, (struct cublasContext *, int *)) \
    F(int, cublasSetLoggerCallback, (void *)) \
    F(int, cublasSetStream_v2, (struct cublasContext *, struct CUstream_st *)) \
    F(int, cublasSetWorkspace_v2, (struct cublasContext *, void *, size_t))

#endif
