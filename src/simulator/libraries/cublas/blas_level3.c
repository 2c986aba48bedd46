/* SPDX-License-Identifier: Apache-2.0
 *
 * Level 3 of cuBLAS without gemm, and its extensions for whole matrices. They are checked and take
 * their time, and leave their results unwritten. */
#include "simulator/libraries/cublas/vs_blas.h"

static int work(struct cublasContext *h, const char *name, int type, double operations,
                double elements)
{
    return operations > 0 ? vs_blas_work(h, name, type, operations, elements) : CUBLAS_STATUS_SUCCESS;
}

/* C = alpha A B + beta C, A symmetric or Hermitian and on the left or right */
static int mm(struct cublasContext *h, const char *name, int type, int side, int64_t m, int64_t n)
{
    double rows = (double)m, columns = (double)n, inner = side == CUBLAS_SIDE_LEFT ? rows : columns;
    return work(h, name, type, 2 * rows * columns * inner, inner * inner + 3 * rows * columns);
}
#define MM(P, T, t, name, I, W)                                                                    \
    int cublas##P##name##_v2##W(struct cublasContext *h, int side, int uplo, I m, I n,             \
                                const T *alpha, const T *a, I lda, const T *b, I ldb,              \
                                const T *beta, T *c, I ldc)                                        \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_side(side) || !vs_blas_is_uplo(uplo) || m < 0 || n < 0 ||     \
                             !vs_blas_is_ld(lda, side == CUBLAS_SIDE_LEFT ? m : n) ||              \
                             !vs_blas_is_ld(ldb, m) || !vs_blas_is_ld(ldc, m) || !alpha || !beta); \
        (void)a, (void)b, (void)c;                                                                 \
        return mm(h, "cublas_" #P #name, t, side, m, n);                                           \
    }

/* C = alpha op(A) op(A)' + beta C, half of it; with a second matrix of the same shape: *matrices* 2 */
static int rank_k(struct cublasContext *h, const char *name, int type, int64_t n, int64_t k,
                  int matrices)
{
    double size = (double)n, terms = (double)k;
    return work(h, name, type, size * size * (terms > 1 ? terms : 1) * matrices,
                matrices * size * terms + size * size);
}
#define RANK_BAD                                                                                   \
    (!vs_blas_is_uplo(uplo) || !vs_blas_is_op(op) || n < 0 || k < 0 ||                             \
     !vs_blas_is_ld(lda, op == CUBLAS_OP_N ? n : k) || !vs_blas_is_ld(ldc, n) || !alpha || !beta)
#define RK(P, T, t, R, name, I, W)                                                                 \
    int cublas##P##name##_v2##W(struct cublasContext *h, int uplo, int op, I n, I k,               \
                                const R *alpha, const T *a, I lda, const R *beta, T *c, I ldc)     \
    {                                                                                              \
        VS_BLAS_CHECK(h, RANK_BAD);                                                                \
        (void)a, (void)c;                                                                          \
        return rank_k(h, "cublas_" #P #name, t, n, k, 1);                                          \
    }
#define R2K(P, T, t, R, name, matrices, I, W)                                                      \
    int cublas##P##name##W(struct cublasContext *h, int uplo, int op, I n, I k, const T *alpha,    \
                           const T *a, I lda, const T *b, I ldb, const R *beta, T *c, I ldc)       \
    {                                                                                              \
        VS_BLAS_CHECK(h, RANK_BAD || !vs_blas_is_ld(ldb, op == CUBLAS_OP_N ? n : k));              \
        (void)a, (void)b, (void)c;                                                                 \
        return rank_k(h, "cublas_" #P #name, t, n, k, matrices);                                   \
    }
#define RK_EX(P, R, name, I, W)                                                                    \
    int cublas##P##name##W(struct cublasContext *h, int uplo, int op, I n, I k, const R *alpha,    \
                           const void *a, int a_type, I lda, const R *beta, void *c, int c_type,   \
                           I ldc)                                                                  \
    {                                                                                              \
        VS_BLAS_CHECK(h, RANK_BAD || !vs_library_bits(a_type) || !vs_library_bits(c_type));              \
        (void)a, (void)c;                                                                          \
        return rank_k(h, "cublas_" #P #name, c_type, n, k, 1);                                     \
    }
#define SYMMETRIC(P, T, t, I, W)                                                                   \
    MM(P, T, t, symm, I, W) RK(P, T, t, T, syrk, I, W)                                             \
    R2K(P, T, t, T, syr2k_v2, 2, I, W) R2K(P, T, t, T, syrkx, 1, I, W)
#define HERMITIAN(P, T, t, R, I, W)                                                                \
    MM(P, T, t, hemm, I, W) RK(P, T, t, R, herk, I, W)                                             \
    R2K(P, T, t, R, her2k_v2, 2, I, W) R2K(P, T, t, R, herkx, 1, I, W)
VS_BLAS_ALL(SYMMETRIC)
HERMITIAN(C, struct float2, CUDA_C_32F, float, int, )
HERMITIAN(C, struct float2, CUDA_C_32F, float, int64_t, _64)
HERMITIAN(Z, struct double2, CUDA_C_64F, double, int, )
HERMITIAN(Z, struct double2, CUDA_C_64F, double, int64_t, _64)
#define RANK_EX(I, W)                                                                              \
    RK_EX(C, struct float2, syrkEx, I, W) RK_EX(C, struct float2, syrk3mEx, I, W)                  \
    RK_EX(C, float, herkEx, I, W) RK_EX(C, float, herk3mEx, I, W)
RANK_EX(int, )
RANK_EX(int64_t, _64)

/* C = alpha op(A) B, and the solution of op(A) X = alpha B in place, A triangular */
static int triangular(struct cublasContext *h, const char *name, int type, int side, int64_t m,
                      int64_t n, int64_t batches)
{
    double rows = (double)m, columns = (double)n, inner = side == CUBLAS_SIDE_LEFT ? rows : columns;
    double each = (double)batches;
    return work(h, name, type, rows * columns * inner * each,
                (inner * inner / 2 + 2 * rows * columns) * each);
}
#define TRIANGULAR_BAD                                                                             \
    (!vs_blas_is_side(side) || !vs_blas_is_uplo(uplo) || !vs_blas_is_op(op) ||                     \
     !vs_blas_is_diag(diag) || m < 0 || n < 0 || !alpha ||                                         \
     !vs_blas_is_ld(lda, side == CUBLAS_SIDE_LEFT ? m : n) || !vs_blas_is_ld(ldb, m))
#define TRIANGULAR(P, T, t, I, W)                                                                  \
    int cublas##P##trmm_v2##W(struct cublasContext *h, int side, int uplo, int op, int diag, I m,  \
                              I n, const T *alpha, const T *a, I lda, const T *b, I ldb, T *c,     \
                              I ldc)                                                               \
    {                                                                                              \
        VS_BLAS_CHECK(h, TRIANGULAR_BAD || !vs_blas_is_ld(ldc, m));                                \
        (void)a, (void)b, (void)c;                                                                 \
        return triangular(h, "cublas_" #P "trmm", t, side, m, n, 1);                               \
    }                                                                                              \
    int cublas##P##trsm_v2##W(struct cublasContext *h, int side, int uplo, int op, int diag, I m,  \
                              I n, const T *alpha, const T *a, I lda, T *b, I ldb)                 \
    {                                                                                              \
        VS_BLAS_CHECK(h, TRIANGULAR_BAD);                                                          \
        (void)a, (void)b;                                                                          \
        return triangular(h, "cublas_" #P "trsm", t, side, m, n, 1);                               \
    }                                                                                              \
    int cublas##P##trsmBatched##W(struct cublasContext *h, int side, int uplo, int op, int diag,   \
                                  I m, I n, const T *alpha, const T **a, I lda, T **b, I ldb,      \
                                  I batches)                                                       \
    {                                                                                              \
        VS_BLAS_CHECK(h, TRIANGULAR_BAD || batches < 0);                                           \
        (void)a, (void)b;                                                                          \
        return triangular(h, "cublas_" #P "trsm_batched", t, side, m, n, batches);                 \
    }
VS_BLAS_ALL(TRIANGULAR)

/* ---- whole matrices: sums, diagonals, packed forms ---- */

#define WHOLE(P, T, t, I, W)                                                                       \
    int cublas##P##geam##W(struct cublasContext *h, int opa, int opb, I m, I n, const T *alpha,    \
                           const T *a, I lda, const T *beta, const T *b, I ldb, T *c, I ldc)       \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_op(opa) || !vs_blas_is_op(opb) || m < 0 || n < 0 || !alpha || \
                             !beta || !vs_blas_is_ld(lda, opa == CUBLAS_OP_N ? m : n) ||           \
                             !vs_blas_is_ld(ldb, opb == CUBLAS_OP_N ? m : n) ||                    \
                             !vs_blas_is_ld(ldc, m));                                              \
        (void)a, (void)b, (void)c;                                                                 \
        double size = (double)m * (double)n;                                                       \
        return work(h, "cublas_" #P "geam", t, 3 * size, 3 * size);                                \
    }                                                                                              \
    int cublas##P##dgmm##W(struct cublasContext *h, int side, I m, I n, const T *a, I lda,         \
                           const T *x, I incx, T *c, I ldc)                                        \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_side(side) || m < 0 || n < 0 || !vs_blas_is_ld(lda, m) ||     \
                             !vs_blas_is_ld(ldc, m));                                              \
        (void)a, (void)x, (void)incx, (void)c;                                                     \
        double size = (double)m * (double)n;                                                       \
        return work(h, "cublas_" #P "dgmm", t, size, 2 * size);                                    \
    }
VS_BLAS_ALL(WHOLE)

#define PACKED(P, T, t)                                                                            \
    int cublas##P##tpttr(struct cublasContext *h, int uplo, int n, const T *packed, T *a, int lda) \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !vs_blas_is_ld(lda, n));               \
        (void)packed, (void)a;                                                                     \
        return work(h, "cublas_" #P "tpttr", t, (double)n * n / 2, (double)n * n);                 \
    }                                                                                              \
    int cublas##P##trttp(struct cublasContext *h, int uplo, int n, const T *a, int lda, T *packed) \
    {                                                                                              \
        VS_BLAS_CHECK(h, !vs_blas_is_uplo(uplo) || n < 0 || !vs_blas_is_ld(lda, n));               \
        (void)packed, (void)a;                                                                     \
        return work(h, "cublas_" #P "trttp", t, (double)n * n / 2, (double)n * n);                 \
    }
PACKED(S, float, CUDA_R_32F)
PACKED(D, double, CUDA_R_64F)
PACKED(C, struct float2, CUDA_C_32F)
PACKED(Z, struct double2, CUDA_C_64F)
