/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of cuSOLVER: checks, work on the handle's stream, outputs that decide. */
#include <limits.h>

#include "simulator/libraries/cusolver/vs_solver.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

static int status_of(CUresult e)
{
    return e == CUDA_SUCCESS               ? CUSOLVER_STATUS_SUCCESS
           : e == CUDA_ERROR_NOT_INITIALIZED ? CUSOLVER_STATUS_NOT_INITIALIZED
                                             : CUSOLVER_STATUS_EXECUTION_FAILED;
}

int vs_solver_run(struct cusolverDnContext *handle, const struct vs_solver_call *call)
{
    if (!vs_library_object(handle, VS_SOLVER_HANDLE))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    if (call->smallest < 0)
        return CUSOLVER_STATUS_INVALID_VALUE;
    struct vs_sim_work work = {.name = call->name,
                               .number = call->number,
                               .operations = call->operations,
                               .bytes = call->elements * call->element_bytes};
    CUresult e = vs_library_submit(handle->stream, &work);
    if (!e && call->info && call->info_count > 0)
        e = vs_library_zero(handle->stream, call->info, (size_t)call->info_count * sizeof(int));
    return status_of(e);
}

int vs_solver_pivots(struct cusolverDnContext *handle, void *pivots, int64_t count, unsigned bytes)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (!d || !pivots || count <= 0)
        return CUSOLVER_STATUS_SUCCESS;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)pivots;
    if (bytes == sizeof(int))
        return status_of(d->cuMemsetD32Async(at, 1, (size_t)count, handle->stream));
    /* 64-bit pivots: zeros, then the low half of each */
    CUresult e = d->cuMemsetD8Async(at, 0, (size_t)count * bytes, handle->stream);
    if (!e)
        e = d->cuMemsetD2D32Async(at, bytes, 1, 1, (size_t)count, handle->stream);
    return status_of(e);
}

double vs_solver_lu(int64_t m, int64_t n)
{
    double rows = (double)m, columns = (double)n, k = rows < columns ? rows : columns;
    return 2 * rows * columns * k - (rows + columns) * k * k + 2 * k * k * k / 3;
}

uint64_t vs_solver_workspace_bytes(const char *name, const char *key, int64_t elements,
                                   unsigned element_bytes)
{
    uint64_t assumed = (uint64_t)(elements < 1 ? 1 : elements) * element_bytes;
    return vs_library_size(name, key, assumed, "cuSOLVER's workspace can be measured on a real GPU only");
}

int64_t vs_solver_workspace(const char *name, const char *key, int64_t elements,
                            unsigned element_bytes)
{
    uint64_t bytes = vs_solver_workspace_bytes(name, key, elements, element_bytes);
    uint64_t count = (bytes + element_bytes - 1) / element_bytes;
    return count <= INT_MAX ? (int64_t)count : -1;
}

const char *vs_solver_type_name(int type)
{
    return type == CUDA_R_32F   ? "FP32"
           : type == CUDA_R_64F ? "FP64"
           : type == CUDA_C_32F ? "complex FP32"
                                : "complex FP64";
}

bool vs_solver_number(int type, enum vs_sim_number *number, unsigned *bytes, double *factor)
{
    *factor = type == CUDA_C_32F || type == CUDA_C_64F ? 4 : 1;
    switch (type) {
    case CUDA_R_32F: *number = VS_SIM_FP32, *bytes = 4; return true;
    case CUDA_R_64F: *number = VS_SIM_FP64, *bytes = 8; return true;
    case CUDA_C_32F: *number = VS_SIM_FP32, *bytes = 8; return true;
    case CUDA_C_64F: *number = VS_SIM_FP64, *bytes = 16; return true;
    default: return false;
    }
}
