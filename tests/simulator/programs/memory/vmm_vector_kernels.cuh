// SPDX-License-Identifier: Apache-2.0
// Appending to a vector, and a check sum of it.
#pragma once

__global__ void append(unsigned *v, size_t from, size_t to)
{
    for (size_t i = from + blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < to;
         i += (size_t)gridDim.x * blockDim.x)
        v[i] = (unsigned)(i * 2654435761u);
}

__global__ void check_sum(const unsigned *v, size_t n, unsigned *sum)
{
    unsigned mine = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        mine ^= v[i] + (unsigned)i;
    atomicXor(sum, mine);
}
