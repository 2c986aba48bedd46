/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of products: gemm with shapes of their own for each group, given in host memory. They are
 * checked and take their time, and leave their results unwritten. */
#include "simulator/libraries/cublas/vs_blas.h"

static int64_t at(const struct vs_blas_groups *g, const void *array, int64_t i)
{
    return g->wide ? ((const int64_t *)array)[i] : ((const int *)array)[i];
}

static bool is_bad(const struct vs_blas_groups *g, int64_t i)
{
    int64_t m = at(g, g->m, i), n = at(g, g->n, i), k = at(g, g->k, i);
    return !vs_blas_is_op(g->opa[i]) || !vs_blas_is_op(g->opb[i]) || m < 0 || n < 0 || k < 0 ||
           at(g, g->sizes, i) < 0 ||
           !vs_blas_is_ld(at(g, g->lda, i), g->opa[i] == CUBLAS_OP_N ? m : k) ||
           !vs_blas_is_ld(at(g, g->ldb, i), g->opb[i] == CUBLAS_OP_N ? k : n) ||
           !vs_blas_is_ld(at(g, g->ldc, i), m);
}

int vs_blas_grouped(struct cublasContext *h, const struct vs_blas_groups *g)
{
    VS_BLAS_CHECK(h, g->bad || g->count < 0 ||
                         (g->count && (!g->opa || !g->opb || !g->m || !g->n || !g->k || !g->lda ||
                                       !g->ldb || !g->ldc || !g->sizes || !g->alpha || !g->beta)));
    double operations = 0, elements = 0;
    for (int64_t i = 0; i < g->count; i++) {
        if (is_bad(g, i))
            return CUBLAS_STATUS_INVALID_VALUE;
        double m = (double)at(g, g->m, i), n = (double)at(g, g->n, i), k = (double)at(g, g->k, i);
        double size = (double)at(g, g->sizes, i);
        operations += 2 * m * n * k * size;
        elements += (m * k + k * n + 2 * m * n) * size;
    }
    return elements > 0 ? vs_blas_work(h, g->name, g->type, operations, elements)
                        : CUBLAS_STATUS_SUCCESS;
}
