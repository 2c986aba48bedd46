/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_ops.h. The launch shapes here and the kernels in lm_kernels.cu and
 * lm_kernels_host.c belong together: a block covers the same rows, elements,
 * columns or tile in all three. */
#include "lm_ops.h"

#include <math.h>

size_t lm_type_bytes(int type)
{
    return type == LM_BF16 ? 2 : 4;
}

static size_t blocks_for(size_t count, size_t per_block)
{
    return (count + per_block - 1) / per_block;
}

static void launch_rows(enum lm_kernel_id id, const void *args, size_t rows)
{
    dim3 block = {32, LM_ROWS_PER_BLOCK, 1};
    lm_launch(id, args, blocks_for(rows, LM_ROWS_PER_BLOCK), block);
}

static void launch_elements(enum lm_kernel_id id, const void *args, size_t count)
{
    dim3 block = {256, 1, 1};
    lm_launch(id, args, blocks_for(count, LM_ELEMENTS_PER_BLOCK), block);
}

static void launch_columns(enum lm_kernel_id id, const void *args, size_t columns)
{
    dim3 block = {LM_COLUMNS_PER_BLOCK, LM_COLUMNS_PER_BLOCK, 1};
    lm_launch(id, args, blocks_for(columns, LM_COLUMNS_PER_BLOCK), block);
}

/* --- embedding and layer normalisation ------------------------------------ */

void op_embed_forward(const struct lm_shape *s, int type, const int *ids, const void *tokens,
                      const void *positions, void *out)
{
    struct lm_embed_forward_args a = {.count = s->batch * s->context,
                                      .context = s->context,
                                      .width = s->width,
                                      .type = type,
                                      .ids = ids,
                                      .tokens = tokens,
                                      .positions = positions,
                                      .out = out};
    launch_rows(LM_K_embed_forward, &a, a.count);
}

void op_embed_backward(const struct lm_shape *s, int type, const int *ids, const void *dx,
                       float *token_grad, float *position_grad)
{
    struct lm_embed_backward_tokens_args t = {.count = s->vocabulary,
                                              .rows = s->batch * s->context,
                                              .width = s->width,
                                              .type = type,
                                              .ids = ids,
                                              .dx = dx,
                                              .grad = token_grad};
    launch_rows(LM_K_embed_backward_tokens, &t, t.count);
    struct lm_embed_backward_positions_args p = {.count = s->context,
                                                 .batch = s->batch,
                                                 .width = s->width,
                                                 .type = type,
                                                 .dx = dx,
                                                 .grad = position_grad};
    launch_rows(LM_K_embed_backward_positions, &p, p.count);
}

void op_layernorm_forward(size_t rows, size_t width, int type, const void *x, const float *gain,
                          const float *bias, float *mean, float *rstd, void *out)
{
    struct lm_layernorm_forward_args a = {.count = rows,
                                          .width = width,
                                          .type = type,
                                          .x = x,
                                          .gain = gain,
                                          .bias = bias,
                                          .mean = mean,
                                          .rstd = rstd,
                                          .out = out};
    launch_rows(LM_K_layernorm_forward, &a, rows);
}

void op_layernorm_backward(size_t rows, size_t width, int type, const void *x, const void *dout,
                           const void *residual, const float *gain, const float *mean,
                           const float *rstd, void *dx, float *gain_grad, float *bias_grad)
{
    struct lm_layernorm_backward_params_args p = {.count = width,
                                                  .rows = rows,
                                                  .type = type,
                                                  .x = x,
                                                  .dout = dout,
                                                  .mean = mean,
                                                  .rstd = rstd,
                                                  .gain_grad = gain_grad,
                                                  .bias_grad = bias_grad};
    launch_columns(LM_K_layernorm_backward_params, &p, width);
    struct lm_layernorm_backward_args a = {.count = rows,
                                           .width = width,
                                           .type = type,
                                           .x = x,
                                           .dout = dout,
                                           .residual = residual,
                                           .gain = gain,
                                           .mean = mean,
                                           .rstd = rstd,
                                           .dx = dx};
    launch_rows(LM_K_layernorm_backward, &a, rows);
}

/* --- matrix products ------------------------------------------------------ */

static void launch_gemm(struct lm_gemm_args *g, size_t matrices)
{
    g->tiles_m = blocks_for(g->m, LM_GEMM_TILE);
    g->tiles_n = blocks_for(g->n, LM_GEMM_TILE);
    g->count = matrices * g->tiles_m * g->tiles_n;
    dim3 block = {256, 1, 1};
    lm_launch(LM_K_gemm, g, g->count, block);
}

/* A row-major matrix with *columns* columns, and the transpose of one. */
static struct lm_matrix rows_of(const void *data, int type, size_t columns)
{
    struct lm_matrix m = {
        .data = (void *)data, .type = type, .row = (long)columns, .column = 1};
    return m;
}

static struct lm_matrix transpose_of(const void *data, int type, size_t columns)
{
    struct lm_matrix m = {
        .data = (void *)data, .type = type, .row = 1, .column = (long)columns};
    return m;
}

void op_linear_forward(size_t rows, size_t ins, size_t outs, int type, const void *x,
                       const void *weight, const float *bias, void *out)
{
    struct lm_gemm_args g = {.m = rows,
                             .n = outs,
                             .k = ins,
                             .inner_count = 1,
                             .a = rows_of(x, type, ins),
                             .b = transpose_of(weight, type, ins),
                             .c = rows_of(out, type, outs),
                             .bias = bias};
    launch_gemm(&g, 1);
}

void op_linear_backward_input(size_t rows, size_t ins, size_t outs, int type, const void *dout,
                              const void *weight, void *dx)
{
    struct lm_gemm_args g = {.m = rows,
                             .n = ins,
                             .k = outs,
                             .inner_count = 1,
                             .a = rows_of(dout, type, outs),
                             .b = rows_of(weight, type, ins),
                             .c = rows_of(dx, type, ins)};
    launch_gemm(&g, 1);
}

void op_linear_backward_weight(size_t rows, size_t ins, size_t outs, int type, const void *dout,
                               const void *x, float *weight_grad, float *bias_grad)
{
    struct lm_gemm_args g = {.m = outs,
                             .n = ins,
                             .k = rows,
                             .inner_count = 1,
                             .a = transpose_of(dout, type, outs),
                             .b = rows_of(x, type, ins),
                             .c = rows_of(weight_grad, LM_FP32, ins),
                             .accumulate = 1};
    launch_gemm(&g, 1);
    if (!bias_grad)
        return;
    struct lm_bias_backward_args b = {
        .count = outs, .rows = rows, .type = type, .dout = dout, .bias_grad = bias_grad};
    launch_columns(LM_K_bias_backward, &b, outs);
}

/* --- attention ------------------------------------------------------------ */

enum qkv_part { QUERY, KEY, VALUE };

/* One head's queries, keys or values inside [batch][context][3 * width], as
 * [context][head width]; the matrices are counted by batch, then head. */
static struct lm_matrix head_of(const struct lm_shape *s, int type, const void *qkv,
                                enum qkv_part part)
{
    struct lm_matrix m = {.data = (char *)qkv + (size_t)part * s->width * lm_type_bytes(type),
                          .type = type,
                          .row = (long)(3 * s->width),
                          .column = 1,
                          .outer = (long)(s->context * 3 * s->width),
                          .inner = (long)(s->width / s->heads)};
    return m;
}

/* The same inside [batch][context][width]. */
static struct lm_matrix head_out(const struct lm_shape *s, int type, const void *out)
{
    struct lm_matrix m = {.data = (void *)out,
                          .type = type,
                          .row = (long)s->width,
                          .column = 1,
                          .outer = (long)(s->context * s->width),
                          .inner = (long)(s->width / s->heads)};
    return m;
}

/* One head's [context][context] of [batch][heads][context][context]. */
static struct lm_matrix square_of(const struct lm_shape *s, int type, const void *squares)
{
    struct lm_matrix m = {.data = (void *)squares,
                          .type = type,
                          .row = (long)s->context,
                          .column = 1,
                          .outer = (long)(s->heads * s->context * s->context),
                          .inner = (long)(s->context * s->context)};
    return m;
}

static struct lm_matrix transposed(struct lm_matrix m)
{
    long row = m.row;
    m.row = m.column;
    m.column = row;
    return m;
}

static void multiply_heads(const struct lm_shape *s, size_t m, size_t n, size_t k,
                           struct lm_matrix a, struct lm_matrix b, struct lm_matrix c)
{
    struct lm_gemm_args g = {
        .m = m, .n = n, .k = k, .inner_count = s->heads, .a = a, .b = b, .c = c};
    launch_gemm(&g, s->batch * s->heads);
}

static float attention_scale(const struct lm_shape *s)
{
    return 1.0f / sqrtf((float)(s->width / s->heads));
}

void op_attention_scores(const struct lm_shape *s, int type, const void *qkv, void *scores)
{
    multiply_heads(s, s->context, s->context, s->width / s->heads, head_of(s, type, qkv, QUERY),
                   transposed(head_of(s, type, qkv, KEY)), square_of(s, type, scores));
}

void op_attention_softmax(const struct lm_shape *s, int type, const void *scores, void *probs)
{
    struct lm_softmax_forward_args a = {.count = s->batch * s->heads * s->context,
                                        .context = s->context,
                                        .type = type,
                                        .scale = attention_scale(s),
                                        .scores = scores,
                                        .probs = probs};
    launch_rows(LM_K_softmax_forward, &a, a.count);
}

void op_attention_mix(const struct lm_shape *s, int type, const void *probs, const void *qkv,
                      void *out)
{
    multiply_heads(s, s->context, s->width / s->heads, s->context, square_of(s, type, probs),
                   head_of(s, type, qkv, VALUE), head_out(s, type, out));
}

void op_attention_mix_backward(const struct lm_shape *s, int type, const void *dout,
                               const void *probs, const void *qkv, void *dprobs, void *dqkv)
{
    size_t head_width = s->width / s->heads;
    multiply_heads(s, s->context, s->context, head_width, head_out(s, type, dout),
                   transposed(head_of(s, type, qkv, VALUE)), square_of(s, type, dprobs));
    multiply_heads(s, s->context, head_width, s->context, transposed(square_of(s, type, probs)),
                   head_out(s, type, dout), head_of(s, type, dqkv, VALUE));
}

void op_attention_softmax_backward(const struct lm_shape *s, int type, const void *probs,
                                   void *dprobs)
{
    struct lm_softmax_backward_args a = {.count = s->batch * s->heads * s->context,
                                         .context = s->context,
                                         .type = type,
                                         .scale = attention_scale(s),
                                         .probs = probs,
                                         .dprobs = dprobs,
                                         .dscores = dprobs};
    launch_rows(LM_K_softmax_backward, &a, a.count);
}

void op_attention_scores_backward(const struct lm_shape *s, int type, const void *dscores,
                                  const void *qkv, void *dqkv)
{
    size_t head_width = s->width / s->heads;
    multiply_heads(s, s->context, head_width, s->context, square_of(s, type, dscores),
                   head_of(s, type, qkv, KEY), head_of(s, type, dqkv, QUERY));
    multiply_heads(s, s->context, head_width, s->context, transposed(square_of(s, type, dscores)),
                   head_of(s, type, qkv, QUERY), head_of(s, type, dqkv, KEY));
}

/* --- elements, loss, optimizers ------------------------------------------- */

void op_gelu_forward(size_t count, int type, const void *x, void *out)
{
    struct lm_gelu_forward_args a = {.count = count, .type = type, .x = x, .out = out};
    launch_elements(LM_K_gelu_forward, &a, count);
}

void op_gelu_backward(size_t count, int type, const void *x, void *dout)
{
    struct lm_gelu_backward_args a = {
        .count = count, .type = type, .x = x, .dout = dout, .dx = dout};
    launch_elements(LM_K_gelu_backward, &a, count);
}

void op_add(size_t count, int type, const void *a, const void *b, void *out)
{
    struct lm_add_args args = {.count = count, .type = type, .a = a, .b = b, .out = out};
    launch_elements(LM_K_add, &args, count);
}

void op_cross_entropy_forward(size_t rows, size_t vocabulary, int type, const void *logits,
                              const int *targets, float scale, float *losses, float *total)
{
    struct lm_cross_entropy_forward_args a = {.count = rows,
                                              .vocabulary = vocabulary,
                                              .type = type,
                                              .logits = logits,
                                              .targets = targets,
                                              .losses = losses};
    launch_rows(LM_K_cross_entropy_forward, &a, rows);
    struct lm_sum_losses_args sum = {
        .count = 1, .rows = rows, .scale = scale, .losses = losses, .total = total};
    launch_rows(LM_K_sum_losses, &sum, 1);
}

void op_cross_entropy_backward(size_t rows, size_t vocabulary, int type, const void *logits,
                               const int *targets, float scale, void *dlogits)
{
    struct lm_cross_entropy_backward_args a = {.count = rows,
                                               .vocabulary = vocabulary,
                                               .type = type,
                                               .scale = scale,
                                               .logits = logits,
                                               .targets = targets,
                                               .dlogits = dlogits};
    launch_rows(LM_K_cross_entropy_backward, &a, rows);
}

void op_adam_step(size_t count, float rate, float beta1, float beta2, float epsilon, float *weight,
                  const float *grad, float *first, float *second, void *working)
{
    struct lm_adam_step_args a = {.count = count,
                                  .type = working ? LM_BF16 : LM_FP32,
                                  .rate = rate,
                                  .beta1 = beta1,
                                  .beta2 = beta2,
                                  .epsilon = epsilon,
                                  .weight = weight,
                                  .grad = grad,
                                  .first = first,
                                  .second = second,
                                  .working = working};
    launch_elements(LM_K_adam_step, &a, count);
}

void op_sgd_step(size_t count, float rate, float *weight, const float *grad, void *working)
{
    struct lm_sgd_step_args a = {.count = count,
                                 .type = working ? LM_BF16 : LM_FP32,
                                 .rate = rate,
                                 .weight = weight,
                                 .grad = grad,
                                 .working = working};
    launch_elements(LM_K_sgd_step, &a, count);
}
