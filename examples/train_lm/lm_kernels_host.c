/* SPDX-License-Identifier: Apache-2.0
 *
 * The host functions of the kernels for the simulated GPU: the shared bodies in plain loops
 * over a range of thread blocks, and a matrix product whose inner loop is one
 * vector register wide. Compiled by the C compiler in every build, so that all
 * builds of the program compute the same bits. Called from the simulator's
 * worker threads; blocks write disjoint outputs, and no result depends on how
 * the blocks are divided among the workers. */
#include "lm_kernel_args.h"
#include "lm_kernel_bodies.h"
#include "lm_kernels.h"

#include <vramscope_simulator.h>

/* The hot loops once per instruction set, chosen when the program starts. Not
 * under a sanitizer: the chooser would run before the sanitizer is ready. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LM_CLONES
#endif

static inline unsigned long lesser(unsigned long a, unsigned long b)
{
    return a < b ? a : b;
}

/* --- kernels with shared bodies -------------------------------------------- */

/* The arguments are copied to a local that nothing else can point to, so that
 * the compiler keeps them in registers. */
#define LM_ROW_HOST(name)                                                                          \
    LM_CLONES static void host_##name(const struct vramscope_sim_launch *launch,                   \
                                      unsigned long first, unsigned long last)                     \
    {                                                                                              \
        const struct lm_##name##_args a = *(const struct lm_##name##_args *)launch->args[0];       \
        unsigned long end = lesser(last * LM_ROWS_PER_BLOCK, a.count);                             \
        for (unsigned long row = first * LM_ROWS_PER_BLOCK; row < end; row++)                      \
            name##_row(&a, row, 0, 1);                                                             \
    }

/* One loop per element type: a branch inside would keep it from being
 * vectorised. */
#define LM_ELEMENT_HOST(name)                                                                      \
    LM_CLONES static void host_##name(const struct vramscope_sim_launch *launch,                   \
                                      unsigned long first, unsigned long last)                     \
    {                                                                                              \
        struct lm_##name##_args a = *(const struct lm_##name##_args *)launch->args[0];             \
        unsigned long end = lesser(last * LM_ELEMENTS_PER_BLOCK, a.count);                         \
        if (a.type == LM_FP32) {                                                                   \
            a.type = LM_FP32;                                                                      \
            for (unsigned long i = first * LM_ELEMENTS_PER_BLOCK; i < end; i++)                    \
                name##_at(&a, i);                                                                  \
        } else {                                                                                   \
            a.type = LM_BF16;                                                                      \
            for (unsigned long i = first * LM_ELEMENTS_PER_BLOCK; i < end; i++)                    \
                name##_at(&a, i);                                                                  \
        }                                                                                          \
    }

#define LM_COLUMN_HOST(name)                                                                       \
    LM_CLONES static void host_##name(const struct vramscope_sim_launch *launch,                   \
                                      unsigned long first, unsigned long last)                     \
    {                                                                                              \
        const struct lm_##name##_args a = *(const struct lm_##name##_args *)launch->args[0];       \
        for (unsigned long block = first; block < last; block++) {                                 \
            float sum0[LM_COLUMNS_PER_BLOCK] = {0}, sum1[LM_COLUMNS_PER_BLOCK] = {0};              \
            unsigned long column = block * LM_COLUMNS_PER_BLOCK;                                   \
            unsigned long columns = lesser(LM_COLUMNS_PER_BLOCK, a.count - column);                \
            name##_partial(&a, column, columns, 0, 1, sum0, sum1);                                 \
            for (unsigned long c = 0; c < columns; c++)                                            \
                name##_finish(&a, column + c, sum0[c], sum1[c]);                                   \
        }                                                                                          \
    }

#define LM_TILE_HOST(name) /* below */

LM_KERNELS(LM_ROW_HOST, LM_ELEMENT_HOST, LM_COLUMN_HOST, LM_TILE_HOST)

/* --- matrix product ------------------------------------------------------- */

/* A tile of the output is made from panels packed into float: GEMM_ROWS rows of
 * a and GEMM_COLUMNS columns of b, at most GEMM_DEPTH deep. A panel of a times a
 * panel of b is GEMM_ROWS accumulators of one vector each. */
#define GEMM_ROWS    4
#define GEMM_COLUMNS 16
#define GEMM_DEPTH   128

typedef float gemm_vector __attribute__((vector_size(GEMM_COLUMNS * sizeof(float))));

/* Packs *lines* <= LM_GEMM_TILE rows (of a) or columns (of b), *depth* deep,
 * into panels of *width* lines: panel[line / width][k][line % width]. Lines
 * missing from the last panel become zero. */
LM_BODY void gemm_pack(const struct lm_matrix *m, int type, size_t offset, long line_stride,
                       long depth_stride, size_t lines, size_t depth, size_t width, float *panels)
{
    for (size_t line = 0; line < lines; line += width) {
        float *panel = panels + line * GEMM_DEPTH;
        size_t present = lesser(width, lines - line);
        if (present < width)
            memset(panel, 0, depth * width * sizeof *panel);
        if (line_stride == 1) {
            for (size_t k = 0; k < depth; k++)
                for (size_t i = 0; i < present; i++)
                    panel[k * width + i] =
                        lm_load(m->data, type, offset + line + i + k * (size_t)depth_stride);
        } else {
            for (size_t i = 0; i < present; i++)
                for (size_t k = 0; k < depth; k++)
                    panel[k * width + i] =
                        lm_load(m->data, type,
                                offset + (line + i) * (size_t)line_stride +
                                    k * (size_t)depth_stride);
        }
    }
}

/* sums[i][j] += panel_a times panel_b, over *depth* */
LM_BODY void gemm_multiply(const float *panel_a, const float *panel_b, size_t depth, float *sums)
{
    gemm_vector s0, s1, s2, s3;
    memcpy(&s0, sums + 0 * LM_GEMM_TILE, sizeof s0);
    memcpy(&s1, sums + 1 * LM_GEMM_TILE, sizeof s1);
    memcpy(&s2, sums + 2 * LM_GEMM_TILE, sizeof s2);
    memcpy(&s3, sums + 3 * LM_GEMM_TILE, sizeof s3);
    for (size_t k = 0; k < depth; k++) {
        gemm_vector b;
        memcpy(&b, panel_b + k * GEMM_COLUMNS, sizeof b);
        const float *a = panel_a + k * GEMM_ROWS;
        s0 += a[0] * b;
        s1 += a[1] * b;
        s2 += a[2] * b;
        s3 += a[3] * b;
    }
    memcpy(sums + 0 * LM_GEMM_TILE, &s0, sizeof s0);
    memcpy(sums + 1 * LM_GEMM_TILE, &s1, sizeof s1);
    memcpy(sums + 2 * LM_GEMM_TILE, &s2, sizeof s2);
    memcpy(sums + 3 * LM_GEMM_TILE, &s3, sizeof s3);
}

LM_BODY void gemm_write(const struct lm_gemm_args *g, int type, size_t offset, size_t column,
                        size_t rows, size_t columns, const float *sums)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            size_t at = offset + i * (size_t)g->c.row + j * (size_t)g->c.column;
            float value = sums[i * LM_GEMM_TILE + j] + (g->bias ? g->bias[column + j] : 0.0f);
            if (g->accumulate)
                value += lm_load(g->c.data, type, at);
            lm_store(g->c.data, type, at, value);
        }
    }
}

LM_BODY void gemm_pack_either(const struct lm_matrix *m, size_t offset, long line_stride,
                              long depth_stride, size_t lines, size_t depth, size_t width,
                              float *panels)
{
    if (m->type == LM_BF16)
        gemm_pack(m, LM_BF16, offset, line_stride, depth_stride, lines, depth, width, panels);
    else
        gemm_pack(m, LM_FP32, offset, line_stride, depth_stride, lines, depth, width, panels);
}

static inline size_t matrix_offset(const struct lm_matrix *m, size_t z, size_t inner_count)
{
    return z / inner_count * (size_t)m->outer + z % inner_count * (size_t)m->inner;
}

LM_BODY void gemm_tile(const struct lm_gemm_args *g, size_t block)
{
    float panels_a[LM_GEMM_TILE * GEMM_DEPTH] __attribute__((aligned(64)));
    float panels_b[LM_GEMM_TILE * GEMM_DEPTH] __attribute__((aligned(64)));
    float sums[LM_GEMM_TILE * LM_GEMM_TILE] __attribute__((aligned(64))) = {0};
    size_t tiles = g->tiles_m * g->tiles_n, z = block / tiles, tile = block % tiles;
    size_t row = tile / g->tiles_n * LM_GEMM_TILE, column = tile % g->tiles_n * LM_GEMM_TILE;
    size_t rows = lesser(LM_GEMM_TILE, g->m - row), columns = lesser(LM_GEMM_TILE, g->n - column);
    size_t a = matrix_offset(&g->a, z, g->inner_count) + row * (size_t)g->a.row;
    size_t b = matrix_offset(&g->b, z, g->inner_count) + column * (size_t)g->b.column;
    size_t c = matrix_offset(&g->c, z, g->inner_count) + row * (size_t)g->c.row +
               column * (size_t)g->c.column;

    for (size_t k = 0; k < g->k; k += GEMM_DEPTH) {
        size_t depth = lesser(GEMM_DEPTH, g->k - k);
        gemm_pack_either(&g->a, a + k * (size_t)g->a.column, g->a.row, g->a.column, rows, depth,
                         GEMM_ROWS, panels_a);
        gemm_pack_either(&g->b, b + k * (size_t)g->b.row, g->b.column, g->b.row, columns, depth,
                         GEMM_COLUMNS, panels_b);
        for (size_t j = 0; j < columns; j += GEMM_COLUMNS)
            for (size_t i = 0; i < rows; i += GEMM_ROWS)
                gemm_multiply(panels_a + i * GEMM_DEPTH, panels_b + j * GEMM_DEPTH, depth,
                              sums + i * LM_GEMM_TILE + j);
    }
    if (g->c.type == LM_BF16)
        gemm_write(g, LM_BF16, c, column, rows, columns, sums);
    else
        gemm_write(g, LM_FP32, c, column, rows, columns, sums);
}

LM_CLONES static void host_gemm(const struct vramscope_sim_launch *launch, unsigned long first,
                                unsigned long last)
{
    const struct lm_gemm_args g = *(const struct lm_gemm_args *)launch->args[0];
    for (unsigned long block = first; block < last; block++)
        gemm_tile(&g, block);
}

/* --- registration --------------------------------------------------------- */

int lm_kernels_register_host(void)
{
#define LM_ENTRY(name) {"lm_" #name, host_##name, sizeof(struct lm_##name##_args)},
    static const struct {
        const char *name;
        vramscope_sim_kernel run;
        size_t arg_bytes;
    } kernels[] = {LM_KERNELS(LM_ENTRY, LM_ENTRY, LM_ENTRY, LM_ENTRY)};
#undef LM_ENTRY
    int registered = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        registered +=
            vramscope_sim_register(kernels[i].name, kernels[i].run, &kernels[i].arg_bytes, 1);
    return registered == LM_KERNEL_COUNT;
}
