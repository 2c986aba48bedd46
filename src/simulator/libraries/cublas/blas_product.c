/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices: their work, and their values where they are small. All of gemm, gemv and ger
 * with their batches are c = alpha a b + beta c with steps between rows, columns and matrices.
 * Scalars and arrays of pointers in device memory are read when the work runs. */
#include "simulator/libraries/cublas/vs_blas.h"

#define OPERATIONS_PER_BLOCK 4194304.0 /* a tile of 128 x 128 with 128 terms */

struct vs_blas_operand vs_blas_matrix(const void *base, int type, int op, int64_t ld)
{
    bool plain = op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG;
    return (struct vs_blas_operand){.base = (void *)base,
                                    .type = type,
                                    .conjugated = op == CUBLAS_OP_C || op == CUBLAS_OP_CONJG,
                                    .row_step = plain ? 1 : ld,
                                    .column_step = plain ? ld : 1};
}

static void *matrix(const struct vs_blas_operand *o, int64_t batch, int64_t *offset)
{
    *offset = o->offset + (o->pointers ? 0 : batch * o->batch_step);
    return o->pointers ? ((void **)o->base)[batch] : o->base;
}

static double complex element(const struct vs_blas_operand *o, const void *base, int64_t at)
{
    double complex v = vs_blas_load(base, o->type, at);
    return o->conjugated ? conj(v) : v;
}

static void multiply(const struct vs_blas_product *p, int64_t batch)
{
    int64_t at_a, at_b, at_c;
    const void *a = matrix(&p->a, batch, &at_a), *b = matrix(&p->b, batch, &at_b);
    void *c = matrix(&p->c, batch, &at_c);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            double complex sum = 0;
            int64_t ia = at_a + i * p->a.row_step, ib = at_b + j * p->b.column_step;
            for (int64_t l = 0; l < p->k && p->alpha_value != 0; l++)
                sum += element(&p->a, a, ia + l * p->a.column_step) *
                       element(&p->b, b, ib + l * p->b.row_step);
            int64_t ic = at_c + i * p->c.row_step + j * p->c.column_step;
            sum *= p->alpha_value;
            if (p->beta_value != 0) /* else c may hold anything, NaN included */
                sum += p->beta_value * vs_blas_load(c, p->c.type, ic);
            vs_blas_store(c, p->c.type, ic, sum);
        }
}

static void read_scalars(struct vs_blas_product *p)
{
    p->alpha_value = vs_blas_load(p->alpha, p->scalar_type, 0);
    p->beta_value = p->beta ? vs_blas_load(p->beta, p->scalar_type, 0) : 1;
}

static void run(const struct vramscope_sim_launch *launch, unsigned long first, unsigned long last)
{
    struct vs_blas_product p = *(const struct vs_blas_product *)launch->args[0];
    if (!p.scalars_on_host)
        read_scalars(&p);
    for (int64_t i = 0; i < p.batches; i++)
        multiply(&p, i);
}

int vs_blas_product(struct cublasContext *h, const char *name, const struct vs_blas_product *given)
{
    struct vs_blas_product p = *given;
    double m = (double)p.m, n = (double)p.n, k = (double)p.k, batches = (double)p.batches;
    if (!p.m || !p.n || !p.batches || (!p.k && !p.beta))
        return CUBLAS_STATUS_SUCCESS;
    if (!p.alpha || !p.c.base || (p.k && (!p.a.base || !p.b.base)))
        return CUBLAS_STATUS_INVALID_VALUE;
    double operations = 2 * m * n * (k > 1 ? k : 1) * batches;
    double bits = m * k * vs_library_bits(p.a.type) + k * n * vs_library_bits(p.b.type) +
                  2 * m * n * vs_library_bits(p.c.type);
    struct vs_sim_work work = {.name = name,
                               .number = p.number,
                               .operations = operations * (vs_library_is_complex(p.c.type) ? 4 : 1),
                               .bytes = bits / 8 * batches,
                               .blocks = (uint64_t)(operations / OPERATIONS_PER_BLOCK) + 1};
    p.scalars_on_host = h->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    if (operations > VS_BLAS_PRODUCT_MAX || !vs_blas_is_computed(p.a.type) ||
        !vs_blas_is_computed(p.b.type) || !vs_blas_is_computed(p.c.type) ||
        !vs_blas_is_computed(p.scalar_type) || !vs_library_computes())
        return vs_blas_status(vs_library_submit(h->stream, &work));
    if (p.scalars_on_host) { /* their addresses may be gone when the work runs */
        read_scalars(&p);
        p.alpha = p.beta = NULL;
    }
    work.name = "cublas_small_product";
    return vs_blas_status(vs_library_compute(h->stream, &work, run, &p, sizeof p));
}
