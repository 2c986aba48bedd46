/* SPDX-License-Identifier: Apache-2.0
 *
 * Algorithms of cuBLASLt. There are two: one that needs no workspace, and one that splits the sum of
 * each element and adds the parts in the workspace. NVIDIA's library has hundreds; how many and which
 * does not reach memory, since the workspace is the program's. */
#include <string.h>

#include "simulator/libraries/cublaslt/vs_blaslt.h"

enum { ALGO_WHOLE, ALGO_SPLIT, ALGO_COUNT };
#define SPLIT_MAX 32
#define TILE 128 /* rows and columns of a block */

static const struct vs_lt_attribute config_attributes[] = {
#define A(name, field) VS_LT_ATTRIBUTE(CUBLASLT_ALGO_CONFIG_##name, vs_lt_algo, field),
    A(ID, id) A(TILE_ID, tile) A(SPLITK_NUM, split_k) A(REDUCTION_SCHEME, reduction)
    A(CTA_SWIZZLING, swizzle) A(CUSTOM_OPTION, custom) A(STAGES_ID, stages)
    A(INNER_SHAPE_ID, inner_shape) A(CLUSTER_SHAPE_ID, cluster_shape)
#undef A
    VS_LT_ATTRIBUTES_END,
};

static bool algo_live(const cublasLtMatmulAlgo_t *algo)
{
    return algo && ((const struct vs_lt_algo *)algo)->mark == VS_LT_ALGO;
}

static struct vs_lt_algo algo_of(int id, int compute, int scale, const int types[4])
{
    return (struct vs_lt_algo){.mark = VS_LT_ALGO,
                               .id = id,
                               .split_k = id == ALGO_SPLIT ? 2 : 1,
                               .reduction = id == ALGO_SPLIT ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                             : CUBLASLT_REDUCTION_SCHEME_NONE,
                               .tile = CUBLASLT_MATMUL_TILE_128x128,
                               .compute_type = compute,
                               .scale_type = scale,
                               .a_type = types[0],
                               .b_type = types[1],
                               .c_type = types[2],
                               .d_type = types[3]};
}

uint64_t vs_lt_workspace(const struct vs_lt_algo *algo, const struct vs_lt_product *p)
{
    uint64_t element = p->operation->compute_type == CUBLAS_COMPUTE_64F ? 16 : 8; /* complex fits */
    if (algo->split_k <= 1 || algo->reduction == CUBLASLT_REDUCTION_SCHEME_NONE)
        return 0;
    return (uint64_t)algo->split_k * (uint64_t)p->m * (uint64_t)p->n * (uint64_t)p->batches * element;
}

static float waves(const struct vs_lt_algo *algo, const struct vs_lt_product *p)
{
    int sms = vs_library_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    double tiles = (double)((p->m + TILE - 1) / TILE) * (double)((p->n + TILE - 1) / TILE);
    return (float)(tiles * (double)p->batches * algo->split_k / (sms ? sms : 1));
}

/* An operand that may lie at multiples of *alignment* bytes only. */
static bool alignment_fits(uint32_t alignment, int type)
{
    uint32_t least = vs_lt_is_narrow(type) ? 16 : (uint32_t)(vs_library_bits(type) + 7) / 8;
    return alignment >= (type == CUDA_R_8I ? 4 : least);
}

int cublasLtMatmulAlgoGetHeuristic(struct cublasLtContext *handle, void *operation, void *a,
                                   void *b, void *c, void *d, void *preference, int requested,
                                   cublasLtMatmulHeuristicResult_t *results, int *returned)
{
    struct vs_lt_product p = {.operation = operation, .a = a, .b = b,
                              .c = c ? c : d, .d = d};
    const struct vs_lt_preference *wanted = preference;
    if (!vs_lt_is_handle(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (requested <= 0 || !results || !returned || !vs_library_object(wanted, VS_LT_MATMULPREFERENCE))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct vs_lt_algo asked; /* with a search limited to it: of the first result */
    memcpy(&asked, &results[0].algo, sizeof asked);
    bool limited = wanted->search_mode == CUBLASLT_SEARCH_LIMITED_BY_ALGO_ID && algo_live(&results[0].algo);
    *returned = 0;
    int e = vs_lt_supported(&p);
    if (!e && (!alignment_fits(wanted->alignment_a, p.a->type) ||
               !alignment_fits(wanted->alignment_b, p.b->type) ||
               !alignment_fits(wanted->alignment_c, p.c->type) ||
               !alignment_fits(wanted->alignment_d, p.d->type)))
        e = CUBLAS_STATUS_NOT_SUPPORTED;
    if (e)
        return e;
    const int types[4] = {p.a->type, p.b->type, p.c->type, p.d->type};
    for (int id = ALGO_WHOLE; id < ALGO_COUNT && *returned < requested; id++) {
        struct vs_lt_algo algo =
            algo_of(id, p.operation->compute_type, p.operation->scale_type, types);
        if (limited && asked.id != id)
            continue;
        bool reduced = algo.reduction && !(wanted->reduction_mask & algo.reduction);
        if (reduced || vs_lt_workspace(&algo, &p) > wanted->workspace_max ||
            (wanted->waves_max != 0 && waves(&algo, &p) > wanted->waves_max))
            continue;
        cublasLtMatmulHeuristicResult_t *result = &results[(*returned)++];
        *result = (cublasLtMatmulHeuristicResult_t){.workspaceSize = vs_lt_workspace(&algo, &p),
                                                    .state = CUBLAS_STATUS_SUCCESS,
                                                    .wavesCount = waves(&algo, &p)};
        memcpy(&result->algo, &algo, sizeof algo);
    }
    return *returned ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

int cublasLtMatmulAlgoInit(struct cublasLtContext *handle, int compute, int scale, int a, int b,
                           int c, int d, int id, cublasLtMatmulAlgo_t *algo)
{
    const int types[4] = {a, b, c, d};
    if (!vs_lt_is_handle(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!algo || id < 0 || id >= ALGO_COUNT)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!vs_lt_types_supported(compute, scale, a, b, c, d))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    struct vs_lt_algo made = algo_of(id, compute, scale, types);
    memset(algo, 0, sizeof *algo);
    memcpy(algo, &made, sizeof made);
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulAlgoCheck(struct cublasLtContext *handle, void *operation, void *a, void *b,
                            void *c, void *d, const cublasLtMatmulAlgo_t *algo,
                            cublasLtMatmulHeuristicResult_t *result)
{
    struct vs_lt_product p = {.operation = operation, .a = a, .b = b,
                              .c = c ? c : d, .d = d};
    const struct vs_lt_algo *chosen = (const void *)algo;
    if (!vs_lt_is_handle(handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!algo_live(algo) || !result)
        return CUBLAS_STATUS_INVALID_VALUE;
    int e = vs_lt_supported(&p);
    if (e)
        return e;
    if (chosen->compute_type != p.operation->compute_type || chosen->a_type != p.a->type ||
        chosen->b_type != p.b->type || chosen->d_type != p.d->type)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (chosen->id < 0 || chosen->id >= ALGO_COUNT || chosen->split_k > SPLIT_MAX ||
        (chosen->split_k > 1 && chosen->id != ALGO_SPLIT) || chosen->swizzle > 1 || chosen->custom)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    result->workspaceSize = vs_lt_workspace(chosen, &p);
    result->wavesCount = waves(chosen, &p);
    result->state = CUBLAS_STATUS_SUCCESS;
    return CUBLAS_STATUS_SUCCESS;
}

int cublasLtMatmulAlgoConfigSetAttribute(cublasLtMatmulAlgo_t *algo, int id, const void *value,
                                         size_t size)
{
    if (!algo_live(algo) || id == CUBLASLT_ALGO_CONFIG_ID) /* the id is set by AlgoInit */
        return CUBLAS_STATUS_INVALID_VALUE;
    return vs_lt_set(algo, config_attributes, id, value, size);
}

int cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo, int id, void *value,
                                         size_t size, size_t *written)
{
    return algo_live(algo) ? vs_lt_get(algo, config_attributes, id, value, size, written)
                           : CUBLAS_STATUS_INVALID_VALUE;
}
