// SPDX-License-Identifier: Apache-2.0
// One round of work on temporary memory.
#pragma once

__global__ void fill_squares(unsigned *v, int n, unsigned from)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v[i] = (from + i) * (from + i);
}

__global__ void add_up(const unsigned *v, int n, unsigned long long *sum)
{
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += v[i];
    for (int delta = 16; delta > 0; delta /= 2)
        mine += __shfl_down_sync(0xffffffff, mine, delta);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, mine);
}
