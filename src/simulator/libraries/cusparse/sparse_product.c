/* SPDX-License-Identifier: Apache-2.0
 *
 * Products and triangular solves with one sparse operand: SpMV, SpMM, SDDMM, SpSV, SpSM. Operands
 * are checked and the work takes its time; values are not computed. Buffer sizes are assumptions:
 * one index for each row of the sparse matrix. */
#include "simulator/libraries/cusparse/vs_sparse.h"

VS_CUSPARSE_FUNCTIONS(VS_LIBRARY_DECLARE)

#define HANDLE struct cusparseContext *handle
#define WRONG CUSPARSE_STATUS_INVALID_VALUE
typedef const struct cusparseSpMatDescr *sparse_ptr;
typedef const struct cusparseDnMatDescr *dense_ptr;
typedef const struct cusparseDnVecDescr *vector_ptr;

/* Elements stored, and their bytes with indices. */
static double stored(const struct cusparseSpMatDescr *m)
{
    double block = m->format == CUSPARSE_FORMAT_BSR ? (double)m->block_rows * (double)m->block_columns : 1;
    return (double)m->nnz * block * m->batch;
}

static double stored_bytes(const struct cusparseSpMatDescr *m)
{
    return stored(m) * (vs_sparse_bytes(m->type) + vs_sparse_index_bytes(m->index_type));
}

static double dense_bytes(const struct cusparseDnMatDescr *m)
{
    return (double)m->rows * (double)m->columns * m->batch * vs_sparse_bytes(m->type);
}

static uint64_t row_buffer(sparse_ptr m)
{
    return (uint64_t)m->rows * vs_sparse_index_bytes(m->index_type);
}

/* ---- SpMV, SpSV ---- */

static int check_vectors(sparse_ptr a, vector_ptr x, vector_ptr y, int op)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(a);
    struct cusparseDnVecDescr *in = vs_sparse_vector(x), *out = vs_sparse_vector(y);
    if (!m || !in || !out)
        return WRONG;
    int64_t rows = op ? m->columns : m->rows, columns = op ? m->rows : m->columns;
    if (m->format == CUSPARSE_FORMAT_BSR)
        rows *= m->block_rows, columns *= m->block_columns;
    return in->size == columns && out->size == rows ? CUSPARSE_STATUS_SUCCESS : WRONG;
}

int cusparseSpMV_bufferSize(HANDLE, int op, const void *alpha, sparse_ptr a, vector_ptr x,
                            const void *beta, struct cusparseDnVecDescr *y, int type, int algorithm,
                            unsigned long *bytes)
{
    (void)alpha, (void)beta, (void)type, (void)algorithm;
    int status = check_vectors(a, x, y, op);
    return status ? status : vs_sparse_buffer(handle, "cusparseSpMV", row_buffer(a), bytes);
}

int cusparseSpMV_preprocess(HANDLE, int op, const void *alpha, sparse_ptr a, vector_ptr x,
                            const void *beta, struct cusparseDnVecDescr *y, int type, int algorithm,
                            void *buffer)
{
    (void)alpha, (void)beta, (void)algorithm, (void)buffer;
    int status = check_vectors(a, x, y, op);
    return status ? status : vs_sparse_run(handle, "cusparseSpMV_preprocess", type, 0, stored_bytes(a));
}

int cusparseSpMV(HANDLE, int op, const void *alpha, sparse_ptr a, vector_ptr x, const void *beta,
                 struct cusparseDnVecDescr *y, int type, int algorithm, void *buffer)
{
    (void)alpha, (void)beta, (void)algorithm, (void)buffer;
    int status = check_vectors(a, x, y, op);
    if (status)
        return status;
    double ends = (double)(x->size + y->size) * vs_sparse_bytes(type);
    return vs_sparse_run(handle, "cusparseSpMV", type, stored(a), stored_bytes(a) + ends);
}

static int spsv(HANDLE, const char *name, int op, sparse_ptr a, vector_ptr x,
                struct cusparseDnVecDescr *y, int type, struct cusparseSpSVDescr *descr, double times)
{
    int status = check_vectors(a, x, y, op);
    if (status || !vs_library_object(descr, VS_SPARSE_SPSV) || a->rows != a->columns)
        return WRONG;
    return vs_sparse_run(handle, name, type, times * stored(a), stored_bytes(a));
}

int cusparseSpSV_bufferSize(HANDLE, int op, const void *alpha, sparse_ptr a, vector_ptr x,
                            struct cusparseDnVecDescr *y, int type, int algorithm,
                            struct cusparseSpSVDescr *descr, unsigned long *bytes)
{
    (void)alpha, (void)type, (void)algorithm;
    if (check_vectors(a, x, y, op) || !vs_library_object(descr, VS_SPARSE_SPSV))
        return WRONG;
    return vs_sparse_buffer(handle, "cusparseSpSV", 4 * row_buffer(a), bytes);
}

int cusparseSpSV_analysis(HANDLE, int op, const void *alpha, sparse_ptr a, vector_ptr x,
                          struct cusparseDnVecDescr *y, int type, int algorithm,
                          struct cusparseSpSVDescr *descr, void *buffer)
{
    (void)alpha, (void)algorithm, (void)buffer;
    return spsv(handle, "cusparseSpSV_analysis", op, a, x, y, type, descr, 0);
}

int cusparseSpSV_solve(HANDLE, int op, const void *alpha, sparse_ptr a, vector_ptr x,
                       struct cusparseDnVecDescr *y, int type, int algorithm,
                       struct cusparseSpSVDescr *descr)
{
    (void)alpha, (void)algorithm;
    return spsv(handle, "cusparseSpSV_solve", op, a, x, y, type, descr, 1);
}

/* ---- SpMM, SpSM, SDDMM ---- */

static int check_dense(sparse_ptr a, dense_ptr b, dense_ptr c)
{
    return vs_sparse_matrix(a) && vs_sparse_dense(b) && vs_sparse_dense(c) ? CUSPARSE_STATUS_SUCCESS
                                                                           : WRONG;
}

static int check_spmm(sparse_ptr a, dense_ptr b, dense_ptr c, int op_a, int op_b)
{
    if (check_dense(a, b, c))
        return WRONG;
    int64_t rows = op_a ? a->columns : a->rows, inner = op_a ? a->rows : a->columns;
    if (a->format == CUSPARSE_FORMAT_BSR)
        rows *= a->block_rows, inner *= a->block_columns;
    int64_t b_rows = op_b ? b->columns : b->rows, b_columns = op_b ? b->rows : b->columns;
    return b_rows == inner && c->rows == rows && c->columns == b_columns ? CUSPARSE_STATUS_SUCCESS : WRONG;
}

int cusparseSpMM_bufferSize(HANDLE, int op_a, int op_b, const void *alpha, sparse_ptr a, dense_ptr b,
                            const void *beta, struct cusparseDnMatDescr *c, int type, int algorithm,
                            unsigned long *bytes)
{
    (void)alpha, (void)beta, (void)type, (void)algorithm;
    int status = check_spmm(a, b, c, op_a, op_b);
    return status ? status : vs_sparse_buffer(handle, "cusparseSpMM", row_buffer(a), bytes);
}

int cusparseSpMM_preprocess(HANDLE, int op_a, int op_b, const void *alpha, sparse_ptr a, dense_ptr b,
                            const void *beta, struct cusparseDnMatDescr *c, int type, int algorithm,
                            void *buffer)
{
    (void)alpha, (void)beta, (void)algorithm, (void)buffer;
    int status = check_spmm(a, b, c, op_a, op_b);
    return status ? status : vs_sparse_run(handle, "cusparseSpMM_preprocess", type, 0, stored_bytes(a));
}

int cusparseSpMM(HANDLE, int op_a, int op_b, const void *alpha, sparse_ptr a, dense_ptr b,
                 const void *beta, struct cusparseDnMatDescr *c, int type, int algorithm, void *buffer)
{
    (void)alpha, (void)beta, (void)algorithm, (void)buffer;
    int status = check_spmm(a, b, c, op_a, op_b);
    if (status)
        return status;
    return vs_sparse_run(handle, "cusparseSpMM", type, stored(a) * (double)c->columns,
                         stored_bytes(a) + dense_bytes(b) + dense_bytes(c));
}

int cusparseSpSM_bufferSize(HANDLE, int op_a, int op_b, const void *alpha, sparse_ptr a, dense_ptr b,
                            struct cusparseDnMatDescr *c, int type, int algorithm,
                            struct cusparseSpSMDescr *descr, unsigned long *bytes)
{
    (void)op_a, (void)op_b, (void)alpha, (void)type, (void)algorithm;
    if (check_dense(a, b, c) || !vs_library_object(descr, VS_SPARSE_SPSM))
        return WRONG;
    return vs_sparse_buffer(handle, "cusparseSpSM",
                            4 * row_buffer(a) + (uint64_t)c->rows * (uint64_t)c->columns *
                                                    vs_sparse_bytes(c->type), bytes);
}

int cusparseSpSM_analysis(HANDLE, int op_a, int op_b, const void *alpha, sparse_ptr a, dense_ptr b,
                          struct cusparseDnMatDescr *c, int type, int algorithm,
                          struct cusparseSpSMDescr *descr, void *buffer)
{
    (void)op_a, (void)op_b, (void)alpha, (void)algorithm, (void)buffer;
    if (check_dense(a, b, c) || !vs_library_object(descr, VS_SPARSE_SPSM))
        return WRONG;
    return vs_sparse_run(handle, "cusparseSpSM_analysis", type, 0, stored_bytes(a));
}

int cusparseSpSM_solve(HANDLE, int op_a, int op_b, const void *alpha, sparse_ptr a, dense_ptr b,
                       struct cusparseDnMatDescr *c, int type, int algorithm,
                       struct cusparseSpSMDescr *descr)
{
    (void)op_a, (void)op_b, (void)alpha, (void)algorithm;
    if (check_dense(a, b, c) || !vs_library_object(descr, VS_SPARSE_SPSM))
        return WRONG;
    return vs_sparse_run(handle, "cusparseSpSM_solve", type, stored(a) * (double)c->columns,
                         stored_bytes(a) + dense_bytes(b) + dense_bytes(c));
}

int cusparseSDDMM_bufferSize(HANDLE, int op_a, int op_b, const void *alpha, dense_ptr a, dense_ptr b,
                             const void *beta, struct cusparseSpMatDescr *c, int type, int algorithm,
                             unsigned long *bytes)
{
    (void)op_a, (void)op_b, (void)alpha, (void)beta, (void)type, (void)algorithm;
    int status = check_dense(c, a, b);
    return status ? status : vs_sparse_buffer(handle, "cusparseSDDMM", row_buffer(c), bytes);
}

int cusparseSDDMM_preprocess(HANDLE, int op_a, int op_b, const void *alpha, dense_ptr a, dense_ptr b,
                             const void *beta, struct cusparseSpMatDescr *c, int type, int algorithm,
                             void *buffer)
{
    (void)op_a, (void)op_b, (void)alpha, (void)beta, (void)algorithm, (void)buffer;
    int status = check_dense(c, a, b);
    return status ? status : vs_sparse_run(handle, "cusparseSDDMM_preprocess", type, 0, stored_bytes(c));
}

int cusparseSDDMM(HANDLE, int op_a, int op_b, const void *alpha, dense_ptr a, dense_ptr b,
                  const void *beta, struct cusparseSpMatDescr *c, int type, int algorithm, void *buffer)
{
    (void)op_b, (void)alpha, (void)beta, (void)algorithm, (void)buffer;
    int status = check_dense(c, a, b);
    if (status)
        return status;
    double inner = (double)(op_a ? a->rows : a->columns);
    return vs_sparse_run(handle, "cusparseSDDMM", type, stored(c) * inner,
                         stored_bytes(c) + dense_bytes(a) + dense_bytes(b));
}
