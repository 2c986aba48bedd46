// SPDX-License-Identifier: Apache-2.0
// Separable blur of a pitched image with weights in constant memory.
#pragma once

#define RADIUS 2
#define ROW_BLOCK 64

__constant__ float weights[2 * RADIUS + 1] = {1 / 16.0f, 4 / 16.0f, 6 / 16.0f, 4 / 16.0f, 1 / 16.0f};

__device__ __forceinline__ int clamp_to(int v, int size) { return min(max(v, 0), size - 1); }

__global__ void blur_rows(const uchar4 *in, size_t in_pitch, float4 *out, size_t out_pitch,
                          int width, int height)
{
    __shared__ uchar4 row[ROW_BLOCK + 2 * RADIUS];
    int x = blockIdx.x * ROW_BLOCK + threadIdx.x, y = blockIdx.y;
    const uchar4 *line = (const uchar4 *)((const char *)in + y * in_pitch);
    for (int i = threadIdx.x; i < ROW_BLOCK + 2 * RADIUS; i += ROW_BLOCK)
        row[i] = line[clamp_to((int)(blockIdx.x * ROW_BLOCK) + i - RADIUS, width)];
    __syncthreads();
    if (x >= width || y >= height)
        return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = -RADIUS; k <= RADIUS; k++) {
        uchar4 p = row[threadIdx.x + RADIUS + k];
        float w = weights[k + RADIUS];
        sum.x += w * p.x;
        sum.y += w * p.y;
        sum.z += w * p.z;
        sum.w += w * p.w;
    }
    ((float4 *)((char *)out + y * out_pitch))[x] = sum;
}

__global__ void blur_columns(const float4 *in, size_t in_pitch, uchar4 *out, size_t out_pitch,
                             int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = -RADIUS; k <= RADIUS; k++) {
        const char *line = (const char *)in + clamp_to(y + k, height) * in_pitch;
        float4 p = ((const float4 *)line)[x];
        float w = weights[k + RADIUS];
        sum.x += w * p.x;
        sum.y += w * p.y;
        sum.z += w * p.z;
        sum.w += w * p.w;
    }
    uchar4 rounded = make_uchar4(__float2int_rn(sum.x), __float2int_rn(sum.y),
                                 __float2int_rn(sum.z), __float2int_rn(sum.w));
    ((uchar4 *)((char *)out + y * out_pitch))[x] = rounded;
}
