/* SPDX-License-Identifier: Apache-2.0
 *
 * Every device operation may fail at any time, and so may host allocations: the allocator reports
 * it, stays consistent, loses no memory, and works again afterwards. */
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocator_test.h"

#define STEPS 3000
#define HELD 40

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#endif

/* A fake device that fails at random. */
struct unreliable {
    struct fake_device device;
    uint64_t random;
    unsigned odds; /* 1 in this many operations fails; 0: none */
    enum vs_err failure;
    uint64_t failures;
};

static enum vs_err luck(struct unreliable *u)
{
    if (!u->odds || vs_random(&u->random) % u->odds)
        return VS_OK;
    u->failures++;
    return u->failure;
}

#define FORWARD(name, params, args)                                   \
    static enum vs_err name params                                    \
    {                                                                 \
        struct unreliable *u = ctx;                                   \
        enum vs_err err = luck(u);                                    \
        ctx = &u->device;                                             \
        return err ? err : fake_device_ops.name args;                 \
    }
FORWARD(segment_alloc, (void *ctx, size_t bytes, uint64_t *addr), (ctx, bytes, addr))
FORWARD(segment_free, (void *ctx, uint64_t addr, size_t bytes), (ctx, addr, bytes))
FORWARD(synchronize, (void *ctx), (ctx))
FORWARD(event_record, (void *ctx, uint64_t stream, uint64_t *event), (ctx, stream, event))
FORWARD(event_query, (void *ctx, uint64_t event, bool *ready), (ctx, event, ready))
FORWARD(event_synchronize, (void *ctx, uint64_t event), (ctx, event))
FORWARD(memory_info, (void *ctx, uint64_t *free_bytes, uint64_t *total), (ctx, free_bytes, total))
FORWARD(range_reserve, (void *ctx, uint64_t bytes, uint64_t *addr), (ctx, bytes, addr))
FORWARD(range_release, (void *ctx, uint64_t addr, uint64_t bytes), (ctx, addr, bytes))
FORWARD(memory_create, (void *ctx, uint64_t bytes, uint64_t *handle), (ctx, bytes, handle))
FORWARD(memory_map,
        (void *ctx, uint64_t addr, uint64_t each, const uint64_t *handles, size_t count),
        (ctx, addr, each, handles, count))
FORWARD(memory_unmap, (void *ctx, uint64_t addr, uint64_t bytes), (ctx, addr, bytes))
FORWARD(stream_synchronize, (void *ctx, uint64_t stream), (ctx, stream))

/* A handle that the device does not take back is lost: not tested here. */
static enum vs_err memory_release(void *ctx, uint64_t handle, uint64_t bytes)
{
    return fake_device_ops.memory_release(&((struct unreliable *)ctx)->device, handle, bytes);
}

static void event_release(void *ctx, uint64_t event)
{
    fake_device_ops.event_release(&((struct unreliable *)ctx)->device, event);
}

static const struct vs_device_ops unreliable_ops = {
    .segment_alloc = segment_alloc,
    .segment_free = segment_free,
    .synchronize = synchronize,
    .event_record = event_record,
    .event_query = event_query,
    .event_synchronize = event_synchronize,
    .event_release = event_release,
    .memory_info = memory_info,
    .range_reserve = range_reserve,
    .range_release = range_release,
    .memory_create = memory_create,
    .memory_release = memory_release,
    .memory_map = memory_map,
    .memory_unmap = memory_unmap,
    .stream_synchronize = stream_synchronize,
};

struct run {
    struct unreliable u;
    struct vs_allocator *allocator;
    uint64_t live[HELD], count, random;
    const char *broken; /* the first error; NULL: none */
};

static void expect(struct run *r, bool holds, const char *what)
{
    if (!holds && !r->broken)
        r->broken = what;
}

static void step_free(struct run *r, uint64_t draw)
{
    uint64_t i = draw % r->count;
    if (draw % 5 == 0)
        (void)!vs_allocator_record_stream(r->allocator, r->live[i], 2);
    expect(r, vs_allocator_free(r->allocator, r->live[i]) == VS_OK, "a free failed");
    r->live[i] = r->live[--r->count];
}

static void step(struct run *r)
{
    uint64_t draw = vs_random(&r->random);
    if (draw % 31 == 0) {
        struct vs_pool_id id = {3, draw / 31 % 2};
        if (draw / 31 % 3 == 0)
            (void)!vs_allocator_pool_begin(r->allocator, id, NULL, NULL);
        else if (vs_allocator_pool_end(r->allocator, id) == VS_OK)
            expect(r, vs_allocator_pool_release(r->allocator, id) == VS_OK, "a release was refused");
    } else if (draw % 67 == 1) {
        vs_allocator_empty_cache(r->allocator, NULL);
        fake_device_complete(&r->u.device, 2, UINT64_C(1) << 40);
    } else if (r->count && (draw % 2 || r->count == HELD)) {
        step_free(r, draw / 4);
    } else {
        struct vs_allocation got;
        uint64_t bytes = (draw >> 10) % (UINT64_C(1) << (10 + (draw >> 2) % 17)) + 1;
        if (vs_allocator_malloc(r->allocator, bytes, draw % 3, &got) == VS_OK)
            r->live[r->count++] = got.addr;
    }
}

/* The allocator's reserved memory equals the device's allocated memory. */
static bool books_agree(struct run *r)
{
    struct vs_allocator_stats stats;
    vs_allocator_stats(r->allocator, &stats);
    return stats.reserved_bytes[VS_STAT_ALL].current == r->u.device.used;
}

static void finish(struct run *r)
{
    r->u.odds = 0;
    fake_device_complete(&r->u.device, 2, UINT64_C(1) << 40);
    while (r->count)
        step_free(r, 1);
    for (uint64_t n = 0; n < 2; n++) {
        struct vs_pool_id id = {3, n};
        (void)!vs_allocator_pool_end(r->allocator, id);
        while (vs_allocator_pool_release(r->allocator, id) == VS_OK)
            ;
    }
    /* the first call records the delayed events, the second has none to wait for */
    expect(r, vs_allocator_empty_cache(r->allocator, NULL) == VS_OK, "emptying failed at last");
    expect(r, r->u.device.used == 0 && books_agree(r), "memory was forgotten");
    expect(r, vs_allocator_check(r->allocator) == VS_OK, "an invariant, at last");
    vs_allocator_destroy(r->allocator);
    expect(r, r->u.device.memory.range_count == 0, "a range was forgotten");
    expect(r, r->u.device.events_held == 0, "an event was forgotten");
    fake_device_free(&r->u.device);
}

static void start(struct run *r, const struct vs_allocator_config *config, uint64_t seed)
{
    memset(r, 0, sizeof *r);
    fake_device_init(&r->u.device, 300 * MIB);
    r->u.random = r->random = seed;
    expect(r, vs_allocator_create(config, &unreliable_ops, &r->u, NULL, NULL, &r->allocator) == VS_OK,
           "not created");
}

static void config_of(uint64_t n, struct vs_allocator_config *config)
{
    *config = (struct vs_allocator_config){
        .expandable_segments = n % 2,
        .reuse = n / 2 % 2 ? VS_REUSE_AFTER_SYNC : VS_REUSE_STREAM_ORDERED,
        .max_split_size = n / 4 % 2 ? 20 * MIB : 0,
    };
}

TEST(operations_of_the_device_may_fail_at_any_time)
{
    static const enum vs_err failures[] = {VS_ERR_DEVICE_OOM, VS_ERR_DEVICE, VS_ERR_STATE};
    static struct run r;
    for (uint64_t n = 0; n < 24; n++) {
        struct vs_allocator_config config;
        config_of(n, &config);
        start(&r, &config, n);
        r.u.failure = failures[n / 8];
        for (int i = 0; i < STEPS && !r.broken; i++) {
            r.u.odds = i % 100 < 50 ? 4 : 0; /* phases with and without failures */
            step(&r);
            expect(&r, vs_allocator_check(r.allocator) == VS_OK, "an invariant");
            expect(&r, books_agree(&r), "reserved bytes");
        }
        if (!r.broken)
            finish(&r);
        if (r.broken)
            fail_msg("run %d: %s", (int)n, r.broken);
        assert_true(r.u.failures > 20);
    }
}

/* In a child whose address space cannot grow. */
static int without_host_memory(uint64_t n)
{
    static struct run r;
    struct vs_allocator_config config;
    struct rlimit limit;
    /* the fake device's tables must still grow: from a heap that is already large */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 25);
    free(malloc(1 << 24));
    config_of(n, &config);
    start(&r, &config, n);
    for (int i = 0; i < 60; i++)
        step(&r);
    getrlimit(RLIMIT_AS, &limit);
    struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    int refused = 0;
    for (int i = 0; i < STEPS && !r.broken; i++) {
        setrlimit(RLIMIT_AS, &none);
        struct vs_allocation got[HELD];
        int taken = 0;
        /* many small blocks, for which nodes run out */
        for (; taken < HELD; taken++) {
            enum vs_err err = vs_allocator_malloc(r.allocator, 512 * (uint64_t)(1 + taken % 5),
                                                  (uint64_t)i % 50, &got[taken]);
            if (err) {
                refused += err == VS_ERR_NOMEM;
                break;
            }
        }
        vs_allocator_empty_cache(r.allocator, NULL);
        step(&r);
        setrlimit(RLIMIT_AS, &limit);
        expect(&r, vs_allocator_check(r.allocator) == VS_OK, "an invariant");
        expect(&r, books_agree(&r), "reserved bytes");
        if (i % 3 && r.count < HELD - 1 && taken)
            r.live[r.count++] = got[--taken].addr;
        while (taken > 0)
            expect(&r, vs_allocator_free(r.allocator, got[--taken].addr) == VS_OK, "a free failed");
    }
    if (!r.broken)
        finish(&r);
    if (r.broken)
        fprintf(stderr, "run %d: %s\n", (int)n, r.broken);
    return r.broken ? 1 : refused ? 0 : 2;
}

TEST(host_memory_may_be_refused_at_any_time)
{
#ifdef SANITIZED
    skip(); /* the sanitizer's mappings need the address space */
#endif
    int refused = 0;
    for (uint64_t n = 0; n < 4; n++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(without_host_memory(n));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_not_equal(WEXITSTATUS(status), 1);
        refused += WEXITSTATUS(status) == 0;
    }
    assert_true(refused > 0); /* otherwise the test is void */
}
