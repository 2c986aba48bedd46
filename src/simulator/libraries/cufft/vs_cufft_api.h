/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cufft, written by scripts/library_tables.py from the
 * headers of cufft 11.2.1.3 (CUDA 12) and cufft 12.5.0.14 (CUDA 13). Do not edit.
 * VS_CUFFT_FUNCTIONS(F): F(result, name, parameters) for each function that a C file defines. */
#ifndef VS_CUFFT_API_H
#define VS_CUFFT_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN = 1, CUFFT_ALLOC_FAILED = 2, CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4, CUFFT_EXEC_FAILED = 6, CUFFT_SETUP_FAILED = 7, CUFFT_INVALID_SIZE = 8,
    CUFFT_NO_WORKSPACE = 13, CUFFT_NOT_SUPPORTED = 16, CUFFT_R2C = 42, CUFFT_C2R = 44,
    CUFFT_C2C = 41, CUFFT_D2Z = 106, CUFFT_Z2D = 108, CUFFT_Z2Z = 105,
};

#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 5
#define CUFFT_VER_PATCH 0

struct CUstream_st;
struct double2;
struct float2;

#define VS_CUFFT_FUNCTIONS(F) \
    F(int, cufftCreate, (int *)) \
    F(int, cufftDestroy, (int)) \
    F(int, cufftExecC2C, (int, struct float2 *, struct float2 *, int)) \
    F(int, cufftExecC2R, (int, struct float2 *, float *)) \
    F(int, cufftExecD2Z, (int, double *, struct double2 *)) \
    F(int, cufftExecR2C, (int, float *, struct float2 *)) \
    F(int, cufftExecZ2D, (int, struct double2 *, double *)) \
    F(int, cufftExecZ2Z, (int, struct double2 *, struct double2 *, int)) \
    F(int, cufftGetProperty, (int, int *)) \
    F(int, cufftGetSize, (int, unsigned long *)) \
    F(int, cufftGetVersion, (int *)) \
    F(int, cufftMakePlan1d, (int, int, int, int, unsigned long *)) \
    F(int, cufftMakePlan2d, (int, int, int, int, unsigned long *)) \
    F(int, cufftMakePlan3d, (int, int, int, int, int, unsigned long *)) \
    F(int, cufftMakePlanMany, (int, int, int *, int *, int, int, int *, int, int, int, int, unsigned long *)) \
    F(int, cufftMakePlanMany64, (int, int, long long *, long long *, long long, long long, long long *, long long, long long, int, long long, unsigned long *)) \
    F(int, cufftPlan1d, (int *, int, int, int)) \
    F(int, cufftPlan2d, (int *, int, int, int)) \
    F(int, cufftPlan3d, (int *, int, int, int, int)) \
    F(int, cufftPlanMany, (int *, int, int *, int *, int, int, int *, int, int, int, int)) \
    F(int, cufftSetAutoAllocation, (int, int)) \
    F(int, cufftSetStream, (int, struct CUstream_st *)) \
    F(int, cufftSetWorkArea, (int, void *)) \
    F(int, cufftXtExec, (int, void *, void *, int)) \
    F(int, cufftXtMakePlanMany, (int, int, long long *, long long *, long long, long long, int, long long *, long long, long long, int, long long, unsigned long *, int))

#endif
