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

/* ---- creation: in storage of the caller (Init_internal), or of the library (Create) ---- */

/* Sets the head in *storage*; CUBLAS_STATUS_ALLOC_FAILED if it has fewer than *least* bytes. */
static int begin(void *storage, size_t given, size_t least, size_t most, uint32_t mark)
{
    if (!storage)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (given < least)
        return CUBLAS_STATUS_ALLOC_FAILED;
    size_t bytes = given < most ? given : most;
    memset(storage, 0, bytes);
    *(struct vs_lt_head *)storage = (struct vs_lt_head){mark, (uint32_t)bytes};
    return CUBLAS_STATUS_SUCCESS;
}

#define CREATE(name, T, mark, type, parameters, ...)                                               \
    int cublasLt##name##Create parameters                                                          \
    {                                                                                              \
        if (!made)                                                                                 \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        T *storage = vs_library_new(mark, sizeof(struct type));                                    \
        if (!storage)                                                                              \
            return CUBLAS_STATUS_ALLOC_FAILED;                                                     \
        int e = cublasLt##name##Init_internal(storage, sizeof(struct type), ##__VA_ARGS__);        \
        if (e)                                                                                     \
            vs_library_delete(storage, mark);                                                      \
        else                                                                                       \
            *made = storage;                                                                       \
        return e;                                                                                  \
    }
#define DESCRIPTOR(name, T, mark, attributes)                                                      \
    int cublasLt##name##Destroy(T *d)                                                              \
    {                                                                                              \
        return !d || vs_library_delete(d, mark) ? CUBLAS_STATUS_SUCCESS                            \
                                                : CUBLAS_STATUS_INVALID_VALUE;                     \
    }                                                                                              \
    int cublasLt##name##SetAttribute(T *d, int id, const void *value, size_t size)                 \
    {                                                                                              \
        return vs_lt_live(d, mark) ? vs_lt_set(d, ((struct vs_lt_head *)d)->bytes, attributes, id, \
                                               value, size)                                        \
                                   : CUBLAS_STATUS_INVALID_VALUE;                                  \
    }                                                                                              \
    int cublasLt##name##GetAttribute(T *d, int id, void *value, size_t size, size_t *written)      \
    {                                                                                              \
        return vs_lt_live(d, mark) ? vs_lt_get(d, ((struct vs_lt_head *)d)->bytes, attributes, id, \
                                               value, size, written)                               \
                                   : CUBLAS_STATUS_INVALID_VALUE;                                  \
    }

int cublasLtMatmulDescInit_internal(cublasLtMatmulDescOpaque_t *d, size_t bytes, int compute,
                                    int scale)
{
    int e = begin(d, bytes, offsetof(struct vs_lt_matmul, scale_mode_a), sizeof(struct vs_lt_matmul),
                  VS_LT_MATMUL);
    if (e)
        return e;
    struct vs_lt_matmul *m = (struct vs_lt_matmul *)d;
    m->compute_type = compute;
    m->scale_type = scale;
    m->fill_mode = CUBLAS_FILL_MODE_FULL;
    m->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    m->aux_type = m->bias_type = -1;
    if (m->head.bytes == sizeof *m)
        m->invariance = CUBLASLT_BATCH_INVARIANCE_UNSET;
    return e;
}
CREATE(MatmulDesc, cublasLtMatmulDescOpaque_t, VS_LT_MATMUL, vs_lt_matmul,
       (cublasLtMatmulDescOpaque_t * *made, int compute, int scale), compute, scale)
DESCRIPTOR(MatmulDesc, cublasLtMatmulDescOpaque_t, VS_LT_MATMUL, matmul_attributes)

int cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayoutOpaque_t *d, size_t bytes, int type,
                                      uint64_t rows, uint64_t columns, int64_t ld)
{
    if (!vs_library_bits(type))
        return CUBLAS_STATUS_INVALID_VALUE;
    int e = begin(d, bytes, offsetof(struct vs_lt_layout, row_counts), sizeof(struct vs_lt_layout),
                  VS_LT_LAYOUT);
    if (e)
        return e;
    struct vs_lt_layout *l = (struct vs_lt_layout *)d;
    l->type = type;
    l->rows = rows;
    l->columns = columns;
    l->ld = ld;
    l->batches = 1;
    return e;
}
CREATE(MatrixLayout, cublasLtMatrixLayoutOpaque_t, VS_LT_LAYOUT, vs_lt_layout,
       (cublasLtMatrixLayoutOpaque_t * *made, int type, uint64_t rows, uint64_t columns, int64_t ld),
       type, rows, columns, ld)
DESCRIPTOR(MatrixLayout, cublasLtMatrixLayoutOpaque_t, VS_LT_LAYOUT, layout_attributes)

int cublasLtGroupedMatrixLayoutInit_internal(cublasLtMatrixLayoutOpaque_t *d, size_t bytes, int type,
                                             int groups, const void *rows, const void *columns,
                                             const void *lds)
{
    if (groups < 0 || bytes < sizeof(struct vs_lt_layout))
        return groups < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_ALLOC_FAILED;
    int e = cublasLtMatrixLayoutInit_internal(d, bytes, type, 0, 0, 0);
    if (e)
        return e;
    struct vs_lt_layout *l = (struct vs_lt_layout *)d;
    l->batches = groups;
    l->batch_mode = CUBLASLT_BATCH_MODE_GROUPED;
    l->row_counts = (void *)rows;
    l->column_counts = (void *)columns;
    l->lds = (void *)lds;
    return e;
}
CREATE(GroupedMatrixLayout, cublasLtMatrixLayoutOpaque_t, VS_LT_LAYOUT, vs_lt_layout,
       (cublasLtMatrixLayoutOpaque_t * *made, int type, int groups, const void *rows,
        const void *columns, const void *lds),
       type, groups, rows, columns, lds)

int cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreferenceOpaque_t *d, size_t bytes)
{
    int e = begin(d, bytes, offsetof(struct vs_lt_preference, average_rows),
                  sizeof(struct vs_lt_preference), VS_LT_PREFERENCE);
    if (e)
        return e;
    struct vs_lt_preference *p = (struct vs_lt_preference *)d;
    p->reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
    p->alignment_a = p->alignment_b = p->alignment_c = p->alignment_d = 256;
    p->implementation_mask = UINT64_MAX;
    return e;
}
CREATE(MatmulPreference, cublasLtMatmulPreferenceOpaque_t, VS_LT_PREFERENCE, vs_lt_preference,
       (cublasLtMatmulPreferenceOpaque_t * *made))
DESCRIPTOR(MatmulPreference, cublasLtMatmulPreferenceOpaque_t, VS_LT_PREFERENCE,
           preference_attributes)

int cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDescOpaque_t *d, size_t bytes,
                                             int scale)
{
    int e = begin(d, bytes, sizeof(struct vs_lt_transform), sizeof(struct vs_lt_transform),
                  VS_LT_TRANSFORM);
    if (!e)
        ((struct vs_lt_transform *)d)->scale_type = scale;
    return e;
}
CREATE(MatrixTransformDesc, cublasLtMatrixTransformDescOpaque_t, VS_LT_TRANSFORM, vs_lt_transform,
       (cublasLtMatrixTransformDescOpaque_t * *made, int scale), scale)
DESCRIPTOR(MatrixTransformDesc, cublasLtMatrixTransformDescOpaque_t, VS_LT_TRANSFORM,
           transform_attributes)

int cublasLtEmulationDescInit_internal(cublasLtEmulationDescOpaque_t *d, size_t bytes)
{
    int e = begin(d, bytes, sizeof(struct vs_lt_emulation), sizeof(struct vs_lt_emulation),
                  VS_LT_EMULATION);
    if (!e)
        ((struct vs_lt_emulation *)d)->special_values = 0xFFFF;
    return e;
}
CREATE(EmulationDesc, cublasLtEmulationDescOpaque_t, VS_LT_EMULATION, vs_lt_emulation,
       (cublasLtEmulationDescOpaque_t * *made))
DESCRIPTOR(EmulationDesc, cublasLtEmulationDescOpaque_t, VS_LT_EMULATION, emulation_attributes)
