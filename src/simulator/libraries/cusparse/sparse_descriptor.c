/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of cuSPARSE's generic functions: sparse matrices (CSR, CSC, COO, BSR), dense matrices
 * and dense vectors. They hold the caller's pointers and own nothing else. */
#include "simulator/libraries/cusparse/vs_sparse.h"

VS_CUSPARSE_FUNCTIONS(VS_LIBRARY_DECLARE)

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

static int create(struct cusparseSpMatDescr **matrix, const struct cusparseSpMatDescr *content)
{
    if (!matrix || content->rows < 0 || content->columns < 0 || content->nnz < 0 ||
        !vs_sparse_bytes(content->type) || !vs_sparse_index_bytes(content->offset_type) ||
        !vs_sparse_index_bytes(content->index_type) || content->base < 0 ||
        content->base > CUSPARSE_INDEX_BASE_ONE)
        return WRONG;
    *matrix = vs_library_new(VS_SPARSE_MATRIX, sizeof **matrix);
    if (!*matrix)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **matrix = *content;
    (*matrix)->batch = 1;
    return OK;
}

#define COMPRESSED(Name, form)                                                                     \
    int cusparseCreate##Name(struct cusparseSpMatDescr **matrix, int64_t rows, int64_t columns,    \
                             int64_t nnz, void *offsets, void *indices, void *values,              \
                             int offset_type, int index_type, int base, int type)                  \
    {                                                                                              \
        return create(matrix, &(struct cusparseSpMatDescr){.format = form,                         \
                                                           .type = type,                           \
                                                           .offset_type = offset_type,             \
                                                           .index_type = index_type,               \
                                                           .base = base,                           \
                                                           .rows = rows,                           \
                                                           .columns = columns,                     \
                                                           .nnz = nnz,                             \
                                                           .offsets = offsets,                     \
                                                           .indices = indices,                     \
                                                           .values = values});                     \
    }                                                                                              \
    int cusparseCreateConst##Name(const struct cusparseSpMatDescr **matrix, int64_t rows,          \
                                  int64_t columns, int64_t nnz, const void *offsets,               \
                                  const void *indices, const void *values, int offset_type,        \
                                  int index_type, int base, int type)                              \
    {                                                                                              \
        return cusparseCreate##Name((struct cusparseSpMatDescr **)matrix, rows, columns, nnz,      \
                                    (void *)offsets, (void *)indices, (void *)values, offset_type, \
                                    index_type, base, type);                                       \
    }                                                                                              \
    int cusparse##Name##Get(struct cusparseSpMatDescr *matrix, long *rows, long *columns,          \
                            long *nnz, void **offsets, void **indices, void **values,              \
                            int *offset_type, int *index_type, int *base, int *type)               \
    {                                                                                              \
        struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);                                   \
        if (!m || m->format != form)                                                               \
            return WRONG;                                                                          \
        *rows = m->rows, *columns = m->columns, *nnz = m->nnz;                                     \
        *offsets = m->offsets, *indices = m->indices, *values = m->values;                         \
        *offset_type = m->offset_type, *index_type = m->index_type;                                \
        *base = m->base, *type = m->type;                                                          \
        return OK;                                                                                 \
    }                                                                                              \
    int cusparseConst##Name##Get(const struct cusparseSpMatDescr *matrix, long *rows,              \
                                 long *columns, long *nnz, const void **offsets,                   \
                                 const void **indices, const void **values, int *offset_type,      \
                                 int *index_type, int *base, int *type)                            \
    {                                                                                              \
        return cusparse##Name##Get((struct cusparseSpMatDescr *)matrix, rows, columns, nnz,        \
                                   (void **)offsets, (void **)indices, (void **)values,            \
                                   offset_type, index_type, base, type);                           \
    }
COMPRESSED(Csr, CUSPARSE_FORMAT_CSR)
COMPRESSED(Csc, CUSPARSE_FORMAT_CSC)

int cusparseCreateCoo(struct cusparseSpMatDescr **matrix, int64_t rows, int64_t columns,
                      int64_t nnz, void *row_indices, void *column_indices, void *values,
                      int index_type, int base, int type)
{
    return create(matrix, &(struct cusparseSpMatDescr){.format = CUSPARSE_FORMAT_COO,
                                                       .type = type,
                                                       .offset_type = index_type,
                                                       .index_type = index_type,
                                                       .base = base,
                                                       .rows = rows,
                                                       .columns = columns,
                                                       .nnz = nnz,
                                                       .offsets = row_indices,
                                                       .indices = column_indices,
                                                       .values = values});
}

int cusparseCreateConstCoo(const struct cusparseSpMatDescr **matrix, int64_t rows, int64_t columns,
                           int64_t nnz, const void *row_indices, const void *column_indices,
                           const void *values, int index_type, int base, int type)
{
    return cusparseCreateCoo((struct cusparseSpMatDescr **)matrix, rows, columns, nnz,
                             (void *)row_indices, (void *)column_indices, (void *)values,
                             index_type, base, type);
}

int cusparseCooGet(struct cusparseSpMatDescr *matrix, long *rows, long *columns, long *nnz,
                   void **row_indices, void **column_indices, void **values, int *index_type,
                   int *base, int *type)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m || m->format != CUSPARSE_FORMAT_COO)
        return WRONG;
    *rows = m->rows, *columns = m->columns, *nnz = m->nnz;
    *row_indices = m->offsets, *column_indices = m->indices, *values = m->values;
    *index_type = m->index_type, *base = m->base, *type = m->type;
    return OK;
}

int cusparseCreateBsr(struct cusparseSpMatDescr **matrix, int64_t rows, int64_t columns,
                      int64_t nnz, int64_t block_rows, int64_t block_columns, void *offsets,
                      void *indices, void *values, int offset_type, int index_type, int base,
                      int type, int order)
{
    if (block_rows < 1 || block_columns < 1)
        return WRONG;
    return create(matrix, &(struct cusparseSpMatDescr){.format = CUSPARSE_FORMAT_BSR,
                                                       .type = type,
                                                       .offset_type = offset_type,
                                                       .index_type = index_type,
                                                       .base = base,
                                                       .rows = rows,
                                                       .columns = columns,
                                                       .nnz = nnz,
                                                       .block_rows = block_rows,
                                                       .block_columns = block_columns,
                                                       .offsets = offsets,
                                                       .indices = indices,
                                                       .values = values,
                                                       .order = order});
}

int cusparseDestroySpMat(const struct cusparseSpMatDescr *matrix)
{
    return vs_library_delete(matrix, VS_SPARSE_MATRIX) ? OK : WRONG;
}

int cusparseSpMatGetSize(const struct cusparseSpMatDescr *matrix, long *rows, long *columns, long *nnz)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m || !rows || !columns || !nnz)
        return WRONG;
    *rows = m->rows, *columns = m->columns, *nnz = m->nnz;
    return OK;
}

#define GET(name, field)                                                                           \
    int name(const struct cusparseSpMatDescr *matrix, int *value)                                  \
    {                                                                                              \
        struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);                                   \
        if (!m || !value)                                                                          \
            return WRONG;                                                                          \
        *value = m->field;                                                                         \
        return OK;                                                                                 \
    }
GET(cusparseSpMatGetFormat, format)
GET(cusparseSpMatGetIndexBase, base)
GET(cusparseSpMatGetStridedBatch, batch)

int cusparseSpMatGetValues(struct cusparseSpMatDescr *matrix, void **values)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m || !values)
        return WRONG;
    *values = m->values;
    return OK;
}

int cusparseSpMatSetValues(struct cusparseSpMatDescr *matrix, void *values)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m)
        return WRONG;
    m->values = values;
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

static int set_pointers(struct cusparseSpMatDescr *matrix, int format, void *offsets, void *indices,
                        void *values)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m || m->format != format)
        return WRONG;
    m->offsets = offsets;
    m->indices = indices;
    m->values = values;
    return OK;
}

int cusparseCsrSetPointers(struct cusparseSpMatDescr *matrix, void *offsets, void *indices, void *values)
{
    return set_pointers(matrix, CUSPARSE_FORMAT_CSR, offsets, indices, values);
}

int cusparseCscSetPointers(struct cusparseSpMatDescr *matrix, void *offsets, void *indices, void *values)
{
    return set_pointers(matrix, CUSPARSE_FORMAT_CSC, offsets, indices, values);
}

int cusparseCooSetPointers(struct cusparseSpMatDescr *matrix, void *rows, void *columns, void *values)
{
    return set_pointers(matrix, CUSPARSE_FORMAT_COO, rows, columns, values);
}

static int set_batch(struct cusparseSpMatDescr *matrix, int format, int batch, int64_t offset_stride,
                     int64_t value_stride)
{
    struct cusparseSpMatDescr *m = vs_sparse_matrix(matrix);
    if (!m || m->format != format || batch < 1)
        return WRONG;
    m->batch = batch;
    m->offset_stride = offset_stride;
    m->value_stride = value_stride;
    return OK;
}

int cusparseCsrSetStridedBatch(struct cusparseSpMatDescr *matrix, int batch, int64_t offsets,
                               int64_t values)
{
    return set_batch(matrix, CUSPARSE_FORMAT_CSR, batch, offsets, values);
}

int cusparseCooSetStridedBatch(struct cusparseSpMatDescr *matrix, int batch, int64_t stride)
{
    return set_batch(matrix, CUSPARSE_FORMAT_COO, batch, 0, stride);
}

/* ---- dense matrices and vectors ---- */

int cusparseCreateDnMat(struct cusparseDnMatDescr **matrix, int64_t rows, int64_t columns,
                        int64_t ld, void *values, int type, int order)
{
    if (!matrix || rows < 0 || columns < 0 || !vs_sparse_bytes(type) ||
        (order != CUSPARSE_ORDER_COL && order != CUSPARSE_ORDER_ROW) ||
        ld < (order == CUSPARSE_ORDER_COL ? rows : columns))
        return WRONG;
    *matrix = vs_library_new(VS_SPARSE_DENSE, sizeof **matrix);
    if (!*matrix)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **matrix = (struct cusparseDnMatDescr){rows, columns, ld, 0, values, type, order, 1};
    return OK;
}

int cusparseCreateConstDnMat(const struct cusparseDnMatDescr **matrix, int64_t rows,
                             int64_t columns, int64_t ld, const void *values, int type, int order)
{
    return cusparseCreateDnMat((struct cusparseDnMatDescr **)matrix, rows, columns, ld,
                               (void *)values, type, order);
}

int cusparseDestroyDnMat(const struct cusparseDnMatDescr *matrix)
{
    return vs_library_delete(matrix, VS_SPARSE_DENSE) ? OK : WRONG;
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

int cusparseDnMatSetValues(struct cusparseDnMatDescr *matrix, void *values)
{
    struct cusparseDnMatDescr *m = vs_sparse_dense(matrix);
    if (!m)
        return WRONG;
    m->values = values;
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

int cusparseCreateDnVec(struct cusparseDnVecDescr **vector, int64_t size, void *values, int type)
{
    if (!vector || size < 0 || !vs_sparse_bytes(type))
        return WRONG;
    *vector = vs_library_new(VS_SPARSE_VECTOR, sizeof **vector);
    if (!*vector)
        return CUSPARSE_STATUS_ALLOC_FAILED;
    **vector = (struct cusparseDnVecDescr){size, values, type};
    return OK;
}

int cusparseCreateConstDnVec(const struct cusparseDnVecDescr **vector, int64_t size,
                             const void *values, int type)
{
    return cusparseCreateDnVec((struct cusparseDnVecDescr **)vector, size, (void *)values, type);
}

int cusparseDestroyDnVec(const struct cusparseDnVecDescr *vector)
{
    return vs_library_delete(vector, VS_SPARSE_VECTOR) ? OK : WRONG;
}

int cusparseDnVecGet(struct cusparseDnVecDescr *vector, long *size, void **values, int *type)
{
    struct cusparseDnVecDescr *v = vs_sparse_vector(vector);
    if (!v)
        return WRONG;
    *size = v->size, *values = v->values, *type = v->type;
    return OK;
}

int cusparseDnVecSetValues(struct cusparseDnVecDescr *vector, void *values)
{
    struct cusparseDnVecDescr *v = vs_sparse_vector(vector);
    if (!v)
        return WRONG;
    v->values = values;
    return OK;
}
