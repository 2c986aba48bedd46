// SPDX-License-Identifier: Apache-2.0
// Sums by cooperative groups of several sizes, a selection by the lanes that agree, and a
// cooperative launch whose blocks wait for each other; all compared with loops on the host.
#include <algorithm>
#include <cmath>
#include <vector>

#include "groups_kernels.cuh"
#include "program.h"

static const int BLOCKS = 6, THREADS = 256, N = BLOCKS * THREADS;

static int sum_of(const std::vector<int> &v, int first, int count)
{
    int sum = 0;
    for (int i = first; i < first + count; i++)
        sum += v[i];
    return sum;
}

static int wrong_sums(const int *device, const std::vector<int> &v)
{
    Device<int2> pairs(N);
    Device<int> block_sums(BLOCKS), sums_of_16(N / 16);
    int wrong = 0;
    tile_sums<<<BLOCKS, THREADS>>>(device, pairs);
    group_sums<<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(device, block_sums, sums_of_16);
    std::vector<int2> tiles = pairs.get();
    std::vector<int> blocks = block_sums.get(), sixteens = sums_of_16.get();
    for (int i = 0; i < N; i++)
        wrong += tiles[i].x != sum_of(v, i / 8 * 8, 8) || tiles[i].y != sum_of(v, i / 32 * 32, 32);
    for (int i = 0; i < BLOCKS; i++)
        wrong += blocks[i] != sum_of(v, i * THREADS, THREADS);
    for (int i = 0; i < N / 16; i++)
        wrong += sixteens[i] != sum_of(v, i * 16, 16);
    return wrong;
}

static int wrong_selection(const int *device, std::vector<int> v)
{
    Device<int> kept(N), count(1);
    count.clear();
    keep_positive<<<BLOCKS, THREADS>>>(device, N - 5, kept, count);
    std::vector<int> got = kept.first(count.get()[0]);
    v.resize(N - 5);
    v.erase(std::remove_if(v.begin(), v.end(), [](int x) { return x <= 0; }), v.end());
    std::sort(v.begin(), v.end());
    std::sort(got.begin(), got.end()); // blocks come in any order
    return got != v;
}

static int wrong_grid(void)
{
    const int n = 5000, rounds = 25;
    int per_sm, sms, size = n, times = rounds, wrong = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, smooth, 128, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    int blocks = std::min(per_sm * sms, 24);
    std::vector<float> now(n), next(n);
    for (int i = 0; i < n; i++)
        now[i] = noise(i);
    Device<float> a(now), b(n);
    void *args[] = {&a.p, &b.p, &size, &times};
    CUDA_CHECK(cudaLaunchCooperativeKernel((const void *)smooth, dim3(blocks), dim3(128), args));
    std::vector<float> got = rounds % 2 ? b.get() : a.get();
    for (int r = 0; r < rounds; r++, std::swap(now, next))
        for (int i = 0; i < n; i++)
            next[i] = 0.5f * now[i] + 0.25f * (now[i ? i - 1 : n - 1] + now[i + 1 < n ? i + 1 : 0]);
    for (int i = 0; i < n; i++)
        wrong += !(std::fabs(got[i] - now[i]) < 1e-5f);
    return wrong;
}

int main(void)
{
    std::vector<int> v(N);
    for (int i = 0; i < N; i++)
        v[i] = (int)(noise(i) * 200) - 100;
    Device<int> device(v);
    int sums = wrong_sums(device, v), selection = wrong_selection(device, v), grid = wrong_grid();
    printf("wrong: %d sums of groups, %d selections, %d elements after barriers of the grid\n", sums,
           selection, grid);
    return sums || selection || grid ? EXIT_FAILURE : EXIT_SUCCESS;
}
