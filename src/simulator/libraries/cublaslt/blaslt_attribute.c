/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of cuBLASLt and their attributes: a table of offsets and sizes for each. */
#include <string.h>

#include "simulator/libraries/cublaslt/vs_blaslt.h"

bool vs_lt_live(const void *descriptor, uint32_t mark)
{
    return descriptor && ((const struct vs_lt_head *)descriptor)->mark == mark;
}

static const struct vs_lt_attribute *find(size_t object_bytes, const struct vs_lt_attribute *a, int id)
{
    for (; a->id >= 0; a++)
        if (a->id == id)
            return a->offset + a->bytes <= object_bytes ? a : NULL;
    return NULL;
}

int vs_lt_set(void *object, size_t object_bytes, const struct vs_lt_attribute *attributes, int id,
              const void *value, size_t size)
{
    const struct vs_lt_attribute *a = find(object_bytes, attributes, id);
    if (!a || !value || size != a->bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy((char *)object + a->offset, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

int vs_lt_get(const void *object, size_t object_bytes, const struct vs_lt_attribute *attributes,
              int id, void *value, size_t size, size_t *written)
{
    const struct vs_lt_attribute *a = find(object_bytes, attributes, id);
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
static const struct vs_lt_attribute emulation_attributes[] = {
#define A(name, field) VS_LT_ATTRIBUTE(CUBLASLT_EMULATION_DESC_##name, vs_lt_emulation, field),
    A(STRATEGY, strategy) A(SPECIAL_VALUES_SUPPORT, special_values)
    A(FIXEDPOINT_MANTISSA_CONTROL, mantissa_control)
    A(FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, mantissa_bits_max)
    A(FIXEDPOINT_MANTISSA_BIT_OFFSET, mantissa_offset)
    A(FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, mantissa_bits)
#undef A
    VS_LT_ATTRIBUTES_END,
};

/* ---- the five kinds of descriptors ---- */

/* Bytes of the first release that has them, and of the newest. */
static const struct kind {
    uint32_t mark;
    size_t least, most;
    const struct vs_lt_attribute *attributes;
} kinds[] = {
    {VS_LT_MATMUL, offsetof(struct vs_lt_matmul, scale_mode_a), sizeof(struct vs_lt_matmul), matmul_attributes},
    {VS_LT_LAYOUT, offsetof(struct vs_lt_layout, row_counts), sizeof(struct vs_lt_layout), layout_attributes},
    {VS_LT_PREFERENCE, offsetof(struct vs_lt_preference, average_rows), sizeof(struct vs_lt_preference),
     preference_attributes},
    {VS_LT_TRANSFORM, sizeof(struct vs_lt_transform), sizeof(struct vs_lt_transform), transform_attributes},
    {VS_LT_EMULATION, sizeof(struct vs_lt_emulation), sizeof(struct vs_lt_emulation), emulation_attributes},
};

static const struct kind *kind_of(uint32_t mark)
{
    const struct kind *k = kinds;
    while (k->mark != mark)
        k++;
    return k;
}

/* What a descriptor has before its attributes are set. */
static void fill(void *storage, const struct vs_lt_making *given)
{
    struct vs_lt_matmul *m = storage;
    struct vs_lt_layout *l = storage;
    struct vs_lt_preference *p = storage;
    switch (given->mark) {
    case VS_LT_MATMUL:
        m->compute_type = given->compute;
        m->scale_type = given->scale;
        m->fill_mode = CUBLAS_FILL_MODE_FULL;
        m->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
        m->aux_type = m->bias_type = -1;
        if (m->head.bytes == sizeof *m)
            m->invariance = CUBLASLT_BATCH_INVARIANCE_UNSET;
        break;
    case VS_LT_LAYOUT:
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
    case VS_LT_PREFERENCE:
        p->reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
        p->alignment_a = p->alignment_b = p->alignment_c = p->alignment_d = 256;
        p->implementation_mask = UINT64_MAX;
        break;
    case VS_LT_TRANSFORM:
        ((struct vs_lt_transform *)storage)->scale_type = given->scale;
        break;
    default:
        ((struct vs_lt_emulation *)storage)->special_values = 0xFFFF;
    }
}

int vs_lt_make(const struct vs_lt_making *given)
{
    const struct kind *k = kind_of(given->mark);
    size_t bytes = given->creates ? k->most : given->bytes, least = given->is_grouped ? k->most : k->least;
    if ((given->creates && !given->to) || given->groups < 0 ||
        (given->mark == VS_LT_LAYOUT && !vs_library_bits(given->type)))
        return CUBLAS_STATUS_INVALID_VALUE;
    void *storage = given->creates ? vs_library_new((int)given->mark, bytes) : given->storage;
    if (!storage && !given->creates)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!storage || bytes < least)
        return CUBLAS_STATUS_ALLOC_FAILED;
    bytes = bytes < k->most ? bytes : k->most;
    memset(storage, 0, bytes);
    *(struct vs_lt_head *)storage = (struct vs_lt_head){given->mark, (uint32_t)bytes};
    fill(storage, given);
    if (given->creates)
        memcpy(given->to, &storage, sizeof storage);
    return CUBLAS_STATUS_SUCCESS;
}

int vs_lt_destroy(const struct vs_lt_access *a)
{
    return !a->descriptor || vs_library_delete(a->descriptor, (int)a->mark) ? CUBLAS_STATUS_SUCCESS
                                                                            : CUBLAS_STATUS_INVALID_VALUE;
}

int vs_lt_set_attribute(const struct vs_lt_access *a)
{
    return vs_lt_live(a->descriptor, a->mark)
               ? vs_lt_set(a->descriptor, ((struct vs_lt_head *)a->descriptor)->bytes,
                           kind_of(a->mark)->attributes, a->id, a->from, a->size)
               : CUBLAS_STATUS_INVALID_VALUE;
}

int vs_lt_get_attribute(const struct vs_lt_access *a)
{
    return vs_lt_live(a->descriptor, a->mark)
               ? vs_lt_get(a->descriptor, ((struct vs_lt_head *)a->descriptor)->bytes,
                           kind_of(a->mark)->attributes, a->id, a->to, a->size, a->written)
               : CUBLAS_STATUS_INVALID_VALUE;
}
