/* SPDX-License-Identifier: Apache-2.0
 *
 * The forward pass; see lm_pass.h. A block is
 *   middle = input + mix(softmax(q k^T) v),  output = middle + down(gelu(up(middle)))
 * with a layer normalisation in front of either half. */
#include "lm_pass.h"

#include <stdlib.h>

size_t lm_rows(const struct lm_model *model)
{
    return model->shape.batch * model->shape.context;
}

size_t lm_activation_bytes(const struct lm_model *model, size_t per_row)
{
    return lm_rows(model) * per_row * lm_type_bytes(model->type);
}

/* A fresh activation of *per_row* elements for each row. */
static void *alloc_activation(const struct lm_model *model, const char *name, size_t per_row)
{
    return device_alloc(name, lm_activation_bytes(model, per_row));
}

static float *alloc_row_statistic(const struct lm_model *model, const char *name)
{
    return device_alloc(name, lm_rows(model) * sizeof(float));
}

static void *norm_forward(const struct lm_model *m, const struct lm_tensor *gain,
                          const struct lm_tensor *bias, const void *x, float **mean, float **rstd)
{
    *mean = alloc_row_statistic(m, "norm mean");
    *rstd = alloc_row_statistic(m, "norm deviation");
    void *out = alloc_activation(m, "norm output", m->shape.width);
    op_layernorm_forward(lm_rows(m), m->shape.width, m->type, x, gain->master, bias->master, *mean,
                         *rstd, out);
    return out;
}

static void *linear_forward(const struct lm_model *m, const char *name,
                            const struct lm_tensor *weight, const struct lm_tensor *bias,
                            const void *x, size_t ins, size_t outs)
{
    void *out = alloc_activation(m, name, outs);
    op_linear_forward(lm_rows(m), ins, outs, m->type, x, weight->working,
                      bias ? bias->master : NULL, out);
    return out;
}

static void *residual_forward(const struct lm_model *m, const char *name, const void *stream,
                              const void *change)
{
    void *out = alloc_activation(m, name, m->shape.width);
    op_add(lm_rows(m) * m->shape.width, m->type, stream, change, out);
    return out;
}

static void attention_forward(const struct lm_model *m, size_t layer, struct lm_block_saved *s)
{
    size_t width = m->shape.width, squares = m->shape.heads * m->shape.context;
    s->norm1 = norm_forward(m, lm_model_block(m, layer, LM_NORM1_GAIN),
                            lm_model_block(m, layer, LM_NORM1_BIAS), s->input, &s->mean1,
                            &s->rstd1);
    s->qkv = linear_forward(m, "queries, keys and values", lm_model_block(m, layer, LM_QKV_WEIGHT),
                            lm_model_block(m, layer, LM_QKV_BIAS), s->norm1, width, 3 * width);
    void *scores = alloc_activation(m, "attention scores", squares);
    op_attention_scores(&m->shape, m->type, s->qkv, scores);
    s->probs = alloc_activation(m, "attention probabilities", squares);
    op_attention_softmax(&m->shape, m->type, scores, s->probs);
    device_free(scores);
    s->mixed = alloc_activation(m, "attention output", width);
    op_attention_mix(&m->shape, m->type, s->probs, s->qkv, s->mixed);
    void *change = linear_forward(m, "attention change", lm_model_block(m, layer, LM_MIX_WEIGHT),
                                  lm_model_block(m, layer, LM_MIX_BIAS), s->mixed, width, width);
    s->middle = residual_forward(m, "attention residual", s->input, change);
    device_free(change);
}

static void *mlp_forward(const struct lm_model *m, size_t layer, struct lm_block_saved *s,
                         int want_output)
{
    size_t width = m->shape.width;
    s->norm2 = norm_forward(m, lm_model_block(m, layer, LM_NORM2_GAIN),
                            lm_model_block(m, layer, LM_NORM2_BIAS), s->middle, &s->mean2,
                            &s->rstd2);
    s->hidden = linear_forward(m, "mlp hidden", lm_model_block(m, layer, LM_UP_WEIGHT),
                               lm_model_block(m, layer, LM_UP_BIAS), s->norm2, width, 4 * width);
    s->active = alloc_activation(m, "mlp activation", 4 * width);
    op_gelu_forward(lm_rows(m) * 4 * width, m->type, s->hidden, s->active);
    if (!want_output)
        return NULL;
    void *change = linear_forward(m, "mlp change", lm_model_block(m, layer, LM_DOWN_WEIGHT),
                                  lm_model_block(m, layer, LM_DOWN_BIAS), s->active, 4 * width,
                                  width);
    void *out = residual_forward(m, "block output", s->middle, change);
    device_free(change);
    return out;
}

void *block_forward(const struct lm_model *model, size_t layer, struct lm_block_saved *saved,
                    int want_output)
{
    attention_forward(model, layer, saved);
    return mlp_forward(model, layer, saved, want_output);
}

void free_block_internals(struct lm_block_saved *saved)
{
    void *input = saved->input;
    device_free(saved->mean1);
    device_free(saved->rstd1);
    device_free(saved->norm1);
    device_free(saved->qkv);
    device_free(saved->probs);
    device_free(saved->mixed);
    device_free(saved->middle);
    device_free(saved->mean2);
    device_free(saved->rstd2);
    device_free(saved->norm2);
    device_free(saved->hidden);
    device_free(saved->active);
    *saved = (struct lm_block_saved){.input = input};
}

static void *embed_forward(const struct lm_model *m, const struct lm_batch *batch)
{
    void *out = alloc_activation(m, "embedding", m->shape.width);
    op_embed_forward(&m->shape, m->type, batch->ids, lm_model_top(m, LM_TOKENS)->working,
                     lm_model_top(m, LM_POSITIONS)->working, out);
    return out;
}

static void head_forward(const struct lm_model *m, struct lm_activations *kept)
{
    kept->normed = norm_forward(m, lm_model_top(m, LM_FINAL_GAIN), lm_model_top(m, LM_FINAL_BIAS),
                                kept->output, &kept->mean, &kept->rstd);
    kept->logits = linear_forward(m, "logits", lm_model_top(m, LM_HEAD_WEIGHT), NULL, kept->normed,
                                  m->shape.width, m->shape.vocabulary);
}

void forward_pass(const struct lm_model *model, const struct lm_batch *batch,
                  struct lm_activations *kept)
{
    *kept = (struct lm_activations){
        .blocks = host_alloc(model->layers, sizeof(struct lm_block_saved))};
    void *x = embed_forward(model, batch);
    for (size_t l = 0; l < model->layers; l++) {
        kept->blocks[l].input = x;
        x = block_forward(model, l, &kept->blocks[l], 1);
        if (model->checkpoint)
            free_block_internals(&kept->blocks[l]);
    }
    kept->output = x;
    head_forward(model, kept);
}

void loss_forward(const struct lm_model *model, const struct lm_batch *batch,
                  const struct lm_activations *kept, float scale, float *total)
{
    size_t rows = lm_rows(model);
    float *losses = alloc_row_statistic(model, "losses");
    op_cross_entropy_forward(rows, model->shape.vocabulary, model->type, kept->logits,
                             batch->targets, scale / (float)rows, losses, total);
    device_free(losses);
}

void discard_activations(const struct lm_model *model, struct lm_activations *kept)
{
    device_free(kept->logits);
    device_free(kept->normed);
    device_free(kept->rstd);
    device_free(kept->mean);
    device_free(kept->output);
    for (size_t l = model->layers; l-- > 0;) {
        free_block_internals(&kept->blocks[l]);
        device_free(kept->blocks[l].input);
    }
    free(kept->blocks);
    *kept = (struct lm_activations){0};
}
