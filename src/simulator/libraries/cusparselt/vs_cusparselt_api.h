/* SPDX-License-Identifier: Apache-2.0
 *
 * Values and structures of cusparselt, written by scripts/library_tables.py from the
 * headers of cusparselt 0.6.2 (CUDA 12) and cusparselt 0.10.0 (CUDA 13). Do not edit. */
#ifndef VS_CUSPARSELT_API_H
#define VS_CUSPARSELT_API_H

#include "generated/vs_cusparselt_rows.h" /* VS_CUSPARSELT_FUNCTIONS */

enum {
    CUSPARSELT_SPARSITY_50_PERCENT = 0, CUSPARSELT_MATMUL_ALG_DEFAULT = 0,
    CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID = 1, CUSPARSELT_MATMUL_SEARCH_ITERATIONS = 2,
    CUSPARSELT_MATMUL_SPLIT_K = 3, CUSPARSELT_MATMUL_SPLIT_K_BUFFERS = 5,
    CUSPARSELT_MATMUL_D_OUT_SCALE_POINTER = 19,
};

#define CUSPARSELT_VER_MAJOR 0
#define CUSPARSELT_VER_MINOR 10
#define CUSPARSELT_VER_PATCH 0

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

#endif
