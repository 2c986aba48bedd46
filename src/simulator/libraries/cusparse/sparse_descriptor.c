/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of cuSPARSE's generic functions: sparse matrices (CSR, CSC, COO), dense matrices
 * and dense vectors. They hold the caller's pointers and own nothing else. */
#include "simulator/libraries/cusparse/vs_sparse.h"

#define OK CUSPARSE_STATUS_SUCCESS
#define WRONG CUSPARSE_STATUS_INVALID_VALUE

struct cusparseSpMatDescr *vs_sparse_matrix(const struct cusparseSpMatDescr *m)
{
    return vs_library_object(m, VS_SPARSE_MATRIX);
}

struct cusparseDnMatDescr *vs_sparse_dense(const struct cusparseDnMatDescr *m)
{
    return vs_library_object(m, VS_SPARSE_DENSE);
}

struct cusparseDnVecDescr *vs_sparse_vector(const struct cusparseDnVecDescr *v)
{
    return vs_library_object(v, VS_SPARSE_VECTOR);
}

/* ---- sparse matrices ---- */

int vs_sparse_matrix_new(const struct vs_sparse_matrix_new *given)
{
    const struct cusparseSpMatDescr *m = &given->content;
    if (!given->matrix || m->rows < 0 || m->columns < 0 || m->nnz < 0 || !vs_sparse_bytes(m->type) ||
        !vs_sparse_index_bytes(m->offset_type) || !vs_sparse_index_bytes(m->index_type) || m->base < 0 ||
        m->base > CUSPARSE_INDEX_BASE_ONE)
        return WRONG;
    struct cusparseSpMatDescr *made = vs_library_new(VS_SPARSE_MATRIX, sizeof *made);
    *given->matrix = made;
    *made = *m;
    made->batch = 1;
    return OK;
}

int vs_sparse_matrix_get(const struct vs_sparse_matrix_get *to)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(to->matrix);
    if (!m || (to->format >= 0 && m->format != to->format) || to->incomplete)
        return WRONG;
    long *const sizes[] = {to->rows, to->columns, to->nnz};
    void **const pointers[] = {to->offsets, to->indices, to->values};
    int *const numbers[] = {to->offset_type, to->index_type, to->base, to->type, to->format_to, to->batch};
    for (int i = 0; i < 3; i++)
        if (sizes[i])
            *sizes[i] = (const int64_t[]){m->rows, m->columns, m->nnz}[i];
    for (int i = 0; i < 3; i++)
        if (pointers[i])
            *pointers[i] = (void *const[]){m->offsets, m->indices, m->values}[i];
    for (int i = 0; i < 6; i++)
        if (numbers[i])
            *numbers[i] = (const int[]){m->offset_type, m->index_type, m->base, m->type, m->format, m->batch}[i];
    return OK;
}

int vs_sparse_matrix_set(const struct vs_sparse_matrix_set *from)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(from->matrix);
    if (!m || m->format != from->format || (from->sets_batch && from->batch < 1))
        return WRONG;
    if (from->sets_batch) {
        m->batch = from->batch;
        m->offset_stride = from->offset_stride;
        m->value_stride = from->value_stride;
    } else {
        m->offsets = from->offsets;
        m->indices = from->indices;
        m->values = from->values;
    }
    return OK;
}

int cusparseSpMatSetAttribute(struct cusparseSpMatDescr *matrix, int attribute, void *data, size_t bytes)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m || !data || bytes != sizeof(int))
        return WRONG;
    if (attribute == CUSPARSE_SPMAT_FILL_MODE)
        m->fill = *(const int *)data;
    else if (attribute == CUSPARSE_SPMAT_DIAG_TYPE)
        m->diagonal = *(const int *)data;
    else
        return vs_library_unsupported("cusparseSpMatSetAttribute", "for storage and symmetry");
    return OK;
}

/* ---- dense matrices and vectors ---- */

int vs_sparse_dense_new(const struct vs_sparse_dense_new *given)
{
    const struct cusparseDnMatDescr *m = &given->content;
    if (!given->matrix || m->rows < 0 || m->columns < 0 || !vs_sparse_bytes(m->type) ||
        (m->order != CUSPARSE_ORDER_COL && m->order != CUSPARSE_ORDER_ROW) ||
        m->ld < (m->order == CUSPARSE_ORDER_COL ? m->rows : m->columns))
        return WRONG;
    struct cusparseDnMatDescr *made = vs_library_new(VS_SPARSE_DENSE, sizeof *made);
    *given->matrix = made;
    *made = *m;
    made->batch = 1;
    return OK;
}

int cusparseDnMatGet(struct cusparseDnMatDescr *matrix, long *rows, long *columns, long *ld,
                     void **values, int *type, int *order)
{
    struct cusparseDnMatDescr *m = vs_sparse_dense(matrix);
    if (!m)
        return WRONG;
    *rows = m->rows, *columns = m->columns, *ld = m->ld, *values = m->values;
    *type = m->type, *order = m->order;
    return OK;
}

int cusparseDnMatSetStridedBatch(struct cusparseDnMatDescr *matrix, int batch, int64_t stride)
{
    struct cusparseDnMatDescr *m = vs_sparse_dense(matrix);
    if (!m || batch < 1 || stride < 0)
        return WRONG;
    m->batch = batch;
    m->stride = stride;
    return OK;
}

int vs_sparse_vector_new(const struct vs_sparse_vector_new *given)
{
    if (!given->vector || given->content.size < 0 || !vs_sparse_bytes(given->content.type))
        return WRONG;
    struct cusparseDnVecDescr *made = vs_library_new(VS_SPARSE_VECTOR, sizeof *made);
    *given->vector = made;
    *made = given->content;
    return OK;
}

int cusparseDnVecGet(struct cusparseDnVecDescr *vector, long *size, void **values, int *type)
{
    struct cusparseDnVecDescr *v = vs_sparse_vector(vector);
    if (!v)
        return WRONG;
    *size = v->size, *values = v->values, *type = v->type;
    return OK;
}
