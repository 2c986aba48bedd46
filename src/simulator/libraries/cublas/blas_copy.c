/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of vectors and matrices between host and device. A vector with a step is a matrix with one
 * row. Copies without a stream are done when the function returns. */
#include "simulator/libraries/cublas/vs_blas.h"

struct blas_copy {
    int64_t rows, columns, element, from_ld, to_ld; /* elements, element in bytes */
    const void *from;
    void *to;
    bool to_device, async;
    CUstream stream;
};

static int copy(const struct blas_copy *c)
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

#define COPIES(direction, to_device_, I, W)                                                        \
    int cublas##direction##Matrix##W(I rows, I columns, I element, const void *a, I lda, void *b,  \
                                     I ldb)                                                        \
    {                                                                                              \
        return copy(&(struct blas_copy){rows, columns, element, lda, ldb, a, b, to_device_, false, \
                                        NULL});                                                    \
    }                                                                                              \
    int cublas##direction##MatrixAsync##W(I rows, I columns, I element, const void *a, I lda,      \
                                          void *b, I ldb, CUstream stream)                         \
    {                                                                                              \
        return copy(&(struct blas_copy){rows, columns, element, lda, ldb, a, b, to_device_, true,  \
                                        stream});                                                  \
    }                                                                                              \
    int cublas##direction##Vector##W(I n, I element, const void *x, I incx, void *y, I incy)       \
    {                                                                                              \
        return n < 0 ? CUBLAS_STATUS_INVALID_VALUE                                                 \
                     : copy(&(struct blas_copy){1, n, element, incx, incy, x, y, to_device_,       \
                                                false, NULL});                                     \
    }                                                                                              \
    int cublas##direction##VectorAsync##W(I n, I element, const void *x, I incx, void *y, I incy,  \
                                          CUstream stream)                                         \
    {                                                                                              \
        return n < 0 ? CUBLAS_STATUS_INVALID_VALUE                                                 \
                     : copy(&(struct blas_copy){1, n, element, incx, incy, x, y, to_device_, true, \
                                                stream});                                          \
    }
COPIES(Set, true, int, )
COPIES(Set, true, int64_t, _64)
COPIES(Get, false, int, )
COPIES(Get, false, int64_t, _64)
