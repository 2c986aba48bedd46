/* SPDX-License-Identifier: Apache-2.0
 *
 * What all files of the stand-in for cuSPARSE use: the handle's stream, work, sizes, index arrays. */
#include <stdio.h>
#include <stdlib.h>

#include "simulator/libraries/cusparse/vs_sparse.h"

static struct cusparseContext *handle_of(const struct cusparseContext *handle)
{
    return vs_library_object(handle, VS_SPARSE_HANDLE);
}

/* ---- helpers ---- */

bool vs_sparse_handle(const struct cusparseContext *handle, CUstream *stream)
{
    struct cusparseContext *h = handle_of(handle);
    if (h && stream)
        *stream = h->stream;
    return h != NULL;
}

unsigned vs_sparse_bytes(int type)
{
    switch (type) {
    case CUDA_R_8I: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F:
    case CUDA_R_32I:
    case CUDA_C_16F:
    case CUDA_C_16BF: return 4;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_C_64F: return 16;
    default: return 0;
    }
}

unsigned vs_sparse_index_bytes(int type)
{
    return type == CUSPARSE_INDEX_16U ? 2 : type == CUSPARSE_INDEX_32I ? 4 : type == CUSPARSE_INDEX_64I ? 8 : 0;
}

int vs_sparse_run(const struct cusparseContext *handle, const char *name, int type,
                  double operations, double bytes)
{
    CUstream stream;
    if (!vs_sparse_handle(handle, &stream))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    bool wide = vs_library_number(type) == VS_SIM_FP64;
    struct vs_sim_work work = {.name = name,
                               .number = wide ? VS_SIM_FP64 : VS_SIM_FP32,
                               .operations = (vs_library_is_complex(type) ? 8 : 2) * operations,
                               .bytes = bytes};
    return vs_library_submit(stream, &work) ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}

int vs_sparse_buffer(const struct cusparseContext *handle, const char *name, uint64_t assumed,
                     size_t *bytes)
{
    if (!handle_of(handle))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!bytes)
        return CUSPARSE_STATUS_INVALID_VALUE;
    *bytes = (assumed + 255) / 256 * 256;
    vs_library_assume(name, *bytes, "cuSPARSE's buffer can be measured on a real GPU only");
    return CUSPARSE_STATUS_SUCCESS;
}

int64_t vs_sparse_index(const void *array, int64_t i, unsigned bytes)
{
    return bytes == 8 ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

int vs_sparse_in_order(const struct cusparseContext *handle, bool ok, void (*run)(void *data),
                       const void *data, size_t bytes)
{
    CUstream stream;
    if (!vs_sparse_handle(handle, &stream))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!ok)
        return CUSPARSE_STATUS_INVALID_VALUE;
    return vs_library_in_order(stream, run, data, bytes) ? CUSPARSE_STATUS_EXECUTION_FAILED
                                                         : CUSPARSE_STATUS_SUCCESS;
}

/* ---- statuses ---- */

const char *cusparseGetErrorString(int status)
{
    static const char *const texts[] = {
        "success", "the library was not initialized", "resource allocation failed", "an argument is invalid",
        "the device lacks a feature that is needed", "device memory could not be mapped",
        "the work could not be launched", "internal error", "the matrix type is not supported", "zero pivot",
        "not supported", "insufficient resources",
    };
    bool known = status >= 0 && status < (int)(sizeof texts / sizeof *texts);
    return known ? texts[status] : "unknown error";
}
