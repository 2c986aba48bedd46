/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for cuSOLVER: checks, assumed workspaces, outputs that programs decide by. */
#include "sim_library.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cusolver/vs_cusolver_api.h"

VS_CUSOLVER_FUNCTIONS(VS_LIBRARY_DECLARE)

#define NOT_INITIALIZED CUSOLVER_STATUS_NOT_INITIALIZED
#define WRONG CUSOLVER_STATUS_INVALID_VALUE

static struct cusolverDnContext *solver;

static void *stale(size_t bytes)
{
    void *memory;
    OK(cudaMalloc(&memory, bytes));
    OK(cudaMemset(memory, 0xee, bytes));
    OK(cudaDeviceSynchronize());
    return memory;
}

TEST(handles_and_settings_are_checked)
{
    struct cusolverDnContext *handle;
    struct syevjInfo *jacobi;
    FAILS(cusolverDnCreate(NULL), WRONG);
    OK(cusolverDnCreate(&handle));
    assert_null(GOT(cudaStream_t, cusolverDnGetStream(handle, &got)));
    OK(cusolverDnCreateSyevjInfo(&jacobi));
    OK(cusolverDnXsyevjSetSortEig(jacobi, 0));
    assert_int_equal(GOT(int, cusolverDnXsyevjGetSweeps(handle, jacobi, &got)), 1);
    FAILS(cusolverDnXgesvdjSetSortEig((struct gesvdjInfo *)jacobi, 0), NOT_INITIALIZED);
    OK(cusolverDnDestroySyevjInfo(jacobi));
    FAILS(cusolverDnDestroySyevjInfo(jacobi), NOT_INITIALIZED);
    OK(cusolverDnDestroy(handle));
    FAILS(cusolverDnSetStream(handle, NULL), NOT_INITIALIZED);
}

TEST(a_workspace_size_is_given_and_noted)
{
    unsigned long device = 1, host = 1;
    int lwork = -7;
    lib_notes_begin();
    OK(cusolverDnSpotrf_bufferSize(solver, 0, 100, NULL, 100, &lwork));
    assert_in_range(lwork, 100, 100 * 100);
    assert_int_equal(lib_notes("assumed", "cusolverDnSpotrf 100x100"), 1);
    OK(cusolverDnSpotrf_bufferSize(solver, 0, 100, NULL, 100, &lwork));
    assert_int_equal(lib_notes("assumed", "cusolverDnSpotrf 100x100"), 1);
    FAILS(cusolverDnSpotrf_bufferSize(solver, 0, -1, NULL, 1, &lwork), WRONG);
    FAILS(cusolverDnSpotrf_bufferSize(solver, 0, 100, NULL, 100, NULL), WRONG);
    OK(cusolverDnXsyevd_bufferSize(solver, NULL, 1, 0, 50, CUDA_R_64F, NULL, 50, CUDA_R_64F, NULL,
                                   CUDA_R_64F, &device, &host));
    assert_in_range(device, 2 * 50 * 50 * 8, 1 << 20);
    assert_int_equal(host, 0);
    FAILS(cusolverDnXsyevd_bufferSize(solver, NULL, 1, 0, 50, CUDA_R_8I, NULL, 50, CUDA_R_64F, NULL,
                                      CUDA_R_64F, &device, &host), WRONG);
}

/* Public figures: https://github.com/mujocolab/mjlab/pull/754 (4,452 MB) and
 * https://github.com/cupy/cupy/issues/7261 (elements by batch, for 4 x 4). */
TEST(batched_eigenvalues_take_what_was_measured)
{
    static const int elements[][2] = {{1, 2077}, {2, 3126}, {4, 5224}, {32, 34596}, {256, 269572}};
    unsigned long device = 0, host = 1;
    struct syevjInfo *jacobi;
    int lwork = 0;
    OK(cusolverDnXsyevBatched_bufferSize(solver, NULL, 1, 0, 3, CUDA_R_32F, NULL, 3, CUDA_R_32F, NULL,
                                         CUDA_R_32F, &device, &host, 16384));
    assert_int_equal(device >> 20, 4452);
    OK(cusolverDnCreateSyevjInfo(&jacobi));
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        OK(cusolverDnCheevjBatched_bufferSize(solver, 1, 0, 4, NULL, 4, NULL, &lwork, jacobi, elements[i][0]));
        assert_int_equal(lwork, elements[i][1]);
    }
    OK(cusolverDnDestroySyevjInfo(jacobi));
}

TEST(info_and_pivots_are_set_in_stream_order)
{
    enum { N = 64 };
    float *a = stale(N * N * sizeof *a);
    int *pivots = stale(N * sizeof(int)), *info = stale(sizeof *info), host[N + 1];
    int64_t *wide = stale(N * sizeof *wide), last;
    FAILS(cusolverDnSgetrf(solver, N, N, a, N - 1, a, pivots, info), WRONG);
    OK(cusolverDnSgetrf(solver, N, N, a, N, a, pivots, info));
    OK(cudaMemcpy(host, pivots, N * sizeof(int), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(host + N, info, sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        assert_in_range(host[i], 1, N);
    assert_int_equal(host[N], 0);
    OK(cusolverDnXgetrf(solver, NULL, N, N, CUDA_R_32F, a, N, wide, CUDA_R_32F, NULL, 0, NULL, 0, info));
    OK(cudaMemcpy(&last, wide + N - 1, sizeof last, cudaMemcpyDeviceToHost));
    assert_int_equal(last, 1);
}

TEST(work_costs_its_operations)
{
    float *a = stale(4096 * sizeof *a);
    int *info = stale(sizeof *info);
    struct lib_timing t = lib_timing_begin(NULL);
    OK(cusolverDnSpotrf(solver, 0, 4096, a, 4096, a, 1, info));
    float small = lib_timing_ms(t, NULL);
    t = lib_timing_begin(NULL);
    OK(cusolverDnSpotrf(solver, 0, 8192, a, 8192, a, 1, info)); /* eight times the operations */
    float large = lib_timing_ms(t, NULL);
    /* not compared: pauses of the process count too; 0.49 and 3.91 without any */
    assert_true(small > 0.45 && large > 3.6);
}

SETUP(begin)
{
    return cusolverDnCreate(&solver);
}
