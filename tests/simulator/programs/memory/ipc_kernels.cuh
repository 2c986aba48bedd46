// SPDX-License-Identifier: Apache-2.0
// What the producer writes and the consumer makes of it, in the same memory.
#pragma once

__global__ void produce(unsigned *v, int n, unsigned round)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = i * 3u + round * 1000003u;
}

__global__ void consume(unsigned *v, int n, unsigned round, unsigned *wrong)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (v[i] != i * 3u + round * 1000003u)
        atomicAdd(wrong, 1u);
    v[i] = ~v[i]; // the producer sees this
}
