/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuBLASLt: descriptors and their attributes, which products exist, algorithms, and
 * products with a cost. */
#define _GNU_SOURCE
#include "sim_library.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cublaslt/vs_cublaslt_api.h"

VS_CUBLASLT_FUNCTIONS(VS_LIBRARY_DECLARE)

#define WRONG CUBLAS_STATUS_INVALID_VALUE
#define NOT_SUPPORTED CUBLAS_STATUS_NOT_SUPPORTED
#define SET(object, kind, name, value)                                                             \
    OK(cublasLt##kind##SetAttribute(object, name, &(value), sizeof(value)))

static struct cublasLtContext *lt;

/* An operation with its layouts: D (m x n) = op(A) op(B), all by columns without gaps. */
struct product {
    void *operation, *a, *b, *d, *preference;
};

static struct product product_new(int compute, int scale, int in, int out, int m, int n, int k, int op_a)
{
    struct product p;
    OK(cublasLtMatmulDescCreate(&p.operation, compute, scale));
    SET(p.operation, MatmulDesc, CUBLASLT_MATMUL_DESC_TRANSA, op_a);
    bool plain = op_a == CUBLAS_OP_N;
    OK(cublasLtMatrixLayoutCreate(&p.a, in, plain ? m : k, plain ? k : m, plain ? m : k));
    OK(cublasLtMatrixLayoutCreate(&p.b, in, k, n, k));
    OK(cublasLtMatrixLayoutCreate(&p.d, out, m, n, m));
    OK(cublasLtMatmulPreferenceCreate(&p.preference));
    return p;
}

static void product_delete(struct product *p)
{
    OK(cublasLtMatmulDescDestroy(p->operation));
    OK(cublasLtMatrixLayoutDestroy(p->a));
    OK(cublasLtMatrixLayoutDestroy(p->b));
    OK(cublasLtMatrixLayoutDestroy(p->d));
    OK(cublasLtMatmulPreferenceDestroy(p->preference));
}

static int ask(const struct product *p, int requested, cublasLtMatmulHeuristicResult_t *results, int *count)
{
    return cublasLtMatmulAlgoGetHeuristic(lt, p->operation, p->a, p->b, p->d, p->d, p->preference,
                                          requested, results, count);
}

static int status_of(int compute, int scale, int in, int out, int m, int n, int k, int op_a)
{
    cublasLtMatmulHeuristicResult_t result;
    int count = -1;
    struct product p = product_new(compute, scale, in, out, m, n, k, op_a);
    int status = ask(&p, 1, &result, &count);
    assert_int_equal(count, status == CUBLAS_STATUS_SUCCESS);
    product_delete(&p);
    return status;
}

TEST(attributes_have_their_sizes)
{
    struct product p = product_new(CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 8, 9, 4, 0);
    int32_t value = -1;
    int64_t wide = -1;
    size_t written = 0;
    OK(cublasLtMatmulDescGetAttribute(p.operation, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &value, 4, &written));
    assert_int_equal(value, CUDA_R_32F);
    assert_int_equal(written, 4);
    OK(cublasLtMatmulDescGetAttribute(p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, NULL, 0, &written));
    assert_int_equal(written, 8);
    FAILS(cublasLtMatmulDescGetAttribute(p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, NULL, 0, NULL), WRONG);
    FAILS(cublasLtMatmulDescSetAttribute(p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &value, 4), WRONG);
    FAILS(cublasLtMatmulDescSetAttribute(p.operation, 999, &value, 4), WRONG);
    FAILS(cublasLtMatmulDescSetAttribute(p.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 4), WRONG);
    OK(cublasLtMatrixLayoutGetAttribute(p.d, CUBLASLT_MATRIX_LAYOUT_COLS, &wide, 8, NULL));
    assert_int_equal(wide, 9);
    OK(cublasLtMatmulPreferenceGetAttribute(p.preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &value, 4, NULL));
    assert_int_equal(value, 256);
    product_delete(&p);
}

TEST(products_exist_by_type_shape_and_device)
{
    enum { F32 = CUBLAS_COMPUTE_32F, E4M3 = 28, E5M2 = 29, E2M1 = 33 };
    OK(status_of(F32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 7, 5, 3, CUBLAS_OP_T));
    OK(status_of(F32, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, 7, 5, 3, 0));
    OK(status_of(CUBLAS_COMPUTE_64F, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, 7, 5, 3, 0));
    OK(status_of(CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 16, 16, 16, CUBLAS_OP_T));
    FAILS(status_of(CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 16, 16, 15, CUBLAS_OP_T), NOT_SUPPORTED);
    FAILS(status_of(CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_32F, CUDA_R_32F, 7, 5, 3, 0), NOT_SUPPORTED);
    OK(status_of(F32, CUDA_R_32F, E4M3, CUDA_R_16BF, 32, 16, 64, CUBLAS_OP_T));
    FAILS(status_of(F32, CUDA_R_32F, E4M3, CUDA_R_16BF, 32, 16, 64, CUBLAS_OP_N), NOT_SUPPORTED); /* Hopper */
    FAILS(status_of(F32, CUDA_R_32F, E4M3, CUDA_R_16BF, 32, 16, 24, CUBLAS_OP_T), NOT_SUPPORTED);
    FAILS(status_of(F32, CUDA_R_32F, E5M2, CUDA_R_16BF, 32, 16, 64, CUBLAS_OP_T), NOT_SUPPORTED);
    FAILS(status_of(F32, CUDA_R_32F, E2M1, CUDA_R_16BF, 32, 32, 64, CUBLAS_OP_T), CUBLAS_STATUS_ARCH_MISMATCH);
}

TEST(contradictions_are_invalid)
{
    struct product p = product_new(CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 8, 8, 4, 0);
    cublasLtMatmulHeuristicResult_t result;
    int64_t ld = 7;
    int count;
    FAILS(ask(&p, 0, &result, &count), WRONG);
    FAILS(cublasLtMatmulAlgoGetHeuristic((void *)&count, p.operation, p.a, p.b, p.d, p.d, p.preference, 1, &result, &count),
          CUBLAS_STATUS_NOT_INITIALIZED);
    SET(p.a, MatrixLayout, CUBLASLT_MATRIX_LAYOUT_LD, ld);
    FAILS(ask(&p, 1, &result, &count), WRONG);
    ld = 8;
    SET(p.a, MatrixLayout, CUBLASLT_MATRIX_LAYOUT_LD, ld);
    OK(ask(&p, 1, &result, &count));
    uint64_t columns = 5; /* not B's rows */
    SET(p.a, MatrixLayout, CUBLASLT_MATRIX_LAYOUT_COLS, columns);
    FAILS(ask(&p, 1, &result, &count), WRONG);
    product_delete(&p);
}

TEST(algorithms_stay_within_the_preferred_workspace)
{
    struct product p = product_new(CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 64, 64, 64, 0);
    cublasLtMatmulHeuristicResult_t results[4], checked;
    uint64_t most = 32 << 20;
    uint32_t alignment = 1;
    int count;
    assert_int_equal(GOT(int, ask(&p, 4, results, &got)), 1);
    assert_int_equal(results[0].workspaceSize, 0);
    SET(p.preference, MatmulPreference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most);
    OK(ask(&p, 4, results, &count));
    assert_int_equal(count, 2);
    assert_true(results[1].workspaceSize > 0 && results[1].workspaceSize <= most);
    OK(cublasLtMatmulAlgoCheck(lt, p.operation, p.a, p.b, p.d, p.d, &results[1].algo, &checked));
    assert_int_equal(checked.workspaceSize, results[1].workspaceSize);
    int32_t parts = 4;
    OK(cublasLtMatmulAlgoConfigSetAttribute(&results[1].algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, 4));
    OK(cublasLtMatmulAlgoCheck(lt, p.operation, p.a, p.b, p.d, p.d, &results[1].algo, &checked));
    assert_int_equal(checked.workspaceSize, 2 * results[1].workspaceSize);
    SET(p.preference, MatmulPreference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
    FAILS(ask(&p, 4, results, &count), NOT_SUPPORTED);
    FAILS(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, 77, &results[0].algo), WRONG);
    product_delete(&p);
}

/* 4096 x 4096 x 4096 in FP8: 137 GFLOP at 70 % of 1979 TFLOPS take 99 us on an H100. */
TEST(products_check_their_operands_and_take_time)
{
    enum { N = 4096 };
    struct product p = product_new(CUBLAS_COMPUTE_32F, CUDA_R_32F, 28, CUDA_R_16BF, N, N, N, CUBLAS_OP_T);
    cublasLtMatmulHeuristicResult_t result;
    float one = 1, zero = 0;
    char *m;
    int count, bias = CUBLASLT_EPILOGUE_BIAS;
    OK(cudaMalloc((void **)&m, (size_t)N * N * 2));
    OK(ask(&p, 1, &result, &count));
#define MATMUL(first, workspace, bytes)                                                            \
    cublasLtMatmul(lt, p.operation, &one, first, p.a, m, p.b, &zero, m, p.d, m, p.d, &result.algo, \
                   workspace, bytes, NULL)
    struct lib_timing t = lib_timing_begin(NULL);
    OK(MATMUL(m, NULL, 0));
    float ms = lib_timing_ms(t, NULL);
    assert_true(ms > 0.09 && ms < 0.13);
    FAILS(MATMUL(m + 4, NULL, 0), NOT_SUPPORTED);
    FAILS(MATMUL(NULL, NULL, 0), WRONG);
    SET(p.operation, MatmulDesc, CUBLASLT_MATMUL_DESC_EPILOGUE, bias);
    FAILS(MATMUL(m, NULL, 0), WRONG); /* a bias without its vector */
    SET(p.operation, MatmulDesc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, m);
    OK(MATMUL(m, NULL, 0));
    int32_t parts = 2;
    uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    OK(cublasLtMatmulAlgoConfigSetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts, 4));
    OK(cublasLtMatmulAlgoConfigSetAttribute(&result.algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, 4));
    FAILS(MATMUL(m, m, 4096), WRONG); /* less than the algorithm needs */
    OK(cudaDeviceSynchronize());
    OK(cudaFree(m));
    product_delete(&p);
}

TEST(destroyed_objects_are_recognised)
{
    struct cublasLtContext *handle;
    void *d;
    long storage[32] = {0};
    OK(cublasLtCreate(&handle));
    OK(cublasLtDestroy(handle));
    FAILS(cublasLtDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED);
    OK(cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    OK(cublasLtMatmulDescDestroy(d));
    FAILS(cublasLtMatmulDescDestroy((void *)storage), WRONG);
}

/* cuBLAS: a handle of cuBLAS may be used as a handle of cuBLASLt. */
TEST(a_handle_of_cublas_will_do)
{
    void *blas = lib_open("libcublas.so.13"), *handle;
    int (*create)(void **), (*destroy)(void *);
    cublasLtMatmulAlgo_t algo;
    *(void **)&create = dlvsym(blas, "cublasCreate_v2", "libcublas.so.13");
    *(void **)&destroy = dlsym(blas, "cublasDestroy_v2");
    OK(create(&handle));
#define ALGO() cublasLtMatmulAlgoInit(handle, CUBLAS_COMPUTE_32F, 0, 0, 0, 0, 0, 0, &algo)
    OK(ALGO());
    OK(destroy(handle));
    FAILS(ALGO(), CUBLAS_STATUS_NOT_INITIALIZED);
}

TEST(both_majors_load_with_their_symbol_versions)
{
    for (int major = 12; major <= 13; major++) {
        char name[32];
        snprintf(name, sizeof name, "libcublasLt.so.%d", major);
        assert_non_null(dlvsym(lib_open(name), "cublasLtMatmul", name));
    }
    setenv("VRAMSCOPE_SIMULATE_LIBRARIES", "cublaslt=13.2.1", 1);
    assert_int_equal(cublasLtGetVersion(), 130201);
    unsetenv("VRAMSCOPE_SIMULATE_LIBRARIES");
}

SETUP(begin)
{
    lib_notes_begin();
    return cublasLtCreate(&lt);
}
