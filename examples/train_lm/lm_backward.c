/* SPDX-License-Identifier: Apache-2.0
 *
 * The backward pass; see lm_pass.h. Each function takes the gradient of its
 * output, which it frees, returns the gradient of its input, and frees the
 * activations it has used for the last time. */
#include "lm_pass.h"

#include <stdlib.h>

static void *alloc_gradient(const struct lm_model *model, const char *name, size_t per_row)
{
    return device_alloc(name, lm_activation_bytes(model, per_row));
}

/* Frees *pointer and forgets it. */
static void drop(void **pointer)
{
    device_free(*pointer);
    *pointer = NULL;
}

static void drop_statistics(float **mean, float **rstd)
{
    device_free(*mean);
    device_free(*rstd);
    *mean = *rstd = NULL;
}

/* Through x * weight^T + bias. Frees dout and *x. */
static void *linear_backward(const struct lm_model *m, const char *name, struct lm_tensor *weight,
                             struct lm_tensor *bias, void *dout, void **x, size_t ins, size_t outs)
{
    op_linear_backward_weight(lm_rows(m), ins, outs, m->type, dout, *x, weight->grad,
                              bias ? bias->grad : NULL);
    drop(x);
    void *dx = alloc_gradient(m, name, ins);
    op_linear_backward_input(lm_rows(m), ins, outs, m->type, dout, weight->working, dx);
    device_free(dout);
    return dx;
}

/* Through a layer normalisation of x and the residual beside it. Frees dout,
 * residual and the statistics, not x. */
static void *norm_backward(const struct lm_model *m, struct lm_tensor *gain, struct lm_tensor *bias,
                           const void *x, void *dout, void *residual, float **mean, float **rstd)
{
    void *dx = alloc_gradient(m, "gradient of a norm's input", m->shape.width);
    op_layernorm_backward(lm_rows(m), m->shape.width, m->type, x, dout, residual, gain->master,
                          *mean, *rstd, dx, gain->grad, bias->grad);
    device_free(dout);
    device_free(residual);
    drop_statistics(mean, rstd);
    return dx;
}

/* *dout* is needed twice: by the MLP and, unchanged, by the residual. */
static void *mlp_backward(const struct lm_model *m, size_t layer, struct lm_block_saved *s,
                          void *dout)
{
    size_t width = m->shape.width, rows = lm_rows(m);
    struct lm_tensor *down = lm_model_block(m, layer, LM_DOWN_WEIGHT);
    op_linear_backward_weight(rows, 4 * width, width, m->type, dout, s->active, down->grad,
                              lm_model_block(m, layer, LM_DOWN_BIAS)->grad);
    drop(&s->active);
    void *dhidden = alloc_gradient(m, "gradient of the mlp", 4 * width);
    op_linear_backward_input(rows, 4 * width, width, m->type, dout, down->working, dhidden);
    op_gelu_backward(rows * 4 * width, m->type, s->hidden, dhidden);
    drop(&s->hidden);
    void *dnorm = linear_backward(m, "gradient of a norm", lm_model_block(m, layer, LM_UP_WEIGHT),
                                  lm_model_block(m, layer, LM_UP_BIAS), dhidden, &s->norm2, width,
                                  4 * width);
    void *dmiddle = norm_backward(m, lm_model_block(m, layer, LM_NORM2_GAIN),
                                  lm_model_block(m, layer, LM_NORM2_BIAS), s->middle, dnorm, dout,
                                  &s->mean2, &s->rstd2);
    drop(&s->middle);
    return dmiddle;
}

static void *attention_backward(const struct lm_model *m, size_t layer, struct lm_block_saved *s,
                                void *dmiddle)
{
    size_t width = m->shape.width, squares = m->shape.heads * m->shape.context, rows = lm_rows(m);
    struct lm_tensor *mix = lm_model_block(m, layer, LM_MIX_WEIGHT);
    op_linear_backward_weight(rows, width, width, m->type, dmiddle, s->mixed, mix->grad,
                              lm_model_block(m, layer, LM_MIX_BIAS)->grad);
    drop(&s->mixed);
    void *dmixed = alloc_gradient(m, "gradient of the attention output", width);
    op_linear_backward_input(rows, width, width, m->type, dmiddle, mix->working, dmixed);
    void *dqkv = alloc_gradient(m, "gradient of queries, keys and values", 3 * width);
    void *dscores = alloc_gradient(m, "gradient of the attention scores", squares);
    op_attention_mix_backward(&m->shape, m->type, dmixed, s->probs, s->qkv, dscores, dqkv);
    device_free(dmixed);
    op_attention_softmax_backward(&m->shape, m->type, s->probs, dscores);
    drop(&s->probs);
    op_attention_scores_backward(&m->shape, m->type, dscores, s->qkv, dqkv);
    device_free(dscores);
    drop(&s->qkv);
    void *dnorm = linear_backward(m, "gradient of a norm", lm_model_block(m, layer, LM_QKV_WEIGHT),
                                  lm_model_block(m, layer, LM_QKV_BIAS), dqkv, &s->norm1, width,
                                  3 * width);
    void *dinput = norm_backward(m, lm_model_block(m, layer, LM_NORM1_GAIN),
                                 lm_model_block(m, layer, LM_NORM1_BIAS), s->input, dnorm, dmiddle,
                                 &s->mean1, &s->rstd1);
    drop(&s->input);
    return dinput;
}

static void recompute_block(const struct lm_model *m, size_t layer, struct lm_block_saved *s)
{
    block_forward(m, layer, s, 0);
}

static void *block_backward(const struct lm_model *m, size_t layer, struct lm_block_saved *s,
                            void *dout)
{
    if (m->checkpoint)
        recompute_block(m, layer, s);
    void *dmiddle = mlp_backward(m, layer, s, dout);
    return attention_backward(m, layer, s, dmiddle);
}

static void *head_backward(const struct lm_model *m, const struct lm_batch *batch,
                           struct lm_activations *kept, float scale)
{
    size_t rows = lm_rows(m), vocabulary = m->shape.vocabulary;
    void *dlogits = alloc_gradient(m, "gradient of the logits", vocabulary);
    op_cross_entropy_backward(rows, vocabulary, m->type, kept->logits, batch->targets,
                              scale / (float)rows, dlogits);
    drop(&kept->logits);
    void *dnormed = linear_backward(m, "gradient of the final norm",
                                    lm_model_top(m, LM_HEAD_WEIGHT), NULL, dlogits, &kept->normed,
                                    m->shape.width, vocabulary);
    void *doutput = norm_backward(m, lm_model_top(m, LM_FINAL_GAIN), lm_model_top(m, LM_FINAL_BIAS),
                                  kept->output, dnormed, NULL, &kept->mean, &kept->rstd);
    drop(&kept->output);
    return doutput;
}

void backward_pass(const struct lm_model *model, const struct lm_batch *batch,
                   struct lm_activations *kept, float scale)
{
    void *dx = head_backward(model, batch, kept, scale);
    for (size_t l = model->layers; l-- > 0;)
        dx = block_backward(model, l, &kept->blocks[l], dx);
    op_embed_backward(&model->shape, model->type, batch->ids, dx,
                      lm_model_top(model, LM_TOKENS)->grad,
                      lm_model_top(model, LM_POSITIONS)->grad);
    device_free(dx);
    free(kept->blocks);
    *kept = (struct lm_activations){0};
}
