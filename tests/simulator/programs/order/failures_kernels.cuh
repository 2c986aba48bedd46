// SPDX-License-Identifier: Apache-2.0
// Kernels that fail on purpose.
#pragma once
#undef NDEBUG // a release build compiles the assertions out that are tested here
#include <cassert>

__global__ void check_below(const int *v, int n, int limit)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        assert(v[i] < limit);
}

__global__ void stop_at(int thread)
{
    if ((int)threadIdx.x == thread)
        __trap();
}

// Threads wait for the others, some of which fail.
__global__ void fail_before_barrier(const int *v)
{
    assert(v[threadIdx.x] >= 0);
    __syncthreads();
}

__global__ void add_one(int *v, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        v[i]++;
}
