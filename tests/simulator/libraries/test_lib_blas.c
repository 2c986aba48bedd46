/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuBLAS: checks, outputs, small results, work with a cost. */
#define _GNU_SOURCE
#include "sim_library.h"

#include <math.h>

#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cublas/vs_cublas_api.h"

VS_CUBLAS_FUNCTIONS(VS_LIBRARY_DECLARE)

#define NOT_INITIALIZED CUBLAS_STATUS_NOT_INITIALIZED
#define WRONG CUBLAS_STATUS_INVALID_VALUE

static struct cublasContext *blas;

TEST(a_handle_is_checked)
{
    struct cublasContext *handle;
    long nothing[8] = {0};
    FAILS(cublasCreate_v2(NULL), WRONG);
    OK(cublasCreate_v2(&handle));
    assert_true(GOT(int, cublasGetVersion_v2(handle, &got)) >= 120000);
    OK(cublasDestroy_v2(handle));
    FAILS(cublasDestroy_v2(handle), NOT_INITIALIZED);
    FAILS(cublasDestroy_v2(NULL), NOT_INITIALIZED);
    FAILS(cublasSetStream_v2((void *)nothing, NULL), NOT_INITIALIZED);
    FAILS(cublasSgemm_v2(handle, 0, 0, 1, 1, 1, NULL, NULL, 1, NULL, 1, NULL, NULL, 1), NOT_INITIALIZED);
    FAILS(cublasGemmEx(NULL, 0, 0, 1, 1, 1, NULL, NULL, 0, 1, NULL, 0, 1, NULL, NULL, 0, 1, 68, -1),
          NOT_INITIALIZED);
}

TEST(settings_are_kept)
{
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cublasSetStream_v2(blas, stream));
    assert_ptr_equal(GOT(cudaStream_t, cublasGetStream_v2(blas, &got)), stream);
    OK(cublasSetStream_v2(blas, NULL));
    OK(cudaStreamDestroy(stream));
    OK(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH));
    assert_int_equal(GOT(int, cublasGetMathMode(blas, &got)), CUBLAS_TF32_TENSOR_OP_MATH);
    FAILS(cublasSetMathMode(blas, 77), WRONG);
    OK(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH));
    FAILS(cublasSetPointerMode_v2(blas, 2), WRONG);
    FAILS(cublasSetSmCountTarget(blas, 1000), WRONG);
    OK(cublasSetSmCountTarget(blas, 0));
    FAILS(cublasSetWorkspace_v2(blas, (void *)1, 4096), WRONG);
}

TEST(gemm_refuses_what_is_documented)
{
    float one = 1, *m = lib_new(64);
    FAILS(cublasSgemm_v2(blas, 9, 0, 4, 4, 4, &one, m, 4, m, 4, &one, m, 4), WRONG);
    FAILS(cublasSgemm_v2(blas, 0, 0, -1, 4, 4, &one, m, 4, m, 4, &one, m, 4), WRONG);
    FAILS(cublasSgemm_v2(blas, 0, 0, 4, 4, 4, &one, m, 3, m, 4, &one, m, 4), WRONG);
    FAILS(cublasSgemm_v2(blas, 1, 0, 8, 4, 4, &one, m, 3, m, 4, &one, m, 8), WRONG);
    FAILS(cublasSgemm_v2(blas, 0, 0, 4, 4, 4, NULL, m, 4, m, 4, &one, m, 4), WRONG);
    FAILS(cublasSgemm_v2(blas, 0, 0, 4, 4, 4, &one, m, 4, m, 4, &one, NULL, 4), WRONG);
    OK(cublasSgemm_v2(blas, 0, 0, 0, 4, 4, &one, m, 1, m, 4, &one, m, 1));
    FAILS(cublasSgemm_v2_64(blas, 0, 0, -1, 4, 4, &one, m, 4, m, 4, &one, m, 4), WRONG);
    FAILS(cublasSger_v2(blas, 4, 4, &one, m, 0, m, 1, m, 4), WRONG);
    FAILS(cublasStrsm_v2(blas, 0, 2, 0, 0, 4, 4, &one, m, 4, m, 4), WRONG);
    FAILS(cublasSsyrk_v2(blas, 0, 0, 4, 9, &one, m, 3, &one, m, 4), WRONG);
}

TEST(small_products_have_values)
{
    float one = 1, zero = 0, two = 2, *a = lib_new(6), *b = lib_new(6), *c = lib_new(9);
    /* a 2 x 3, b 3 x 2 by columns: c = a b */
    OK(cublasSgemm_v2(blas, 0, 0, 2, 2, 3, &one, a, 2, b, 3, &zero, c, 2));
    assert_int_equal(lib_value(c, 0), 22);
    assert_int_equal(lib_value(c, 1), 28);
    assert_int_equal(lib_value(c, 2), 49);
    assert_int_equal(lib_value(c, 3), 64);
    OK(cublasSgemm_v2(blas, 1, 1, 3, 3, 2, &one, a, 2, b, 3, &zero, c, 3)); /* a' b' */
    assert_int_equal(lib_value(c, 0), 1 * 1 + 2 * 4);
    OK(cublasSgemv_v2(blas, 0, 2, 3, &two, a, 2, b, -1, &zero, c, 1)); /* b from its end */
    assert_int_equal(lib_value(c, 0), 2 * (1 * 3 + 3 * 2 + 5 * 1));
    OK(cublasGemmStridedBatchedEx(blas, 0, 0, 1, 1, 2, &one, a, CUDA_R_32F, 1, 2, b, CUDA_R_32F, 2,
                                  2, &zero, c, CUDA_R_32F, 1, 1, 3, CUBLAS_COMPUTE_32F, -1));
    assert_int_equal(lib_value(c, 0), 1 * 1 + 2 * 2);
    assert_int_equal(lib_value(c, 2), 5 * 5 + 6 * 6);
}

TEST(reductions_return_values)
{
    enum { N = 100 };
    float result = -1, *x = lib_new(N), *there = lib_new(1);
    OK(cublasSdot_v2(blas, N, x, 1, x, 1, &result));
    assert_int_equal(result, N * (N + 1) * (2 * N + 1) / 6);
    OK(cublasSasum_v2(blas, N / 2, x, 2, &result)); /* odd numbers */
    assert_int_equal(result, N / 2 * N / 2);
    OK(cublasSnrm2_v2(blas, 2, x + 2, 1, &result));
    assert_int_equal(result, 5);
    assert_int_equal(GOT(int, cublasIsamax_v2(blas, N, x, 1, &got)), N);
    assert_int_equal(GOT(long, cublasIsamin_v2_64(blas, N, x, 1, &got)), 1);
    OK(cublasSasum_v2(blas, 0, x, 1, &result));
    assert_int_equal(result, 0);
    FAILS(cublasSasum_v2(blas, N, x, 1, NULL), WRONG);
    OK(cublasSetPointerMode_v2(blas, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasSdot_v2(blas, 2, x, 1, x, 1, there));
    assert_int_equal(lib_value(there, 0), 5);
    OK(cublasSscal_v2(blas, 2, there, x, 1)); /* the scalar is read in device memory */
    assert_int_equal(lib_value(x, 1), 10);
    OK(cublasSetPointerMode_v2(blas, CUBLAS_POINTER_MODE_HOST));
}

TEST(rotations_are_those_of_blas)
{
    float a = 3, b = 4, c = 0, s = 0, d1 = 2, d2 = 3, x1 = 1, y1 = 2, p[5] = {9, 9, 9, 9, 9};
    OK(cublasSrotg_v2(blas, &a, &b, &c, &s));
    assert_true(a == 5 && c > 0.599f && c < 0.601f && s > 0.799f && s < 0.801f);
    OK(cublasSrotmg_v2(blas, &d1, &d2, &x1, &y1, p)); /* |d1 x1^2| < |d2 y1^2|: flag 1 */
    assert_int_equal(p[0], 1);
    float h11 = p[1], h22 = p[4];
    assert_true(h11 > 0.333f && h11 < 0.334f && h22 == 0.5f); /* d1 x1 / (d2 y1), x1 / y1 */
    assert_int_equal(p[2], 9);
    assert_true(h22 * y1 - 1 == 0); /* H = (h11 1; -1 h22) turns (x1, y1) into (x1', 0) */
    double e1 = 1e-12, e2 = 3e-12, x = 2, y = 1, h[5]; /* so small that H is scaled */
    OK(cublasDrotmg_v2(blas, &e1, &e2, &x, &y, h));
    assert_true(h[0] == -1 && e1 > 1e-8 && e2 > 1e-8);
    assert_true(fabs(h[1] * 2 + h[3] * 1 - x) < 1e-12 && fabs(h[2] * 2 + h[4] * 1) < 1e-12);
    assert_true(fabs(e1 * x * x / 7e-12 - 1) < 1e-9); /* d1 x1^2 + d2 y1^2 is kept */
    FAILS(cublasSrotg_v2(blas, &a, &b, NULL, &s), WRONG);
}

TEST(factorisations_set_info_and_pivots)
{
    enum { N = 3, BATCHES = 2 };
    float **matrices;
    int *pivots, *info, host[N * BATCHES], here = -1;
    OK(cudaMalloc((void **)&matrices, BATCHES * sizeof *matrices));
    OK(cudaMalloc((void **)&pivots, sizeof host));
    OK(cudaMalloc((void **)&info, BATCHES * sizeof *info));
    OK(cudaMemset(info, 0x55, BATCHES * sizeof *info));
    OK(cublasSgetrfBatched(blas, N, matrices, N, pivots, info, BATCHES));
    OK(cudaMemcpy(host, info, BATCHES * sizeof *info, cudaMemcpyDeviceToHost));
    assert_int_equal(host[0] | host[1], 0);
    OK(cudaMemcpy(host, pivots, sizeof host, cudaMemcpyDeviceToHost));
    assert_int_equal(host[0], 1);
    assert_int_equal(host[5], N);
    OK(cublasSgetrsBatched(blas, 0, N, 1, matrices, N, pivots, matrices, N, &here, BATCHES));
    assert_int_equal(here, 0);
    FAILS(cublasSgetrsBatched(blas, 0, N, 1, matrices, 1, pivots, matrices, N, &here, BATCHES),
          WRONG);
    assert_int_equal(here, -5);
}

/* A square product of 4096 has 137 GFLOP: at 70 % of an H100's rates 198 us in FP16, 2.9 ms in FP32. */
TEST(large_products_take_the_time_of_their_type)
{
    enum { N = 4096 };
    float one = 1, zero = 0, *m;
    OK(cudaMalloc((void **)&m, (size_t)N * N * 4));
    struct lib_timing t = lib_timing_begin(NULL);
    OK(cublasSgemm_v2(blas, 0, 0, N, N, N, &one, m, N, m, N, &zero, m, N));
    float fp32 = lib_timing_ms(t, NULL);
    t = lib_timing_begin(NULL);
    OK(cublasGemmEx(blas, 0, 0, N, N, N, &one, m, CUDA_R_16BF, N, m, CUDA_R_16BF, N, &zero, m,
                    CUDA_R_16BF, N, CUBLAS_COMPUTE_32F, -1));
    float bf16 = lib_timing_ms(t, NULL);
    assert_true(fp32 > 2.6 && fp32 < 3.3);
    assert_true(bf16 > 0.17 && bf16 < 0.24);
}

TEST(work_is_captured_into_graphs)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    float one = 1, *a = lib_new(1), *c = lib_new(1);
    OK(cudaStreamCreate(&stream));
    OK(cublasSetStream_v2(blas, stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cublasSgemm_v2(blas, 0, 0, 1, 1, 1, &one, a, 1, a, 1, &one, c, 1)); /* c += 1 */
    OK(cudaStreamEndCapture(stream, &graph));
    assert_int_equal(GOT(size_t, cudaGraphGetNodes(graph, NULL, &got)), 1);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    assert_int_equal(lib_value(c, 0), 1);
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, stream));
    assert_int_equal(lib_value(c, 0), 4);
    OK(cublasSetStream_v2(blas, NULL));
}

TEST(matrices_are_copied)
{
    float from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {0}, *there = lib_new(64);
    OK(cublasSetMatrix(2, 2, 4, from, 3, there, 8)); /* rows 0 and 1 of two columns */
    assert_int_equal(lib_value(there, 0), 1);
    assert_int_equal(lib_value(there, 9), 5);
    OK(cublasGetVector(3, 4, there, 8, to, 2));
    assert_int_equal(to[2], 4);
    FAILS(cublasSetMatrix(4, 2, 4, from, 3, there, 8), WRONG);
    FAILS(cublasGetVector(3, 4, there, 0, to, 1), WRONG);
}

TEST(both_majors_load_with_their_symbol_versions)
{
    for (int major = 12; major <= 13; major++) {
        char name[32];
        snprintf(name, sizeof name, "libcublas.so.%d", major);
        void *library = lib_open(name);
        assert_non_null(dlvsym(library, "cublasSgemm_v2", name));
        assert_non_null(dlvsym(library, "cublasHgemm", name));
        assert_null(dlsym(library, "vs_library_new"));
        int (*version)(struct cublasContext *, int *);
        *(void **)&version = dlsym(library, "cublasGetVersion_v2");
        int value = 0;
        setenv("VRAMSCOPE_SIMULATE_LIBRARIES", "cudnn=9.1.0,cublas=12.4.5", 1);
        OK(version(blas, &value));
        unsetenv("VRAMSCOPE_SIMULATE_LIBRARIES");
        assert_int_equal(value, 120405);
    }
}

SETUP(begin)
{
    lib_notes_begin();
    return cublasCreate_v2(&blas);
}
