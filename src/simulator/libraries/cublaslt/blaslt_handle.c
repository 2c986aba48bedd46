/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLASLt handles, which may be those of cuBLAS, and the versions. */
#include <stdatomic.h>

#include "simulator/libraries/cublaslt/vs_blas_handle.h"
#include "simulator/libraries/cublaslt/vs_blaslt.h"

bool vs_lt_is_handle(const struct cublasLtContext *handle)
{
    return vs_library_object(handle, VS_LT_HANDLE) || vs_library_object(handle, VS_LT_BLAS_HANDLE);
}

void vramscopeSimBlasHandle(const void *handle, bool live)
{
    if (live)
        vs_library_adopt(handle, VS_LT_BLAS_HANDLE);
    else
        vs_library_forget(handle, VS_LT_BLAS_HANDLE);
}

int cublasLtCreate(struct cublasLtContext **handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_library_use_device())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = vs_library_new(VS_LT_HANDLE, 1);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtDestroy(struct cublasLtContext *handle)
{
    return vs_library_delete(handle, VS_LT_HANDLE) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

size_t cublasLtGetVersion(void)
{
    struct vs_library_version v = vs_library_version();
    return (size_t)(v.major * 10000 + v.minor * 100 + v.patch);
}

size_t cublasLtGetCudartVersion(void)
{
    return vs_library_cuda_major() == 12 ? 12090 : CUDART_VERSION;
}

unsigned int cublasLtDisableCpuInstructionsSetMask(unsigned int mask)
{
    static atomic_uint masked;
    return atomic_exchange(&masked, mask); /* the mask before */
}
