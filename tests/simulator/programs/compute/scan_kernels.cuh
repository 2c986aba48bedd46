// SPDX-License-Identifier: Apache-2.0
// Exclusive prefix sum: a scan per block with the blocks' sums, scanned in turn, added
// back. And its use: moving what a predicate keeps to the front, in order.
#pragma once

#define SCAN_BLOCK 256

__device__ int inclusive_in_warp(int value)
{
    for (int delta = 1; delta < warpSize; delta *= 2) {
        int left = __shfl_up_sync(0xffffffff, value, delta);
        if ((int)(threadIdx.x % warpSize) >= delta)
            value += left;
    }
    return value;
}

__global__ void scan_blocks(const int *in, int *out, int *sums, int n)
{
    __shared__ int warp_sums[SCAN_BLOCK / 32];
    int i = blockIdx.x * SCAN_BLOCK + threadIdx.x, value = i < n ? in[i] : 0;
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    int sum = inclusive_in_warp(value);
    if (lane == warpSize - 1)
        warp_sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        int of_warp = lane < SCAN_BLOCK / 32 ? warp_sums[lane] : 0;
        of_warp = inclusive_in_warp(of_warp);
        if (lane < SCAN_BLOCK / 32)
            warp_sums[lane] = of_warp;
    }
    __syncthreads();
    if (warp > 0)
        sum += warp_sums[warp - 1];
    if (i < n)
        out[i] = sum - value;
    if (threadIdx.x == SCAN_BLOCK - 1)
        sums[blockIdx.x] = sum;
}

__global__ void add_sums(int *out, const int *sums, int n)
{
    int i = blockIdx.x * SCAN_BLOCK + threadIdx.x;
    if (i < n)
        out[i] += sums[blockIdx.x];
}

template <typename Keep> __global__ void mark(const int *in, int *flags, int n, Keep keep)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        flags[i] = keep(in[i]);
}

__global__ void gather(const int *in, const int *flags, const int *places, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flags[i])
        out[places[i]] = in[i];
}

struct MultipleOf {
    int of;
    __host__ __device__ bool operator()(int v) const { return v % of == 0; }
};
