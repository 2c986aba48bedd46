/* SPDX-License-Identifier: Apache-2.0
 *
 * Serving a language model of 8 billion parameters with requests of mixed length: they arrive in
 * busy and quiet periods, are processed in one pass, then answered in a batch with all others. Keys
 * and values of a request are in one buffer per layer each, which grows by 256 tokens at a time by
 * moving to a larger one. A decode step here represents 16 tokens. */
#include "support/workload_build.h"

#define LAYERS 32
#define WIDTH UINT64_C(4096)
#define INNER UINT64_C(14336)
#define KEYS UINT64_C(1024) /* 8 heads of 128 */
#define VOCABULARY UINT64_C(128256)
#define CHUNK UINT64_C(256)
#define TOKENS_A_STEP 16
#define REQUESTS 176
#define BATCH_MAX 24

static const uint32_t prompts[] = {16, 60, 130, 220, 340, 520, 800, 1300, 2100, 3600, 8000};
static const uint32_t answers[] = {8, 40, 80, 130, 180, 240, 310, 390, 500, 700, 1600};

struct dialogue {
    bool active;
    uint64_t tokens, room, left;
    uint32_t cache[2 * LAYERS];
};

struct server {
    struct workload *w;
    struct dialogue batch[BATCH_MAX];
    unsigned active, begun;
};

/* Memory of one layer besides the cache for *tokens* new tokens. Returns its output; *in* is
 * freed. */
static uint32_t layer(struct workload *w, uint64_t tokens, uint32_t in)
{
    uint32_t norm = take(w, tokens * WIDTH * 2);
    uint32_t qkv = take(w, tokens * (WIDTH + 2 * KEYS) * 2);
    give(w, norm);
    uint32_t attention = take(w, tokens * WIDTH * 2);
    uint32_t softmax = take(w, tokens * 32 * 4);
    give(w, qkv);
    give(w, softmax);
    uint32_t projected = take(w, tokens * WIDTH * 2);
    give(w, attention);
    uint32_t sum = take(w, tokens * WIDTH * 2);
    give(w, projected);
    give(w, in);
    norm = take(w, tokens * WIDTH * 2);
    uint32_t up = take(w, tokens * 2 * INNER * 2);
    give(w, norm);
    uint32_t gated = take(w, tokens * INNER * 2);
    give(w, up);
    uint32_t down = take(w, tokens * WIDTH * 2);
    give(w, gated);
    uint32_t out = take(w, tokens * WIDTH * 2);
    give(w, down);
    give(w, sum);
    return out;
}

static uint64_t room_for(uint64_t tokens)
{
    return (tokens + CHUNK - 1) / CHUNK * CHUNK;
}

static void sample(struct workload *w, uint64_t rows, uint32_t hidden)
{
    uint32_t logits = take(w, rows * VOCABULARY * 2);
    uint32_t single = take(w, rows * VOCABULARY * 4);
    give(w, logits);
    uint32_t sorted = take(w, rows * VOCABULARY * 4);
    uint32_t order = take(w, rows * VOCABULARY * 8);
    uint32_t chosen = take(w, rows * 8);
    give(w, order);
    give(w, sorted);
    give(w, single);
    give(w, chosen);
    give(w, hidden);
}

static void admit(struct server *s)
{
    unsigned slot = 0;
    while (s->batch[slot].active)
        slot++;
    struct dialogue *d = &s->batch[slot];
    d->active = true;
    d->tokens = random_quantile(s->w, prompts, sizeof prompts / sizeof *prompts);
    d->left = random_quantile(s->w, answers, sizeof answers / sizeof *answers);
    d->room = room_for(d->tokens + 1);
    s->active++;
    s->begun++;
    uint32_t ids = take(s->w, d->tokens * 8);
    uint32_t hidden = take(s->w, d->tokens * WIDTH * 2);
    for (unsigned i = 0; i < LAYERS; i++) {
        d->cache[2 * i] = take(s->w, d->room * KEYS * 2);
        d->cache[2 * i + 1] = take(s->w, d->room * KEYS * 2);
        hidden = layer(s->w, d->tokens, hidden);
    }
    uint32_t last = take(s->w, WIDTH * 2);
    give(s->w, hidden);
    give(s->w, ids);
    sample(s->w, 1, last);
}

/* Advances all active requests by a step; those that need room get it layer by layer. */
static void decode(struct server *s)
{
    bool grows[BATCH_MAX] = {false};
    for (unsigned k = 0; k < BATCH_MAX; k++) {
        struct dialogue *d = &s->batch[k];
        if (!d->active)
            continue;
        d->tokens += TOKENS_A_STEP;
        grows[k] = d->tokens >= d->room;
        if (grows[k])
            d->room = room_for(d->tokens + 1);
    }
    uint32_t hidden = take(s->w, s->active * WIDTH * 2);
    for (unsigned i = 0; i < LAYERS; i++) {
        for (unsigned k = 0; k < 2 * BATCH_MAX; k++) {
            struct dialogue *d = &s->batch[k / 2];
            if (!grows[k / 2])
                continue;
            uint32_t larger = take(s->w, d->room * KEYS * 2);
            give(s->w, d->cache[2 * i + k % 2]);
            d->cache[2 * i + k % 2] = larger;
        }
        hidden = layer(s->w, s->active, hidden);
    }
    sample(s->w, s->active, hidden);
}

void workload_serving(struct workload *w)
{
    struct server s = {.w = w};
    uint64_t busy = 0;
    take(w, VOCABULARY * WIDTH * 2);
    for (unsigned i = 0; i < LAYERS; i++) {
        take(w, WIDTH * 2);
        take(w, (WIDTH + 2 * KEYS) * WIDTH * 2);
        take(w, WIDTH * WIDTH * 2);
        take(w, WIDTH * 2);
        take(w, 2 * INNER * WIDTH * 2);
        take(w, INNER * WIDTH * 2);
    }
    take(w, WIDTH * 2);
    take(w, VOCABULARY * WIDTH * 2);
    workload_begins(w);
    for (unsigned step = 0; s.begun < REQUESTS || s.active; step++) {
        if (step % 32 == 0)
            busy = 5 + random_below(w, 60); /* chance in 100 of an arrival, twice per step */
        for (int i = 0; i < 2; i++) {
            if (s.begun < REQUESTS && s.active < BATCH_MAX && random_below(w, 100) < busy)
                admit(&s);
        }
        if (s.active)
            decode(&s);
        for (unsigned k = 0; k < BATCH_MAX; k++) {
            struct dialogue *d = &s.batch[k];
            if (!d->active)
                continue;
            if (d->left > TOKENS_A_STEP) {
                d->left -= TOKENS_A_STEP;
                continue;
            }
            for (unsigned i = 0; i < 2 * LAYERS; i++)
                give(s.w, d->cache[i]);
            d->active = false;
            s.active--;
        }
    }
}
