/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS handles. */
#include "simulator/libraries/cublas/vs_cublas_api.h"
#include "simulator/libraries/common/vs_library_base.h"

VS_CUBLAS_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { HANDLE = 1 };

struct cublasContext {
    CUstream stream;
};

int cublasCreate_v2(struct cublasContext **handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_library_driver())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = vs_library_new(HANDLE, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

int cublasDestroy_v2(struct cublasContext *handle)
{
    return vs_library_delete(handle, HANDLE) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
