/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between the program and its kernels: the list of kernels and the
 * argument struct of each, passed by value. Every struct begins with `count`,
 * the number of independent pieces of work (rows, elements, columns, tiles), so
 * that a launch can size its grid without knowing the kernel. Included by C and
 * by CUDA C++ sources; pointers are device pointers. */
#ifndef LM_KERNEL_ARGS_H
#define LM_KERNEL_ARGS_H

/* Every kernel of the program, as LM_KERNELS(ROW, ELEMENT, COLUMN, TILE).
 *   ROW(name):     name_row(args, row, lane, lanes), one warp per row
 *   ELEMENT(name): name_at(args, i), one thread per element
 *   COLUMN(name):  name_partial(...) and name_finish(...): sums down the columns
 *                  of a matrix, 32 columns per thread block
 *   TILE(name):    written by hand, one thread block per output tile
 * The device code's name is lm_<name>, its argument struct lm_<name>_args. */
#define LM_KERNELS(ROW, ELEMENT, COLUMN, TILE)                                                     \
    ROW(embed_forward)                                                                             \
    ROW(embed_backward_tokens)                                                                     \
    ROW(embed_backward_positions)                                                                  \
    ROW(layernorm_forward)                                                                         \
    ROW(layernorm_backward)                                                                        \
    COLUMN(layernorm_backward_params)                                                              \
    COLUMN(bias_backward)                                                                          \
    ROW(softmax_forward)                                                                           \
    ROW(softmax_backward)                                                                          \
    ELEMENT(gelu_forward)                                                                          \
    ELEMENT(gelu_backward)                                                                         \
    ELEMENT(add)                                                                                   \
    ROW(cross_entropy_forward)                                                                     \
    ROW(cross_entropy_backward)                                                                    \
    ROW(sum_losses)                                                                                \
    ELEMENT(adam_step)                                                                             \
    ELEMENT(sgd_step)                                                                              \
    TILE(gemm)

enum lm_kernel_id {
#define LM_ID(name) LM_K_##name,
    LM_KERNELS(LM_ID, LM_ID, LM_ID, LM_ID)
#undef LM_ID
        LM_KERNEL_COUNT
};

/* How the elements of a buffer are stored. Arithmetic is in float either way. */
enum lm_type { LM_FP32 = 0, LM_BF16 = 1 };

#define LM_ROWS_PER_BLOCK     8    /* ROW kernels: warps in a block */
#define LM_ELEMENTS_PER_BLOCK 1024 /* ELEMENT kernels: 256 threads, four elements each */
#define LM_COLUMNS_PER_BLOCK  32   /* COLUMN kernels: 32 columns by 32 slices of the rows */
#define LM_GEMM_TILE          64   /* gemm: edge of the square output tile of a block */

/* x[row] = tokens[ids[row]] + positions[row % context] */
struct lm_embed_forward_args {
    unsigned long count; /* rows: batch * context */
    unsigned long context, width;
    int type; /* of tokens, positions and out */
    const int *ids;
    const void *tokens, *positions;
    void *out;
};

/* token_grad[v] += the rows of dx whose id is v; count is the vocabulary */
struct lm_embed_backward_tokens_args {
    unsigned long count;
    unsigned long rows, width;
    int type;
    const int *ids;
    const void *dx;
    float *grad;
};

/* position_grad[t] += dx[b * context + t] for every b; count is the context */
struct lm_embed_backward_positions_args {
    unsigned long count;
    unsigned long batch, width;
    int type;
    const void *dx;
    float *grad;
};

/* out = (x - mean) / sqrt(variance + 1e-5) * gain + bias, row by row */
struct lm_layernorm_forward_args {
    unsigned long count;
    unsigned long width;
    int type; /* of x and out */
    const void *x;
    const float *gain, *bias;
    float *mean, *rstd; /* per row, kept for backward */
    void *out;
};

/* dx = the gradient through layernorm_forward, plus *residual* where not NULL */
struct lm_layernorm_backward_args {
    unsigned long count;
    unsigned long width;
    int type; /* of x, dout, residual and dx */
    const void *x, *dout, *residual;
    const float *gain, *mean, *rstd;
    void *dx;
};

/* gain_grad += column sums of dout * normalised x; bias_grad += those of dout */
struct lm_layernorm_backward_params_args {
    unsigned long count; /* columns */
    unsigned long rows;
    int type; /* of x and dout */
    const void *x, *dout;
    const float *mean, *rstd;
    float *gain_grad, *bias_grad;
};

/* bias_grad += column sums of dout */
struct lm_bias_backward_args {
    unsigned long count; /* columns */
    unsigned long rows;
    int type;
    const void *dout;
    float *bias_grad;
};

/* Causal softmax of scale * scores; row r attends to positions 0 … r % context */
struct lm_softmax_forward_args {
    unsigned long count; /* rows: batch * heads * context */
    unsigned long context;
    int type;
    float scale;
    const void *scores;
    void *probs;
};

/* dscores = scale * probs * (dprobs - sum(dprobs * probs)); may be done in place */
struct lm_softmax_backward_args {
    unsigned long count;
    unsigned long context;
    int type;
    float scale;
    const void *probs, *dprobs;
    void *dscores;
};

struct lm_gelu_forward_args {
    unsigned long count;
    int type;
    const void *x;
    void *out;
};

/* dx = dout * gelu'(x); may be done in place */
struct lm_gelu_backward_args {
    unsigned long count;
    int type;
    const void *x, *dout;
    void *dx;
};

struct lm_add_args {
    unsigned long count;
    int type;
    const void *a, *b;
    void *out;
};

/* losses[row] = -log softmax(logits[row])[targets[row]] */
struct lm_cross_entropy_forward_args {
    unsigned long count;
    unsigned long vocabulary;
    int type;
    const void *logits;
    const int *targets;
    float *losses;
};

/* dlogits = scale * (softmax(logits) - onehot(target)) */
struct lm_cross_entropy_backward_args {
    unsigned long count;
    unsigned long vocabulary;
    int type;
    float scale;
    const void *logits;
    const int *targets;
    void *dlogits;
};

/* *total += scale * sum of losses[0 … rows); count is 1 */
struct lm_sum_losses_args {
    unsigned long count;
    unsigned long rows;
    float scale;
    const float *losses;
    float *total;
};

/* Adam with bias correction folded into *rate* and *epsilon* */
struct lm_adam_step_args {
    unsigned long count;
    int type; /* LM_BF16: *working* is a bf16 copy of weight; LM_FP32: there is none */
    float rate, beta1, beta2, epsilon;
    float *weight; /* fp32 master */
    const float *grad;
    float *first, *second; /* running moments */
    void *working;
};

struct lm_sgd_step_args {
    unsigned long count;
    int type; /* as in adam_step */
    float rate;
    float *weight;
    const float *grad;
    void *working;
};

/* One operand of gemm: element (i, j) of matrix z lies at
 * data[z / inner_count * outer + z % inner_count * inner + i * row + j * column]. */
struct lm_matrix {
    void *data;
    int type;
    long row, column, outer, inner; /* strides in elements */
};

/* c = a b (+ bias per column) (+ c where accumulate), for *matrices* matrices */
struct lm_gemm_args {
    unsigned long count; /* tiles: matrices * tile rows * tile columns */
    unsigned long m, n, k, tiles_m, tiles_n, inner_count;
    struct lm_matrix a, b, c;
    const float *bias;
    int accumulate;
};

#endif
