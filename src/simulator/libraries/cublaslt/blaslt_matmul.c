/* SPDX-License-Identifier: Apache-2.0
 *
 * cublasLtMatmul and cublasLtMatrixTransform: checks, then work with the operations and bytes of its
 * types, the epilogue's included. The results are left unwritten. */
#include "simulator/libraries/cublaslt/vs_blaslt.h"

#define OPERATIONS_PER_BLOCK 4194304.0

static int status_of(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS: return CUBLAS_STATUS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY: return CUBLAS_STATUS_ALLOC_FAILED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

static enum vs_sim_number number_of(int compute, int type)
{
    if (vs_lt_is_narrow(type))
        return VS_SIM_FP8;
    switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return VS_SIM_FP64;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return VS_SIM_INT8;
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF: return VS_SIM_FP16;
    case CUBLAS_COMPUTE_32F_FAST_TF32: return VS_SIM_TF32;
    default: return vs_library_number(type) == VS_SIM_FP16 ? VS_SIM_FP16 : VS_SIM_FP32;
    }
}

/* Bytes of *l* once, or of one element in each place of the result. */
static double bytes_of(const struct vs_lt_layout *l)
{
    return (double)l->rows * (double)l->columns * l->batches * vs_library_bits(l->type) / 8;
}

/* Bits of CUBLASLT_EPILOGUE_…: what an epilogue reads or writes besides the result. */
static bool has_bias(uint32_t epilogue)
{
    return epilogue & (CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_BGRADA | CUBLASLT_EPILOGUE_BGRADB) ||
           epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD || epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD;
}
static bool has_aux(uint32_t epilogue)
{
    return epilogue & 128; /* …_AUX, and the gradients that read it */
}

static int operands_bad(const struct vs_lt_product *p, const void *alpha, const void *a, const void *b,
                        const void *beta, const void *c, const void *d)
{
    const struct vs_lt_matmul *o = p->operation;
    bool host = o->pointer_mode == CUBLASLT_POINTER_MODE_HOST;
    bool beta_zero = o->pointer_mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO ||
                     (host && beta && *(const uint32_t *)beta == 0 && o->scale_type != CUDA_R_16F &&
                      o->scale_type != CUDA_R_64F && o->scale_type != CUDA_C_64F);
    if (!alpha || !a || !b || !d || (!beta && !beta_zero) || (!c && !beta_zero && host))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (has_bias(o->epilogue) && !o->bias)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (has_aux(o->epilogue) && (!o->aux || !o->aux_ld))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (vs_lt_is_narrow(p->a->type) && ((uintptr_t)a % 16 || (uintptr_t)b % 16 || (uintptr_t)d % 16))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmul(struct cublasLtContext *handle, void *operation, const void *alpha,
                   const void *a, void *a_layout, const void *b, void *b_layout, const void *beta,
                   const void *c, void *c_layout, void *d, void *d_layout,
                   const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes,
                   CUstream stream)
{
    struct vs_lt_product p = {.operation = operation, .a = a_layout,
                              .b = b_layout, .c = c_layout ? c_layout : d_layout,
                              .d = d_layout};
    const struct vs_lt_algo *chosen = (const void *)algo;
    if (!vs_lt_is_handle(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    int e = vs_lt_supported(&p);
    if (!e)
        e = operands_bad(&p, alpha, a, b, beta, c, d);
    if (!e && chosen && (chosen->mark != VS_LT_ALGO || chosen->a_type != p.a->type))
        e = CUBLAS_STATUS_INVALID_VALUE;
    if (!e && chosen && vs_lt_workspace(chosen, &p) > (workspace ? workspace_bytes : 0))
        e = CUBLAS_STATUS_INVALID_VALUE;
    if (e || !p.m || !p.n)
        return e;
    double results = (double)p.m * (double)p.n * (double)p.batches;
    double operations = 2 * results * (double)(p.k > 1 ? p.k : 1) * (vs_library_is_complex(p.d->type) ? 4 : 1);
    double bytes = bytes_of(p.a) + bytes_of(p.b) + bytes_of(p.d) + (c && c != d ? bytes_of(p.c) : 0);
    if (has_aux(p.operation->epilogue))
        bytes += bytes_of(p.d);
    struct vs_sim_work work = {.name = p.operation->epilogue == CUBLASLT_EPILOGUE_DEFAULT
                                           ? "cublasLt_matmul"
                                           : "cublasLt_matmul_epilogue",
                               .number = number_of(p.operation->compute_type, p.a->type),
                               .operations = operations,
                               .bytes = bytes,
                               .blocks = (uint64_t)(operations / OPERATIONS_PER_BLOCK) + 1};
    return status_of(vs_library_submit(stream, &work));
}

int cublasLtMatrixTransform(struct cublasLtContext *handle, void *transform, const void *alpha,
                            const void *a, void *a_layout, const void *beta, const void *b,
                            void *b_layout, void *c, void *c_layout, CUstream stream)
{
    if (!vs_lt_is_handle(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!vs_library_object(transform, VS_LT_MATRIXTRANSFORMDESC) || !c || !vs_library_object(c_layout, VS_LT_MATRIXLAYOUT) ||
        (a && (!alpha || !vs_library_object(a_layout, VS_LT_MATRIXLAYOUT))) ||
        (b && (!beta || !vs_library_object(b_layout, VS_LT_MATRIXLAYOUT))))
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct vs_lt_transform *t = transform;
    const struct vs_lt_layout *la = a_layout, *lb = b_layout, *lc = c_layout;
    const struct vs_lt_layout *inputs[] = {a ? la : NULL, b ? lb : NULL};
    const int ops[] = {t->op_a, t->op_b};
    double bytes = bytes_of(lc);
    for (int i = 0; i < 2; i++) {
        bool plain = ops[i] == CUBLAS_OP_N || ops[i] == CUBLAS_OP_CONJG;
        if (inputs[i] && (inputs[i]->batches != lc->batches ||
                          (plain ? inputs[i]->rows : inputs[i]->columns) != lc->rows ||
                          (plain ? inputs[i]->columns : inputs[i]->rows) != lc->columns))
            return CUBLAS_STATUS_INVALID_VALUE;
        bytes += inputs[i] ? bytes_of(inputs[i]) : 0;
    }
    struct vs_sim_work work = {.name = "cublasLt_transform",
                               .number = VS_SIM_FP32,
                               .operations = 2 * (double)lc->rows * (double)lc->columns * lc->batches,
                               .bytes = bytes,
                               .blocks = (uint64_t)(bytes / 65536) + 1};
    return status_of(vs_library_submit(stream, &work));
}
