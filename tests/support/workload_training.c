/* SPDX-License-Identifier: Apache-2.0
 *
 * Training a transformer in mixed precision on sentences of varying length: 24 layers of width
 * 1536, four sentences per step, padded to the longest of them. Parameters and Adam's state stay,
 * gradients live from the backward pass to the end of the step, all other sizes depend on the
 * length. Weights are cast once per step and the casts are freed in the backward pass, as autocast
 * does. */
#include "support/workload_build.h"

#define LAYERS 24
#define WIDTH UINT64_C(1536)
#define HEADS UINT64_C(16)
#define VOCABULARY UINT64_C(50304)
#define CONTEXT UINT64_C(2048)
#define BATCH 4
#define STEPS 72
#define LAYER_TENSORS 12

/* Lengths of sentences in a mixed corpus, at 0, 10, … 100 percent. */
static const uint32_t lengths[] = {24, 72, 118, 170, 232, 310, 412, 560, 800, 1240, 2048};

struct training {
    struct workload *w;
    struct block_list parameters, adam, gradients, saved;
    uint64_t tokens;
};

static void each_parameter(struct training *t, struct block_list *list)
{
    /* elements of a layer: norm, qkv, projection, norm, up, down; each weight and bias */
    static const uint64_t tensors[LAYER_TENSORS] = {
        WIDTH, WIDTH, 3 * WIDTH * WIDTH, 3 * WIDTH, WIDTH * WIDTH, WIDTH,
        WIDTH, WIDTH, 4 * WIDTH * WIDTH, 4 * WIDTH, 4 * WIDTH * WIDTH, WIDTH};
    keep(t->w, list, VOCABULARY * WIDTH * 4);
    keep(t->w, list, CONTEXT * WIDTH * 4);
    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (unsigned i = 0; i < LAYER_TENSORS; i++)
            keep(t->w, list, tensors[i] * 4);
    }
    keep(t->w, list, WIDTH * 4);
    keep(t->w, list, WIDTH * 4);
}

/* Norm in single precision, its statistics and its result cast for the product;
 * then the cast weight. */
static void norm_and_cast(struct training *t, uint64_t weight)
{
    uint32_t out = take(t->w, t->tokens * WIDTH * 4);
    keep(t->w, &t->saved, t->tokens * 4);
    keep(t->w, &t->saved, t->tokens * 4);
    keep(t->w, &t->saved, weight * 2);
    keep(t->w, &t->saved, t->tokens * WIDTH * 2);
    give(t->w, out);
}

/* Product with a cast weight, dropout, and the sum with the residual stream. */
static void project_and_add(struct training *t, uint64_t weight)
{
    keep(t->w, &t->saved, weight * 2);
    uint32_t out = take(t->w, t->tokens * WIDTH * 2);
    uint32_t dropped = take(t->w, t->tokens * WIDTH * 2);
    keep(t->w, &t->saved, t->tokens * WIDTH);
    give(t->w, out);
    keep(t->w, &t->saved, t->tokens * WIDTH * 4);
    give(t->w, dropped);
}

/* Weight and bias gradients: computed in half precision, stored in single. */
static void weight_gradient(struct training *t, uint64_t weight, uint64_t bias)
{
    uint32_t half = take(t->w, weight * 2);
    uint32_t half_bias = take(t->w, bias * 2);
    keep(t->w, &t->gradients, weight * 4);
    keep(t->w, &t->gradients, bias * 4);
    give(t->w, half);
    give(t->w, half_bias);
}

/* Backward through dropout, product and cast; the new gradient has *width* columns. */
static uint32_t project_backward(struct training *t, uint64_t weight, uint64_t width)
{
    uint32_t masked = take(t->w, t->tokens * WIDTH * 2);
    give_last(t->w, &t->saved, 2); /* the sum and the mask */
    uint32_t out = take(t->w, t->tokens * width * 2);
    weight_gradient(t, weight, WIDTH);
    give(t->w, masked);
    give_last(t->w, &t->saved, 1); /* the weight */
    return out;
}

static void norm_backward(struct training *t, uint32_t incoming, uint64_t weight, uint64_t bias)
{
    uint32_t half = take(t->w, t->tokens * WIDTH * 2);
    weight_gradient(t, weight, bias);
    give(t->w, incoming);
    give_last(t->w, &t->saved, 2);
    uint32_t single = take(t->w, t->tokens * WIDTH * 4);
    give(t->w, half);
    uint32_t out = take(t->w, t->tokens * WIDTH * 4);
    keep(t->w, &t->gradients, WIDTH * 4);
    keep(t->w, &t->gradients, WIDTH * 4);
    give(t->w, single);
    give_last(t->w, &t->saved, 2);
    give(t->w, out);
}

static void layer_backward(struct training *t)
{
    uint32_t residual = take(t->w, t->tokens * WIDTH * 4);
    uint32_t up = project_backward(t, 4 * WIDTH * WIDTH, 4 * WIDTH);
    uint32_t act = take(t->w, t->tokens * 4 * WIDTH * 2);
    give(t->w, up);
    give_last(t->w, &t->saved, 2);
    norm_backward(t, act, 4 * WIDTH * WIDTH, 4 * WIDTH);
    uint32_t attention = project_backward(t, WIDTH * WIDTH, WIDTH);
    uint32_t accumulator = take(t->w, t->tokens * WIDTH * 4); /* of dq */
    uint32_t qkv = take(t->w, t->tokens * 3 * WIDTH * 2);
    give(t->w, accumulator);
    give(t->w, attention);
    give_last(t->w, &t->saved, 4);
    norm_backward(t, qkv, 3 * WIDTH * WIDTH, 3 * WIDTH);
    give(t->w, residual);
}

static void step(struct training *t)
{
    struct block_list input = {0};
    uint64_t longest = 0;
    for (int i = 0; i < BATCH; i++) {
        uint64_t length = random_quantile(t->w, lengths, sizeof lengths / sizeof *lengths);
        longest = length > longest ? length : longest;
    }
    t->tokens = BATCH * ((longest + 7) / 8 * 8);
    keep(t->w, &input, t->tokens * 8);
    keep(t->w, &input, t->tokens * 8);
    keep(t->w, &t->saved, t->tokens * WIDTH * 4);
    for (unsigned i = 0; i < LAYERS; i++) {
        norm_and_cast(t, 3 * WIDTH * WIDTH);
        keep(t->w, &t->saved, t->tokens * 3 * WIDTH * 2); /* q, k, v */
        keep(t->w, &t->saved, t->tokens * WIDTH * 2);     /* attention */
        keep(t->w, &t->saved, t->tokens * HEADS * 4);
        keep(t->w, &t->saved, 16);
        project_and_add(t, WIDTH * WIDTH);
        norm_and_cast(t, 4 * WIDTH * WIDTH);
        keep(t->w, &t->saved, t->tokens * 4 * WIDTH * 2);
        keep(t->w, &t->saved, t->tokens * 4 * WIDTH * 2);
        project_and_add(t, 4 * WIDTH * WIDTH);
    }
    /* The loss, in single precision over the whole vocabulary, and back. */
    norm_and_cast(t, VOCABULARY * WIDTH);
    uint32_t logits = take(t->w, t->tokens * VOCABULARY * 2);
    uint32_t single = take(t->w, t->tokens * VOCABULARY * 4);
    give(t->w, logits);
    uint32_t softmax = take(t->w, t->tokens * VOCABULARY * 4);
    give(t->w, single);
    uint32_t loss = take(t->w, 4);
    uint32_t back = take(t->w, t->tokens * VOCABULARY * 4);
    give(t->w, softmax);
    uint32_t half = take(t->w, t->tokens * VOCABULARY * 2);
    give(t->w, back);
    norm_backward(t, half, VOCABULARY * WIDTH, VOCABULARY);
    give(t->w, loss);
    for (unsigned i = 0; i < LAYERS; i++)
        layer_backward(t);
    give_all(t->w, &t->saved);
    keep(t->w, &t->gradients, VOCABULARY * WIDTH * 4);
    keep(t->w, &t->gradients, CONTEXT * WIDTH * 4);
    give_all(t->w, &input);
    struct block_list norms = {0}, roots = {0};
    if (t->adam.count == 0) {
        each_parameter(t, &t->adam);
        each_parameter(t, &t->adam);
    }
    for (size_t i = 0; i < t->gradients.count; i++)
        keep(t->w, &norms, 4);
    give_all(t->w, &norms);
    each_parameter(t, &roots); /* the multi-tensor form makes the roots of all at once */
    give_all(t->w, &roots);
    list_free(&norms);
    list_free(&roots);
    give_all(t->w, &t->gradients);
    list_free(&input);
}

void workload_varlen(struct workload *w)
{
    struct training t = {.w = w};
    each_parameter(&t, &t.parameters);
    workload_begins(w);
    for (int i = 0; i < STEPS; i++)
        step(&t);
    list_free(&t.parameters);
    list_free(&t.adam);
    list_free(&t.gradients);
    list_free(&t.saved);
}
