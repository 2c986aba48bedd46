// SPDX-License-Identifier: Apache-2.0
// Histogram of bytes: a count per block in shared memory, then into the device's table.
#pragma once

#define BINS 64

__constant__ unsigned char first_of_bin[BINS]; // ascending; set by the host
__device__ unsigned histogram[BINS];
__device__ unsigned rounds_done = 100; // counts on from here
__managed__ int busiest = -1;

namespace text {
__device__ unsigned long long bytes_seen;
}

__device__ int bin_of(unsigned char value)
{
    int low = 0, high = BINS - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (first_of_bin[middle] <= value)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

__global__ void count_bytes(const unsigned char *data, int n)
{
    __shared__ unsigned counts[BINS];
    for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x)
        counts[b] = 0;
    __syncthreads();
    unsigned mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[bin_of(data[i])], 1u);
        mine++;
    }
    __syncthreads();
    for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x)
        if (counts[b])
            atomicAdd(&histogram[b], counts[b]);
    atomicAdd(&text::bytes_seen, (unsigned long long)mine);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        rounds_done++;
}

__global__ void find_busiest()
{
    unsigned best = (histogram[threadIdx.x] << 6 | (BINS - 1 - threadIdx.x));
    best = max(best, histogram[threadIdx.x + 32] << 6 | (BINS - 33 - threadIdx.x));
    for (int lanes = 16; lanes > 0; lanes /= 2)
        best = max(best, __shfl_xor_sync(0xffffffff, best, lanes));
    if (threadIdx.x == 0)
        busiest = BINS - 1 - (int)(best & 63);
}
