/* SPDX-License-Identifier: Apache-2.0
 *
 * Training with sharded parameters on one of eight devices: each layer's parameters are gathered on
 * a communication stream two layers ahead, used on the compute stream (recorded there) and dropped;
 * gradients are accumulated on the compute stream and reduced on the other. Batches of three
 * lengths. */
#include "support/workload_build.h"

#define LAYERS 32
#define WIDTH UINT64_C(5120)
#define DEVICES 8
#define LAYER_ELEMENTS (12 * WIDTH * WIDTH)
#define STEPS 72
#define AHEAD 2
#define COMPUTE 0
#define COMMUNICATION 7

struct sharded {
    struct workload *w;
    uint32_t gathered[LAYERS];
    struct block_list saved, shards; /* shards: reduced gradients */
    uint64_t tokens;
};

static void gather(struct sharded *s, unsigned layer)
{
    s->w->stream = COMMUNICATION;
    s->gathered[layer] = take(s->w, LAYER_ELEMENTS * 2);
    uint32_t flat = take(s->w, LAYER_ELEMENTS / DEVICES * 2);
    request_log_record(s->w->log, s->gathered[layer], COMPUTE);
    give(s->w, flat);
    s->w->stream = COMPUTE;
}

static void forward(struct sharded *s)
{
    struct workload *w = s->w;
    keep(w, &s->saved, s->tokens * WIDTH * 2);
    keep(w, &s->saved, s->tokens * 4);
    uint32_t qkv = take(w, s->tokens * 3 * WIDTH * 2);
    uint32_t attention = take(w, s->tokens * WIDTH * 2);
    give(w, qkv); /* allocated again in the backward pass */
    uint32_t sum = take(w, s->tokens * WIDTH * 2);
    give(w, attention);
    uint32_t up = take(w, s->tokens * 4 * WIDTH * 2);
    uint32_t act = take(w, s->tokens * 4 * WIDTH * 2);
    give(w, up);
    uint32_t down = take(w, s->tokens * WIDTH * 2);
    give(w, act);
    give(w, down);
    give(w, sum);
}

static void backward(struct sharded *s)
{
    struct workload *w = s->w;
    uint32_t incoming = take(w, s->tokens * WIDTH * 2);
    uint32_t qkv = take(w, s->tokens * 3 * WIDTH * 2);
    uint32_t attention = take(w, s->tokens * WIDTH * 2);
    uint32_t up = take(w, s->tokens * 4 * WIDTH * 2);
    uint32_t act = take(w, s->tokens * 4 * WIDTH * 2);
    uint32_t act_back = take(w, s->tokens * 4 * WIDTH * 2);
    uint32_t part = take(w, 4 * WIDTH * WIDTH * 2);
    give(w, act);
    give(w, part);
    uint32_t up_back = take(w, s->tokens * 4 * WIDTH * 2);
    give(w, act_back);
    give(w, up);
    part = take(w, 4 * WIDTH * WIDTH * 2);
    give(w, up_back);
    give(w, part);
    uint32_t qkv_back = take(w, s->tokens * 3 * WIDTH * 2);
    part = take(w, 3 * WIDTH * WIDTH * 2);
    give(w, attention);
    give(w, qkv);
    give(w, part);
    give(w, qkv_back);
    give(w, incoming);
    give_last(w, &s->saved, 2);
}

static void step(struct sharded *s)
{
    struct workload *w = s->w;
    for (unsigned i = 0; i < AHEAD; i++)
        gather(s, i);
    for (unsigned i = 0; i < LAYERS; i++) {
        if (i + AHEAD < LAYERS)
            gather(s, i + AHEAD);
        forward(s);
        if (i + AHEAD < LAYERS)
            give(w, s->gathered[i]);
    }
    uint32_t logits = take(w, s->tokens * 32000 * 4);
    uint32_t back = take(w, s->tokens * 32000 * 4);
    give(w, logits);
    give(w, back);
    for (unsigned i = LAYERS; i-- > 0;) {
        if (i >= AHEAD)
            gather(s, i - AHEAD);
        uint32_t whole = take(w, LAYER_ELEMENTS * 2);
        backward(s);
        give(w, s->gathered[i]);
        s->w->stream = COMMUNICATION;
        request_log_record(s->w->log, whole, COMMUNICATION);
        uint32_t half = take(s->w, LAYER_ELEMENTS / DEVICES * 2);
        give(s->w, whole);
        keep(s->w, &s->shards, LAYER_ELEMENTS / DEVICES * 4);
        give(s->w, half);
        s->w->stream = COMPUTE;
    }
    uint32_t norm = take(w, 4);
    uint32_t root = take(w, LAYER_ELEMENTS / DEVICES * 4);
    give(w, root);
    give(w, norm);
    give_all(w, &s->shards);
}

void workload_streams(struct workload *w)
{
    static const uint64_t token_counts[] = {2048, 3072, 4096};
    struct sharded s = {.w = w};
    for (unsigned i = 0; i < LAYERS; i++) { /* copy and Adam's state, of our share */
        for (unsigned k = 0; k < 3; k++)
            take(w, LAYER_ELEMENTS / DEVICES * 4);
    }
    workload_begins(w);
    for (unsigned i = 0; i < STEPS; i++) {
        s.tokens = token_counts[random_below(w, 3)];
        step(&s);
    }
    list_free(&s.saved);
    list_free(&s.shards);
}
