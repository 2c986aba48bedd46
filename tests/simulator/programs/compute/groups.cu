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
    std::vector<int2> tiles(N);
    std::vector<int> blocks(BLOCKS), sixteens(N / 16);
    int2 *pairs;
    int *sums, wrong = 0;
    CUDA_CHECK(cudaMalloc(&pairs, N * sizeof *pairs));
    CUDA_CHECK(cudaMalloc(&sums, (BLOCKS + N / 16) * sizeof *sums));
    tile_sums<<<BLOCKS, THREADS>>>(device, pairs);
    group_sums<<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(device, sums, sums + BLOCKS);
    CUDA_CHECK(cudaMemcpy(tiles.data(), pairs, N * sizeof *pairs, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(blocks.data(), sums, BLOCKS * sizeof *sums, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(sixteens.data(), sums + BLOCKS, N / 16 * sizeof *sums,
                          cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        wrong += tiles[i].x != sum_of(v, i / 8 * 8, 8) || tiles[i].y != sum_of(v, i / 32 * 32, 32);
    for (int i = 0; i < BLOCKS; i++)
        wrong += blocks[i] != sum_of(v, i * THREADS, THREADS);
    for (int i = 0; i < N / 16; i++)
        wrong += sixteens[i] != sum_of(v, i * 16, 16);
    CUDA_CHECK(cudaFree(pairs));
    CUDA_CHECK(cudaFree(sums));
    return wrong;
}

static int wrong_selection(const int *device, std::vector<int> v)
{
    int *kept, *count, found;
    CUDA_CHECK(cudaMalloc(&kept, N * sizeof *kept));
    CUDA_CHECK(cudaMalloc(&count, sizeof *count));
    CUDA_CHECK(cudaMemset(count, 0, sizeof *count));
    keep_positive<<<BLOCKS, THREADS>>>(device, N - 5, kept, count);
    CUDA_CHECK(cudaMemcpy(&found, count, sizeof found, cudaMemcpyDeviceToHost));
    std::vector<int> got(found);
    CUDA_CHECK(cudaMemcpy(got.data(), kept, found * sizeof(int), cudaMemcpyDeviceToHost));
    v.resize(N - 5);
    v.erase(std::remove_if(v.begin(), v.end(), [](int x) { return x <= 0; }), v.end());
    std::sort(v.begin(), v.end());
    std::sort(got.begin(), got.end()); // blocks come in any order
    CUDA_CHECK(cudaFree(kept));
    CUDA_CHECK(cudaFree(count));
    return got != v;
}

static int wrong_grid(void)
{
    const int n = 5000, rounds = 25;
    int per_sm, sms, size = n, times = rounds, wrong = 0;
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, smooth, 128, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    int blocks = std::min(per_sm * sms, 24);
    std::vector<float> now(n), next(n), got(n);
    for (int i = 0; i < n; i++)
        now[i] = noise(i);
    float *a, *b;
    CUDA_CHECK(cudaMalloc(&a, n * sizeof *a));
    CUDA_CHECK(cudaMalloc(&b, n * sizeof *b));
    CUDA_CHECK(cudaMemcpy(a, now.data(), n * sizeof *a, cudaMemcpyHostToDevice));
    void *args[] = {&a, &b, &size, &times};
    CUDA_CHECK(cudaLaunchCooperativeKernel((const void *)smooth, dim3(blocks), dim3(128), args));
    CUDA_CHECK(cudaMemcpy(got.data(), rounds % 2 ? b : a, n * sizeof *a, cudaMemcpyDeviceToHost));
    for (int r = 0; r < rounds; r++, std::swap(now, next))
        for (int i = 0; i < n; i++)
            next[i] = 0.5f * now[i] + 0.25f * (now[i ? i - 1 : n - 1] + now[i + 1 < n ? i + 1 : 0]);
    for (int i = 0; i < n; i++)
        wrong += !(std::fabs(got[i] - now[i]) < 1e-5f);
    CUDA_CHECK(cudaFree(a));
    CUDA_CHECK(cudaFree(b));
    return wrong;
}

int main(void)
{
    std::vector<int> v(N);
    for (int i = 0; i < N; i++)
        v[i] = (int)(noise(i) * 200) - 100;
    int *device;
    CUDA_CHECK(cudaMalloc(&device, N * sizeof *device));
    CUDA_CHECK(cudaMemcpy(device, v.data(), N * sizeof *device, cudaMemcpyHostToDevice));
    int sums = wrong_sums(device, v), selection = wrong_selection(device, v), grid = wrong_grid();
    CUDA_CHECK(cudaFree(device));
    printf("wrong: %d sums of groups, %d selections, %d elements after barriers of the grid\n", sums,
           selection, grid);
    return sums || selection || grid ? EXIT_FAILURE : EXIT_SUCCESS;
}
