/* SPDX-License-Identifier: Apache-2.0
 *
 * Values, structures and functions of cufft, written by scripts/library_tables.py from the
 * headers of cufft 11.2.1.3 (CUDA 12) and cufft 12.5.0.14 (CUDA 13). Do not edit.
 * VS_CUFFT_FUNCTIONS(F): F(releases, kind, result, name, parameters) for each function;
 * releases: 1 CUDA 12, 2 CUDA 13, 3 both; kind: STATUS, SIZE, TEXT, NUMBER, POINTER, NOTHING. */
#ifndef VS_CUFFT_API_H
#define VS_CUFFT_API_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

enum {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_SUPPORTED = 16,
    CUFFT_R2C = 42,
    CUFFT_C2R = 44,
    CUFFT_C2C = 41,
    CUFFT_D2Z = 106,
    CUFFT_Z2D = 108,
    CUFFT_Z2Z = 105,
};

#define CUFFT_INVERSE 1
#define CUFFT_VERSION 12500
#define CUFFT_VER_BUILD 14
#define CUFFT_VER_MAJOR 12
#define CUFFT_VER_MINOR 5
#define CUFFT_VER_PATCH 0

struct CUstream_st;
struct cudaLibXtDesc_t;
struct double2;
struct float2;

struct cudaXtDesc_t {
    int version;
    int nGPUs;
    int GPUs[64];
    void *data[64];
    unsigned long size[64];
    void *cudaXtState;
};
_Static_assert(sizeof(struct cudaXtDesc_t) == 1296, "layout of cudaXtDesc_t");

struct cudaLibXtDesc_t {
    int version;
    struct cudaXtDesc_t *descriptor;
    int library;
    int subFormat;
    void *libDescriptor;
};
_Static_assert(sizeof(struct cudaLibXtDesc_t) == 32, "layout of cudaLibXtDesc_t");

struct cufftXt1dFactors_t {
    long long size;
    long long stringCount;
    long long stringLength;
    long long substringLength;
    long long factor1;
    long long factor2;
    long long stringMask;
    long long substringMask;
    long long factor1Mask;
    long long factor2Mask;
    int stringShift;
    int substringShift;
    int factor1Shift;
    int factor2Shift;
};
_Static_assert(sizeof(struct cufftXt1dFactors_t) == 96, "layout of cufftXt1dFactors_t");

typedef struct cudaXtDesc_t cudaXtDesc;
typedef struct cudaLibXtDesc_t cudaLibXtDesc;
typedef struct cufftXt1dFactors_t cufftXt1dFactors;

#define VS_CUFFT_FUNCTIONS(F) \
    F(3, STATUS, int, cufftCreate, (int *)) \
    F(3, STATUS, int, cufftDestroy, (int)) \
    F(3, STATUS, int, cufftEstimate1d, (int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftEstimate2d, (int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftEstimate3d, (int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftEstimateMany, (int, int *, int *, int, int, int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftExecC2C, (int, struct float2 *, struct float2 *, int)) \
    F(3, STATUS, int, cufftExecC2R, (int, struct float2 *, float *)) \
    F(3, STATUS, int, cufftExecD2Z, (int, double *, struct double2 *)) \
    F(3, STATUS, int, cufftExecR2C, (int, float *, struct float2 *)) \
    F(3, STATUS, int, cufftExecZ2D, (int, struct double2 *, double *)) \
    F(3, STATUS, int, cufftExecZ2Z, (int, struct double2 *, struct double2 *, int)) \
    F(3, STATUS, int, cufftGetPlanPropertyInt64, (int, int, long long *)) \
    F(3, STATUS, int, cufftGetProperty, (int, int *)) \
    F(3, STATUS, int, cufftGetSize, (int, unsigned long *)) \
    F(3, STATUS, int, cufftGetSize1d, (int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftGetSize2d, (int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftGetSize3d, (int, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftGetSizeMany, (int, int, int *, int *, int, int, int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftGetSizeMany64, (int, int, long long *, long long *, long long, long long, long long *, long long, long long, int, long long, unsigned long *)) \
    F(3, STATUS, int, cufftGetVersion, (int *)) \
    F(3, STATUS, int, cufftMakePlan1d, (int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftMakePlan2d, (int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftMakePlan3d, (int, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftMakePlanMany, (int, int, int *, int *, int, int, int *, int, int, int, int, unsigned long *)) \
    F(3, STATUS, int, cufftMakePlanMany64, (int, int, long long *, long long *, long long, long long, long long *, long long, long long, int, long long, unsigned long *)) \
    F(3, STATUS, int, cufftPlan1d, (int *, int, int, int)) \
    F(3, STATUS, int, cufftPlan2d, (int *, int, int, int)) \
    F(3, STATUS, int, cufftPlan3d, (int *, int, int, int, int)) \
    F(3, STATUS, int, cufftPlanMany, (int *, int, int *, int *, int, int, int *, int, int, int, int)) \
    F(3, STATUS, int, cufftResetPlanProperty, (int, int)) \
    F(3, STATUS, int, cufftSetAutoAllocation, (int, int)) \
    F(3, STATUS, int, cufftSetPlanPropertyInt64, (int, int, const long long)) \
    F(3, STATUS, int, cufftSetStream, (int, struct CUstream_st *)) \
    F(3, STATUS, int, cufftSetWorkArea, (int, void *)) \
    F(3, STATUS, int, cufftXtClearCallback, (int, int)) \
    F(3, STATUS, int, cufftXtExec, (int, void *, void *, int)) \
    F(3, STATUS, int, cufftXtExecDescriptor, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *, int)) \
    F(3, STATUS, int, cufftXtExecDescriptorC2C, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *, int)) \
    F(3, STATUS, int, cufftXtExecDescriptorC2R, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *)) \
    F(3, STATUS, int, cufftXtExecDescriptorD2Z, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *)) \
    F(3, STATUS, int, cufftXtExecDescriptorR2C, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *)) \
    F(3, STATUS, int, cufftXtExecDescriptorZ2D, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *)) \
    F(3, STATUS, int, cufftXtExecDescriptorZ2Z, (int, struct cudaLibXtDesc_t *, struct cudaLibXtDesc_t *, int)) \
    F(3, STATUS, int, cufftXtFree, (struct cudaLibXtDesc_t *)) \
    F(3, STATUS, int, cufftXtGetSizeMany, (int, int, long long *, long long *, long long, long long, int, long long *, long long, long long, int, long long, unsigned long *, int)) \
    F(3, STATUS, int, cufftXtMakePlanMany, (int, int, long long *, long long *, long long, long long, int, long long *, long long, long long, int, long long, unsigned long *, int)) \
    F(3, STATUS, int, cufftXtMalloc, (int, struct cudaLibXtDesc_t **, int)) \
    F(3, STATUS, int, cufftXtMemcpy, (int, void *, void *, int)) \
    F(3, STATUS, int, cufftXtQueryPlan, (int, void *, int)) \
    F(3, STATUS, int, cufftXtSetCallback, (int, void **, int, void **)) \
    F(3, STATUS, int, cufftXtSetCallbackSharedSize, (int, int, size_t)) \
    F(3, STATUS, int, cufftXtSetGPUs, (int, int, int *)) \
    F(2, STATUS, int, cufftXtSetJITCallback, (int, const char *, const void *, size_t, int, void **)) \
    F(3, STATUS, int, cufftXtSetWorkArea, (int, void **)) \
    F(3, STATUS, int, cufftXtSetWorkAreaPolicy, (int, int, unsigned long *))

#endif
