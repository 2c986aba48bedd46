/* SPDX-License-Identifier: Apache-2.0
 *
 * Private pools: their memory, their users, and when their memory is released. During a stream
 * capture, which an open pool counts as, the allocator must not query events or release cached
 * memory. */
#include "allocator_test.h"

static const struct vs_pool_id one = {0, 1}, none = {0, 0};

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
    {"no_cached_memory_is_released_during_a_capture", &pytorch_config, 100 * MIB,
     "x = 60M; free x; begin one; refuse 80M oom; empty 0; num_alloc_retries 0; "
     "num_sync_all_streams 0; num_ooms 1; end one; take 80M"},
    {"a_freeable_pool_may_be_released_during_a_capture", &pytorch_config, GIB,
     "begin one; x = 60M; free x; end one; release one; begin two; empty 60M; end two"},
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
    play("release one absent; end one state");
    fails(vs_allocator_pool_begin(f.allocator, none, NULL, NULL), VS_ERR_ARG);
    play("begin one; end one; begin one; begin one state; release one; " /* of two users */
         "release one state; " /* still active */
         "x = 512; end one; release one; release one state; begin one state; " /* it has memory */
         "free x; empty; release one absent; begin one; end one");
}

TEST(a_pool_has_expandable_segments_of_its_own)
{
    const struct vs_allocator_config expandable = {.expandable_segments = true};
    play_with(&expandable, 200 * MIB, "outside = 30M; begin one; inside = 30M; "
              "ranges 2; refuse 1G oom; fail map device; "
              "refuse 512 device; " /* a range without memory stays */
              "fail map ok; end one; free inside; empty 0; release one; empty 40M; "
              "ranges 1; release one absent");
}

TEST(an_abandoned_allocator_has_no_pools)
{
    play_with(&pytorch_config, GIB, "begin one; take 2M");
    vs_allocator_abandon(f.allocator);
    play("end one state; take 30M; begin one; end one");
    fixture_destroy(&f);
}

/* --- during a capture --- */

/* Regression: a use recorded during one capture and again after it was taken for part of the graph
 * when the block was freed during another capture, and its memory was reused while work on the
 * stream could still use it. */
TEST(a_use_after_a_capture_needs_its_event_whenever_the_block_is_freed)
{
    play_with(&pytorch_config, GIB, "addr = 4M");
    ok(vs_allocator_pool_begin(f.allocator, one, only_stream, &(uint64_t){9}));
    play("use addr 1; end one; use addr 1");
    ok(vs_allocator_pool_begin(f.allocator, pool_of("two"), only_stream, &(uint64_t){9}));
    play("free addr; end two");
    assert_true(take(&f, 4 * MIB) != named("addr"));
    play("recorded 1 1");
}

/* Regression: events of one stream that were rejected permanently delayed all later frees. */
TEST(a_stream_without_events_holds_up_no_other)
{
    play_with(&pytorch_config, GIB, "a = 2M; b = 2M; c = 2M; use a 3; use b 4; use c 3; "
              "fail record device");
    f.device.fail_record_stream = 3;
    play("free a; free b; free c; recorded 4 1; recorded 3 0; done 4 1; "
         "take 2M at b; " /* not the others: they are not safe yet */
         "fail record ok; take 2M not a; recorded 3 2; done 3 1; take 2M at a");
}

/* --- threads: for ThreadSanitizer, and no block may be allocated twice --- */

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
        uint64_t r = vs_random(&w->random), *slot = &held[r % 8];
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

TEST(pools_begin_and_end_while_others_allocate)
{
    for (int expandable = 0; expandable < 2; expandable++) {
        struct vs_allocator_config c = {.expandable_segments = expandable};
        fixture_start(&f, &c, GIB);
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
                for (uint64_t spin = vs_random(&random) % 2000; spin-- > 0;)
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
