/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles, parameters and the settings of iterative solvers of cuSOLVER. */
#include "simulator/libraries/cusolver/vs_solver.h"

#define NEWEST                                                                                     \
    (struct vs_library_version) { CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH }
#define SWEEPS 100 /* the documented default */

VS_CUSOLVER_FUNCTIONS(VS_LIBRARY_DECLARE)

struct cusolverDnParams {
    int algorithm[2]; /* by CUSOLVERDN_GETRF, CUSOLVERDN_POTRF */
};
struct syevjInfo {
    double tolerance;
    int sweeps, sort;
};
struct gesvdjInfo {
    double tolerance;
    int sweeps, sort;
};

static int made(void *object)
{
    return object ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}

static int gone(const void *object, int kind)
{
    return vs_library_delete(object, kind) ? CUSOLVER_STATUS_SUCCESS
                                           : CUSOLVER_STATUS_NOT_INITIALIZED;
}

int cusolverDnCreate(struct cusolverDnContext **handle)
{
    if (!handle)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (!vs_library_driver())
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    *handle = vs_library_new(VS_SOLVER_HANDLE, sizeof **handle);
    if (*handle)
        (*handle)->deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
    return made(*handle);
}

int cusolverDnDestroy(struct cusolverDnContext *handle) { return gone(handle, VS_SOLVER_HANDLE); }

int cusolverDnSetStream(struct cusolverDnContext *handle, struct CUstream_st *stream)
{
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

int cusolverDnGetStream(struct cusolverDnContext *handle, struct CUstream_st **stream)
{
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (!stream)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *stream = handle->stream;
    return CUSOLVER_STATUS_SUCCESS;
}

int cusolverDnSetDeterministicMode(struct cusolverDnContext *handle, int mode)
{
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (mode != CUSOLVER_DETERMINISTIC_RESULTS && mode != CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS)
        return CUSOLVER_STATUS_INVALID_VALUE;
    handle->deterministic = mode;
    return CUSOLVER_STATUS_SUCCESS;
}

int cusolverDnGetDeterministicMode(struct cusolverDnContext *handle, int *mode)
{
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (!mode)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *mode = handle->deterministic;
    return CUSOLVER_STATUS_SUCCESS;
}

int cusolverGetVersion(int *version)
{
    if (!version)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct vs_library_version v = vs_library_version(NEWEST);
    *version = v.major * 1000 + v.minor * 100 + v.patch;
    return CUSOLVER_STATUS_SUCCESS;
}

int cusolverGetProperty(int type, int *value)
{
    return vs_library_property(vs_library_version(NEWEST), type, value) ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

/* ---- parameters of the 64-bit functions ---- */

int cusolverDnCreateParams(struct cusolverDnParams **params)
{
    if (!params)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *params = vs_library_new(VS_SOLVER_PARAMS, sizeof **params);
    return made(*params);
}

int cusolverDnDestroyParams(struct cusolverDnParams *params) { return gone(params, VS_SOLVER_PARAMS); }

int cusolverDnSetAdvOptions(struct cusolverDnParams *params, int function, int algorithm)
{
    if (!vs_library_object(params, VS_SOLVER_PARAMS))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (function < CUSOLVERDN_GETRF || function > CUSOLVERDN_POTRF)
        return CUSOLVER_STATUS_INVALID_VALUE;
    params->algorithm[function] = algorithm;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- settings of Jacobi's methods ---- */

#define JACOBI(Name, type, kind)                                                                   \
    int cusolverDnCreate##Name##Info(struct type **info)                                           \
    {                                                                                              \
        if (!info)                                                                                 \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        *info = vs_library_new(kind, sizeof **info);                                               \
        if (*info)                                                                                 \
            **info = (struct type){.sweeps = SWEEPS, .sort = 1};                                   \
        return made(*info);                                                                        \
    }                                                                                              \
    int cusolverDnDestroy##Name##Info(struct type *info) { return gone(info, kind); }
#define JACOBI_SET(function, type, kind, field, value_type)                                        \
    int function(struct type *info, value_type value)                                              \
    {                                                                                              \
        if (!vs_library_object(info, kind))                                                        \
            return CUSOLVER_STATUS_NOT_INITIALIZED;                                                \
        info->field = value;                                                                       \
        return CUSOLVER_STATUS_SUCCESS;                                                            \
    }
/* How it went: one sweep, nothing left over. */
#define JACOBI_GET(function, type, kind, value_type, answer)                                       \
    int function(struct cusolverDnContext *handle, struct type *info, value_type *value)           \
    {                                                                                              \
        if (!vs_library_object(handle, VS_SOLVER_HANDLE) || !vs_library_object(info, kind))        \
            return CUSOLVER_STATUS_NOT_INITIALIZED;                                                \
        if (!value)                                                                                \
            return CUSOLVER_STATUS_INVALID_VALUE;                                                  \
        *value = answer;                                                                           \
        return CUSOLVER_STATUS_SUCCESS;                                                            \
    }
JACOBI(Syevj, syevjInfo, VS_SOLVER_SYEVJ)
JACOBI(Gesvdj, gesvdjInfo, VS_SOLVER_GESVDJ)
JACOBI_SET(cusolverDnXsyevjSetTolerance, syevjInfo, VS_SOLVER_SYEVJ, tolerance, double)
JACOBI_SET(cusolverDnXsyevjSetMaxSweeps, syevjInfo, VS_SOLVER_SYEVJ, sweeps, int)
JACOBI_SET(cusolverDnXsyevjSetSortEig, syevjInfo, VS_SOLVER_SYEVJ, sort, int)
JACOBI_SET(cusolverDnXgesvdjSetTolerance, gesvdjInfo, VS_SOLVER_GESVDJ, tolerance, double)
JACOBI_SET(cusolverDnXgesvdjSetMaxSweeps, gesvdjInfo, VS_SOLVER_GESVDJ, sweeps, int)
JACOBI_SET(cusolverDnXgesvdjSetSortEig, gesvdjInfo, VS_SOLVER_GESVDJ, sort, int)
JACOBI_GET(cusolverDnXsyevjGetResidual, syevjInfo, VS_SOLVER_SYEVJ, double, 0)
JACOBI_GET(cusolverDnXsyevjGetSweeps, syevjInfo, VS_SOLVER_SYEVJ, int, 1)
JACOBI_GET(cusolverDnXgesvdjGetResidual, gesvdjInfo, VS_SOLVER_GESVDJ, double, 0)
JACOBI_GET(cusolverDnXgesvdjGetSweeps, gesvdjInfo, VS_SOLVER_GESVDJ, int, 1)
