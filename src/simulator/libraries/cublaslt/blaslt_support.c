/* SPDX-License-Identifier: Apache-2.0
 *
 * Which products of matrices exist: shapes that fit, types that have an algorithm, and what narrow
 * types ask of layout and device. From NVIDIA's documentation of cublasLtMatmul (tables of supported
 * types, "to use FP8 kernels", block scaling). */
#include "simulator/libraries/cublaslt/vs_blaslt.h"

#define E4M3 28 /* CUDA_R_8F_E4M3, CUDA_R_8F_E5M2, CUDA_R_4F_E2M1: not in every release */
#define E5M2 29
#define E2M1 33

bool vs_lt_is_fp8(int type)
{
    return type == E4M3 || type == E5M2;
}

bool vs_lt_is_narrow(int type)
{
    return vs_lt_is_fp8(type) || type == E2M1;
}

/* Outputs of narrow types, by the first column of the documented tables. */
static bool narrow_supported(int a, int b, int c, int d)
{
    bool wide = d == CUDA_R_16BF || d == CUDA_R_16F || d == CUDA_R_32F;
    if (a == E2M1 || b == E2M1)
        return a == b && (wide || d == E2M1) && (c == d || (d == E2M1 && (c == CUDA_R_16BF || c == CUDA_R_16F)));
    if (a == E5M2 && b == E5M2)
        return false;
    if (wide)
        return c == d;
    return vs_lt_is_fp8(d) && (c == CUDA_R_16BF || c == CUDA_R_16F) &&
           !(d == E5M2 && a == E4M3 && b == E4M3);
}

bool vs_lt_types_supported(int compute, int scale, int a, int b, int c, int d)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return scale == CUDA_R_16F && a == CUDA_R_16F && b == a && c == a && d == a;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return a == CUDA_R_8I && b == a && c == d &&
               ((scale == CUDA_R_32I && d == CUDA_R_32I) ||
                (scale == CUDA_R_32F && (d == CUDA_R_8I || d == CUDA_R_32I)));
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
        return (a == CUDA_R_64F || a == CUDA_C_64F) && scale == a && b == a && c == a && d == a;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9: break;
    default: return false;
    }
    if (vs_lt_is_narrow(a) || vs_lt_is_narrow(b))
        return scale == CUDA_R_32F && narrow_supported(a, b, c, d);
    if (a != b || c != d)
        return false;
    if (scale == CUDA_C_32F)
        return (a == CUDA_C_32F || a == CUDA_C_16F || a == CUDA_C_16BF || a == CUDA_C_8I) &&
               (d == a || d == CUDA_C_32F);
    if (scale != CUDA_R_32F)
        return false;
    if (a == CUDA_R_8I || a == CUDA_R_32F)
        return d == CUDA_R_32F;
    return (a == CUDA_R_16F || a == CUDA_R_16BF) && (d == a || d == CUDA_R_32F);
}

/* ---- shapes ---- */

static bool layout_ok(const struct vs_lt_layout *l)
{
    int64_t rows = (int64_t)l->rows, columns = (int64_t)l->columns;
    if (l->batches < 1)
        return false;
    switch (l->order) {
    case CUBLASLT_ORDER_COL: return l->ld >= rows;
    case CUBLASLT_ORDER_ROW: return l->ld >= columns;
    case CUBLASLT_ORDER_COL32: return l->ld >= 32 * rows;
    case CUBLASLT_ORDER_COL4_4R2_8C: return l->ld >= 32 * ((rows + 7) / 8 * 8);
    case CUBLASLT_ORDER_COL32_2R_4R4: return l->ld >= 32 * ((rows + 31) / 32 * 32);
    default: return false;
    }
}

static void shape(const struct vs_lt_layout *l, int op, uint64_t *rows, uint64_t *columns)
{
    *rows = op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG ? l->rows : l->columns;
    *columns = op == CUBLAS_OP_N || op == CUBLAS_OP_CONJG ? l->columns : l->rows;
}

static bool shapes_fit(struct vs_lt_product *p)
{
    uint64_t m, k, k2, n;
    if (!layout_ok(p->a) || !layout_ok(p->b) || !layout_ok(p->c) || !layout_ok(p->d))
        return false;
    shape(p->a, p->operation->op_a, &m, &k);
    shape(p->b, p->operation->op_b, &k2, &n);
    p->m = (int64_t)m, p->n = (int64_t)n, p->k = (int64_t)k;
    p->batches = p->d->batches;
    return m == p->d->rows && n == p->d->columns && k == k2 && p->c->rows == m && p->c->columns == n &&
           p->a->batches == p->d->batches && p->b->batches == p->d->batches &&
           p->c->batches == p->d->batches;
}

/* ---- devices and narrow types ---- */

static int capability(void)
{
    return vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
           vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

static bool is_16_bytes(const struct vs_lt_layout *l)
{
    return l->ld * vs_library_bits(l->type) % 128 == 0;
}

static bool mode_supported(int mode, int device)
{
    switch (mode) {
    case CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F: return true;
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3:
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0: return device >= 100;
    case CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F:
    case CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F:
    case CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F: return device >= 90;
    default: return device >= 100 && mode < CUBLASLT_MATMUL_MATRIX_SCALE_END;
    }
}

static int narrow_fits(const struct vs_lt_product *p, int device)
{
    const struct vs_lt_matmul *o = p->operation;
    bool fp4 = p->a->type == E2M1;
    if (device < (fp4 ? 100 : 89))
        return CUBLAS_STATUS_ARCH_MISMATCH;
    if (!is_16_bytes(p->a) || !is_16_bytes(p->b) || !is_16_bytes(p->d) ||
        p->k * vs_library_bits(p->a->type) % 128)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    bool tn = o->op_a == CUBLAS_OP_T && o->op_b == CUBLAS_OP_N;
    if (!tn && (fp4 || device < 100))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!mode_supported(o->scale_mode_a, device) || !mode_supported(o->scale_mode_b, device))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (fp4 && o->scale_mode_a == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED; /* four bits need scales of blocks */
    return CUBLAS_STATUS_SUCCESS;
}

static bool epilogue_known(uint32_t epilogue)
{
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT: case CUBLASLT_EPILOGUE_RELU: case CUBLASLT_EPILOGUE_RELU_AUX:
    case CUBLASLT_EPILOGUE_BIAS: case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_RELU_AUX_BIAS: case CUBLASLT_EPILOGUE_DRELU:
    case CUBLASLT_EPILOGUE_DRELU_BGRAD: case CUBLASLT_EPILOGUE_GELU: case CUBLASLT_EPILOGUE_GELU_AUX:
    case CUBLASLT_EPILOGUE_GELU_BIAS: case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
    case CUBLASLT_EPILOGUE_DGELU: case CUBLASLT_EPILOGUE_DGELU_BGRAD: case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB: return true;
    default: return false;
    }
}

int vs_lt_supported(struct vs_lt_product *p)
{
    const struct vs_lt_matmul *o = p->operation;
    if (!vs_library_object(o, VS_LT_MATMULDESC) || !vs_library_object(p->a, VS_LT_MATRIXLAYOUT) ||
        !vs_library_object(p->b, VS_LT_MATRIXLAYOUT) || !vs_library_object(p->c, VS_LT_MATRIXLAYOUT) ||
        !vs_library_object(p->d, VS_LT_MATRIXLAYOUT))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (p->d->batch_mode == CUBLASLT_BATCH_MODE_GROUPED) /* their shapes are in device memory */
        return vs_library_unsupported("cublasLtMatmul", "with grouped layouts");
    if (!shapes_fit(p) || !epilogue_known(o->epilogue) || (unsigned)o->op_a > CUBLAS_OP_CONJG ||
        (unsigned)o->op_b > CUBLAS_OP_CONJG || o->op_c != CUBLAS_OP_N)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_lt_types_supported(o->compute_type, o->scale_type, p->a->type, p->b->type, p->c->type,
                               p->d->type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (vs_lt_is_narrow(p->a->type))
        return narrow_fits(p, capability());
    bool integers = p->a->type == CUDA_R_8I && o->compute_type == CUBLAS_COMPUTE_32I;
    if (integers && (p->a->ld % 4 || p->b->ld % 4 || p->k % 4))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    bool special = p->a->order > CUBLASLT_ORDER_ROW || p->b->order > CUBLASLT_ORDER_ROW;
    return special && !integers ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}
