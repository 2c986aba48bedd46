/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions and sorts of index arrays: coo2csr, csr2coo, coosort, csrsort. They are computed for
 * real, in the order of the stream, because programs read the results back. Rows outside the matrix,
 * in arrays that were never computed, are counted in the first or last row. */
#include <stdlib.h>
#include <string.h>

#include "simulator/libraries/cusparse/vs_sparse.h"

#define WRONG CUSPARSE_STATUS_INVALID_VALUE

/* ---- row indices and row offsets ---- */

struct rows_job {
    const int *from;
    int *to;
    int nnz, rows, base;
};

static void coo_to_csr(void *data)
{
    const struct rows_job *job = data;
    memset(job->to, 0, ((size_t)job->rows + 1) * sizeof *job->to);
    for (int i = 0; i < job->nnz; i++) {
        int row = job->from[i] - job->base;
        row = row < 0 ? 0 : row >= job->rows ? job->rows - 1 : row;
        if (row >= 0)
            job->to[row + 1]++;
    }
    for (int r = 0; r < job->rows; r++)
        job->to[r + 1] += job->to[r];
    for (int r = 0; job->base && r <= job->rows; r++)
        job->to[r] += job->base;
}

static void csr_to_coo(void *data)
{
    const struct rows_job *job = data;
    int row = 0;
    for (int i = 0; i < job->nnz; i++) {
        while (row + 1 < job->rows && job->from[row + 1] - job->base <= i)
            row++;
        job->to[i] = row + job->base;
    }
}

static int convert(struct cusparseContext *handle, void (*run)(void *), const struct rows_job *job)
{
    bool ok = job->nnz >= 0 && job->rows >= 0 && job->to && (!job->nnz || job->from);
    return vs_sparse_in_order(handle, ok, run, job, sizeof *job);
}

int cusparseXcoo2csr(struct cusparseContext *handle, const int *rows, int nnz, int m, int *offsets, int base)
{
    return convert(handle, coo_to_csr, &(struct rows_job){rows, offsets, nnz, m, base});
}

int cusparseXcsr2coo(struct cusparseContext *handle, const int *offsets, int nnz, int m, int *rows, int base)
{
    return convert(handle, csr_to_coo, &(struct rows_job){offsets, rows, nnz, m, base});
}

/* ---- sorts ---- */

struct sort_job {
    int nnz;
    int *first, *second; /* by these, in this order */
    int *permutation;    /* moved along; NULL: none */
};

struct triple {
    int first, second, permutation, at;
};

static int compare(const void *a, const void *b)
{
    const struct triple *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at; /* stable */
}

static void sort(void *data)
{
    const struct sort_job *job = data;
    struct triple *all = malloc((size_t)job->nnz * sizeof *all + 1);
    if (!all)
        return; /* too many for this host: they stay unsorted */
    for (int i = 0; i < job->nnz; i++)
        all[i] = (struct triple){job->first[i], job->second[i], job->permutation ? job->permutation[i] : 0, i};
    qsort(all, (size_t)job->nnz, sizeof *all, compare);
    for (int i = 0; i < job->nnz; i++) {
        job->first[i] = all[i].first;
        job->second[i] = all[i].second;
        if (job->permutation)
            job->permutation[i] = all[i].permutation;
    }
    free(all);
}

static int sort_in_order(struct cusparseContext *handle, int nnz, int *first, int *second, int *permutation)
{
    struct sort_job job = {nnz, first, second, permutation};
    bool ok = nnz >= 0 && (!nnz || (first && second));
    return vs_sparse_in_order(handle, ok, sort, &job, sizeof job);
}

int cusparseXcoosortByRow(struct cusparseContext *handle, int m, int n, int nnz, int *rows,
                          int *columns, int *permutation, void *buffer)
{
    return sort_in_order(handle, nnz, rows, columns, permutation);
}

int cusparseXcoosortByColumn(struct cusparseContext *handle, int m, int n, int nnz, int *rows, int *columns,
                             int *permutation, void *buffer)
{
    return sort_in_order(handle, nnz, columns, rows, permutation);
}

/* Within each row: by the row number, found from the offsets, then by the column. */
struct csr_sort_job {
    int m, nnz, base;
    const int *offsets;
    int *indices, *permutation;
};

static void sort_rows(void *data)
{
    const struct csr_sort_job *job = data;
    int *rows = malloc((size_t)job->nnz * sizeof *rows + 1);
    if (!rows)
        return;
    csr_to_coo(&(struct rows_job){job->offsets, rows, job->nnz, job->m, job->base});
    sort(&(struct sort_job){job->nnz, rows, job->indices, job->permutation});
    free(rows);
}

int cusparseXcsrsort(struct cusparseContext *handle, int m, int n, int nnz, struct cusparseMatDescr *const descr,
                     const int *offsets, int *indices, int *permutation, void *buffer)
{
    bool described = vs_library_object(descr, VS_SPARSE_LEGACY);
    struct csr_sort_job job = {m, nnz, described ? descr->base : 0, offsets, indices, permutation};
    bool ok = m >= 0 && nnz >= 0 && described && (!nnz || (offsets && indices));
    return vs_sparse_in_order(handle, ok, sort_rows, &job, sizeof job);
}

int cusparseXcoosort_bufferSizeExt(struct cusparseContext *handle, int m, int n, int nnz, const int *rows,
                                   const int *columns, unsigned long *bytes)
{
    if (nnz < 0)
        return WRONG;
    return vs_sparse_buffer(handle, "cusparseXcoosort", 16 * (uint64_t)nnz, bytes);
}

int cusparseXcsrsort_bufferSizeExt(struct cusparseContext *handle, int m, int n, int nnz, const int *offsets,
                                   const int *indices, unsigned long *bytes)
{
    if (nnz < 0)
        return WRONG;
    return vs_sparse_buffer(handle, "cusparseXcsrsort", 16 * (uint64_t)nnz, bytes);
}

struct identity_job {
    int n, *to;
};

static void identity(void *data)
{
    const struct identity_job *job = data;
    for (int i = 0; i < job->n; i++)
        job->to[i] = i;
}

int cusparseCreateIdentityPermutation(struct cusparseContext *handle, int n, int *permutation)
{
    struct identity_job job = {n, permutation};
    return vs_sparse_in_order(handle, n >= 0 && (!n || permutation), identity, &job, sizeof job);
}
