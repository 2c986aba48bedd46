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

/* In the caller's storage, at any address. */
struct __attribute__((packed)) lt_matrix {
    uint32_t mark;
    int type;
    bool structured;
    int64_t rows, columns;
};

struct __attribute__((packed)) lt_matmul {
    uint32_t mark;
    int type;
    int64_t m, n, k;
};

struct __attribute__((packed)) lt_selection {
    uint32_t mark;
    int values[6]; /* by cusparseLtMatmulAlgAttribute_t */
};

struct __attribute__((packed)) lt_plan {
    uint32_t mark;
    struct lt_matmul matmul;
};

_Static_assert(sizeof(struct lt_plan) <= sizeof(cusparseLtMatmulPlan_t), "fits the caller's storage");

static bool is(const void *object, enum mark mark)
{
    uint32_t found = 0;
    if (object)
        memcpy(&found, object, sizeof found);
    return found == mark;
}

/* The status of a call whose other arguments are *ok*. */
static int checked(const cusparseLtHandle_t *handle, bool ok)
{
    return !is(handle, HANDLE) ? NOT_INITIALIZED : ok ? SUCCESS : INVALID_VALUE;
}

/* The same, and *to* becomes *made*. */
static int put(const cusparseLtHandle_t *handle, bool ok, void *to, const void *made, size_t bytes)
{
    int e = checked(handle, ok && to);
    if (!e)
        memcpy(to, made, bytes);
    return e;
}

static int end(const void *object, enum mark mark, int otherwise)
{
    if (!is(object, mark))
        return otherwise;
    memset((void *)object, 0, sizeof(uint32_t));
    return SUCCESS;
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
    memcpy(handle, &(uint32_t){HANDLE}, sizeof(uint32_t));
    return SUCCESS;
}

int cusparseLtDestroy(const cusparseLtHandle_t *handle) { return end(handle, HANDLE, NOT_INITIALIZED); }

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

int cusparseLtDenseDescriptorInit(const cusparseLtHandle_t *handle, cusparseLtMatDescriptor_t *to,
                                  int64_t rows, int64_t columns, int64_t ld, uint32_t alignment,
                                  int type, int order)
{
    struct lt_matrix m = {MATRIX, type, false, rows, columns};
    return put(handle, rows >= 1 && columns >= 1 && bytes_of(type), to, &m, sizeof m);
}

int cusparseLtStructuredDescriptorInit(const cusparseLtHandle_t *handle,
                                       cusparseLtMatDescriptor_t *to, int64_t rows,
                                       int64_t columns, int64_t ld, uint32_t alignment, int type,
                                       int order, int sparsity)
{
    struct lt_matrix m = {MATRIX, type, true, rows, columns};
    return sparsity != CUSPARSELT_SPARSITY_50_PERCENT
               ? INVALID_VALUE
               : put(handle, rows >= 1 && columns >= 1 && bytes_of(type), to, &m, sizeof m);
}

int cusparseLtMatDescriptorDestroy(const cusparseLtMatDescriptor_t *matrix)
{
    return end(matrix, MATRIX, INVALID_VALUE);
}

/* Half of the numbers, and their positions: two bits for each kept 16-bit number, two for each kept
 * 8-bit number, and four for each kept 32-bit number, of which one in two is kept. */
int cusparseLtSpMMACompressedSize2(const cusparseLtHandle_t *handle,
                                   const cusparseLtMatDescriptor_t *matrix, unsigned long *bytes,
                                   unsigned long *buffer)
{
    const struct lt_matrix *m = (const void *)matrix;
    int e = checked(handle, is(matrix, MATRIX) && m->structured && bytes && buffer);
    if (e)
        return e;
    uint64_t numbers = (uint64_t)m->rows * (uint64_t)m->columns;
    unsigned each = bytes_of(m->type);
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
    const struct lt_matrix *m = (const void *)matrix;
    int e = checked(handle, is(matrix, MATRIX) && dense && compressed);
    return e ? e : run("cusparseLtSpMMACompress", m->type, 0,
                       1.6 * (double)m->rows * (double)m->columns * bytes_of(m->type), stream);
}

/* ---- products ---- */

int cusparseLtMatmulDescriptorInit(const cusparseLtHandle_t *handle, cusparseLtMatmulDescriptor_t *to,
                                   int op_a, int op_b, const cusparseLtMatDescriptor_t *a,
                                   const cusparseLtMatDescriptor_t *b,
                                   const cusparseLtMatDescriptor_t *c,
                                   const cusparseLtMatDescriptor_t *d, int compute)
{
    const struct lt_matrix *ma = (const void *)a, *mb = (const void *)b;
    int e = checked(handle, is(a, MATRIX) && is(b, MATRIX) && is(c, MATRIX) && is(d, MATRIX));
    if (e)
        return e;
    int64_t inner = op_b ? mb->columns : mb->rows, n = op_b ? mb->rows : mb->columns;
    struct lt_matmul made = {MATMUL, ma->type, op_a ? ma->columns : ma->rows, n, op_a ? ma->rows : ma->columns};
    return put(handle, made.k == inner && ma->structured != mb->structured, to, &made, sizeof made);
}

int cusparseLtMatmulDescSetAttribute(const cusparseLtHandle_t *handle, cusparseLtMatmulDescriptor_t *matmul,
                                     int attribute, const void *data, size_t bytes)
{
    bool known = attribute >= 0 && attribute <= CUSPARSELT_MATMUL_D_OUT_SCALE_POINTER;
    return checked(handle, is(matmul, MATMUL) && known && data && bytes);
}

int cusparseLtMatmulAlgSelectionInit(const cusparseLtHandle_t *handle,
                                     cusparseLtMatmulAlgSelection_t *to,
                                     const cusparseLtMatmulDescriptor_t *matmul, int algorithm)
{
    static const struct lt_selection made = {SELECTION, {[CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID] = ALGORITHMS,
                                                         [CUSPARSELT_MATMUL_SEARCH_ITERATIONS] = 5,
                                                         [CUSPARSELT_MATMUL_SPLIT_K] = 1}};
    return put(handle, is(matmul, MATMUL) && algorithm == CUSPARSELT_MATMUL_ALG_DEFAULT, to, &made, sizeof made);
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
    size_t at = offsetof(struct lt_selection, values) + sizeof(int) * (size_t)attribute;
    bool ok = attribute_ok(selection, attribute, data, bytes);
    return put(handle, ok, data, ok ? (const char *)selection + at : NULL, bytes);
}

int cusparseLtMatmulAlgSetAttribute(const cusparseLtHandle_t *handle,
                                    cusparseLtMatmulAlgSelection_t *selection, int attribute,
                                    const void *data, size_t bytes)
{
    size_t at = offsetof(struct lt_selection, values) + sizeof(int) * (size_t)attribute;
    bool ok = attribute_ok(selection, attribute, data, bytes) && attribute != CUSPARSELT_MATMUL_ALG_CONFIG_MAX_ID;
    return put(handle, ok, ok ? (char *)selection + at : NULL, data, bytes);
}

int cusparseLtMatmulPlanInit(const cusparseLtHandle_t *handle, cusparseLtMatmulPlan_t *to,
                             const cusparseLtMatmulDescriptor_t *matmul,
                             const cusparseLtMatmulAlgSelection_t *selection)
{
    struct lt_plan made = {.mark = PLAN};
    bool ok = is(matmul, MATMUL) && is(selection, SELECTION);
    if (ok)
        memcpy(&made.matmul, matmul, sizeof made.matmul);
    return put(handle, ok, to, &made, sizeof made);
}

int cusparseLtMatmulPlanDestroy(const cusparseLtMatmulPlan_t *plan) { return end(plan, PLAN, INVALID_VALUE); }

int cusparseLtMatmulGetWorkspace(const cusparseLtHandle_t *handle, const cusparseLtMatmulPlan_t *plan,
                                 unsigned long *bytes)
{
    int e = checked(handle, is(plan, PLAN) && bytes);
    if (e)
        return e;
    *bytes = 0;
    vs_library_assume("cusparseLtMatmul", 0, "cuSPARSELt's workspace can be measured on a real GPU only");
    return SUCCESS;
}

int cusparseLtMatmul(const cusparseLtHandle_t *handle, const cusparseLtMatmulPlan_t *plan,
                     const void *alpha, const void *a, const void *b, const void *beta,
                     const void *c, void *d, void *workspace, struct CUstream_st **streams,
                     int32_t stream_count)
{
    const struct lt_plan *p = (const void *)plan;
    int e = checked(handle, is(plan, PLAN) && a && b && d && stream_count >= 0 && (!stream_count || streams));
    if (e)
        return e;
    double m = (double)p->matmul.m, n = (double)p->matmul.n, k = (double)p->matmul.k;
    return run("cusparseLtMatmul", p->matmul.type, m * n * k, (m * k + k * n + m * n) * bytes_of(p->matmul.type),
               stream_count ? streams[0] : NULL);
}

/* A search tries each configuration once; the first is kept. */
int cusparseLtMatmulSearch(const cusparseLtHandle_t *handle, cusparseLtMatmulPlan_t *plan,
                           const void *alpha, const void *a, const void *b, const void *beta,
                           const void *c, void *d, void *workspace, struct CUstream_st **streams,
                           int32_t stream_count)
{
    return cusparseLtMatmul(handle, plan, alpha, a, b, beta, c, d, workspace, streams, stream_count);
}
