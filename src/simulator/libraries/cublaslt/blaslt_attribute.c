/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of cuBLASLt and their attributes: a table of offsets and sizes for each. */
#include <string.h>

#include "simulator/libraries/cublaslt/vs_blaslt.h"

static const struct vs_lt_attribute *find(const struct vs_lt_attribute *a, int id)
{
    for (; a->id >= 0; a++)
        if (a->id == id)
            return a;
    return NULL;
}

int vs_lt_set(void *object, const struct vs_lt_attribute *attributes, int id, const void *value,
              size_t size)
{
    const struct vs_lt_attribute *a = find(attributes, id);
    if (!a || !value || size != a->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)object + a->offset, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

int vs_lt_get(const void *object, const struct vs_lt_attribute *attributes, int id, void *value,
              size_t size, size_t *written)
{
    const struct vs_lt_attribute *a = find(attributes, id);
    if (!a || (size ? !value || size != a->bytes : !written))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (size)
        memcpy(value, (const char *)object + a->offset, size);
    if (written)
        *written = a->bytes;
    return CUBLAS_STATUS_SUCCESS;
}

static const struct vs_lt_attribute matmul_attributes[] = {
#define A(name, field) VS_LT_ATTRIBUTE(CUBLASLT_MATMUL_DESC_##name, vs_lt_matmul, field),
    A(COMPUTE_TYPE, compute_type) A(SCALE_TYPE, scale_type) A(POINTER_MODE, pointer_mode)
    A(TRANSA, op_a) A(TRANSB, op_b) A(TRANSC, op_c) A(FILL_MODE, fill_mode) A(EPILOGUE, epilogue)
    A(BIAS_POINTER, bias) A(BIAS_BATCH_STRIDE, bias_batch_step) A(EPILOGUE_AUX_POINTER, aux)
    A(EPILOGUE_AUX_LD, aux_ld) A(EPILOGUE_AUX_BATCH_STRIDE, aux_batch_step)
    A(ALPHA_VECTOR_BATCH_STRIDE, alpha_batch_step) A(SM_COUNT_TARGET, sm_count)
    A(A_SCALE_POINTER, scale_a) A(B_SCALE_POINTER, scale_b) A(C_SCALE_POINTER, scale_c)
    A(D_SCALE_POINTER, scale_d) A(AMAX_D_POINTER, amax_d) A(EPILOGUE_AUX_DATA_TYPE, aux_type)
    A(EPILOGUE_AUX_SCALE_POINTER, aux_scale) A(EPILOGUE_AUX_AMAX_POINTER, aux_amax)
    A(FAST_ACCUM, fast_accumulation) A(BIAS_DATA_TYPE, bias_type)
    A(ATOMIC_SYNC_NUM_CHUNKS_D_ROWS, chunk_rows) A(ATOMIC_SYNC_NUM_CHUNKS_D_COLS, chunk_columns)
    A(ATOMIC_SYNC_IN_COUNTERS_POINTER, counters_in) A(ATOMIC_SYNC_OUT_COUNTERS_POINTER, counters_out)
    A(A_SCALE_MODE, scale_mode_a) A(B_SCALE_MODE, scale_mode_b) A(C_SCALE_MODE, scale_mode_c)
    A(D_SCALE_MODE, scale_mode_d) A(EPILOGUE_AUX_SCALE_MODE, scale_mode_aux)
    A(D_OUT_SCALE_POINTER, scale_out) A(D_OUT_SCALE_MODE, scale_mode_out)
    A(EMULATION_DESCRIPTOR, emulation) A(ALPHA_BATCH_STRIDE, alpha_step)
    A(BETA_BATCH_STRIDE, beta_step) A(BATCH_INVARIANCE_FLAGS, invariance)
#undef A
    VS_LT_ATTRIBUTES_END,
};
static const struct vs_lt_attribute layout_attributes[] = {
#define A(name, field) VS_LT_ATTRIBUTE(CUBLASLT_MATRIX_LAYOUT_##name, vs_lt_layout, field),
#define G(name, field) VS_LT_ATTRIBUTE(CUBLASLT_GROUPED_MATRIX_LAYOUT_##name, vs_lt_layout, field),
    A(TYPE, type) A(ORDER, order) A(ROWS, rows) A(COLS, columns) A(LD, ld) A(BATCH_COUNT, batches)
    A(STRIDED_BATCH_OFFSET, batch_step) A(PLANE_OFFSET, plane_offset) A(BATCH_MODE, batch_mode)
    G(ROWS_ARRAY, row_counts) G(COLS_ARRAY, column_counts) G(LD_ARRAY, lds)
    G(ROWS_COLS_ARRAY_INTEGER_WIDTH, count_width) G(LD_ARRAY_INTEGER_WIDTH, ld_width)
#undef G
#undef A
    VS_LT_ATTRIBUTES_END,
};
static const struct vs_lt_attribute preference_attributes[] = {
#define A(name, field) VS_LT_ATTRIBUTE(CUBLASLT_MATMUL_PREF_##name, vs_lt_preference, field),
    A(SEARCH_MODE, search_mode) A(MAX_WORKSPACE_BYTES, workspace_max)
    A(REDUCTION_SCHEME_MASK, reduction_mask) A(MIN_ALIGNMENT_A_BYTES, alignment_a)
    A(MIN_ALIGNMENT_B_BYTES, alignment_b) A(MIN_ALIGNMENT_C_BYTES, alignment_c)
    A(MIN_ALIGNMENT_D_BYTES, alignment_d) A(MAX_WAVES_COUNT, waves_max)
    A(IMPL_MASK, implementation_mask) A(GROUPED_AVERAGE_REDUCTION_DIM, average_terms)
    A(GROUPED_DESC_D_AVERAGE_ROWS, average_rows) A(GROUPED_DESC_D_AVERAGE_COLS, average_columns)
#undef A
    VS_LT_ATTRIBUTES_END,
};
static const struct vs_lt_attribute transform_attributes[] = {
#define A(name, field) VS_LT_ATTRIBUTE(CUBLASLT_MATRIX_TRANSFORM_DESC_##name, vs_lt_transform, field),
    A(SCALE_TYPE, scale_type) A(POINTER_MODE, pointer_mode) A(TRANSA, op_a) A(TRANSB, op_b)
#undef A
    VS_LT_ATTRIBUTES_END,
};
/* ---- the kinds of descriptors ---- */

static const struct kind {
    int kind;
    size_t bytes;
    const struct vs_lt_attribute *attributes;
} kinds[] = {
    {VS_LT_MATMULDESC, sizeof(struct vs_lt_matmul), matmul_attributes},
    {VS_LT_MATRIXLAYOUT, sizeof(struct vs_lt_layout), layout_attributes},
    {VS_LT_MATMULPREFERENCE, sizeof(struct vs_lt_preference), preference_attributes},
    {VS_LT_MATRIXTRANSFORMDESC, sizeof(struct vs_lt_transform), transform_attributes},
};

static const struct kind *kind_of(int kind)
{
    const struct kind *k = kinds;
    while (k->kind != kind)
        k++;
    return k;
}

/* What a descriptor has before its attributes are set. */
static void fill(void *storage, const struct vs_lt_making *given)
{
    struct vs_lt_matmul *m = storage;
    struct vs_lt_layout *l = storage;
    struct vs_lt_preference *p = storage;
    switch (given->kind) {
    case VS_LT_MATMULDESC:
        m->compute_type = given->compute;
        m->scale_type = given->scale;
        m->fill_mode = CUBLAS_FILL_MODE_FULL;
        m->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        m->aux_type = m->bias_type = -1;
        m->invariance = CUBLASLT_BATCH_INVARIANCE_UNSET;
        break;
    case VS_LT_MATRIXLAYOUT:
        l->type = given->type;
        l->rows = given->rows;
        l->columns = given->columns;
        l->ld = given->ld;
        l->batches = given->is_grouped ? given->groups : 1;
        if (given->is_grouped) {
            l->batch_mode = CUBLASLT_BATCH_MODE_GROUPED;
            l->row_counts = given->row_counts;
            l->column_counts = given->column_counts;
            l->lds = given->lds;
        }
        break;
    case VS_LT_MATMULPREFERENCE:
        p->reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
        p->alignment_a = p->alignment_b = p->alignment_c = p->alignment_d = 256;
        p->implementation_mask = UINT64_MAX;
        break;
    default:
        ((struct vs_lt_transform *)storage)->scale_type = given->scale;
    }
}

int vs_lt_make(const struct vs_lt_making *given)
{
    if (!given->to || given->groups < 0 ||
        (given->kind == VS_LT_MATRIXLAYOUT && !vs_library_bits(given->type)))
        return CUBLAS_STATUS_INVALID_VALUE;
    void *descriptor = vs_library_new(given->kind, kind_of(given->kind)->bytes);
    fill(descriptor, given);
    memcpy(given->to, &descriptor, sizeof descriptor);
    return CUBLAS_STATUS_SUCCESS;
}

int vs_lt_set_attribute(const struct vs_lt_access *a)
{
    return vs_library_object(a->descriptor, a->kind)
               ? vs_lt_set(a->descriptor, kind_of(a->kind)->attributes, a->id, a->from, a->size)
               : CUBLAS_STATUS_INVALID_VALUE;
}

int vs_lt_get_attribute(const struct vs_lt_access *a)
{
    return vs_library_object(a->descriptor, a->kind)
               ? vs_lt_get(a->descriptor, kind_of(a->kind)->attributes, a->id, a->to, a->size, a->written)
               : CUBLAS_STATUS_INVALID_VALUE;
}
