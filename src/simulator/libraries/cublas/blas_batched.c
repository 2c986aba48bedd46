/* SPDX-License-Identifier: Apache-2.0
 *
 * Factorisations and solutions of many small matrices. They take their time and leave the matrices unwritten; the outputs that steer a program are set: info 0, and pivots that
 * exchange nothing. */
#include "simulator/libraries/cublas/vs_blas.h"

/* Pivot arrays: 1 … n for each matrix. */
struct blas_pivots {
    int *pivots;
    int n, batches;
};
static void write_pivots(const struct vramscope_sim_launch *launch, unsigned long first,
                         unsigned long last)
{
    const struct blas_pivots *p = launch->args[0];
    (void)first, (void)last;
    for (int64_t i = 0; i < (int64_t)p->n * p->batches; i++)
        p->pivots[i] = (int)(i % p->n) + 1;
}

static int batched(struct cublasContext *h, const char *name, int type, double operations,
                   double elements, int batches, int *info)
{
    if (!batches || !elements)
        return CUBLAS_STATUS_SUCCESS;
    int e = vs_blas_work(h, name, type, operations * batches, elements * batches);
    if (!e && info)
        e = vs_blas_status(vs_library_zero(h->stream, info, (size_t)batches * sizeof *info));
    return e;
}

static int set_pivots(struct cublasContext *h, int *pivots, int n, int batches)
{
    struct blas_pivots p = {pivots, n, batches};
    struct vs_sim_work work = {.name = "cublas_pivots", .bytes = 4.0 * n * batches};
    if (!pivots || !n || !batches || !vs_library_computes())
        return CUBLAS_STATUS_SUCCESS;
    return vs_blas_status(vs_library_compute(h->stream, &work, write_pivots, &p, sizeof p));
}

/* A function with *info* in host memory reports the position of a wrong argument there. */
static int wrong(int *info, int position)
{
    if (info)
        *info = -position;
    return CUBLAS_STATUS_INVALID_VALUE;
}
#define REFUSE(bad, position)                                                                      \
    if (bad)                                                                                       \
        return wrong(info, position)

#define BATCHED(P, T, t)                                                                           \
    int cublas##P##getrfBatched(struct cublasContext *h, int n, T **a, int lda, int *pivots,       \
                                int *info, int batches)                                            \
    {                                                                                              \
        double s = n;                                                                              \
        VS_BLAS_CHECK(h, n < 0 || batches < 0 || !vs_blas_is_ld(lda, n) || (batches && !info));    \
        (void)a;                                                                                   \
        int e = batched(h, "cublas_" #P "getrf_batched", t, 2 * s * s * s / 3, 2 * s * s, batches, \
                        info);                                                                     \
        return e ? e : set_pivots(h, pivots, n, batches);                                          \
    }                                                                                              \
    int cublas##P##getriBatched(struct cublasContext *h, int n, const T **a, int lda,              \
                                const int *pivots, T **c, int ldc, int *info, int batches)         \
    {                                                                                              \
        double s = n;                                                                              \
        VS_BLAS_CHECK(h, n < 0 || batches < 0 || !vs_blas_is_ld(lda, n) ||                         \
                             !vs_blas_is_ld(ldc, n) || (batches && !info));                        \
        (void)a, (void)c, (void)pivots;                                                            \
        return batched(h, "cublas_" #P "getri_batched", t, 4 * s * s * s / 3, 2 * s * s, batches,  \
                       info);                                                                      \
    }                                                                                              \
    int cublas##P##matinvBatched(struct cublasContext *h, int n, const T **a, int lda, T **c,      \
                                 int ldc, int *info, int batches)                                  \
    {                                                                                              \
        double s = n;                                                                              \
        VS_BLAS_CHECK(h, n < 0 || batches < 0 || !vs_blas_is_ld(lda, n) ||                         \
                             !vs_blas_is_ld(ldc, n) || n > 32 || (batches && !info));              \
        (void)a, (void)c;                                                                          \
        return batched(h, "cublas_" #P "matinv_batched", t, 2 * s * s * s, 2 * s * s, batches,     \
                       info);                                                                      \
    }                                                                                              \
    int cublas##P##getrsBatched(struct cublasContext *h, int op, int n, int rhs, const T **a,      \
                                int lda, const int *pivots, T **b, int ldb, int *info,             \
                                int batches)                                                       \
    {                                                                                              \
        double s = n, r = rhs;                                                                     \
        VS_BLAS_CHECK(h, !info);                                                                   \
        REFUSE(!vs_blas_is_op(op), 1);                                                             \
        REFUSE(n < 0, 2);                                                                          \
        REFUSE(rhs < 0, 3);                                                                        \
        REFUSE(!vs_blas_is_ld(lda, n), 5);                                                         \
        REFUSE(!vs_blas_is_ld(ldb, n), 8);                                                         \
        REFUSE(batches < 0, 10);                                                                   \
        (void)a, (void)b, (void)pivots;                                                            \
        *info = 0;                                                                                 \
        return batched(h, "cublas_" #P "getrs_batched", t, 2 * s * s * r, s * s + 2 * s * r,       \
                       batches, NULL);                                                             \
    }                                                                                              \
    int cublas##P##geqrfBatched(struct cublasContext *h, int m, int n, T **a, int lda, T **tau,    \
                                int *info, int batches)                                            \
    {                                                                                              \
        double rows = m, columns = n;                                                              \
        VS_BLAS_CHECK(h, !info);                                                                   \
        REFUSE(m < 0, 1);                                                                          \
        REFUSE(n < 0, 2);                                                                          \
        REFUSE(!vs_blas_is_ld(lda, m), 4);                                                         \
        REFUSE(batches < 0, 7);                                                                    \
        (void)a, (void)tau;                                                                        \
        *info = 0;                                                                                 \
        return batched(h, "cublas_" #P "geqrf_batched", t, 2 * rows * columns * columns,           \
                       2 * rows * columns, batches, NULL);                                         \
    }                                                                                              \
    int cublas##P##gelsBatched(struct cublasContext *h, int op, int m, int n, int rhs, T **a,      \
                               int lda, T **c, int ldc, int *info, int *infos, int batches)        \
    {                                                                                              \
        double rows = m, columns = n;                                                              \
        VS_BLAS_CHECK(h, !info);                                                                   \
        REFUSE(!vs_blas_is_op(op), 1);                                                             \
        REFUSE(m < 0, 2);                                                                          \
        REFUSE(n < 0, 3);                                                                          \
        REFUSE(rhs < 0, 4);                                                                        \
        REFUSE(!vs_blas_is_ld(lda, m), 6);                                                         \
        REFUSE(!vs_blas_is_ld(ldc, m), 8);                                                         \
        REFUSE(batches < 0, 11);                                                                   \
        if (op != CUBLAS_OP_N || m < n) /* NVIDIA: only overdetermined systems, not transposed */  \
            return vs_library_unsupported("cublas" #P "gelsBatched", "of such a system");          \
        (void)a, (void)c;                                                                          \
        *info = 0;                                                                                 \
        return batched(h, "cublas_" #P "gels_batched", t, 2 * rows * columns * (columns + rhs),    \
                       2 * rows * (columns + rhs), batches, infos);                                \
    }
BATCHED(S, float, CUDA_R_32F)
BATCHED(D, double, CUDA_R_64F)
BATCHED(C, struct float2, CUDA_C_32F)
BATCHED(Z, struct double2, CUDA_C_64F)
