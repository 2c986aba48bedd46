/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of products: gemm with shapes of their own for each group, given in host memory. They are
 * checked and take their time, and leave their results unwritten. */
#include "simulator/libraries/cublas/vs_blas.h"

struct blas_groups {
    const char *name;
    bool wide; /* arrays of 64-bit integers */
    int type;  /* of the elements of A and B */
    int64_t count;
    const int *opa, *opb;
    const void *m, *n, *k, *lda, *ldb, *ldc, *sizes;
    const void *alpha, *beta;
};

static int64_t at(const struct blas_groups *g, const void *array, int64_t i)
{
    return g->wide ? ((const int64_t *)array)[i] : ((const int *)array)[i];
}

static bool is_bad(const struct blas_groups *g, int64_t i)
{
    int64_t m = at(g, g->m, i), n = at(g, g->n, i), k = at(g, g->k, i);
    return !vs_blas_is_op(g->opa[i]) || !vs_blas_is_op(g->opb[i]) || m < 0 || n < 0 || k < 0 ||
           at(g, g->sizes, i) < 0 ||
           !vs_blas_is_ld(at(g, g->lda, i), g->opa[i] == CUBLAS_OP_N ? m : k) ||
           !vs_blas_is_ld(at(g, g->ldb, i), g->opb[i] == CUBLAS_OP_N ? k : n) ||
           !vs_blas_is_ld(at(g, g->ldc, i), m);
}

static int grouped(struct cublasContext *h, const struct blas_groups *g)
{
    VS_BLAS_CHECK(h, g->count < 0 ||
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

#define GROUPS(name_, type_, I, W)                                                                 \
    (void)a, (void)b, (void)c;                                                                     \
    return grouped(h, &(struct blas_groups){                                                       \
        .name = "cublas_" #name_, .wide = sizeof(I) == 8, .type = type_, .count = groups,          \
        .opa = opa, .opb = opb, .m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc,        \
        .sizes = sizes, .alpha = alpha, .beta = beta})
#define GEMM(P, T, t, I, A, W)                                                                     \
    int cublas##P##gemmGroupedBatched##W(                                                          \
        struct cublasContext *h, int *opa, int *opb, A *m, A *n, A *k, T *alpha, const T **a,      \
        A *lda, const T **b, A *ldb, T *beta, T **c, A *ldc, I groups, A *sizes)                   \
    {                                                                                              \
        GROUPS(P##gemm_grouped, t, I, W);                                                          \
    }
#define GEMM_EX(I, A, W)                                                                           \
    int cublasGemmGroupedBatchedEx##W(                                                             \
        struct cublasContext *h, int *opa, int *opb, A *m, A *n, A *k, const void *alpha,          \
        const void **a, int a_type, A *lda, const void **b, int b_type, A *ldb, const void *beta,  \
        void **c, int c_type, A *ldc, I groups, A *sizes, int compute)                             \
    {                                                                                              \
        (void)compute;                                                                             \
        VS_BLAS_CHECK(h, !vs_library_bits(a_type) || a_type != b_type || a_type != c_type);           \
        GROUPS(gemm_grouped_ex, a_type, I, W);                                                     \
    }
GEMM(S, float, CUDA_R_32F, int, int, )
GEMM(S, float, CUDA_R_32F, int64_t, long, _64)
GEMM(D, double, CUDA_R_64F, int, int, )
GEMM(D, double, CUDA_R_64F, int64_t, long, _64)
GEMM_EX(int, int, )
GEMM_EX(int64_t, long, _64)
