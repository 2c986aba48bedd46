// SPDX-License-Identifier: Apache-2.0
// Prefix sum over as many blocks as it takes (the blocks' sums are scanned the same way),
// and stream compaction with it.
#include <vector>

#include "program.h"
#include "scan_kernels.cuh"

static int blocks_of(int n) { return (n + SCAN_BLOCK - 1) / SCAN_BLOCK; }

static void exclusive_scan(const int *in, int *out, int n)
{
    int blocks = blocks_of(n);
    Device<int> sums(blocks);
    scan_blocks<<<blocks, SCAN_BLOCK>>>(in, out, sums, n);
    CUDA_CHECK(cudaGetLastError());
    if (blocks > 1) {
        exclusive_scan(sums, sums, blocks);
        add_sums<<<blocks, SCAN_BLOCK>>>(out, sums, n);
        CUDA_CHECK(cudaGetLastError());
    }
}

static bool try_size(int n)
{
    std::vector<int> values(n), places(n), kept, expected;
    for (int i = 0; i < n; i++)
        values[i] = (int)(noise(i) * 1000.0f);
    MultipleOf keep = {3};
    Device<int> in(values), out(n), flags(n), compact(n);

    exclusive_scan(in, out, n);
    places = out.get();
    int wrong = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        wrong += places[i] != sum;
        sum += values[i];
        if (keep(values[i]))
            expected.push_back(values[i]);
    }

    mark<<<blocks_of(n), SCAN_BLOCK>>>(in.p, flags.p, n, keep);
    exclusive_scan(flags, out, n);
    gather<<<blocks_of(n), SCAN_BLOCK>>>(in, flags, out, compact, n);
    CUDA_CHECK(cudaGetLastError());
    kept = compact.first(out.get().back() + flags.get().back());
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
