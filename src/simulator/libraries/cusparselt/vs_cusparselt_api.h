/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cusparselt, written by scripts/library_tables.py from the
 * headers of cusparselt 0.6.2 (CUDA 12) and cusparselt 0.10.0 (CUDA 13). Do not edit.
 * VS_CUSPARSELT_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_CUSPARSELT_API_H
#define VS_CUSPARSELT_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUSPARSELT_SPARSITY_50_PERCENT = 0,
    CUSPARSELT_MAT_NUM_BATCHES = 0,
    CUSPARSELT_MAT_BATCH_STRIDE = 1,
    CUSPARSELT_MATMUL_ALG_DEFAULT = 0,
    CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID = 1,
    CUSPARSELT_MATMUL_SEARCH_ITERATIONS = 2,
    CUSPARSELT_MATMUL_SPLIT_K = 3,
    CUSPARSELT_MATMUL_SPLIT_K_BUFFERS = 5,
    CUSPARSELT_MATMUL_D_OUT_SCALE_POINTER = 19,
};

#define CUSPARSELT_VER_BUILD 12
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
    F(3, STATUS, int, cusparseLtDenseDescriptorInit, (const cusparseLtHandle_t *, cusparseLtMatDescriptor_t *, int64_t, int64_t, int64_t, uint32_t, int, int)) \
    F(3, STATUS, int, cusparseLtDestroy, (const cusparseLtHandle_t *)) \
    F(2, TEXT, const char *, cusparseLtGetErrorName, (int)) \
    F(2, TEXT, const char *, cusparseLtGetErrorString, (int)) \
    F(3, STATUS, int, cusparseLtGetProperty, (int, int *)) \
    F(3, STATUS, int, cusparseLtGetVersion, (const cusparseLtHandle_t *, int *)) \
    F(3, STATUS, int, cusparseLtInit, (cusparseLtHandle_t *)) \
    F(3, STATUS, int, cusparseLtMatDescGetAttribute, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, int, void *, size_t)) \
    F(3, STATUS, int, cusparseLtMatDescSetAttribute, (const cusparseLtHandle_t *, cusparseLtMatDescriptor_t *, int, const void *, size_t)) \
    F(3, STATUS, int, cusparseLtMatDescriptorDestroy, (const cusparseLtMatDescriptor_t *)) \
    F(3, STATUS, int, cusparseLtMatmul, (const cusparseLtHandle_t *, const cusparseLtMatmulPlan_t *, const void *, const void *, const void *, const void *, const void *, void *, void *, struct CUstream_st **, int32_t)) \
    F(3, STATUS, int, cusparseLtMatmulAlgGetAttribute, (const cusparseLtHandle_t *, const cusparseLtMatmulAlgSelection_t *, int, void *, size_t)) \
    F(2, STATUS, int, cusparseLtMatmulAlgSelectionDestroy, (const cusparseLtMatmulAlgSelection_t *)) \
    F(3, STATUS, int, cusparseLtMatmulAlgSelectionInit, (const cusparseLtHandle_t *, cusparseLtMatmulAlgSelection_t *, const cusparseLtMatmulDescriptor_t *, int)) \
    F(3, STATUS, int, cusparseLtMatmulAlgSetAttribute, (const cusparseLtHandle_t *, cusparseLtMatmulAlgSelection_t *, int, const void *, size_t)) \
    F(3, STATUS, int, cusparseLtMatmulDescGetAttribute, (const cusparseLtHandle_t *, const cusparseLtMatmulDescriptor_t *, int, void *, size_t)) \
    F(3, STATUS, int, cusparseLtMatmulDescSetAttribute, (const cusparseLtHandle_t *, cusparseLtMatmulDescriptor_t *, int, const void *, size_t)) \
    F(3, STATUS, int, cusparseLtMatmulDescriptorInit, (const cusparseLtHandle_t *, cusparseLtMatmulDescriptor_t *, int, int, const cusparseLtMatDescriptor_t *, const cusparseLtMatDescriptor_t *, const cusparseLtMatDescriptor_t *, const cusparseLtMatDescriptor_t *, int)) \
    F(3, STATUS, int, cusparseLtMatmulGetWorkspace, (const cusparseLtHandle_t *, const cusparseLtMatmulPlan_t *, unsigned long *)) \
    F(3, STATUS, int, cusparseLtMatmulPlanDestroy, (const cusparseLtMatmulPlan_t *)) \
    F(3, STATUS, int, cusparseLtMatmulPlanInit, (const cusparseLtHandle_t *, cusparseLtMatmulPlan_t *, const cusparseLtMatmulDescriptor_t *, const cusparseLtMatmulAlgSelection_t *)) \
    F(3, STATUS, int, cusparseLtMatmulSearch, (const cusparseLtHandle_t *, cusparseLtMatmulPlan_t *, const void *, const void *, const void *, const void *, const void *, void *, void *, struct CUstream_st **, int32_t)) \
    F(3, STATUS, int, cusparseLtSpMMACompress, (const cusparseLtHandle_t *, const cusparseLtMatmulPlan_t *, const void *, void *, void *, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseLtSpMMACompress2, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, int, int, const void *, void *, void *, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseLtSpMMACompressedSize, (const cusparseLtHandle_t *, const cusparseLtMatmulPlan_t *, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusparseLtSpMMACompressedSize2, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusparseLtSpMMAPrune, (const cusparseLtHandle_t *, const cusparseLtMatmulDescriptor_t *, const void *, void *, int, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseLtSpMMAPrune2, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, int, int, const void *, void *, int, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseLtSpMMAPruneCheck, (const cusparseLtHandle_t *, const cusparseLtMatmulDescriptor_t *, const void *, int *, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseLtSpMMAPruneCheck2, (const cusparseLtHandle_t *, const cusparseLtMatDescriptor_t *, int, int, const void *, int *, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseLtStructuredDescriptorInit, (const cusparseLtHandle_t *, cusparseLtMatDescriptor_t *, int64_t, int64_t, int64_t, uint32_t, int, int, int))

#endif
