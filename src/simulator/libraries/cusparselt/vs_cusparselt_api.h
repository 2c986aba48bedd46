/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cusparselt, written by scripts/library_tables.py from the
 * headers of cusparselt 0.6.2 (CUDA 12) and cusparselt 0.10.0 (CUDA 13). Do not edit.
 * VS_CUSPARSELT_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CUSPARSELT_API_H
#define VS_CUSPARSELT_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUSPARSELT_SPARSITY_50_PERCENT = 0, CUSPARSELT_MAT_NUM_BATCHES = 0,
    CUSPARSELT_MAT_BATCH_STRIDE = 1, CUSPARSELT_MATMUL_ALG_DEFAULT = 0,
    CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID = 1, CUSPARSELT_MATMUL_SEARCH_ITERATIONS = 2,
    CUSPARSELT_MATMUL_SPLIT_K = 3, CUSPARSELT_MATMUL_SPLIT_K_BUFFERS = 5,
    CUSPARSELT_MATMUL_D_OUT_SCALE_POINTER = 19,
};

#define CUSPARSELT_VER_MAJOR 0
#define CUSPARSELT_VER_MINOR 10
#define CUSPARSELT_VER_PATCH 0

struct CUstream_st;

typedef struct {
    unsigned char data[512];
} cusparseLtHandle_t;
_Static_assert(sizeof(cusparseLtHandle_t) == 512, "layout of cusparseLtHandle_t");

typedef struct {
    unsigned char data[512];
} cusparseLtMatDescriptor_t;
_Static_assert(sizeof(cusparseLtMatDescriptor_t) == 512, "layout of cusparseLtMatDescriptor_t");

typedef struct {
    unsigned char data[512];
} cusparseLtMatmulDescriptor_t;
_Static_assert(sizeof(cusparseLtMatmulDescriptor_t) == 512, "layout of cusparseLtMatmulDescriptor_t");

typedef struct {
    unsigned char data[512];
} cusparseLtMatmulAlgSelection_t;
_Static_assert(sizeof(cusparseLtMatmulAlgSelection_t) == 512, "layout of cusparseLtMatmulAlgSelection_t");

typedef struct {
    unsigned char data[512];
} cusparseLtMatmulPlan_t;
_Static_assert(sizeof(cusparseLtMatmulPlan_t) == 512, "layout of cusparseLtMatmulPlan_t");

#define VS_CUSPARSELT_FUNCTIONS(F) \
    F(int, cusparseLtDenseDescriptorInit, (const cusparseLtHandle_t *, cusparseLtMatDescriptor_t *, int64_t, int64_t, int64_t, uint32_t, int, int)) \
    F(int, cusparseLtDestroy, (const cusparseLtHandle_t *)) \
    F(int, cusparseLtGetProperty, (int, int *)) \
    F(int, cusparseLtGetVersion, (const cusparseLtHandle_t *, int *)) \
    F(int, cusparseLtInit, (cusparseLtHandle_t *)) \
    F(int, cusparseLtMatDescSetAttribute, (const cusparseLtHandle_t *, cusparseLtMatDescriptor_t *, int, const void *, size_t)) \
    F(int, cusparseLtMatDescriptorDestroy, (const cusparseLtMatDescriptor_t *)) \
    F(int, cusparseLtMatmul, (const cusparseLtHandle_t *, const cusparseLtMatmulPlan_t *, const void *, const void *, const void *, const void *, const void *, void *, void *, struct CUstream_st **, int32_t)) \
    F(int, cusparseLtMatmulAlgGetAttribute, (const cusparseLtHandle_t *, const cusparseLtMatmulAlgSelection_t *, int, void *, size_t)) \
    F(int, cusparseLtMatmulAlgSelectionInit, (const cusparseLtHandle_t *, cusparseLtMatmulAlgSelection_t *, const cusparseLtMatmulDescriptor_t *, int)) \
    F(int, cusparseLtMatmulAlgSetAttribute, (const cusparseLtHandle_t *, cusparseLtMatmulAlgSelection_t *, int, const void *, size_t)) \
    F(int, cusparseLtMatmulDescSetAttribute, (const cusparseLtHandle_t *, cusparseLtMatmulDescriptor_t *, int, const void *, size_t)) \
    F(int, cusparseLtMatmulDescriptorInit, (const cusparseLtHandle_t *, cusparseLtMatmulDescriptor_t *, int, int, const cusparseLtMatDescriptor_t *, const cusparseLtMatDescriptor_t *, const cusparseLtMatDescriptor_t *, const cusparseLtMatDescriptor_t *, int)) \
    F(int, cusparseLtMatmulGetWorkspace, (const cusparseLtHandle_t *, const cusparseLtMatmulPlan_t *, unsigned long *)) \
    F(int, cusparseLtMatmulPlanDestroy, (const cusparseLtMatmulPlan_t *)) \
    F(int, cusparseLtMatmulPlanInit, (const cusparseLtHandle_t *, cusparseLtMatmulPlan_t *, const cusparseLtMatmulDescriptor_t *, const cusparseLtMatmulAlgSelection_t *)) \
    F(int, cusparseLtMatmulSearch, (const cusparseLtHandle_t *, cusparseLtMatmulPlan_t *, const void *, const void *, const void *, const void *, const void *, void *, void *, struct CUstream_st **, int32_t)) \
    F(int, cusparseLtSpMMACompress2, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, int, int, const void *, void *, void *, struct CUstream_st *)) \
    F(int, cusparseLtSpMMACompressedSize2, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, unsigned long *, unsigned long *)) \
    F(int, cusparseLtStructuredDescriptorInit, (const cusparseLtHandle_t *, cusparseLtMatDescriptor_t *, int64_t, int64_t, int64_t, uint32_t, int, int, int))

#endif
