/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools: their memory, their users, and when their memory is released. Behaviour during a
 * capture is in test_allocator_captures.c. */
#include "allocator_test.h"

static const struct vs_pool_id one = {0, 1}, two = {7, 0}, none = {0, 0};

static bool only_stream(void *ctx, uint64_t stream)
{
    return stream == *(const uint64_t *)ctx;
}

static const struct program programs[] = {
    {"a_pool_and_the_others_share_no_segment", &pytorch_config, GIB,
     "outside = 2M; begin one; inside = 2M; small = 512; reserved 42M; free inside; end one; "
     "take 2M at outside+2M; " /* not the cached one in the pool */
     "begin one; take 2M at inside; end one"},
    {"a_retry_takes_what_freeable_pools_hold", &pytorch_config, 100 * MIB,
     "begin one; x = 60M; free x; end one; refuse 80M oom; release one; take 80M"},
};

ROWS(programs, a_program_is_played)
{
    play_program(*state);
}

TEST(the_pool_begun_last_whose_filter_accepts_the_stream_is_used)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t three = 3;
    play("begin two");
    ok(vs_allocator_pool_begin(f.allocator, one, only_stream, &three));
    take_on(&f, 2 * MIB, 3);
    take_on(&f, 2 * MIB, 4);
    play("end two");
    take_on(&f, 2 * MIB, 4);
    play("reserved 60M"); /* two pools and the default one */
    take_on(&f, 2 * MIB, 3);
    play("reserved 60M; end one");
}

TEST(users_are_counted)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t users;
    fails(vs_allocator_pool_users(f.allocator, one, &users), VS_ERR_NOT_FOUND);
    play("release one absent; end one state");
    fails(vs_allocator_pool_begin(f.allocator, none, NULL, NULL), VS_ERR_ARG);
    fails(vs_allocator_pool_retain(f.allocator, none, NULL), VS_ERR_ARG);
    ok(vs_allocator_pool_retain(f.allocator, one, NULL));
    play("begin one; begin one state");
    ok(vs_allocator_pool_users(f.allocator, one, &users));
    assert_int_equal(users, 2);
    play("release one; release one state; " /* still active */
         "end one; release one; release one state; begin one state; empty"); /* and it is removed */
    fails(vs_allocator_pool_users(f.allocator, one, &users), VS_ERR_NOT_FOUND);
    ok(vs_allocator_pool_retain(f.allocator, one, NULL));
}

TEST(memory_of_a_pool_goes_only_when_nobody_uses_the_pool)
{
    play_with(&pytorch_config, GIB, "begin one; a = 30M; b = 40M; c = 512; end one; free a; "
              "free c; empty 0");
    uint64_t released = 1;
    ok(vs_allocator_pool_empty(f.allocator, one, &released));
    assert_int_equal(released, 0);
    play("release one; forget; empty 32M");
    assert_int_equal(f.events[0].size, 2 * MIB); /* small first, unlike in the default pool */
    assert_int_equal(f.events[1].size, 30 * MIB);
    play("free b");
    ok(vs_allocator_pool_empty(f.allocator, one, &released));
    assert_int_equal(released, 40 * MIB);
    fails(vs_allocator_pool_empty(f.allocator, one, &released), VS_ERR_NOT_FOUND);
}

TEST(emptying_one_pool_waits_for_its_events_only)
{
    play_with(&pytorch_config, GIB, "outside = 30M on 1; begin one; inside = 40M on 1; end one; "
              "release one; use outside 2; use inside 2; free outside; free inside");
    uint64_t released;
    ok(vs_allocator_pool_empty(f.allocator, one, &released));
    assert_int_equal(released, 40 * MIB);
    play("event_waits 1; num_sync_all_streams 1; active 1");
}

TEST(a_pool_can_serve_others_when_the_device_is_full)
{
    play_with(&pytorch_config, 100 * MIB, "begin one; a = 60M; end one; free a; x = 30M; free x");
    ok(vs_allocator_pool_set(f.allocator, one, VS_POOL_USE_ON_OOM));
    play("take 50M at a; num_device_free 0"); /* before any cached memory was released */
    assert_int_equal(stats_of(&f).inactive_split_bytes[VS_STAT_LARGE].current, 10 * MIB);
    play("free a");
    ok(vs_allocator_pool_set(f.allocator, one, 0));
    play("refuse 70M oom");
    fails(vs_allocator_pool_set(f.allocator, one, 8), VS_ERR_ARG);
    fails(vs_allocator_pool_set(f.allocator, two, 0), VS_ERR_NOT_FOUND);
}

TEST(blocks_of_a_no_split_pool_are_handed_out_whole)
{
    play_with(&pytorch_config, GIB, "begin one");
    ok(vs_allocator_pool_set(f.allocator, one, VS_POOL_NO_SPLIT));
    assert_int_equal(take_on(&f, 512, 0).size, 2 * MIB);
    assert_int_equal(take_on(&f, 2 * MIB, 0).size, 20 * MIB);
    assert_stat(stats_of(&f).inactive_split[VS_STAT_ALL], 0, 0, 0, 0);
    play("end one");
}

struct source {
    uint64_t next, given, taken;
    bool full;
};

static enum vs_err source_alloc(void *ctx, uint64_t bytes, uint64_t *addr)
{
    struct source *s = ctx;
    if (s->full)
        return VS_ERR_DEVICE_OOM;
    *addr = s->next;
    s->next += bytes;
    s->given += bytes;
    return VS_OK;
}

static enum vs_err source_free(void *ctx, uint64_t addr, uint64_t bytes)
{
    struct source *s = ctx;
    assert_true(addr < s->next);
    s->taken += bytes;
    return VS_OK;
}

TEST(a_pool_may_have_a_source_of_its_own)
{
    const struct vs_allocator_config expandable = {.expandable_segments = true};
    const struct vs_allocator_config *configs[] = {&pytorch_config, &expandable};
    for (size_t i = 0; i < 2; i++) {
        struct source source = {.next = UINT64_C(0x100000000000)};
        struct vs_pool_source ops = {source_alloc, source_free, &source};
        fixture_start(&f, configs[i], GIB);
        ok(vs_allocator_pool_retain(f.allocator, one, &ops));
        fails(vs_allocator_pool_retain(f.allocator, one, &ops), VS_ERR_ARG);
        ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
        assert_int_equal(take(&f, 2 * MIB), UINT64_C(0x100000000000));
        uint64_t b = take(&f, 40 * MIB);
        assert_int_equal(source.given, 60 * MIB);
        source.full = true;
        refuse(&f, 80 * MIB, VS_ERR_DEVICE_OOM);
        assert_int_equal(f.device.allocs, 0);
        assert_int_equal(f.device.creates, 0);
        ok(vs_allocator_pool_end(f.allocator, one));
        give(&f, b);
        ok(vs_allocator_pool_release(f.allocator, one));
        ok(vs_allocator_pool_release(f.allocator, one));
        assert_int_equal(empty(&f), 40 * MIB);
        assert_int_equal(source.taken, 40 * MIB);
        struct vs_allocator *allocator = f.allocator;
        vs_allocator_destroy(allocator);
        assert_int_equal(source.taken, source.given);
        fake_device_free(&f.device);
    }
    struct vs_pool_source incomplete = {.segment_alloc = source_alloc};
    fixture_start(&f, &pytorch_config, GIB);
    fails(vs_allocator_pool_retain(f.allocator, one, &incomplete), VS_ERR_ARG);
}

TEST(a_pool_has_expandable_segments_of_its_own)
{
    const struct vs_allocator_config expandable = {.expandable_segments = true};
    play_with(&expandable, 200 * MIB, "outside = 30M; begin one; inside = 30M; "
              "ranges 2; refuse 1G oom; fail map device; "
              "refuse 512 device; " /* a range without memory stays */
              "fail map ok; end one; free inside; empty 0; release one; empty 40M; "
              "ranges 1");
    uint64_t users;
    fails(vs_allocator_pool_users(f.allocator, one, &users), VS_ERR_NOT_FOUND);
}

static void collect_ids(void *ctx, const struct vs_segment_info *segment,
                        const struct vs_block_info *block)
{
    struct vs_pool_id **next = ctx;
    if (!block)
        *(*next)++ = segment->pool_id;
}

TEST(a_snapshot_names_the_pool_of_each_segment)
{
    play_with(&pytorch_config, GIB, "take 2M; begin two; take 2M; end two");
    struct vs_pool_id ids[4], *next = ids;
    vs_allocator_snapshot(f.allocator, collect_ids, &next);
    assert_int_equal(next - ids, 2);
    assert_int_equal(ids[0].first, 0);
    assert_int_equal(ids[1].first, 7);
    assert_int_equal(ids[1].second, 0);
}

TEST(reserved_bytes_are_counted_for_each_pool)
{
    const struct vs_allocator_config expandable = {.expandable_segments = true};
    const struct vs_allocator_config *configs[] = {&pytorch_config, &expandable};
    for (size_t i = 0; i < 2; i++) {
        fixture_start(&f, configs[i], GIB);
        struct vs_stat s[VS_STAT_POOLS];
        fails(vs_allocator_pool_reserved(f.allocator, one, s), VS_ERR_NOT_FOUND);
        take(&f, 2 * MIB);
        ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
        uint64_t a = take(&f, 20 * MIB);
        take(&f, 512);
        ok(vs_allocator_pool_end(f.allocator, one));
        ok(vs_allocator_pool_reserved(f.allocator, one, s));
        assert_stat(s[VS_STAT_ALL], 22 * MIB, 22 * MIB, 22 * MIB, 0);
        assert_stat(s[VS_STAT_SMALL], 2 * MIB, 2 * MIB, 2 * MIB, 0);
        give(&f, a);
        ok(vs_allocator_pool_release(f.allocator, one));
        assert_int_equal(empty(&f), 20 * MIB);
        ok(vs_allocator_pool_reserved(f.allocator, one, s));
        assert_stat(s[VS_STAT_ALL], 2 * MIB, 22 * MIB, 22 * MIB, 20 * MIB);
        vs_allocator_reset_peaks(f.allocator);
        vs_allocator_reset_accumulated(f.allocator);
        ok(vs_allocator_pool_reserved(f.allocator, one, s));
        assert_stat(s[VS_STAT_ALL], 2 * MIB, 2 * MIB, 0, 0);
        fixture_stop(&f);
    }
}

TEST(an_abandoned_allocator_has_no_pools)
{
    play_with(&pytorch_config, GIB, "begin one; take 2M");
    vs_allocator_abandon(f.allocator);
    play("end one state; take 30M; begin one; end one");
    fixture_destroy(&f);
}

/* --- threads: for ThreadSanitizer, and no block may be allocated twice --- */

static uint64_t random_next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *random >> 33;
}

#define WORKERS 3
#define WORKER_ROUNDS 4000

struct worker {
    struct vs_allocator *allocator;
    uint64_t stream, random;
    int unexpected;
};

static void *allocate_and_free(void *arg)
{
    struct worker *w = arg;
    uint64_t held[8] = {0};
    for (int i = 0; i < WORKER_ROUNDS; i++) {
        uint64_t r = random_next(&w->random), *slot = &held[r % 8];
        w->unexpected += vs_allocator_free(w->allocator, *slot) != VS_OK;
        *slot = 0;
        struct vs_allocation got;
        uint64_t bytes = (r >> 8) % (UINT64_C(1) << (10 + (r >> 3) % 14)) + 1;
        enum vs_err err = vs_allocator_malloc(w->allocator, bytes, w->stream, &got);
        if (!err)
            *slot = got.addr;
        else
            w->unexpected += err != VS_ERR_DEVICE_OOM;
        if (!err && r % 16 == 0)
            w->unexpected += vs_allocator_record_stream(w->allocator, got.addr, 7) != VS_OK;
    }
    for (int i = 0; i < 8; i++)
        w->unexpected += vs_allocator_free(w->allocator, held[i]) != VS_OK;
    return NULL;
}

static bool of_stream_one(void *ctx, uint64_t stream)
{
    (void)ctx;
    return stream == 1;
}

static bool nothing_to_free(void *ctx)
{
    (void)ctx;
    return false;
}

TEST(pools_begin_and_end_while_others_allocate)
{
    for (int expandable = 0; expandable < 2; expandable++) {
        struct vs_allocator_config c = {.expandable_segments = expandable};
        fixture_start(&f, &c, GIB);
        ok(vs_allocator_add_free_callback(f.allocator, nothing_to_free, NULL));
        struct worker workers[WORKERS];
        pthread_t threads[WORKERS];
        for (int i = 0; i < WORKERS; i++) {
            workers[i] = (struct worker){.allocator = f.allocator, .stream = (uint64_t)i,
                                         .random = (uint64_t)i};
            assert_int_equal(pthread_create(&threads[i], NULL, allocate_and_free, &workers[i]), 0);
        }
        uint64_t random = 5;
        for (int round = 0; round < 60; round++) {
            struct vs_pool_id id = {2, (uint64_t)round % 3};
            if (vs_allocator_pool_begin(f.allocator, id, of_stream_one, NULL) == VS_OK) {
                for (uint64_t spin = random_next(&random) % 2000; spin-- > 0;)
                    assert_int_equal(vs_allocator_cached_bytes(f.allocator) >> 40, 0);
                assert_int_equal(vs_allocator_pool_end(f.allocator, id), VS_OK);
                assert_int_equal(vs_allocator_pool_release(f.allocator, id), VS_OK);
            }
            fake_device_complete(&f.device, 7, UINT64_C(1) << 40);
            vs_allocator_empty_cache(f.allocator, NULL);
            assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
        }
        for (int i = 0; i < WORKERS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(workers[i].unexpected, 0);
        }
        empty(&f);
        empty(&f);
        assert_int_equal(reserved(&f), 0);
        fixture_stop(&f);
    }
}
