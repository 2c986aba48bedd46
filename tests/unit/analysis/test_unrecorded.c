/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace with unrecorded allocations gives the same balances, peaks and counts as one with all of
 * them: one random program is recorded with every combination of options, and the replays are
 * compared. Estimates by site are unbiased over the seeds. Peaks of a trace of limited size:
 * tests/preload/check_sampling.py. */
#define _GNU_SOURCE

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/state/replay.h"
#include "support/scratch_folder.h"
#include "support/trace_builder.h"
#include "trace/read/reader.h"
#include "trace/record/recorder.h"
#include "trace/record/selection.h"

#define DEVICES 3
#define LIVE_MAX 300

/* --- a program --- */

struct thing {
    uint64_t addr, requested, size;
    uint32_t device;
    enum vs_family family;
    enum vs_level level;
};

static struct vs_book book; /* of the recorder that is open */

struct program {
    struct vs_recorder *recorder;
    struct thing live[LIVE_MAX];
    unsigned count, depth;
    uint64_t random, next_addr, held[DEVICES];
};

static void put(struct program *p, const struct thing *t, bool alloc, bool selected)
{
    bool framework = t->level == VS_LEVEL_FRAMEWORK;
    struct vs_event event = EVENT(free, .addr = t->addr, .device = t->device);
    if (alloc && framework)
        event = EVENT(framework_alloc, .addr = t->addr, .size = t->size, .device = t->device);
    else if (alloc)
        event = EVENT(alloc, .addr = t->addr, .requested = t->requested, .size = t->size,
                      .family = t->family, .device = t->device, .context = 1 + t->device);
    else if (framework)
        event = EVENT(framework_free, .addr = t->addr, .size = t->size, .device = t->device);
    struct vs_change change = (alloc ? vs_change_alloc : vs_change_free)(
        t->level, t->family, t->device, t->requested, t->size);
    vs_recorder_change(p->recorder, &book, change, selected, &event);
}

static void make(struct program *p)
{
    static const enum vs_family families[] = {VS_FAMILY_DEVICE, VS_FAMILY_ASYNC,
                                              VS_FAMILY_PINNED, VS_FAMILY_IPC, VS_FAMILY_MANAGED};
    struct thing *t = &p->live[p->count++];
    uint64_t kind = vs_random(&p->random) % 8;
    *t = (struct thing){.requested = 1 + vs_random(&p->random) % 5000,
                        .device = (uint32_t)(vs_random(&p->random) % DEVICES),
                        .level = VS_LEVEL_DEVICE};
    t->size = (t->requested + 511) & ~UINT64_C(511);
    if (kind < 5)
        t->family = families[kind];
    else if (kind < 7)
        t->level = VS_LEVEL_BLOCK;
    else
        t->level = VS_LEVEL_FRAMEWORK;
    p->next_addr += 8192;
    /* blocks are in the device's segment */
    uint64_t base = t->level == VS_LEVEL_BLOCK ? UINT64_C(1) << (40 + t->device)
                                               : UINT64_C(1) << 50;
    t->addr = base + p->next_addr;
    put(p, t, true, vs_recorder_selects(p->recorder, t->level, t->requested));
}

static void drop(struct program *p)
{
    unsigned i = (unsigned)(vs_random(&p->random) % p->count);
    put(p, &p->live[i], false, false);
    p->live[i] = p->live[--p->count];
}

static void simple(struct program *p, struct vs_event event)
{
    vs_recorder_event(p->recorder, &event);
}

static void other(struct program *p, unsigned step)
{
    char name[32];
    uint64_t kind = vs_random(&p->random) % 4;
    if (kind == 0) {
        if (p->depth)
            simple(p, EVENT(range_pop));
        snprintf(name, sizeof name, "step %u", step);
        simple(p, EVENT(range_push, .name = vs_recorder_string(p->recorder, name, SIZE_MAX)));
        p->depth = 1;
    } else if (kind == 1) {
        simple(p, EVENT(alloc_failed, .requested = 1u << 30, .device = 1));
    } else if (kind == 2) {
        simple(p, EVENT(kernel, .device = 1));
    }
}

static void run(struct program *p, uint64_t seed, unsigned steps)
{
    p->random = seed;
    for (uint32_t i = 0; i < DEVICES; i++) {
        simple(p, EVENT(device, .device = i));
        simple(p, EVENT(segment_alloc, .addr = UINT64_C(1) << (40 + i), .size = UINT64_C(1) << 32,
                        .device = i));
    }
    for (unsigned i = 0; i < steps; i++) {
        /* in phases, so that there are many peaks */
        uint64_t towards = 50 + 40 * ((i / 97) % 3);
        if (!p->count || (p->count < LIVE_MAX && vs_random(&p->random) % 190 < towards))
            make(p);
        else
            drop(p);
        if (vs_random(&p->random) % 200 == 0)
            other(p, i);
    }
}

static struct vs_recorder *open_trace(const char *path, struct vs_recorder_config config)
{
    memset(&book, 0, sizeof book);
    struct vs_recorder *r = NULL;
    config.path = path;
    config.flush_ms = 1000;
    config.compression = !config.limit_bytes; /* a limit is reached sooner */
    assert_int_equal(vs_recorder_open(&config, &r), VS_OK);
    return r;
}

/* A trace that was read; "whole" has all events. */
static struct reading {
    struct vs_reader *reader;
    struct vs_replay *replay;
} whole, part;

static void close_reading(struct reading *r)
{
    vs_replay_close(r->replay);
    vs_reader_close(r->reader);
    *r = (struct reading){NULL, NULL};
}

AFTER(close_readings)
{
    close_reading(&whole);
    close_reading(&part);
    return 0;
}

static void read_trace(struct reading *r, const char *path)
{
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    close_reading(r);
    enum vs_err err = vs_reader_open(path, &r->reader, why);
    if (err)
        fail_msg("%s", why);
    r->replay = vs_replay_open(r->reader);
    while ((err = vs_reader_next(r->reader, &event)) == VS_OK) {
        vs_replay_event(r->replay, &event);
        assert_true(event.kind == VS_EVENT_unrecorded || vs_replay_check(r->replay));
    }
    assert_int_equal(err, VS_ERR_END);
    vs_replay_finish(r->replay);
}

/* --- comparing --- */

static void same_account(const struct vs_account *a, const struct vs_account *b)
{
    for (int f = 0; f < VS_FAMILY_COUNT; f++) {
        assert_int_equal(a->sums.family[f].allocs, b->sums.family[f].allocs);
        assert_int_equal(a->sums.family[f].frees, b->sums.family[f].frees);
        assert_int_equal(a->family[f].bytes, b->family[f].bytes);
        assert_int_equal(vs_ledger_live(&a->sums, f), vs_ledger_live(&b->sums, f));
    }
    assert_memory_equal(&a->sums.now, &b->sums.now, sizeof a->sums.now);
    assert_memory_equal(&a->sums.peak, &b->sums.peak, sizeof a->sums.peak);
    assert_int_equal(vs_ledger_block_bytes(&a->sums), vs_ledger_block_bytes(&b->sums));
    assert_int_equal(a->sums.segment_bytes, b->sums.segment_bytes);
    assert_int_equal(a->peak_allocated.bytes, b->peak_allocated.bytes);
    assert_int_equal(a->peak_requested.bytes, b->peak_requested.bytes);
    assert_int_equal(a->peak_reserved.bytes, b->peak_reserved.bytes);
    assert_int_equal(a->step_peak, b->step_peak);
    assert_int_equal(a->steps_peak, b->steps_peak);
    assert_int_equal(a->freed_bytes, b->freed_bytes);
    const struct vs_family_counts *tensors = &a->framework.family[VS_FAMILY_DEVICE];
    assert_memory_equal(tensors, &b->framework.family[VS_FAMILY_DEVICE], sizeof *tensors);
    assert_int_equal(a->framework.now.allocated, b->framework.now.allocated);
    assert_int_equal(a->framework.peak.allocated, b->framework.peak.allocated);
}

static void same_replays(const struct vs_replay *a, const struct vs_replay *b)
{
    assert_int_equal(a->account_count, b->account_count);
    assert_int_equal(a->unmatched_frees, b->unmatched_frees);
    for (unsigned i = 0; i <= a->account_count; i++) {
        unsigned k = i < a->account_count ? i : VS_HOST_INDEX;
        const struct vs_account *x = a->accounts[k], *y = b->accounts[k];
        same_account(x, y);
        for (int f = 0; f < VS_FAMILY_COUNT; f++)
            assert_int_equal(x->family[f].failures, y->family[f].failures);
    }
    assert_int_equal(a->phases.count, b->phases.count);
    for (size_t i = 0; i < a->phases.count; i++) {
        const struct vs_phase *x = &a->phases.items[i], *y = &b->phases.items[i];
        assert_int_equal(x->allocs, y->allocs);
        assert_int_equal(x->alloc_bytes, y->alloc_bytes);
        for (unsigned k = 0; k < x->peak_count && k < y->peak_count; k++)
            assert_int_equal(x->peaks[k], y->peaks[k]);
    }
}

static const char *file(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s.vst", scratch_folder(), name);
    return path;
}

/* Records the program with *config* and reads the trace. */
static void record(struct reading *r, struct vs_recorder_config config, uint64_t seed)
{
    const char *path = file(r == &whole ? "whole" : "part");
    struct program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->recorder = open_trace(path, config);
    run(p, seed, 6000);
    vs_recorder_close(p->recorder, VS_END_EXIT, 0);
    free(p);
    read_trace(r, path);
}

static const struct vs_recorder_config everything = {0};

TEST(totals_and_peaks_are_those_of_the_whole_trace)
{
    static const struct vs_recorder_config configs[] = {
        {.sample = 2}, {.sample = 16}, {.sample = 1000}, {.min_size = 700},
        {.min_size = 100000}, {.min_size = 2000, .sample = 5}, {.sample = 16, .sample_seed = 9}};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        record(&whole, everything, seed);
        for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
            record(&part, configs[i], seed);
            same_replays(whole.replay, part.replay);
            assert_true(part.replay->recording.selects);
            assert_true(vs_recording_partial(&part.replay->recording));
        }
    }
}

/* --- estimates --- */

/* Two sites in turn, one of them rarely: a pattern that a fixed sampling distance would hit always
 * or never. */
static void rhythm(struct vs_recorder *r, unsigned count, const uint64_t *apis, uint64_t *truth)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned site = i % 16 == 3;
        uint64_t bytes = 512 * (1 + i % 7);
        bool selected = vs_recorder_selects(r, VS_LEVEL_DEVICE, bytes);
        struct vs_change change =
            vs_change_alloc(VS_LEVEL_DEVICE, VS_FAMILY_DEVICE, 0, bytes, bytes);
        struct vs_event event = EVENT(alloc, .addr = 4096 * (1 + (uint64_t)i), .requested = bytes,
                                      .size = bytes, .api = apis[site]);
        vs_recorder_change(r, &book, change, selected, &event);
        truth[site] += bytes;
    }
}

TEST(estimates_of_sites_are_unbiased)
{
    enum { SEEDS = 200, COUNT = 1600, EVERY = 16 };
    double sum[2] = {0}, squares[2] = {0};
    uint64_t truth[2];
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct vs_recorder *r = open_trace(file("estimate"), (struct vs_recorder_config){
                                                     .sample = EVERY, .sample_seed = seed});
        uint64_t apis[2] = {vs_recorder_string(r, "often", SIZE_MAX),
                            vs_recorder_string(r, "seldom", SIZE_MAX)};
        memset(truth, 0, sizeof truth);
        rhythm(r, COUNT, apis, truth);
        vs_recorder_close(r, VS_END_EXIT, 0);
        read_trace(&part, file("estimate"));
        assert_int_equal(part.replay->accounts[0]->sums.now.allocated, truth[0] + truth[1]);
        for (int k = 0; k < 2; k++) {
            const struct vs_site_key key = {.api = apis[k]};
            const struct vs_site *site = vs_sites_find(&part.replay->sites, &key);
            double estimate = site ? (double)(site->bytes * EVERY) : 0;
            sum[k] += estimate;
            squares[k] += estimate * estimate;
        }
    }
    for (int k = 0; k < 2; k++) {
        double mean = sum[k] / SEEDS, variance = squares[k] / SEEDS - mean * mean;
        double error = sqrt(variance / SEEDS);
        /* the seeds are fixed: the figure is the same in every run */
        if (fabs(mean - (double)truth[k]) > 3 * error)
            fail_msg("site %d: mean %.0f, truth %llu, standard error %.0f", k, mean,
                     (unsigned long long)truth[k], error);
    }
}

/* --- graphs --- */

static void put_graph(struct vs_recorder *r, uint64_t addr, uint64_t bytes, bool alloc)
{
    struct vs_event event = alloc ? EVENT(alloc, .addr = addr, .requested = bytes, .size = bytes,
                                          .family = VS_FAMILY_GRAPH)
                                  : EVENT(free, .addr = addr);
    struct vs_change change = (alloc ? vs_change_alloc : vs_change_free)(
        VS_LEVEL_DEVICE, VS_FAMILY_GRAPH, 0, bytes, bytes);
    bool selected = alloc && vs_recorder_selects(r, VS_LEVEL_DEVICE, bytes);
    vs_recorder_change(r, &book, change, selected, &event);
}

/* Allocates and frees graph memory, and changes the memory that the driver holds for graphs. */
static void record_graphs(struct reading *reading, struct vs_recorder_config config, uint64_t seed)
{
    uint64_t size[32] = {0}, random = seed;
    struct vs_recorder *r = open_trace(file("graphs"), config);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t slot = vs_random(&random) % 32, bytes = 1 + vs_random(&random) % 4000;
        if (vs_random(&random) % 8 == 0) {
            uint64_t held = vs_random(&random) % 40000;
            struct vs_event event = EVENT(graph_memory, .reserved = held, .reserved_high = held);
            vs_recorder_change(r, &book, vs_change_graphs(0, held), true, &event);
            continue;
        }
        put_graph(r, 4096 * (slot + 1), size[slot] ? size[slot] : bytes, !size[slot]);
        size[slot] = size[slot] ? 0 : bytes;
    }
    vs_recorder_close(r, VS_END_EXIT, 0);
    read_trace(reading, file("graphs"));
}

TEST(memory_of_graphs_is_exact_when_sampled)
{
    static const struct vs_recorder_config parts[] = {
        {.sample = 4}, {.min_size = 2000}, {.min_size = UINT64_C(1) << 40}};
    for (uint64_t seed = 1; seed < 20; seed++) {
        record_graphs(&whole, everything, seed);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            record_graphs(&part, parts[i], seed);
            same_account(part.replay->accounts[0], whole.replay->accounts[0]);
        }
    }
}

/* --- threads --- */

static struct vs_recorder *shared;

static void *work(void *arg)
{
    uint64_t number = (uintptr_t)arg;
    struct program p = {.recorder = shared, .random = number, .next_addr = number << 32};
    for (unsigned i = 0; i < 24000; i++) {
        if (!p.count || (p.count < LIVE_MAX && vs_random(&p.random) % 2))
            make(&p);
        else
            drop(&p);
    }
    while (p.count)
        drop(&p);
    return NULL;
}

/* Several threads allocate and free while the limit ends the recording of single allocations. */
TEST(threads_end_with_nothing_live_when_a_limit_is_reached)
{
    pthread_t threads[4];
    shared = open_trace(file("threads"),
                        (struct vs_recorder_config){.limit_bytes = UINT64_C(1) << 20});
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    vs_recorder_close(shared, VS_END_EXIT, 0);
    read_trace(&part, file("threads"));
    assert_int_equal(part.replay->recording.stage, VS_RECORDING_TOTALS);
    for (unsigned i = 0; i <= part.replay->account_count; i++) {
        unsigned k = i < part.replay->account_count ? i : VS_HOST_INDEX;
        const struct vs_account *a = part.replay->accounts[k];
        assert_int_equal(a->sums.now.allocated, 0);
        assert_int_equal(a->sums.now.requested, 0);
        assert_int_equal(a->framework.now.allocated, 0);
        for (int f = 0; f < VS_FAMILY_COUNT; f++)
            assert_int_equal(a->sums.family[f].allocs, a->sums.family[f].frees);
    }
}

/* --- windows --- */

/* A total whose peaks are all *peak*, reached at *peak_ns*. */
static void apply_total(struct vs_replay *replay, struct vs_event_unrecorded u, uint64_t peak,
                        uint64_t peak_ns, uint64_t time_ns)
{
    u.level = VS_LEVEL_DEVICE;
    u.why = VS_WHY_SAMPLE;
    u.family = VS_FAMILY_DEVICE;
    u.peak_allocated = u.peak_reserved = u.family_peak = peak;
    u.peak_ns = peak_ns;
    struct vs_event event = {.kind = VS_EVENT_unrecorded, .time_ns = time_ns, .unrecorded = u};
    vs_replay_event(replay, &event);
}

static void assert_peaks(const struct vs_replay *replay, uint64_t bytes)
{
    const struct vs_account *a = replay->accounts[0];
    assert_int_equal(a->peak_allocated.bytes, bytes);
    assert_int_equal(a->peak_reserved.bytes, bytes);
    assert_int_equal(a->sums.peak.family[VS_FAMILY_DEVICE], bytes);
}

TEST(a_peak_before_the_window_is_not_the_windows)
{
    static const struct vs_event_unrecorded before = {.allocs = 1, .size = 100, .reserved = 100},
        across = {.allocs = 2, .size = 930, .frees = 1, .freed_size = 900, .reserved = 30},
        inside = {.allocs = 1, .size = 50, .frees = 1, .freed_size = 50};
    struct vs_replay *replay = part.replay = vs_replay_open(NULL);
    apply_total(replay, before, 100, 10, 20);
    vs_replay_window(replay, 50);
    apply_total(replay, across, 900, 40, 60); /* rose before the window, in which only 130 remain */
    struct vs_event mark = {.kind = VS_EVENT_mark, .time_ns = 70};
    vs_replay_event(replay, &mark);
    assert_peaks(replay, 130);
    apply_total(replay, inside, 50, 75, 80); /* this peak is its own */
    assert_peaks(replay, 180);
}
