/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cublas, written by scripts/library_tables.py from the
 * headers of cublas 12.4.5.8 (CUDA 12) and cublas 13.10.0.20 (CUDA 13). Do not edit.
 * VS_CUBLAS_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
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

#define CUBLAS_VER_BUILD 20
#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 10
#define CUBLAS_VER_PATCH 0

struct CUstream_st;
struct cublasContext;
struct double2;
struct float2;


#define VS_CUBLAS_FUNCTIONS(F) \
    F(3, STATUS, int, cublasAsumEx, (struct cublasContext *, int, const void *, int, int, void *, int, int)) \
    F(3, STATUS, int, cublasAsumEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(3, STATUS, int, cublasAxpyEx, (struct cublasContext *, int, const void *, int, const void *, int, int, void *, int, int, int)) \
    F(3, STATUS, int, cublasAxpyEx_64, (struct cublasContext *, int64_t, const void *, int, const void *, int, int64_t, void *, int, int64_t, int)) \
    F(3, STATUS, int, cublasCaxpy_v2, (struct cublasContext *, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCaxpy_v2_64, (struct cublasContext *, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCcopy_v2, (struct cublasContext *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCcopy_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCdgmm, (struct cublasContext *, int, int, int, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCdotc_v2, (struct cublasContext *, int, const struct float2 *, int, const struct float2 *, int, struct float2 *)) \
    F(3, STATUS, int, cublasCdotc_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *)) \
    F(3, STATUS, int, cublasCdotu_v2, (struct cublasContext *, int, const struct float2 *, int, const struct float2 *, int, struct float2 *)) \
    F(3, STATUS, int, cublasCdotu_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *)) \
    F(3, STATUS, int, cublasCgbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgeam, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgelsBatched, (struct cublasContext *, int, int, int, int, struct float2 * *, int, struct float2 * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasCgemm3m, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgemm3mBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 * *, int, const struct float2 * *, int, const struct float2 *, struct float2 * *, int, int)) \
    F(3, STATUS, int, cublasCgemm3mBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, const struct float2 * *, int64_t, const struct float2 *, struct float2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasCgemm3mEx, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const void *, int, int, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(3, STATUS, int, cublasCgemm3mEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCgemm3mStridedBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, long long, const struct float2 *, int, long long, const struct float2 *, struct float2 *, int, long long, int)) \
    F(3, STATUS, int, cublasCgemm3mStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, long long, const struct float2 *, int64_t, long long, const struct float2 *, struct float2 *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasCgemm3m_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgemmBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 * *, int, const struct float2 * *, int, const struct float2 *, struct float2 * *, int, int)) \
    F(3, STATUS, int, cublasCgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, const struct float2 * *, int64_t, const struct float2 *, struct float2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasCgemmEx, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const void *, int, int, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(3, STATUS, int, cublasCgemmEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, long long, const struct float2 *, int, long long, const struct float2 *, struct float2 *, int, long long, int)) \
    F(3, STATUS, int, cublasCgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, long long, const struct float2 *, int64_t, long long, const struct float2 *, struct float2 *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasCgemm_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgemvBatched, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 * *, int, const struct float2 * *, int, const struct float2 *, struct float2 * *, int, int)) \
    F(3, STATUS, int, cublasCgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, const struct float2 * *, int64_t, const struct float2 *, struct float2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasCgemvStridedBatched, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 *, int, long long, const struct float2 *, int, long long, const struct float2 *, struct float2 *, int, long long, int)) \
    F(3, STATUS, int, cublasCgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, long long, const struct float2 *, int64_t, long long, const struct float2 *, struct float2 *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasCgemv_v2, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgeqrfBatched, (struct cublasContext *, int, int, struct float2 * *, int, struct float2 * *, int *, int)) \
    F(3, STATUS, int, cublasCgerc_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgerc_v2_64, (struct cublasContext *, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgeru_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCgeru_v2_64, (struct cublasContext *, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCgetrfBatched, (struct cublasContext *, int, struct float2 * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasCgetriBatched, (struct cublasContext *, int, const struct float2 * *, int, const int *, struct float2 * *, int, int *, int)) \
    F(3, STATUS, int, cublasCgetrsBatched, (struct cublasContext *, int, int, int, const struct float2 * *, int, const int *, struct float2 * *, int, int *, int)) \
    F(3, STATUS, int, cublasChbmv_v2, (struct cublasContext *, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasChbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasChemm_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasChemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasChemv_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasChemv_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCher2_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCher2_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCher2k_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const float *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCher2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const float *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCher_v2, (struct cublasContext *, int, int, const float *, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCher_v2_64, (struct cublasContext *, int, int64_t, const float *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCherk3mEx, (struct cublasContext *, int, int, int, int, const float *, const void *, int, int, const float *, void *, int, int)) \
    F(3, STATUS, int, cublasCherk3mEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const void *, int, int64_t, const float *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCherkEx, (struct cublasContext *, int, int, int, int, const float *, const void *, int, int, const float *, void *, int, int)) \
    F(3, STATUS, int, cublasCherkEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const void *, int, int64_t, const float *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCherk_v2, (struct cublasContext *, int, int, int, int, const float *, const struct float2 *, int, const float *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCherk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const struct float2 *, int64_t, const float *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCherkx, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const float *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCherkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const float *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasChpmv_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasChpmv_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasChpr2_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *)) \
    F(3, STATUS, int, cublasChpr2_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *)) \
    F(3, STATUS, int, cublasChpr_v2, (struct cublasContext *, int, int, const float *, const struct float2 *, int, struct float2 *)) \
    F(3, STATUS, int, cublasChpr_v2_64, (struct cublasContext *, int, int64_t, const float *, const struct float2 *, int64_t, struct float2 *)) \
    F(3, STATUS, int, cublasCmatinvBatched, (struct cublasContext *, int, const struct float2 * *, int, struct float2 * *, int, int *, int)) \
    F(3, STATUS, int, cublasCopyEx, (struct cublasContext *, int, const void *, int, int, void *, int, int)) \
    F(3, STATUS, int, cublasCopyEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCreate_v2, (struct cublasContext **)) \
    F(3, STATUS, int, cublasCrot_v2, (struct cublasContext *, int, struct float2 *, int, struct float2 *, int, const float *, const struct float2 *)) \
    F(3, STATUS, int, cublasCrot_v2_64, (struct cublasContext *, int64_t, struct float2 *, int64_t, struct float2 *, int64_t, const float *, const struct float2 *)) \
    F(3, STATUS, int, cublasCrotg_v2, (struct cublasContext *, struct float2 *, struct float2 *, float *, struct float2 *)) \
    F(3, STATUS, int, cublasCscal_v2, (struct cublasContext *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCscal_v2_64, (struct cublasContext *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsrot_v2, (struct cublasContext *, int, struct float2 *, int, struct float2 *, int, const float *, const float *)) \
    F(3, STATUS, int, cublasCsrot_v2_64, (struct cublasContext *, int64_t, struct float2 *, int64_t, struct float2 *, int64_t, const float *, const float *)) \
    F(3, STATUS, int, cublasCsscal_v2, (struct cublasContext *, int, const float *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsscal_v2_64, (struct cublasContext *, int64_t, const float *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCswap_v2, (struct cublasContext *, int, struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCswap_v2_64, (struct cublasContext *, int64_t, struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsymm_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsymv_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsymv_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsyr2_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsyr2_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsyr2k_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsyr_v2, (struct cublasContext *, int, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsyr_v2_64, (struct cublasContext *, int, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsyrk3mEx, (struct cublasContext *, int, int, int, int, const struct float2 *, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(3, STATUS, int, cublasCsyrk3mEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCsyrkEx, (struct cublasContext *, int, int, int, int, const struct float2 *, const void *, int, int, const struct float2 *, void *, int, int)) \
    F(3, STATUS, int, cublasCsyrkEx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const void *, int, int64_t, const struct float2 *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasCsyrk_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCsyrkx, (struct cublasContext *, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtbsv_v2, (struct cublasContext *, int, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtpmv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtpsv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtpttr, (struct cublasContext *, int, int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct float2 *, const struct float2 *, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtrmv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const struct float2 *, const struct float2 * *, int, struct float2 * *, int, int)) \
    F(3, STATUS, int, cublasCtrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct float2 *, const struct float2 * *, int64_t, struct float2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasCtrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct float2 *, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct float2 *, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtrsv_v2, (struct cublasContext *, int, int, int, int, const struct float2 *, int, struct float2 *, int)) \
    F(3, STATUS, int, cublasCtrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct float2 *, int64_t, struct float2 *, int64_t)) \
    F(3, STATUS, int, cublasCtrttp, (struct cublasContext *, int, int, const struct float2 *, int, struct float2 *)) \
    F(3, STATUS, int, cublasDasum_v2, (struct cublasContext *, int, const double *, int, double *)) \
    F(3, STATUS, int, cublasDasum_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, double *)) \
    F(3, STATUS, int, cublasDaxpy_v2, (struct cublasContext *, int, const double *, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDaxpy_v2_64, (struct cublasContext *, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDcopy_v2, (struct cublasContext *, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDcopy_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDdgmm, (struct cublasContext *, int, int, int, const double *, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDdot_v2, (struct cublasContext *, int, const double *, int, const double *, int, double *)) \
    F(3, STATUS, int, cublasDdot_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, const double *, int64_t, double *)) \
    F(3, STATUS, int, cublasDestroy_v2, (struct cublasContext *)) \
    F(3, STATUS, int, cublasDgbmv_v2, (struct cublasContext *, int, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDgeam, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDgelsBatched, (struct cublasContext *, int, int, int, int, double * *, int, double * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasDgemmBatched, (struct cublasContext *, int, int, int, int, int, const double *, const double * *, int, const double * *, int, const double *, double * *, int, int)) \
    F(3, STATUS, int, cublasDgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const double *, const double * *, int64_t, const double * *, int64_t, const double *, double * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasDgemmGroupedBatched, (struct cublasContext *, int *, int *, int *, int *, int *, double *, const double * *, int *, const double * *, int *, double *, double * *, int *, int, int *)) \
    F(3, STATUS, int, cublasDgemmGroupedBatched_64, (struct cublasContext *, int *, int *, long *, long *, long *, double *, const double * *, long *, const double * *, long *, double *, double * *, long *, int64_t, long *)) \
    F(3, STATUS, int, cublasDgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const double *, const double *, int, long long, const double *, int, long long, const double *, double *, int, long long, int)) \
    F(3, STATUS, int, cublasDgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const double *, const double *, int64_t, long long, const double *, int64_t, long long, const double *, double *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasDgemm_v2, (struct cublasContext *, int, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDgemvBatched, (struct cublasContext *, int, int, int, const double *, const double * *, int, const double * *, int, const double *, double * *, int, int)) \
    F(3, STATUS, int, cublasDgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double * *, int64_t, const double * *, int64_t, const double *, double * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasDgemvStridedBatched, (struct cublasContext *, int, int, int, const double *, const double *, int, long long, const double *, int, long long, const double *, double *, int, long long, int)) \
    F(3, STATUS, int, cublasDgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double *, int64_t, long long, const double *, int64_t, long long, const double *, double *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasDgemv_v2, (struct cublasContext *, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDgeqrfBatched, (struct cublasContext *, int, int, double * *, int, double * *, int *, int)) \
    F(3, STATUS, int, cublasDger_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDger_v2_64, (struct cublasContext *, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDgetrfBatched, (struct cublasContext *, int, double * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasDgetriBatched, (struct cublasContext *, int, const double * *, int, const int *, double * *, int, int *, int)) \
    F(3, STATUS, int, cublasDgetrsBatched, (struct cublasContext *, int, int, int, const double * *, int, const int *, double * *, int, int *, int)) \
    F(3, STATUS, int, cublasDmatinvBatched, (struct cublasContext *, int, const double * *, int, double * *, int, int *, int)) \
    F(3, STATUS, int, cublasDnrm2_v2, (struct cublasContext *, int, const double *, int, double *)) \
    F(3, STATUS, int, cublasDnrm2_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, double *)) \
    F(3, STATUS, int, cublasDotEx, (struct cublasContext *, int, const void *, int, int, const void *, int, int, void *, int, int)) \
    F(3, STATUS, int, cublasDotEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(3, STATUS, int, cublasDotcEx, (struct cublasContext *, int, const void *, int, int, const void *, int, int, void *, int, int)) \
    F(3, STATUS, int, cublasDotcEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(3, STATUS, int, cublasDrot_v2, (struct cublasContext *, int, double *, int, double *, int, const double *, const double *)) \
    F(3, STATUS, int, cublasDrot_v2_64, (struct cublasContext *, int64_t, double *, int64_t, double *, int64_t, const double *, const double *)) \
    F(3, STATUS, int, cublasDrotg_v2, (struct cublasContext *, double *, double *, double *, double *)) \
    F(3, STATUS, int, cublasDrotm_v2, (struct cublasContext *, int, double *, int, double *, int, const double *)) \
    F(3, STATUS, int, cublasDrotm_v2_64, (struct cublasContext *, int64_t, double *, int64_t, double *, int64_t, const double *)) \
    F(3, STATUS, int, cublasDrotmg_v2, (struct cublasContext *, double *, double *, double *, const double *, double *)) \
    F(3, STATUS, int, cublasDsbmv_v2, (struct cublasContext *, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDsbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDscal_v2, (struct cublasContext *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDscal_v2_64, (struct cublasContext *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDspmv_v2, (struct cublasContext *, int, int, const double *, const double *, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDspmv_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDspr2_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, double *)) \
    F(3, STATUS, int, cublasDspr2_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *)) \
    F(3, STATUS, int, cublasDspr_v2, (struct cublasContext *, int, int, const double *, const double *, int, double *)) \
    F(3, STATUS, int, cublasDspr_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, double *)) \
    F(3, STATUS, int, cublasDswap_v2, (struct cublasContext *, int, double *, int, double *, int)) \
    F(3, STATUS, int, cublasDswap_v2_64, (struct cublasContext *, int64_t, double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDsymm_v2, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDsymv_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDsymv_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDsyr2_v2, (struct cublasContext *, int, int, const double *, const double *, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDsyr2_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDsyr2k_v2, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDsyr_v2, (struct cublasContext *, int, int, const double *, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDsyr_v2_64, (struct cublasContext *, int, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDsyrk_v2, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDsyrkx, (struct cublasContext *, int, int, int, int, const double *, const double *, int, const double *, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDtbmv_v2, (struct cublasContext *, int, int, int, int, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDtbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDtbsv_v2, (struct cublasContext *, int, int, int, int, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDtbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDtpmv_v2, (struct cublasContext *, int, int, int, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDtpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDtpsv_v2, (struct cublasContext *, int, int, int, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDtpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, double *, int64_t)) \
    F(3, STATUS, int, cublasDtpttr, (struct cublasContext *, int, int, const double *, double *, int)) \
    F(3, STATUS, int, cublasDtrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const double *, const double *, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDtrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const double *, const double *, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDtrmv_v2, (struct cublasContext *, int, int, int, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDtrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDtrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const double *, const double * *, int, double * *, int, int)) \
    F(3, STATUS, int, cublasDtrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const double *, const double * *, int64_t, double * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasDtrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const double *, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDtrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const double *, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDtrsv_v2, (struct cublasContext *, int, int, int, int, const double *, int, double *, int)) \
    F(3, STATUS, int, cublasDtrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const double *, int64_t, double *, int64_t)) \
    F(3, STATUS, int, cublasDtrttp, (struct cublasContext *, int, int, const double *, int, double *)) \
    F(3, STATUS, int, cublasDzasum_v2, (struct cublasContext *, int, const struct double2 *, int, double *)) \
    F(3, STATUS, int, cublasDzasum_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, double *)) \
    F(3, STATUS, int, cublasDznrm2_v2, (struct cublasContext *, int, const struct double2 *, int, double *)) \
    F(3, STATUS, int, cublasDznrm2_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, double *)) \
    F(3, STATUS, int, cublasGemmBatchedEx, (struct cublasContext *, int, int, int, int, int, const void *, const void * *, int, int, const void * *, int, int, const void *, void * *, int, int, int, int, int)) \
    F(3, STATUS, int, cublasGemmBatchedEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const void *, const void * *, int, int64_t, const void * *, int, int64_t, const void *, void * *, int, int64_t, int64_t, int, int)) \
    F(3, STATUS, int, cublasGemmEx, (struct cublasContext *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int, const void *, void *, int, int, int, int)) \
    F(3, STATUS, int, cublasGemmEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const void *, const void *, int, int64_t, const void *, int, int64_t, const void *, void *, int, int64_t, int, int)) \
    F(2, STATUS, int, cublasGemmGroupedBatchedEx, (struct cublasContext *, int *, int *, int *, int *, int *, const void *, const void * *, int, int *, const void * *, int, int *, const void *, void * *, int, int *, int, int *, int)) \
    F(2, STATUS, int, cublasGemmGroupedBatchedEx_64, (struct cublasContext *, int *, int *, long *, long *, long *, const void *, const void * *, int, long *, const void * *, int, long *, const void *, void * *, int, long *, int64_t, long *, int)) \
    F(3, STATUS, int, cublasGemmStridedBatchedEx, (struct cublasContext *, int, int, int, int, int, const void *, const void *, int, int, long long, const void *, int, int, long long, const void *, void *, int, int, long long, int, int, int)) \
    F(3, STATUS, int, cublasGemmStridedBatchedEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const void *, const void *, int, int64_t, long long, const void *, int, int64_t, long long, const void *, void *, int, int64_t, long long, int64_t, int, int)) \
    F(3, STATUS, int, cublasGetAtomicsMode, (struct cublasContext *, int *)) \
    F(3, SIZE, size_t, cublasGetCudartVersion, (void)) \
    F(2, STATUS, int, cublasGetEmulationSpecialValuesSupport, (struct cublasContext *, int *)) \
    F(2, STATUS, int, cublasGetEmulationStrategy, (struct cublasContext *, int *)) \
    F(2, STATUS, int, cublasGetFixedPointEmulationMantissaBitCountPointer, (struct cublasContext *, int **)) \
    F(2, STATUS, int, cublasGetFixedPointEmulationMantissaBitOffset, (struct cublasContext *, int *)) \
    F(2, STATUS, int, cublasGetFixedPointEmulationMantissaControl, (struct cublasContext *, int *)) \
    F(2, STATUS, int, cublasGetFixedPointEmulationMaxMantissaBitCount, (struct cublasContext *, int *)) \
    F(3, STATUS, int, cublasGetLoggerCallback, (void **)) \
    F(3, STATUS, int, cublasGetMathMode, (struct cublasContext *, int *)) \
    F(3, STATUS, int, cublasGetMatrix, (int, int, int, const void *, int, void *, int)) \
    F(3, STATUS, int, cublasGetMatrixAsync, (int, int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(3, STATUS, int, cublasGetMatrixAsync_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(3, STATUS, int, cublasGetMatrix_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(3, STATUS, int, cublasGetPointerMode_v2, (struct cublasContext *, int *)) \
    F(3, STATUS, int, cublasGetProperty, (int, int *)) \
    F(3, STATUS, int, cublasGetSmCountTarget, (struct cublasContext *, int *)) \
    F(3, TEXT, const char *, cublasGetStatusName, (int)) \
    F(3, TEXT, const char *, cublasGetStatusString, (int)) \
    F(3, STATUS, int, cublasGetStream_v2, (struct cublasContext *, struct CUstream_st **)) \
    F(3, STATUS, int, cublasGetVector, (int, int, const void *, int, void *, int)) \
    F(3, STATUS, int, cublasGetVectorAsync, (int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(3, STATUS, int, cublasGetVectorAsync_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(3, STATUS, int, cublasGetVector_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(3, STATUS, int, cublasGetVersion_v2, (struct cublasContext *, int *)) \
    F(3, STATUS, int, cublasIamaxEx, (struct cublasContext *, int, const void *, int, int, int *)) \
    F(3, STATUS, int, cublasIamaxEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, long *)) \
    F(3, STATUS, int, cublasIaminEx, (struct cublasContext *, int, const void *, int, int, int *)) \
    F(3, STATUS, int, cublasIaminEx_64, (struct cublasContext *, int64_t, const void *, int, int64_t, long *)) \
    F(3, STATUS, int, cublasIcamax_v2, (struct cublasContext *, int, const struct float2 *, int, int *)) \
    F(3, STATUS, int, cublasIcamax_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, long *)) \
    F(3, STATUS, int, cublasIcamin_v2, (struct cublasContext *, int, const struct float2 *, int, int *)) \
    F(3, STATUS, int, cublasIcamin_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, long *)) \
    F(3, STATUS, int, cublasIdamax_v2, (struct cublasContext *, int, const double *, int, int *)) \
    F(3, STATUS, int, cublasIdamax_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, long *)) \
    F(3, STATUS, int, cublasIdamin_v2, (struct cublasContext *, int, const double *, int, int *)) \
    F(3, STATUS, int, cublasIdamin_v2_64, (struct cublasContext *, int64_t, const double *, int64_t, long *)) \
    F(3, STATUS, int, cublasIsamax_v2, (struct cublasContext *, int, const float *, int, int *)) \
    F(3, STATUS, int, cublasIsamax_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, long *)) \
    F(3, STATUS, int, cublasIsamin_v2, (struct cublasContext *, int, const float *, int, int *)) \
    F(3, STATUS, int, cublasIsamin_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, long *)) \
    F(3, STATUS, int, cublasIzamax_v2, (struct cublasContext *, int, const struct double2 *, int, int *)) \
    F(3, STATUS, int, cublasIzamax_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, long *)) \
    F(3, STATUS, int, cublasIzamin_v2, (struct cublasContext *, int, const struct double2 *, int, int *)) \
    F(3, STATUS, int, cublasIzamin_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, long *)) \
    F(3, STATUS, int, cublasLoggerConfigure, (int, int, int, const char *)) \
    F(3, STATUS, int, cublasNrm2Ex, (struct cublasContext *, int, const void *, int, int, void *, int, int)) \
    F(3, STATUS, int, cublasNrm2Ex_64, (struct cublasContext *, int64_t, const void *, int, int64_t, void *, int, int)) \
    F(3, STATUS, int, cublasRotEx, (struct cublasContext *, int, void *, int, int, void *, int, int, const void *, const void *, int, int)) \
    F(3, STATUS, int, cublasRotEx_64, (struct cublasContext *, int64_t, void *, int, int64_t, void *, int, int64_t, const void *, const void *, int, int)) \
    F(3, STATUS, int, cublasRotgEx, (struct cublasContext *, void *, void *, int, void *, void *, int, int)) \
    F(3, STATUS, int, cublasRotmEx, (struct cublasContext *, int, void *, int, int, void *, int, int, const void *, int, int)) \
    F(3, STATUS, int, cublasRotmEx_64, (struct cublasContext *, int64_t, void *, int, int64_t, void *, int, int64_t, const void *, int, int)) \
    F(3, STATUS, int, cublasRotmgEx, (struct cublasContext *, void *, int, void *, int, void *, int, const void *, int, void *, int, int)) \
    F(3, STATUS, int, cublasSasum_v2, (struct cublasContext *, int, const float *, int, float *)) \
    F(3, STATUS, int, cublasSasum_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, float *)) \
    F(3, STATUS, int, cublasSaxpy_v2, (struct cublasContext *, int, const float *, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasSaxpy_v2_64, (struct cublasContext *, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasScalEx, (struct cublasContext *, int, const void *, int, void *, int, int, int)) \
    F(3, STATUS, int, cublasScalEx_64, (struct cublasContext *, int64_t, const void *, int, void *, int, int64_t, int)) \
    F(3, STATUS, int, cublasScasum_v2, (struct cublasContext *, int, const struct float2 *, int, float *)) \
    F(3, STATUS, int, cublasScasum_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, float *)) \
    F(3, STATUS, int, cublasScnrm2_v2, (struct cublasContext *, int, const struct float2 *, int, float *)) \
    F(3, STATUS, int, cublasScnrm2_v2_64, (struct cublasContext *, int64_t, const struct float2 *, int64_t, float *)) \
    F(3, STATUS, int, cublasScopy_v2, (struct cublasContext *, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasScopy_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSdgmm, (struct cublasContext *, int, int, int, const float *, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasSdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSdot_v2, (struct cublasContext *, int, const float *, int, const float *, int, float *)) \
    F(3, STATUS, int, cublasSdot_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, const float *, int64_t, float *)) \
    F(3, STATUS, int, cublasSetAtomicsMode, (struct cublasContext *, int)) \
    F(2, STATUS, int, cublasSetEmulationSpecialValuesSupport, (struct cublasContext *, int)) \
    F(2, STATUS, int, cublasSetEmulationStrategy, (struct cublasContext *, int)) \
    F(2, STATUS, int, cublasSetFixedPointEmulationMantissaBitCountPointer, (struct cublasContext *, int *)) \
    F(2, STATUS, int, cublasSetFixedPointEmulationMantissaBitOffset, (struct cublasContext *, int)) \
    F(2, STATUS, int, cublasSetFixedPointEmulationMantissaControl, (struct cublasContext *, int)) \
    F(2, STATUS, int, cublasSetFixedPointEmulationMaxMantissaBitCount, (struct cublasContext *, int)) \
    F(3, STATUS, int, cublasSetLoggerCallback, (void *)) \
    F(3, STATUS, int, cublasSetMathMode, (struct cublasContext *, int)) \
    F(3, STATUS, int, cublasSetMatrix, (int, int, int, const void *, int, void *, int)) \
    F(3, STATUS, int, cublasSetMatrixAsync, (int, int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(3, STATUS, int, cublasSetMatrixAsync_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(3, STATUS, int, cublasSetMatrix_64, (int64_t, int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(3, STATUS, int, cublasSetPointerMode_v2, (struct cublasContext *, int)) \
    F(3, STATUS, int, cublasSetSmCountTarget, (struct cublasContext *, int)) \
    F(3, STATUS, int, cublasSetStream_v2, (struct cublasContext *, struct CUstream_st *)) \
    F(3, STATUS, int, cublasSetVector, (int, int, const void *, int, void *, int)) \
    F(3, STATUS, int, cublasSetVectorAsync, (int, int, const void *, int, void *, int, struct CUstream_st *)) \
    F(3, STATUS, int, cublasSetVectorAsync_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t, struct CUstream_st *)) \
    F(3, STATUS, int, cublasSetVector_64, (int64_t, int64_t, const void *, int64_t, void *, int64_t)) \
    F(3, STATUS, int, cublasSetWorkspace_v2, (struct cublasContext *, void *, size_t)) \
    F(3, STATUS, int, cublasSgbmv_v2, (struct cublasContext *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSgeam, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasSgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSgelsBatched, (struct cublasContext *, int, int, int, int, float * *, int, float * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasSgemmBatched, (struct cublasContext *, int, int, int, int, int, const float *, const float * *, int, const float * *, int, const float *, float * *, int, int)) \
    F(3, STATUS, int, cublasSgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const float * *, int64_t, const float * *, int64_t, const float *, float * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasSgemmEx, (struct cublasContext *, int, int, int, int, int, const float *, const void *, int, int, const void *, int, int, const float *, void *, int, int)) \
    F(3, STATUS, int, cublasSgemmEx_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const void *, int, int64_t, const void *, int, int64_t, const float *, void *, int, int64_t)) \
    F(3, STATUS, int, cublasSgemmGroupedBatched, (struct cublasContext *, int *, int *, int *, int *, int *, float *, const float * *, int *, const float * *, int *, float *, float * *, int *, int, int *)) \
    F(3, STATUS, int, cublasSgemmGroupedBatched_64, (struct cublasContext *, int *, int *, long *, long *, long *, float *, const float * *, long *, const float * *, long *, float *, float * *, long *, int64_t, long *)) \
    F(3, STATUS, int, cublasSgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const float *, const float *, int, long long, const float *, int, long long, const float *, float *, int, long long, int)) \
    F(3, STATUS, int, cublasSgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const float *, int64_t, long long, const float *, int64_t, long long, const float *, float *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasSgemm_v2, (struct cublasContext *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSgemvBatched, (struct cublasContext *, int, int, int, const float *, const float * *, int, const float * *, int, const float *, float * *, int, int)) \
    F(3, STATUS, int, cublasSgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float * *, int64_t, const float * *, int64_t, const float *, float * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasSgemvStridedBatched, (struct cublasContext *, int, int, int, const float *, const float *, int, long long, const float *, int, long long, const float *, float *, int, long long, int)) \
    F(3, STATUS, int, cublasSgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float *, int64_t, long long, const float *, int64_t, long long, const float *, float *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasSgemv_v2, (struct cublasContext *, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSgeqrfBatched, (struct cublasContext *, int, int, float * *, int, float * *, int *, int)) \
    F(3, STATUS, int, cublasSger_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasSger_v2_64, (struct cublasContext *, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSgetrfBatched, (struct cublasContext *, int, float * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasSgetriBatched, (struct cublasContext *, int, const float * *, int, const int *, float * *, int, int *, int)) \
    F(3, STATUS, int, cublasSgetrsBatched, (struct cublasContext *, int, int, int, const float * *, int, const int *, float * *, int, int *, int)) \
    F(3, STATUS, int, cublasSmatinvBatched, (struct cublasContext *, int, const float * *, int, float * *, int, int *, int)) \
    F(3, STATUS, int, cublasSnrm2_v2, (struct cublasContext *, int, const float *, int, float *)) \
    F(3, STATUS, int, cublasSnrm2_v2_64, (struct cublasContext *, int64_t, const float *, int64_t, float *)) \
    F(3, STATUS, int, cublasSrot_v2, (struct cublasContext *, int, float *, int, float *, int, const float *, const float *)) \
    F(3, STATUS, int, cublasSrot_v2_64, (struct cublasContext *, int64_t, float *, int64_t, float *, int64_t, const float *, const float *)) \
    F(3, STATUS, int, cublasSrotg_v2, (struct cublasContext *, float *, float *, float *, float *)) \
    F(3, STATUS, int, cublasSrotm_v2, (struct cublasContext *, int, float *, int, float *, int, const float *)) \
    F(3, STATUS, int, cublasSrotm_v2_64, (struct cublasContext *, int64_t, float *, int64_t, float *, int64_t, const float *)) \
    F(3, STATUS, int, cublasSrotmg_v2, (struct cublasContext *, float *, float *, float *, const float *, float *)) \
    F(3, STATUS, int, cublasSsbmv_v2, (struct cublasContext *, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSsbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSscal_v2, (struct cublasContext *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSscal_v2_64, (struct cublasContext *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSspmv_v2, (struct cublasContext *, int, int, const float *, const float *, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSspmv_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSspr2_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, float *)) \
    F(3, STATUS, int, cublasSspr2_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *)) \
    F(3, STATUS, int, cublasSspr_v2, (struct cublasContext *, int, int, const float *, const float *, int, float *)) \
    F(3, STATUS, int, cublasSspr_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, float *)) \
    F(3, STATUS, int, cublasSswap_v2, (struct cublasContext *, int, float *, int, float *, int)) \
    F(3, STATUS, int, cublasSswap_v2_64, (struct cublasContext *, int64_t, float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSsymm_v2, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSsymv_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSsymv_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSsyr2_v2, (struct cublasContext *, int, int, const float *, const float *, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasSsyr2_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSsyr2k_v2, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSsyr_v2, (struct cublasContext *, int, int, const float *, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasSsyr_v2_64, (struct cublasContext *, int, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasSsyrk_v2, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasSsyrkx, (struct cublasContext *, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasSsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasStbmv_v2, (struct cublasContext *, int, int, int, int, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasStbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasStbsv_v2, (struct cublasContext *, int, int, int, int, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasStbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasStpmv_v2, (struct cublasContext *, int, int, int, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasStpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasStpsv_v2, (struct cublasContext *, int, int, int, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasStpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, float *, int64_t)) \
    F(3, STATUS, int, cublasStpttr, (struct cublasContext *, int, int, const float *, float *, int)) \
    F(3, STATUS, int, cublasStrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const float *, const float *, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasStrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const float *, const float *, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasStrmv_v2, (struct cublasContext *, int, int, int, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasStrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasStrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const float *, const float * *, int, float * *, int, int)) \
    F(3, STATUS, int, cublasStrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const float *, const float * *, int64_t, float * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasStrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const float *, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasStrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const float *, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasStrsv_v2, (struct cublasContext *, int, int, int, int, const float *, int, float *, int)) \
    F(3, STATUS, int, cublasStrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const float *, int64_t, float *, int64_t)) \
    F(3, STATUS, int, cublasStrttp, (struct cublasContext *, int, int, const float *, int, float *)) \
    F(3, STATUS, int, cublasSwapEx, (struct cublasContext *, int, void *, int, int, void *, int, int)) \
    F(3, STATUS, int, cublasSwapEx_64, (struct cublasContext *, int64_t, void *, int, int64_t, void *, int, int64_t)) \
    F(3, STATUS, int, cublasUint8gemmBias, (struct cublasContext *, int, int, int, int, int, int, const unsigned char *, int, int, const unsigned char *, int, int, unsigned char *, int, int, int, int)) \
    F(3, NOTHING, void, cublasXerbla, (const char *, int)) \
    F(3, STATUS, int, cublasZaxpy_v2, (struct cublasContext *, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZaxpy_v2_64, (struct cublasContext *, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZcopy_v2, (struct cublasContext *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZcopy_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZdgmm, (struct cublasContext *, int, int, int, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZdgmm_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZdotc_v2, (struct cublasContext *, int, const struct double2 *, int, const struct double2 *, int, struct double2 *)) \
    F(3, STATUS, int, cublasZdotc_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *)) \
    F(3, STATUS, int, cublasZdotu_v2, (struct cublasContext *, int, const struct double2 *, int, const struct double2 *, int, struct double2 *)) \
    F(3, STATUS, int, cublasZdotu_v2_64, (struct cublasContext *, int64_t, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *)) \
    F(3, STATUS, int, cublasZdrot_v2, (struct cublasContext *, int, struct double2 *, int, struct double2 *, int, const double *, const double *)) \
    F(3, STATUS, int, cublasZdrot_v2_64, (struct cublasContext *, int64_t, struct double2 *, int64_t, struct double2 *, int64_t, const double *, const double *)) \
    F(3, STATUS, int, cublasZdscal_v2, (struct cublasContext *, int, const double *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZdscal_v2_64, (struct cublasContext *, int64_t, const double *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgeam, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgeam_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgelsBatched, (struct cublasContext *, int, int, int, int, struct double2 * *, int, struct double2 * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasZgemm3m, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgemm3m_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgemmBatched, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 * *, int, const struct double2 * *, int, const struct double2 *, struct double2 * *, int, int)) \
    F(3, STATUS, int, cublasZgemmBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 * *, int64_t, const struct double2 * *, int64_t, const struct double2 *, struct double2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasZgemmStridedBatched, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, long long, const struct double2 *, int, long long, const struct double2 *, struct double2 *, int, long long, int)) \
    F(3, STATUS, int, cublasZgemmStridedBatched_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, long long, const struct double2 *, int64_t, long long, const struct double2 *, struct double2 *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasZgemm_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgemvBatched, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 * *, int, const struct double2 * *, int, const struct double2 *, struct double2 * *, int, int)) \
    F(3, STATUS, int, cublasZgemvBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 * *, int64_t, const struct double2 * *, int64_t, const struct double2 *, struct double2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasZgemvStridedBatched, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 *, int, long long, const struct double2 *, int, long long, const struct double2 *, struct double2 *, int, long long, int)) \
    F(3, STATUS, int, cublasZgemvStridedBatched_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, long long, const struct double2 *, int64_t, long long, const struct double2 *, struct double2 *, int64_t, long long, int64_t)) \
    F(3, STATUS, int, cublasZgemv_v2, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgemv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgeqrfBatched, (struct cublasContext *, int, int, struct double2 * *, int, struct double2 * *, int *, int)) \
    F(3, STATUS, int, cublasZgerc_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgerc_v2_64, (struct cublasContext *, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgeru_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZgeru_v2_64, (struct cublasContext *, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZgetrfBatched, (struct cublasContext *, int, struct double2 * *, int, int *, int *, int)) \
    F(3, STATUS, int, cublasZgetriBatched, (struct cublasContext *, int, const struct double2 * *, int, const int *, struct double2 * *, int, int *, int)) \
    F(3, STATUS, int, cublasZgetrsBatched, (struct cublasContext *, int, int, int, const struct double2 * *, int, const int *, struct double2 * *, int, int *, int)) \
    F(3, STATUS, int, cublasZhbmv_v2, (struct cublasContext *, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZhbmv_v2_64, (struct cublasContext *, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZhemm_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZhemm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZhemv_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZhemv_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZher2_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZher2_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZher2k_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const double *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZher2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const double *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZher_v2, (struct cublasContext *, int, int, const double *, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZher_v2_64, (struct cublasContext *, int, int64_t, const double *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZherk_v2, (struct cublasContext *, int, int, int, int, const double *, const struct double2 *, int, const double *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZherk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const double *, const struct double2 *, int64_t, const double *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZherkx, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const double *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZherkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const double *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZhpmv_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZhpmv_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZhpr2_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *)) \
    F(3, STATUS, int, cublasZhpr2_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *)) \
    F(3, STATUS, int, cublasZhpr_v2, (struct cublasContext *, int, int, const double *, const struct double2 *, int, struct double2 *)) \
    F(3, STATUS, int, cublasZhpr_v2_64, (struct cublasContext *, int, int64_t, const double *, const struct double2 *, int64_t, struct double2 *)) \
    F(3, STATUS, int, cublasZmatinvBatched, (struct cublasContext *, int, const struct double2 * *, int, struct double2 * *, int, int *, int)) \
    F(3, STATUS, int, cublasZrot_v2, (struct cublasContext *, int, struct double2 *, int, struct double2 *, int, const double *, const struct double2 *)) \
    F(3, STATUS, int, cublasZrot_v2_64, (struct cublasContext *, int64_t, struct double2 *, int64_t, struct double2 *, int64_t, const double *, const struct double2 *)) \
    F(3, STATUS, int, cublasZrotg_v2, (struct cublasContext *, struct double2 *, struct double2 *, double *, struct double2 *)) \
    F(3, STATUS, int, cublasZscal_v2, (struct cublasContext *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZscal_v2_64, (struct cublasContext *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZswap_v2, (struct cublasContext *, int, struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZswap_v2_64, (struct cublasContext *, int64_t, struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsymm_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsymm_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsymv_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsymv_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsyr2_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsyr2_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsyr2k_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsyr2k_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsyr_v2, (struct cublasContext *, int, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsyr_v2_64, (struct cublasContext *, int, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsyrk_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsyrk_v2_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZsyrkx, (struct cublasContext *, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZsyrkx_64, (struct cublasContext *, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtbmv_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtbmv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtbsv_v2, (struct cublasContext *, int, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtbsv_v2_64, (struct cublasContext *, int, int, int, int64_t, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtpmv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtpmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtpsv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtpsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtpttr, (struct cublasContext *, int, int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtrmm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct double2 *, const struct double2 *, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtrmm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtrmv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtrmv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtrsmBatched, (struct cublasContext *, int, int, int, int, int, int, const struct double2 *, const struct double2 * *, int, struct double2 * *, int, int)) \
    F(3, STATUS, int, cublasZtrsmBatched_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct double2 *, const struct double2 * *, int64_t, struct double2 * *, int64_t, int64_t)) \
    F(3, STATUS, int, cublasZtrsm_v2, (struct cublasContext *, int, int, int, int, int, int, const struct double2 *, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtrsm_v2_64, (struct cublasContext *, int, int, int, int, int64_t, int64_t, const struct double2 *, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtrsv_v2, (struct cublasContext *, int, int, int, int, const struct double2 *, int, struct double2 *, int)) \
    F(3, STATUS, int, cublasZtrsv_v2_64, (struct cublasContext *, int, int, int, int64_t, const struct double2 *, int64_t, struct double2 *, int64_t)) \
    F(3, STATUS, int, cublasZtrttp, (struct cublasContext *, int, int, const struct double2 *, int, struct double2 *))

#endif
