/* SPDX-License-Identifier: Apache-2.0
 *
 * Four threads on one allocator, for ThreadSanitizer and for errors it cannot see: an owner of
 * every 512 bytes of the fake device proves that no two live blocks overlap. Under the compact
 * policy it is an owner of physical memory, at any address, for the first and the last 512 bytes of
 * each block and every 32 KiB between (test_compact_soak.c has all). Workers count errors; the main
 * thread asserts. */
#include <pthread.h>
#include <stdatomic.h>

#include "allocator_test.h"

#define THREADS 4
#define ROUNDS 12000
#define HELD 24
#define SHARED 8
#define STREAMS 9
#define PAGES 16384 /* ever made; of addresses 512 MiB are enough */
#define GRANULES (VS_PAGE_BYTES / 512)
#define COMPACT(when) {.policy = VS_POLICY_COMPACT, .reuse = VS_REUSE_##when}

static atomic_uchar owners[PAGES * GRANULES];
static struct fake_device device;
static struct vs_allocator *allocator;

/* Blocks passed from one thread to another, which frees them: the first thread has cleared its
 * ownership marks. */
static _Atomic uint64_t shared[SHARED];

static const struct threads_case {
    const char *name;
    struct vs_allocator_config config;
    uint64_t capacity;
    int rounds;
    uint64_t largest; /* of the large requests */
    unsigned large;   /* of 20 requests so many */
    bool own_streams; /* each thread uses mostly its own */
} cases[] = {
    /* small enough that addresses stay in what has owners */
    {"threads_with_streams_never_share_a_byte",
     {.reuse = VS_REUSE_STREAM_ORDERED}, 160 * MIB, ROUNDS,
     3 * MIB, 1},
    {"threads_with_synchronisation_never_share_a_byte",
     {.reuse = VS_REUSE_AFTER_SYNC}, 160 * MIB, ROUNDS,
     3 * MIB, 1},
    {"threads_of_the_compact_policy_never_share_memory",
     COMPACT(STREAM_ORDERED), 4 * GIB, 3000, 12 * MIB, 15, true},
    {"threads_on_a_small_device_never_share_memory",
     COMPACT(STREAM_ORDERED), 384 * MIB, 3000, 12 * MIB, 15, true},
    {"threads_waiting_for_reuse_never_share_memory",
     COMPACT(AFTER_SYNC), 512 * MIB, 3000, 12 * MIB, 15, true},
}, *running;

struct worker {
    unsigned char id;
    uint64_t random;
    struct vs_allocation held[HELD];
    int overlaps, unexpected, ooms;
};

static uint64_t draw(struct worker *w, uint64_t below)
{
    return vs_random(&w->random) % below;
}

static void own(struct worker *w, const struct vs_allocation *a, unsigned char from,
                unsigned char to)
{
    bool compact = running && running->config.policy == VS_POLICY_COMPACT, mapped = true;
    for (uint64_t at = a->addr, left = a->size, part; left; at += part, left -= part) {
        uint64_t page = 0, offset = at - FAKE_BASE;
        part = left;
        if (compact) {
            pthread_mutex_lock(&device.mu);
            mapped = fake_memory_at(&device.memory, at, &page, &offset);
            pthread_mutex_unlock(&device.mu);
            part = left < VS_PAGE_BYTES - offset ? left : VS_PAGE_BYTES - offset;
        }
        if (!mapped || page >= PAGES) {
            w->unexpected++;
            return;
        }
        for (uint64_t i = 0; i < part; i += 512) {
            unsigned char expected = from;
            if (compact && (offset + i) / 512 % 64 && at + i != a->addr && i + 512 != left)
                continue;
            atomic_uchar *owner = &owners[page * GRANULES + (offset + i) / 512];
            if (!atomic_compare_exchange_strong_explicit(owner, &expected, to, memory_order_relaxed,
                                                         memory_order_relaxed))
                w->overlaps++;
        }
    }
}

static void allocate(struct worker *w, struct vs_allocation *slot)
{
    uint64_t bytes = 1 + draw(w, draw(w, 20) < running->large ? running->largest : 64 * KIB);
    uint64_t stream = running->own_streams && draw(w, 4) ? w->id : draw(w, STREAMS);
    enum vs_err err = vs_allocator_malloc(allocator, bytes, stream, slot);
    if (err == VS_ERR_DEVICE_OOM)
        w->ooms++;
    else if (err || slot->requested != bytes || slot->size < bytes)
        w->unexpected++;
    else
        own(w, slot, 0, w->id);
    if (err)
        slot->addr = 0;
}

static void release(struct worker *w, struct vs_allocation *slot)
{
    struct vs_allocation found;
    bool live;
    if (draw(w, 4) == 0)
        w->unexpected += vs_allocator_record_stream(allocator, slot->addr, draw(w, 5)) != VS_OK;
    w->unexpected += vs_allocator_find(allocator, slot->addr + slot->size - 1, &found, &live) != VS_OK ||
                     !live || found.addr != slot->addr;
    own(w, slot, w->id, 0);
    uint64_t addr = slot->addr;
    slot->addr = 0;
    if (draw(w, 3) == 0)
        addr = atomic_exchange(&shared[draw(w, SHARED)], addr);
    w->unexpected += vs_allocator_free(allocator, addr) != VS_OK; /* 0: nothing */
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < running->rounds; i++) {
        struct vs_allocation *slot = &w->held[draw(w, HELD)];
        if (slot->addr)
            release(w, slot);
        else
            allocate(w, slot);
        uint64_t chance = draw(w, 1000);
        if (chance < 20)
            fake_device_complete(&device, draw(w, 5), UINT32_MAX);
        else if (chance < 22)
            w->unexpected += vs_allocator_empty_cache(allocator, NULL) != VS_OK;
        else if (chance < 25)
            w->unexpected += vs_allocator_check(allocator) != VS_OK;
        else if (chance >= 28 && chance < 60)
            vs_allocator_sync_end(allocator, vs_allocator_sync_begin(allocator));
        if (chance < 25 || chance >= 28)
            continue;
        struct vs_allocator_stats s; /* consistent, whatever other threads do */
        vs_allocator_stats(allocator, &s);
        for (int pool = 0; pool < VS_STAT_POOLS; pool++) {
            const struct vs_stat *active = &s.active_bytes[pool];
            w->unexpected += active->current > active->peak ||
                             active->current > s.reserved_bytes[pool].current ||
                             s.allocated_bytes[pool].current > active->current ||
                             active->current != active->allocated - active->freed;
        }
        w->unexpected += vs_allocator_cached_bytes(allocator) > running->capacity;
    }
    for (int i = 0; i < HELD; i++) {
        if (w->held[i].addr)
            release(w, &w->held[i]);
    }
    return NULL;
}

static void start(const struct vs_allocator_config *config, uint64_t capacity)
{
    memset(owners, 0, sizeof owners);
    fake_device_init(&device, capacity);
    assert_int_equal(vs_allocator_create(config, &fake_device_ops, &device, NULL, NULL, &allocator),
                     VS_OK);
}

static void run(void *(*body)(void *), struct worker *workers)
{
    pthread_t threads[THREADS];
    memset(workers, 0, THREADS * sizeof *workers);
    for (int i = 0; i < THREADS; i++) {
        workers[i].id = (unsigned char)(i + 1);
        workers[i].random = (uint64_t)(i + 77) * 1234567;
        assert_int_equal(pthread_create(&threads[i], NULL, body, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(workers[i].overlaps, 0);
        assert_int_equal(workers[i].unexpected, 0);
    }
    for (int i = 0; i < SHARED; i++)
        assert_int_equal(vs_allocator_free(allocator, atomic_exchange(&shared[i], 0)), VS_OK);
    assert_int_equal(vs_allocator_check(allocator), VS_OK);
}

AFTER(destroy)
{
    vs_allocator_destroy(allocator);
    fake_device_free(&device);
    allocator = NULL;
    running = NULL;
    return 0;
}

ROWS(cases, four_threads_never_share_a_byte)
{
    static struct worker workers[THREADS];
    struct vs_allocator_stats s;
    running = *state;
    start(&running->config, running->capacity);
    run(work, workers);
    for (uint64_t stream = 0; stream < STREAMS; stream++)
        fake_device_complete(&device, stream, UINT32_MAX);
    assert_int_equal(vs_allocator_empty_cache(allocator, NULL), VS_OK);
    vs_allocator_stats(allocator, &s);
    assert_int_equal(s.reserved_bytes[VS_STAT_ALL].current, 0); /* no leak */
    assert_int_equal(device.used, 0);
    assert_true(s.allocation[VS_STAT_ALL].allocated > THREADS * (uint64_t)running->rounds / 4);
    assert_int_equal(s.num_reuse_syncs > 0, running->config.reuse == VS_REUSE_AFTER_SYNC);
    assert_int_equal(device.segment_count, 0);
}

/* --- the same stream: one lock, several threads --- */

static void *work_on_one_stream(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct vs_allocation a, b;
        w->unexpected += vs_allocator_malloc(allocator, 1 + draw(w, 4096), 1, &a) != VS_OK;
        w->unexpected += vs_allocator_malloc(allocator, 1 + draw(w, 4096), 1, &b) != VS_OK;
        own(w, &a, 0, w->id);
        own(w, &b, 0, w->id);
        own(w, &a, w->id, 0);
        w->unexpected += vs_allocator_free(allocator, a.addr) != VS_OK;
        own(w, &b, w->id, 0);
        w->unexpected += vs_allocator_free(allocator, b.addr) != VS_OK;
    }
    return NULL;
}

TEST(threads_on_one_stream_count_every_block)
{
    static struct worker workers[THREADS];
    struct vs_allocator_stats s;
    start(&pytorch_config, 160 * MIB);
    run(work_on_one_stream, workers);
    vs_allocator_stats(allocator, &s);
    assert_int_equal(s.allocation[VS_STAT_ALL].allocated, 2 * THREADS * ROUNDS);
    assert_int_equal(s.allocation[VS_STAT_ALL].current, 0);
    assert_in_range(s.allocation[VS_STAT_ALL].peak, 2, 2 * THREADS);
}

/* --- one stream per thread: the peak of all together is exact --- */

#define STEADY 10

static pthread_barrier_t all_hold;

static void *work_on_own_stream(void *arg)
{
    struct worker *w = arg;
    uint64_t addr[STEADY + 1];
    for (int i = 0; i < ROUNDS / 4; i++) {
        struct vs_allocation got;
        int count = i == ROUNDS / 8 ? STEADY + 1 : 1 + (int)draw(w, STEADY);
        for (int k = 0; k < count; k++) {
            w->unexpected += vs_allocator_malloc(allocator, 512, w->id, &got) != VS_OK;
            addr[k] = got.addr;
        }
        if (i == ROUNDS / 8)
            pthread_barrier_wait(&all_hold); /* the time when all threads hold the most */
        for (int k = 0; k < count; k++)
            w->unexpected += vs_allocator_free(allocator, addr[k]) != VS_OK;
    }
    return NULL;
}

TEST(the_peak_of_several_streams_is_exact)
{
    static struct worker workers[THREADS];
    struct vs_allocator_stats s;
    start(&pytorch_config, 160 * MIB);
    pthread_barrier_init(&all_hold, NULL, THREADS);
    run(work_on_own_stream, workers);
    pthread_barrier_destroy(&all_hold);
    vs_allocator_stats(allocator, &s);
    assert_int_equal(s.allocation[VS_STAT_ALL].peak, THREADS * (STEADY + 1));
    assert_int_equal(s.active_bytes[VS_STAT_SMALL].peak, 512 * THREADS * (STEADY + 1));
    assert_int_equal(s.requested_bytes[VS_STAT_ALL].peak, 512 * THREADS * (STEADY + 1));
    assert_int_equal(s.allocation[VS_STAT_ALL].current, 0);
}

/* --- abandoned at any time --- */

static void *work_while_abandoned(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < ROUNDS / 2; i++) {
        struct vs_allocation *slot = &w->held[draw(w, HELD)];
        uint64_t addr = slot->addr;
        enum vs_err err = VS_OK;
        slot->addr = 0;
        if (addr && draw(w, 4) == 0)
            err = vs_allocator_record_stream(allocator, addr, draw(w, 5));
        if (addr && (!err || err == VS_ERR_FOREIGN))
            err = vs_allocator_free(allocator, addr);
        else if (!err)
            err = vs_allocator_malloc(allocator, 1 + draw(w, 64 * KIB), draw(w, STREAMS), slot);
        /* the fake device returns no address twice unless it was freed */
        w->unexpected += err != VS_OK && err != VS_ERR_FOREIGN;
        if (w->id == 1 && i % 300 == 299)
            vs_allocator_abandon(allocator);
        else if (w->id == 2 && i % 100 == 99)
            w->unexpected += vs_allocator_check(allocator) != VS_OK;
    }
    return NULL;
}

TEST(abandoning_at_any_point_leaves_an_empty_allocator)
{
    static struct worker workers[THREADS];
    struct vs_allocator_stats s;
    start(&pytorch_config, 64 * GIB);
    run(work_while_abandoned, workers);
    vs_allocator_abandon(allocator);
    assert_int_equal(vs_allocator_check(allocator), VS_OK);
    vs_allocator_stats(allocator, &s);
    assert_int_equal(s.allocation[VS_STAT_ALL].current, 0);
    assert_int_equal(s.reserved_bytes[VS_STAT_ALL].current, 0);
}
