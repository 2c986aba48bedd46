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
    CUSOLVERDN_GETRF = 0, CUSOLVERDN_POTRF = 1, CUSOLVER_DETERMINISTIC_RESULTS = 1,
    CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 2, CUSOLVER_STATUS_SUCCESS = 0,
    CUSOLVER_STATUS_NOT_INITIALIZED = 1, CUSOLVER_STATUS_ALLOC_FAILED = 2,
    CUSOLVER_STATUS_INVALID_VALUE = 3, CUSOLVER_STATUS_EXECUTION_FAILED = 6,
    CUSOLVER_STATUS_NOT_SUPPORTED = 9, CUSOLVER_EIG_MODE_VECTOR = 1,
};

#define CUSOLVER_VER_MAJOR 12
#define CUSOLVER_VER_MINOR 4
#define CUSOLVER_VER_PATCH 1

struct CUstream_st;
struct cusolverDnContext;
struct cusolverDnParams;
struct cusparseMatDescr;
struct double2;
struct float2;
struct gesvdjInfo;
struct syevjInfo;

#define VS_CUSOLVER_FUNCTIONS(F) \
    F(int, cusolverDnCreate, (struct cusolverDnContext **)) \
    F(int, cusolverDnCreateGesvdjInfo, (struct gesvdjInfo **)) \
    F(int, cusolverDnCreateParams, (struct cusolverDnParams **)) \
    F(int, cusolverDnCreateSyevjInfo, (struct syevjInfo **)) \
    F(int, cusolverDnDestroy, (struct cusolverDnContext *)) \
    F(int, cusolverDnDestroyGesvdjInfo, (struct gesvdjInfo *)) \
    F(int, cusolverDnDestroyParams, (struct cusolverDnParams *)) \
    F(int, cusolverDnDestroySyevjInfo, (struct syevjInfo *)) \
    F(int, cusolverDnGetDeterministicMode, (struct cusolverDnContext *, int *)) \
    F(int, cusolverDnGetStream, (struct cusolverDnContext *, struct CUstream_st **)) \
    F(int, cusolverDnSetAdvOptions, (struct cusolverDnParams *, int, int)) \
    F(int, cusolverDnSetDeterministicMode, (struct cusolverDnContext *, int)) \
    F(int, cusolverDnSetStream, (struct cusolverDnContext *, struct CUstream_st *)) \
    F(int, cusolverGetProperty, (int, int *)) \
    F(int, cusolverGetVersion, (int *))

#endif
