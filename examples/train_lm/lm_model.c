/* SPDX-License-Identifier: Apache-2.0
 *
 * See lm_model.h. Each allocation function has one purpose, so that its name in a profile
 * identifies the memory. */
#include "lm_model.h"

#include "lm_kernel_bodies.h"
#include "lm_random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the list of tensors -------------------------------------------------- */

static void describe(struct lm_tensor *t, const char *name, size_t outs, size_t ins,
                     double deviation, double mean)
{
    snprintf(t->name, sizeof t->name, "%s", name);
    t->count = outs * (ins ? ins : 1);
    t->is_matrix = ins > 0;
    t->deviation = (float)deviation;
    t->mean = (float)mean;
}

static void describe_in_block(struct lm_model *m, size_t layer, enum lm_block_tensor which,
                              const char *name, size_t outs, size_t ins, double deviation,
                              double mean)
{
    char full[32];
    snprintf(full, sizeof full, "block %zu %s", layer, name);
    describe(lm_model_block(m, layer, which), full, outs, ins, deviation, mean);
}

/* Initial deviations: 1 / sqrt(inputs) for matrices, smaller by the depth for
 * those that add to the residual stream. */
static void describe_tensors(struct lm_model *m)
{
    size_t w = m->shape.width, v = m->shape.vocabulary;
    double in = 1.0 / sqrt((double)w), deep = in / sqrt(2.0 * (double)m->layers);

    describe(lm_model_top(m, LM_TOKENS), "token embedding", v, w, 0.1, 0);
    describe(lm_model_top(m, LM_POSITIONS), "position embedding", m->shape.context, w, 0.02, 0);
    describe(lm_model_top(m, LM_FINAL_GAIN), "final norm gain", w, 0, 0, 1);
    describe(lm_model_top(m, LM_FINAL_BIAS), "final norm bias", w, 0, 0, 0);
    describe(lm_model_top(m, LM_HEAD_WEIGHT), "head weight", v, w, 0.02, 0);
    for (size_t l = 0; l < m->layers; l++) {
        describe_in_block(m, l, LM_NORM1_GAIN, "norm 1 gain", w, 0, 0, 1);
        describe_in_block(m, l, LM_NORM1_BIAS, "norm 1 bias", w, 0, 0, 0);
        describe_in_block(m, l, LM_QKV_WEIGHT, "qkv weight", 3 * w, w, in, 0);
        describe_in_block(m, l, LM_QKV_BIAS, "qkv bias", 3 * w, 0, 0, 0);
        describe_in_block(m, l, LM_MIX_WEIGHT, "mix weight", w, w, deep, 0);
        describe_in_block(m, l, LM_MIX_BIAS, "mix bias", w, 0, 0, 0);
        describe_in_block(m, l, LM_NORM2_GAIN, "norm 2 gain", w, 0, 0, 1);
        describe_in_block(m, l, LM_NORM2_BIAS, "norm 2 bias", w, 0, 0, 0);
        describe_in_block(m, l, LM_UP_WEIGHT, "up weight", 4 * w, w, in, 0);
        describe_in_block(m, l, LM_UP_BIAS, "up bias", 4 * w, 0, 0, 0);
        describe_in_block(m, l, LM_DOWN_WEIGHT, "down weight", w, 4 * w, deep / 2.0, 0);
        describe_in_block(m, l, LM_DOWN_BIAS, "down bias", w, 0, 0, 0);
    }
}

struct lm_tensor *lm_model_top(const struct lm_model *model, enum lm_top_tensor which)
{
    return &model->tensors[which];
}

struct lm_tensor *lm_model_block(const struct lm_model *model, size_t layer,
                                 enum lm_block_tensor which)
{
    return &model->tensors[LM_TOP_TENSORS + layer * LM_BLOCK_TENSORS + which];
}

/* --- memory --------------------------------------------------------------- */

static void alloc_parameters(struct lm_model *m)
{
    for (size_t i = 0; i < m->tensor_count; i++) {
        struct lm_tensor *t = &m->tensors[i];
        t->working = t->master = device_alloc(t->name, t->count * sizeof(float));
    }
}

static void alloc_working_copy(struct lm_model *m)
{
    for (size_t i = 0; i < m->tensor_count; i++) {
        struct lm_tensor *t = &m->tensors[i];
        if (t->is_matrix)
            t->working = device_alloc(t->name, t->count * lm_type_bytes(LM_BF16));
    }
}

static void alloc_gradients(struct lm_model *m)
{
    for (size_t i = 0; i < m->tensor_count; i++)
        m->tensors[i].grad = device_alloc(m->tensors[i].name, m->tensors[i].count * sizeof(float));
}

static void alloc_optimizer_state(struct lm_model *m)
{
    for (size_t i = 0; i < m->tensor_count; i++) {
        struct lm_tensor *t = &m->tensors[i];
        t->first = device_alloc(t->name, t->count * sizeof(float));
        t->second = device_alloc(t->name, t->count * sizeof(float));
        device_zero(t->first, t->count * sizeof(float));
        device_zero(t->second, t->count * sizeof(float));
    }
}

static void upload_initial_values(struct lm_model *m, uint64_t seed)
{
    struct lm_random random = {.state = seed ^ 0x6d6f64656cu};
    for (size_t i = 0; i < m->tensor_count; i++) {
        struct lm_tensor *t = &m->tensors[i];
        float *values = host_alloc(t->count, sizeof *values);
        unsigned short *halves = host_alloc(t->count, sizeof *halves);
        for (size_t k = 0; k < t->count; k++) {
            double noise = t->deviation > 0.0f ? lm_random_normal(&random) : 0.0;
            values[k] = (float)(t->mean + t->deviation * noise);
            halves[k] = lm_to_bf16(values[k]);
        }
        copy_to_device(t->master, values, t->count * sizeof *values);
        if (t->working != t->master)
            copy_to_device(t->working, halves, t->count * sizeof *halves);
        free(values);
        free(halves);
    }
}

void lm_model_create(struct lm_model *model, const struct lm_options *options, int vocabulary)
{
    *model = (struct lm_model){
        .shape = {.batch = (size_t)(options->batch / options->accumulate),
                  .context = (size_t)options->context,
                  .width = (size_t)options->width,
                  .heads = (size_t)options->heads,
                  .vocabulary = (size_t)vocabulary},
        .layers = (size_t)options->layers,
        .type = options->type,
        .checkpoint = options->checkpoint,
    };
    model->tensor_count = LM_TOP_TENSORS + model->layers * LM_BLOCK_TENSORS;
    model->tensors = host_alloc(model->tensor_count, sizeof *model->tensors);
    describe_tensors(model);
    alloc_parameters(model);
    if (model->type == LM_BF16)
        alloc_working_copy(model);
    alloc_gradients(model);
    if (options->optimizer == LM_ADAM)
        alloc_optimizer_state(model);
    upload_initial_values(model, options->seed);
}

void lm_model_free(struct lm_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++) {
        struct lm_tensor *t = &model->tensors[i];
        if (t->working != t->master)
            device_free(t->working);
        device_free(t->master);
        device_free(t->grad);
        device_free(t->first);
        device_free(t->second);
    }
    free(model->tensors);
    model->tensors = NULL;
    model->tensor_count = 0;
}

/* --- use ------------------------------------------------------------------ */

size_t lm_model_parameters(const struct lm_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->tensor_count; i++)
        count += model->tensors[i].count;
    return count;
}

void lm_model_zero_gradients(struct lm_model *model)
{
    for (size_t i = 0; i < model->tensor_count; i++)
        device_zero(model->tensors[i].grad, model->tensors[i].count * sizeof(float));
}

void lm_model_step(struct lm_model *model, enum lm_optimizer optimizer, double rate, long step)
{
    const double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;
    double root = sqrt(1.0 - pow(beta2, (double)step));
    double adam_rate = rate * root / (1.0 - pow(beta1, (double)step));
    for (size_t i = 0; i < model->tensor_count; i++) {
        struct lm_tensor *t = &model->tensors[i];
        void *working = t->working != t->master ? t->working : NULL;
        if (optimizer == LM_ADAM)
            op_adam_step(t->count, (float)adam_rate, (float)beta1, (float)beta2,
                         (float)(epsilon * root), t->master, t->grad, t->first, t->second, working);
        else
            op_sgd_step(t->count, (float)rate, t->master, t->grad, working);
    }
}
