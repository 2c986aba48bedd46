/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cusparse, written by scripts/library_tables.py from the
 * headers of cusparse 12.3.1.170 (CUDA 12) and cusparse 12.9.4.2 (CUDA 13). Do not edit.
 * VS_CUSPARSE_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CUSPARSE_API_H
#define VS_CUSPARSE_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUSPARSE_STATUS_SUCCESS = 0, CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2, CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4, CUSPARSE_STATUS_MAPPING_ERROR = 5,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6, CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8, CUSPARSE_STATUS_ZERO_PIVOT = 9,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10, CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11,
    CUSPARSE_POINTER_MODE_DEVICE = 1, CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3,
    CUSPARSE_FILL_MODE_UPPER = 1, CUSPARSE_DIAG_TYPE_UNIT = 1, CUSPARSE_INDEX_BASE_ONE = 1,
    CUSPARSE_FORMAT_CSR = 1, CUSPARSE_FORMAT_CSC = 2, CUSPARSE_FORMAT_COO = 3,
    CUSPARSE_FORMAT_BSR = 6, CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW = 2,
    CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I = 2, CUSPARSE_INDEX_64I = 3,
    CUSPARSE_SPMAT_FILL_MODE = 0, CUSPARSE_SPMAT_DIAG_TYPE = 1,
};

#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 9
#define CUSPARSE_VER_PATCH 4

struct CUstream_st;
struct bsrsm2Info;
struct bsrsv2Info;
struct cusparseContext;
struct cusparseDnMatDescr;
struct cusparseDnVecDescr;
struct cusparseMatDescr;
struct cusparseSpGEMMDescr;
struct cusparseSpMatDescr;
struct cusparseSpSMDescr;
struct cusparseSpSVDescr;
struct double2;
struct float2;

#define VS_CUSPARSE_FUNCTIONS(F) \
    F(int, cusparseCreate, (struct cusparseContext **)) \
    F(int, cusparseCreateIdentityPermutation, (struct cusparseContext *, int, int *)) \
    F(int, cusparseDestroy, (struct cusparseContext *)) \
    F(int, cusparseDnMatGet, (struct cusparseDnMatDescr *, long *, long *, long *, void **, int *, int *)) \
    F(int, cusparseDnMatSetStridedBatch, (struct cusparseDnMatDescr *, int, int64_t)) \
    F(int, cusparseDnMatSetValues, (struct cusparseDnMatDescr *, void *)) \
    F(int, cusparseDnVecGet, (struct cusparseDnVecDescr *, long *, void **, int *)) \
    F(int, cusparseDnVecSetValues, (struct cusparseDnVecDescr *, void *)) \
    F(const char *, cusparseGetErrorName, (int)) \
    F(const char *, cusparseGetErrorString, (int)) \
    F(int, cusparseGetPointerMode, (struct cusparseContext *, int *)) \
    F(int, cusparseGetProperty, (int, int *)) \
    F(int, cusparseGetStream, (struct cusparseContext *, struct CUstream_st **)) \
    F(int, cusparseGetVersion, (struct cusparseContext *, int *)) \
    F(int, cusparseSetPointerMode, (struct cusparseContext *, int)) \
    F(int, cusparseSetStream, (struct cusparseContext *, struct CUstream_st *)) \
    F(int, cusparseSpGEMM_compute, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(int, cusparseSpGEMM_copy, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *)) \
    F(int, cusparseSpGEMM_createDescr, (struct cusparseSpGEMMDescr **)) \
    F(int, cusparseSpGEMM_destroyDescr, (struct cusparseSpGEMMDescr *)) \
    F(int, cusparseSpGEMM_workEstimation, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(int, cusparseSpMatGetSize, (const struct cusparseSpMatDescr *, long *, long *, long *)) \
    F(int, cusparseSpMatSetAttribute, (struct cusparseSpMatDescr *, int, void *, size_t)) \
    F(int, cusparseSpMatSetValues, (struct cusparseSpMatDescr *, void *)) \
    F(int, cusparseXcoo2csr, (struct cusparseContext *, const int *, int, int, int *, int)) \
    F(int, cusparseXcoosortByColumn, (struct cusparseContext *, int, int, int, int *, int *, int *, void *)) \
    F(int, cusparseXcoosortByRow, (struct cusparseContext *, int, int, int, int *, int *, int *, void *)) \
    F(int, cusparseXcoosort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *)) \
    F(int, cusparseXcsr2coo, (struct cusparseContext *, const int *, int, int, int *, int)) \
    F(int, cusparseXcsrgeam2Nnz, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, int, const int *, const int *, struct cusparseMatDescr *const, int, const int *, const int *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(int, cusparseXcsrsort, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, int *, int *, void *)) \
    F(int, cusparseXcsrsort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *))

#endif
