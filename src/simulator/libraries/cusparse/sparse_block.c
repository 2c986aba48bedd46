/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSPARSE's older functions for matrices of square blocks (BSR): products and triangular solves for
 * each of the four number types. Values are not computed; there is never a zero pivot. */
#include "simulator/libraries/cusparse/vs_sparse.h"

VS_CUSPARSE_FUNCTIONS(VS_LIBRARY_DECLARE)

#define HANDLE struct cusparseContext *handle
#define WRONG CUSPARSE_STATUS_INVALID_VALUE

/* Work on *blocks* blocks of *dim* × *dim* numbers, for *columns* right-hand sides. */
static int run(HANDLE, const char *name, int type, int rows, int blocks, int dim, int columns,
               const struct cusparseMatDescr *descr)
{
    if (rows < 0 || blocks < 0 || dim < 1 || columns < 0 || !vs_library_object(descr, VS_SPARSE_LEGACY))
        return WRONG;
    double numbers = (double)blocks * dim * dim, side = (double)rows * dim * columns;
    return vs_sparse_run(handle, name, type, numbers * columns,
                         (numbers + 2 * side) * vs_sparse_bytes(type) + 4.0 * blocks);
}

/* An int size, as these functions give it. */
static int buffer(HANDLE, const char *name, int rows, int blocks, int dim, int *bytes)
{
    size_t size;
    if (rows < 0 || blocks < 0 || dim < 1 || !bytes)
        return WRONG;
    int status = vs_sparse_buffer(handle, name, 16 * ((uint64_t)rows + 1), &size);
    if (!status)
        *bytes = (int)size;
    return status;
}

#define BLOCKS(T, element, number)                                                                 \
    int cusparse##T##bsrmv(HANDLE, int dir, int trans, int mb, int nb, int nnzb,                   \
                           const element *alpha, struct cusparseMatDescr *const descr,             \
                           const element *values, const int *offsets, const int *indices, int dim, \
                           const element *x, const element *beta, element *y)                      \
    {                                                                                              \
        (void)dir, (void)trans, (void)nb, (void)alpha, (void)values, (void)offsets, (void)indices; \
        (void)x, (void)beta, (void)y;                                                              \
        return run(handle, "cusparse" #T "bsrmv", number, mb, nnzb, dim, 1, descr);                \
    }                                                                                              \
    int cusparse##T##bsrmm(HANDLE, int dir, int trans, int trans_b, int mb, int n, int kb,         \
                           int nnzb, const element *alpha, struct cusparseMatDescr *const descr,   \
                           const element *values, const int *offsets, const int *indices,          \
                           const int dim, const element *b, const int ldb, const element *beta,    \
                           element *c, int ldc)                                                    \
    {                                                                                              \
        (void)dir, (void)trans, (void)trans_b, (void)kb, (void)alpha, (void)values, (void)offsets; \
        (void)indices, (void)b, (void)ldb, (void)beta, (void)c, (void)ldc;                         \
        return run(handle, "cusparse" #T "bsrmm", number, mb, nnzb, dim, n, descr);                \
    }                                                                                              \
    int cusparse##T##bsrsv2_bufferSize(HANDLE, int dir, int trans, int mb, int nnzb,               \
                                       struct cusparseMatDescr *const descr, element *values,      \
                                       const int *offsets, const int *indices, int dim,            \
                                       struct bsrsv2Info *info, int *bytes)                        \
    {                                                                                              \
        (void)dir, (void)trans, (void)descr, (void)values, (void)offsets, (void)indices, (void)info; \
        return buffer(handle, "cusparse" #T "bsrsv2", mb, nnzb, dim, bytes);                       \
    }                                                                                              \
    int cusparse##T##bsrsv2_analysis(HANDLE, int dir, int trans, int mb, int nnzb,                 \
                                     struct cusparseMatDescr *const descr, const element *values,  \
                                     const int *offsets, const int *indices, int dim,              \
                                     struct bsrsv2Info *info, int policy, void *work)              \
    {                                                                                              \
        (void)dir, (void)trans, (void)values, (void)offsets, (void)indices, (void)policy, (void)work; \
        if (!vs_library_object(info, VS_SPARSE_BSRSV))                                             \
            return WRONG;                                                                          \
        return run(handle, "cusparse" #T "bsrsv2_analysis", number, mb, nnzb, dim, 1, descr);      \
    }                                                                                              \
    int cusparse##T##bsrsv2_solve(HANDLE, int dir, int trans, int mb, int nnzb,                    \
                                  const element *alpha, struct cusparseMatDescr *const descr,      \
                                  const element *values, const int *offsets, const int *indices,   \
                                  int dim, struct bsrsv2Info *info, const element *f, element *x,  \
                                  int policy, void *work)                                          \
    {                                                                                              \
        (void)dir, (void)trans, (void)alpha, (void)values, (void)offsets, (void)indices, (void)f;  \
        (void)x, (void)policy, (void)work;                                                         \
        if (!vs_library_object(info, VS_SPARSE_BSRSV))                                             \
            return WRONG;                                                                          \
        return run(handle, "cusparse" #T "bsrsv2_solve", number, mb, nnzb, dim, 1, descr);         \
    }                                                                                              \
    int cusparse##T##bsrsm2_bufferSize(HANDLE, int dir, int trans, int trans_x, int mb, int n,     \
                                       int nnzb, struct cusparseMatDescr *const descr,             \
                                       element *values, const int *offsets, const int *indices,    \
                                       int dim, struct bsrsm2Info *info, int *bytes)               \
    {                                                                                              \
        (void)dir, (void)trans, (void)trans_x, (void)n, (void)descr, (void)values, (void)offsets;  \
        (void)indices, (void)info;                                                                 \
        return buffer(handle, "cusparse" #T "bsrsm2", mb, nnzb, dim, bytes);                       \
    }                                                                                              \
    int cusparse##T##bsrsm2_analysis(HANDLE, int dir, int trans, int trans_x, int mb, int n,       \
                                     int nnzb, struct cusparseMatDescr *const descr,               \
                                     const element *values, const int *offsets,                    \
                                     const int *indices, int dim, struct bsrsm2Info *info,         \
                                     int policy, void *work)                                       \
    {                                                                                              \
        (void)dir, (void)trans, (void)trans_x, (void)n, (void)values, (void)offsets;               \
        (void)indices, (void)policy, (void)work;                                                   \
        if (!vs_library_object(info, VS_SPARSE_BSRSM))                                             \
            return WRONG;                                                                          \
        return run(handle, "cusparse" #T "bsrsm2_analysis", number, mb, nnzb, dim, 1, descr);      \
    }                                                                                              \
    int cusparse##T##bsrsm2_solve(HANDLE, int dir, int trans, int trans_x, int mb, int n,          \
                                  int nnzb, const element *alpha,                                  \
                                  struct cusparseMatDescr *const descr, const element *values,     \
                                  const int *offsets, const int *indices, int dim,                 \
                                  struct bsrsm2Info *info, const element *b, int ldb, element *x,  \
                                  int ldx, int policy, void *work)                                 \
    {                                                                                              \
        (void)dir, (void)trans, (void)trans_x, (void)alpha, (void)values, (void)offsets;           \
        (void)indices, (void)b, (void)ldb, (void)x, (void)ldx, (void)policy, (void)work;           \
        if (!vs_library_object(info, VS_SPARSE_BSRSM))                                             \
            return WRONG;                                                                          \
        return run(handle, "cusparse" #T "bsrsm2_solve", number, mb, nnzb, dim, n, descr);         \
    }
BLOCKS(S, float, CUDA_R_32F)
BLOCKS(D, double, CUDA_R_64F)
BLOCKS(C, struct float2, CUDA_C_32F)
BLOCKS(Z, struct double2, CUDA_C_64F)

/* -1: no zero pivot; with CUSPARSE_POINTER_MODE_DEVICE the result is on the device. */
static int no_pivot(HANDLE, const void *info, int kind, int *position)
{
    CUstream stream;
    if (!vs_sparse_handle(handle, &stream))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    if (!vs_library_object(info, kind) || !position)
        return WRONG;
    vs_library_driver()->cuStreamSynchronize(stream); /* as the manual says: it blocks */
    *position = -1;
    return CUSPARSE_STATUS_SUCCESS;
}

int cusparseXbsrsv2_zeroPivot(HANDLE, struct bsrsv2Info *info, int *position)
{
    return no_pivot(handle, info, VS_SPARSE_BSRSV, position);
}

int cusparseXbsrsm2_zeroPivot(HANDLE, struct bsrsm2Info *info, int *position)
{
    return no_pivot(handle, info, VS_SPARSE_BSRSM, position);
}
