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
    F(int, cusparseCbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const int, const struct float2 *, const int, const struct float2 *, struct float2 *, int)) \
    F(int, cusparseCbsrmv, (struct cusparseContext *, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, const struct float2 *, const struct float2 *, struct float2 *)) \
    F(int, cusparseCbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(int, cusparseCbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(int, cusparseCbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsm2Info *, const struct float2 *, int, struct float2 *, int, int, void *)) \
    F(int, cusparseCbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(int, cusparseCbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(int, cusparseCbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsv2Info *, const struct float2 *, struct float2 *, int, void *)) \
    F(int, cusparseCcsrgeam2, (struct cusparseContext *, int, int, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, struct cusparseMatDescr *const, struct float2 *, int *, int *, void *)) \
    F(int, cusparseCcsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, unsigned long *)) \
    F(int, cusparseConstCscGet, (const struct cusparseSpMatDescr *, long *, long *, long *, const void **, const void **, const void **, int *, int *, int *, int *)) \
    F(int, cusparseConstCsrGet, (const struct cusparseSpMatDescr *, long *, long *, long *, const void **, const void **, const void **, int *, int *, int *, int *)) \
    F(int, cusparseCooGet, (struct cusparseSpMatDescr *, long *, long *, long *, void **, void **, void **, int *, int *, int *)) \
    F(int, cusparseCooSetPointers, (struct cusparseSpMatDescr *, void *, void *, void *)) \
    F(int, cusparseCooSetStridedBatch, (struct cusparseSpMatDescr *, int, int64_t)) \
    F(int, cusparseCreate, (struct cusparseContext **)) \
    F(int, cusparseCreateBsr, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int, int)) \
    F(int, cusparseCreateBsrsm2Info, (struct bsrsm2Info **)) \
    F(int, cusparseCreateBsrsv2Info, (struct bsrsv2Info **)) \
    F(int, cusparseCreateConstCoo, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int)) \
    F(int, cusparseCreateConstCsc, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int, int)) \
    F(int, cusparseCreateConstCsr, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int, int)) \
    F(int, cusparseCreateConstDnMat, (const struct cusparseDnMatDescr **, int64_t, int64_t, int64_t, const void *, int, int)) \
    F(int, cusparseCreateConstDnVec, (const struct cusparseDnVecDescr **, int64_t, const void *, int)) \
    F(int, cusparseCreateCoo, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int)) \
    F(int, cusparseCreateCsc, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int)) \
    F(int, cusparseCreateCsr, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int)) \
    F(int, cusparseCreateDnMat, (struct cusparseDnMatDescr **, int64_t, int64_t, int64_t, void *, int, int)) \
    F(int, cusparseCreateDnVec, (struct cusparseDnVecDescr **, int64_t, void *, int)) \
    F(int, cusparseCreateIdentityPermutation, (struct cusparseContext *, int, int *)) \
    F(int, cusparseCreateMatDescr, (struct cusparseMatDescr **)) \
    F(int, cusparseCscGet, (struct cusparseSpMatDescr *, long *, long *, long *, void **, void **, void **, int *, int *, int *, int *)) \
    F(int, cusparseCscSetPointers, (struct cusparseSpMatDescr *, void *, void *, void *)) \
    F(int, cusparseCsrGet, (struct cusparseSpMatDescr *, long *, long *, long *, void **, void **, void **, int *, int *, int *, int *)) \
    F(int, cusparseCsrSetPointers, (struct cusparseSpMatDescr *, void *, void *, void *)) \
    F(int, cusparseCsrSetStridedBatch, (struct cusparseSpMatDescr *, int, int64_t, int64_t)) \
    F(int, cusparseDbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, const int, const double *, const int, const double *, double *, int)) \
    F(int, cusparseDbsrmv, (struct cusparseContext *, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, int, const double *, const double *, double *)) \
    F(int, cusparseDbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(int, cusparseDbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(int, cusparseDbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsm2Info *, const double *, int, double *, int, int, void *)) \
    F(int, cusparseDbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(int, cusparseDbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(int, cusparseDbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsv2Info *, const double *, double *, int, void *)) \
    F(int, cusparseDcsrgeam2, (struct cusparseContext *, int, int, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, struct cusparseMatDescr *const, double *, int *, int *, void *)) \
    F(int, cusparseDcsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, struct cusparseMatDescr *const, const double *, const int *, const int *, unsigned long *)) \
    F(int, cusparseDestroy, (struct cusparseContext *)) \
    F(int, cusparseDestroyBsrsm2Info, (struct bsrsm2Info *)) \
    F(int, cusparseDestroyBsrsv2Info, (struct bsrsv2Info *)) \
    F(int, cusparseDestroyDnMat, (const struct cusparseDnMatDescr *)) \
    F(int, cusparseDestroyDnVec, (const struct cusparseDnVecDescr *)) \
    F(int, cusparseDestroyMatDescr, (struct cusparseMatDescr *)) \
    F(int, cusparseDestroySpMat, (const struct cusparseSpMatDescr *)) \
    F(int, cusparseDnMatGet, (struct cusparseDnMatDescr *, long *, long *, long *, void **, int *, int *)) \
    F(int, cusparseDnMatSetStridedBatch, (struct cusparseDnMatDescr *, int, int64_t)) \
    F(int, cusparseDnMatSetValues, (struct cusparseDnMatDescr *, void *)) \
    F(int, cusparseDnVecGet, (struct cusparseDnVecDescr *, long *, void **, int *)) \
    F(int, cusparseDnVecSetValues, (struct cusparseDnVecDescr *, void *)) \
    F(const char *, cusparseGetErrorName, (int)) \
    F(const char *, cusparseGetErrorString, (int)) \
    F(int, cusparseGetMatDiagType, (struct cusparseMatDescr *const)) \
    F(int, cusparseGetMatFillMode, (struct cusparseMatDescr *const)) \
    F(int, cusparseGetMatIndexBase, (struct cusparseMatDescr *const)) \
    F(int, cusparseGetMatType, (struct cusparseMatDescr *const)) \
    F(int, cusparseGetPointerMode, (struct cusparseContext *, int *)) \
    F(int, cusparseGetProperty, (int, int *)) \
    F(int, cusparseGetStream, (struct cusparseContext *, struct CUstream_st **)) \
    F(int, cusparseGetVersion, (struct cusparseContext *, int *)) \
    F(int, cusparseSDDMM, (struct cusparseContext *, int, int, const void *, const struct cusparseDnMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, void *)) \
    F(int, cusparseSDDMM_bufferSize, (struct cusparseContext *, int, int, const void *, const struct cusparseDnMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, unsigned long *)) \
    F(int, cusparseSDDMM_preprocess, (struct cusparseContext *, int, int, const void *, const struct cusparseDnMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, void *)) \
    F(int, cusparseSbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, const int, const float *, const int, const float *, float *, int)) \
    F(int, cusparseSbsrmv, (struct cusparseContext *, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, int, const float *, const float *, float *)) \
    F(int, cusparseSbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(int, cusparseSbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(int, cusparseSbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsm2Info *, const float *, int, float *, int, int, void *)) \
    F(int, cusparseSbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(int, cusparseSbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(int, cusparseSbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsv2Info *, const float *, float *, int, void *)) \
    F(int, cusparseScsrgeam2, (struct cusparseContext *, int, int, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, struct cusparseMatDescr *const, float *, int *, int *, void *)) \
    F(int, cusparseScsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, struct cusparseMatDescr *const, const float *, const int *, const int *, unsigned long *)) \
    F(int, cusparseSetMatDiagType, (struct cusparseMatDescr *, int)) \
    F(int, cusparseSetMatFillMode, (struct cusparseMatDescr *, int)) \
    F(int, cusparseSetMatIndexBase, (struct cusparseMatDescr *, int)) \
    F(int, cusparseSetMatType, (struct cusparseMatDescr *, int)) \
    F(int, cusparseSetPointerMode, (struct cusparseContext *, int)) \
    F(int, cusparseSetStream, (struct cusparseContext *, struct CUstream_st *)) \
    F(int, cusparseSpGEMM_compute, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(int, cusparseSpGEMM_copy, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *)) \
    F(int, cusparseSpGEMM_createDescr, (struct cusparseSpGEMMDescr **)) \
    F(int, cusparseSpGEMM_destroyDescr, (struct cusparseSpGEMMDescr *)) \
    F(int, cusparseSpGEMM_workEstimation, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(int, cusparseSpMM, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseDnMatDescr *, int, int, void *)) \
    F(int, cusparseSpMM_bufferSize, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseDnMatDescr *, int, int, unsigned long *)) \
    F(int, cusparseSpMM_preprocess, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseDnMatDescr *, int, int, void *)) \
    F(int, cusparseSpMV, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, const void *, struct cusparseDnVecDescr *, int, int, void *)) \
    F(int, cusparseSpMV_bufferSize, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, const void *, struct cusparseDnVecDescr *, int, int, unsigned long *)) \
    F(int, cusparseSpMV_preprocess, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, const void *, struct cusparseDnVecDescr *, int, int, void *)) \
    F(int, cusparseSpMatGetFormat, (const struct cusparseSpMatDescr *, int *)) \
    F(int, cusparseSpMatGetIndexBase, (const struct cusparseSpMatDescr *, int *)) \
    F(int, cusparseSpMatGetSize, (const struct cusparseSpMatDescr *, long *, long *, long *)) \
    F(int, cusparseSpMatGetStridedBatch, (const struct cusparseSpMatDescr *, int *)) \
    F(int, cusparseSpMatGetValues, (struct cusparseSpMatDescr *, void **)) \
    F(int, cusparseSpMatSetAttribute, (struct cusparseSpMatDescr *, int, void *, size_t)) \
    F(int, cusparseSpMatSetValues, (struct cusparseSpMatDescr *, void *)) \
    F(int, cusparseSpSM_analysis, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, struct cusparseSpSMDescr *, void *)) \
    F(int, cusparseSpSM_bufferSize, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, struct cusparseSpSMDescr *, unsigned long *)) \
    F(int, cusparseSpSM_createDescr, (struct cusparseSpSMDescr **)) \
    F(int, cusparseSpSM_destroyDescr, (struct cusparseSpSMDescr *)) \
    F(int, cusparseSpSM_solve, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, struct cusparseSpSMDescr *)) \
    F(int, cusparseSpSV_analysis, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, struct cusparseDnVecDescr *, int, int, struct cusparseSpSVDescr *, void *)) \
    F(int, cusparseSpSV_bufferSize, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, struct cusparseDnVecDescr *, int, int, struct cusparseSpSVDescr *, unsigned long *)) \
    F(int, cusparseSpSV_createDescr, (struct cusparseSpSVDescr **)) \
    F(int, cusparseSpSV_destroyDescr, (struct cusparseSpSVDescr *)) \
    F(int, cusparseSpSV_solve, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, struct cusparseDnVecDescr *, int, int, struct cusparseSpSVDescr *)) \
    F(int, cusparseXbsrsm2_zeroPivot, (struct cusparseContext *, struct bsrsm2Info *, int *)) \
    F(int, cusparseXbsrsv2_zeroPivot, (struct cusparseContext *, struct bsrsv2Info *, int *)) \
    F(int, cusparseXcoo2csr, (struct cusparseContext *, const int *, int, int, int *, int)) \
    F(int, cusparseXcoosortByColumn, (struct cusparseContext *, int, int, int, int *, int *, int *, void *)) \
    F(int, cusparseXcoosortByRow, (struct cusparseContext *, int, int, int, int *, int *, int *, void *)) \
    F(int, cusparseXcoosort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *)) \
    F(int, cusparseXcsr2coo, (struct cusparseContext *, const int *, int, int, int *, int)) \
    F(int, cusparseXcsrgeam2Nnz, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, int, const int *, const int *, struct cusparseMatDescr *const, int, const int *, const int *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(int, cusparseXcsrsort, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, int *, int *, void *)) \
    F(int, cusparseXcsrsort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *)) \
    F(int, cusparseZbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const int, const struct double2 *, const int, const struct double2 *, struct double2 *, int)) \
    F(int, cusparseZbsrmv, (struct cusparseContext *, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, const struct double2 *, const struct double2 *, struct double2 *)) \
    F(int, cusparseZbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(int, cusparseZbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(int, cusparseZbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsm2Info *, const struct double2 *, int, struct double2 *, int, int, void *)) \
    F(int, cusparseZbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(int, cusparseZbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(int, cusparseZbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsv2Info *, const struct double2 *, struct double2 *, int, void *)) \
    F(int, cusparseZcsrgeam2, (struct cusparseContext *, int, int, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, struct cusparseMatDescr *const, struct double2 *, int *, int *, void *)) \
    F(int, cusparseZcsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, unsigned long *))

#endif
