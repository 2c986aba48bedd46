/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of vectors and matrices between host and device. A vector with a step is a matrix with one
 * row. Copies without a stream are done when the function returns. */
#include "simulator/libraries/cublas/vs_blas.h"

int vs_blas_copy(const struct vs_blas_copy *c)
{
    const struct vs_library_driver *d = vs_library_driver();
    if (c->rows < 0 || c->columns < 0 || c->element <= 0 || c->from_ld <= 0 || c->to_ld <= 0 ||
        c->from_ld < c->rows || c->to_ld < c->rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!d)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!c->rows || !c->columns)
        return CUBLAS_STATUS_SUCCESS;
    size_t element = (size_t)c->element;
    CUDA_MEMCPY2D all = {.srcMemoryType = c->to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                         .dstMemoryType = c->to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                         .srcHost = c->from,
                         .srcDevice = (CUdeviceptr)(uintptr_t)c->from,
                         .srcPitch = (size_t)c->from_ld * element,
                         .dstHost = c->to,
                         .dstDevice = (CUdeviceptr)(uintptr_t)c->to,
                         .dstPitch = (size_t)c->to_ld * element,
                         .WidthInBytes = (size_t)c->rows * element,
                         .Height = (size_t)c->columns};
    CUresult e = d->cuMemcpy2DAsync_v2(&all, c->stream);
    if (!e && !c->async)
        e = d->cuStreamSynchronize(c->stream);
    return e ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS;
}
