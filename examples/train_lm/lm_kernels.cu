/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels as device code: one __global__ wrapper per entry of LM_KERNELS
 * around the shared bodies, and the tiled matrix product. Compiled by nvcc
 * only; lm_kernels_plain.c replaces it if there is no nvcc, and lm_kernels_host.c
 * contains the host functions for the simulated GPU. */
#include "lm_kernel_args.h"
#include "lm_kernel_bodies.h"
#include "lm_kernels.h"

#define LM_WARP 32

/* One warp per row: threadIdx.x is the lane, threadIdx.y the row in the block. */
#define LM_ROW_KERNEL(name)                                                                        \
    extern "C" __global__ void lm_##name(struct lm_##name##_args a)                                \
    {                                                                                              \
        size_t row = (size_t)blockIdx.x * LM_ROWS_PER_BLOCK + threadIdx.y;                         \
        if (row < a.count)                                                                         \
            name##_row(&a, row, threadIdx.x, LM_WARP);                                             \
    }

#define LM_ELEMENT_KERNEL(name)                                                                    \
    extern "C" __global__ void lm_##name(struct lm_##name##_args a)                                \
    {                                                                                              \
        size_t first = (size_t)blockIdx.x * LM_ELEMENTS_PER_BLOCK;                                 \
        for (size_t i = threadIdx.x; i < LM_ELEMENTS_PER_BLOCK; i += blockDim.x)                   \
            if (first + i < a.count)                                                               \
                name##_at(&a, first + i);                                                          \
    }

/* 32 x 32 threads: column by slice of the rows. The slices' sums are added in
 * the order of a binary tree, whatever order the warps run in. */
#define LM_COLUMN_KERNEL(name)                                                                     \
    extern "C" __global__ void __launch_bounds__(LM_COLUMNS_PER_BLOCK * LM_COLUMNS_PER_BLOCK)      \
        lm_##name(struct lm_##name##_args a)                                                       \
    {                                                                                              \
        __shared__ float part0[LM_COLUMNS_PER_BLOCK][LM_COLUMNS_PER_BLOCK + 1];                    \
        __shared__ float part1[LM_COLUMNS_PER_BLOCK][LM_COLUMNS_PER_BLOCK + 1];                    \
        unsigned x = threadIdx.x, y = threadIdx.y;                                                 \
        size_t column = (size_t)blockIdx.x * LM_COLUMNS_PER_BLOCK + x;                             \
        float sum0 = 0.0f, sum1 = 0.0f;                                                            \
        if (column < a.count)                                                                      \
            name##_partial(&a, column, 1, y, LM_COLUMNS_PER_BLOCK, &sum0, &sum1);                  \
        part0[y][x] = sum0;                                                                        \
        part1[y][x] = sum1;                                                                        \
        for (unsigned half = LM_COLUMNS_PER_BLOCK / 2; half > 0; half /= 2) {                      \
            __syncthreads();                                                                       \
            if (y < half) {                                                                        \
                part0[y][x] += part0[y + half][x];                                                 \
                part1[y][x] += part1[y + half][x];                                                 \
            }                                                                                      \
        }                                                                                          \
        if (y == 0 && column < a.count)                                                            \
            name##_finish(&a, column, part0[0][x], part1[0][x]);                                   \
    }

#define LM_TILE_KERNEL(name) /* below */

LM_KERNELS(LM_ROW_KERNEL, LM_ELEMENT_KERNEL, LM_COLUMN_KERNEL, LM_TILE_KERNEL)

/* --- matrix product ------------------------------------------------------- */

#define LM_GEMM_DEPTH 16 /* columns of a, rows of b in shared memory at a time */
#define LM_GEMM_EDGE  16 /* threads along each edge of a tile */
#define LM_GEMM_EACH  4  /* LM_GEMM_TILE / LM_GEMM_EDGE outputs per thread and edge */

/* Copies *depth* x LM_GEMM_TILE elements to shared memory, zero outside the
 * matrix. Neighbouring threads read along whichever stride is 1. */
LM_BODY void gemm_load(const struct lm_matrix *m, size_t offset, size_t lines, size_t line,
                       long line_stride, size_t depths, size_t depth, long depth_stride,
                       float (*tile)[LM_GEMM_TILE + 4])
{
    for (unsigned e = threadIdx.x; e < LM_GEMM_TILE * LM_GEMM_DEPTH; e += blockDim.x) {
        unsigned i = depth_stride == 1 ? e / LM_GEMM_DEPTH : e % LM_GEMM_TILE;
        unsigned k = depth_stride == 1 ? e % LM_GEMM_DEPTH : e / LM_GEMM_TILE;
        bool inside = line + i < lines && depth + k < depths;
        tile[k][i] = inside ? lm_load(m->data, m->type,
                                      offset + (line + i) * line_stride + (depth + k) * depth_stride)
                            : 0.0f;
    }
}

extern "C" __global__ void __launch_bounds__(LM_GEMM_EDGE * LM_GEMM_EDGE)
    lm_gemm(struct lm_gemm_args g)
{
    __shared__ float tile_a[LM_GEMM_DEPTH][LM_GEMM_TILE + 4];
    __shared__ float tile_b[LM_GEMM_DEPTH][LM_GEMM_TILE + 4];
    size_t tiles = g.tiles_m * g.tiles_n, z = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    size_t row = tile / g.tiles_n * LM_GEMM_TILE, column = tile % g.tiles_n * LM_GEMM_TILE;
    size_t outer = z / g.inner_count, inner = z % g.inner_count;
    size_t offset_a = outer * g.a.outer + inner * g.a.inner;
    size_t offset_b = outer * g.b.outer + inner * g.b.inner;
    size_t offset_c = outer * g.c.outer + inner * g.c.inner;
    unsigned x = threadIdx.x % LM_GEMM_EDGE, y = threadIdx.x / LM_GEMM_EDGE;
    float sum[LM_GEMM_EACH][LM_GEMM_EACH] = {};

    for (size_t depth = 0; depth < g.k; depth += LM_GEMM_DEPTH) {
        gemm_load(&g.a, offset_a, g.m, row, g.a.row, g.k, depth, g.a.column, tile_a);
        gemm_load(&g.b, offset_b, g.n, column, g.b.column, g.k, depth, g.b.row, tile_b);
        __syncthreads();
#pragma unroll
        for (unsigned k = 0; k < LM_GEMM_DEPTH; k++)
#pragma unroll
            for (unsigned i = 0; i < LM_GEMM_EACH; i++)
#pragma unroll
                for (unsigned j = 0; j < LM_GEMM_EACH; j++)
                    sum[i][j] += tile_a[k][y * LM_GEMM_EACH + i] * tile_b[k][x * LM_GEMM_EACH + j];
        __syncthreads();
    }
#pragma unroll
    for (unsigned i = 0; i < LM_GEMM_EACH; i++) {
        size_t r = row + y * LM_GEMM_EACH + i;
#pragma unroll
        for (unsigned j = 0; j < LM_GEMM_EACH; j++) {
            size_t c = column + x * LM_GEMM_EACH + j;
            if (r >= g.m || c >= g.n)
                continue;
            size_t at = offset_c + r * g.c.row + c * g.c.column;
            float value = sum[i][j] + (g.bias ? g.bias[c] : 0.0f);
            if (g.accumulate)
                value += lm_load(g.c.data, g.c.type, at);
            lm_store(g.c.data, g.c.type, at, value);
        }
    }
}

/* --- functions for launches ------------------------------------------------ */

extern "C" const int lm_kernels_have_device_code = 1;

extern "C" const void *lm_kernel_symbol(enum lm_kernel_id id)
{
#define LM_SYMBOL(name) (const void *)lm_##name,
    static const void *const symbols[] = {LM_KERNELS(LM_SYMBOL, LM_SYMBOL, LM_SYMBOL, LM_SYMBOL)};
#undef LM_SYMBOL
    return symbols[id];
}
