/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-ins for cuFFT and cuRAND. */
#include "sim_library.h"
#include "simulator/libraries/common/vs_library_base.h"
#include "simulator/libraries/cufft/vs_cufft_api.h"
#include "simulator/libraries/curand/vs_curand_api.h"

VS_CUFFT_FUNCTIONS(VS_LIBRARY_DECLARE)
VS_CURAND_FUNCTIONS(VS_LIBRARY_DECLARE)

static size_t used(void)
{
    size_t free_bytes, total;
    OK(cudaMemGetInfo(&free_bytes, &total));
    return total - free_bytes;
}

TEST(a_plan_allocates_its_work_area)
{
    unsigned long bytes = 0, size = 0;
    int plan;
    OK(cufftPlan1d(&plan, 8, CUFFT_C2C, 1)); /* the program's first CUDA call */
    OK(cufftDestroy(plan));
    lib_notes_begin();
    size_t before = used();
    OK(cufftCreate(&plan));
    FAILS(cufftExecC2C(plan, (void *)1, (void *)1, -1), CUFFT_INVALID_PLAN); /* not made yet */
    OK(cufftMakePlan2d(plan, 1024, 1024, CUFFT_C2C, &bytes));
    assert_true(bytes >= 8 << 20);
    assert_true(used() - before >= bytes);
    assert_int_equal(lib_notes("assumed", "plan 1024x1024 batch 1 C2C FP32"), 1);
    FAILS(cufftMakePlan2d(plan, 8, 8, CUFFT_C2C, &bytes), CUFFT_INVALID_PLAN); /* made already */
    OK(cufftGetSize(plan, &size));
    assert_int_equal(size, 8 << 20);
    OK(cufftDestroy(plan));
    assert_int_equal(used(), before);
    FAILS(cufftDestroy(plan), CUFFT_INVALID_PLAN);
}

TEST(a_plan_without_automatic_allocation_needs_an_area)
{
    unsigned long bytes;
    int plan;
    void *data, *area;
    OK(cudaMalloc(&data, 1 << 20));
    OK(cudaMalloc(&area, 1 << 20));
    OK(cufftCreate(&plan));
    OK(cufftSetAutoAllocation(plan, 0));
    OK(cufftXtMakePlanMany(plan, 1, (long long[]){1000}, NULL, 1, 1, CUDA_C_32F, NULL, 1, 1, CUDA_C_32F, 3,
                           &bytes, CUDA_C_32F));
    FAILS(cufftXtExec(plan, data, data, -1), CUFFT_NO_WORKSPACE);
    OK(cufftSetWorkArea(plan, area));
    OK(cufftXtExec(plan, data, data, -1));
    FAILS(cufftXtExec(plan, data, data, 3), CUFFT_INVALID_VALUE);
    OK(cufftDestroy(plan));
    FAILS(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), CUFFT_INVALID_SIZE);
    FAILS(cufftPlan1d(&plan, 8, 7, 1), CUFFT_INVALID_TYPE);
}

TEST(random_numbers_are_real_and_repeat_with_the_seed)
{
    enum { N = 10000 };
    struct curandGenerator_st *generator;
    static float first[N], again[N];
    float *memory;
    double sum = 0, squares = 0;
    OK(cudaMalloc((void **)&memory, N * sizeof *memory));
    OK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    for (int i = 0; i < 2; i++) {
        OK(curandSetPseudoRandomGeneratorSeed(generator, 7));
        OK(curandGenerateNormal(generator, memory, N, 5, 2));
        OK(cudaMemcpy(i ? again : first, memory, sizeof first, cudaMemcpyDeviceToHost));
    }
    assert_memory_equal(first, again, sizeof first);
    for (int i = 0; i < N; i++) {
        sum += first[i];
        squares += (first[i] - 5) * (first[i] - 5);
    }
    assert_true(sum / N > 4.9 && sum / N < 5.1);
    assert_true(squares / N > 3.7 && squares / N < 4.3);
    FAILS(curandGenerateNormal(generator, memory, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    OK(curandGenerateUniform(generator, memory, N));
    OK(cudaMemcpy(first, memory, sizeof first, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        assert_true(first[i] > 0 && first[i] <= 1);
    OK(curandDestroyGenerator(generator));
    FAILS(curandDestroyGenerator(generator), CURAND_STATUS_NOT_INITIALIZED);
}
