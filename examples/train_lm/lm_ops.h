/* SPDX-License-Identifier: Apache-2.0
 *
 * One function per operation of the model: fills in a kernel's arguments and
 * launches it on the compute stream. Buffers belong to the caller; nothing is
 * allocated here. `type` is that of the activations (enum lm_type); parameters
 * that are vectors, all gradients of parameters and all row statistics are fp32. */
#ifndef LM_OPS_H
#define LM_OPS_H

#include "lm_device.h"

/* Bytes of one element of *type*. */
size_t lm_type_bytes(int type);

/* The sizes for embedding and attention. rows = batch * context,
 * width = heads * (width of a head). */
struct lm_shape {
    size_t batch, context, width, heads, vocabulary;
};

void op_embed_forward(const struct lm_shape *s, int type, const int *ids, const void *tokens,
                      const void *positions, void *out);
void op_embed_backward(const struct lm_shape *s, int type, const int *ids, const void *dx,
                       float *token_grad, float *position_grad);

void op_layernorm_forward(size_t rows, size_t width, int type, const void *x, const float *gain,
                          const float *bias, float *mean, float *rstd, void *out);
/* dx = residual + gradient; adds to gain_grad and bias_grad. */
void op_layernorm_backward(size_t rows, size_t width, int type, const void *x, const void *dout,
                           const void *residual, const float *gain, const float *mean,
                           const float *rstd, void *dx, float *gain_grad, float *bias_grad);

/* out[rows][outs] = x[rows][ins] * weight[outs][ins]^T + bias (NULL: none) */
void op_linear_forward(size_t rows, size_t ins, size_t outs, int type, const void *x,
                       const void *weight, const float *bias, void *out);
/* dx[rows][ins] = dout * weight */
void op_linear_backward_input(size_t rows, size_t ins, size_t outs, int type, const void *dout,
                              const void *weight, void *dx);
/* weight_grad += dout^T * x; bias_grad (where not NULL) += column sums of dout */
void op_linear_backward_weight(size_t rows, size_t ins, size_t outs, int type, const void *dout,
                               const void *x, float *weight_grad, float *bias_grad);

/* qkv: [rows][3 * width], queries, keys and values side by side; scores and
 * probs: [batch * heads][context][context]; out: [rows][width]. */
void op_attention_scores(const struct lm_shape *s, int type, const void *qkv, void *scores);
void op_attention_softmax(const struct lm_shape *s, int type, const void *scores, void *probs);
void op_attention_mix(const struct lm_shape *s, int type, const void *probs, const void *qkv,
                      void *out);
void op_attention_mix_backward(const struct lm_shape *s, int type, const void *dout,
                               const void *probs, const void *qkv, void *dprobs, void *dqkv);
/* In place: *dprobs* becomes the gradient of the scores. */
void op_attention_softmax_backward(const struct lm_shape *s, int type, const void *probs,
                                   void *dprobs);
void op_attention_scores_backward(const struct lm_shape *s, int type, const void *dscores,
                                  const void *qkv, void *dqkv);

void op_gelu_forward(size_t count, int type, const void *x, void *out);
/* In place: *dout* becomes dx. */
void op_gelu_backward(size_t count, int type, const void *x, void *dout);
void op_add(size_t count, int type, const void *a, const void *b, void *out);

/* *total += scale * sum of the rows' losses; *losses*: room for one per row */
void op_cross_entropy_forward(size_t rows, size_t vocabulary, int type, const void *logits,
                              const int *targets, float scale, float *losses, float *total);
void op_cross_entropy_backward(size_t rows, size_t vocabulary, int type, const void *logits,
                               const int *targets, float scale, void *dlogits);

/* *working*: bf16 copy to refresh, or NULL */
void op_adam_step(size_t count, float rate, float beta1, float beta2, float epsilon, float *weight,
                  const float *grad, float *first, float *second, void *working);
void op_sgd_step(size_t count, float rate, float *weight, const float *grad, void *working);

#endif
