// SPDX-License-Identifier: Apache-2.0
// y = a * x + y on managed memory, and a sum that counts itself in a managed variable.
#pragma once

__managed__ unsigned long long total = 1;

__global__ void axpy(float a, const float *x, float *y, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

__global__ void sum_up(const float *x, size_t n)
{
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        mine += (unsigned long long)x[i];
    atomicAdd(&total, mine);
}
