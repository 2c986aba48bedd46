// SPDX-License-Identifier: Apache-2.0
// Reductions of a few million numbers: by shuffles in two launches, and as a tree in
// shared memory whose last block finishes the work.
#include <cmath>
#include <vector>

#include "program.h"
#include "reduction_kernels.cuh"

template <typename Op> static float reduce_all(const float *in, size_t n, Op op)
{
    const int blocks = 120, threads = 256;
    Device<float> partial(blocks + 1);
    size_t shared = threads / 32 * sizeof(float);
    reduce<<<blocks, threads, shared>>>(in, partial.p, n, op);
    reduce<<<1, 128, shared>>>(partial.p, partial.p + blocks, blocks, op);
    CUDA_CHECK(cudaGetLastError());
    return partial.get().back();
}

static bool floats(size_t n)
{
    std::vector<float> values(n);
    double sum = 0;
    float most = -1;
    for (size_t i = 0; i < n; i++) {
        values[i] = noise((unsigned)i);
        sum += values[i];
        most = fmaxf(most, values[i]);
    }
    Device<float> in(values);
    float got_sum = reduce_all(in, n, Sum()), got_max = reduce_all(in, n, Max());
    bool ok = fabs(got_sum - sum) <= 1e-5 * sum && got_max == most;
    printf("%zu floats: max %.7f, %s\n", n, got_max, ok ? "ok" : "WRONG");
    if (!ok)
        fprintf(stderr, "sum %f, expected %f; max %f, expected %f\n", got_sum, sum, got_max, most);
    return ok;
}

static bool integers(int n, int rounds)
{
    const int threads = 256, blocks = (n + threads - 1) / threads;
    std::vector<int> values(n);
    int expected = 0;
    for (int i = 0; i < n; i++) {
        values[i] = (int)(noise(i) * 100.0f) - 30;
        expected += values[i];
    }
    int sum = 0;
    Device<int> in(values), partial(blocks), total(1);
    Device<unsigned> done(1);
    done.clear();
    bool ok = true;
    for (int r = 0; r < rounds; r++) { // the counter must be back at zero each time
        CUDA_CHECK(cudaMemset(total, 0xff, sizeof(int)));
        reduce_tree<<<blocks, threads>>>(in, partial, total, done, n);
        CUDA_CHECK(cudaGetLastError());
        sum = total.get()[0];
        ok &= sum == expected;
    }
    printf("%d integers, %d rounds: sum %d, %s\n", n, rounds, sum, ok ? "ok" : "WRONG");
    return ok;
}

int main()
{
    bool ok = floats(1);
    ok &= floats(1 << 20);
    ok &= floats(1000003);
    ok &= integers(100000, 3);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
