// SPDX-License-Identifier: Apache-2.0
#pragma once

__global__ void ramp(float *to, int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = i * step;
}

__global__ void blend(const float *a, const float *b, float *to, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = (a[i] + b[i]) / 2;
}

__global__ void tally(const float *from, int count, unsigned *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&bins[(int)from[i] % 16], 1u);
}

__global__ void total(const unsigned *bins, unsigned *sum)
{
    unsigned all = 0;
    for (int i = 0; i < 16; i++)
        all += bins[i];
    *sum = all;
}
