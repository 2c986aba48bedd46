/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of every kernel but the matrix product, written once for the
 * GPU and for the host. A row is shared by `lanes` threads: 32 of one warp on
 * the GPU, which combine their sums by shuffles, and 1 on the host, where the
 * same loop runs over the whole row and the compiler vectorises it. The order of
 * every sum is fixed by the sizes alone, so results repeat bit by bit.
 * Included by lm_kernels.cu, by lm_kernels_host.c and, for the conversion to bf16,
 * by lm_model.c. */
#ifndef LM_KERNEL_BODIES_H
#define LM_KERNEL_BODIES_H

#include "lm_kernel_args.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#ifdef __CUDACC__
#define LM_BODY static __device__ __forceinline__
#else
#define LM_BODY static inline __attribute__((always_inline))
#endif

#define LM_LAYERNORM_EPSILON 1e-5f

/* --- elements of either type ---------------------------------------------- */

LM_BODY float lm_from_bits(unsigned bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

LM_BODY unsigned lm_to_bits(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Nearest bf16, ties to even. Not-a-number stays one: its quiet bit is set. */
LM_BODY unsigned short lm_to_bf16(float value)
{
    unsigned bits = lm_to_bits(value);
    unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    unsigned nan = (bits >> 16) | 0x40u;
    return (unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

LM_BODY float lm_load(const void *data, int type, size_t i)
{
    if (type == LM_BF16)
        return lm_from_bits((unsigned)((const unsigned short *)data)[i] << 16);
    return ((const float *)data)[i];
}

LM_BODY void lm_store(void *data, int type, size_t i, float value)
{
    if (type == LM_BF16)
        ((unsigned short *)data)[i] = lm_to_bf16(value);
    else
        ((float *)data)[i] = value;
}

/* --- arithmetic shared by the kernels ------------------------------------- */

/* Sum and maximum over the lanes that share a row; every lane gets the result. */
LM_BODY float lm_lanes_sum(float value)
{
#ifdef __CUDA_ARCH__
    for (int distance = 16; distance > 0; distance >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
#endif
    return value;
}

LM_BODY float lm_lanes_max(float value)
{
#ifdef __CUDA_ARCH__
    for (int distance = 16; distance > 0; distance >>= 1) {
        float other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = other > value ? other : value;
    }
#endif
    return value;
}

/* e^x for x <= 0 to about 1e-6, without a library call or a branch so that loops
 * over it vectorise: 2^n by the exponent bits times 2^f, |f| <= 1/2, by its Taylor
 * polynomial. What is too small for a normal float becomes 0. */
LM_BODY float lm_exp(float x)
{
    float y = x * 1.44269504f;
    int n = (int)(y - 0.5f);
    float f = y - (float)n;
    float p = 1.54035304e-4f;
    p = p * f + 1.33335581e-3f;
    p = p * f + 9.61812911e-3f;
    p = p * f + 5.55041087e-2f;
    p = p * f + 2.40226507e-1f;
    p = p * f + 6.93147181e-1f;
    p = p * f + 1.0f;
    int exponent = n < -127 ? 0 : n + 127;
    return p * lm_from_bits((unsigned)exponent << 23);
}

LM_BODY float lm_tanh(float x)
{
    float e = lm_exp(-2.0f * fabsf(x));
    float t = (1.0f - e) / (1.0f + e);
    return x < 0.0f ? -t : t;
}

/* --- embedding ------------------------------------------------------------ */

LM_BODY void embed_forward_row(const struct lm_embed_forward_args *a, size_t row, size_t lane,
                               size_t lanes)
{
    size_t token = (size_t)a->ids[row] * a->width;
    size_t position = row % a->context * a->width;
    for (size_t c = lane; c < a->width; c += lanes)
        lm_store(a->out, a->type, row * a->width + c,
                 lm_load(a->tokens, a->type, token + c) +
                     lm_load(a->positions, a->type, position + c));
}

/* A row of the table belongs to one warp and is summed in the order of the
 * batch, so no atomic addition is needed and the result repeats. */
LM_BODY void embed_backward_tokens_row(const struct lm_embed_backward_tokens_args *a, size_t row,
                                       size_t lane, size_t lanes)
{
    float *grad = a->grad + row * a->width;
    for (size_t r = 0; r < a->rows; r++) {
        if ((size_t)a->ids[r] != row)
            continue;
        for (size_t c = lane; c < a->width; c += lanes)
            grad[c] += lm_load(a->dx, a->type, r * a->width + c);
    }
}

LM_BODY void embed_backward_positions_row(const struct lm_embed_backward_positions_args *a,
                                          size_t row, size_t lane, size_t lanes)
{
    float *grad = a->grad + row * a->width;
    for (size_t b = 0; b < a->batch; b++)
        for (size_t c = lane; c < a->width; c += lanes)
            grad[c] += lm_load(a->dx, a->type, (b * a->count + row) * a->width + c);
}

/* --- layer normalisation -------------------------------------------------- */

LM_BODY void layernorm_forward_row(const struct lm_layernorm_forward_args *a, size_t row,
                                   size_t lane, size_t lanes)
{
    size_t base = row * a->width;
    float sum = 0.0f, squares = 0.0f;
    for (size_t c = lane; c < a->width; c += lanes)
        sum += lm_load(a->x, a->type, base + c);
    float mean = lm_lanes_sum(sum) / (float)a->width;
    for (size_t c = lane; c < a->width; c += lanes) {
        float d = lm_load(a->x, a->type, base + c) - mean;
        squares += d * d;
    }
    float rstd = 1.0f / sqrtf(lm_lanes_sum(squares) / (float)a->width + LM_LAYERNORM_EPSILON);
    for (size_t c = lane; c < a->width; c += lanes) {
        float normal = (lm_load(a->x, a->type, base + c) - mean) * rstd;
        lm_store(a->out, a->type, base + c, normal * a->gain[c] + a->bias[c]);
    }
    if (lane == 0) {
        a->mean[row] = mean;
        a->rstd[row] = rstd;
    }
}

LM_BODY void layernorm_backward_row(const struct lm_layernorm_backward_args *a, size_t row,
                                    size_t lane, size_t lanes)
{
    size_t base = row * a->width;
    float mean = a->mean[row], rstd = a->rstd[row];
    float sum = 0.0f, projected = 0.0f;
    for (size_t c = lane; c < a->width; c += lanes) {
        float normal = (lm_load(a->x, a->type, base + c) - mean) * rstd;
        float dnormal = lm_load(a->dout, a->type, base + c) * a->gain[c];
        sum += dnormal;
        projected += dnormal * normal;
    }
    sum = lm_lanes_sum(sum) / (float)a->width;
    projected = lm_lanes_sum(projected) / (float)a->width;
    for (size_t c = lane; c < a->width; c += lanes) {
        float normal = (lm_load(a->x, a->type, base + c) - mean) * rstd;
        float dnormal = lm_load(a->dout, a->type, base + c) * a->gain[c];
        float dx = (dnormal - sum - normal * projected) * rstd;
        if (a->residual)
            dx += lm_load(a->residual, a->type, base + c);
        lm_store(a->dx, a->type, base + c, dx);
    }
}

/* Column sums. partial: add rows first, first + step, … of *columns* columns
 * from *column* to sum[0] and sum[1]; finish: add one column's totals to the
 * gradients. */
LM_BODY void layernorm_backward_params_partial(const struct lm_layernorm_backward_params_args *a,
                                               size_t column, size_t columns, size_t first,
                                               size_t step, float *sum0, float *sum1)
{
    for (size_t r = first; r < a->rows; r += step) {
        float mean = a->mean[r], rstd = a->rstd[r];
        for (size_t c = 0; c < columns; c++) {
            size_t i = r * a->count + column + c;
            float dout = lm_load(a->dout, a->type, i);
            sum0[c] += dout * (lm_load(a->x, a->type, i) - mean) * rstd;
            sum1[c] += dout;
        }
    }
}

LM_BODY void layernorm_backward_params_finish(const struct lm_layernorm_backward_params_args *a,
                                              size_t column, float total0, float total1)
{
    a->gain_grad[column] += total0;
    a->bias_grad[column] += total1;
}

LM_BODY void bias_backward_partial(const struct lm_bias_backward_args *a, size_t column,
                                   size_t columns, size_t first, size_t step, float *sum0,
                                   float *sum1)
{
    (void)sum1;
    for (size_t r = first; r < a->rows; r += step)
        for (size_t c = 0; c < columns; c++)
            sum0[c] += lm_load(a->dout, a->type, r * a->count + column + c);
}

LM_BODY void bias_backward_finish(const struct lm_bias_backward_args *a, size_t column,
                                  float total0, float total1)
{
    (void)total1;
    a->bias_grad[column] += total0;
}

/* --- attention ------------------------------------------------------------ */

LM_BODY void softmax_forward_row(const struct lm_softmax_forward_args *a, size_t row, size_t lane,
                                 size_t lanes)
{
    size_t base = row * a->context;
    size_t seen = row % a->context + 1;
    float top = -3.0e38f, sum = 0.0f;
    for (size_t c = lane; c < seen; c += lanes) {
        float score = lm_load(a->scores, a->type, base + c) * a->scale;
        top = score > top ? score : top;
    }
    top = lm_lanes_max(top);
    for (size_t c = lane; c < seen; c += lanes)
        sum += lm_exp(lm_load(a->scores, a->type, base + c) * a->scale - top);
    float inverse = 1.0f / lm_lanes_sum(sum);
    for (size_t c = lane; c < seen; c += lanes)
        lm_store(a->probs, a->type, base + c,
                 lm_exp(lm_load(a->scores, a->type, base + c) * a->scale - top) * inverse);
    for (size_t c = seen + lane; c < a->context; c += lanes)
        lm_store(a->probs, a->type, base + c, 0.0f);
}

LM_BODY void softmax_backward_row(const struct lm_softmax_backward_args *a, size_t row, size_t lane,
                                  size_t lanes)
{
    size_t base = row * a->context;
    float dot = 0.0f;
    for (size_t c = lane; c < a->context; c += lanes)
        dot += lm_load(a->probs, a->type, base + c) * lm_load(a->dprobs, a->type, base + c);
    dot = lm_lanes_sum(dot);
    for (size_t c = lane; c < a->context; c += lanes) {
        float p = lm_load(a->probs, a->type, base + c);
        float d = lm_load(a->dprobs, a->type, base + c);
        lm_store(a->dscores, a->type, base + c, a->scale * p * (d - dot));
    }
}

/* --- element by element --------------------------------------------------- */

#define LM_GELU_A 0.797884561f /* sqrt(2 / pi) */
#define LM_GELU_B 0.044715f

LM_BODY void gelu_forward_at(const struct lm_gelu_forward_args *a, size_t i)
{
    float x = lm_load(a->x, a->type, i);
    float t = lm_tanh(LM_GELU_A * (x + LM_GELU_B * x * x * x));
    lm_store(a->out, a->type, i, 0.5f * x * (1.0f + t));
}

LM_BODY void gelu_backward_at(const struct lm_gelu_backward_args *a, size_t i)
{
    float x = lm_load(a->x, a->type, i);
    float t = lm_tanh(LM_GELU_A * (x + LM_GELU_B * x * x * x));
    float inner = LM_GELU_A * (1.0f + 3.0f * LM_GELU_B * x * x);
    float slope = 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner;
    lm_store(a->dx, a->type, i, lm_load(a->dout, a->type, i) * slope);
}

LM_BODY void add_at(const struct lm_add_args *a, size_t i)
{
    lm_store(a->out, a->type, i, lm_load(a->a, a->type, i) + lm_load(a->b, a->type, i));
}

/* --- loss ----------------------------------------------------------------- */

/* The row's maximum and the sum of e^(x - maximum). */
LM_BODY void lm_softmax_sum(const void *logits, int type, size_t base, size_t count, size_t lane,
                            size_t lanes, float *top, float *sum)
{
    float highest = -3.0e38f, total = 0.0f;
    for (size_t c = lane; c < count; c += lanes) {
        float logit = lm_load(logits, type, base + c);
        highest = logit > highest ? logit : highest;
    }
    highest = lm_lanes_max(highest);
    for (size_t c = lane; c < count; c += lanes)
        total += lm_exp(lm_load(logits, type, base + c) - highest);
    *top = highest;
    *sum = lm_lanes_sum(total);
}

LM_BODY void cross_entropy_forward_row(const struct lm_cross_entropy_forward_args *a, size_t row,
                                       size_t lane, size_t lanes)
{
    size_t base = row * a->vocabulary;
    float top, sum;
    lm_softmax_sum(a->logits, a->type, base, a->vocabulary, lane, lanes, &top, &sum);
    if (lane == 0)
        a->losses[row] =
            top + logf(sum) - lm_load(a->logits, a->type, base + (size_t)a->targets[row]);
}

LM_BODY void cross_entropy_backward_row(const struct lm_cross_entropy_backward_args *a, size_t row,
                                        size_t lane, size_t lanes)
{
    size_t base = row * a->vocabulary;
    float top, sum;
    lm_softmax_sum(a->logits, a->type, base, a->vocabulary, lane, lanes, &top, &sum);
    float inverse = 1.0f / sum;
    for (size_t c = lane; c < a->vocabulary; c += lanes) {
        float p = lm_exp(lm_load(a->logits, a->type, base + c) - top) * inverse;
        float hot = c == (size_t)a->targets[row] ? 1.0f : 0.0f;
        lm_store(a->dlogits, a->type, base + c, (p - hot) * a->scale);
    }
}

LM_BODY void sum_losses_row(const struct lm_sum_losses_args *a, size_t row, size_t lane,
                            size_t lanes)
{
    (void)row;
    float sum = 0.0f;
    for (size_t r = lane; r < a->rows; r += lanes)
        sum += a->losses[r];
    sum = lm_lanes_sum(sum);
    if (lane == 0)
        *a->total += sum * a->scale;
}

/* --- optimizers ----------------------------------------------------------- */

LM_BODY void adam_step_at(const struct lm_adam_step_args *a, size_t i)
{
    float g = a->grad[i];
    float first = a->beta1 * a->first[i] + (1.0f - a->beta1) * g;
    float second = a->beta2 * a->second[i] + (1.0f - a->beta2) * g * g;
    float weight = a->weight[i] - a->rate * first / (sqrtf(second) + a->epsilon);
    a->first[i] = first;
    a->second[i] = second;
    a->weight[i] = weight;
    if (a->type == LM_BF16)
        lm_store(a->working, LM_BF16, i, weight);
}

LM_BODY void sgd_step_at(const struct lm_sgd_step_args *a, size_t i)
{
    float weight = a->weight[i] - a->rate * a->grad[i];
    a->weight[i] = weight;
    if (a->type == LM_BF16)
        lm_store(a->working, LM_BF16, i, weight);
}

#endif
