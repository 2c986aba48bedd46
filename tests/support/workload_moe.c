/* SPDX-License-Identifier: Apache-2.0
 *
 * Training a mixture of experts: 12 layers of 16 experts, two experts per token, 16384 tokens per
 * step. The number of tokens per expert follows weights that drift from step to step, so that a
 * step allocates hundreds of buffers of a few MiB in sizes that no other step has. Weights and
 * gradients in half precision, with a single precision copy and Adam's state. */
#include "support/workload_build.h"

#define LAYERS 12
#define EXPERTS 16
#define WIDTH UINT64_C(2048)
#define INNER UINT64_C(1024)
#define TOKENS UINT64_C(16384)
#define CHOICES 2
#define GROUP 32 /* tokens with the same routing */
#define STEPS 48
#define SAVED_OF_EXPERT 4

struct moe {
    struct workload *w;
    struct block_list saved;
    uint64_t liking[LAYERS][EXPERTS];
    uint64_t tokens_of[LAYERS][EXPERTS];
};

static void route(struct moe *m, unsigned layer)
{
    uint64_t sum = 0;
    for (unsigned e = 0; e < EXPERTS; e++) {
        uint64_t *liking = &m->liking[layer][e];
        *liking = (*liking * 7 + 100 + random_below(m->w, 1900)) / 8;
        m->tokens_of[layer][e] = 0;
        sum += *liking;
    }
    for (uint64_t i = 0; i < TOKENS * CHOICES / GROUP; i++) {
        uint64_t at = random_below(m->w, sum);
        unsigned e = 0;
        while (at >= m->liking[layer][e])
            at -= m->liking[layer][e++];
        m->tokens_of[layer][e] += GROUP;
    }
    for (unsigned e = 0; e < EXPERTS; e++) /* and some are routed individually */
        m->tokens_of[layer][e] += random_below(m->w, GROUP);
}

static void experts(struct moe *m, unsigned layer)
{
    struct block_list results = {0};
    keep(m->w, &m->saved, TOKENS * EXPERTS * 4); /* scores */
    keep(m->w, &m->saved, TOKENS * CHOICES * 8);
    uint32_t sorted = take(m->w, TOKENS * CHOICES * 8);
    for (unsigned e = 0; e < EXPERTS; e++) {
        uint64_t tokens = m->tokens_of[layer][e];
        if (!tokens)
            continue;
        keep(m->w, &m->saved, tokens * 8);
        keep(m->w, &m->saved, tokens * WIDTH * 2); /* gathered */
        keep(m->w, &m->saved, tokens * 2 * INNER * 2);
        uint32_t gate = take(m->w, tokens * INNER * 2);
        keep(m->w, &m->saved, tokens * INNER * 2);
        give(m->w, gate);
        keep(m->w, &results, tokens * WIDTH * 2);
    }
    keep(m->w, &m->saved, TOKENS * WIDTH * 2);
    give(m->w, sorted);
    give_all(m->w, &results);
    list_free(&results);
}

static void experts_backward(struct moe *m, unsigned layer)
{
    uint32_t incoming = take(m->w, TOKENS * WIDTH * 2);
    give_last(m->w, &m->saved, 1);
    for (unsigned e = EXPERTS; e-- > 0;) {
        uint64_t tokens = m->tokens_of[layer][e];
        if (!tokens)
            continue;
        uint32_t scattered = take(m->w, tokens * WIDTH * 2);
        uint32_t act = take(m->w, tokens * INNER * 2);
        uint32_t weight = take(m->w, INNER * WIDTH * 2);
        give(m->w, weight);
        give(m->w, scattered);
        uint32_t up = take(m->w, tokens * 2 * INNER * 2);
        give(m->w, act);
        uint32_t back = take(m->w, tokens * WIDTH * 2);
        weight = take(m->w, 2 * INNER * WIDTH * 2);
        give(m->w, weight);
        give(m->w, up);
        give_last(m->w, &m->saved, SAVED_OF_EXPERT);
        give(m->w, back);
    }
    give_last(m->w, &m->saved, 2);
    give(m->w, incoming);
}

void workload_moe(struct workload *w)
{
    struct moe m = {.w = w};
    static const uint64_t bytes_of_kind[] = {2, 2, 4, 4, 4}; /* weight, gradient, copy, Adam */
    for (unsigned kind = 0; kind < 5; kind++) {
        uint64_t bytes = bytes_of_kind[kind];
        take(w, 50304 * WIDTH * bytes);
        for (unsigned i = 0; i < LAYERS; i++) {
            take(w, 3 * WIDTH * WIDTH * bytes);
            take(w, WIDTH * WIDTH * bytes);
            take(w, EXPERTS * WIDTH * bytes);
            for (unsigned e = 0; e < EXPERTS; e++) {
                take(w, 2 * INNER * WIDTH * bytes);
                take(w, INNER * WIDTH * bytes);
            }
        }
    }
    workload_begins(w);
    for (unsigned step = 0; step < STEPS; step++) {
        for (unsigned i = 0; i < LAYERS; i++) {
            route(&m, i);
            keep(w, &m.saved, TOKENS * WIDTH * 2); /* attention */
            keep(w, &m.saved, TOKENS * 3 * WIDTH * 2);
            keep(w, &m.saved, TOKENS * WIDTH * 2);
            keep(w, &m.saved, TOKENS * 16 * 4);
            uint32_t projected = take(w, TOKENS * WIDTH * 2);
            keep(w, &m.saved, TOKENS * WIDTH * 2);
            give(w, projected);
            experts(&m, i);
        }
        uint32_t logits = take(w, TOKENS / 8 * 50304 * 4);
        uint32_t back = take(w, TOKENS / 8 * 50304 * 4);
        give(w, logits);
        give(w, back);
        for (unsigned i = LAYERS; i-- > 0;) {
            experts_backward(&m, i);
            uint32_t incoming = take(w, TOKENS * WIDTH * 2);
            give_last(w, &m.saved, 1);
            uint32_t accumulator = take(w, TOKENS * WIDTH * 4);
            uint32_t qkv = take(w, TOKENS * 3 * WIDTH * 2);
            give(w, accumulator);
            give_last(w, &m.saved, 4);
            give(w, incoming);
            give(w, qkv);
        }
    }
    list_free(&m.saved);
}
