/* SPDX-License-Identifier: Apache-2.0
 *
 * All arithmetic is in double: sums of sizes far below 2^53, and absurd arguments
 * saturate instead of wrapping. The bytes saved for a token by a layer were checked against PyTorch
 * (docs/estimate.md): without dropout and with flash attention 16-bit GELU layers save 32 bytes for
 * each unit of width. */
#include "analysis/estimate/model_memory.h"

#include <string.h>

#define LARGEST (UINT64_C(1) << 40) /* batch or sequence that is tried */

static uint64_t whole(double bytes)
{
    return bytes < 0 ? 0 : bytes >= 18e18 ? UINT64_MAX : (uint64_t)bytes;
}

static double kv_width(const struct vs_model *m)
{
    return m->heads && m->kv_heads ? (double)m->width * (double)m->kv_heads / (double)m->heads
                                   : (double)m->width;
}

static double ffn_width(const struct vs_model *m)
{
    return m->ffn ? (double)m->ffn : 4.0 * (double)m->width;
}

static double layer_matrices(const struct vs_model *m)
{
    double h = (double)m->width;
    return 2 * h * (h + kv_width(m)) + (m->gated ? 3 : 2) * h * ffn_width(m);
}

uint64_t vs_model_shape_parameters(const struct vs_model *m)
{
    double h = (double)m->width, embedding = (double)m->vocab * h;
    if (!m->layers || !m->width)
        return 0;
    return whole(embedding * (m->tied ? 1 : 2) + (double)m->layers * (layer_matrices(m) + 2 * h) + h);
}

/* Bytes that one layer saves for one token until its backward. */
static double layer_bytes(const struct vs_model *m)
{
    double h = (double)m->width, f = ffn_width(m), kv = kv_width(m);
    double heads = m->heads ? (double)m->heads : 1, scores = heads * (double)m->sequence;
    double p = m->half || m->autocast ? 2 : 4; /* results of matrix products */
    double r = m->half ? 2 : 4;                /* the residual stream, inputs of norms */
    /* autocast converts the input of each matrix on its own */
    double copies_of_norm1 = m->autocast ? 3 : 1, copies_of_norm2 = m->autocast && m->gated ? 2 : 1;
    double bytes = 2 * r * h + p * h * (copies_of_norm1 + copies_of_norm2); /* two norms */
    bytes += p * (h + 2 * kv) + p * h;            /* query, key, value; the attention's result */
    bytes += p * f * (m->gated ? 4 : 2);
    if (!m->math_attention)
        bytes += 4 * heads;                       /* the logarithm of each row's sum */
    else if (m->checkpointing != VS_CHECKPOINT_SELECTIVE)
        bytes += scores * (m->autocast ? 6 : p) + (m->dropout ? scores * (1 + p) : 0);
    return bytes + (m->dropout ? 2 * h : 0);      /* masks */
}

/* What is fixed for the whole step, and for a layer. */
struct parts {
    double parameters, gradients, optimizer, step_temporaries;
    double gathered;  /* full copies of sharded layers */
    double kept, rebuilt; /* activations of a layer: until its backward; while it is recomputed */
    double copies;    /* autocast: 16-bit copies of a layer's weights */
    double embedding_kept, tokens;
};

static double state_bytes(const struct vs_model *m)
{
    double wide = m->half && !m->master ? 2 : 4;
    double states[] = {[VS_OPTIMIZER_ADAMW] = 2 * wide, [VS_OPTIMIZER_ADAM8BIT] = 2,
                       [VS_OPTIMIZER_MOMENTUM] = wide, [VS_OPTIMIZER_SGD] = 0};
    return states[m->optimizer] + (m->half && m->master ? 4 : 0);
}

static void fill_states(const struct vs_model *m, double parameters, double trainable, struct parts *out)
{
    double n = m->gpus ? (double)m->gpus : 1, p = m->half ? 2 : 4;
    double wide = m->half && !m->master ? 2 : 4;
    out->parameters = parameters * p / (m->zero >= 3 ? n : 1);
    if (m->inference)
        return;
    out->gradients = trainable * p / (m->zero >= 2 ? n : 1);
    out->optimizer = trainable * state_bytes(m) / (m->zero >= 1 ? n : 1);
    if (!m->fused && m->optimizer == VS_OPTIMIZER_ADAMW) /* the square roots of the second state */
        out->step_temporaries = trainable * wide / (m->zero >= 1 ? n : 1);
}

static void fill_layers(const struct vs_model *m, double parameters, struct parts *out)
{
    double h = (double)m->width, layers = (double)m->layers;
    double p = m->half || m->autocast ? 2 : 4, r = m->half ? 2 : 4;
    double sharded = m->zero >= 3 && m->gpus > 1 ? 1 : 0;
    double in_layer = layers > 0 ? (m->width ? layer_matrices(m) : parameters / layers) : 0;
    out->gathered = sharded * 2 * in_layer * p; /* the layer in use, and the next one */
    if (!m->batch || !m->sequence || !m->layers || !m->width)
        return;
    out->tokens = (double)m->batch * (double)m->sequence;
    double full = out->tokens * layer_bytes(m);
    out->copies = m->autocast && !m->inference ? 2 * layer_matrices(m) : 0;
    out->kept = m->checkpointing == VS_CHECKPOINT_FULL ? out->tokens * r * h : full + out->copies;
    out->rebuilt = m->checkpointing == VS_CHECKPOINT_FULL ? full + out->copies : 0;
    out->embedding_kept = out->tokens * h * (r + p) + (m->autocast ? 2 * (double)m->vocab * h : 0);
}

static void put(struct vs_estimate *out, enum vs_estimate_point at, const struct parts *part,
                double gradients, double activations, double loss, double temporaries)
{
    uint64_t sum = 0;
    double values[VS_PART_COUNT] = {[VS_PART_PARAMETERS] = part->parameters,
                                    [VS_PART_GRADIENTS] = gradients,
                                    [VS_PART_OPTIMIZER] = part->optimizer,
                                    [VS_PART_ACTIVATIONS] = activations,
                                    [VS_PART_LOSS] = loss,
                                    [VS_PART_TEMPORARIES] = temporaries};
    for (int i = 0; i < VS_PART_COUNT; i++) {
        uint64_t bytes = whole(values[i]);
        out->bytes[at][i] = bytes;
        sum = sum + bytes < sum ? UINT64_MAX : sum + bytes;
    }
    out->total[at] = sum;
}

/* The highest instant of the backward: at its start the loss, then after each layer fewer
 * activations and more gradients. */
static void put_backward(const struct vs_model *m, const struct parts *part, struct vs_estimate *out)
{
    double layers = m->layers ? (double)m->layers : 1, loss = part->tokens * (double)m->vocab * 12;
    double best = part->embedding_kept + layers * part->kept + loss;
    double share = 0; /* of the gradients that are there */
    bool in_layers = false;
    for (uint64_t done = 1; m->layers && done <= m->layers && m->layers <= 100000; done++) {
        double left = layers - (double)done + 1, gone = (double)done / layers;
        double bytes = part->kept * left + part->rebuilt + part->gathered + part->gradients * gone;
        if (bytes > best) {
            best = bytes;
            share = gone;
            in_layers = true;
        }
    }
    if (part->gradients + part->gathered > best) {
        best = part->gradients + part->gathered;
        share = 1;
        in_layers = true;
    }
    if (!in_layers) {
        put(out, VS_POINT_BACKWARD, part, 0, part->embedding_kept + layers * part->kept, loss, 0);
        return;
    }
    double temporaries = part->rebuilt + part->gathered, gradients = share * part->gradients;
    double activations = best - gradients - temporaries;
    if (activations < 0)
        temporaries += activations, activations = 0;
    put(out, VS_POINT_BACKWARD, part, gradients, activations, 0, temporaries);
}

void vs_model_memory(const struct vs_model *m, struct vs_estimate *out)
{
    struct parts part = {0};
    memset(out, 0, sizeof *out);
    out->shape_parameters = vs_model_shape_parameters(m);
    out->parameters = m->parameters ? m->parameters : out->shape_parameters;
    out->trainable = m->inference ? 0 : m->trainable ? m->trainable : out->parameters;
    fill_states(m, (double)out->parameters, (double)out->trainable, &part);
    fill_layers(m, (double)out->parameters, &part);
    out->has_activations = part.tokens > 0;
    double p = m->half || m->autocast ? 2 : 4;
    if (m->inference) { /* key and value of every token, and one layer's work on the prompt */
        double cache = part.tokens * 2 * kv_width(m) * p * (double)m->layers;
        put(out, VS_POINT_FORWARD, &part, 0, cache, (double)m->batch * (double)m->vocab * (p + 4),
            part.gathered + part.tokens * p * (2 * (double)m->width + 2 * ffn_width(m)));
        return;
    }
    double logits = part.tokens * (double)m->vocab * (p == 2 ? 10 : 8);
    put(out, VS_POINT_FORWARD, &part, 0, part.embedding_kept + (double)m->layers * part.kept, logits,
        part.gathered);
    put_backward(m, &part, out);
    put(out, VS_POINT_OPTIMIZER, &part, part.gradients, 0, 0, part.step_temporaries);
    for (int i = 0; i < VS_POINT_COUNT; i++)
        if (out->total[i] > out->total[out->peak])
            out->peak = (enum vs_estimate_point)i;
}

uint64_t vs_model_largest(const struct vs_model *model, bool sequence, uint64_t bytes)
{
    struct vs_model tried = *model;
    struct vs_estimate estimate;
    uint64_t low = 0, high = LARGEST; /* low fits, high does not */
    while (high - low > 1) {
        uint64_t middle = low ? low + (high - low) / 2 : high > 4096 ? high / 4096 : high / 2;
        *(sequence ? &tried.sequence : &tried.batch) = middle;
        vs_model_memory(&tried, &estimate);
        if (estimate.total[estimate.peak] <= bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}
