/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of cuBLAS that leave their results unwritten: levels 2 and 3 without products, and
 * factorisations and solutions of many small matrices. They are checked and take their time; the outputs
 * that steer a program are set: info 0, and pivots that exchange nothing. */
#include "simulator/libraries/cublas/vs_blas.h"

/* The first of op, m, n, rhs, lda, ldb or ldc, batches that is wrong, from 1; 0: none. */
static int first_wrong(const struct vs_blas_call *c)
{
    const bool wrong[] = {!vs_blas_is_op(c->op), c->m < 0, c->n < 0, c->rhs < 0,
                          !vs_blas_is_ld(c->lda, c->rows_a),
                          !vs_blas_is_ld(c->ldb, c->rows_b) || !vs_blas_is_ld(c->ldc, c->rows_c),
                          c->batches < 0};
    for (int i = 0; i < (int)(sizeof wrong / sizeof *wrong); i++)
        if (wrong[i])
            return i + 1;
    return 0;
}

static bool is_wrong(const struct vs_blas_call *c)
{
    return first_wrong(c) || !vs_blas_is_op(c->opb) ||
           (c->uplo != CUBLAS_FILL_MODE_LOWER && c->uplo != CUBLAS_FILL_MODE_UPPER) ||
           (c->side != CUBLAS_SIDE_LEFT && c->side != CUBLAS_SIDE_RIGHT) ||
           (c->diag != CUBLAS_DIAG_UNIT && c->diag != CUBLAS_DIAG_NON_UNIT) || c->k < 0 ||
           c->kl < 0 || c->ku < 0 || !c->incx || !c->incy || !c->alpha || !c->beta || c->bad;
}

int vs_blas_timed(struct cublasContext *h, const struct vs_blas_call *c)
{
    VS_BLAS_CHECK(h, is_wrong(c));
    return c->operations > 0 ? vs_blas_work(h, c->name, c->type, c->operations, c->elements)
                             : CUBLAS_STATUS_SUCCESS;
}

/* ---- many small matrices ---- */

static int batched(struct cublasContext *h, const struct vs_blas_call *c)
{
    double batches = (double)c->batches;
    if (!c->batches || !c->elements)
        return CUBLAS_STATUS_SUCCESS;
    int e = vs_blas_work(h, c->name, c->type, c->operations * batches, c->elements * batches);
    if (!e && c->infos)
        e = vs_blas_status(vs_library_zero(h->stream, c->infos, (size_t)c->batches * sizeof *c->infos));
    return e;
}

/* Pivot arrays: 1 … n for each matrix. */
struct blas_pivots {
    int *pivots;
    int64_t n, batches;
};
static void write_pivots(const struct vramscope_sim_launch *launch, unsigned long first,
                         unsigned long last)
{
    const struct blas_pivots *p = launch->args[0];
    for (int64_t i = 0; i < p->n * p->batches; i++)
        p->pivots[i] = (int)(i % p->n) + 1;
}

int vs_blas_factor(struct cublasContext *h, const struct vs_blas_call *c)
{
    VS_BLAS_CHECK(h, is_wrong(c) || (c->batches && !c->infos));
    int e = batched(h, c);
    if (e || !c->pivots || !c->n || !c->batches || !vs_library_computes())
        return e;
    struct blas_pivots p = {c->pivots, c->n, c->batches};
    struct vs_sim_work work = {.name = "cublas_pivots", .bytes = 4.0 * (double)c->n * (double)c->batches};
    return vs_blas_status(vs_library_compute(h->stream, &work, write_pivots, &p, sizeof p));
}

int vs_blas_solve(struct cublasContext *h, const struct vs_blas_call *c)
{
    VS_BLAS_CHECK(h, !c->info);
    int wrong = first_wrong(c);
    if (wrong) {
        *c->info = -c->position[wrong - 1];
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (c->unsupported)
        return vs_library_unsupported(c->unsupported, "of such a system");
    *c->info = 0;
    return batched(h, c);
}
