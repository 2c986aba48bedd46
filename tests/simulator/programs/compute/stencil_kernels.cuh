// SPDX-License-Identifier: Apache-2.0
// One Jacobi step of the heat equation on a plate whose edge keeps its temperature.
#pragma once

#define STENCIL_X 32
#define STENCIL_Y 8

__global__ void heat_step(float *__restrict__ to, const float *__restrict__ from, int width,
                          int height, float k)
{
    __shared__ float near_by[STENCIL_Y + 2][STENCIL_X + 2];
    int x = blockIdx.x * STENCIL_X + threadIdx.x, y = blockIdx.y * STENCIL_Y + threadIdx.y;
    int sx = threadIdx.x + 1, sy = threadIdx.y + 1;
    int cx = min(x, width - 1), cy = min(y, height - 1);
    near_by[sy][sx] = from[cy * width + cx];
    if (threadIdx.x == 0)
        near_by[sy][0] = from[cy * width + max(cx - 1, 0)];
    if (threadIdx.x == STENCIL_X - 1 || x == width - 1)
        near_by[sy][sx + 1] = from[cy * width + min(cx + 1, width - 1)];
    if (threadIdx.y == 0)
        near_by[0][sx] = from[max(cy - 1, 0) * width + cx];
    if (threadIdx.y == STENCIL_Y - 1 || y == height - 1)
        near_by[sy + 1][sx] = from[min(cy + 1, height - 1) * width + cx];
    __syncthreads();
    if (x >= width || y >= height)
        return;
    float here = near_by[sy][sx];
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        here += k * (near_by[sy - 1][sx] + near_by[sy + 1][sx] + near_by[sy][sx - 1] +
                     near_by[sy][sx + 1] - 4.0f * here);
    to[y * width + x] = here;
}

// Absolute difference of two plates, its largest value into *most.
__global__ void largest_difference(const float *a, const float *b, int n, unsigned *most)
{
    float mine = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine = fmaxf(mine, fabsf(a[i] - b[i]));
    for (int lanes = 16; lanes > 0; lanes >>= 1)
        mine = fmaxf(mine, __shfl_xor_sync(0xffffffff, mine, lanes));
    if ((threadIdx.x & 31) == 0)
        atomicMax(most, __float_as_uint(mine)); // of numbers >= 0 the bits are in order, too
}
