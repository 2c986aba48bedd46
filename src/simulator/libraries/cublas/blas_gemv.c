/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of a matrix and a vector (gemv, also batched) and of two vectors (ger) in cuBLAS: products
 * of matrices of which some have one row or column. */
#include "simulator/libraries/cublas/vs_blas.h"

/* A vector of *n* elements that lie *step* apart; the first is the last one if step < 0. */
static struct vs_blas_operand vector(const void *base, int type, int64_t n, int64_t step)
{
    return (struct vs_blas_operand){.base = (void *)base,
                                    .type = type,
                                    .row_step = step,
                                    .column_step = step,
                                    .offset = step < 0 && n ? (1 - n) * step : 0};
}

int vs_blas_gemv(struct cublasContext *h, const struct vs_blas_gemv *g)
{
    VS_BLAS_CHECK(h, !vs_blas_is_op(g->op) || g->m < 0 || g->n < 0 || g->batches < 0 ||
                         !vs_blas_is_ld(g->lda, g->m) || !g->incx || !g->incy || !g->alpha ||
                         !g->beta);
    bool plain = g->op == CUBLAS_OP_N;
    int64_t rows = plain ? g->m : g->n, terms = plain ? g->n : g->m;
    struct vs_blas_product p = {.m = rows,
                                .n = 1,
                                .k = terms,
                                .batches = g->batches,
                                .a = vs_blas_matrix(g->a, g->matrix_type, g->op, g->lda),
                                .b = vector(g->x, g->matrix_type, terms, g->incx),
                                .c = vector(g->y, g->result_type, rows, g->incy),
                                .number = vs_blas_number(g->matrix_type, h->math_mode),
                                .scalar_type = g->scalar_type,
                                .alpha = g->alpha,
                                .beta = g->beta};
    p.a.pointers = p.b.pointers = p.c.pointers = g->pointers;
    p.a.batch_step = g->step_a, p.b.batch_step = g->step_x, p.c.batch_step = g->step_y;
    return vs_blas_product(h, g->name, &p);
}

int vs_blas_ger(struct cublasContext *h, const struct vs_blas_gemv *g)
{
    VS_BLAS_CHECK(h, g->m < 0 || g->n < 0 || !g->incx || !g->incy || !g->alpha ||
                         !vs_blas_is_ld(g->lda, g->m));
    struct vs_blas_product p = {.m = g->m,
                                .n = g->n,
                                .k = 1,
                                .batches = 1,
                                .a = vector(g->x, g->matrix_type, g->m, g->incx),
                                .b = vector(g->y, g->matrix_type, g->n, g->incy),
                                .c = vs_blas_matrix(g->a, g->matrix_type, CUBLAS_OP_N, g->lda),
                                .number = vs_blas_number(g->matrix_type, CUBLAS_PEDANTIC_MATH),
                                .scalar_type = g->matrix_type,
                                .alpha = g->alpha};
    p.b.conjugated = g->conjugated;
    return vs_blas_product(h, g->name, &p);
}
