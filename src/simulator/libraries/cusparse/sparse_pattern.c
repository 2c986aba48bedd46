/* SPDX-License-Identifier: Apache-2.0
 *
 * Results whose size depends on the data: the product of two sparse matrices (SpGEMM) and the sum of
 * two (csrgeam2). The pattern of the result is computed for real from the index arrays, so that the
 * caller allocates what it would on a real device; where the arrays hold no valid indices (they were
 * never computed) or the work would be too long, the largest possible result is assumed and noted.
 * As in cuSPARSE, the count is known when the call returns: the stream is synchronised. */
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/cusparse/vs_sparse.h"

#define WRONG CUSPARSE_STATUS_INVALID_VALUE
#define PRODUCTS_MAX 200e6 /* about a second */
#define NNZ_MAX INT64_C(0x7fffffff)

/* An operand in CSR, as arrays in device memory. */
struct csr {
    int64_t rows, columns, nnz;
    const void *offsets, *indices;
    unsigned offset_bytes, index_bytes;
    int64_t base;
};

/* A pattern in CSR, zero-based. */
struct pattern {
    int64_t rows, nnz;
    int64_t *offsets, *columns; /* NULL: the pattern is not known, only a bound of nnz */
};

static int64_t offset_of(const struct csr *m, int64_t row)
{
    return vs_sparse_index(m->offsets, row, m->offset_bytes) - m->base;
}

static int64_t column_of(const struct csr *m, int64_t at)
{
    return vs_sparse_index(m->indices, at, m->index_bytes) - m->base;
}

static bool valid(const struct csr *m)
{
    if (m->nnz && (!m->offsets || !m->indices))
        return false;
    if (!m->rows || !m->offsets)
        return m->nnz == 0;
    if (offset_of(m, 0) != 0 || offset_of(m, m->rows) != m->nnz)
        return false;
    for (int64_t r = 0; r < m->rows; r++)
        if (offset_of(m, r) > offset_of(m, r + 1))
            return false;
    for (int64_t i = 0; i < m->nnz; i++)
        if (column_of(m, i) < 0 || column_of(m, i) >= m->columns)
            return false;
    return true;
}

static void pattern_free(struct pattern *p)
{
    free(p->offsets);
    free(p->columns);
    *p = (struct pattern){0};
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct builder {
    struct pattern out;
    int64_t capacity;
    int64_t *row_of; /* by column: the last row that has it, plus 1 */
};

static void builder_add(struct builder *b, int64_t row, int64_t column)
{
    if (b->row_of[column] == row + 1)
        return;
    b->row_of[column] = row + 1;
    if (b->out.nnz == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 1024;
        b->out.columns =
            vs_sim_need(realloc(b->out.columns, (size_t)b->capacity * sizeof *b->out.columns));
    }
    b->out.columns[b->out.nnz++] = column;
}

/* Row *from* of *m*, in row *row*. */
static void add_row(struct builder *to, int64_t row, const struct csr *m, int64_t from)
{
    for (int64_t i = offset_of(m, from); i < offset_of(m, from + 1); i++)
        builder_add(to, row, column_of(m, i));
}

static double products_of(const struct csr *a, const struct csr *b)
{
    double n = 0;
    for (int64_t i = 0; i < a->nnz; i++) {
        int64_t inner = column_of(a, i);
        n += (double)(offset_of(b, inner + 1) - offset_of(b, inner));
    }
    return n;
}

/* The pattern of a·b, or of a + b; false if it cannot be computed. */
static bool build(const struct csr *a, const struct csr *b, bool sum, struct pattern *out)
{
    struct builder to = {.out.rows = a->rows};
    if (!valid(a) || !valid(b) || (sum ? a->rows != b->rows : a->columns != b->rows) ||
        (!sum && products_of(a, b) > PRODUCTS_MAX))
        return false;
    to.out.offsets = calloc((size_t)a->rows + 1, sizeof *to.out.offsets);
    to.row_of = calloc((size_t)b->columns + 1, sizeof *to.row_of);
    if (!to.out.offsets || !to.row_of) { /* too large for this host: the bound is assumed */
        free(to.row_of);
        pattern_free(&to.out);
        return false;
    }
    for (int64_t r = 0; r < a->rows; r++) {
        if (sum) {
            add_row(&to, r, a, r);
            add_row(&to, r, b, r);
        }
        for (int64_t i = offset_of(a, r); !sum && i < offset_of(a, r + 1); i++)
            add_row(&to, r, b, column_of(a, i));
        int64_t begin = to.out.offsets[r];
        if (to.out.nnz > begin)
            qsort(to.out.columns + begin, (size_t)(to.out.nnz - begin), sizeof *to.out.columns, compare);
        to.out.offsets[r + 1] = to.out.nnz;
    }
    free(to.row_of);
    *out = to.out;
    return true;
}

static void assume_bound(const char *name, struct pattern *out, int64_t rows, double bound, int type)
{
    *out = (struct pattern){.rows = rows,
                            .nnz = bound < (double)NNZ_MAX ? (int64_t)bound : NNZ_MAX};
    vs_library_assume(name, (uint64_t)out->nnz * vs_sparse_bytes(type),
                      "the indices of the operands were not computed, so the largest possible number of "
                      "non-zeros is assumed");
}

static int synchronise(struct cusparseContext *handle)
{
    CUstream stream;
    const struct vs_library_driver *d = vs_library_driver();
    if (!d || !vs_sparse_handle(handle, &stream))
        return CUSPARSE_STATUS_NOT_INITIALIZED;
    return d->cuStreamSynchronize(stream) ? CUSPARSE_STATUS_EXECUTION_FAILED : CUSPARSE_STATUS_SUCCESS;
}

/* Writes a pattern, or evenly spread offsets where only the count is known, to device memory. */
static void write_index(void *array, int64_t i, unsigned bytes, int64_t value)
{
    if (bytes == 8)
        ((int64_t *)array)[i] = value;
    else
        ((int32_t *)array)[i] = (int32_t)value;
}

static void write_offsets(const struct pattern *p, void *offsets, unsigned bytes, int64_t base)
{
    for (int64_t r = 0; offsets && r <= p->rows; r++) {
        double share = p->rows ? (double)r / (double)p->rows : 1;
        write_index(offsets, r, bytes, base + (p->offsets ? p->offsets[r] : (int64_t)((double)p->nnz * share)));
    }
}

static void write_columns(const struct pattern *p, void *indices, unsigned bytes, int64_t base)
{
    for (int64_t i = 0; p->columns && indices && i < p->nnz; i++)
        write_index(indices, i, bytes, base + p->columns[i]);
}

/* ---- SpGEMM ---- */

struct cusparseSpGEMMDescr {
    struct pattern result;
};

int cusparseSpGEMM_createDescr(struct cusparseSpGEMMDescr **descr)
{
    if (!descr)
        return WRONG;
    *descr = vs_library_new(VS_SPARSE_SPGEMM, sizeof **descr);
    return CUSPARSE_STATUS_SUCCESS;
}

int cusparseSpGEMM_destroyDescr(struct cusparseSpGEMMDescr *descr)
{
    if (!vs_library_object(descr, VS_SPARSE_SPGEMM))
        return WRONG;
    pattern_free(&descr->result);
    vs_library_delete(descr, VS_SPARSE_SPGEMM);
    return CUSPARSE_STATUS_SUCCESS;
}

static struct csr csr_of(const struct cusparseSpMatDescr *m)
{
    return (struct csr){m->rows, m->columns, m->nnz, m->offsets, m->indices,
                        vs_sparse_index_bytes(m->offset_type), vs_sparse_index_bytes(m->index_type),
                        m->base};
}

static bool gemm_operands(const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                          const struct cusparseSpMatDescr *c, const struct cusparseSpGEMMDescr *descr)
{
    return vs_sparse_matrix(a) && vs_sparse_matrix(b) && vs_sparse_matrix(c) &&
           vs_library_object(descr, VS_SPARSE_SPGEMM) && a->format == CUSPARSE_FORMAT_CSR &&
           b->format == CUSPARSE_FORMAT_CSR && c->format == CUSPARSE_FORMAT_CSR &&
           a->columns == b->rows && c->rows == a->rows && c->columns == b->columns;
}

int cusparseSpGEMM_workEstimation(struct cusparseContext *handle, int op_a, int op_b, const void *alpha,
                                  const struct cusparseSpMatDescr *a,
                                  const struct cusparseSpMatDescr *b, const void *beta,
                                  struct cusparseSpMatDescr *c, int type, int algorithm,
                                  struct cusparseSpGEMMDescr *descr, unsigned long *bytes, void *buffer)
{
    if (op_a || op_b)
        return vs_library_unsupported("cusparseSpGEMM_workEstimation", "with transposed operands");
    if (!gemm_operands(a, b, c, descr))
        return WRONG;
    if (!buffer)
        return vs_sparse_buffer(handle, "cusparseSpGEMM_workEstimation", 8 * ((uint64_t)a->rows + 1), bytes);
    return vs_sparse_run(handle, "cusparseSpGEMM_workEstimation", type, (double)a->nnz,
                         12 * (double)(a->nnz + b->nnz));
}

int cusparseSpGEMM_compute(struct cusparseContext *handle, int op_a, int op_b, const void *alpha,
                           const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                           const void *beta, struct cusparseSpMatDescr *c, int type, int algorithm,
                           struct cusparseSpGEMMDescr *descr, unsigned long *bytes, void *buffer)
{
    if (op_a || op_b)
        return vs_library_unsupported("cusparseSpGEMM_compute", "with transposed operands");
    if (!gemm_operands(a, b, c, descr))
        return WRONG;
    if (!buffer) { /* the manual: it holds the intermediate products, at least the result */
        uint64_t each = vs_sparse_bytes(type) + vs_sparse_index_bytes(a->index_type);
        return vs_sparse_buffer(handle, "cusparseSpGEMM_compute", each * (uint64_t)(a->nnz + b->nnz), bytes);
    }
    int status = synchronise(handle);
    if (status)
        return status;
    struct csr left = csr_of(a), right = csr_of(b);
    pattern_free(&descr->result);
    if (!build(&left, &right, false, &descr->result)) {
        double dense = (double)c->rows * (double)c->columns;
        double most = (double)a->nnz * (double)(b->nnz < b->columns ? b->nnz : b->columns);
        assume_bound("cusparseSpGEMM", &descr->result, c->rows, most < dense ? most : dense, type);
    }
    c->nnz = descr->result.nnz;
    return vs_sparse_run(handle, "cusparseSpGEMM_compute", type, (double)(a->nnz + c->nnz),
                         16 * (double)(a->nnz + b->nnz + c->nnz));
}

int cusparseSpGEMM_copy(struct cusparseContext *handle, int op_a, int op_b, const void *alpha,
                        const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b,
                        const void *beta, struct cusparseSpMatDescr *c, int type, int algorithm,
                        struct cusparseSpGEMMDescr *descr)
{
    if (!gemm_operands(a, b, c, descr))
        return WRONG;
    int status = synchronise(handle);
    if (status)
        return status;
    write_offsets(&descr->result, c->offsets, vs_sparse_index_bytes(c->offset_type), c->base);
    write_columns(&descr->result, c->indices, vs_sparse_index_bytes(c->index_type), c->base);
    return vs_sparse_run(handle, "cusparseSpGEMM_copy", type, 0, 16 * (double)c->nnz);
}

/* ---- csrgeam2: C = alpha A + beta B ---- */

static struct csr csr32(int m, int n, int nnz, const struct cusparseMatDescr *descr,
                        const int *offsets, const int *indices)
{
    return (struct csr){m, n, nnz, offsets, indices, 4, 4,
                        vs_library_object(descr, VS_SPARSE_LEGACY) ? descr->base : 0};
}

int cusparseXcsrgeam2Nnz(struct cusparseContext *handle, int m, int n,
                         struct cusparseMatDescr *const descr_a, int nnz_a,
                         const int *offsets_a, const int *indices_a,
                         struct cusparseMatDescr *const descr_b, int nnz_b, const int *offsets_b,
                         const int *indices_b, struct cusparseMatDescr *const descr_c,
                         int *offsets_c, int *total, void *work)
{
    if (m < 0 || n < 0 || nnz_a < 0 || nnz_b < 0 || !total)
        return WRONG;
    int status = synchronise(handle);
    if (status)
        return status;
    struct csr a = csr32(m, n, nnz_a, descr_a, offsets_a, indices_a);
    struct csr b = csr32(m, n, nnz_b, descr_b, offsets_b, indices_b);
    struct pattern sum = {0};
    if (!build(&a, &b, true, &sum))
        assume_bound("cusparseXcsrgeam2Nnz", &sum, m, (double)nnz_a + nnz_b, CUDA_R_32F);
    write_offsets(&sum, offsets_c, 4, csr32(m, n, 0, descr_c, NULL, NULL).base);
    *total = (int)sum.nnz; /* host or device: the same memory, and the stream is idle */
    pattern_free(&sum);
    return vs_sparse_run(handle, "cusparseXcsrgeam2Nnz", CUDA_R_32F, 0, 8.0 * (nnz_a + nnz_b));
}

int vs_sparse_sum(struct cusparseContext *handle, const struct vs_sparse_sum *s)
{
    if (s->is_size)
        return s->m < 0 ? WRONG : vs_sparse_buffer(handle, s->name, 4 * ((uint64_t)s->m + 1), s->bytes);
    int status = synchronise(handle);
    if (status)
        return status;
    struct csr a = csr32(s->m, s->n, s->nnz_a, s->descr_a, s->offsets_a, s->indices_a);
    struct csr b = csr32(s->m, s->n, s->nnz_b, s->descr_b, s->offsets_b, s->indices_b);
    struct pattern sum = {0};
    if (build(&a, &b, true, &sum)) {
        write_columns(&sum, s->indices_c, 4, a.base);
        pattern_free(&sum);
    }
    return vs_sparse_run(handle, s->name, s->type, (double)(a.nnz + b.nnz),
                         2.0 * (double)(a.nnz + b.nnz) * (4 + vs_sparse_bytes(s->type)));
}
