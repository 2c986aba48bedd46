// SPDX-License-Identifier: Apache-2.0
// Prefix sum over as many blocks as it takes (the blocks' sums are scanned the same way),
// and stream compaction with it.
#include <vector>

#include "program.h"
#include "scan_kernels.cuh"

static int blocks_of(int n) { return (n + SCAN_BLOCK - 1) / SCAN_BLOCK; }

static void exclusive_scan(const int *in, int *out, int n)
{
    int blocks = blocks_of(n), *sums;
    CUDA_CHECK(cudaMalloc(&sums, blocks * sizeof(int)));
    scan_blocks<<<blocks, SCAN_BLOCK>>>(in, out, sums, n);
    CUDA_CHECK(cudaGetLastError());
    if (blocks > 1) {
        exclusive_scan(sums, sums, blocks);
        add_sums<<<blocks, SCAN_BLOCK>>>(out, sums, n);
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaFree(sums)); // waits for the kernels
}

static bool try_size(int n)
{
    std::vector<int> values(n), places(n), kept, expected;
    for (int i = 0; i < n; i++)
        values[i] = (int)(noise(i) * 1000.0f);
    MultipleOf keep = {3};
    int *in, *out, *flags, *compact;
    for (int **p : {&in, &out, &flags, &compact})
        CUDA_CHECK(cudaMalloc(p, n * sizeof(int)));
    CUDA_CHECK(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));

    exclusive_scan(in, out, n);
    CUDA_CHECK(cudaMemcpy(places.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        wrong += places[i] != sum;
        sum += values[i];
        if (keep(values[i]))
            expected.push_back(values[i]);
    }

    mark<<<blocks_of(n), SCAN_BLOCK>>>(in, flags, n, keep);
    exclusive_scan(flags, out, n);
    gather<<<blocks_of(n), SCAN_BLOCK>>>(in, flags, out, compact, n);
    CUDA_CHECK(cudaGetLastError());
    int last_place, last_flag;
    CUDA_CHECK(cudaMemcpy(&last_place, out + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(&last_flag, flags + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
    kept.resize(last_place + last_flag);
    if (!kept.empty())
        CUDA_CHECK(cudaMemcpy(kept.data(), compact, kept.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int *p : {in, out, flags, compact})
        CUDA_CHECK(cudaFree(p));
    printf("%d numbers: total %d, %d wrong; %zu kept, %s\n", n, sum, wrong, kept.size(),
           kept == expected ? "ok" : "WRONG");
    return wrong == 0 && kept == expected;
}

int main()
{
    bool ok = true;
    for (int n : {1, 31, 256, 257, 70000, 200001})
        ok &= try_size(n);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
