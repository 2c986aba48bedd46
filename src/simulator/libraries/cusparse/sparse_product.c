/* SPDX-License-Identifier: Apache-2.0
 *
 * Products and triangular solves with one sparse operand: SpMV, SpMM, SDDMM, SpSV, SpSM, and the older
 * functions for matrices of square blocks (BSR). Operands are checked and the work takes its time; values
 * are not computed. Buffer sizes are assumptions: one index for each row of the sparse matrix. */
#include "simulator/libraries/cusparse/vs_sparse.h"

#define WRONG CUSPARSE_STATUS_INVALID_VALUE

/* Elements stored, and their bytes with indices. */
static double stored(const struct cusparseSpMatDescr *m)
{
    return (double)m->nnz * m->batch;
}

static double stored_bytes(const struct cusparseSpMatDescr *m)
{
    return stored(m) * (vs_sparse_bytes(m->type) + vs_sparse_index_bytes(m->index_type));
}

static double dense_bytes(const struct cusparseDnMatDescr *m)
{
    return (double)m->rows * (double)m->columns * m->batch * vs_sparse_bytes(m->type);
}

static bool fits(const struct vs_sparse_product *p)
{
    const struct cusparseSpMatDescr *a = vs_sparse_matrix(p->sparse);
    bool vectors = p->operation == VS_SPARSE_MV || p->operation == VS_SPARSE_SV;
    if (!a || (vectors ? !vs_sparse_vector(p->x) || !vs_sparse_vector(p->y)
                       : !vs_sparse_dense(p->first) || !vs_sparse_dense(p->second)))
        return false;
    int64_t rows = p->op ? a->columns : a->rows, columns = p->op ? a->rows : a->columns;
    switch (p->operation) {
    case VS_SPARSE_MV:
        return p->x->size == columns && p->y->size == rows;
    case VS_SPARSE_SV:
        return p->x->size == columns && p->y->size == rows && vs_library_object(p->descr, VS_SPARSE_SPSV) &&
               (p->step == VS_SPARSE_SIZE || a->rows == a->columns);
    case VS_SPARSE_SM:
        return vs_library_object(p->descr, VS_SPARSE_SPSM);
    case VS_SPARSE_MM:
        return (p->op_b ? p->first->columns : p->first->rows) == columns && p->second->rows == rows &&
               p->second->columns == (p->op_b ? p->first->rows : p->first->columns);
    default:
        return true;
    }
}

int vs_sparse_product(struct cusparseContext *handle, const struct vs_sparse_product *p)
{
    const struct cusparseSpMatDescr *a = p->sparse;
    if (!fits(p))
        return WRONG;
    bool solves = p->operation == VS_SPARSE_SV || p->operation == VS_SPARSE_SM;
    if (p->step == VS_SPARSE_SIZE) {
        uint64_t bytes = (solves ? 4 : 1) * (uint64_t)a->rows * vs_sparse_index_bytes(a->index_type);
        if (p->operation == VS_SPARSE_SM)
            bytes += (uint64_t)p->second->rows * (uint64_t)p->second->columns * vs_sparse_bytes(p->second->type);
        return vs_sparse_buffer(handle, p->name, bytes, p->size);
    }
    double products = 1, bytes = stored_bytes(a);
    if (p->operation == VS_SPARSE_MV)
        bytes += (double)(p->x->size + p->y->size) * vs_sparse_bytes(p->type);
    else if (p->operation != VS_SPARSE_SV) {
        bytes += dense_bytes(p->first) + dense_bytes(p->second);
        products = (double)(p->operation != VS_SPARSE_DDMM ? p->second->columns
                            : p->op                         ? p->first->rows
                                                            : p->first->columns);
    }
    if (p->step == VS_SPARSE_PREPARE)
        return vs_sparse_run(handle, p->name, p->type, 0, stored_bytes(a));
    return vs_sparse_run(handle, p->name, p->type, stored(a) * products, bytes);
}

/* ---- matrices of blocks ---- */

int vs_sparse_blocks(struct cusparseContext *handle, const struct vs_sparse_blocks *b)
{
    bool wrong = b->rows < 0 || b->blocks < 0 || b->dim < 1;
    if (b->is_size) { /* an int size, as these functions give it */
        size_t size;
        if (wrong || !b->bytes)
            return WRONG;
        int status = vs_sparse_buffer(handle, b->name, 16 * ((uint64_t)b->rows + 1), &size);
        if (!status)
            *b->bytes = (int)size;
        return status;
    }
    if (wrong || b->columns < 0 || !vs_library_object(b->descr, VS_SPARSE_LEGACY) ||
        (b->kind && !vs_library_object(b->info, b->kind)))
        return WRONG;
    double numbers = (double)b->blocks * b->dim * b->dim, side = (double)b->rows * b->dim * b->columns;
    return vs_sparse_run(handle, b->name, b->type, numbers * b->columns,
                         (numbers + 2 * side) * vs_sparse_bytes(b->type) + 4.0 * b->blocks);
}

/* -1: no zero pivot; with CUSPARSE_POINTER_MODE_DEVICE the result is on the device. */
int vs_sparse_no_pivot(struct cusparseContext *handle, int kind, const void *info, int *position)
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
