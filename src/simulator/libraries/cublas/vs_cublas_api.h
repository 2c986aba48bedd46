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
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16,
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2,
    CUBLAS_DIAG_NON_UNIT = 0,
    CUBLAS_DIAG_UNIT = 1,
    CUBLAS_SIDE_LEFT = 0,
    CUBLAS_SIDE_RIGHT = 1,
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_CONJG = 3,
    CUBLAS_POINTER_MODE_HOST = 0,
    CUBLAS_POINTER_MODE_DEVICE = 1,
    CUBLAS_ATOMICS_NOT_ALLOWED = 0,
    CUBLAS_ATOMICS_ALLOWED = 1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
    CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8,
    CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
    CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
    CUBLAS_EMULATION_STRATEGY_DEFAULT = 0,
    CUBLAS_EMULATION_STRATEGY_EAGER = 2,
};

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 10
#define CUBLAS_VER_PATCH 0

struct CUstream_st;
struct cublasContext;
struct double2;
struct float2;

#define VS_CUBLAS_FUNCTIONS(F) \
    F(int, cublasAsumEx, (struct cublasContext *, int, const void *, int, int, void *, int, int)) \
    F(int, cublasAsumEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(int, cublasAxpyEx, (struct cublasContext *, int, const void *, int, const void *, int, int, void *, int, int, int)) \
    F(int, cublasAxpyEx_64, (struct cublasContext *, int64_t, const void *, int, const void *, int, int64_t, void *, int, int64_t, int)) \
    F(int, cublasCaxpy_v2, (struct cublasContext *, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCaxpy_v2_64, (struct cublasContext *, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCcopy_v2, (struct cublasContext *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCcopy_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCdgmm, (struct cublasContext *, int, int, int, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCdotc_v2, (struct cublasContext *, int, const struct float2 *, int, const struct float2 *, int, struct float2 *)) \
    F(int, cublasCdotc_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *)) \
    F(int, cublasCdotu_v2, (struct cublasContext *, int, const struct float2 *, int, const struct float2 *, int, struct float2 *)) \
    F(int, cublasCdotu_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *)) \
    F(int, cublasCgbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCgeam, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCgelsBatched, (struct cublasContext *, int, int, int, int, struct float2 * *, int, struct float2 * *, int, int *, int *, int)) \
    F(int, cublasCgemm3m, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCgemm3mBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 * *, int, const struct float2 * *, int, const struct float2 *, struct float2 * *, int, int)) \
    F(int, cublasCgemm3mBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, const struct float2 * *, int64_t, const struct float2 *, struct float2 * *, int64_t, int64_t)) \
    F(int, cublasCgemm3mEx, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const void *, int, int, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(int, cublasCgemm3mEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(int, cublasCgemm3mStridedBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, long long, const struct float2 *, int, long long, const struct float2 *, struct float2 *, int, long long, int)) \
    F(int, cublasCgemm3mStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, long long, const struct float2 *, int64_t, long long, const struct float2 *, struct float2 *, int64_t, long long, int64_t)) \
    F(int, cublasCgemm3m_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCgemmBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 * *, int, const struct float2 * *, int, const struct float2 *, struct float2 * *, int, int)) \
    F(int, cublasCgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, const struct float2 * *, int64_t, const struct float2 *, struct float2 * *, int64_t, int64_t)) \
    F(int, cublasCgemmEx, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const void *, int, int, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(int, cublasCgemmEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(int, cublasCgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, long long, const struct float2 *, int, long long, const struct float2 *, struct float2 *, int, long long, int)) \
    F(int, cublasCgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, long long, const struct float2 *, int64_t, long long, const struct float2 *, struct float2 *, int64_t, long long, int64_t)) \
    F(int, cublasCgemm_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCgemvBatched, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 * *, int, const struct float2 * *, int, const struct float2 *, struct float2 * *, int, int)) \
    F(int, cublasCgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, const struct float2 * *, int64_t, const struct float2 *, struct float2 * *, int64_t, int64_t)) \
    F(int, cublasCgemvStridedBatched, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 *, int, long long, const struct float2 *, int, long long, const struct float2 *, struct float2 *, int, long long, int)) \
    F(int, cublasCgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, long long, const struct float2 *, int64_t, long long, const struct float2 *, struct float2 *, int64_t, long long, int64_t)) \
    F(int, cublasCgemv_v2, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCgeqrfBatched, (struct cublasContext *, int, int, struct float2 * *, int, struct float2 * *, int *, int)) \
    F(int, cublasCgerc_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCgerc_v2_64, (struct cublasContext *, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCgeru_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCgeru_v2_64, (struct cublasContext *, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCgetrfBatched, (struct cublasContext *, int, struct float2 * *, int, int *, int *, int)) \
    F(int, cublasCgetriBatched, (struct cublasContext *, int, const struct float2 * *, int, const int *, struct float2 * *, int, int *, int)) \
    F(int, cublasCgetrsBatched, (struct cublasContext *, int, int, int, const struct float2 * *, int, const int *, struct float2 * *, int, int *, int)) \
    F(int, cublasChbmv_v2, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasChbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasChemm_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasChemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasChemv_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasChemv_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCher2_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCher2_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCher2k_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const float *, struct float2 *, int)) \
    F(int, cublasCher2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const float *, struct float2 *, int64_t)) \
    F(int, cublasCher_v2, (struct cublasContext *, int, int, const float *, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCher_v2_64, (struct cublasContext *, int, int64_t, const float *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCherk3mEx, (struct cublasContext *, int, int, int, int, const float *, const void *, int, int, const float *, void *, int, int)) \
    F(int, cublasCherk3mEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const void *, int, int64_t, const float *, void *, int, int64_t)) \
    F(int, cublasCherkEx, (struct cublasContext *, int, int, int, int, const float *, const void *, int, int, const float *, void *, int, int)) \
    F(int, cublasCherkEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const void *, int, int64_t, const float *, void *, int, int64_t)) \
    F(int, cublasCherk_v2, (struct cublasContext *, int, int, int, int, const float *, const struct float2 *, int, const float *, struct float2 *, int)) \
    F(int, cublasCherk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const struct float2 *, int64_t, const float *, struct float2 *, int64_t)) \
    F(int, cublasCherkx, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const float *, struct float2 *, int)) \
    F(int, cublasCherkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const float *, struct float2 *, int64_t)) \
    F(int, cublasChpmv_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasChpmv_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasChpr2_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *)) \
    F(int, cublasChpr2_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *)) \
    F(int, cublasChpr_v2, (struct cublasContext *, int, int, const float *, const struct float2 *, int, struct float2 *)) \
    F(int, cublasChpr_v2_64, (struct cublasContext *, int, int64_t, const float *, const struct float2 *, int64_t, struct float2 *)) \
    F(int, cublasCmatinvBatched, (struct cublasContext *, int, const struct float2 * *, int, struct float2 * *, int, int *, int)) \
    F(int, cublasCopyEx, (struct cublasContext *, int, const void *, int, int, void *, int, int)) \
    F(int, cublasCopyEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, void *, int, int64_t)) \
    F(int, cublasCreate_v2, (struct cublasContext **)) \
    F(int, cublasCrot_v2, (struct cublasContext *, int, struct float2 *, int, struct float2 *, int, const float *, const struct float2 *)) \
    F(int, cublasCrot_v2_64, (struct cublasContext *, int64_t, struct float2 *, int64_t, struct float2 *, int64_t, const float *, const struct float2 *)) \
    F(int, cublasCrotg_v2, (struct cublasContext *, struct float2 *, struct float2 *, float *, struct float2 *)) \
    F(int, cublasCscal_v2, (struct cublasContext *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCscal_v2_64, (struct cublasContext *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCsrot_v2, (struct cublasContext *, int, struct float2 *, int, struct float2 *, int, const float *, const float *)) \
    F(int, cublasCsrot_v2_64, (struct cublasContext *, int64_t, struct float2 *, int64_t, struct float2 *, int64_t, const float *, const float *)) \
    F(int, cublasCsscal_v2, (struct cublasContext *, int, const float *, struct float2 *, int)) \
    F(int, cublasCsscal_v2_64, (struct cublasContext *, int64_t, const float *, struct float2 *, int64_t)) \
    F(int, cublasCswap_v2, (struct cublasContext *, int, struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCswap_v2_64, (struct cublasContext *, int64_t, struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCsymm_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCsymv_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCsymv_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCsyr2_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCsyr2_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCsyr2k_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCsyr_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCsyr_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCsyrk3mEx, (struct cublasContext *, int, int, int, int, const struct float2 *, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(int, cublasCsyrk3mEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(int, cublasCsyrkEx, (struct cublasContext *, int, int, int, int, const struct float2 *, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(int, cublasCsyrkEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(int, cublasCsyrk_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCsyrkx, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCtbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCtbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCtbsv_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCtbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCtpmv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCtpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCtpsv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCtpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(int, cublasCtpttr, (struct cublasContext *, int, int, const struct float2 *, struct float2 *, int)) \
    F(int, cublasCtrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCtrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCtrmv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCtrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCtrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const struct float2 *, const struct float2 * *, int, struct float2 * *, int, int)) \
    F(int, cublasCtrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, struct float2 * *, int64_t, int64_t)) \
    F(int, cublasCtrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCtrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCtrsv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(int, cublasCtrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(int, cublasCtrttp, (struct cublasContext *, int, int, const struct float2 *, int, struct float2 *)) \
    F(int, cublasDasum_v2, (struct cublasContext *, int, const double *, int, double *)) \
    F(int, cublasDasum_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, double *)) \
    F(int, cublasDaxpy_v2, (struct cublasContext *, int, const double *, const double *, int, double *, int)) \
    F(int, cublasDaxpy_v2_64, (struct cublasContext *, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDcopy_v2, (struct cublasContext *, int, const double *, int, double *, int)) \
    F(int, cublasDcopy_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDdgmm, (struct cublasContext *, int, int, int, const double *, int, const double *, int, double *, int)) \
    F(int, cublasDdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDdot_v2, (struct cublasContext *, int, const double *, int, const double *, int, double *)) \
    F(int, cublasDdot_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, const double *, int64_t, double *)) \
    F(int, cublasDestroy_v2, (struct cublasContext *)) \
    F(int, cublasDgbmv_v2, (struct cublasContext *, int, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDgeam, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, const double *, int, double *, int)) \
    F(int, cublasDgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDgelsBatched, (struct cublasContext *, int, int, int, int, double * *, int, double * *, int, int *, int *, int)) \
    F(int, cublasDgemmBatched, (struct cublasContext *, int, int, int, int, int, const double *, const double * *, int, const double * *, int, const double *, double * *, int, int)) \
    F(int, cublasDgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const double *, const double * *, int64_t, const double * *, int64_t, const double *, double * *, int64_t, int64_t)) \
    F(int, cublasDgemmGroupedBatched, (struct cublasContext *, int *, int *, int *, int *, int *, double *, const double * *, int *, const double * *, int *, double *, double * *, int *, int, int *)) \
    F(int, cublasDgemmGroupedBatched_64, (struct cublasContext *, int *, int *, long *, long *, long *, double *, const double * *, long *, const double * *, long *, double *, double * *, long *, int64_t, long *)) \
    F(int, cublasDgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const double *, const double *, int, long long, const double *, int, long long, const double *, double *, int, long long, int)) \
    F(int, cublasDgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const double *, const double *, int64_t, long long, const double *, int64_t, long long, const double *, double *, int64_t, long long, int64_t)) \
    F(int, cublasDgemm_v2, (struct cublasContext *, int, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDgemvBatched, (struct cublasContext *, int, int, int, const double *, const double * *, int, const double * *, int, const double *, double * *, int, int)) \
    F(int, cublasDgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double * *, int64_t, const double * *, int64_t, const double *, double * *, int64_t, int64_t)) \
    F(int, cublasDgemvStridedBatched, (struct cublasContext *, int, int, int, const double *, const double *, int, long long, const double *, int, long long, const double *, double *, int, long long, int)) \
    F(int, cublasDgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double *, int64_t, long long, const double *, int64_t, long long, const double *, double *, int64_t, long long, int64_t)) \
    F(int, cublasDgemv_v2, (struct cublasContext *, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDgeqrfBatched, (struct cublasContext *, int, int, double * *, int, double * *, int *, int)) \
    F(int, cublasDger_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, double *, int)) \
    F(int, cublasDger_v2_64, (struct cublasContext *, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDgetrfBatched, (struct cublasContext *, int, double * *, int, int *, int *, int)) \
    F(int, cublasDgetriBatched, (struct cublasContext *, int, const double * *, int, const int *, double * *, int, int *, int)) \
    F(int, cublasDgetrsBatched, (struct cublasContext *, int, int, int, const double * *, int, const int *, double * *, int, int *, int)) \
    F(int, cublasDmatinvBatched, (struct cublasContext *, int, const double * *, int, double * *, int, int *, int)) \
    F(int, cublasDnrm2_v2, (struct cublasContext *, int, const double *, int, double *)) \
    F(int, cublasDnrm2_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, double *)) \
    F(int, cublasDotEx, (struct cublasContext *, int, const void *, int, int, const void *, int, int, void *, int, int)) \
    F(int, cublasDotEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(int, cublasDotcEx, (struct cublasContext *, int, const void *, int, int, const void *, int, int, void *, int, int)) \
    F(int, cublasDotcEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(int, cublasDrot_v2, (struct cublasContext *, int, double *, int, double *, int, const double *, const double *)) \
    F(int, cublasDrot_v2_64, (struct cublasContext *, int64_t, double *, int64_t, double *, int64_t, const double *, const double *)) \
    F(int, cublasDrotg_v2, (struct cublasContext *, double *, double *, double *, double *)) \
    F(int, cublasDrotm_v2, (struct cublasContext *, int, double *, int, double *, int, const double *)) \
    F(int, cublasDrotm_v2_64, (struct cublasContext *, int64_t, double *, int64_t, double *, int64_t, const double *)) \
    F(int, cublasDrotmg_v2, (struct cublasContext *, double *, double *, double *, const double *, double *)) \
    F(int, cublasDsbmv_v2, (struct cublasContext *, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDsbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDscal_v2, (struct cublasContext *, int, const double *, double *, int)) \
    F(int, cublasDscal_v2_64, (struct cublasContext *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDspmv_v2, (struct cublasContext *, int, int, const double *, const double *, const double *, int, const double *, double *, int)) \
    F(int, cublasDspmv_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDspr2_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, double *)) \
    F(int, cublasDspr2_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *)) \
    F(int, cublasDspr_v2, (struct cublasContext *, int, int, const double *, const double *, int, double *)) \
    F(int, cublasDspr_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, double *)) \
    F(int, cublasDswap_v2, (struct cublasContext *, int, double *, int, double *, int)) \
    F(int, cublasDswap_v2_64, (struct cublasContext *, int64_t, double *, int64_t, double *, int64_t)) \
    F(int, cublasDsymm_v2, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDsymv_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDsymv_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDsyr2_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, double *, int)) \
    F(int, cublasDsyr2_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDsyr2k_v2, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDsyr_v2, (struct cublasContext *, int, int, const double *, const double *, int, double *, int)) \
    F(int, cublasDsyr_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDsyrk_v2, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, double *, int)) \
    F(int, cublasDsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDsyrkx, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(int, cublasDsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDtbmv_v2, (struct cublasContext *, int, int, int, int, int, const double *, int, double *, int)) \
    F(int, cublasDtbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDtbsv_v2, (struct cublasContext *, int, int, int, int, int, const double *, int, double *, int)) \
    F(int, cublasDtbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDtpmv_v2, (struct cublasContext *, int, int, int, int, const double *, double *, int)) \
    F(int, cublasDtpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDtpsv_v2, (struct cublasContext *, int, int, int, int, const double *, double *, int)) \
    F(int, cublasDtpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, double *, int64_t)) \
    F(int, cublasDtpttr, (struct cublasContext *, int, int, const double *, double *, int)) \
    F(int, cublasDtrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const double *, const double *, int, const double *, int, double *, int)) \
    F(int, cublasDtrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDtrmv_v2, (struct cublasContext *, int, int, int, int, const double *, int, double *, int)) \
    F(int, cublasDtrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDtrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const double *, const double * *, int, double * *, int, int)) \
    F(int, cublasDtrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const double *, const double * *, int64_t, double * *, int64_t, int64_t)) \
    F(int, cublasDtrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const double *, const double *, int, double *, int)) \
    F(int, cublasDtrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDtrsv_v2, (struct cublasContext *, int, int, int, int, const double *, int, double *, int)) \
    F(int, cublasDtrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, int64_t, double *, int64_t)) \
    F(int, cublasDtrttp, (struct cublasContext *, int, int, const double *, int, double *)) \
    F(int, cublasDzasum_v2, (struct cublasContext *, int, const struct double2 *, int, double *)) \
    F(int, cublasDzasum_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, double *)) \
    F(int, cublasDznrm2_v2, (struct cublasContext *, int, const struct double2 *, int, double *)) \
    F(int, cublasDznrm2_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, double *)) \
    F(int, cublasGemmBatchedEx, (struct cublasContext *, int, int, int, int, int, const void *, const void * *, int, int, const void * *, int, int, const void *, void * *, int, int, int, int, int)) \
    F(int, cublasGemmBatchedEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const void *, const void * *, int, int64_t, const void * *, int, int64_t, const void *, void * *, int, int64_t, int64_t, int, int)) \
    F(int, cublasGemmEx, (struct cublasContext *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int, const void *, void *, int, int, int, int)) \
    F(int, cublasGemmEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const void *, const void *, int, int64_t, const void *, int, int64_t, const void *, void *, int, int64_t, int, int)) \
    F(int, cublasGemmGroupedBatchedEx, (struct cublasContext *, int *, int *, int *, int *, int *, const void *, const void * *, int, int *, const void * *, int, int *, const void *, void * *, int, int *, int, int *, int)) \
    F(int, cublasGemmGroupedBatchedEx_64, (struct cublasContext *, int *, int *, long *, long *, long *, const void *, const void * *, int, long *, const void * *, int, long *, const void *, void * *, int, long *, int64_t, long *, int)) \
    F(int, cublasGemmStridedBatchedEx, (struct cublasContext *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int, int, long long, const void *, void *, int, int, long long, int, int, int)) \
    F(int, cublasGemmStridedBatchedEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const void *, const void *, int, int64_t, long long, const void *, int, int64_t, long long, const void *, void *, int, int64_t, long long, int64_t, int, int)) \
    F(int, cublasGetAtomicsMode, (struct cublasContext *, int *)) \
    F(size_t, cublasGetCudartVersion, (void)) \
    F(int, cublasGetEmulationSpecialValuesSupport, (struct cublasContext *, int *)) \
    F(int, cublasGetEmulationStrategy, (struct cublasContext *, int *)) \
    F(int, cublasGetFixedPointEmulationMantissaBitCountPointer, (struct cublasContext *, int **)) \
    F(int, cublasGetFixedPointEmulationMantissaBitOffset, (struct cublasContext *, int *)) \
    F(int, cublasGetFixedPointEmulationMantissaControl, (struct cublasContext *, int *)) \
    F(int, cublasGetFixedPointEmulationMaxMantissaBitCount, (struct cublasContext *, int *)) \
    F(int, cublasGetLoggerCallback, (void **)) \
    F(int, cublasGetMathMode, (struct cublasContext *, int *)) \
    F(int, cublasGetMatrix, (int, int, int, const void *, int, void *, int)) \
    F(int, cublasGetMatrixAsync, (int, int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(int, cublasGetMatrixAsync_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(int, cublasGetMatrix_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(int, cublasGetPointerMode_v2, (struct cublasContext *, int *)) \
    F(int, cublasGetProperty, (int, int *)) \
    F(int, cublasGetSmCountTarget, (struct cublasContext *, int *)) \
    F(const char *, cublasGetStatusName, (int)) \
    F(const char *, cublasGetStatusString, (int)) \
    F(int, cublasGetStream_v2, (struct cublasContext *, struct CUstream_st **)) \
    F(int, cublasGetVector, (int, int, const void *, int, void *, int)) \
    F(int, cublasGetVectorAsync, (int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(int, cublasGetVectorAsync_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(int, cublasGetVector_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(int, cublasGetVersion_v2, (struct cublasContext *, int *)) \
    F(int, cublasIamaxEx, (struct cublasContext *, int, const void *, int, int, int *)) \
    F(int, cublasIamaxEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, long *)) \
    F(int, cublasIaminEx, (struct cublasContext *, int, const void *, int, int, int *)) \
    F(int, cublasIaminEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, long *)) \
    F(int, cublasIcamax_v2, (struct cublasContext *, int, const struct float2 *, int, int *)) \
    F(int, cublasIcamax_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, long *)) \
    F(int, cublasIcamin_v2, (struct cublasContext *, int, const struct float2 *, int, int *)) \
    F(int, cublasIcamin_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, long *)) \
    F(int, cublasIdamax_v2, (struct cublasContext *, int, const double *, int, int *)) \
    F(int, cublasIdamax_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, long *)) \
    F(int, cublasIdamin_v2, (struct cublasContext *, int, const double *, int, int *)) \
    F(int, cublasIdamin_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, long *)) \
    F(int, cublasIsamax_v2, (struct cublasContext *, int, const float *, int, int *)) \
    F(int, cublasIsamax_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, long *)) \
    F(int, cublasIsamin_v2, (struct cublasContext *, int, const float *, int, int *)) \
    F(int, cublasIsamin_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, long *)) \
    F(int, cublasIzamax_v2, (struct cublasContext *, int, const struct double2 *, int, int *)) \
    F(int, cublasIzamax_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, long *)) \
    F(int, cublasIzamin_v2, (struct cublasContext *, int, const struct double2 *, int, int *)) \
    F(int, cublasIzamin_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, long *)) \
    F(int, cublasLoggerConfigure, (int, int, int, const char *)) \
    F(int, cublasNrm2Ex, (struct cublasContext *, int, const void *, int, int, void *, int, int)) \
    F(int, cublasNrm2Ex_64, (struct cublasContext *, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(int, cublasRotEx, (struct cublasContext *, int, void *, int, int, void *, int, int, const void *, const void *, int, int)) \
    F(int, cublasRotEx_64, (struct cublasContext *, int64_t, void *, int, int64_t, void *, int, int64_t, const void *, const void *, int, int)) \
    F(int, cublasRotgEx, (struct cublasContext *, void *, void *, int, void *, void *, int, int)) \
    F(int, cublasRotmEx, (struct cublasContext *, int, void *, int, int, void *, int, int, const void *, int, int)) \
    F(int, cublasRotmEx_64, (struct cublasContext *, int64_t, void *, int, int64_t, void *, int, int64_t, const void *, int, int)) \
    F(int, cublasRotmgEx, (struct cublasContext *, void *, int, void *, int, void *, int, const void *, int, void *, int, int)) \
    F(int, cublasSasum_v2, (struct cublasContext *, int, const float *, int, float *)) \
    F(int, cublasSasum_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, float *)) \
    F(int, cublasSaxpy_v2, (struct cublasContext *, int, const float *, const float *, int, float *, int)) \
    F(int, cublasSaxpy_v2_64, (struct cublasContext *, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(int, cublasScalEx, (struct cublasContext *, int, const void *, int, void *, int, int, int)) \
    F(int, cublasScalEx_64, (struct cublasContext *, int64_t, const void *, int, void *, int, int64_t, int)) \
    F(int, cublasScasum_v2, (struct cublasContext *, int, const struct float2 *, int, float *)) \
    F(int, cublasScasum_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, float *)) \
    F(int, cublasScnrm2_v2, (struct cublasContext *, int, const struct float2 *, int, float *)) \
    F(int, cublasScnrm2_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, float *)) \
    F(int, cublasScopy_v2, (struct cublasContext *, int, const float *, int, float *, int)) \
    F(int, cublasScopy_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasSdgmm, (struct cublasContext *, int, int, int, const float *, int, const float *, int, float *, int)) \
    F(int, cublasSdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasSdot_v2, (struct cublasContext *, int, const float *, int, const float *, int, float *)) \
    F(int, cublasSdot_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, const float *, int64_t, float *)) \
    F(int, cublasSetAtomicsMode, (struct cublasContext *, int)) \
    F(int, cublasSetEmulationSpecialValuesSupport, (struct cublasContext *, int)) \
    F(int, cublasSetEmulationStrategy, (struct cublasContext *, int)) \
    F(int, cublasSetFixedPointEmulationMantissaBitCountPointer, (struct cublasContext *, int *)) \
    F(int, cublasSetFixedPointEmulationMantissaBitOffset, (struct cublasContext *, int)) \
    F(int, cublasSetFixedPointEmulationMantissaControl, (struct cublasContext *, int)) \
    F(int, cublasSetFixedPointEmulationMaxMantissaBitCount, (struct cublasContext *, int)) \
    F(int, cublasSetLoggerCallback, (void *)) \
    F(int, cublasSetMathMode, (struct cublasContext *, int)) \
    F(int, cublasSetMatrix, (int, int, int, const void *, int, void *, int)) \
    F(int, cublasSetMatrixAsync, (int, int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(int, cublasSetMatrixAsync_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(int, cublasSetMatrix_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(int, cublasSetPointerMode_v2, (struct cublasContext *, int)) \
    F(int, cublasSetSmCountTarget, (struct cublasContext *, int)) \
    F(int, cublasSetStream_v2, (struct cublasContext *, struct CUstream_st *)) \
    F(int, cublasSetVector, (int, int, const void *, int, void *, int)) \
    F(int, cublasSetVectorAsync, (int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(int, cublasSetVectorAsync_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(int, cublasSetVector_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(int, cublasSetWorkspace_v2, (struct cublasContext *, void *, size_t)) \
    F(int, cublasSgbmv_v2, (struct cublasContext *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSgeam, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, const float *, int, float *, int)) \
    F(int, cublasSgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(int, cublasSgelsBatched, (struct cublasContext *, int, int, int, int, float * *, int, float * *, int, int *, int *, int)) \
    F(int, cublasSgemmBatched, (struct cublasContext *, int, int, int, int, int, const float *, const float * *, int, const float * *, int, const float *, float * *, int, int)) \
    F(int, cublasSgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const float * *, int64_t, const float * *, int64_t, const float *, float * *, int64_t, int64_t)) \
    F(int, cublasSgemmEx, (struct cublasContext *, int, int, int, int, int, const float *, const void *, int, int, const void *, int, int, const float *, void *, int, int)) \
    F(int, cublasSgemmEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const void *, int, int64_t, const void *, int, int64_t, const float *, void *, int, int64_t)) \
    F(int, cublasSgemmGroupedBatched, (struct cublasContext *, int *, int *, int *, int *, int *, float *, const float * *, int *, const float * *, int *, float *, float * *, int *, int, int *)) \
    F(int, cublasSgemmGroupedBatched_64, (struct cublasContext *, int *, int *, long *, long *, long *, float *, const float * *, long *, const float * *, long *, float *, float * *, long *, int64_t, long *)) \
    F(int, cublasSgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const float *, const float *, int, long long, const float *, int, long long, const float *, float *, int, long long, int)) \
    F(int, cublasSgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const float *, int64_t, long long, const float *, int64_t, long long, const float *, float *, int64_t, long long, int64_t)) \
    F(int, cublasSgemm_v2, (struct cublasContext *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSgemvBatched, (struct cublasContext *, int, int, int, const float *, const float * *, int, const float * *, int, const float *, float * *, int, int)) \
    F(int, cublasSgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float * *, int64_t, const float * *, int64_t, const float *, float * *, int64_t, int64_t)) \
    F(int, cublasSgemvStridedBatched, (struct cublasContext *, int, int, int, const float *, const float *, int, long long, const float *, int, long long, const float *, float *, int, long long, int)) \
    F(int, cublasSgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float *, int64_t, long long, const float *, int64_t, long long, const float *, float *, int64_t, long long, int64_t)) \
    F(int, cublasSgemv_v2, (struct cublasContext *, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSgeqrfBatched, (struct cublasContext *, int, int, float * *, int, float * *, int *, int)) \
    F(int, cublasSger_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, float *, int)) \
    F(int, cublasSger_v2_64, (struct cublasContext *, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasSgetrfBatched, (struct cublasContext *, int, float * *, int, int *, int *, int)) \
    F(int, cublasSgetriBatched, (struct cublasContext *, int, const float * *, int, const int *, float * *, int, int *, int)) \
    F(int, cublasSgetrsBatched, (struct cublasContext *, int, int, int, const float * *, int, const int *, float * *, int, int *, int)) \
    F(int, cublasSmatinvBatched, (struct cublasContext *, int, const float * *, int, float * *, int, int *, int)) \
    F(int, cublasSnrm2_v2, (struct cublasContext *, int, const float *, int, float *)) \
    F(int, cublasSnrm2_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, float *)) \
    F(int, cublasSrot_v2, (struct cublasContext *, int, float *, int, float *, int, const float *, const float *)) \
    F(int, cublasSrot_v2_64, (struct cublasContext *, int64_t, float *, int64_t, float *, int64_t, const float *, const float *)) \
    F(int, cublasSrotg_v2, (struct cublasContext *, float *, float *, float *, float *)) \
    F(int, cublasSrotm_v2, (struct cublasContext *, int, float *, int, float *, int, const float *)) \
    F(int, cublasSrotm_v2_64, (struct cublasContext *, int64_t, float *, int64_t, float *, int64_t, const float *)) \
    F(int, cublasSrotmg_v2, (struct cublasContext *, float *, float *, float *, const float *, float *)) \
    F(int, cublasSsbmv_v2, (struct cublasContext *, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSsbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSscal_v2, (struct cublasContext *, int, const float *, float *, int)) \
    F(int, cublasSscal_v2_64, (struct cublasContext *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSspmv_v2, (struct cublasContext *, int, int, const float *, const float *, const float *, int, const float *, float *, int)) \
    F(int, cublasSspmv_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSspr2_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, float *)) \
    F(int, cublasSspr2_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *)) \
    F(int, cublasSspr_v2, (struct cublasContext *, int, int, const float *, const float *, int, float *)) \
    F(int, cublasSspr_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, float *)) \
    F(int, cublasSswap_v2, (struct cublasContext *, int, float *, int, float *, int)) \
    F(int, cublasSswap_v2_64, (struct cublasContext *, int64_t, float *, int64_t, float *, int64_t)) \
    F(int, cublasSsymm_v2, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSsymv_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSsymv_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSsyr2_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, float *, int)) \
    F(int, cublasSsyr2_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasSsyr2k_v2, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSsyr_v2, (struct cublasContext *, int, int, const float *, const float *, int, float *, int)) \
    F(int, cublasSsyr_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(int, cublasSsyrk_v2, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, float *, int)) \
    F(int, cublasSsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasSsyrkx, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(int, cublasSsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(int, cublasStbmv_v2, (struct cublasContext *, int, int, int, int, int, const float *, int, float *, int)) \
    F(int, cublasStbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasStbsv_v2, (struct cublasContext *, int, int, int, int, int, const float *, int, float *, int)) \
    F(int, cublasStbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasStpmv_v2, (struct cublasContext *, int, int, int, int, const float *, float *, int)) \
    F(int, cublasStpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, float *, int64_t)) \
    F(int, cublasStpsv_v2, (struct cublasContext *, int, int, int, int, const float *, float *, int)) \
    F(int, cublasStpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, float *, int64_t)) \
    F(int, cublasStpttr, (struct cublasContext *, int, int, const float *, float *, int)) \
    F(int, cublasStrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const float *, const float *, int, const float *, int, float *, int)) \
    F(int, cublasStrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasStrmv_v2, (struct cublasContext *, int, int, int, int, const float *, int, float *, int)) \
    F(int, cublasStrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasStrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const float *, const float * *, int, float * *, int, int)) \
    F(int, cublasStrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const float *, const float * *, int64_t, float * *, int64_t, int64_t)) \
    F(int, cublasStrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const float *, const float *, int, float *, int)) \
    F(int, cublasStrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(int, cublasStrsv_v2, (struct cublasContext *, int, int, int, int, const float *, int, float *, int)) \
    F(int, cublasStrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, int64_t, float *, int64_t)) \
    F(int, cublasStrttp, (struct cublasContext *, int, int, const float *, int, float *)) \
    F(int, cublasSwapEx, (struct cublasContext *, int, void *, int, int, void *, int, int)) \
    F(int, cublasSwapEx_64, (struct cublasContext *, int64_t, void *, int, int64_t, void *, int, int64_t)) \
    F(int, cublasZaxpy_v2, (struct cublasContext *, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZaxpy_v2_64, (struct cublasContext *, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZcopy_v2, (struct cublasContext *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZcopy_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZdgmm, (struct cublasContext *, int, int, int, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZdotc_v2, (struct cublasContext *, int, const struct double2 *, int, const struct double2 *, int, struct double2 *)) \
    F(int, cublasZdotc_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *)) \
    F(int, cublasZdotu_v2, (struct cublasContext *, int, const struct double2 *, int, const struct double2 *, int, struct double2 *)) \
    F(int, cublasZdotu_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *)) \
    F(int, cublasZdrot_v2, (struct cublasContext *, int, struct double2 *, int, struct double2 *, int, const double *, const double *)) \
    F(int, cublasZdrot_v2_64, (struct cublasContext *, int64_t, struct double2 *, int64_t, struct double2 *, int64_t, const double *, const double *)) \
    F(int, cublasZdscal_v2, (struct cublasContext *, int, const double *, struct double2 *, int)) \
    F(int, cublasZdscal_v2_64, (struct cublasContext *, int64_t, const double *, struct double2 *, int64_t)) \
    F(int, cublasZgbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZgeam, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZgelsBatched, (struct cublasContext *, int, int, int, int, struct double2 * *, int, struct double2 * *, int, int *, int *, int)) \
    F(int, cublasZgemm3m, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZgemm3m_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZgemmBatched, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 * *, int, const struct double2 * *, int, const struct double2 *, struct double2 * *, int, int)) \
    F(int, cublasZgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 * *, int64_t, const struct double2 * *, int64_t, const struct double2 *, struct double2 * *, int64_t, int64_t)) \
    F(int, cublasZgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, long long, const struct double2 *, int, long long, const struct double2 *, struct double2 *, int, long long, int)) \
    F(int, cublasZgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, long long, const struct double2 *, int64_t, long long, const struct double2 *, struct double2 *, int64_t, long long, int64_t)) \
    F(int, cublasZgemm_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZgemvBatched, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 * *, int, const struct double2 * *, int, const struct double2 *, struct double2 * *, int, int)) \
    F(int, cublasZgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 * *, int64_t, const struct double2 * *, int64_t, const struct double2 *, struct double2 * *, int64_t, int64_t)) \
    F(int, cublasZgemvStridedBatched, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 *, int, long long, const struct double2 *, int, long long, const struct double2 *, struct double2 *, int, long long, int)) \
    F(int, cublasZgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, long long, const struct double2 *, int64_t, long long, const struct double2 *, struct double2 *, int64_t, long long, int64_t)) \
    F(int, cublasZgemv_v2, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZgeqrfBatched, (struct cublasContext *, int, int, struct double2 * *, int, struct double2 * *, int *, int)) \
    F(int, cublasZgerc_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZgerc_v2_64, (struct cublasContext *, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZgeru_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZgeru_v2_64, (struct cublasContext *, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZgetrfBatched, (struct cublasContext *, int, struct double2 * *, int, int *, int *, int)) \
    F(int, cublasZgetriBatched, (struct cublasContext *, int, const struct double2 * *, int, const int *, struct double2 * *, int, int *, int)) \
    F(int, cublasZgetrsBatched, (struct cublasContext *, int, int, int, const struct double2 * *, int, const int *, struct double2 * *, int, int *, int)) \
    F(int, cublasZhbmv_v2, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZhbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZhemm_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZhemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZhemv_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZhemv_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZher2_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZher2_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZher2k_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const double *, struct double2 *, int)) \
    F(int, cublasZher2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const double *, struct double2 *, int64_t)) \
    F(int, cublasZher_v2, (struct cublasContext *, int, int, const double *, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZher_v2_64, (struct cublasContext *, int, int64_t, const double *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZherk_v2, (struct cublasContext *, int, int, int, int, const double *, const struct double2 *, int, const double *, struct double2 *, int)) \
    F(int, cublasZherk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const struct double2 *, int64_t, const double *, struct double2 *, int64_t)) \
    F(int, cublasZherkx, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const double *, struct double2 *, int)) \
    F(int, cublasZherkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const double *, struct double2 *, int64_t)) \
    F(int, cublasZhpmv_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZhpmv_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZhpr2_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *)) \
    F(int, cublasZhpr2_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *)) \
    F(int, cublasZhpr_v2, (struct cublasContext *, int, int, const double *, const struct double2 *, int, struct double2 *)) \
    F(int, cublasZhpr_v2_64, (struct cublasContext *, int, int64_t, const double *, const struct double2 *, int64_t, struct double2 *)) \
    F(int, cublasZmatinvBatched, (struct cublasContext *, int, const struct double2 * *, int, struct double2 * *, int, int *, int)) \
    F(int, cublasZrot_v2, (struct cublasContext *, int, struct double2 *, int, struct double2 *, int, const double *, const struct double2 *)) \
    F(int, cublasZrot_v2_64, (struct cublasContext *, int64_t, struct double2 *, int64_t, struct double2 *, int64_t, const double *, const struct double2 *)) \
    F(int, cublasZrotg_v2, (struct cublasContext *, struct double2 *, struct double2 *, double *, struct double2 *)) \
    F(int, cublasZscal_v2, (struct cublasContext *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZscal_v2_64, (struct cublasContext *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZswap_v2, (struct cublasContext *, int, struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZswap_v2_64, (struct cublasContext *, int64_t, struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZsymm_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZsymv_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZsymv_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZsyr2_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZsyr2_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZsyr2k_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZsyr_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZsyr_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZsyrk_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZsyrkx, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZtbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZtbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZtbsv_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZtbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZtpmv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZtpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZtpsv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZtpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(int, cublasZtpttr, (struct cublasContext *, int, int, const struct double2 *, struct double2 *, int)) \
    F(int, cublasZtrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZtrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZtrmv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZtrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZtrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const struct double2 *, const struct double2 * *, int, struct double2 * *, int, int)) \
    F(int, cublasZtrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct double2 *, const struct double2 * *, int64_t, struct double2 * *, int64_t, int64_t)) \
    F(int, cublasZtrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZtrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZtrsv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(int, cublasZtrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(int, cublasZtrttp, (struct cublasContext *, int, int, const struct double2 *, int, struct double2 *))

#endif
