/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cusolver, written by scripts/library_tables.py from the
 * headers of cusolver 11.6.1.9 (CUDA 12) and cusolver 12.4.1.2 (CUDA 13). Do not edit.
 * VS_CUSOLVER_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
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
    F(int, cusolverDnCgeqrf, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, struct float2 *, int, int *)) \
    F(int, cusolverDnCgeqrf_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, struct float2 *, int, float *, struct float2 *, int, struct float2 *, int, struct float2 *, int, float *, int *)) \
    F(int, cusolverDnCgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(int, cusolverDnCgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, long long, float *, long long, struct float2 *, int, long long, struct float2 *, int, long long, struct float2 *, int, int *, double *, int)) \
    F(int, cusolverDnCgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, long long, const float *, long long, const struct float2 *, int, long long, const struct float2 *, int, long long, int *, int)) \
    F(int, cusolverDnCgesvdj, (struct cusolverDnContext *, int, int, int, int, struct float2 *, int, float *, struct float2 *, int, struct float2 *, int, struct float2 *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnCgesvdjBatched, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, struct float2 *, int, struct float2 *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnCgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, const struct float2 *, int, const struct float2 *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnCgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct float2 *, int, const float *, const struct float2 *, int, const struct float2 *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnCgetrf, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, int *, int *)) \
    F(int, cusolverDnCgetrf_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCgetrs, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const int *, struct float2 *, int, int *)) \
    F(int, cusolverDnCheevd, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, int *)) \
    F(int, cusolverDnCheevd_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, int *)) \
    F(int, cusolverDnCheevj, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, int *, struct syevjInfo *)) \
    F(int, cusolverDnCheevjBatched, (struct cusolverDnContext *, int, int, int, struct float2 *, int, float *, struct float2 *, int, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnCheevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnCheevj_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const float *, int *, struct syevjInfo *)) \
    F(int, cusolverDnCpotrf, (struct cusolverDnContext *, int, int, struct float2 *, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCpotrfBatched, (struct cusolverDnContext *, int, int, struct float2 * *, int, int *, int)) \
    F(int, cusolverDnCpotrf_bufferSize, (struct cusolverDnContext *, int, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCpotrs, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCpotrsBatched, (struct cusolverDnContext *, int, int, int, struct float2 * *, int, struct float2 * *, int, int *, int)) \
    F(int, cusolverDnCreate, (struct cusolverDnContext **)) \
    F(int, cusolverDnCreateGesvdjInfo, (struct gesvdjInfo **)) \
    F(int, cusolverDnCreateParams, (struct cusolverDnParams **)) \
    F(int, cusolverDnCreateSyevjInfo, (struct syevjInfo **)) \
    F(int, cusolverDnCsytrf, (struct cusolverDnContext *, int, int, struct float2 *, int, int *, struct float2 *, int, int *)) \
    F(int, cusolverDnCsytrf_bufferSize, (struct cusolverDnContext *, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCungqr, (struct cusolverDnContext *, int, int, int, struct float2 *, int, const struct float2 *, struct float2 *, int, int *)) \
    F(int, cusolverDnCungqr_bufferSize, (struct cusolverDnContext *, int, int, int, const struct float2 *, int, const struct float2 *, int *)) \
    F(int, cusolverDnCunmqr, (struct cusolverDnContext *, int, int, int, int, int, const struct float2 *, int, const struct float2 *, struct float2 *, int, struct float2 *, int, int *)) \
    F(int, cusolverDnCunmqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct float2 *, int, const struct float2 *, const struct float2 *, int, int *)) \
    F(int, cusolverDnDestroy, (struct cusolverDnContext *)) \
    F(int, cusolverDnDestroyGesvdjInfo, (struct gesvdjInfo *)) \
    F(int, cusolverDnDestroyParams, (struct cusolverDnParams *)) \
    F(int, cusolverDnDestroySyevjInfo, (struct syevjInfo *)) \
    F(int, cusolverDnDgeqrf, (struct cusolverDnContext *, int, int, double *, int, double *, double *, int, int *)) \
    F(int, cusolverDnDgeqrf_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(int, cusolverDnDgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, double *, int, double *, double *, int, double *, int, double *, int, double *, int *)) \
    F(int, cusolverDnDgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(int, cusolverDnDgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const double *, int, long long, double *, long long, double *, int, long long, double *, int, long long, double *, int, int *, double *, int)) \
    F(int, cusolverDnDgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, long long, const double *, long long, const double *, int, long long, const double *, int, long long, int *, int)) \
    F(int, cusolverDnDgesvdj, (struct cusolverDnContext *, int, int, int, int, double *, int, double *, double *, int, double *, int, double *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnDgesvdjBatched, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, double *, int, double *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnDgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, const double *, int, const double *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnDgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const double *, int, const double *, const double *, int, const double *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnDgetrf, (struct cusolverDnContext *, int, int, double *, int, double *, int *, int *)) \
    F(int, cusolverDnDgetrf_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(int, cusolverDnDgetrs, (struct cusolverDnContext *, int, int, int, const double *, int, const int *, double *, int, int *)) \
    F(int, cusolverDnDorgqr, (struct cusolverDnContext *, int, int, int, double *, int, const double *, double *, int, int *)) \
    F(int, cusolverDnDorgqr_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *)) \
    F(int, cusolverDnDormqr, (struct cusolverDnContext *, int, int, int, int, int, const double *, int, const double *, double *, int, double *, int, int *)) \
    F(int, cusolverDnDormqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const double *, int, const double *, const double *, int, int *)) \
    F(int, cusolverDnDpotrf, (struct cusolverDnContext *, int, int, double *, int, double *, int, int *)) \
    F(int, cusolverDnDpotrfBatched, (struct cusolverDnContext *, int, int, double * *, int, int *, int)) \
    F(int, cusolverDnDpotrf_bufferSize, (struct cusolverDnContext *, int, int, double *, int, int *)) \
    F(int, cusolverDnDpotrs, (struct cusolverDnContext *, int, int, int, const double *, int, double *, int, int *)) \
    F(int, cusolverDnDpotrsBatched, (struct cusolverDnContext *, int, int, int, double * *, int, double * *, int, int *, int)) \
    F(int, cusolverDnDsyevd, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, int *)) \
    F(int, cusolverDnDsyevd_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *)) \
    F(int, cusolverDnDsyevj, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, int *, struct syevjInfo *)) \
    F(int, cusolverDnDsyevjBatched, (struct cusolverDnContext *, int, int, int, double *, int, double *, double *, int, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnDsyevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnDsyevj_bufferSize, (struct cusolverDnContext *, int, int, int, const double *, int, const double *, int *, struct syevjInfo *)) \
    F(int, cusolverDnDsytrf, (struct cusolverDnContext *, int, int, double *, int, int *, double *, int, int *)) \
    F(int, cusolverDnDsytrf_bufferSize, (struct cusolverDnContext *, int, double *, int, int *)) \
    F(int, cusolverDnGetDeterministicMode, (struct cusolverDnContext *, int *)) \
    F(int, cusolverDnGetStream, (struct cusolverDnContext *, struct CUstream_st **)) \
    F(int, cusolverDnSetAdvOptions, (struct cusolverDnParams *, int, int)) \
    F(int, cusolverDnSetDeterministicMode, (struct cusolverDnContext *, int)) \
    F(int, cusolverDnSetStream, (struct cusolverDnContext *, struct CUstream_st *)) \
    F(int, cusolverDnSgeqrf, (struct cusolverDnContext *, int, int, float *, int, float *, float *, int, int *)) \
    F(int, cusolverDnSgeqrf_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(int, cusolverDnSgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, float *, int, float *, float *, int, float *, int, float *, int, float *, int *)) \
    F(int, cusolverDnSgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(int, cusolverDnSgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const float *, int, long long, float *, long long, float *, int, long long, float *, int, long long, float *, int, int *, double *, int)) \
    F(int, cusolverDnSgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, long long, const float *, long long, const float *, int, long long, const float *, int, long long, int *, int)) \
    F(int, cusolverDnSgesvdj, (struct cusolverDnContext *, int, int, int, int, float *, int, float *, float *, int, float *, int, float *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnSgesvdjBatched, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, float *, int, float *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnSgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, const float *, int, const float *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnSgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const float *, int, const float *, const float *, int, const float *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnSgetrf, (struct cusolverDnContext *, int, int, float *, int, float *, int *, int *)) \
    F(int, cusolverDnSgetrf_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(int, cusolverDnSgetrs, (struct cusolverDnContext *, int, int, int, const float *, int, const int *, float *, int, int *)) \
    F(int, cusolverDnSorgqr, (struct cusolverDnContext *, int, int, int, float *, int, const float *, float *, int, int *)) \
    F(int, cusolverDnSorgqr_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *)) \
    F(int, cusolverDnSormqr, (struct cusolverDnContext *, int, int, int, int, int, const float *, int, const float *, float *, int, float *, int, int *)) \
    F(int, cusolverDnSormqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const float *, int, const float *, const float *, int, int *)) \
    F(int, cusolverDnSpotrf, (struct cusolverDnContext *, int, int, float *, int, float *, int, int *)) \
    F(int, cusolverDnSpotrfBatched, (struct cusolverDnContext *, int, int, float * *, int, int *, int)) \
    F(int, cusolverDnSpotrf_bufferSize, (struct cusolverDnContext *, int, int, float *, int, int *)) \
    F(int, cusolverDnSpotrs, (struct cusolverDnContext *, int, int, int, const float *, int, float *, int, int *)) \
    F(int, cusolverDnSpotrsBatched, (struct cusolverDnContext *, int, int, int, float * *, int, float * *, int, int *, int)) \
    F(int, cusolverDnSsyevd, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, int *)) \
    F(int, cusolverDnSsyevd_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *)) \
    F(int, cusolverDnSsyevj, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, int *, struct syevjInfo *)) \
    F(int, cusolverDnSsyevjBatched, (struct cusolverDnContext *, int, int, int, float *, int, float *, float *, int, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnSsyevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnSsyevj_bufferSize, (struct cusolverDnContext *, int, int, int, const float *, int, const float *, int *, struct syevjInfo *)) \
    F(int, cusolverDnSsytrf, (struct cusolverDnContext *, int, int, float *, int, int *, float *, int, int *)) \
    F(int, cusolverDnSsytrf_bufferSize, (struct cusolverDnContext *, int, float *, int, int *)) \
    F(int, cusolverDnXgeev, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(int, cusolverDnXgeev_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, const void *, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(int, cusolverDnXgeqrf, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(int, cusolverDnXgeqrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *)) \
    F(int, cusolverDnXgesvdjGetResidual, (struct cusolverDnContext *, struct gesvdjInfo *, double *)) \
    F(int, cusolverDnXgesvdjGetSweeps, (struct cusolverDnContext *, struct gesvdjInfo *, int *)) \
    F(int, cusolverDnXgesvdjSetMaxSweeps, (struct gesvdjInfo *, int)) \
    F(int, cusolverDnXgesvdjSetSortEig, (struct gesvdjInfo *, int)) \
    F(int, cusolverDnXgesvdjSetTolerance, (struct gesvdjInfo *, double)) \
    F(int, cusolverDnXgetrf, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, void *, int64_t, long *, int, void *, size_t, void *, size_t, int *)) \
    F(int, cusolverDnXgetrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int64_t, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(int, cusolverDnXgetrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, int *)) \
    F(int, cusolverDnXpotrf, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, int *)) \
    F(int, cusolverDnXpotrf_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int, const void *, int64_t, int, unsigned long *, unsigned long *)) \
    F(int, cusolverDnXpotrs, (struct cusolverDnContext *, struct cusolverDnParams *, int, int64_t, int64_t, int, const void *, int64_t, int, void *, int64_t, int *)) \
    F(int, cusolverDnXsyevBatched, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *, int64_t)) \
    F(int, cusolverDnXsyevBatched_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *, int64_t)) \
    F(int, cusolverDnXsyevd, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, void *, int64_t, int, void *, int, void *, size_t, void *, size_t, int *)) \
    F(int, cusolverDnXsyevd_bufferSize, (struct cusolverDnContext *, struct cusolverDnParams *, int, int, int64_t, int, const void *, int64_t, int, const void *, int, unsigned long *, unsigned long *)) \
    F(int, cusolverDnXsyevjGetResidual, (struct cusolverDnContext *, struct syevjInfo *, double *)) \
    F(int, cusolverDnXsyevjGetSweeps, (struct cusolverDnContext *, struct syevjInfo *, int *)) \
    F(int, cusolverDnXsyevjSetMaxSweeps, (struct syevjInfo *, int)) \
    F(int, cusolverDnXsyevjSetSortEig, (struct syevjInfo *, int)) \
    F(int, cusolverDnXsyevjSetTolerance, (struct syevjInfo *, double)) \
    F(int, cusolverDnXsytrs, (struct cusolverDnContext *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, void *, size_t, void *, size_t, int *)) \
    F(int, cusolverDnXsytrs_bufferSize, (struct cusolverDnContext *, int, int64_t, int64_t, int, const void *, int64_t, const long *, int, void *, int64_t, unsigned long *, unsigned long *)) \
    F(int, cusolverDnZgeqrf, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, struct double2 *, int, int *)) \
    F(int, cusolverDnZgeqrf_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZgesvd, (struct cusolverDnContext *, signed char, signed char, int, int, struct double2 *, int, double *, struct double2 *, int, struct double2 *, int, struct double2 *, int, double *, int *)) \
    F(int, cusolverDnZgesvd_bufferSize, (struct cusolverDnContext *, int, int, int *)) \
    F(int, cusolverDnZgesvdaStridedBatched, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, long long, double *, long long, struct double2 *, int, long long, struct double2 *, int, long long, struct double2 *, int, int *, double *, int)) \
    F(int, cusolverDnZgesvdaStridedBatched_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, long long, const double *, long long, const struct double2 *, int, long long, const struct double2 *, int, long long, int *, int)) \
    F(int, cusolverDnZgesvdj, (struct cusolverDnContext *, int, int, int, int, struct double2 *, int, double *, struct double2 *, int, struct double2 *, int, struct double2 *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnZgesvdjBatched, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, struct double2 *, int, struct double2 *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnZgesvdjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, const struct double2 *, int, const struct double2 *, int, int *, struct gesvdjInfo *, int)) \
    F(int, cusolverDnZgesvdj_bufferSize, (struct cusolverDnContext *, int, int, int, int, const struct double2 *, int, const double *, const struct double2 *, int, const struct double2 *, int, int *, struct gesvdjInfo *)) \
    F(int, cusolverDnZgetrf, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, int *, int *)) \
    F(int, cusolverDnZgetrf_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZgetrs, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const int *, struct double2 *, int, int *)) \
    F(int, cusolverDnZheevd, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, int *)) \
    F(int, cusolverDnZheevd_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, int *)) \
    F(int, cusolverDnZheevj, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, int *, struct syevjInfo *)) \
    F(int, cusolverDnZheevjBatched, (struct cusolverDnContext *, int, int, int, struct double2 *, int, double *, struct double2 *, int, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnZheevjBatched_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, int *, struct syevjInfo *, int)) \
    F(int, cusolverDnZheevj_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const double *, int *, struct syevjInfo *)) \
    F(int, cusolverDnZpotrf, (struct cusolverDnContext *, int, int, struct double2 *, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZpotrfBatched, (struct cusolverDnContext *, int, int, struct double2 * *, int, int *, int)) \
    F(int, cusolverDnZpotrf_bufferSize, (struct cusolverDnContext *, int, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZpotrs, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZpotrsBatched, (struct cusolverDnContext *, int, int, int, struct double2 * *, int, struct double2 * *, int, int *, int)) \
    F(int, cusolverDnZsytrf, (struct cusolverDnContext *, int, int, struct double2 *, int, int *, struct double2 *, int, int *)) \
    F(int, cusolverDnZsytrf_bufferSize, (struct cusolverDnContext *, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZungqr, (struct cusolverDnContext *, int, int, int, struct double2 *, int, const struct double2 *, struct double2 *, int, int *)) \
    F(int, cusolverDnZungqr_bufferSize, (struct cusolverDnContext *, int, int, int, const struct double2 *, int, const struct double2 *, int *)) \
    F(int, cusolverDnZunmqr, (struct cusolverDnContext *, int, int, int, int, int, const struct double2 *, int, const struct double2 *, struct double2 *, int, struct double2 *, int, int *)) \
    F(int, cusolverDnZunmqr_bufferSize, (struct cusolverDnContext *, int, int, int, int, int, const struct double2 *, int, const struct double2 *, const struct double2 *, int, int *)) \
    F(int, cusolverGetProperty, (int, int *)) \
    F(int, cusolverGetVersion, (int *))

#endif
