/* SPDX-License-Identifier: Apache-2.0
 *
 * Level 2 of cuBLAS without gemv and ger: banded, symmetric, Hermitian, triangular and packed
 * matrices. They are checked and take their time, and leave their results unwritten. */
#include "simulator/libraries/cublas/vs_blas.h"

/* Work on half a matrix of n rows, and on vectors; *times*: operations for an element of the matrix. */
static int half_matrix(struct cublasContext *h, const char *name, int type, int64_t n, int times)
{
    double size = (double)n;
    return n ? vs_blas_work(h, name, type, times * size * size, size * size / 2 + 3 * size)
             : CUBLAS_STATUS_SUCCESS;
}

static int banded(struct cublasContext *h, const char *name, int type, int64_t n, int64_t diagonals)
{
    double size = (double)n * (double)diagonals;
    return n ? vs_blas_work(h, name, type, 2 * size, size + 3 * (double)n) : CUBLAS_STATUS_SUCCESS;
}

#define GBMV(P, T, t, I, W)                                                                        \
    int cublas##P##gbmv_v2##W(struct cublasContext *h, int op, I m, I n, I kl, I ku,               \
                              const T *alpha, const T *a, I lda, const T *x, I incx,               \
                              const T *beta, T *y, I incy)                                         \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_op(op) || m < 0 || n < 0 || kl < 0 || ku < 0 ||               \
                             lda < kl + ku + 1 || !incx || !incy || !alpha || !beta);              \
        (void)a, (void)x, (void)y;                                                                 \
        return m ? banded(h, "cublas_" #P "gbmv", t, n, kl + ku + 1) : CUBLAS_STATUS_SUCCESS;      \
    }
VS_BLAS_ALL(GBMV)

/* y = alpha A x + beta y: all, banded with k diagonals beside the main one, packed */
#define MV(P, T, t, name, I, W)                                                                    \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, const T *alpha,            \
                                const T *a, I lda, const T *x, I incx, const T *beta, T *y,        \
                                I incy)                                                            \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !vs_blas_is_ld(lda, n) || !incx ||     \
                             !incy || !alpha || !beta);                                            \
        (void)a, (void)x, (void)y;                                                                 \
        return half_matrix(h, "cublas_" #P #name, t, n, 2);                                        \
    }
#define BMV(P, T, t, name, I, W)                                                                   \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, I k, const T *alpha,       \
                                const T *a, I lda, const T *x, I incx, const T *beta, T *y,        \
                                I incy)                                                            \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || k < 0 || lda < k + 1 || !incx ||       \
                             !incy || !alpha || !beta);                                            \
        (void)a, (void)x, (void)y;                                                                 \
        return banded(h, "cublas_" #P #name, t, n, 2 * k + 1);                                     \
    }
#define PMV(P, T, t, name, I, W)                                                                   \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, const T *alpha,            \
                                const T *a, const T *x, I incx, const T *beta, T *y, I incy)       \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !incx || !incy || !alpha || !beta);    \
        (void)a, (void)x, (void)y;                                                                 \
        return half_matrix(h, "cublas_" #P #name, t, n, 2);                                        \
    }
/* A += alpha x x', and A += alpha x y' + …: all and packed; *R*: the type of alpha */
#define R1(P, T, t, R, name, I, W)                                                                 \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, const R *alpha,            \
                                const T *x, I incx, T *a, I lda)                                   \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !incx || !alpha ||                     \
                             !vs_blas_is_ld(lda, n));                                              \
        (void)x, (void)a;                                                                          \
        return half_matrix(h, "cublas_" #P #name, t, n, 1);                                        \
    }
#define R2(P, T, t, name, I, W)                                                                    \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, const T *alpha,            \
                                const T *x, I incx, const T *y, I incy, T *a, I lda)               \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !incx || !incy || !alpha ||            \
                             !vs_blas_is_ld(lda, n));                                              \
        (void)x, (void)y, (void)a;                                                                 \
        return half_matrix(h, "cublas_" #P #name, t, n, 2);                                        \
    }
#define PR1(P, T, t, R, name, I, W)                                                                \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, const R *alpha,            \
                                const T *x, I incx, T *a)                                          \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !incx || !alpha);                      \
        (void)x, (void)a;                                                                          \
        return half_matrix(h, "cublas_" #P #name, t, n, 1);                                        \
    }
#define PR2(P, T, t, name, I, W)                                                                   \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, I n, const T *alpha,            \
                                const T *x, I incx, const T *y, I incy, T *a)                      \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !incx || !incy || !alpha);             \
        (void)x, (void)y, (void)a;                                                                 \
        return half_matrix(h, "cublas_" #P #name, t, n, 2);                                        \
    }
#define SYMMETRIC(P, T, t, I, W) MV(P, T, t, symv, I, W) R1(P, T, t, T, syr, I, W) R2(P, T, t, syr2, I, W)
#define SYMMETRIC_REAL(P, T, t, I, W)                                                              \
    BMV(P, T, t, sbmv, I, W) PMV(P, T, t, spmv, I, W)                                              \
    PR1(P, T, t, T, spr, I, W) PR2(P, T, t, spr2, I, W)
#define HERMITIAN(P, T, t, R, I, W)                                                                \
    MV(P, T, t, hemv, I, W) BMV(P, T, t, hbmv, I, W) PMV(P, T, t, hpmv, I, W)                      \
    R1(P, T, t, R, her, I, W) R2(P, T, t, her2, I, W)                                              \
    PR1(P, T, t, R, hpr, I, W) PR2(P, T, t, hpr2, I, W)
VS_BLAS_ALL(SYMMETRIC)
VS_BLAS_REAL(SYMMETRIC_REAL)
HERMITIAN(C, struct float2, CUDA_C_32F, float, int, )
HERMITIAN(C, struct float2, CUDA_C_32F, float, int64_t, _64)
HERMITIAN(Z, struct double2, CUDA_C_64F, double, int, )
HERMITIAN(Z, struct double2, CUDA_C_64F, double, int64_t, _64)

/* x = op(A) x, and the solution of op(A) x = b in place: all, banded, packed */
#define TR(P, T, t, name, I, W)                                                                    \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, int op, int diag, I n,          \
                                const T *a, I lda, T *x, I incx)                                   \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || !vs_blas_is_op(op) || !vs_blas_is_diag(diag) || \
                             n < 0 || !vs_blas_is_ld(lda, n) || !incx);                            \
        (void)a, (void)x;                                                                          \
        return half_matrix(h, "cublas_" #P #name, t, n, 1);                                        \
    }
#define TB(P, T, t, name, I, W)                                                                    \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, int op, int diag, I n, I k,     \
                                const T *a, I lda, T *x, I incx)                                   \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || !vs_blas_is_op(op) || !vs_blas_is_diag(diag) || \
                             n < 0 || k < 0 || lda < k + 1 || !incx);                              \
        (void)a, (void)x;                                                                          \
        return banded(h, "cublas_" #P #name, t, n, k + 1);                                         \
    }
#define TP(P, T, t, name, I, W)                                                                    \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, int op, int diag, I n,          \
                                const T *a, T *x, I incx)                                          \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || !vs_blas_is_op(op) || !vs_blas_is_diag(diag) || \
                             n < 0 || !incx);                                                      \
        (void)a, (void)x;                                                                          \
        return half_matrix(h, "cublas_" #P #name, t, n, 1);                                        \
    }
#define TRIANGULAR(P, T, t, I, W)                                                                  \
    TR(P, T, t, trmv, I, W) TR(P, T, t, trsv, I, W) TB(P, T, t, tbmv, I, W)                        \
    TB(P, T, t, tbsv, I, W) TP(P, T, t, tpmv, I, W) TP(P, T, t, tpsv, I, W)
VS_BLAS_ALL(TRIANGULAR)
