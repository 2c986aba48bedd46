/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cusparse, written by scripts/library_tables.py from the
 * headers of cusparse 12.3.1.170 (CUDA 12) and cusparse 12.9.4.2 (CUDA 13). Do not edit.
 * VS_CUSPARSE_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_CUSPARSE_API_H
#define VS_CUSPARSE_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUSPARSE_STATUS_SUCCESS = 0,
    CUSPARSE_STATUS_NOT_INITIALIZED = 1,
    CUSPARSE_STATUS_ALLOC_FAILED = 2,
    CUSPARSE_STATUS_INVALID_VALUE = 3,
    CUSPARSE_STATUS_ARCH_MISMATCH = 4,
    CUSPARSE_STATUS_MAPPING_ERROR = 5,
    CUSPARSE_STATUS_EXECUTION_FAILED = 6,
    CUSPARSE_STATUS_INTERNAL_ERROR = 7,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
    CUSPARSE_STATUS_ZERO_PIVOT = 9,
    CUSPARSE_STATUS_NOT_SUPPORTED = 10,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES = 11,
    CUSPARSE_POINTER_MODE_DEVICE = 1,
    CUSPARSE_MATRIX_TYPE_TRIANGULAR = 3,
    CUSPARSE_FILL_MODE_UPPER = 1,
    CUSPARSE_DIAG_TYPE_UNIT = 1,
    CUSPARSE_INDEX_BASE_ONE = 1,
    CUSPARSE_FORMAT_CSR = 1,
    CUSPARSE_FORMAT_CSC = 2,
    CUSPARSE_FORMAT_COO = 3,
    CUSPARSE_FORMAT_BSR = 6,
    CUSPARSE_ORDER_COL = 1,
    CUSPARSE_ORDER_ROW = 2,
    CUSPARSE_INDEX_16U = 1,
    CUSPARSE_INDEX_32I = 2,
    CUSPARSE_INDEX_64I = 3,
    CUSPARSE_SPMAT_FILL_MODE = 0,
    CUSPARSE_SPMAT_DIAG_TYPE = 1,
};

#define CUSPARSE_VER_BUILD 2
#define CUSPARSE_VER_MAJOR 12
#define CUSPARSE_VER_MINOR 9
#define CUSPARSE_VER_PATCH 4

struct CUstream_st;
struct _IO_FILE;
struct bsric02Info;
struct bsrilu02Info;
struct bsrsm2Info;
struct bsrsv2Info;
struct csric02Info;
struct csrilu02Info;
struct csru2csrInfo;
struct cusparseColorInfo;
struct cusparseContext;
struct cusparseDnMatDescr;
struct cusparseDnVecDescr;
struct cusparseMatDescr;
struct cusparseSpGEAMDescr;
struct cusparseSpGEMMDescr;
struct cusparseSpMMOpPlan;
struct cusparseSpMatDescr;
struct cusparseSpSMDescr;
struct cusparseSpSVDescr;
struct cusparseSpVecDescr;
struct double2;
struct float2;
struct pruneInfo;


#define VS_CUSPARSE_FUNCTIONS(F) \
    F(3, STATUS, int, cusparseAxpby, (struct cusparseContext *, const void *, const struct cusparseSpVecDescr *, const void *, struct cusparseDnVecDescr *)) \
    F(3, STATUS, int, cusparseBlockedEllGet, (struct cusparseSpMatDescr *, long *, long *, long *, long *, void **, void **, int *, int *, int *)) \
    F(3, STATUS, int, cusparseBsrSetStridedBatch, (struct cusparseSpMatDescr *, int, int64_t, int64_t, int64_t)) \
    F(3, STATUS, int, cusparseCbsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct cusparseMatDescr *const, struct float2 *, int *, int *)) \
    F(3, STATUS, int, cusparseCbsric02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCbsric02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCbsric02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsric02Info *, int *)) \
    F(3, STATUS, int, cusparseCbsric02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseCbsrilu02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCbsrilu02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCbsrilu02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseCbsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseCbsrilu02_numericBoost, (struct cusparseContext *, struct bsrilu02Info *, int, double *, struct float2 *)) \
    F(3, STATUS, int, cusparseCbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const int, const struct float2 *, const int, const struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cusparseCbsrmv, (struct cusparseContext *, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, const struct float2 *, const struct float2 *, struct float2 *)) \
    F(3, STATUS, int, cusparseCbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(3, STATUS, int, cusparseCbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(3, STATUS, int, cusparseCbsrsm2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrsm2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseCbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsm2Info *, const struct float2 *, int, struct float2 *, int, int, void *)) \
    F(3, STATUS, int, cusparseCbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(3, STATUS, int, cusparseCbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(3, STATUS, int, cusparseCbsrsv2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, int, struct bsrsv2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseCbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct bsrsv2Info *, const struct float2 *, struct float2 *, int, void *)) \
    F(3, STATUS, int, cusparseCbsrxmv, (struct cusparseContext *, int, int, int, int, int, int, const struct float2 *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const int *, const int *, int, const struct float2 *, const struct float2 *, struct float2 *)) \
    F(3, STATUS, int, cusparseCcsr2bsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct cusparseMatDescr *const, struct float2 *, int *, int *)) \
    F(3, STATUS, int, cusparseCcsr2csr_compress, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, const int *, struct float2 *, int *, int *, struct float2)) \
    F(3, STATUS, int, cusparseCcsr2csru, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseCcsr2gebsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, struct cusparseMatDescr *const, struct float2 *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseCcsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseCcsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCcsrcolor, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const float *, int *, int *, int *, struct cusparseColorInfo *const)) \
    F(3, STATUS, int, cusparseCcsrgeam2, (struct cusparseContext *, int, int, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, struct cusparseMatDescr *const, struct float2 *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseCcsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, const struct float2 *, struct cusparseMatDescr *const, int, const struct float2 *, const int *, const int *, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseCcsric02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCcsric02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCcsric02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, struct csric02Info *, int *)) \
    F(3, STATUS, int, cusparseCcsric02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, struct csric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseCcsrilu02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCcsrilu02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseCcsrilu02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, struct csrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseCcsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, const int *, struct csrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseCcsrilu02_numericBoost, (struct cusparseContext *, struct csrilu02Info *, int, double *, struct float2 *)) \
    F(3, STATUS, int, cusparseCcsru2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct float2 *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseCcsru2csr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct float2 *, const int *, int *, struct csru2csrInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseCgebsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, int, struct cusparseMatDescr *const, struct float2 *, int *, int *)) \
    F(3, STATUS, int, cusparseCgebsr2gebsc, (struct cusparseContext *, int, int, int, const struct float2 *, const int *, const int *, int, int, struct float2 *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseCgebsr2gebsc_bufferSize, (struct cusparseContext *, int, int, int, const struct float2 *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseCgebsr2gebsc_bufferSizeExt, (struct cusparseContext *, int, int, int, const struct float2 *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCgebsr2gebsr, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, int, struct cusparseMatDescr *const, struct float2 *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseCgebsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseCgebsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCgemvi, (struct cusparseContext *, int, int, int, const struct float2 *, const struct float2 *, int, int, const struct float2 *, const int *, const struct float2 *, struct float2 *, int, void *)) \
    F(3, STATUS, int, cusparseCgemvi_bufferSize, (struct cusparseContext *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseCgpsvInterleavedBatch, (struct cusparseContext *, int, int, struct float2 *, struct float2 *, struct float2 *, struct float2 *, struct float2 *, struct float2 *, int, void *)) \
    F(3, STATUS, int, cusparseCgpsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCgtsv2, (struct cusparseContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, struct float2 *, int, void *)) \
    F(3, STATUS, int, cusparseCgtsv2StridedBatch, (struct cusparseContext *, int, const struct float2 *, const struct float2 *, const struct float2 *, struct float2 *, int, int, void *)) \
    F(3, STATUS, int, cusparseCgtsv2StridedBatch_bufferSizeExt, (struct cusparseContext *, int, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCgtsv2_bufferSizeExt, (struct cusparseContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCgtsv2_nopivot, (struct cusparseContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, struct float2 *, int, void *)) \
    F(3, STATUS, int, cusparseCgtsv2_nopivot_bufferSizeExt, (struct cusparseContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCgtsvInterleavedBatch, (struct cusparseContext *, int, int, struct float2 *, struct float2 *, struct float2 *, struct float2 *, int, void *)) \
    F(3, STATUS, int, cusparseCgtsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const struct float2 *, const struct float2 *, const struct float2 *, const struct float2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCnnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, int, int *, int *)) \
    F(3, STATUS, int, cusparseCnnz_compress, (struct cusparseContext *, int, struct cusparseMatDescr *const, const struct float2 *, const int *, int *, int *, struct float2)) \
    F(3, STATUS, int, cusparseConstBlockedEllGet, (const struct cusparseSpMatDescr *, long *, long *, long *, long *, const void **, const void **, int *, int *, int *)) \
    F(3, STATUS, int, cusparseConstCooGet, (const struct cusparseSpMatDescr *, long *, long *, long *, const void **, const void **, const void **, int *, int *, int *)) \
    F(3, STATUS, int, cusparseConstCscGet, (const struct cusparseSpMatDescr *, long *, long *, long *, const void **, const void **, const void **, int *, int *, int *, int *)) \
    F(3, STATUS, int, cusparseConstCsrGet, (const struct cusparseSpMatDescr *, long *, long *, long *, const void **, const void **, const void **, int *, int *, int *, int *)) \
    F(3, STATUS, int, cusparseConstDnMatGet, (const struct cusparseDnMatDescr *, long *, long *, long *, const void **, int *, int *)) \
    F(3, STATUS, int, cusparseConstDnMatGetValues, (const struct cusparseDnMatDescr *, const void **)) \
    F(3, STATUS, int, cusparseConstDnVecGet, (const struct cusparseDnVecDescr *, long *, const void **, int *)) \
    F(3, STATUS, int, cusparseConstDnVecGetValues, (const struct cusparseDnVecDescr *, const void **)) \
    F(3, STATUS, int, cusparseConstSpMatGetValues, (const struct cusparseSpMatDescr *, const void **)) \
    F(3, STATUS, int, cusparseConstSpVecGet, (const struct cusparseSpVecDescr *, long *, long *, const void **, const void **, int *, int *, int *)) \
    F(3, STATUS, int, cusparseConstSpVecGetValues, (const struct cusparseSpVecDescr *, const void **)) \
    F(3, STATUS, int, cusparseCooGet, (struct cusparseSpMatDescr *, long *, long *, long *, void **, void **, void **, int *, int *, int *)) \
    F(3, STATUS, int, cusparseCooSetPointers, (struct cusparseSpMatDescr *, void *, void *, void *)) \
    F(3, STATUS, int, cusparseCooSetStridedBatch, (struct cusparseSpMatDescr *, int, int64_t)) \
    F(3, STATUS, int, cusparseCreate, (struct cusparseContext **)) \
    F(3, STATUS, int, cusparseCreateBlockedEll, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, void *, void *, int, int, int)) \
    F(3, STATUS, int, cusparseCreateBsr, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateBsric02Info, (struct bsric02Info **)) \
    F(3, STATUS, int, cusparseCreateBsrilu02Info, (struct bsrilu02Info **)) \
    F(3, STATUS, int, cusparseCreateBsrsm2Info, (struct bsrsm2Info **)) \
    F(3, STATUS, int, cusparseCreateBsrsv2Info, (struct bsrsv2Info **)) \
    F(3, STATUS, int, cusparseCreateColorInfo, (struct cusparseColorInfo **)) \
    F(3, STATUS, int, cusparseCreateConstBlockedEll, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, const void *, const void *, int, int, int)) \
    F(3, STATUS, int, cusparseCreateConstBsr, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateConstCoo, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int)) \
    F(3, STATUS, int, cusparseCreateConstCsc, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateConstCsr, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateConstDnMat, (const struct cusparseDnMatDescr **, int64_t, int64_t, int64_t, const void *, int, int)) \
    F(3, STATUS, int, cusparseCreateConstDnVec, (const struct cusparseDnVecDescr **, int64_t, const void *, int)) \
    F(3, STATUS, int, cusparseCreateConstSlicedEll, (const struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, int64_t, const void *, const void *, const void *, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateConstSpVec, (const struct cusparseSpVecDescr **, int64_t, int64_t, const void *, const void *, int, int, int)) \
    F(3, STATUS, int, cusparseCreateCoo, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int)) \
    F(3, STATUS, int, cusparseCreateCsc, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateCsr, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateCsric02Info, (struct csric02Info **)) \
    F(3, STATUS, int, cusparseCreateCsrilu02Info, (struct csrilu02Info **)) \
    F(3, STATUS, int, cusparseCreateCsru2csrInfo, (struct csru2csrInfo **)) \
    F(3, STATUS, int, cusparseCreateDnMat, (struct cusparseDnMatDescr **, int64_t, int64_t, int64_t, void *, int, int)) \
    F(3, STATUS, int, cusparseCreateDnVec, (struct cusparseDnVecDescr **, int64_t, void *, int)) \
    F(3, STATUS, int, cusparseCreateIdentityPermutation, (struct cusparseContext *, int, int *)) \
    F(3, STATUS, int, cusparseCreateMatDescr, (struct cusparseMatDescr **)) \
    F(3, STATUS, int, cusparseCreatePruneInfo, (struct pruneInfo **)) \
    F(3, STATUS, int, cusparseCreateSlicedEll, (struct cusparseSpMatDescr **, int64_t, int64_t, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int)) \
    F(3, STATUS, int, cusparseCreateSpVec, (struct cusparseSpVecDescr **, int64_t, int64_t, void *, void *, int, int, int)) \
    F(3, STATUS, int, cusparseCscGet, (struct cusparseSpMatDescr *, long *, long *, long *, void **, void **, void **, int *, int *, int *, int *)) \
    F(3, STATUS, int, cusparseCscSetPointers, (struct cusparseSpMatDescr *, void *, void *, void *)) \
    F(3, STATUS, int, cusparseCsr2cscEx2, (struct cusparseContext *, int, int, int, const void *, const int *, const int *, void *, int *, int *, int, int, int, int, void *)) \
    F(3, STATUS, int, cusparseCsr2cscEx2_bufferSize, (struct cusparseContext *, int, int, int, const void *, const int *, const int *, void *, int *, int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseCsrGet, (struct cusparseSpMatDescr *, long *, long *, long *, void **, void **, void **, int *, int *, int *, int *)) \
    F(3, STATUS, int, cusparseCsrSetPointers, (struct cusparseSpMatDescr *, void *, void *, void *)) \
    F(3, STATUS, int, cusparseCsrSetStridedBatch, (struct cusparseSpMatDescr *, int, int64_t, int64_t)) \
    F(3, STATUS, int, cusparseDbsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct cusparseMatDescr *const, double *, int *, int *)) \
    F(3, STATUS, int, cusparseDbsric02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDbsric02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDbsric02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsric02Info *, int *)) \
    F(3, STATUS, int, cusparseDbsric02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseDbsrilu02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDbsrilu02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDbsrilu02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseDbsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseDbsrilu02_numericBoost, (struct cusparseContext *, struct bsrilu02Info *, int, double *, double *)) \
    F(3, STATUS, int, cusparseDbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, const int, const double *, const int, const double *, double *, int)) \
    F(3, STATUS, int, cusparseDbsrmv, (struct cusparseContext *, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, int, const double *, const double *, double *)) \
    F(3, STATUS, int, cusparseDbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(3, STATUS, int, cusparseDbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(3, STATUS, int, cusparseDbsrsm2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrsm2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseDbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsm2Info *, const double *, int, double *, int, int, void *)) \
    F(3, STATUS, int, cusparseDbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(3, STATUS, int, cusparseDbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(3, STATUS, int, cusparseDbsrsv2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, int, struct bsrsv2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseDbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct bsrsv2Info *, const double *, double *, int, void *)) \
    F(3, STATUS, int, cusparseDbsrxmv, (struct cusparseContext *, int, int, int, int, int, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, const int *, const int *, int, const double *, const double *, double *)) \
    F(3, STATUS, int, cusparseDcsr2bsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct cusparseMatDescr *const, double *, int *, int *)) \
    F(3, STATUS, int, cusparseDcsr2csr_compress, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, const int *, double *, int *, int *, double)) \
    F(3, STATUS, int, cusparseDcsr2csru, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseDcsr2gebsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, struct cusparseMatDescr *const, double *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseDcsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseDcsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDcsrcolor, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, int *, int *, int *, struct cusparseColorInfo *const)) \
    F(3, STATUS, int, cusparseDcsrgeam2, (struct cusparseContext *, int, int, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, struct cusparseMatDescr *const, double *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseDcsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, int, const double *, const int *, const int *, struct cusparseMatDescr *const, const double *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseDcsric02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDcsric02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDcsric02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, struct csric02Info *, int *)) \
    F(3, STATUS, int, cusparseDcsric02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, struct csric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseDcsrilu02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDcsrilu02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseDcsrilu02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, struct csrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseDcsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, double *, const int *, const int *, struct csrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseDcsrilu02_numericBoost, (struct cusparseContext *, struct csrilu02Info *, int, double *, double *)) \
    F(3, STATUS, int, cusparseDcsru2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, double *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseDcsru2csr_bufferSizeExt, (struct cusparseContext *, int, int, int, double *, const int *, int *, struct csru2csrInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseDenseToSparse_analysis, (struct cusparseContext *, const struct cusparseDnMatDescr *, struct cusparseSpMatDescr *, int, void *)) \
    F(3, STATUS, int, cusparseDenseToSparse_bufferSize, (struct cusparseContext *, const struct cusparseDnMatDescr *, struct cusparseSpMatDescr *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDenseToSparse_convert, (struct cusparseContext *, const struct cusparseDnMatDescr *, struct cusparseSpMatDescr *, int, void *)) \
    F(3, STATUS, int, cusparseDestroy, (struct cusparseContext *)) \
    F(3, STATUS, int, cusparseDestroyBsric02Info, (struct bsric02Info *)) \
    F(3, STATUS, int, cusparseDestroyBsrilu02Info, (struct bsrilu02Info *)) \
    F(3, STATUS, int, cusparseDestroyBsrsm2Info, (struct bsrsm2Info *)) \
    F(3, STATUS, int, cusparseDestroyBsrsv2Info, (struct bsrsv2Info *)) \
    F(3, STATUS, int, cusparseDestroyColorInfo, (struct cusparseColorInfo *)) \
    F(3, STATUS, int, cusparseDestroyCsric02Info, (struct csric02Info *)) \
    F(3, STATUS, int, cusparseDestroyCsrilu02Info, (struct csrilu02Info *)) \
    F(3, STATUS, int, cusparseDestroyCsru2csrInfo, (struct csru2csrInfo *)) \
    F(3, STATUS, int, cusparseDestroyDnMat, (const struct cusparseDnMatDescr *)) \
    F(3, STATUS, int, cusparseDestroyDnVec, (const struct cusparseDnVecDescr *)) \
    F(3, STATUS, int, cusparseDestroyMatDescr, (struct cusparseMatDescr *)) \
    F(3, STATUS, int, cusparseDestroyPruneInfo, (struct pruneInfo *)) \
    F(3, STATUS, int, cusparseDestroySpMat, (const struct cusparseSpMatDescr *)) \
    F(3, STATUS, int, cusparseDestroySpVec, (const struct cusparseSpVecDescr *)) \
    F(3, STATUS, int, cusparseDgebsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, int, struct cusparseMatDescr *const, double *, int *, int *)) \
    F(3, STATUS, int, cusparseDgebsr2gebsc, (struct cusparseContext *, int, int, int, const double *, const int *, const int *, int, int, double *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseDgebsr2gebsc_bufferSize, (struct cusparseContext *, int, int, int, const double *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseDgebsr2gebsc_bufferSizeExt, (struct cusparseContext *, int, int, int, const double *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDgebsr2gebsr, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, int, struct cusparseMatDescr *const, double *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseDgebsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseDgebsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDgemvi, (struct cusparseContext *, int, int, int, const double *, const double *, int, int, const double *, const int *, const double *, double *, int, void *)) \
    F(3, STATUS, int, cusparseDgemvi_bufferSize, (struct cusparseContext *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseDgpsvInterleavedBatch, (struct cusparseContext *, int, int, double *, double *, double *, double *, double *, double *, int, void *)) \
    F(3, STATUS, int, cusparseDgpsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const double *, const double *, const double *, const double *, const double *, const double *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDgtsv2, (struct cusparseContext *, int, int, const double *, const double *, const double *, double *, int, void *)) \
    F(3, STATUS, int, cusparseDgtsv2StridedBatch, (struct cusparseContext *, int, const double *, const double *, const double *, double *, int, int, void *)) \
    F(3, STATUS, int, cusparseDgtsv2StridedBatch_bufferSizeExt, (struct cusparseContext *, int, const double *, const double *, const double *, const double *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDgtsv2_bufferSizeExt, (struct cusparseContext *, int, int, const double *, const double *, const double *, const double *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDgtsv2_nopivot, (struct cusparseContext *, int, int, const double *, const double *, const double *, double *, int, void *)) \
    F(3, STATUS, int, cusparseDgtsv2_nopivot_bufferSizeExt, (struct cusparseContext *, int, int, const double *, const double *, const double *, const double *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDgtsvInterleavedBatch, (struct cusparseContext *, int, int, double *, double *, double *, double *, int, void *)) \
    F(3, STATUS, int, cusparseDgtsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const double *, const double *, const double *, const double *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseDnMatGet, (struct cusparseDnMatDescr *, long *, long *, long *, void **, int *, int *)) \
    F(3, STATUS, int, cusparseDnMatGetStridedBatch, (const struct cusparseDnMatDescr *, int *, long *)) \
    F(3, STATUS, int, cusparseDnMatGetValues, (struct cusparseDnMatDescr *, void **)) \
    F(3, STATUS, int, cusparseDnMatSetStridedBatch, (struct cusparseDnMatDescr *, int, int64_t)) \
    F(3, STATUS, int, cusparseDnMatSetValues, (struct cusparseDnMatDescr *, void *)) \
    F(3, STATUS, int, cusparseDnVecGet, (struct cusparseDnVecDescr *, long *, void **, int *)) \
    F(3, STATUS, int, cusparseDnVecGetValues, (struct cusparseDnVecDescr *, void **)) \
    F(3, STATUS, int, cusparseDnVecSetValues, (struct cusparseDnVecDescr *, void *)) \
    F(3, STATUS, int, cusparseDnnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, int, int *, int *)) \
    F(3, STATUS, int, cusparseDnnz_compress, (struct cusparseContext *, int, struct cusparseMatDescr *const, const double *, const int *, int *, int *, double)) \
    F(3, STATUS, int, cusparseDpruneCsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, double *, const int *, int *, void *)) \
    F(3, STATUS, int, cusparseDpruneCsr2csrByPercentage, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, float, struct cusparseMatDescr *const, double *, const int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseDpruneCsr2csrByPercentage_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, float, struct cusparseMatDescr *const, const double *, const int *, const int *, struct pruneInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseDpruneCsr2csrNnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(3, STATUS, int, cusparseDpruneCsr2csrNnzByPercentage, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, float, struct cusparseMatDescr *const, int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseDpruneCsr2csr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseDpruneDense2csr, (struct cusparseContext *, int, int, const double *, int, const double *, struct cusparseMatDescr *const, double *, const int *, int *, void *)) \
    F(3, STATUS, int, cusparseDpruneDense2csrByPercentage, (struct cusparseContext *, int, int, const double *, int, float, struct cusparseMatDescr *const, double *, const int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseDpruneDense2csrByPercentage_bufferSizeExt, (struct cusparseContext *, int, int, const double *, int, float, struct cusparseMatDescr *const, const double *, const int *, const int *, struct pruneInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseDpruneDense2csrNnz, (struct cusparseContext *, int, int, const double *, int, const double *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(3, STATUS, int, cusparseDpruneDense2csrNnzByPercentage, (struct cusparseContext *, int, int, const double *, int, float, struct cusparseMatDescr *const, int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseDpruneDense2csr_bufferSizeExt, (struct cusparseContext *, int, int, const double *, int, const double *, struct cusparseMatDescr *const, const double *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseGather, (struct cusparseContext *, const struct cusparseDnVecDescr *, struct cusparseSpVecDescr *)) \
    F(3, TEXT, const char *, cusparseGetErrorName, (int)) \
    F(3, TEXT, const char *, cusparseGetErrorString, (int)) \
    F(3, STATUS, int, cusparseGetMatDiagType, (struct cusparseMatDescr *const)) \
    F(3, STATUS, int, cusparseGetMatFillMode, (struct cusparseMatDescr *const)) \
    F(3, STATUS, int, cusparseGetMatIndexBase, (struct cusparseMatDescr *const)) \
    F(3, STATUS, int, cusparseGetMatType, (struct cusparseMatDescr *const)) \
    F(3, STATUS, int, cusparseGetPointerMode, (struct cusparseContext *, int *)) \
    F(3, STATUS, int, cusparseGetProperty, (int, int *)) \
    F(3, STATUS, int, cusparseGetStream, (struct cusparseContext *, struct CUstream_st **)) \
    F(3, STATUS, int, cusparseGetVersion, (struct cusparseContext *, int *)) \
    F(3, STATUS, int, cusparseLoggerForceDisable, (void)) \
    F(3, STATUS, int, cusparseLoggerOpenFile, (const char *)) \
    F(3, STATUS, int, cusparseLoggerSetCallback, (void *)) \
    F(3, STATUS, int, cusparseLoggerSetFile, (struct _IO_FILE *)) \
    F(3, STATUS, int, cusparseLoggerSetLevel, (int)) \
    F(3, STATUS, int, cusparseLoggerSetMask, (int)) \
    F(3, STATUS, int, cusparseRot, (struct cusparseContext *, const void *, const void *, struct cusparseSpVecDescr *, struct cusparseDnVecDescr *)) \
    F(3, STATUS, int, cusparseSDDMM, (struct cusparseContext *, int, int, const void *, const struct cusparseDnMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, void *)) \
    F(3, STATUS, int, cusparseSDDMM_bufferSize, (struct cusparseContext *, int, int, const void *, const struct cusparseDnMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSDDMM_preprocess, (struct cusparseContext *, int, int, const void *, const struct cusparseDnMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, void *)) \
    F(3, STATUS, int, cusparseSbsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct cusparseMatDescr *const, float *, int *, int *)) \
    F(3, STATUS, int, cusparseSbsric02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseSbsric02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseSbsric02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsric02Info *, int *)) \
    F(3, STATUS, int, cusparseSbsric02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseSbsrilu02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseSbsrilu02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseSbsrilu02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseSbsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseSbsrilu02_numericBoost, (struct cusparseContext *, struct bsrilu02Info *, int, double *, float *)) \
    F(3, STATUS, int, cusparseSbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, const int, const float *, const int, const float *, float *, int)) \
    F(3, STATUS, int, cusparseSbsrmv, (struct cusparseContext *, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, int, const float *, const float *, float *)) \
    F(3, STATUS, int, cusparseSbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(3, STATUS, int, cusparseSbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(3, STATUS, int, cusparseSbsrsm2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrsm2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseSbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsm2Info *, const float *, int, float *, int, int, void *)) \
    F(3, STATUS, int, cusparseSbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(3, STATUS, int, cusparseSbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(3, STATUS, int, cusparseSbsrsv2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, int, struct bsrsv2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseSbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct bsrsv2Info *, const float *, float *, int, void *)) \
    F(3, STATUS, int, cusparseSbsrxmv, (struct cusparseContext *, int, int, int, int, int, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, const int *, const int *, int, const float *, const float *, float *)) \
    F(3, STATUS, int, cusparseScatter, (struct cusparseContext *, const struct cusparseSpVecDescr *, struct cusparseDnVecDescr *)) \
    F(3, STATUS, int, cusparseScsr2bsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct cusparseMatDescr *const, float *, int *, int *)) \
    F(3, STATUS, int, cusparseScsr2csr_compress, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, const int *, float *, int *, int *, float)) \
    F(3, STATUS, int, cusparseScsr2csru, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseScsr2gebsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, struct cusparseMatDescr *const, float *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseScsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseScsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseScsrcolor, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, int *, int *, int *, struct cusparseColorInfo *const)) \
    F(3, STATUS, int, cusparseScsrgeam2, (struct cusparseContext *, int, int, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, struct cusparseMatDescr *const, float *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseScsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, int, const float *, const int *, const int *, struct cusparseMatDescr *const, const float *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseScsric02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseScsric02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseScsric02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, struct csric02Info *, int *)) \
    F(3, STATUS, int, cusparseScsric02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, struct csric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseScsrilu02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseScsrilu02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseScsrilu02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, struct csrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseScsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, float *, const int *, const int *, struct csrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseScsrilu02_numericBoost, (struct cusparseContext *, struct csrilu02Info *, int, double *, float *)) \
    F(3, STATUS, int, cusparseScsru2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, float *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseScsru2csr_bufferSizeExt, (struct cusparseContext *, int, int, int, float *, const int *, int *, struct csru2csrInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseSetMatDiagType, (struct cusparseMatDescr *, int)) \
    F(3, STATUS, int, cusparseSetMatFillMode, (struct cusparseMatDescr *, int)) \
    F(3, STATUS, int, cusparseSetMatIndexBase, (struct cusparseMatDescr *, int)) \
    F(3, STATUS, int, cusparseSetMatType, (struct cusparseMatDescr *, int)) \
    F(3, STATUS, int, cusparseSetPointerMode, (struct cusparseContext *, int)) \
    F(3, STATUS, int, cusparseSetStream, (struct cusparseContext *, struct CUstream_st *)) \
    F(3, STATUS, int, cusparseSgebsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, int, struct cusparseMatDescr *const, float *, int *, int *)) \
    F(3, STATUS, int, cusparseSgebsr2gebsc, (struct cusparseContext *, int, int, int, const float *, const int *, const int *, int, int, float *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseSgebsr2gebsc_bufferSize, (struct cusparseContext *, int, int, int, const float *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseSgebsr2gebsc_bufferSizeExt, (struct cusparseContext *, int, int, int, const float *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSgebsr2gebsr, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, int, struct cusparseMatDescr *const, float *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseSgebsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseSgebsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSgemvi, (struct cusparseContext *, int, int, int, const float *, const float *, int, int, const float *, const int *, const float *, float *, int, void *)) \
    F(3, STATUS, int, cusparseSgemvi_bufferSize, (struct cusparseContext *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseSgpsvInterleavedBatch, (struct cusparseContext *, int, int, float *, float *, float *, float *, float *, float *, int, void *)) \
    F(3, STATUS, int, cusparseSgpsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const float *, const float *, const float *, const float *, const float *, const float *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSgtsv2, (struct cusparseContext *, int, int, const float *, const float *, const float *, float *, int, void *)) \
    F(3, STATUS, int, cusparseSgtsv2StridedBatch, (struct cusparseContext *, int, const float *, const float *, const float *, float *, int, int, void *)) \
    F(3, STATUS, int, cusparseSgtsv2StridedBatch_bufferSizeExt, (struct cusparseContext *, int, const float *, const float *, const float *, const float *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSgtsv2_bufferSizeExt, (struct cusparseContext *, int, int, const float *, const float *, const float *, const float *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSgtsv2_nopivot, (struct cusparseContext *, int, int, const float *, const float *, const float *, float *, int, void *)) \
    F(3, STATUS, int, cusparseSgtsv2_nopivot_bufferSizeExt, (struct cusparseContext *, int, int, const float *, const float *, const float *, const float *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSgtsvInterleavedBatch, (struct cusparseContext *, int, int, float *, float *, float *, float *, int, void *)) \
    F(3, STATUS, int, cusparseSgtsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const float *, const float *, const float *, const float *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSnnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, int, int *, int *)) \
    F(3, STATUS, int, cusparseSnnz_compress, (struct cusparseContext *, int, struct cusparseMatDescr *const, const float *, const int *, int *, int *, float)) \
    F(2, STATUS, int, cusparseSpGEAM, (struct cusparseContext *, int, int, const void *, struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEAMDescr *, void *)) \
    F(2, STATUS, int, cusparseSpGEAM_bufferSize, (struct cusparseContext *, int, int, const void *, struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEAMDescr *, unsigned long *)) \
    F(2, STATUS, int, cusparseSpGEAM_createDescr, (struct cusparseSpGEAMDescr **)) \
    F(2, STATUS, int, cusparseSpGEAM_destroyDescr, (struct cusparseSpGEAMDescr *)) \
    F(2, STATUS, int, cusparseSpGEAM_nnz, (struct cusparseContext *, int, int, const void *, struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEAMDescr *, void *)) \
    F(3, STATUS, int, cusparseSpGEMM_compute, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(3, STATUS, int, cusparseSpGEMM_copy, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *)) \
    F(3, STATUS, int, cusparseSpGEMM_createDescr, (struct cusparseSpGEMMDescr **)) \
    F(3, STATUS, int, cusparseSpGEMM_destroyDescr, (struct cusparseSpGEMMDescr *)) \
    F(3, STATUS, int, cusparseSpGEMM_estimateMemory, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, float, unsigned long *, void *, unsigned long *)) \
    F(3, STATUS, int, cusparseSpGEMM_getNumProducts, (struct cusparseSpGEMMDescr *, long *)) \
    F(3, STATUS, int, cusparseSpGEMM_workEstimation, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(3, STATUS, int, cusparseSpGEMMreuse_compute, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, const void *, struct cusparseSpMatDescr *, int, int, struct cusparseSpGEMMDescr *)) \
    F(3, STATUS, int, cusparseSpGEMMreuse_copy, (struct cusparseContext *, int, int, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, struct cusparseSpMatDescr *, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(3, STATUS, int, cusparseSpGEMMreuse_nnz, (struct cusparseContext *, int, int, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, struct cusparseSpMatDescr *, int, struct cusparseSpGEMMDescr *, unsigned long *, void *, unsigned long *, void *, unsigned long *, void *)) \
    F(3, STATUS, int, cusparseSpGEMMreuse_workEstimation, (struct cusparseContext *, int, int, const struct cusparseSpMatDescr *, const struct cusparseSpMatDescr *, struct cusparseSpMatDescr *, int, struct cusparseSpGEMMDescr *, unsigned long *, void *)) \
    F(3, STATUS, int, cusparseSpMM, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseDnMatDescr *, int, int, void *)) \
    F(3, STATUS, int, cusparseSpMMOp, (struct cusparseSpMMOpPlan *, void *)) \
    F(3, STATUS, int, cusparseSpMMOp_createPlan, (struct cusparseContext *, struct cusparseSpMMOpPlan **, int, int, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, const void *, size_t, const void *, size_t, const void *, size_t, unsigned long *)) \
    F(3, STATUS, int, cusparseSpMMOp_destroyPlan, (struct cusparseSpMMOpPlan *)) \
    F(3, STATUS, int, cusparseSpMM_bufferSize, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseDnMatDescr *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSpMM_preprocess, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, const void *, struct cusparseDnMatDescr *, int, int, void *)) \
    F(3, STATUS, int, cusparseSpMV, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, const void *, struct cusparseDnVecDescr *, int, int, void *)) \
    F(3, STATUS, int, cusparseSpMV_bufferSize, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, const void *, struct cusparseDnVecDescr *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSpMV_preprocess, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, const void *, struct cusparseDnVecDescr *, int, int, void *)) \
    F(3, STATUS, int, cusparseSpMatGetAttribute, (const struct cusparseSpMatDescr *, int, void *, size_t)) \
    F(3, STATUS, int, cusparseSpMatGetFormat, (const struct cusparseSpMatDescr *, int *)) \
    F(3, STATUS, int, cusparseSpMatGetIndexBase, (const struct cusparseSpMatDescr *, int *)) \
    F(3, STATUS, int, cusparseSpMatGetSize, (const struct cusparseSpMatDescr *, long *, long *, long *)) \
    F(3, STATUS, int, cusparseSpMatGetStridedBatch, (const struct cusparseSpMatDescr *, int *)) \
    F(3, STATUS, int, cusparseSpMatGetValues, (struct cusparseSpMatDescr *, void **)) \
    F(3, STATUS, int, cusparseSpMatSetAttribute, (struct cusparseSpMatDescr *, int, void *, size_t)) \
    F(3, STATUS, int, cusparseSpMatSetValues, (struct cusparseSpMatDescr *, void *)) \
    F(3, STATUS, int, cusparseSpSM_analysis, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, struct cusparseSpSMDescr *, void *)) \
    F(3, STATUS, int, cusparseSpSM_bufferSize, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, struct cusparseSpSMDescr *, unsigned long *)) \
    F(3, STATUS, int, cusparseSpSM_createDescr, (struct cusparseSpSMDescr **)) \
    F(3, STATUS, int, cusparseSpSM_destroyDescr, (struct cusparseSpSMDescr *)) \
    F(3, STATUS, int, cusparseSpSM_solve, (struct cusparseContext *, int, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnMatDescr *, struct cusparseDnMatDescr *, int, int, struct cusparseSpSMDescr *)) \
    F(3, STATUS, int, cusparseSpSM_updateMatrix, (struct cusparseContext *, struct cusparseSpSMDescr *, void *, int)) \
    F(3, STATUS, int, cusparseSpSV_analysis, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, struct cusparseDnVecDescr *, int, int, struct cusparseSpSVDescr *, void *)) \
    F(3, STATUS, int, cusparseSpSV_bufferSize, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, struct cusparseDnVecDescr *, int, int, struct cusparseSpSVDescr *, unsigned long *)) \
    F(3, STATUS, int, cusparseSpSV_createDescr, (struct cusparseSpSVDescr **)) \
    F(3, STATUS, int, cusparseSpSV_destroyDescr, (struct cusparseSpSVDescr *)) \
    F(3, STATUS, int, cusparseSpSV_solve, (struct cusparseContext *, int, const void *, const struct cusparseSpMatDescr *, const struct cusparseDnVecDescr *, struct cusparseDnVecDescr *, int, int, struct cusparseSpSVDescr *)) \
    F(3, STATUS, int, cusparseSpSV_updateMatrix, (struct cusparseContext *, struct cusparseSpSVDescr *, void *, int)) \
    F(3, STATUS, int, cusparseSpVV, (struct cusparseContext *, int, const struct cusparseSpVecDescr *, const struct cusparseDnVecDescr *, void *, int, void *)) \
    F(3, STATUS, int, cusparseSpVV_bufferSize, (struct cusparseContext *, int, const struct cusparseSpVecDescr *, const struct cusparseDnVecDescr *, const void *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSpVecGet, (struct cusparseSpVecDescr *, long *, long *, void **, void **, int *, int *, int *)) \
    F(3, STATUS, int, cusparseSpVecGetIndexBase, (const struct cusparseSpVecDescr *, int *)) \
    F(3, STATUS, int, cusparseSpVecGetValues, (struct cusparseSpVecDescr *, void **)) \
    F(3, STATUS, int, cusparseSpVecSetValues, (struct cusparseSpVecDescr *, void *)) \
    F(3, STATUS, int, cusparseSparseToDense, (struct cusparseContext *, const struct cusparseSpMatDescr *, struct cusparseDnMatDescr *, int, void *)) \
    F(3, STATUS, int, cusparseSparseToDense_bufferSize, (struct cusparseContext *, const struct cusparseSpMatDescr *, struct cusparseDnMatDescr *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseSpruneCsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, float *, const int *, int *, void *)) \
    F(3, STATUS, int, cusparseSpruneCsr2csrByPercentage, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, float, struct cusparseMatDescr *const, float *, const int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseSpruneCsr2csrByPercentage_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, float, struct cusparseMatDescr *const, const float *, const int *, const int *, struct pruneInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseSpruneCsr2csrNnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(3, STATUS, int, cusparseSpruneCsr2csrNnzByPercentage, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, float, struct cusparseMatDescr *const, int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseSpruneCsr2csr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseSpruneDense2csr, (struct cusparseContext *, int, int, const float *, int, const float *, struct cusparseMatDescr *const, float *, const int *, int *, void *)) \
    F(3, STATUS, int, cusparseSpruneDense2csrByPercentage, (struct cusparseContext *, int, int, const float *, int, float, struct cusparseMatDescr *const, float *, const int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseSpruneDense2csrByPercentage_bufferSizeExt, (struct cusparseContext *, int, int, const float *, int, float, struct cusparseMatDescr *const, const float *, const int *, const int *, struct pruneInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseSpruneDense2csrNnz, (struct cusparseContext *, int, int, const float *, int, const float *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(3, STATUS, int, cusparseSpruneDense2csrNnzByPercentage, (struct cusparseContext *, int, int, const float *, int, float, struct cusparseMatDescr *const, int *, int *, struct pruneInfo *, void *)) \
    F(3, STATUS, int, cusparseSpruneDense2csr_bufferSizeExt, (struct cusparseContext *, int, int, const float *, int, const float *, struct cusparseMatDescr *const, const float *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseXbsric02_zeroPivot, (struct cusparseContext *, struct bsric02Info *, int *)) \
    F(3, STATUS, int, cusparseXbsrilu02_zeroPivot, (struct cusparseContext *, struct bsrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseXbsrsm2_zeroPivot, (struct cusparseContext *, struct bsrsm2Info *, int *)) \
    F(3, STATUS, int, cusparseXbsrsv2_zeroPivot, (struct cusparseContext *, struct bsrsv2Info *, int *)) \
    F(3, STATUS, int, cusparseXcoo2csr, (struct cusparseContext *, const int *, int, int, int *, int)) \
    F(3, STATUS, int, cusparseXcoosortByColumn, (struct cusparseContext *, int, int, int, int *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseXcoosortByRow, (struct cusparseContext *, int, int, int, int *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseXcoosort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseXcscsort, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseXcscsort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseXcsr2bsrNnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, const int *, int, struct cusparseMatDescr *const, int *, int *)) \
    F(3, STATUS, int, cusparseXcsr2coo, (struct cusparseContext *, const int *, int, int, int *, int)) \
    F(3, STATUS, int, cusparseXcsr2gebsrNnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, const int *, struct cusparseMatDescr *const, int *, int, int, int *, void *)) \
    F(3, STATUS, int, cusparseXcsrgeam2Nnz, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, int, const int *, const int *, struct cusparseMatDescr *const, int, const int *, const int *, struct cusparseMatDescr *const, int *, int *, void *)) \
    F(3, STATUS, int, cusparseXcsric02_zeroPivot, (struct cusparseContext *, struct csric02Info *, int *)) \
    F(3, STATUS, int, cusparseXcsrilu02_zeroPivot, (struct cusparseContext *, struct csrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseXcsrsort, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseXcsrsort_bufferSizeExt, (struct cusparseContext *, int, int, int, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseXgebsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const int *, const int *, int, int, struct cusparseMatDescr *const, int *, int *)) \
    F(3, STATUS, int, cusparseXgebsr2gebsrNnz, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const int *, const int *, int, int, struct cusparseMatDescr *const, int *, int, int, int *, void *)) \
    F(3, STATUS, int, cusparseZbsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct cusparseMatDescr *const, struct double2 *, int *, int *)) \
    F(3, STATUS, int, cusparseZbsric02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZbsric02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZbsric02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsric02Info *, int *)) \
    F(3, STATUS, int, cusparseZbsric02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseZbsrilu02, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZbsrilu02_analysis, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZbsrilu02_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseZbsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseZbsrilu02_numericBoost, (struct cusparseContext *, struct bsrilu02Info *, int, double *, struct double2 *)) \
    F(3, STATUS, int, cusparseZbsrmm, (struct cusparseContext *, int, int, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const int, const struct double2 *, const int, const struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cusparseZbsrmv, (struct cusparseContext *, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, const struct double2 *, const struct double2 *, struct double2 *)) \
    F(3, STATUS, int, cusparseZbsrsm2_analysis, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsm2Info *, int, void *)) \
    F(3, STATUS, int, cusparseZbsrsm2_bufferSize, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrsm2Info *, int *)) \
    F(3, STATUS, int, cusparseZbsrsm2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrsm2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseZbsrsm2_solve, (struct cusparseContext *, int, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsm2Info *, const struct double2 *, int, struct double2 *, int, int, void *)) \
    F(3, STATUS, int, cusparseZbsrsv2_analysis, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsv2Info *, int, void *)) \
    F(3, STATUS, int, cusparseZbsrsv2_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrsv2Info *, int *)) \
    F(3, STATUS, int, cusparseZbsrsv2_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, int, struct bsrsv2Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseZbsrsv2_solve, (struct cusparseContext *, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct bsrsv2Info *, const struct double2 *, struct double2 *, int, void *)) \
    F(3, STATUS, int, cusparseZbsrxmv, (struct cusparseContext *, int, int, int, int, int, int, const struct double2 *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const int *, const int *, int, const struct double2 *, const struct double2 *, struct double2 *)) \
    F(3, STATUS, int, cusparseZcsr2bsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct cusparseMatDescr *const, struct double2 *, int *, int *)) \
    F(3, STATUS, int, cusparseZcsr2csr_compress, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, const int *, struct double2 *, int *, int *, struct double2)) \
    F(3, STATUS, int, cusparseZcsr2csru, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseZcsr2gebsr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, struct cusparseMatDescr *const, struct double2 *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseZcsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseZcsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZcsrcolor, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const double *, int *, int *, int *, struct cusparseColorInfo *const)) \
    F(3, STATUS, int, cusparseZcsrgeam2, (struct cusparseContext *, int, int, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, struct cusparseMatDescr *const, struct double2 *, int *, int *, void *)) \
    F(3, STATUS, int, cusparseZcsrgeam2_bufferSizeExt, (struct cusparseContext *, int, int, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, const struct double2 *, struct cusparseMatDescr *const, int, const struct double2 *, const int *, const int *, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusparseZcsric02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZcsric02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, struct csric02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZcsric02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, struct csric02Info *, int *)) \
    F(3, STATUS, int, cusparseZcsric02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, struct csric02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseZcsrilu02, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZcsrilu02_analysis, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, struct csrilu02Info *, int, void *)) \
    F(3, STATUS, int, cusparseZcsrilu02_bufferSize, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, struct csrilu02Info *, int *)) \
    F(3, STATUS, int, cusparseZcsrilu02_bufferSizeExt, (struct cusparseContext *, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, const int *, struct csrilu02Info *, unsigned long *)) \
    F(3, STATUS, int, cusparseZcsrilu02_numericBoost, (struct cusparseContext *, struct csrilu02Info *, int, double *, struct double2 *)) \
    F(3, STATUS, int, cusparseZcsru2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, struct double2 *, const int *, int *, struct csru2csrInfo *, void *)) \
    F(3, STATUS, int, cusparseZcsru2csr_bufferSizeExt, (struct cusparseContext *, int, int, int, struct double2 *, const int *, int *, struct csru2csrInfo *, unsigned long *)) \
    F(3, STATUS, int, cusparseZgebsr2csr, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, int, struct cusparseMatDescr *const, struct double2 *, int *, int *)) \
    F(3, STATUS, int, cusparseZgebsr2gebsc, (struct cusparseContext *, int, int, int, const struct double2 *, const int *, const int *, int, int, struct double2 *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseZgebsr2gebsc_bufferSize, (struct cusparseContext *, int, int, int, const struct double2 *, const int *, const int *, int, int, int *)) \
    F(3, STATUS, int, cusparseZgebsr2gebsc_bufferSizeExt, (struct cusparseContext *, int, int, int, const struct double2 *, const int *, const int *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZgebsr2gebsr, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, int, struct cusparseMatDescr *const, struct double2 *, int *, int *, int, int, void *)) \
    F(3, STATUS, int, cusparseZgebsr2gebsr_bufferSize, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseZgebsr2gebsr_bufferSizeExt, (struct cusparseContext *, int, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZgemvi, (struct cusparseContext *, int, int, int, const struct double2 *, const struct double2 *, int, int, const struct double2 *, const int *, const struct double2 *, struct double2 *, int, void *)) \
    F(3, STATUS, int, cusparseZgemvi_bufferSize, (struct cusparseContext *, int, int, int, int, int *)) \
    F(3, STATUS, int, cusparseZgpsvInterleavedBatch, (struct cusparseContext *, int, int, struct double2 *, struct double2 *, struct double2 *, struct double2 *, struct double2 *, struct double2 *, int, void *)) \
    F(3, STATUS, int, cusparseZgpsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZgtsv2, (struct cusparseContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, struct double2 *, int, void *)) \
    F(3, STATUS, int, cusparseZgtsv2StridedBatch, (struct cusparseContext *, int, const struct double2 *, const struct double2 *, const struct double2 *, struct double2 *, int, int, void *)) \
    F(3, STATUS, int, cusparseZgtsv2StridedBatch_bufferSizeExt, (struct cusparseContext *, int, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZgtsv2_bufferSizeExt, (struct cusparseContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZgtsv2_nopivot, (struct cusparseContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, struct double2 *, int, void *)) \
    F(3, STATUS, int, cusparseZgtsv2_nopivot_bufferSizeExt, (struct cusparseContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZgtsvInterleavedBatch, (struct cusparseContext *, int, int, struct double2 *, struct double2 *, struct double2 *, struct double2 *, int, void *)) \
    F(3, STATUS, int, cusparseZgtsvInterleavedBatch_bufferSizeExt, (struct cusparseContext *, int, int, const struct double2 *, const struct double2 *, const struct double2 *, const struct double2 *, int, unsigned long *)) \
    F(3, STATUS, int, cusparseZnnz, (struct cusparseContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, int, int *, int *)) \
    F(3, STATUS, int, cusparseZnnz_compress, (struct cusparseContext *, int, struct cusparseMatDescr *const, const struct double2 *, const int *, int *, int *, struct double2))

#endif
