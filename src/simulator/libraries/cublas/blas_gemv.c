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

struct gemv {
    const char *name;
    int op, matrix_type, result_type, scalar_type;
    bool pointers;
    int64_t m, n, lda, incx, incy, batches, step_a, step_x, step_y;
    const void *alpha, *a, *x, *beta;
    void *y;
};

static int gemv(struct cublasContext *h, const struct gemv *g)
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

#define GEMV(name_, t, r, s, ...)                                                                  \
    return gemv(h, &(struct gemv){.name = name_, .op = op, .m = m, .n = n, .alpha = alpha,         \
                                  .a = a, .lda = lda, .x = x, .incx = incx, .beta = beta, .y = y,  \
                                  .incy = incy, .matrix_type = t, .result_type = r,                \
                                  .scalar_type = s, __VA_ARGS__})
#define POINTERS .batches = batches, .pointers = true
#define STEPS .batches = batches, .step_a = step_a, .step_x = step_x, .step_y = step_y
#define BATCHED_PARAMETERS(T, R, S, I)                                                             \
    (struct cublasContext * h, int op, I m, I n, const S *alpha, const T **a, I lda, const T **x,  \
     I incx, const S *beta, R **y, I incy, I batches)
#define STRIDED_PARAMETERS(T, R, S, I)                                                             \
    (struct cublasContext * h, int op, I m, I n, const S *alpha, const T *a, I lda,                \
     long long step_a, const T *x, I incx, long long step_x, const S *beta, R *y, I incy,          \
     long long step_y, I batches)
#define GEMV_BATCHED(P, T, t, R, r, S, s, I, W)                                                    \
    int cublas##P##gemvBatched##W BATCHED_PARAMETERS(T, R, S, I)                                   \
    {                                                                                              \
        GEMV("cublas_" #P "gemv_batched", t, r, s, POINTERS);                                      \
    }                                                                                              \
    int cublas##P##gemvStridedBatched##W STRIDED_PARAMETERS(T, R, S, I)                            \
    {                                                                                              \
        GEMV("cublas_" #P "gemv_strided_batched", t, r, s, STEPS);                                 \
    }
#define GEMVS(P, T, t, I, W)                                                                       \
    int cublas##P##gemv_v2##W(struct cublasContext *h, int op, I m, I n, const T *alpha,           \
                              const T *a, I lda, const T *x, I incx, const T *beta, T *y, I incy)  \
    {                                                                                              \
        GEMV("cublas_" #P "gemv", t, t, t, .batches = 1);                                          \
    }                                                                                              \
    GEMV_BATCHED(P, T, t, T, t, T, t, I, W)
VS_BLAS_ALL(GEMVS)

/* Half precision and bfloat16, with results of the same type or float: declared by NVIDIA's headers
 * for C++ only. */
#define GEMV_16_OF(P, t, R, r, I, W)                                                               \
    VS_LIBRARY_EXPORT int cublas##P##gemvBatched##W BATCHED_PARAMETERS(uint16_t, R, float, I);     \
    VS_LIBRARY_EXPORT int cublas##P##gemvStridedBatched##W STRIDED_PARAMETERS(uint16_t, R, float, I); \
    GEMV_BATCHED(P, uint16_t, t, R, r, float, CUDA_R_32F, I, W)
#define GEMV_16(P, t, R, r) GEMV_16_OF(P, t, R, r, int, ) GEMV_16_OF(P, t, R, r, int64_t, _64)
GEMV_16(HSH, CUDA_R_16F, uint16_t, CUDA_R_16F)
GEMV_16(HSS, CUDA_R_16F, float, CUDA_R_32F)
GEMV_16(TST, CUDA_R_16BF, uint16_t, CUDA_R_16BF)
GEMV_16(TSS, CUDA_R_16BF, float, CUDA_R_32F)

static int ger(struct cublasContext *h, const char *name, int type, bool conjugated, int64_t m,
               int64_t n, const void *alpha, const void *x, int64_t incx, const void *y,
               int64_t incy, void *a, int64_t lda)
{
    VS_BLAS_CHECK(h, m < 0 || n < 0 || !incx || !incy || !alpha || !vs_blas_is_ld(lda, m));
    struct vs_blas_product p = {.m = m,
                                .n = n,
                                .k = 1,
                                .batches = 1,
                                .a = vector(x, type, m, incx),
                                .b = vector(y, type, n, incy),
                                .c = vs_blas_matrix(a, type, CUBLAS_OP_N, lda),
                                .number = vs_blas_number(type, CUBLAS_PEDANTIC_MATH),
                                .scalar_type = type,
                                .alpha = alpha};
    p.b.conjugated = conjugated;
    return vs_blas_product(h, name, &p);
}
#define GER_OF(name, T, t, conjugated, I, W)                                                       \
    int cublas##name##_v2##W(struct cublasContext *h, I m, I n, const T *alpha, const T *x,        \
                             I incx, const T *y, I incy, T *a, I lda)                              \
    {                                                                                              \
        return ger(h, "cublas_" #name, t, conjugated, m, n, alpha, x, incx, y, incy, a, lda);      \
    }
#define GER(name, T, t, conjugated)                                                                \
    GER_OF(name, T, t, conjugated, int, ) GER_OF(name, T, t, conjugated, int64_t, _64)
GER(Sger, float, CUDA_R_32F, false)
GER(Dger, double, CUDA_R_64F, false)
GER(Cgeru, struct float2, CUDA_C_32F, false)
GER(Cgerc, struct float2, CUDA_C_32F, true)
GER(Zgeru, struct double2, CUDA_C_64F, false)
GER(Zgerc, struct double2, CUDA_C_64F, true)
