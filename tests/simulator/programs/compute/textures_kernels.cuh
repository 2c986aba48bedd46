// SPDX-License-Identifier: Apache-2.0
// Reads textures of every shape at given places, and writes a surface.
#pragma once

__global__ void fetch_linear(cudaTextureObject_t t, int first, int n, float *out)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        out[i] = tex1Dfetch<float>(t, first + i);
}

#define SAMPLES(name, place, value, read)                                                  \
    __global__ void name(cudaTextureObject_t t, const place *at, int n, value *out)        \
    {                                                                                      \
        int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);                              \
        if (i < n)                                                                         \
            out[i] = read;                                                                 \
    }
SAMPLES(sample_2d, float2, float, tex2D<float>(t, at[i].x, at[i].y))
SAMPLES(sample_colors, float2, float4, tex2D<float4>(t, at[i].x, at[i].y))
SAMPLES(sample_3d, float3, float, tex3D<float>(t, at[i].x, at[i].y, at[i].z))
SAMPLES(sample_cube, float3, float, texCubemap<float>(t, at[i].x, at[i].y, at[i].z))
SAMPLES(sample_levels, float, float, tex2DLod<float>(t, 0.5f, 0.5f, at[i]))

__global__ void sample_layers(cudaTextureObject_t t, int width, int height, int layer, int *out)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x < width && y < height)
        out[y * width + x] = tex2DLayered<int>(t, x + 0.5f, y + 0.5f, layer);
}

// Turns the picture by a half; reads outside of the surface give 0.
__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x), y = (int)blockIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 c = surf2Dread<uchar4>(from, (width - 1 - x) * 4, height - 1 - y);
    uchar4 none = surf2Dread<uchar4>(from, (x + width) * 4, y, cudaBoundaryModeZero);
    c.w = (unsigned char)(none.x + 7);
    surf2Dwrite(c, to, x * 4, y);
}
