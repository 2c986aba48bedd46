/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles, parameters and the settings of iterative solvers of cuSOLVER. */
#include "simulator/libraries/cusolver/vs_solver.h"

#define NEWEST                                                                                     \
    (struct vs_library_version) { CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH }
struct cusolverDnParams {
    int algorithm[2]; /* by CUSOLVERDN_GETRF, CUSOLVERDN_POTRF */
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

/* ---- settings of Jacobi's methods: objects without content here ---- */

int cusolverDnCreateSyevjInfo(struct syevjInfo **info)
{
    if (!info)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *info = vs_library_new(VS_SOLVER_SYEVJ, 1);
    return made(*info);
}

int cusolverDnDestroySyevjInfo(struct syevjInfo *info) { return gone(info, VS_SOLVER_SYEVJ); }

int cusolverDnCreateGesvdjInfo(struct gesvdjInfo **info)
{
    if (!info)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *info = vs_library_new(VS_SOLVER_GESVDJ, 1);
    return made(*info);
}

int cusolverDnDestroyGesvdjInfo(struct gesvdjInfo *info) { return gone(info, VS_SOLVER_GESVDJ); }
