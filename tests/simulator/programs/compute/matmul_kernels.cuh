// SPDX-License-Identifier: Apache-2.0
// c = a * b for row-major matrices of any size, a tile of each at a time in shared memory.
#pragma once

template <typename T, int TILE>
__global__ void matmul(const T *a, const T *b, T *c, int rows, int inner, int columns)
{
    __shared__ T tile_a[TILE][TILE], tile_b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    T sum = 0;
    for (int t = 0; t < inner; t += TILE) {
        int ka = t + threadIdx.x, kb = t + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < rows && ka < inner ? a[row * inner + ka] : T(0);
        tile_b[threadIdx.y][threadIdx.x] =
            kb < inner && column < columns ? b[kb * columns + column] : T(0);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
}
