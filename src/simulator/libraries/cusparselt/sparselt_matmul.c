/* SPDX-License-Identifier: Apache-2.0
 *
 * cuSPARSELt: products with an operand of which half of each group of four numbers is zero. Handles,
 * descriptors and plans live in storage of the caller (512 bytes since cuSPARSELt 0.7, more before):
 * each begins with a mark. Values are not computed; sizes are those of the compressed format. */
#include <string.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cusparselt/vs_cusparselt_api.h"

VS_CUSPARSELT_FUNCTIONS(VS_LIBRARY_DECLARE)

/* cuSPARSELt uses cuSPARSE's status codes. */
enum {
    SUCCESS = 0,
    NOT_INITIALIZED = 1,
    INVALID_VALUE = 3,
    EXECUTION_FAILED = 6,
    NOT_SUPPORTED = 10,
};
#define ALGORITHMS 1 /* how many configurations a search finds */

enum mark { HANDLE = 0x76736c48, MATRIX, MATMUL, SELECTION, PLAN };

struct lt_handle {
    uint32_t mark;
};

struct lt_matrix {
    uint32_t mark;
    int type;
    bool structured;
    int64_t rows, columns;
};

struct lt_matmul {
    uint32_t mark;
    int compute;
    int64_t m, n, k;
    int type;
};

struct lt_selection {
    uint32_t mark;
    int values[6]; /* by cusparseLtMatmulAlgAttribute_t */
};

struct lt_plan {
    uint32_t mark;
    struct lt_matmul matmul;
};

_Static_assert(sizeof(struct lt_plan) <= sizeof(cusparseLtMatmulPlan_t), "fits the caller's storage");

static bool is(const void *object, enum mark mark)
{
    uint32_t found;
    if (!object)
        return false;
    memcpy(&found, object, sizeof found);
    return found == mark;
}

/* ---- the library ---- */

int cusparseLtInit(cusparseLtHandle_t *handle)
{
    if (!handle)
        return INVALID_VALUE;
    if (!vs_library_driver())
        return NOT_INITIALIZED;
    if (vs_library_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) < 8)
        return NOT_SUPPORTED; /* structured sparsity began with Ampere */
    memcpy(handle, &(struct lt_handle){HANDLE}, sizeof(struct lt_handle));
    return SUCCESS;
}

int cusparseLtDestroy(const cusparseLtHandle_t *handle)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    memset((void *)handle, 0, sizeof(struct lt_handle));
    return SUCCESS;
}

int cusparseLtGetVersion(const cusparseLtHandle_t *handle, int *version)
{
    return is(handle, HANDLE) ? vs_library_get_version(version, 1000, 100) : NOT_INITIALIZED;
}

int cusparseLtGetProperty(int type, int *value) { return vs_library_get_property(type, value); }

/* ---- matrices ---- */

static unsigned bytes_of(int type)
{
    switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    default: return 0;
    }
}

static int matrix_init(const cusparseLtHandle_t *handle, cusparseLtMatDescriptor_t *to,
                       const struct lt_matrix *m)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!to || m->rows < 1 || m->columns < 1 || !bytes_of(m->type))
        return INVALID_VALUE;
    memcpy(to, m, sizeof *m);
    return SUCCESS;
}

int cusparseLtDenseDescriptorInit(const cusparseLtHandle_t *handle, cusparseLtMatDescriptor_t *to,
                                  int64_t rows, int64_t columns, int64_t ld, uint32_t alignment,
                                  int type, int order)
{
    return matrix_init(handle, to, &(struct lt_matrix){MATRIX, type, false, rows, columns});
}

int cusparseLtStructuredDescriptorInit(const cusparseLtHandle_t *handle,
                                       cusparseLtMatDescriptor_t *to, int64_t rows,
                                       int64_t columns, int64_t ld, uint32_t alignment, int type,
                                       int order, int sparsity)
{
    if (sparsity != CUSPARSELT_SPARSITY_50_PERCENT)
        return INVALID_VALUE;
    return matrix_init(handle, to, &(struct lt_matrix){MATRIX, type, true, rows, columns});
}

int cusparseLtMatDescriptorDestroy(const cusparseLtMatDescriptor_t *matrix)
{
    if (!is(matrix, MATRIX))
        return INVALID_VALUE;
    memset((void *)matrix, 0, sizeof(uint32_t));
    return SUCCESS;
}

/* Half of the numbers, and their positions: two bits for each kept 16-bit number, two for each kept
 * 8-bit number, and four for each kept 32-bit number, of which one in two is kept. */
int cusparseLtSpMMACompressedSize2(const cusparseLtHandle_t *handle,
                                   const cusparseLtMatDescriptor_t *matrix, unsigned long *bytes,
                                   unsigned long *buffer)
{
    struct lt_matrix m;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(matrix, MATRIX) || !bytes || !buffer)
        return INVALID_VALUE;
    memcpy(&m, matrix, sizeof m);
    if (!m.structured)
        return INVALID_VALUE;
    uint64_t numbers = (uint64_t)m.rows * (uint64_t)m.columns;
    unsigned each = bytes_of(m.type);
    *bytes = numbers * each / 2 + (each == 4 ? numbers / 4 : numbers / 8);
    *buffer = 0;
    vs_library_assume("cusparseLtSpMMACompress", 0, "the buffer of the compression can be measured on a real GPU only");
    return SUCCESS;
}

static int run(const char *name, int type, double operations, double bytes, struct CUstream_st *stream)
{
    struct vs_sim_work work = {.name = name,
                               .number = bytes_of(type) == 1   ? VS_SIM_INT8
                                         : bytes_of(type) == 2 ? VS_SIM_FP16
                                                               : VS_SIM_TF32,
                               .operations = operations,
                               .bytes = bytes};
    return vs_library_submit(stream, &work) ? EXECUTION_FAILED : SUCCESS;
}

int cusparseLtSpMMACompress2(const cusparseLtHandle_t *handle, const cusparseLtMatDescriptor_t *matrix,
                             int is_sparse_a, int op, const void *dense, void *compressed,
                             void *buffer, struct CUstream_st *stream)
{
    struct lt_matrix m;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(matrix, MATRIX) || !dense || !compressed)
        return INVALID_VALUE;
    memcpy(&m, matrix, sizeof m);
    return run("cusparseLtSpMMACompress", m.type, 0,
               1.6 * (double)m.rows * (double)m.columns * bytes_of(m.type), stream);
}

/* ---- products ---- */

int cusparseLtMatmulDescriptorInit(const cusparseLtHandle_t *handle, cusparseLtMatmulDescriptor_t *to,
                                   int op_a, int op_b, const cusparseLtMatDescriptor_t *a,
                                   const cusparseLtMatDescriptor_t *b,
                                   const cusparseLtMatDescriptor_t *c,
                                   const cusparseLtMatDescriptor_t *d, int compute)
{
    struct lt_matrix ma, mb;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!to || !is(a, MATRIX) || !is(b, MATRIX) || !is(c, MATRIX) || !is(d, MATRIX))
        return INVALID_VALUE;
    memcpy(&ma, a, sizeof ma);
    memcpy(&mb, b, sizeof mb);
    int64_t m = op_a ? ma.columns : ma.rows, k = op_a ? ma.rows : ma.columns;
    int64_t inner = op_b ? mb.columns : mb.rows, n = op_b ? mb.rows : mb.columns;
    if (k != inner || ma.structured == mb.structured)
        return INVALID_VALUE;
    struct lt_matmul made = {MATMUL, compute, m, n, k, ma.type};
    memcpy(to, &made, sizeof made);
    return SUCCESS;
}

int cusparseLtMatmulDescSetAttribute(const cusparseLtHandle_t *handle, cusparseLtMatmulDescriptor_t *matmul,
                                     int attribute, const void *data, size_t bytes)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    bool known = attribute >= 0 && attribute <= CUSPARSELT_MATMUL_D_OUT_SCALE_POINTER;
    return is(matmul, MATMUL) && known && data && bytes ? SUCCESS : INVALID_VALUE;
}

int cusparseLtMatmulAlgSelectionInit(const cusparseLtHandle_t *handle,
                                     cusparseLtMatmulAlgSelection_t *to,
                                     const cusparseLtMatmulDescriptor_t *matmul, int algorithm)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!to || !is(matmul, MATMUL) || algorithm != CUSPARSELT_MATMUL_ALG_DEFAULT)
        return INVALID_VALUE;
    struct lt_selection made = {SELECTION, {0}};
    made.values[CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID] = ALGORITHMS;
    made.values[CUSPARSELT_MATMUL_SEARCH_ITERATIONS] = 5;
    made.values[CUSPARSELT_MATMUL_SPLIT_K] = 1;
    memcpy(to, &made, sizeof made);
    return SUCCESS;
}

static bool attribute_ok(const cusparseLtMatmulAlgSelection_t *selection, int attribute,
                         const void *data, size_t bytes)
{
    return is(selection, SELECTION) && attribute >= 0 &&
           attribute <= CUSPARSELT_MATMUL_SPLIT_K_BUFFERS && data && bytes == sizeof(int);
}

int cusparseLtMatmulAlgGetAttribute(const cusparseLtHandle_t *handle,
                                    const cusparseLtMatmulAlgSelection_t *selection, int attribute,
                                    void *data, size_t bytes)
{
    struct lt_selection s;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!attribute_ok(selection, attribute, data, bytes))
        return INVALID_VALUE;
    memcpy(&s, selection, sizeof s);
    memcpy(data, &s.values[attribute], bytes);
    return SUCCESS;
}

int cusparseLtMatmulAlgSetAttribute(const cusparseLtHandle_t *handle,
                                    cusparseLtMatmulAlgSelection_t *selection, int attribute,
                                    const void *data, size_t bytes)
{
    struct lt_selection s;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!attribute_ok(selection, attribute, data, bytes) || attribute == CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID)
        return INVALID_VALUE;
    memcpy(&s, selection, sizeof s);
    memcpy(&s.values[attribute], data, bytes);
    memcpy(selection, &s, sizeof s);
    return SUCCESS;
}

int cusparseLtMatmulPlanInit(const cusparseLtHandle_t *handle, cusparseLtMatmulPlan_t *to,
                             const cusparseLtMatmulDescriptor_t *matmul,
                             const cusparseLtMatmulAlgSelection_t *selection)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!to || !is(matmul, MATMUL) || !is(selection, SELECTION))
        return INVALID_VALUE;
    struct lt_plan made = {.mark = PLAN};
    memcpy(&made.matmul, matmul, sizeof made.matmul);
    memcpy(to, &made, sizeof made);
    return SUCCESS;
}

int cusparseLtMatmulPlanDestroy(const cusparseLtMatmulPlan_t *plan)
{
    if (!is(plan, PLAN))
        return INVALID_VALUE;
    memset((void *)plan, 0, sizeof(uint32_t));
    return SUCCESS;
}

int cusparseLtMatmulGetWorkspace(const cusparseLtHandle_t *handle, const cusparseLtMatmulPlan_t *plan,
                                 unsigned long *bytes)
{
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(plan, PLAN) || !bytes)
        return INVALID_VALUE;
    *bytes = 0;
    vs_library_assume("cusparseLtMatmul", 0, "cuSPARSELt's workspace can be measured on a real GPU only");
    return SUCCESS;
}

int cusparseLtMatmul(const cusparseLtHandle_t *handle, const cusparseLtMatmulPlan_t *plan,
                     const void *alpha, const void *a, const void *b, const void *beta,
                     const void *c, void *d, void *workspace, struct CUstream_st **streams,
                     int32_t stream_count)
{
    struct lt_plan p;
    if (!is(handle, HANDLE))
        return NOT_INITIALIZED;
    if (!is(plan, PLAN) || !a || !b || !d || stream_count < 0 || (stream_count && !streams))
        return INVALID_VALUE;
    memcpy(&p, plan, sizeof p);
    const struct lt_matmul *m = &p.matmul;
    double area = (double)m->m * (double)m->k + (double)m->k * (double)m->n + (double)m->m * (double)m->n;
    return run("cusparseLtMatmul", m->type, (double)m->m * (double)m->n * (double)m->k,
               area * bytes_of(m->type), stream_count ? streams[0] : NULL);
}

/* A search tries each configuration once; the first is kept. */
int cusparseLtMatmulSearch(const cusparseLtHandle_t *handle, cusparseLtMatmulPlan_t *plan,
                           const void *alpha, const void *a, const void *b, const void *beta,
                           const void *c, void *d, void *workspace, struct CUstream_st **streams,
                           int32_t stream_count)
{
    return cusparseLtMatmul(handle, plan, alpha, a, b, beta, c, d, workspace, streams, stream_count);
}
