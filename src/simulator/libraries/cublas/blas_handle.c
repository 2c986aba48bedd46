/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS handles, and the texts of statuses. The first one on a device takes the memory of the library's kernels
 * there, and each one a workspace, by the table of sizes (docs/internals/simulator.md). */
#include "simulator/libraries/cublas/vs_blas.h"
#include "simulator/libraries/cublaslt/vs_blas_handle.h"
#include "simulator/libraries/sizes/vs_library_sizes.h"

#define WORKSPACE_ALIGNMENT 256

int cublasCreate_v2(struct cublasContext **handle)
{
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_library_use_device())
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!vs_library_load())
        return CUBLAS_STATUS_ALLOC_FAILED;
    CUdeviceptr own = 0;
    uint64_t bytes = vs_library_size("workspace", "", 0, "no row for this device");
    if (bytes && vs_library_driver()->cuMemAlloc_v2(&own, bytes))
        return CUBLAS_STATUS_ALLOC_FAILED;
    struct cublasContext *h = vs_library_new(VS_BLAS_HANDLE, sizeof *h);
    h->own = own;
    vramscopeSimBlasHandle(h, true);
    *handle = h;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasDestroy_v2(struct cublasContext *h)
{
    if (vs_library_object(h, VS_BLAS_HANDLE)) {
        vramscopeSimBlasHandle(h, false);
        if (h->own)
            vs_library_driver()->cuMemFree_v2(h->own);
    }
    return vs_library_delete(h, VS_BLAS_HANDLE) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* cuBLAS, cublasSetStream: returns to the default workspace. */
int cublasSetStream_v2(struct cublasContext *h, CUstream stream)
{
    VS_BLAS_CHECK(h, false);
    h->stream = stream;
    h->workspace = NULL;
    h->workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasSetWorkspace_v2(struct cublasContext *h, void *workspace, size_t bytes)
{
    VS_BLAS_CHECK(h, (uintptr_t)workspace % WORKSPACE_ALIGNMENT);
    h->workspace = workspace;
    h->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

bool vs_blas_is_math_mode(int mode)
{
    int known = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION | 15, low = mode & 15;
    return !(mode & ~known) && low <= CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH &&
           (low <= CUBLAS_FP32_EMULATED_BF16X9_MATH || low == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
}

size_t cublasGetCudartVersion(void)
{
    return vs_library_cuda_major() == 12 ? 12090 : CUDART_VERSION;
}

/* ---- statuses ---- */

const char *cublasGetStatusString(int status)
{
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED: return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE: return "an invalid value was used as an argument";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "an absent device architectural feature is required";
    case CUBLAS_STATUS_MAPPING_ERROR: return "an access to GPU memory space failed";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "the GPU program failed to execute";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "an internal operation failed";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "the functionality is not supported";
    case CUBLAS_STATUS_LICENSE_ERROR: return "the license is missing or invalid";
    default: return "unknown status";
    }
}
