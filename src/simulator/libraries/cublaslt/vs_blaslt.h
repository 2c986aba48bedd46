/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuBLASLt, between its files. Descriptors are not locked: as with NVIDIA's, one
 * thread changes one. */
#ifndef VS_BLASLT_H
#define VS_BLASLT_H

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cublaslt/vs_cublaslt_api.h"

VS_CUBLASLT_FUNCTIONS(VS_LIBRARY_DECLARE)

enum { /* kinds of objects; the mark of an algorithm */
    VS_LT_HANDLE = 1,
    VS_LT_BLAS_HANDLE, /* of cuBLAS, which programs may use as one of cuBLASLt */
    VS_LT_MATMULDESC,
    VS_LT_MATRIXLAYOUT,
    VS_LT_MATMULPREFERENCE,
    VS_LT_MATRIXTRANSFORMDESC,
    VS_LT_ALGO = 0x4c740008
};

struct vs_lt_matmul {
    int32_t compute_type, scale_type, pointer_mode, op_a, op_b, op_c, fill_mode;
    uint32_t epilogue;
    void *bias;
    int64_t bias_batch_step;
    void *aux;
    int64_t aux_ld, aux_batch_step, alpha_batch_step;
    int32_t sm_count, aux_type;
    void *scale_a, *scale_b, *scale_c, *scale_d, *amax_d, *aux_scale, *aux_amax;
    int32_t bias_type;
    int8_t fast_accumulation;
    int32_t chunk_rows, chunk_columns;
    void *counters_in, *counters_out;
    int32_t scale_mode_a, scale_mode_b, scale_mode_c, scale_mode_d, scale_mode_aux, scale_mode_out;
    void *scale_out, *emulation;
    int64_t alpha_step, beta_step;
    uint32_t invariance;
};

struct vs_lt_layout {
    int32_t type, order;
    uint64_t rows, columns;
    int64_t ld, batch_step, plane_offset;
    int32_t batches;
    uint32_t batch_mode;
    void *row_counts, *column_counts, *lds;
    int32_t count_width, ld_width;
};

struct vs_lt_preference {
    uint32_t search_mode, reduction_mask;
    uint64_t workspace_max;
    uint32_t alignment_a, alignment_b, alignment_c, alignment_d;
    float waves_max;
    uint32_t average_terms;
    uint64_t implementation_mask;
    uint32_t average_rows, average_columns;
};

struct vs_lt_transform {
    int32_t scale_type, pointer_mode, op_a, op_b;
};

struct vs_lt_algo { /* programs copy it as bytes */
    uint32_t mark;
    int32_t id, split_k;
    uint32_t tile, reduction, swizzle, custom, stages;
    uint16_t inner_shape, cluster_shape;
    int32_t compute_type, scale_type, a_type, b_type, c_type, d_type;
};
_Static_assert(sizeof(struct vs_lt_algo) <= sizeof(cublasLtMatmulAlgo_t), "storage");

/* vs_lt_is_handle: a live handle, of cuBLASLt or of cuBLAS (blaslt_handle.c)? */
bool vs_lt_is_handle(const struct cublasLtContext *handle);

/* ---- attributes (blaslt_attribute.c) ---- */

struct vs_lt_attribute {
    int id;
    uint32_t offset, bytes;
};
#define VS_LT_ATTRIBUTE(id, type, field)                                                           \
    {id, offsetof(struct type, field), sizeof(((struct type *)0)->field)}
/* vs_lt_set, vs_lt_get: CUBLAS_STATUS_INVALID_VALUE unless attribute *id* exists and has *size* bytes;
 * with size 0, vs_lt_get only answers its size in *written*. */
int vs_lt_set(void *object, const struct vs_lt_attribute *attributes, int id, const void *value,
              size_t size);
int vs_lt_get(const void *object, const struct vs_lt_attribute *attributes, int id, void *value,
              size_t size, size_t *written);
#define VS_LT_ATTRIBUTES_END {-1, 0, 0}

/* Rows of cublaslt.calls hand one of these to their runner. */
struct vs_lt_making {
    int kind;
    bool is_grouped;
    void *to; /* receives the address */
    int compute, scale, type, groups;
    uint64_t rows, columns;
    int64_t ld;
    void *row_counts, *column_counts, *lds;
};
int vs_lt_make(const struct vs_lt_making *making);
struct vs_lt_access {
    int kind;
    void *descriptor;
    int id;
    size_t size, *written;
    const void *from;
    void *to;
};
int vs_lt_set_attribute(const struct vs_lt_access *access);
int vs_lt_get_attribute(const struct vs_lt_access *access);


/* ---- products (blaslt_support.c) ---- */

struct vs_lt_product {
    const struct vs_lt_matmul *operation;
    const struct vs_lt_layout *a, *b, *c, *d;
    int64_t m, n, k, batches; /* out */
};
/* vs_lt_supported: fills the sizes of *p*, and returns the status of the product on the current
 * device: CUBLAS_STATUS_INVALID_VALUE if its descriptors contradict one another,
 * CUBLAS_STATUS_ARCH_MISMATCH or CUBLAS_STATUS_NOT_SUPPORTED if no algorithm exists. */
int vs_lt_supported(struct vs_lt_product *p);
/* vs_lt_types_supported: the same for the types alone. */
bool vs_lt_types_supported(int compute, int scale, int a, int b, int c, int d);
/* vs_lt_is_fp8, vs_lt_is_narrow: a type of 8 bits, or of 8 bits or fewer, in floating point. */
bool vs_lt_is_fp8(int type);
bool vs_lt_is_narrow(int type);
/* vs_lt_workspace: bytes that *algo* needs for *p*. */
uint64_t vs_lt_workspace(const struct vs_lt_algo *algo, const struct vs_lt_product *p);

#endif
