/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. Each block belongs to a list of its owner; addresses are never reused. */
#include "support/growth_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/reading/vs_vec.h"
#include "support/trace_builder.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define LAYERS_MAX 8
#define ENTRIES_MAX 64

enum { THREAD_MAIN = 10, THREAD_PREFETCH, THREAD_NOISE };

struct case_blocks {
    struct { uint64_t addr, size; } *items;
    size_t count, capacity;
};

struct case_run {
    const struct growth_case *one;
    bool (*sink)(void *arg, const struct vs_event *event);
    void *arg;
    struct growth_truth *truth;
    uint64_t random, next_addr, now_ns, step_name;
    bool failed;
    unsigned layers, step, last_growth, first_step, every, entries;
    uint64_t block, batch_percent;
    uint64_t family;
    struct case_blocks fixed, step_blocks, habit, batch, noise, grads;
    bool visited[ENTRIES_MAX];
    uint64_t buffer; /* size of the resized buffer */
};

static uint64_t next_random(struct case_run *run)
{
    uint64_t z = run->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(struct case_run *run, uint64_t bound)
{
    return bound ? next_random(run) % bound : 0;
}

const char *growth_habit_name(enum growth_habit habit)
{
    static const char *const names[HABIT_COUNT] = {
        "leak", "leak every few steps", "late leak", "tiny leak", "random leak",
        "leak of random sizes", "leak in bursts", "leak of another family", "leak at three sites",
        "leak and use", "freed at the end", "nothing", "cache", "cache visited at random",
        "cache of the latest", "lazy state", "graphs", "sawtooth", "last block", "resized buffer",
        "vector that doubles"};
    return names[habit];
}

static void emit(struct case_run *run, uint32_t tid, struct vs_event event)
{
    run->now_ns += 500 + below(run, 1000);
    event.time_ns = run->now_ns;
    event.tid = tid;
    if (!run->failed)
        run->failed = !run->sink(run->arg, &event);
}

static void take(struct case_run *run, struct case_blocks *owner, uint32_t tid, uint64_t site,
                 uint64_t size, uint64_t family)
{
    vs_vec_room(&owner->items, &owner->capacity, owner->count + 1, sizeof *owner->items);
    uint64_t addr = run->next_addr;
    run->next_addr += (size + MIB) & ~(MIB - 1);
    owner->items[owner->count].addr = addr;
    owner->items[owner->count++].size = size;
    emit(run, tid, EVENT(alloc, .addr = addr, .requested = size, .size = size, .family = family,
                         .context = 1, .stack = site));
}

static void give(struct case_run *run, struct case_blocks *owner, uint32_t tid, size_t index)
{
    uint64_t addr = owner->items[index].addr;
    memmove(owner->items + index, owner->items + index + 1,
            (owner->count - index - 1) * sizeof *owner->items);
    owner->count--;
    emit(run, tid, EVENT(free, .addr = addr));
}

static void give_all(struct case_run *run, struct case_blocks *owner, uint32_t tid)
{
    while (owner->count)
        give(run, owner, tid, owner->count - 1);
}

static void temporary(struct case_run *run, uint64_t site, uint64_t size)
{
    struct case_blocks one = {0};
    take(run, &one, THREAD_MAIN, site, size, VS_FAMILY_DEVICE);
    give(run, &one, THREAD_MAIN, 0);
    free(one.items);
}

static uint64_t batch_size(const struct case_run *run, uint64_t size)
{
    return size * run->batch_percent / 100;
}

static void make_noise(struct case_run *run)
{
    if (!run->one->noise || below(run, 8))
        return;
    if (run->noise.count && below(run, 2))
        give(run, &run->noise, THREAD_NOISE, below(run, run->noise.count));
    else if (run->noise.count < 4)
        take(run, &run->noise, THREAD_NOISE, 900 + below(run, 3), (1 + below(run, 64)) * 16 * KIB,
             VS_FAMILY_DEVICE);
}

/* A block that stays, and what is true of it. */
static void grow(struct case_run *run, uint64_t site, uint64_t size)
{
    if (!run->truth->first_ns) {
        run->truth->first_ns = run->now_ns;
        run->truth->since = run->step;
    }
    take(run, &run->habit, THREAD_MAIN, site, size, run->family);
    run->last_growth = run->step;
    run->truth->per_step += size; /* divided at the end */
}

static void leak(struct case_run *run)
{
    uint64_t s = GROWTH_CASE_SITE;
    switch (run->one->habit) {
    case HABIT_LEAK_THIRD:
        if (run->step % run->every == 0)
            grow(run, s, run->block);
        return;
    case HABIT_LEAK_LATE:
        if (run->step >= run->first_step)
            grow(run, s, run->block);
        return;
    case HABIT_LEAK_RANDOM:
        if (below(run, 100) < 60)
            grow(run, s, run->block);
        return;
    case HABIT_LEAK_SIZES: grow(run, s, run->block / 2 + below(run, run->block)); return;
    case HABIT_LEAK_BURSTS:
        for (int i = 0; run->step % 10 == 0 && i < 5; i++)
            grow(run, s, run->block);
        return;
    case HABIT_LEAK_SITES:
        for (unsigned i = 0; i < 3; i++)
            grow(run, s + i, run->block << i);
        return;
    case HABIT_LEAK_AND_USE:
        temporary(run, s, 4 * run->block);
        grow(run, s, run->block);
        temporary(run, s, 2 * run->block);
        return;
    case HABIT_LEAK_DOUBLES:
        if (run->step <= run->buffer)
            return;
        run->buffer = 2 * run->step;
        grow(run, s, run->buffer * 256 * KIB);
        if (run->habit.count > 1)
            give(run, &run->habit, THREAD_MAIN, 0);
        return;
    default: grow(run, s, run->block);
    }
}

static void benign(struct case_run *run)
{
    uint64_t s = GROWTH_CASE_SITE, f = VS_FAMILY_DEVICE;
    switch (run->one->habit) {
    case HABIT_CACHE:
        if (run->habit.count < run->entries)
            take(run, &run->habit, THREAD_MAIN, s, run->block, f);
        return;
    case HABIT_CACHE_VISITED: {
        uint64_t entry = below(run, run->entries);
        if (!run->visited[entry])
            take(run, &run->habit, THREAD_MAIN, s, run->block, f);
        run->visited[entry] = true;
        return;
    }
    case HABIT_LRU:
        take(run, &run->habit, THREAD_MAIN, s, run->block / 2 + below(run, run->block), f);
        if (run->habit.count > run->entries)
            give(run, &run->habit, THREAD_MAIN, 0);
        return;
    case HABIT_LAZY:
        for (unsigned i = 0; run->step == 1 && i < 2 * run->layers; i++)
            take(run, &run->habit, THREAD_MAIN, s, run->block, f);
        return;
    case HABIT_GRAPHS:
        for (unsigned i = 0; run->step <= 2 && i < 3; i++)
            take(run, &run->habit, THREAD_MAIN, s, run->block, f);
        return;
    case HABIT_SAWTOOTH:
        take(run, &run->habit, THREAD_MAIN, s, run->block, f);
        if (run->step % run->every == 0)
            give_all(run, &run->habit, THREAD_MAIN);
        return;
    case HABIT_LAST:
        take(run, &run->habit, THREAD_MAIN, s, run->block / 2 + below(run, run->block), f);
        if (run->habit.count > 1)
            give(run, &run->habit, THREAD_MAIN, 0);
        return;
    case HABIT_RESIZED: {
        uint64_t need = run->block / 2 + below(run, run->block);
        if (need <= run->buffer)
            return;
        give_all(run, &run->habit, THREAD_MAIN);
        take(run, &run->habit, THREAD_MAIN, s, need, f);
        run->buffer = need;
        return;
    }
    default: return;
    }
}

static void behave(struct case_run *run)
{
    if (growth_case_grows(run->one->habit))
        leak(run);
    else
        benign(run);
}

static void prefetch(struct case_run *run)
{
    if (!run->one->prefetch)
        return;
    take(run, &run->batch, THREAD_PREFETCH, 800, batch_size(run, MIB), VS_FAMILY_DEVICE);
    if (run->batch.count > 2)
        give(run, &run->batch, THREAD_PREFETCH, 0);
}

/* Activations stay until backward frees them in the opposite order. */
static void train_step(struct case_run *run)
{
    struct case_blocks *kept = &run->step_blocks;
    unsigned behave_at = run->layers / 2;
    for (unsigned l = 0; l < run->layers; l++) {
        temporary(run, 100, batch_size(run, 2 * MIB));
        take(run, kept, THREAD_MAIN, 101, batch_size(run, 8 * MIB), VS_FAMILY_DEVICE);
        take(run, kept, THREAD_MAIN, 102, batch_size(run, 4 * MIB), VS_FAMILY_DEVICE);
        if (l == behave_at)
            behave(run);
        make_noise(run);
    }
    take(run, kept, THREAD_MAIN, 103, batch_size(run, MIB), VS_FAMILY_DEVICE);
    prefetch(run);
    for (unsigned l = 0; l < run->layers; l++) {
        temporary(run, 104, batch_size(run, 4 * MIB));
        take(run, &run->grads, THREAD_MAIN, 105, 2 * MIB, VS_FAMILY_DEVICE);
        give(run, kept, THREAD_MAIN, kept->count - 1);
        give(run, kept, THREAD_MAIN, kept->count - 1);
        make_noise(run);
    }
    give_all(run, kept, THREAD_MAIN);
    temporary(run, 106, MIB);
    give_all(run, &run->grads, THREAD_MAIN);
}

static void server_request(struct case_run *run)
{
    struct case_blocks *kept = &run->step_blocks;
    unsigned kind = (unsigned)below(run, 4), parts = 1 + (unsigned)below(run, 6);
    bool behaves = below(run, 2);
    for (unsigned i = 0; i < parts; i++) {
        uint64_t size = (1 + below(run, 40)) * 256 * KIB;
        take(run, kept, THREAD_MAIN, 200 + 10 * kind + below(run, 4), size, VS_FAMILY_DEVICE);
        if (below(run, 3) == 0 && kept->count > 1)
            give(run, kept, THREAD_MAIN, below(run, kept->count));
    }
    if (behaves)
        behave(run);
    make_noise(run);
    give_all(run, kept, THREAD_MAIN);
}

static void one_step(struct case_run *run)
{
    const struct growth_case *one = run->one;
    run->batch_percent = one->varying ? 50 + below(run, 100) : 100;
    if (one->marks)
        emit(run, THREAD_MAIN, EVENT(range_push, .name = run->step_name));
    if (run->step <= one->warm_up)
        for (unsigned i = 0; i < 5; i++)
            temporary(run, 400 + i, (1 + below(run, 32)) * MIB);
    if (one->program == PROGRAM_TRAIN)
        train_step(run);
    else if (one->program == PROGRAM_SERVER)
        server_request(run);
    else {
        take(run, &run->step_blocks, THREAD_MAIN, 101, batch_size(run, 8 * MIB), VS_FAMILY_DEVICE);
        behave(run);
        make_noise(run);
        take(run, &run->step_blocks, THREAD_MAIN, 102, batch_size(run, 4 * MIB), VS_FAMILY_DEVICE);
        prefetch(run);
        give_all(run, &run->step_blocks, THREAD_MAIN);
        make_noise(run);
    }
    if (one->marks)
        emit(run, THREAD_MAIN, EVENT(range_pop));
    if (one->evaluate_every && run->step % one->evaluate_every == 0) {
        for (unsigned i = 0; i < 3; i++) {
            take(run, &run->step_blocks, THREAD_MAIN, 301, 6 * MIB, VS_FAMILY_DEVICE);
            temporary(run, 302, 3 * MIB);
            give_all(run, &run->step_blocks, THREAD_MAIN);
        }
    }
}

static void end(struct case_run *run)
{
    if (run->one->ending == ENDING_FAILURE) { /* in the middle of the next step */
        for (unsigned l = 0; l < (run->one->program == PROGRAM_TRAIN ? run->layers : 1); l++)
            take(run, &run->step_blocks, THREAD_MAIN, 101, 8 * MIB, VS_FAMILY_DEVICE);
        emit(run, THREAD_MAIN, EVENT(alloc_failed, .requested = 8 * MIB, .context = 1, .stack = 101,
                                     .error = 2));
        return;
    }
    give_all(run, &run->step_blocks, THREAD_MAIN);
    if (run->one->ending == ENDING_FREES || run->one->habit == HABIT_FREED_AT_END) {
        give_all(run, &run->habit, THREAD_MAIN);
        give_all(run, &run->batch, THREAD_PREFETCH);
        give_all(run, &run->noise, THREAD_NOISE);
        give_all(run, &run->fixed, THREAD_MAIN);
    }
}

bool growth_case_run(const struct growth_case *one, uint64_t step_name,
                     bool (*sink)(void *arg, const struct vs_event *event), void *arg,
                     struct growth_truth *truth)
{
    static const uint64_t families[] = {VS_FAMILY_ASYNC, VS_FAMILY_MANAGED, VS_FAMILY_PINNED,
                                        VS_FAMILY_VMM};
    struct case_run run = {.one = one, .sink = sink, .arg = arg, .truth = truth,
                           .random = one->seed, .next_addr = UINT64_C(0x7f0000000000),
                           .now_ns = 1000000, .step_name = step_name, .batch_percent = 100};
    *truth = (struct growth_truth){.grows = growth_case_grows(one->habit)};
    run.layers = 3 + (unsigned)below(&run, LAYERS_MAX - 2);
    run.block = (1 + below(&run, 64)) * 256 * KIB;
    if (one->habit == HABIT_LEAK_TINY)
        run.block = 16 * KIB;
    run.family = one->habit == HABIT_LEAK_FAMILY ? families[below(&run, 4)] : VS_FAMILY_DEVICE;
    run.every = 3 + (unsigned)below(&run, 3);
    run.first_step = one->steps / 3 + (unsigned)below(&run, one->steps / 4 + 1);
    unsigned visits = one->program == PROGRAM_SERVER ? one->steps / 2 : one->steps;
    run.entries = 3 + (unsigned)below(&run, visits / 6 < ENTRIES_MAX - 3 ? visits / 6
                                                                         : ENTRIES_MAX - 3);
    for (unsigned l = 0; l < 2 * run.layers; l++)
        take(&run, &run.fixed, THREAD_MAIN, 1 + l % 2, (1 + l % 3) * 2 * MIB, VS_FAMILY_DEVICE);
    for (run.step = 1; run.step <= one->steps; run.step++)
        one_step(&run);
    truth->every = one->habit == HABIT_LEAK_THIRD    ? run.every
                   : one->habit == HABIT_LEAK_BURSTS ? 10
                   : one->habit == HABIT_LEAK_RANDOM || one->program == PROGRAM_SERVER ? 0
                                                                                       : 1;
    if (truth->since)
        truth->per_step /= run.last_growth - truth->since + (truth->every ? truth->every : 1);
    end(&run);
    struct case_blocks *all[] = {&run.fixed, &run.step_blocks, &run.habit,
                                 &run.batch, &run.noise, &run.grads};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->items);
    return !run.failed;
}

void growth_case_make(uint64_t seed, enum growth_habit habit, struct growth_case *out)
{
    struct case_run run = {.random = seed * 977 + habit};
    *out = (struct growth_case){
        .program = (enum growth_program)below(&run, PROGRAM_COUNT), .habit = habit,
        .ending = (enum growth_ending)below(&run, ENDING_COUNT), .seed = next_random(&run),
        .noise = below(&run, 2), .prefetch = below(&run, 3) == 0, .varying = below(&run, 2),
        .evaluate_every = below(&run, 2) ? 0 : 5 + (unsigned)below(&run, 10),
        .warm_up = below(&run, 2) ? 0 : (unsigned)below(&run, 3)};
    static const unsigned lengths[] = {20, 40, 100, 300, 1000};
    out->steps = lengths[below(&run, 5)] + (unsigned)below(&run, 10);
    if (habit == HABIT_LEAK_BURSTS && out->steps < 60)
        out->steps += 60;
    if (out->program == PROGRAM_SERVER)
        out->steps *= 2;
    if (habit == HABIT_FREED_AT_END)
        out->ending = ENDING_FREES;
    else if (growth_case_grows(habit) && out->ending == ENDING_FREES)
        out->ending = ENDING_EXIT;
}
