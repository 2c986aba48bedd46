/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of cusolver.calls: checks, work on the handle's stream, outputs that decide, sizes of
 * workspaces. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "simulator/libraries/cusolver/vs_solver.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

/* The bytes of a number of cudaDataType *type*; 0 for one that cuSOLVER does not compute with. */
static unsigned bytes_of(int type)
{
    bool known = type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_C_32F || type == CUDA_C_64F;
    return known ? (unsigned)vs_library_bits(type) / 8 : 0;
}

/* Sets pivots to 1, a valid row, in stream order. */
static CUresult set_pivots(CUstream stream, void *pivots, int64_t count, unsigned bytes)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!d || !pivots || count <= 0)
        return CUDA_SUCCESS;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)pivots;
    if (bytes == sizeof(int))
        return d->cuMemsetD32Async(at, 1, (size_t)count, stream);
    /* 64-bit pivots: zeros, then the low half of each */
    CUresult e = d->cuMemsetD8Async(at, 0, (size_t)count * bytes, stream);
    return e ? e : d->cuMemsetD2D32Async(at, bytes, 1, 1, (size_t)count, stream);
}

int vs_solver_run(struct cusolverDnContext *handle, const struct vs_solver_call *call)
{
    unsigned bytes = bytes_of(call->type);
    if (call->bad || !bytes)
        return CUSOLVER_STATUS_INVALID_VALUE;
    for (int64_t i = 0; call->residuals && i < call->info_count; i++)
        call->residuals[i] = 0;
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (call->smallest < 0)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct vs_sim_work work = {.name = call->name,
                               .number = vs_library_number(call->type),
                               .operations = (vs_library_is_complex(call->type) ? 4 : 1) * call->operations,
                               .bytes = call->elements * bytes};
    CUresult e = vs_library_submit(handle->stream, &work);
    if (!e && call->info && call->info_count > 0)
        e = vs_library_zero(handle->stream, call->info, (size_t)call->info_count * sizeof(int));
    if (!e)
        e = set_pivots(handle->stream, call->pivots, call->smallest, call->pivot_bytes);
    return e == CUDA_SUCCESS                 ? CUSOLVER_STATUS_SUCCESS
           : e == CUDA_ERROR_NOT_INITIALIZED ? CUSOLVER_STATUS_NOT_INITIALIZED
                                             : CUSOLVER_STATUS_EXECUTION_FAILED;
}

double vs_solver_lu(int64_t m, int64_t n)
{
    double rows = (double)m, columns = (double)n, k = rows < columns ? rows : columns;
    return 2 * rows * columns * k - (rows + columns) * k * k + 2 * k * k * k / 3;
}

/* ---- workspaces ---- */

const char *vs_solver_key(char to[VS_SOLVER_KEY_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(to, VS_SOLVER_KEY_MAX, format, args);
    va_end(args);
    return to;
}

static uint64_t workspace_bytes(const char *name, const char *key, int64_t elements, unsigned bytes)
{
    uint64_t assumed = (uint64_t)(elements < 1 ? 1 : elements) * bytes;
    return vs_library_size(name, key, assumed, "cuSOLVER's workspace can be measured on a real GPU only");
}

int vs_solver_size(struct cusolverDnContext *handle, const struct vs_solver_size *size)
{
    unsigned each = bytes_of(size->type);
    if (size->bad)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (size->smallest < 0 || !size->lwork || !each)
        return CUSOLVER_STATUS_INVALID_VALUE;
    uint64_t count = (workspace_bytes(size->name, size->key, size->elements, each) + each - 1) / each;
    if (count > INT_MAX)
        return CUSOLVER_STATUS_INVALID_VALUE;
    *size->lwork = (int)count;
    return CUSOLVER_STATUS_SUCCESS;
}

int vs_solver_sizes(struct cusolverDnContext *handle, const struct vs_solver_sizes *sizes)
{
    char key[VS_SOLVER_KEY_MAX];
    unsigned each = bytes_of(sizes->type);
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (sizes->smallest < 0 || !sizes->device || !sizes->host || !each)
        return CUSOLVER_STATUS_INVALID_VALUE;
    vs_solver_key(key, "%sFP%d %" PRId64 "x%" PRId64 "x%" PRId64,
                  vs_library_is_complex(sizes->type) ? "complex " : "",
                  vs_library_number(sizes->type) == VS_SIM_FP64 ? 64 : 32, sizes->m, sizes->n, sizes->more);
    *sizes->device = workspace_bytes(sizes->name, key, sizes->elements, each);
    *sizes->host = 0;
    return CUSOLVER_STATUS_SUCCESS;
}

/* ---- handles, and settings of Jacobi's methods ---- */

int cusolverDnCreate(struct cusolverDnContext **handle)
{
    const struct vs_library_access made = {.kind = VS_SOLVER_HANDLE, .bytes = sizeof **handle};
    int e = vs_library_make(handle, &made);
    if (!e)
        (*handle)->deterministic = CUSOLVER_DETERMINISTIC_RESULTS;
    return e;
}

int vs_solver_result(struct cusolverDnContext *handle, const struct vs_solver_setting *s)
{
    if (!vs_library_object(handle, VS_SOLVER_HANDLE) || !vs_library_object(s->info, s->kind))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (!s->residual && !s->sweeps)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (s->residual)
        *s->residual = 0;
    else
        *s->sweeps = 1;
    return CUSOLVER_STATUS_SUCCESS;
}
