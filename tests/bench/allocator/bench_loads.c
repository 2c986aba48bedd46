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
        uint64_t at = (draw(&state) >> 11) % SET;
        give(load, held[at]);
        held[at] = take(load, any_size(&state));
    }
    for (int i = 0; i < SET; i++)
        give(load, held[i]);
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

const char *const bench_programs[] = {"moe", "fragmentation", NULL};

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
