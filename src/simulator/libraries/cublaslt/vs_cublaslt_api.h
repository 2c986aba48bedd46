/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cublaslt, written by scripts/library_tables.py from the
 * headers of cublaslt 12.4.5.8 (CUDA 12) and cublaslt 13.10.0.20 (CUDA 13). Do not edit.
 * VS_CUBLASLT_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CUBLASLT_API_H
#define VS_CUBLASLT_API_H

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
    CUBLAS_COMPUTE_32I = 72, CUBLAS_COMPUTE_32I_PEDANTIC = 73, CUBLASLT_MATMUL_TILE_128x128 = 20,
    CUBLASLT_MATMUL_STAGES_UNDEFINED = 0, CUBLASLT_POINTER_MODE_HOST = 0,
    CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO = 3, CUBLASLT_ORDER_COL = 0,
    CUBLASLT_ORDER_ROW = 1, CUBLASLT_ORDER_COL32 = 2, CUBLASLT_ORDER_COL4_4R2_8C = 3,
    CUBLASLT_ORDER_COL32_2R_4R4 = 4, CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
    CUBLASLT_MATRIX_LAYOUT_ORDER = 1, CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
    CUBLASLT_MATRIX_LAYOUT_COLS = 3, CUBLASLT_MATRIX_LAYOUT_LD = 4,
    CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6,
    CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET = 7, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
    CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1, CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
    CUBLASLT_MATMUL_DESC_TRANSA = 3, CUBLASLT_MATMUL_DESC_TRANSB = 4,
    CUBLASLT_MATMUL_DESC_TRANSC = 5, CUBLASLT_MATMUL_DESC_FILL_MODE = 6,
    CUBLASLT_MATMUL_DESC_EPILOGUE = 7, CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
    CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE = 10, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE = 13,
    CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE = 14, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET = 15,
    CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
    CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
    CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE = 22,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER = 23,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER = 24, CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
    CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26,
    CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_NUM_CHUNKS_D_ROWS = 27,
    CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_NUM_CHUNKS_D_COLS = 28,
    CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_IN_COUNTERS_POINTER = 29,
    CUBLASLT_MATMUL_DESC_ATOMIC_SYNC_OUT_COUNTERS_POINTER = 30,
    CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE = 0, CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE = 1,
    CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA = 2, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB = 3,
    CUBLASLT_REDUCTION_SCHEME_NONE = 0, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE = 2,
    CUBLASLT_REDUCTION_SCHEME_MASK = 7, CUBLASLT_EPILOGUE_DEFAULT = 1, CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_RELU_AUX = 130, CUBLASLT_EPILOGUE_BIAS = 4, CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134, CUBLASLT_EPILOGUE_DRELU = 136,
    CUBLASLT_EPILOGUE_DRELU_BGRAD = 152, CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_AUX = 160, CUBLASLT_EPILOGUE_GELU_BIAS = 36,
    CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164, CUBLASLT_EPILOGUE_DGELU = 192,
    CUBLASLT_EPILOGUE_DGELU_BGRAD = 208, CUBLASLT_EPILOGUE_BGRADA = 256,
    CUBLASLT_EPILOGUE_BGRADB = 512, CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID = 1,
    CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
    CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK = 3, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
    CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8, CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT = 9,
    CUBLASLT_MATMUL_PREF_IMPL_MASK = 12, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT = 0,
    CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK = 1, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT = 2,
    CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT = 3, CUBLASLT_ALGO_CAP_OUT_OF_PLACE_RESULT_SUPPORT = 4,
    CUBLASLT_ALGO_CAP_UPLO_SUPPORT = 5, CUBLASLT_ALGO_CAP_TILE_IDS = 6,
    CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX = 7, CUBLASLT_ALGO_CAP_CUSTOM_MEMORY_ORDER = 10,
    CUBLASLT_ALGO_CAP_POINTER_MODE_MASK = 11, CUBLASLT_ALGO_CAP_EPILOGUE_MASK = 12,
    CUBLASLT_ALGO_CAP_STAGES_IDS = 13, CUBLASLT_ALGO_CAP_LD_NEGATIVE = 14,
    CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS = 15, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_A_BYTES = 16,
    CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_B_BYTES = 17, CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_C_BYTES = 18,
    CUBLASLT_ALGO_CAP_MIN_ALIGNMENT_D_BYTES = 19, CUBLASLT_ALGO_CAP_ATOMIC_SYNC = 20,
    CUBLASLT_ALGO_CONFIG_ID = 0, CUBLASLT_ALGO_CONFIG_TILE_ID = 1,
    CUBLASLT_ALGO_CONFIG_SPLITK_NUM = 2, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME = 3,
    CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING = 4, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION = 5,
    CUBLASLT_ALGO_CONFIG_STAGES_ID = 6, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID = 7,
    CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID = 8, CUBLAS_FP32_EMULATED_BF16X9_MATH = 4,
    CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH = 8, CUBLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
    CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79, CUBLAS_EMULATION_STRATEGY_DEFAULT = 0,
    CUBLAS_EMULATION_STRATEGY_EAGER = 2, CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F = 0,
    CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3 = 1, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0 = 2,
    CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F = 3, CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F = 4,
    CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F = 5, CUBLASLT_MATMUL_MATRIX_SCALE_END = 14,
    CUBLASLT_BATCH_MODE_GROUPED = 2, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE = 8,
    CUBLASLT_GROUPED_MATRIX_LAYOUT_ROWS_ARRAY = 9, CUBLASLT_GROUPED_MATRIX_LAYOUT_COLS_ARRAY = 10,
    CUBLASLT_GROUPED_MATRIX_LAYOUT_LD_ARRAY = 11,
    CUBLASLT_GROUPED_MATRIX_LAYOUT_ROWS_COLS_ARRAY_INTEGER_WIDTH = 12,
    CUBLASLT_GROUPED_MATRIX_LAYOUT_LD_ARRAY_INTEGER_WIDTH = 13,
    CUBLASLT_MATMUL_DESC_A_SCALE_MODE = 31, CUBLASLT_MATMUL_DESC_B_SCALE_MODE = 32,
    CUBLASLT_MATMUL_DESC_C_SCALE_MODE = 33, CUBLASLT_MATMUL_DESC_D_SCALE_MODE = 34,
    CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE = 35,
    CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER = 36, CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE = 37,
    CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR = 38, CUBLASLT_MATMUL_DESC_ALPHA_BATCH_STRIDE = 39,
    CUBLASLT_MATMUL_DESC_BETA_BATCH_STRIDE = 40, CUBLASLT_MATMUL_DESC_BATCH_INVARIANCE_FLAGS = 41,
    CUBLASLT_BATCH_INVARIANCE_UNSET = 32768, CUBLASLT_EMULATION_DESC_STRATEGY = 0,
    CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT = 1,
    CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL = 2,
    CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT = 3,
    CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET = 4,
    CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER = 5,
    CUBLASLT_MATMUL_PREF_GROUPED_AVERAGE_REDUCTION_DIM = 13,
    CUBLASLT_MATMUL_PREF_GROUPED_DESC_D_AVERAGE_ROWS = 14,
    CUBLASLT_MATMUL_PREF_GROUPED_DESC_D_AVERAGE_COLS = 15,
    CUBLASLT_ALGO_CAP_POINTER_ARRAY_BATCH_SUPPORT = 21,
    CUBLASLT_ALGO_CAP_FLOATING_POINT_EMULATION_SUPPORT = 22,
    CUBLASLT_ALGO_CAP_POINTER_ARRAY_GROUPED_SUPPORT = 23,
};

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 10
#define CUBLAS_VER_PATCH 0

struct CUstream_st;
struct _IO_FILE;
struct cublasLtContext;

typedef struct {
    unsigned long data[14];
} cublasLtMatrixLayoutOpaque_t;
_Static_assert(sizeof(cublasLtMatrixLayoutOpaque_t) == 112, "layout of cublasLtMatrixLayoutOpaque_t");

typedef struct {
    unsigned long data[8];
} cublasLtMatmulAlgo_t;
_Static_assert(sizeof(cublasLtMatmulAlgo_t) == 64, "layout of cublasLtMatmulAlgo_t");

typedef struct {
    unsigned long data[32];
} cublasLtMatmulDescOpaque_t;
_Static_assert(sizeof(cublasLtMatmulDescOpaque_t) == 256, "layout of cublasLtMatmulDescOpaque_t");

typedef struct {
    unsigned long data[8];
} cublasLtMatrixTransformDescOpaque_t;
_Static_assert(sizeof(cublasLtMatrixTransformDescOpaque_t) == 64, "layout of cublasLtMatrixTransformDescOpaque_t");

typedef struct {
    unsigned long data[12];
} cublasLtMatmulPreferenceOpaque_t;
_Static_assert(sizeof(cublasLtMatmulPreferenceOpaque_t) == 96, "layout of cublasLtMatmulPreferenceOpaque_t");

typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    int state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;
_Static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == 96, "layout of cublasLtMatmulHeuristicResult_t");

typedef struct {
    unsigned long data[8];
} cublasLtEmulationDescOpaque_t;
_Static_assert(sizeof(cublasLtEmulationDescOpaque_t) == 64, "layout of cublasLtEmulationDescOpaque_t");

#define VS_CUBLASLT_FUNCTIONS(F) \
    F(int, cublasLtCreate, (struct cublasLtContext **)) \
    F(int, cublasLtDestroy, (struct cublasLtContext *)) \
    F(unsigned int, cublasLtDisableCpuInstructionsSetMask, (unsigned int)) \
    F(size_t, cublasLtGetCudartVersion, (void)) \
    F(int, cublasLtGetProperty, (int, int *)) \
    F(const char *, cublasLtGetStatusName, (int)) \
    F(const char *, cublasLtGetStatusString, (int)) \
    F(size_t, cublasLtGetVersion, (void)) \
    F(int, cublasLtHeuristicsCacheGetCapacity, (unsigned long *)) \
    F(int, cublasLtHeuristicsCacheSetCapacity, (size_t)) \
    F(int, cublasLtLoggerForceDisable, (void)) \
    F(int, cublasLtLoggerOpenFile, (const char *)) \
    F(int, cublasLtLoggerSetCallback, (void *)) \
    F(int, cublasLtLoggerSetFile, (struct _IO_FILE *)) \
    F(int, cublasLtLoggerSetLevel, (int)) \
    F(int, cublasLtLoggerSetMask, (int)) \
    F(int, cublasLtMatmul, (struct cublasLtContext *, cublasLtMatmulDescOpaque_t *, const void *, const void *, cublasLtMatrixLayoutOpaque_t *, const void *, cublasLtMatrixLayoutOpaque_t *, const void *, const void *, cublasLtMatrixLayoutOpaque_t *, void *, cublasLtMatrixLayoutOpaque_t *, const cublasLtMatmulAlgo_t *, void *, size_t, struct CUstream_st *)) \
    F(int, cublasLtMatmulAlgoCapGetAttribute, (const cublasLtMatmulAlgo_t *, int, void *, size_t, unsigned long *)) \
    F(int, cublasLtMatmulAlgoCheck, (struct cublasLtContext *, cublasLtMatmulDescOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, const cublasLtMatmulAlgo_t *, cublasLtMatmulHeuristicResult_t *)) \
    F(int, cublasLtMatmulAlgoCheckForStream, (struct cublasLtContext *, cublasLtMatmulDescOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, const cublasLtMatmulAlgo_t *, cublasLtMatmulHeuristicResult_t *, struct CUstream_st *)) \
    F(int, cublasLtMatmulAlgoConfigGetAttribute, (const cublasLtMatmulAlgo_t *, int, void *, size_t, unsigned long *)) \
    F(int, cublasLtMatmulAlgoConfigSetAttribute, (cublasLtMatmulAlgo_t *, int, const void *, size_t)) \
    F(int, cublasLtMatmulAlgoGetHeuristic, (struct cublasLtContext *, cublasLtMatmulDescOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatmulPreferenceOpaque_t *, int, cublasLtMatmulHeuristicResult_t *, int *)) \
    F(int, cublasLtMatmulAlgoGetHeuristicForStream, (struct cublasLtContext *, cublasLtMatmulDescOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatrixLayoutOpaque_t *, cublasLtMatmulPreferenceOpaque_t *, int, cublasLtMatmulHeuristicResult_t *, int *, struct CUstream_st *)) \
    F(int, cublasLtMatmulAlgoGetIds, (struct cublasLtContext *, int, int, int, int, int, int, int, int *, int *)) \
    F(int, cublasLtMatmulAlgoInit, (struct cublasLtContext *, int, int, int, int, int, int, int, cublasLtMatmulAlgo_t *)) \
    F(int, cublasLtMatrixTransform, (struct cublasLtContext *, cublasLtMatrixTransformDescOpaque_t *, const void *, const void *, cublasLtMatrixLayoutOpaque_t *, const void *, const void *, cublasLtMatrixLayoutOpaque_t *, void *, cublasLtMatrixLayoutOpaque_t *, struct CUstream_st *))

#endif
