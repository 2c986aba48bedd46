/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cusolver, written by scripts/library_tables.py from the
 * headers of cusolver 11.6.1.9 (CUDA 12) and cusolver 12.4.1.2 (CUDA 13). Do not edit.
 * VS_CUSOLVER_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_CUSOLVER_API_H
#define VS_CUSOLVER_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUSOLVERDN_GETRF = 0,
    CUSOLVERDN_POTRF = 1,
    CUSOLVER_DETERMINISTIC_RESULTS = 1,
    CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 2,
    CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1,
    CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3,
    CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_NOT_SUPPORTED = 9,
    CUSOLVER_EIG_MODE_VECTOR = 1,
};

#define CUSOLVER_VER_BUILD 2
#define CUSOLVER_VER_MAJOR 12
#define CUSOLVER_VER_MINOR 4
#define CUSOLVER_VER_PATCH 1

struct CUstream_st;
struct _IO_FILE;
struct csrqrInfo;
struct cusolverDnContext;
struct cusolverDnIRSInfos;
struct cusolverDnIRSParams;
struct cusolverDnParams;
struct cusolverMgContext;
struct cusolverRfCommon;
struct cusolverSpContext;
struct cusparseMatDescr;
struct double2;
struct float2;
struct gesvdjInfo;
struct syevjInfo;


#define VS_CUSOLVER_FUNCTIONS(F) \
    F(3, STATUS, int, cusolverDnCCgels, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCCgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCCgesv, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCCgesv_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCEgels, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCEgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCEgesv, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCEgesv_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCKgels, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCKgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCKgesv, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCKgesv_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCYgels, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCYgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct float2 *, int, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCYgesv, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnCYgesv_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, struct float2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnCgebrd, (struct cusolverDnContext *, int, int, struct float2 *, int, float *, float *, struct float2 *, struct float2 *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCgebrd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnCgeqrf, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCgeqrf_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, struct float2 *, int, float *, struct float2 *, int, struct float2 *, int, struct float2 *, int, float *, int *)) \
    F(3, STATUS, int, cusolverDnCgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnCgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, long long, float *, long long, struct float2 *, int, long long, struct float2 *, int, long long, struct float2 *, int, int *, double *, int)) \
    F(3, STATUS, int, cusolverDnCgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, long long, const float *, long long, const struct float2 *, int, long long, const struct float2 *, int, long long, int *, int)) \
    F(3, STATUS, int, cusolverDnCgesvdj, (struct cusolverDnContext *, int, int, int, int, struct float2 *, int, float *, struct float2 *, int, struct float2 *, int, struct float2 *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnCgesvdjBatched, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, struct float2 *, int, struct float2 *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnCgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, const struct float2 *, int, const struct float2 *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnCgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, const float *, const struct float2 *, int, const struct float2 *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnCgetrf, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, int *, int *)) \
    F(3, STATUS, int, cusolverDnCgetrf_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCgetrs, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const int *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCheevd, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCheevd_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnCheevdx, (struct cusolverDnContext *, int, int, int, int, struct float2 *, int, float, float, int, int, int *, float *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCheevdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, float, float, int, int, int *, const float *, int *)) \
    F(3, STATUS, int, cusolverDnCheevj, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnCheevjBatched, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnCheevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnCheevj_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnChegvd, (struct cusolverDnContext *, int, int, int, int, struct float2 *, int, struct float2 *, int, float *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnChegvd_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, const struct float2 *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnChegvdx, (struct cusolverDnContext *, int, int, int, int, int, struct float2 *, int, struct float2 *, int, float, float, int, int, int *, float *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnChegvdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct float2 *, int, const struct float2 *, int, float, float, int, int, int *, const float *, int *)) \
    F(3, STATUS, int, cusolverDnChegvj, (struct cusolverDnContext *, int, int, int, int, struct float2 *, int, struct float2 *, int, float *, struct float2 *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnChegvj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, const struct float2 *, int, const float *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnChetrd, (struct cusolverDnContext *, int, int, struct float2 *, int, float *, float *, struct float2 *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnChetrd_bufferSize, (struct cusolverDnContext *, int, int, const struct float2 *, int, const float *, const float *, const struct float2 *, int *)) \
    F(3, STATUS, int, cusolverDnClaswp, (struct cusolverDnContext *, int, struct float2 *, int, int, int, const int *, int)) \
    F(3, STATUS, int, cusolverDnClauum, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnClauum_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCpotrf, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCpotrfBatched, (struct cusolverDnContext *, int, int, struct float2 * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnCpotrf_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCpotri, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCpotri_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCpotrs, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCpotrsBatched, (struct cusolverDnContext *, int, int, int, struct float2 * *, int, struct float2 * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnCreate, (struct cusolverDnContext **)) \
    F(3, STATUS, int, cusolverDnCreateGesvdjInfo, (struct gesvdjInfo **)) \
    F(3, STATUS, int, cusolverDnCreateParams, (struct cusolverDnParams **)) \
    F(3, STATUS, int, cusolverDnCreateSyevjInfo, (struct syevjInfo **)) \
    F(3, STATUS, int, cusolverDnCsytrf, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCsytrf_bufferSize, (struct cusolverDnContext *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCsytri, (struct cusolverDnContext *, int, int, struct float2 *, int, const int *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCsytri_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, const int *, int *)) \
    F(3, STATUS, int, cusolverDnCungbr, (struct cusolverDnContext *, int, int, int, int, struct float2 *, int, const struct float2 *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCungbr_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, const struct float2 *, int *)) \
    F(3, STATUS, int, cusolverDnCungqr, (struct cusolverDnContext *, int, int, int, struct float2 *, int, const struct float2 *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCungqr_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const struct float2 *, int *)) \
    F(3, STATUS, int, cusolverDnCungtr, (struct cusolverDnContext *, int, int, struct float2 *, int, const struct float2 *, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCungtr_bufferSize, (struct cusolverDnContext *, int, int, const struct float2 *, int, const struct float2 *, int *)) \
    F(3, STATUS, int, cusolverDnCunmqr, (struct cusolverDnContext *, int, int, int, int, int, const struct float2 *, int, const struct float2 *, struct float2 *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCunmqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct float2 *, int, const struct float2 *, const struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCunmtr, (struct cusolverDnContext *, int, int, int, int, int, struct float2 *, int, struct float2 *, struct float2 *, int, struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnCunmtr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct float2 *, int, const struct float2 *, const struct float2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnDBgels, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDBgels_bufferSize, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDBgesv, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDBgesv_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDDgels, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDDgels_bufferSize, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDDgesv, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDDgesv_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDHgels, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDHgels_bufferSize, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDHgesv, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDHgesv_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDSgels, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDSgels_bufferSize, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDSgesv, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDSgesv_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDXgels, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDXgels_bufferSize, (struct cusolverDnContext *, int, int, int, double *, int, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDXgesv, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnDXgesv_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, double *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnDestroy, (struct cusolverDnContext *)) \
    F(3, STATUS, int, cusolverDnDestroyGesvdjInfo, (struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnDestroyParams, (struct cusolverDnParams *)) \
    F(3, STATUS, int, cusolverDnDestroySyevjInfo, (struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnDgebrd, (struct cusolverDnContext *, int, int, double *, int, double *, double *, double *, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDgebrd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnDgeqrf, (struct cusolverDnContext *, int, int, double *, int, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDgeqrf_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, double *, int, double *, double *, int, double *, int, double *, int, double *, int *)) \
    F(3, STATUS, int, cusolverDnDgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnDgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const double *, int, long long, double *, long long, double *, int, long long, double *, int, long long, double *, int, int *, double *, int)) \
    F(3, STATUS, int, cusolverDnDgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, long long, const double *, long long, const double *, int, long long, const double *, int, long long, int *, int)) \
    F(3, STATUS, int, cusolverDnDgesvdj, (struct cusolverDnContext *, int, int, int, int, double *, int, double *, double *, int, double *, int, double *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnDgesvdjBatched, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, double *, int, double *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnDgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, const double *, int, const double *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnDgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, const double *, const double *, int, const double *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnDgetrf, (struct cusolverDnContext *, int, int, double *, int, double *, int *, int *)) \
    F(3, STATUS, int, cusolverDnDgetrf_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDgetrs, (struct cusolverDnContext *, int, int, int, const double *, int, const int *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDlaswp, (struct cusolverDnContext *, int, double *, int, int, int, const int *, int)) \
    F(3, STATUS, int, cusolverDnDlauum, (struct cusolverDnContext *, int, int, double *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDlauum_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDorgbr, (struct cusolverDnContext *, int, int, int, int, double *, int, const double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDorgbr_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDorgqr, (struct cusolverDnContext *, int, int, int, double *, int, const double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDorgqr_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDorgtr, (struct cusolverDnContext *, int, int, double *, int, const double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDorgtr_bufferSize, (struct cusolverDnContext *, int, int, const double *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDormqr, (struct cusolverDnContext *, int, int, int, int, int, const double *, int, const double *, double *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDormqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const double *, int, const double *, const double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDormtr, (struct cusolverDnContext *, int, int, int, int, int, double *, int, double *, double *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDormtr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const double *, int, const double *, const double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDpotrf, (struct cusolverDnContext *, int, int, double *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDpotrfBatched, (struct cusolverDnContext *, int, int, double * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnDpotrf_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDpotri, (struct cusolverDnContext *, int, int, double *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDpotri_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDpotrs, (struct cusolverDnContext *, int, int, int, const double *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDpotrsBatched, (struct cusolverDnContext *, int, int, int, double * *, int, double * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnDsyevd, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsyevd_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDsyevdx, (struct cusolverDnContext *, int, int, int, int, double *, int, double, double, int, int, int *, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsyevdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, double, double, int, int, int *, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDsyevj, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnDsyevjBatched, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnDsyevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnDsyevj_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnDsygvd, (struct cusolverDnContext *, int, int, int, int, double *, int, double *, int, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsygvd_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, const double *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDsygvdx, (struct cusolverDnContext *, int, int, int, int, int, double *, int, double *, int, double, double, int, int, int *, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsygvdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const double *, int, const double *, int, double, double, int, int, int *, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDsygvj, (struct cusolverDnContext *, int, int, int, int, double *, int, double *, int, double *, double *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnDsygvj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, const double *, int, const double *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnDsytrd, (struct cusolverDnContext *, int, int, double *, int, double *, double *, double *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsytrd_bufferSize, (struct cusolverDnContext *, int, int, const double *, int, const double *, const double *, const double *, int *)) \
    F(3, STATUS, int, cusolverDnDsytrf, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsytrf_bufferSize, (struct cusolverDnContext *, int, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsytri, (struct cusolverDnContext *, int, int, double *, int, const int *, double *, int, int *)) \
    F(3, STATUS, int, cusolverDnDsytri_bufferSize, (struct cusolverDnContext *, int, int, double *, int, const int *, int *)) \
    F(1, STATUS, int, cusolverDnGeqrf, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, int *)) \
    F(1, STATUS, int, cusolverDnGeqrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *)) \
    F(1, STATUS, int, cusolverDnGesvd, (struct cusolverDnContext *, struct cusolverDnParams *, signed char, signed char, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, int *)) \
    F(1, STATUS, int, cusolverDnGesvd_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, signed char, signed char, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *)) \
    F(3, STATUS, int, cusolverDnGetDeterministicMode, (struct cusolverDnContext *, int *)) \
    F(2, STATUS, int, cusolverDnGetEmulationSpecialValuesSupport, (struct cusolverDnContext *, int *)) \
    F(2, STATUS, int, cusolverDnGetEmulationStrategy, (struct cusolverDnContext *, int *)) \
    F(2, STATUS, int, cusolverDnGetFixedPointEmulationMantissaBitOffset, (struct cusolverDnContext *, int *)) \
    F(2, STATUS, int, cusolverDnGetFixedPointEmulationMantissaControl, (struct cusolverDnContext *, int *)) \
    F(2, STATUS, int, cusolverDnGetFixedPointEmulationMaxMantissaBitCount, (struct cusolverDnContext *, int *)) \
    F(2, STATUS, int, cusolverDnGetMathMode, (struct cusolverDnContext *, int *)) \
    F(3, STATUS, int, cusolverDnGetStream, (struct cusolverDnContext *, struct CUstream_st **)) \
    F(1, STATUS, int, cusolverDnGetrf, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, void *, int64_t, long *, int, void *, size_t, int *)) \
    F(1, STATUS, int, cusolverDnGetrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, const void *, int64_t, int, unsigned long *)) \
    F(1, STATUS, int, cusolverDnGetrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, int *)) \
    F(3, STATUS, int, cusolverDnIRSInfosCreate, (struct cusolverDnIRSInfos **)) \
    F(3, STATUS, int, cusolverDnIRSInfosDestroy, (struct cusolverDnIRSInfos *)) \
    F(3, STATUS, int, cusolverDnIRSInfosGetMaxIters, (struct cusolverDnIRSInfos *, int *)) \
    F(3, STATUS, int, cusolverDnIRSInfosGetNiters, (struct cusolverDnIRSInfos *, int *)) \
    F(3, STATUS, int, cusolverDnIRSInfosGetOuterNiters, (struct cusolverDnIRSInfos *, int *)) \
    F(3, STATUS, int, cusolverDnIRSInfosGetResidualHistory, (struct cusolverDnIRSInfos *, void **)) \
    F(3, STATUS, int, cusolverDnIRSInfosRequestResidual, (struct cusolverDnIRSInfos *)) \
    F(3, STATUS, int, cusolverDnIRSParamsCreate, (struct cusolverDnIRSParams **)) \
    F(3, STATUS, int, cusolverDnIRSParamsDestroy, (struct cusolverDnIRSParams *)) \
    F(3, STATUS, int, cusolverDnIRSParamsDisableFallback, (struct cusolverDnIRSParams *)) \
    F(3, STATUS, int, cusolverDnIRSParamsEnableFallback, (struct cusolverDnIRSParams *)) \
    F(3, STATUS, int, cusolverDnIRSParamsGetMaxIters, (struct cusolverDnIRSParams *, int *)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetMaxIters, (struct cusolverDnIRSParams *, int)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetMaxItersInner, (struct cusolverDnIRSParams *, int)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetRefinementSolver, (struct cusolverDnIRSParams *, int)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetSolverLowestPrecision, (struct cusolverDnIRSParams *, int)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetSolverMainPrecision, (struct cusolverDnIRSParams *, int)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetSolverPrecisions, (struct cusolverDnIRSParams *, int, int)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetTol, (struct cusolverDnIRSParams *, double)) \
    F(3, STATUS, int, cusolverDnIRSParamsSetTolInner, (struct cusolverDnIRSParams *, double)) \
    F(3, STATUS, int, cusolverDnIRSXgels, (struct cusolverDnContext *, struct cusolverDnIRSParams *, struct cusolverDnIRSInfos *, int, int, int, void *, int, void *, int, void *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnIRSXgels_bufferSize, (struct cusolverDnContext *, struct cusolverDnIRSParams *, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cusolverDnIRSXgesv, (struct cusolverDnContext *, struct cusolverDnIRSParams *, struct cusolverDnIRSInfos *, int, int, void *, int, void *, int, void *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnIRSXgesv_bufferSize, (struct cusolverDnContext *, struct cusolverDnIRSParams *, int, int, unsigned long *)) \
    F(3, STATUS, int, cusolverDnLoggerForceDisable, (void)) \
    F(3, STATUS, int, cusolverDnLoggerOpenFile, (const char *)) \
    F(3, STATUS, int, cusolverDnLoggerSetCallback, (void *)) \
    F(3, STATUS, int, cusolverDnLoggerSetFile, (struct _IO_FILE *)) \
    F(3, STATUS, int, cusolverDnLoggerSetLevel, (int)) \
    F(3, STATUS, int, cusolverDnLoggerSetMask, (int)) \
    F(1, STATUS, int, cusolverDnPotrf, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, void *, int64_t, int, void *, size_t, int *)) \
    F(1, STATUS, int, cusolverDnPotrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, const void *, int64_t, int, unsigned long *)) \
    F(1, STATUS, int, cusolverDnPotrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, int, void *, int64_t, int *)) \
    F(3, STATUS, int, cusolverDnSBgels, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSBgels_bufferSize, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSBgesv, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSBgesv_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSHgels, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSHgels_bufferSize, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSHgesv, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSHgesv_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSSgels, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSSgels_bufferSize, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSSgesv, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSSgesv_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSXgels, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSXgels_bufferSize, (struct cusolverDnContext *, int, int, int, float *, int, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSXgesv, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnSXgesv_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, float *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnSetAdvOptions, (struct cusolverDnParams *, int, int)) \
    F(3, STATUS, int, cusolverDnSetDeterministicMode, (struct cusolverDnContext *, int)) \
    F(2, STATUS, int, cusolverDnSetEmulationSpecialValuesSupport, (struct cusolverDnContext *, int)) \
    F(2, STATUS, int, cusolverDnSetEmulationStrategy, (struct cusolverDnContext *, int)) \
    F(2, STATUS, int, cusolverDnSetFixedPointEmulationMantissaBitOffset, (struct cusolverDnContext *, int)) \
    F(2, STATUS, int, cusolverDnSetFixedPointEmulationMantissaControl, (struct cusolverDnContext *, int)) \
    F(2, STATUS, int, cusolverDnSetFixedPointEmulationMaxMantissaBitCount, (struct cusolverDnContext *, int)) \
    F(2, STATUS, int, cusolverDnSetMathMode, (struct cusolverDnContext *, int)) \
    F(3, STATUS, int, cusolverDnSetStream, (struct cusolverDnContext *, struct CUstream_st *)) \
    F(3, STATUS, int, cusolverDnSgebrd, (struct cusolverDnContext *, int, int, float *, int, float *, float *, float *, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSgebrd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnSgeqrf, (struct cusolverDnContext *, int, int, float *, int, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSgeqrf_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, float *, int, float *, float *, int, float *, int, float *, int, float *, int *)) \
    F(3, STATUS, int, cusolverDnSgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnSgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const float *, int, long long, float *, long long, float *, int, long long, float *, int, long long, float *, int, int *, double *, int)) \
    F(3, STATUS, int, cusolverDnSgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, long long, const float *, long long, const float *, int, long long, const float *, int, long long, int *, int)) \
    F(3, STATUS, int, cusolverDnSgesvdj, (struct cusolverDnContext *, int, int, int, int, float *, int, float *, float *, int, float *, int, float *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnSgesvdjBatched, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, float *, int, float *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnSgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, const float *, int, const float *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnSgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, const float *, const float *, int, const float *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnSgetrf, (struct cusolverDnContext *, int, int, float *, int, float *, int *, int *)) \
    F(3, STATUS, int, cusolverDnSgetrf_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSgetrs, (struct cusolverDnContext *, int, int, int, const float *, int, const int *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSlaswp, (struct cusolverDnContext *, int, float *, int, int, int, const int *, int)) \
    F(3, STATUS, int, cusolverDnSlauum, (struct cusolverDnContext *, int, int, float *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSlauum_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSorgbr, (struct cusolverDnContext *, int, int, int, int, float *, int, const float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSorgbr_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSorgqr, (struct cusolverDnContext *, int, int, int, float *, int, const float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSorgqr_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSorgtr, (struct cusolverDnContext *, int, int, float *, int, const float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSorgtr_bufferSize, (struct cusolverDnContext *, int, int, const float *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSormqr, (struct cusolverDnContext *, int, int, int, int, int, const float *, int, const float *, float *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSormqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const float *, int, const float *, const float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSormtr, (struct cusolverDnContext *, int, int, int, int, int, float *, int, float *, float *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSormtr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const float *, int, const float *, const float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSpotrf, (struct cusolverDnContext *, int, int, float *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSpotrfBatched, (struct cusolverDnContext *, int, int, float * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnSpotrf_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSpotri, (struct cusolverDnContext *, int, int, float *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSpotri_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSpotrs, (struct cusolverDnContext *, int, int, int, const float *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSpotrsBatched, (struct cusolverDnContext *, int, int, int, float * *, int, float * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnSsyevd, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsyevd_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSsyevdx, (struct cusolverDnContext *, int, int, int, int, float *, int, float, float, int, int, int *, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsyevdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, float, float, int, int, int *, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSsyevj, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnSsyevjBatched, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnSsyevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnSsyevj_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnSsygvd, (struct cusolverDnContext *, int, int, int, int, float *, int, float *, int, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsygvd_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, const float *, int, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSsygvdx, (struct cusolverDnContext *, int, int, int, int, int, float *, int, float *, int, float, float, int, int, int *, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsygvdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const float *, int, const float *, int, float, float, int, int, int *, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSsygvj, (struct cusolverDnContext *, int, int, int, int, float *, int, float *, int, float *, float *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnSsygvj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, const float *, int, const float *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnSsytrd, (struct cusolverDnContext *, int, int, float *, int, float *, float *, float *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsytrd_bufferSize, (struct cusolverDnContext *, int, int, const float *, int, const float *, const float *, const float *, int *)) \
    F(3, STATUS, int, cusolverDnSsytrf, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsytrf_bufferSize, (struct cusolverDnContext *, int, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsytri, (struct cusolverDnContext *, int, int, float *, int, const int *, float *, int, int *)) \
    F(3, STATUS, int, cusolverDnSsytri_bufferSize, (struct cusolverDnContext *, int, int, float *, int, const int *, int *)) \
    F(1, STATUS, int, cusolverDnSyevd, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, int *)) \
    F(1, STATUS, int, cusolverDnSyevd_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *)) \
    F(1, STATUS, int, cusolverDnSyevdx, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, void *, int64_t, void *, void *, int64_t, int64_t, long *, int, void *, int, void *, size_t, int *)) \
    F(1, STATUS, int, cusolverDnSyevdx_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, const void *, int64_t, void *, void *, int64_t, int64_t, long *, int, const void *, int, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXgeev, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXgeev_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXgeqrf, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXgeqrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXgesvd, (struct cusolverDnContext *, struct cusolverDnParams *, signed char, signed char, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXgesvd_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, signed char, signed char, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXgesvdjGetResidual, (struct cusolverDnContext *, struct gesvdjInfo *, double *)) \
    F(3, STATUS, int, cusolverDnXgesvdjGetSweeps, (struct cusolverDnContext *, struct gesvdjInfo *, int *)) \
    F(3, STATUS, int, cusolverDnXgesvdjSetMaxSweeps, (struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnXgesvdjSetSortEig, (struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnXgesvdjSetTolerance, (struct gesvdjInfo *, double)) \
    F(3, STATUS, int, cusolverDnXgesvdp, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *, double *)) \
    F(3, STATUS, int, cusolverDnXgesvdp_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXgesvdr, (struct cusolverDnContext *, struct cusolverDnParams *, signed char, signed char, int64_t, int64_t, int64_t, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXgesvdr_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, signed char, signed char, int64_t, int64_t, int64_t, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXgetrf, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, void *, int64_t, long *, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXgetrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXgetrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, int *)) \
    F(2, STATUS, int, cusolverDnXhetrf, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, void *, int64_t, long *, int, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXhetrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, const void *, int64_t, const long *, int, unsigned long *, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXhetrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXhetrs_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXlarft, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, void *, int64_t, int, void *, size_t, void *, size_t)) \
    F(3, STATUS, int, cusolverDnXlarft_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXpolar, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, double *, double *, double *, int *)) \
    F(2, STATUS, int, cusolverDnXpolar_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXpotrf, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXpotrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXpotrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, int, void *, int64_t, int *)) \
    F(2, STATUS, int, cusolverDnXstedc, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, void *, void *, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXstedc_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, const void *, const void *, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXsyevBatched, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *, int64_t)) \
    F(2, STATUS, int, cusolverDnXsyevBatched_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *, int64_t)) \
    F(3, STATUS, int, cusolverDnXsyevd, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXsyevd_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXsyevdx, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, void *, int64_t, void *, void *, int64_t, int64_t, long *, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXsyevdx_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, const void *, int64_t, void *, void *, int64_t, int64_t, long *, int, const void *, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXsyevjGetResidual, (struct cusolverDnContext *, struct syevjInfo *, double *)) \
    F(3, STATUS, int, cusolverDnXsyevjGetSweeps, (struct cusolverDnContext *, struct syevjInfo *, int *)) \
    F(3, STATUS, int, cusolverDnXsyevjSetMaxSweeps, (struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnXsyevjSetSortEig, (struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnXsyevjSetTolerance, (struct syevjInfo *, double)) \
    F(2, STATUS, int, cusolverDnXsygvStridedBatched, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, void *, int64_t, int64_t, int, void *, int64_t, int64_t, int, void *, int64_t, int, int64_t, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXsygvStridedBatched_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, const void *, int64_t, int64_t, int, const void *, int64_t, int64_t, int, const void *, int64_t, int, int64_t, unsigned long *, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXsygvd, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, void *, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXsygvd_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, const void *, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXsygvdx, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int, int64_t, int, void *, int64_t, int, void *, int64_t, void *, void *, int64_t, int64_t, long *, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXsygvdx_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int, int64_t, int, const void *, int64_t, int, const void *, int64_t, void *, void *, int64_t, int64_t, long *, int, const void *, int, unsigned long *, unsigned long *)) \
    F(2, STATUS, int, cusolverDnXsytrf, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, void *, int64_t, long *, int, void *, size_t, void *, size_t, int *)) \
    F(2, STATUS, int, cusolverDnXsytrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, const void *, int64_t, const long *, int, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXsytrs, (struct cusolverDnContext *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXsytrs_bufferSize, (struct cusolverDnContext *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnXtrtri, (struct cusolverDnContext *, int, int, int64_t, int, void *, int64_t, void *, size_t, void *, size_t, int *)) \
    F(3, STATUS, int, cusolverDnXtrtri_bufferSize, (struct cusolverDnContext *, int, int, int64_t, int, void *, int64_t, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZCgels, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZCgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZCgesv, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZCgesv_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZEgels, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZEgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZEgesv, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZEgesv_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZKgels, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZKgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZKgesv, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZKgesv_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZYgels, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZYgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZYgesv, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZYgesv_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZZgels, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZZgels_bufferSize, (struct cusolverDnContext *, int, int, int, struct double2 *, int, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZZgesv, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, size_t, int *, int *)) \
    F(3, STATUS, int, cusolverDnZZgesv_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, struct double2 *, int, void *, unsigned long *)) \
    F(3, STATUS, int, cusolverDnZgebrd, (struct cusolverDnContext *, int, int, struct double2 *, int, double *, double *, struct double2 *, struct double2 *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZgebrd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnZgeqrf, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZgeqrf_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, struct double2 *, int, double *, struct double2 *, int, struct double2 *, int, struct double2 *, int, double *, int *)) \
    F(3, STATUS, int, cusolverDnZgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(3, STATUS, int, cusolverDnZgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, long long, double *, long long, struct double2 *, int, long long, struct double2 *, int, long long, struct double2 *, int, int *, double *, int)) \
    F(3, STATUS, int, cusolverDnZgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, long long, const double *, long long, const struct double2 *, int, long long, const struct double2 *, int, long long, int *, int)) \
    F(3, STATUS, int, cusolverDnZgesvdj, (struct cusolverDnContext *, int, int, int, int, struct double2 *, int, double *, struct double2 *, int, struct double2 *, int, struct double2 *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnZgesvdjBatched, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, struct double2 *, int, struct double2 *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnZgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, const struct double2 *, int, const struct double2 *, int, int *, struct gesvdjInfo *, int)) \
    F(3, STATUS, int, cusolverDnZgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, const double *, const struct double2 *, int, const struct double2 *, int, int *, struct gesvdjInfo *)) \
    F(3, STATUS, int, cusolverDnZgetrf, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, int *, int *)) \
    F(3, STATUS, int, cusolverDnZgetrf_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZgetrs, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const int *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZheevd, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZheevd_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnZheevdx, (struct cusolverDnContext *, int, int, int, int, struct double2 *, int, double, double, int, int, int *, double *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZheevdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, double, double, int, int, int *, const double *, int *)) \
    F(3, STATUS, int, cusolverDnZheevj, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnZheevjBatched, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnZheevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, int *, struct syevjInfo *, int)) \
    F(3, STATUS, int, cusolverDnZheevj_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnZhegvd, (struct cusolverDnContext *, int, int, int, int, struct double2 *, int, struct double2 *, int, double *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZhegvd_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, const struct double2 *, int, const double *, int *)) \
    F(3, STATUS, int, cusolverDnZhegvdx, (struct cusolverDnContext *, int, int, int, int, int, struct double2 *, int, struct double2 *, int, double, double, int, int, int *, double *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZhegvdx_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct double2 *, int, const struct double2 *, int, double, double, int, int, int *, const double *, int *)) \
    F(3, STATUS, int, cusolverDnZhegvj, (struct cusolverDnContext *, int, int, int, int, struct double2 *, int, struct double2 *, int, double *, struct double2 *, int, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnZhegvj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, const struct double2 *, int, const double *, int *, struct syevjInfo *)) \
    F(3, STATUS, int, cusolverDnZhetrd, (struct cusolverDnContext *, int, int, struct double2 *, int, double *, double *, struct double2 *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZhetrd_bufferSize, (struct cusolverDnContext *, int, int, const struct double2 *, int, const double *, const double *, const struct double2 *, int *)) \
    F(3, STATUS, int, cusolverDnZlaswp, (struct cusolverDnContext *, int, struct double2 *, int, int, int, const int *, int)) \
    F(3, STATUS, int, cusolverDnZlauum, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZlauum_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZpotrf, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZpotrfBatched, (struct cusolverDnContext *, int, int, struct double2 * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnZpotrf_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZpotri, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZpotri_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZpotrs, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZpotrsBatched, (struct cusolverDnContext *, int, int, int, struct double2 * *, int, struct double2 * *, int, int *, int)) \
    F(3, STATUS, int, cusolverDnZsytrf, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZsytrf_bufferSize, (struct cusolverDnContext *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZsytri, (struct cusolverDnContext *, int, int, struct double2 *, int, const int *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZsytri_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, const int *, int *)) \
    F(3, STATUS, int, cusolverDnZungbr, (struct cusolverDnContext *, int, int, int, int, struct double2 *, int, const struct double2 *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZungbr_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, const struct double2 *, int *)) \
    F(3, STATUS, int, cusolverDnZungqr, (struct cusolverDnContext *, int, int, int, struct double2 *, int, const struct double2 *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZungqr_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const struct double2 *, int *)) \
    F(3, STATUS, int, cusolverDnZungtr, (struct cusolverDnContext *, int, int, struct double2 *, int, const struct double2 *, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZungtr_bufferSize, (struct cusolverDnContext *, int, int, const struct double2 *, int, const struct double2 *, int *)) \
    F(3, STATUS, int, cusolverDnZunmqr, (struct cusolverDnContext *, int, int, int, int, int, const struct double2 *, int, const struct double2 *, struct double2 *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZunmqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct double2 *, int, const struct double2 *, const struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZunmtr, (struct cusolverDnContext *, int, int, int, int, int, struct double2 *, int, struct double2 *, struct double2 *, int, struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverDnZunmtr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct double2 *, int, const struct double2 *, const struct double2 *, int, int *)) \
    F(3, STATUS, int, cusolverGetProperty, (int, int *)) \
    F(3, STATUS, int, cusolverGetVersion, (int *)) \
    F(3, STATUS, int, cusolverMgCreate, (struct cusolverMgContext **)) \
    F(3, STATUS, int, cusolverMgCreateDeviceGrid, (void **, int32_t, int32_t, int *, int)) \
    F(3, STATUS, int, cusolverMgCreateMatrixDesc, (void **, int64_t, int64_t, int64_t, int64_t, int, void *const)) \
    F(3, STATUS, int, cusolverMgDestroy, (struct cusolverMgContext *)) \
    F(3, STATUS, int, cusolverMgDestroyGrid, (void *)) \
    F(3, STATUS, int, cusolverMgDestroyMatrixDesc, (void *)) \
    F(3, STATUS, int, cusolverMgDeviceSelect, (struct cusolverMgContext *, int, int *)) \
    F(3, STATUS, int, cusolverMgGetrf, (struct cusolverMgContext *, int, int, void * *, int, int, void *, int * *, int, void * *, int64_t, int *)) \
    F(3, STATUS, int, cusolverMgGetrf_bufferSize, (struct cusolverMgContext *, int, int, void * *, int, int, void *, int * *, int, long *)) \
    F(3, STATUS, int, cusolverMgGetrs, (struct cusolverMgContext *, int, int, int, void * *, int, int, void *, int * *, void * *, int, int, void *, int, void * *, int64_t, int *)) \
    F(3, STATUS, int, cusolverMgGetrs_bufferSize, (struct cusolverMgContext *, int, int, int, void * *, int, int, void *, int * *, void * *, int, int, void *, int, long *)) \
    F(3, STATUS, int, cusolverMgPotrf, (struct cusolverMgContext *, int, int, void * *, int, int, void *, int, void * *, int64_t, int *)) \
    F(3, STATUS, int, cusolverMgPotrf_bufferSize, (struct cusolverMgContext *, int, int, void * *, int, int, void *, int, long *)) \
    F(3, STATUS, int, cusolverMgPotri, (struct cusolverMgContext *, int, int, void * *, int, int, void *, int, void * *, int64_t, int *)) \
    F(3, STATUS, int, cusolverMgPotri_bufferSize, (struct cusolverMgContext *, int, int, void * *, int, int, void *, int, long *)) \
    F(3, STATUS, int, cusolverMgPotrs, (struct cusolverMgContext *, int, int, int, void * *, int, int, void *, void * *, int, int, void *, int, void * *, int64_t, int *)) \
    F(3, STATUS, int, cusolverMgPotrs_bufferSize, (struct cusolverMgContext *, int, int, int, void * *, int, int, void *, void * *, int, int, void *, int, long *)) \
    F(3, STATUS, int, cusolverMgSyevd, (struct cusolverMgContext *, int, int, int, void * *, int, int, void *, void *, int, int, void * *, int64_t, int *)) \
    F(3, STATUS, int, cusolverMgSyevd_bufferSize, (struct cusolverMgContext *, int, int, int, void * *, int, int, void *, void *, int, int, long *)) \
    F(3, STATUS, int, cusolverRfAccessBundledFactorsDevice, (struct cusolverRfCommon *, int *, int **, int **, double **)) \
    F(3, STATUS, int, cusolverRfAnalyze, (struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfBatchAnalyze, (struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfBatchRefactor, (struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfBatchResetValues, (int, int, int, int *, int *, double * *, int *, int *, struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfBatchSetupHost, (int, int, int, int *, int *, double * *, int, int *, int *, double *, int, int *, int *, double *, int *, int *, struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfBatchSolve, (struct cusolverRfCommon *, int *, int *, int, double *, int, double * *, int)) \
    F(3, STATUS, int, cusolverRfBatchZeroPivot, (struct cusolverRfCommon *, int *)) \
    F(3, STATUS, int, cusolverRfCreate, (struct cusolverRfCommon **)) \
    F(3, STATUS, int, cusolverRfDestroy, (struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfExtractBundledFactorsHost, (struct cusolverRfCommon *, int *, int **, int **, double **)) \
    F(3, STATUS, int, cusolverRfExtractSplitFactorsHost, (struct cusolverRfCommon *, int *, int **, int **, double **, int *, int **, int **, double **)) \
    F(3, STATUS, int, cusolverRfGetAlgs, (struct cusolverRfCommon *, int *, int *)) \
    F(3, STATUS, int, cusolverRfGetMatrixFormat, (struct cusolverRfCommon *, int *, int *)) \
    F(3, STATUS, int, cusolverRfGetNumericBoostReport, (struct cusolverRfCommon *, int *)) \
    F(3, STATUS, int, cusolverRfGetNumericProperties, (struct cusolverRfCommon *, double *, double *)) \
    F(3, STATUS, int, cusolverRfGetResetValuesFastMode, (struct cusolverRfCommon *, int *)) \
    F(3, STATUS, int, cusolverRfRefactor, (struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfResetValues, (int, int, int *, int *, double *, int *, int *, struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfSetAlgs, (struct cusolverRfCommon *, int, int)) \
    F(3, STATUS, int, cusolverRfSetMatrixFormat, (struct cusolverRfCommon *, int, int)) \
    F(3, STATUS, int, cusolverRfSetNumericProperties, (struct cusolverRfCommon *, double, double)) \
    F(3, STATUS, int, cusolverRfSetResetValuesFastMode, (struct cusolverRfCommon *, int)) \
    F(3, STATUS, int, cusolverRfSetupDevice, (int, int, int *, int *, double *, int, int *, int *, double *, int, int *, int *, double *, int *, int *, struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfSetupHost, (int, int, int *, int *, double *, int, int *, int *, double *, int, int *, int *, double *, int *, int *, struct cusolverRfCommon *)) \
    F(3, STATUS, int, cusolverRfSolve, (struct cusolverRfCommon *, int *, int *, int, double *, int, double *, int)) \
    F(3, STATUS, int, cusolverSpCcsreigsHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, struct float2, struct float2, int *)) \
    F(3, STATUS, int, cusolverSpCcsreigvsi, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, struct float2, const struct float2 *, int, float, struct float2 *, struct float2 *)) \
    F(3, STATUS, int, cusolverSpCcsreigvsiHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, struct float2, const struct float2 *, int, float, struct float2 *, struct float2 *)) \
    F(3, STATUS, int, cusolverSpCcsrlsqvqrHost, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, float, int *, struct float2 *, int *, float *)) \
    F(3, STATUS, int, cusolverSpCcsrlsvchol, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, float, int, struct float2 *, int *)) \
    F(3, STATUS, int, cusolverSpCcsrlsvcholHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, float, int, struct float2 *, int *)) \
    F(3, STATUS, int, cusolverSpCcsrlsvluHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, float, int, struct float2 *, int *)) \
    F(3, STATUS, int, cusolverSpCcsrlsvqr, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, float, int, struct float2 *, int *)) \
    F(3, STATUS, int, cusolverSpCcsrlsvqrHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, float, int, struct float2 *, int *)) \
    F(3, STATUS, int, cusolverSpCcsrqrBufferInfoBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int, struct csrqrInfo *, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverSpCcsrqrsvBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, const struct float2 *, struct float2 *, int, struct csrqrInfo *, void *)) \
    F(3, STATUS, int, cusolverSpCcsrzfdHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct float2 *, const int *, const int *, int *, int *)) \
    F(3, STATUS, int, cusolverSpCreate, (struct cusolverSpContext **)) \
    F(3, STATUS, int, cusolverSpCreateCsrqrInfo, (struct csrqrInfo **)) \
    F(3, STATUS, int, cusolverSpDcsreigsHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, struct double2, struct double2, int *)) \
    F(3, STATUS, int, cusolverSpDcsreigvsi, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, double, const double *, int, double, double *, double *)) \
    F(3, STATUS, int, cusolverSpDcsreigvsiHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, double, const double *, int, double, double *, double *)) \
    F(3, STATUS, int, cusolverSpDcsrlsqvqrHost, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double, int *, double *, int *, double *)) \
    F(3, STATUS, int, cusolverSpDcsrlsvchol, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double, int, double *, int *)) \
    F(3, STATUS, int, cusolverSpDcsrlsvcholHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double, int, double *, int *)) \
    F(3, STATUS, int, cusolverSpDcsrlsvluHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double, int, double *, int *)) \
    F(3, STATUS, int, cusolverSpDcsrlsvqr, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double, int, double *, int *)) \
    F(3, STATUS, int, cusolverSpDcsrlsvqrHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double, int, double *, int *)) \
    F(3, STATUS, int, cusolverSpDcsrqrBufferInfoBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int, struct csrqrInfo *, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverSpDcsrqrsvBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, const double *, double *, int, struct csrqrInfo *, void *)) \
    F(3, STATUS, int, cusolverSpDcsrzfdHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const double *, const int *, const int *, int *, int *)) \
    F(3, STATUS, int, cusolverSpDestroy, (struct cusolverSpContext *)) \
    F(3, STATUS, int, cusolverSpDestroyCsrqrInfo, (struct csrqrInfo *)) \
    F(3, STATUS, int, cusolverSpGetStream, (struct cusolverSpContext *, struct CUstream_st **)) \
    F(3, STATUS, int, cusolverSpScsreigsHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, struct float2, struct float2, int *)) \
    F(3, STATUS, int, cusolverSpScsreigvsi, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, float, const float *, int, float, float *, float *)) \
    F(3, STATUS, int, cusolverSpScsreigvsiHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, float, const float *, int, float, float *, float *)) \
    F(3, STATUS, int, cusolverSpScsrlsqvqrHost, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float, int *, float *, int *, float *)) \
    F(3, STATUS, int, cusolverSpScsrlsvchol, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float, int, float *, int *)) \
    F(3, STATUS, int, cusolverSpScsrlsvcholHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float, int, float *, int *)) \
    F(3, STATUS, int, cusolverSpScsrlsvluHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float, int, float *, int *)) \
    F(3, STATUS, int, cusolverSpScsrlsvqr, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float, int, float *, int *)) \
    F(3, STATUS, int, cusolverSpScsrlsvqrHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float, int, float *, int *)) \
    F(3, STATUS, int, cusolverSpScsrqrBufferInfoBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int, struct csrqrInfo *, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverSpScsrqrsvBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, const float *, float *, int, struct csrqrInfo *, void *)) \
    F(3, STATUS, int, cusolverSpScsrzfdHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const float *, const int *, const int *, int *, int *)) \
    F(3, STATUS, int, cusolverSpSetStream, (struct cusolverSpContext *, struct CUstream_st *)) \
    F(3, STATUS, int, cusolverSpXcsrissymHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const int *, const int *, const int *, int *)) \
    F(3, STATUS, int, cusolverSpXcsrmetisndHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const int *, const int *, const long *, int *)) \
    F(3, STATUS, int, cusolverSpXcsrpermHost, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, int *, int *, const int *, const int *, int *, void *)) \
    F(3, STATUS, int, cusolverSpXcsrperm_bufferSizeHost, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const int *, const int *, const int *, const int *, unsigned long *)) \
    F(3, STATUS, int, cusolverSpXcsrqrAnalysisBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const int *, const int *, struct csrqrInfo *)) \
    F(3, STATUS, int, cusolverSpXcsrsymamdHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const int *, const int *, int *)) \
    F(3, STATUS, int, cusolverSpXcsrsymmdqHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const int *, const int *, int *)) \
    F(3, STATUS, int, cusolverSpXcsrsymrcmHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const int *, const int *, int *)) \
    F(3, STATUS, int, cusolverSpZcsreigsHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, struct double2, struct double2, int *)) \
    F(3, STATUS, int, cusolverSpZcsreigvsi, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, struct double2, const struct double2 *, int, double, struct double2 *, struct double2 *)) \
    F(3, STATUS, int, cusolverSpZcsreigvsiHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, struct double2, const struct double2 *, int, double, struct double2 *, struct double2 *)) \
    F(3, STATUS, int, cusolverSpZcsrlsqvqrHost, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, double, int *, struct double2 *, int *, double *)) \
    F(3, STATUS, int, cusolverSpZcsrlsvchol, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, double, int, struct double2 *, int *)) \
    F(3, STATUS, int, cusolverSpZcsrlsvcholHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, double, int, struct double2 *, int *)) \
    F(3, STATUS, int, cusolverSpZcsrlsvluHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, double, int, struct double2 *, int *)) \
    F(3, STATUS, int, cusolverSpZcsrlsvqr, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, double, int, struct double2 *, int *)) \
    F(3, STATUS, int, cusolverSpZcsrlsvqrHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, double, int, struct double2 *, int *)) \
    F(3, STATUS, int, cusolverSpZcsrqrBufferInfoBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int, struct csrqrInfo *, unsigned long *, unsigned long *)) \
    F(3, STATUS, int, cusolverSpZcsrqrsvBatched, (struct cusolverSpContext *, int, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, const struct double2 *, struct double2 *, int, struct csrqrInfo *, void *)) \
    F(3, STATUS, int, cusolverSpZcsrzfdHost, (struct cusolverSpContext *, int, int, struct cusparseMatDescr *const, const struct double2 *, const int *, const int *, int *, int *))

#endif
