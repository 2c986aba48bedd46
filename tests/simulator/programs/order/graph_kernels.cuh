// SPDX-License-Identifier: Apache-2.0
// Steps of a random walk's statistics, small enough that launching costs more than running.
#pragma once

__global__ void scale_add(const float *in, float *out, int n, float scale, float add)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * scale + add;
}

__global__ void multiply(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] * b[i];
}

// *sum += all of *in, by one block.
__global__ void accumulate(const float *in, int n, double *sum)
{
    __shared__ double part[128];
    double mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine += in[i];
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *sum += part[0];
}
