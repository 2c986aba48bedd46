/* SPDX-License-Identifier: Apache-2.0
 *
 * gemm, gemv and ger of cuBLAS in every form: single, batched by pointers, batched by a step,
 * and with types given at run time. */
#include "simulator/libraries/cublas/vs_blas.h"

static bool gemm_bad(int opa, int opb, int64_t m, int64_t n, int64_t k, const void *alpha,
                     int64_t lda, int64_t ldb, const void *beta, int64_t ldc, int64_t batches)
{
    return !vs_blas_is_op(opa) || !vs_blas_is_op(opb) || m < 0 || n < 0 || k < 0 || batches < 0 ||
           !vs_blas_is_ld(lda, opa == CUBLAS_OP_N ? m : k) ||
           !vs_blas_is_ld(ldb, opb == CUBLAS_OP_N ? k : n) || !vs_blas_is_ld(ldc, m) || !alpha ||
           !beta;
}

/* The last arguments of a function say how its matrices lie in memory. */
#define SINGLE .batches = 1
#define POINTERS .batches = batches, .a.pointers = true, .b.pointers = true, .c.pointers = true
#define STEPS .batches = batches, .a.batch_step = step_a, .b.batch_step = step_b, .c.batch_step = step_c
static int gemm(struct cublasContext *h, const char *name, int opa, int opb, int64_t lda, int64_t ldb,
                int64_t ldc, struct vs_blas_product p)
{
    VS_BLAS_CHECK(h, gemm_bad(opa, opb, p.m, p.n, p.k, p.alpha, lda, ldb, p.beta, ldc, p.batches));
    struct vs_blas_operand a = vs_blas_matrix(p.a.base, p.a.type, opa, lda);
    struct vs_blas_operand b = vs_blas_matrix(p.b.base, p.b.type, opb, ldb);
    struct vs_blas_operand c = vs_blas_matrix(p.c.base, p.c.type, CUBLAS_OP_N, ldc);
    a.pointers = p.a.pointers, b.pointers = p.b.pointers, c.pointers = p.c.pointers;
    a.batch_step = p.a.batch_step, b.batch_step = p.b.batch_step, c.batch_step = p.c.batch_step;
    p.a = a, p.b = b, p.c = c;
    return vs_blas_product(h, name, &p);
}
#define GEMM(name, ta, tb, tc, ts, number_, ...)                                                   \
    VS_BLAS_CHECK(h, false);                                                                       \
    return gemm(h, name, opa, opb, lda, ldb, ldc, (struct vs_blas_product){                        \
        .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .a.base = (void *)a, .a.type = ta,   \
        .b.base = (void *)b, .b.type = tb, .c.base = (void *)c, .c.type = tc, .scalar_type = ts,   \
        .number = number_, __VA_ARGS__})
#define GEMM_SAME(name, t, ...)                                                                    \
    GEMM(name, t, t, t, t, vs_blas_number(t, h->math_mode), __VA_ARGS__)
#define GEMM_OF(T, t, name, suffix, I, W)                                                          \
    int cublas##name##suffix##W(struct cublasContext *h, int opa, int opb, I m, I n, I k,          \
                                const T *alpha, const T *a, I lda, const T *b, I ldb,              \
                                const T *beta, T *c, I ldc)                                        \
    {                                                                                              \
        GEMM_SAME("cublas_" #name, t, SINGLE);                                                      \
    }                                                                                              \
    int cublas##name##Batched##W(struct cublasContext *h, int opa, int opb, I m, I n, I k,         \
                                 const T *alpha, const T **a, I lda, const T **b, I ldb,           \
                                 const T *beta, T **c, I ldc, I batches)                           \
    {                                                                                              \
        GEMM_SAME("cublas_" #name "_batched", t, POINTERS);                                         \
    }                                                                                              \
    int cublas##name##StridedBatched##W(struct cublasContext *h, int opa, int opb, I m, I n, I k,  \
                                        const T *alpha, const T *a, I lda, long long step_a,       \
                                        const T *b, I ldb, long long step_b, const T *beta, T *c,  \
                                        I ldc, long long step_c, I batches)                        \
    {                                                                                              \
        GEMM_SAME("cublas_" #name "_strided_batched", t, STEPS);                                    \
    }
#define GEMMS(P, T, t, I, W) GEMM_OF(T, t, P##gemm, _v2, I, W)
VS_BLAS_ALL(GEMMS)
GEMM_OF(struct float2, CUDA_C_32F, Cgemm3m, , int, )
GEMM_OF(struct float2, CUDA_C_32F, Cgemm3m, , int64_t, _64)
#define GEMM_3M(I, W)                                                                              \
    int cublasZgemm3m##W(struct cublasContext *h, int opa, int opb, I m, I n, I k,                 \
                         const struct double2 *alpha, const struct double2 *a, I lda,              \
                         const struct double2 *b, I ldb, const struct double2 *beta,               \
                         struct double2 *c, I ldc)                                                 \
    {                                                                                              \
        GEMM_SAME("cublas_Zgemm3m", CUDA_C_64F, SINGLE);                                            \
    }
GEMM_3M(int, )
GEMM_3M(int64_t, _64)

/* Functions on half precision: NVIDIA's headers declare them for C++ only. The 16 bits of an
 * element are not used here. */
#define DECLARE_HALF(I, W)                                                                         \
    VS_LIBRARY_EXPORT int cublasHgemm##W(struct cublasContext *, int, int, I, I, I,                \
                                         const uint16_t *, const uint16_t *, I, const uint16_t *,  \
                                         I, const uint16_t *, uint16_t *, I);                      \
    VS_LIBRARY_EXPORT int cublasHgemmBatched##W(                                                   \
        struct cublasContext *, int, int, I, I, I, const uint16_t *, const uint16_t **, I,         \
        const uint16_t **, I, const uint16_t *, uint16_t **, I, I);                                \
    VS_LIBRARY_EXPORT int cublasHgemmStridedBatched##W(                                            \
        struct cublasContext *, int, int, I, I, I, const uint16_t *, const uint16_t *, I,          \
        long long, const uint16_t *, I, long long, const uint16_t *, uint16_t *, I, long long, I);
DECLARE_HALF(int, )
DECLARE_HALF(int64_t, _64)
GEMM_OF(uint16_t, CUDA_R_16F, Hgemm, , int, )
GEMM_OF(uint16_t, CUDA_R_16F, Hgemm, , int64_t, _64)

/* ---- types given at run time ---- */

/* The arithmetic of a cublasComputeType_t on elements of *type*. */
static enum vs_sim_number number_of(const struct cublasContext *h, int compute, int type)
{
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF: return VS_SIM_FP16;
    case CUBLAS_COMPUTE_32F_FAST_TF32: return VS_SIM_TF32;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return vs_blas_number(type, CUBLAS_PEDANTIC_MATH);
    default: return vs_blas_number(type, h->math_mode);
    }
}

/* The type of alpha and beta for a compute type and elements of *type*; -1: not a compute type. */
static int scalar_of(int compute, int type)
{
    bool is_complex = vs_blas_is_complex(type);
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: return is_complex ? CUDA_C_32F : CUDA_R_32F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return is_complex ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
    default: return -1;
    }
}

/* cuBLAS, table of cublasGemmEx: A and B have one type; integers multiply 8-bit numbers. */
static bool types_fit(int compute, int a, int b, int c)
{
    bool integer = compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC;
    if (a != b || !vs_library_bits(a) || !vs_library_bits(c) || vs_blas_is_complex(a) != vs_blas_is_complex(c))
        return false;
    if (integer)
        return a == CUDA_R_8I && c == CUDA_R_32I;
    switch (scalar_of(compute, c)) {
    case CUDA_R_16F: return a == CUDA_R_16F && c == CUDA_R_16F;
    case CUDA_R_64F: return a == CUDA_R_64F && c == CUDA_R_64F;
    case CUDA_C_64F: return a == CUDA_C_64F && c == CUDA_C_64F;
    case CUDA_C_32F: return (a == CUDA_C_8I || a == CUDA_C_32F) && c == CUDA_C_32F;
    default:
        return c == CUDA_R_32F ? a == CUDA_R_8I || a == CUDA_R_16F || a == CUDA_R_16BF || a == CUDA_R_32F
                               : a == c && (c == CUDA_R_16F || c == CUDA_R_16BF);
    }
}

#define GEMM_EX(name, ...)                                                                         \
    VS_BLAS_CHECK(h, scalar_of(compute, c_type) < 0);                                              \
    if (!types_fit(compute, a_type, b_type, c_type))                                               \
        return vs_library_unsupported(name, "with these types");                                   \
    (void)algorithm;                                                                               \
    GEMM(name, a_type, b_type, c_type, scalar_of(compute, c_type), number_of(h, compute, a_type),  \
         __VA_ARGS__)
#define GEMM_EX_OF(I, W)                                                                           \
    int cublasGemmEx##W(struct cublasContext *h, int opa, int opb, I m, I n, I k,                  \
                        const void *alpha, const void *a, int a_type, I lda, const void *b,        \
                        int b_type, I ldb, const void *beta, void *c, int c_type, I ldc,           \
                        int compute, int algorithm)                                                \
    {                                                                                              \
        GEMM_EX("cublasGemmEx", SINGLE);                                                           \
    }                                                                                              \
    int cublasGemmBatchedEx##W(struct cublasContext *h, int opa, int opb, I m, I n, I k,           \
                               const void *alpha, const void **a, int a_type, I lda,               \
                               const void **b, int b_type, I ldb, const void *beta, void **c,      \
                               int c_type, I ldc, I batches, int compute, int algorithm)           \
    {                                                                                              \
        GEMM_EX("cublasGemmBatchedEx", POINTERS);                                                  \
    }                                                                                              \
    int cublasGemmStridedBatchedEx##W(                                                             \
        struct cublasContext *h, int opa, int opb, I m, I n, I k, const void *alpha,               \
        const void *a, int a_type, I lda, long long step_a, const void *b, int b_type, I ldb,      \
        long long step_b, const void *beta, void *c, int c_type, I ldc, long long step_c,          \
        I batches, int compute, int algorithm)                                                     \
    {                                                                                              \
        GEMM_EX("cublasGemmStridedBatchedEx", STEPS);                                              \
    }
GEMM_EX_OF(int, )
GEMM_EX_OF(int64_t, _64)

/* The same with the compute type in the name. */
#define GEMM_NAMED(name, T, compute_, I, W)                                                        \
    int cublas##name##W(struct cublasContext *h, int opa, int opb, I m, I n, I k, const T *alpha,  \
                        const void *a, int a_type, I lda, const void *b, int b_type, I ldb,        \
                        const T *beta, void *c, int c_type, I ldc)                                 \
    {                                                                                              \
        const int compute = compute_, algorithm = CUBLAS_GEMM_DEFAULT;                             \
        GEMM_EX("cublas" #name, SINGLE);                                                           \
    }
#define GEMMS_NAMED(name, T)                                                                       \
    GEMM_NAMED(name, T, CUBLAS_COMPUTE_32F, int, ) GEMM_NAMED(name, T, CUBLAS_COMPUTE_32F, int64_t, _64)
GEMMS_NAMED(SgemmEx, float)
GEMMS_NAMED(CgemmEx, struct float2)
GEMMS_NAMED(Cgemm3mEx, struct float2)
