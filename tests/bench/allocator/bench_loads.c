/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. The synthetic loads come from fixed seeds: every run and every
 * contender gets the same list. */
#include "bench_loads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/replay_log.h"
#include "support/workloads.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

static void *grown(void *array, size_t count, size_t size)
{
    if (count & (count - 1))
        return array;
    array = realloc(array, (count ? 2 * count : 1) * size);
    if (!array)
        abort();
    return array;
}

static void add(struct bench_load *load, uint64_t bytes, uint64_t slot)
{
    load->ops = grown(load->ops, load->count, sizeof *load->ops);
    load->ops[load->count++] = (struct bench_op){bytes, slot};
}

/* Returns the slot. */
static uint64_t take(struct bench_load *load, uint64_t bytes)
{
    uint64_t slot = load->free_count ? load->free_slots[--load->free_count] : load->slots++;
    add(load, bytes ? bytes : 1, slot);
    return slot;
}

static void give(struct bench_load *load, uint64_t slot)
{
    add(load, 0, slot);
    load->free_slots = grown(load->free_slots, load->free_count, sizeof slot);
    load->free_slots[load->free_count++] = slot;
}

static void begin(struct bench_load *load, const char *name)
{
    memset(load, 0, sizeof *load);
    snprintf(load->name, sizeof load->name, "%s", name);
}

void bench_load_free(struct bench_load *load)
{
    free(load->ops);
    free(load->free_slots);
    memset(load, 0, sizeof *load);
}

static uint64_t draw(uint64_t *state)
{
    uint64_t r = *state;
    r ^= r << 13, r ^= r >> 7, r ^= r << 17;
    return *state = r;
}

static uint64_t between(uint64_t *state, uint64_t low, uint64_t high)
{
    return low + (draw(state) >> 11) % (high - low + 1);
}

/* Many short, few long, like prompts and answers: a product of three draws. */
static uint64_t length(uint64_t *state, uint64_t low, uint64_t high)
{
    uint64_t a = between(state, 0, 999), b = between(state, 0, 999), c = between(state, 0, 999);
    return low + (high - low) * a * b * c / 1000000000;
}

void bench_load_pairs(struct bench_load *load, const char *name, uint64_t bytes, size_t pairs)
{
    begin(load, name);
    for (size_t i = 0; i < pairs; i++)
        give(load, take(load, bytes));
}

#define SET 2000
#define REPLACEMENTS 30000

static uint64_t any_size(uint64_t *state)
{
    uint64_t r = draw(state);
    uint64_t power = UINT64_C(1) << (r % 7 == 0 ? 20 + (r >> 8) % 5 : (r >> 8) % 20);
    return power + (r >> 20) % power;
}

void bench_load_working_set(struct bench_load *load)
{
    uint64_t state = 88172645463325252u, held[SET];
    begin(load, "replace one of 2000, 1 B to 32 MiB");
    for (int i = 0; i < SET; i++)
        held[i] = take(load, any_size(&state));
    for (int i = 0; i < REPLACEMENTS; i++) {
        uint64_t at = between(&state, 0, SET - 1);
        give(load, held[at]);
        held[at] = take(load, any_size(&state));
    }
    for (int i = 0; i < SET; i++)
        give(load, held[i]);
}

/* --- serving --- */

#define RUNNING 32
#define STEPS 1500
#define GROUPS 4          /* cache tensors per sequence */
#define TOKEN (8 * KIB)   /* bytes of a token in each of them */
#define WIDTH (4 * KIB)   /* bytes of a token's activation */

struct sequence {
    uint64_t tokens, last, room; /* room: tokens that the cache holds before it must grow */
    uint64_t cache[GROUPS];
};

static void sequence_begin(struct bench_load *load, struct sequence *s, uint64_t *state)
{
    s->tokens = length(state, 16, 6000);
    s->last = s->tokens + length(state, 4, 1200);
    s->room = (s->tokens + 127) / 64 * 64;
    for (int g = 0; g < GROUPS; g++)
        s->cache[g] = take(load, s->room * TOKEN);
}

static void sequence_end(struct bench_load *load, const struct sequence *s)
{
    for (int g = 0; g < GROUPS; g++)
        give(load, s->cache[g]);
}

/* A larger cache is allocated and filled before the smaller one is freed. */
static void sequence_grow(struct bench_load *load, struct sequence *s)
{
    s->room += s->room / 4 + 64;
    for (int g = 0; g < GROUPS; g++) {
        uint64_t larger = take(load, s->room * TOKEN);
        give(load, s->cache[g]);
        s->cache[g] = larger;
    }
}

/* One pass over *tokens* of *rows* sequences: each tensor is freed when the next is allocated. */
static void forward(struct bench_load *load, uint64_t tokens, uint64_t rows)
{
    uint64_t input = take(load, tokens * WIDTH), lengths = take(load, rows * 4);
    for (int layer = 0; layer < 4; layer++) {
        uint64_t qkv = take(load, 3 * tokens * WIDTH), scores = take(load, tokens * 128);
        uint64_t output = take(load, tokens * WIDTH);
        give(load, qkv);
        give(load, scores);
        give(load, input);
        input = output;
    }
    uint64_t logits = take(load, rows * 128 * KIB), chosen = take(load, rows * 8);
    give(load, input);
    give(load, logits);
    give(load, lengths);
    give(load, chosen);
}

void bench_load_serving(struct bench_load *load)
{
    struct sequence running[RUNNING];
    uint64_t state = 0x9e3779b97f4a7c15u;
    begin(load, "serving, mixed lengths");
    for (int i = 0; i < RUNNING; i++)
        sequence_begin(load, &running[i], &state);
    for (int step = 0; step < STEPS; step++) {
        uint64_t fresh = 0;
        for (int i = 0; i < RUNNING; i++) {
            struct sequence *s = &running[i];
            if (++s->tokens > s->last) {
                sequence_end(load, s);
                sequence_begin(load, s, &state);
                fresh += s->tokens;
            } else if (s->tokens > s->room) {
                sequence_grow(load, s);
            }
        }
        forward(load, fresh + RUNNING, RUNNING);
    }
    for (int i = 0; i < RUNNING; i++)
        sequence_end(load, &running[i]);
}

/* --- batches of variable length --- */

#define LAYERS 12
#define BATCHES 60
#define SAVED 6 /* tensors each layer keeps for the backward pass */
#define HIDDEN 1024

static void layer_forward(struct bench_load *load, uint64_t tokens, uint64_t *saved)
{
    static const uint64_t per_token[SAVED] = {6 * HIDDEN, 2 * HIDDEN, 64,
                                              8 * HIDDEN, 2 * HIDDEN, HIDDEN};
    uint64_t workspace = take(load, 8 * MIB), cast = take(load, tokens * 4 * HIDDEN);
    for (int i = 0; i < SAVED; i++)
        saved[i] = take(load, tokens * per_token[i]);
    give(load, cast);
    give(load, workspace);
}

static uint64_t layer_backward(struct bench_load *load, uint64_t tokens, const uint64_t *saved,
                               uint64_t gradient)
{
    uint64_t workspace = take(load, 8 * MIB);
    for (int i = SAVED - 1; i >= 0; i--) {
        uint64_t next = take(load, tokens * (i % 2 ? 2 : 8) * HIDDEN);
        give(load, gradient);
        give(load, saved[i]);
        gradient = next;
    }
    give(load, workspace);
    return gradient;
}

static void batch(struct bench_load *load, uint64_t tokens, uint64_t *state)
{
    uint64_t saved[LAYERS][SAVED], ids = take(load, tokens * 8);
    for (int layer = 0; layer < LAYERS; layer++)
        layer_forward(load, tokens, saved[layer]);
    uint64_t logits = take(load, tokens * 64 * KIB), loss = take(load, 4);
    uint64_t gradient = take(load, tokens * 64 * KIB);
    give(load, logits);
    for (int layer = LAYERS - 1; layer >= 0; layer--)
        gradient = layer_backward(load, tokens, saved[layer], gradient);
    for (int i = 0; i < LAYERS; i++) { /* the optimizer's temporaries */
        uint64_t a = take(load, 16 * MIB), b = take(load, between(state, 1, 4) * 4 * KIB);
        give(load, b);
        give(load, a);
    }
    give(load, gradient);
    give(load, loss);
    give(load, ids);
}

void bench_load_lengths(struct bench_load *load)
{
    uint64_t state = 0x2545f4914f6cdd1du, weights[4 * LAYERS];
    begin(load, "training, variable-length batches");
    for (int i = 0; i < 4 * LAYERS; i++)
        weights[i] = take(load, (i % 4 + 1) * 4 * MIB);
    for (int i = 0; i < BATCHES; i++)
        batch(load, 8 * between(&state, 64, 1024), &state);
    for (int i = 0; i < 4 * LAYERS; i++)
        give(load, weights[i]);
}

/* Frees the remaining blocks at the end of a program. */
static void give_rest(struct bench_load *load)
{
    char *held = calloc(load->slots + 1, 1);
    if (!held)
        abort();
    for (size_t i = 0; i < load->count; i++)
        held[load->ops[i].slot] = load->ops[i].bytes != 0;
    for (uint64_t slot = 0; slot < load->slots; slot++) {
        if (held[slot])
            give(load, slot);
    }
    free(held);
}

/* --- generated programs --- */

const char *const bench_programs[] = {"varlen", "serving", "moe", "fragmentation", NULL};

void bench_load_program(struct bench_load *load, const char *name)
{
    struct request_log log = {0};
    char title[48];
    snprintf(title, sizeof title, "program %s", name);
    begin(load, title);
    if (!workload_make(name, 1, &log))
        abort();
    uint64_t *slots = calloc(log.id_count, sizeof *slots);
    if (!slots)
        abort();
    for (size_t i = 0; i < log.count; i++) {
        const struct request *r = &log.requests[i];
        if (r->kind == REQUEST_ALLOC)
            slots[r->id] = take(load, r->size);
        else if (r->kind == REQUEST_FREE)
            give(load, slots[r->id]);
    }
    free(slots);
    request_log_clear(&log);
    give_rest(load);
}

/* --- recorded traces --- */

static void trace_ops(struct bench_load *load, const struct replay_log *log, struct vs_map *live)
{
    for (size_t i = 0; i < log->segment_count; i++) {
        uint64_t at = log->segments[i].addr;
        for (size_t j = 0; j < log->segments[i].block_count; j++) {
            const struct vs_block_layout *b = &log->blocks[log->segments[i].first_block + j];
            if (b->live && vs_map_put(live, at, take(load, b->requested)))
                abort();
            at += b->size;
        }
    }
    for (size_t i = 0; i < log->event_count; i++) {
        const struct replay_event *e = &log->events[i];
        uint64_t slot;
        if (e->kind == REPLAY_ALLOC && vs_map_put(live, e->addr, take(load, e->size)))
            abort();
        if (e->kind == REPLAY_FREE && vs_map_remove(live, e->addr, &slot))
            give(load, slot);
    }
}

void bench_load_trace(struct bench_load *load, const char *path)
{
    struct replay_log log;
    struct vs_map live = {0};
    const char *slash = strrchr(path, '/');
    begin(load, slash ? slash + 1 : path);
    char *dot = strrchr(load->name, '.');
    if (dot)
        *dot = '\0';
    replay_load(path, &log);
    trace_ops(load, &log, &live);
    give_rest(load);
    vs_map_free(&live);
    replay_log_free(&log);
    if (!load->count) {
        fprintf(stderr, "bench_allocator: %s has no requests\n", path);
        exit(2);
    }
}
