// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles within a block, lanes that happen to run together, parts of a
// warp by label, and barriers of the whole grid.
#pragma once
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// The sum of a tile, in all of its threads.
template <typename Tile> __device__ int tile_sum(const Tile &tile, int v)
{
    for (unsigned d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    return v;
}

// out[i]: the sum of v over the tile of 8 and over the warp that i is in.
__global__ void tile_sums(const int *v, int2 *out)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto eight = cg::tiled_partition<8>(warp);
    unsigned i = block.group_index().x * block.size() + block.thread_rank();
    int small = tile_sum(eight, v[i]);
    // the first thread of each tile of 8 has its part of the warp's sum
    int all = tile_sum(warp, eight.thread_rank() == 0 ? small : 0);
    out[i] = make_int2(small, all);
}

// Any group by its common type: the sum of x over it, by a tree in shared memory.
__device__ int tree_sum(cg::thread_group group, int *x, int v)
{
    unsigned lane = (unsigned)group.thread_rank();
    for (unsigned i = (unsigned)group.size() / 2; i > 0; i /= 2) {
        x[lane] = v;
        group.sync();
        if (lane < i)
            v += x[lane + i];
        group.sync();
    }
    return v; // right in the first thread
}

__global__ void group_sums(const int *v, int *block_sums, int *tile_sums)
{
    extern __shared__ int scratch[];
    cg::thread_block block = cg::this_thread_block();
    int mine = v[blockIdx.x * blockDim.x + threadIdx.x];
    int sum = tree_sum(block, scratch, mine);
    if (block.thread_rank() == 0)
        block_sums[blockIdx.x] = sum;
    cg::thread_group tile = cg::tiled_partition(block, 16);
    unsigned first = block.thread_rank() / 16 * 16;
    sum = tree_sum(tile, scratch + first, mine);
    if (tile.thread_rank() == 0)
        tile_sums[blockIdx.x * (blockDim.x / 16) + first / 16] = sum;
}

// Keeps the positive numbers: the lanes that found one take their places with one atomic.
__global__ void keep_positive(const int *v, int n, int *kept, int *count)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n && v[i] > 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0)
            first = atomicAdd(count, (int)active.size());
        first = active.shfl(first, 0);
        kept[first + active.thread_rank()] = v[i];
    }
}

// Rounds of a neighbour sum over the whole grid, which waits between them.
__global__ void smooth(float *a, float *b, int n, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; r++) {
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
            b[i] = 0.5f * a[i] + 0.25f * (a[i ? i - 1 : n - 1] + a[i + 1 < n ? i + 1 : 0]);
        grid.sync();
        float *t = a;
        a = b;
        b = t;
    }
}
