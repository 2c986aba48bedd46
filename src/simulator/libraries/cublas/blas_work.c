/* SPDX-License-Identifier: Apache-2.0
 *
 * Work of cuBLAS on the stream of its handle. */
#include "simulator/libraries/cublas/vs_blas.h"

#define OPERATIONS_PER_BLOCK 65536.0

int vs_blas_status(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS: return CUBLAS_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY: return CUBLAS_STATUS_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_INVALID_CONTEXT: return CUBLAS_STATUS_NOT_INITIALIZED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

int vs_blas_work(struct cublasContext *h, const char *name, int type, double operations,
                 double elements)
{
    if (vs_library_is_complex(type))
        operations *= 4;
    struct vs_sim_work work = {.name = name,
                               .number = vs_blas_number(type, h->math_mode),
                               .operations = operations,
                               .bytes = elements * vs_library_bits(type) / 8,
                               .blocks = (uint64_t)(operations / OPERATIONS_PER_BLOCK) + 1};
    return vs_blas_status(vs_library_submit(h->stream, &work));
}

int vs_blas_wait(struct cublasContext *h)
{
    return vs_blas_status(vs_library_driver()->cuStreamSynchronize(h->stream));
}
