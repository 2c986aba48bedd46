/* SPDX-License-Identifier: Apache-2.0
 *
 * gemm of cuBLAS in every form: single, batched by pointers, batched by a step, and with types given at run
 * time. */
#include "simulator/libraries/cublas/vs_blas.h"

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
    bool is_complex = vs_library_is_complex(type);
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
    if (a != b || !vs_library_bits(a) || !vs_library_bits(c) || vs_library_is_complex(a) != vs_library_is_complex(c))
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

int vs_blas_gemm(struct cublasContext *h, const struct vs_blas_gemm *g)
{
    VS_BLAS_CHECK(h, !g->by_type && scalar_of(g->compute, g->c_type) < 0);
    if (!g->by_type && !types_fit(g->compute, g->a_type, g->b_type, g->c_type))
        return vs_library_unsupported(g->name, "with these types");
    VS_BLAS_CHECK(h, !vs_blas_is_op(g->opa) || !vs_blas_is_op(g->opb) || g->m < 0 || g->n < 0 ||
                         g->k < 0 || g->batches < 0 || !g->alpha || !g->beta ||
                         !vs_blas_is_ld(g->lda, vs_blas_rows(g->opa, g->m, g->k)) ||
                         !vs_blas_is_ld(g->ldb, vs_blas_rows(g->opb, g->k, g->n)) ||
                         !vs_blas_is_ld(g->ldc, g->m));
    struct vs_blas_product p = {
        .m = g->m,
        .n = g->n,
        .k = g->k,
        .batches = g->batches,
        .a = vs_blas_matrix(g->a, g->a_type, g->opa, g->lda),
        .b = vs_blas_matrix(g->b, g->b_type, g->opb, g->ldb),
        .c = vs_blas_matrix(g->c, g->c_type, CUBLAS_OP_N, g->ldc),
        .number = g->by_type ? vs_blas_number(g->a_type, h->math_mode)
                             : number_of(h, g->compute, g->a_type),
        .scalar_type = g->by_type ? g->a_type : scalar_of(g->compute, g->c_type),
        .alpha = g->alpha,
        .beta = g->beta};
    p.a.pointers = p.b.pointers = p.c.pointers = g->pointers;
    p.a.batch_step = g->step_a, p.b.batch_step = g->step_b, p.c.batch_step = g->step_c;
    return vs_blas_product(h, g->name, &p);
}
