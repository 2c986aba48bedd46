/* SPDX-License-Identifier: Apache-2.0
 *
 * When freed memory may be reused: events of other streams (record_stream), and synchronisation
 * before reuse. */
#include "allocator_test.h"

#include "allocator/core/allocator_internal.h"

/* --- stream ordered --- */

TEST(a_block_used_elsewhere_waits_for_the_event_there)
{
    play_with(&pytorch_config, GIB, "a = 512; use a 3; use a 3; " /* a second time counts once */
              "free a; recorded 3 1; allocated_bytes 0; active_bytes 512; requested_bytes 512");
    assert_int_equal(f.events[f.event_count - 1].kind, VS_ALLOCATOR_FREE);
    play("b = 512; b isnt a; done 3 1; c = 512; " /* the next request polls the events */
         "c is a; events_held 0; active_bytes 1024; free b; free c");
}

static const struct program programs[] = {
    {"the_blocks_own_stream_needs_no_event", &pytorch_config, GIB,
     "a = 512 on 2; use a 2; free a; recorded 2 0; take 512 on 2 at a"},
    {"a_block_used_on_two_streams_waits_for_both", &pytorch_config, GIB,
     "a = 512; use a 3; use a 1; free a; done 1 1; take 512 not a; done 3 1; take 512 at a"},
    {"events_of_one_stream_complete_in_order", &pytorch_config, GIB,
     "a = 512; use a 1; b = 512; use b 1; c = 512; use c 1; take 512; free a; free b; free c; "
     "done 1 2; take 512 at a; events_held 1"},
    {"empty_cache_waits_for_pending_events", &pytorch_config, GIB,
     "a = 512; use a 1; free a; empty 2M; event_waits 1; num_sync_all_streams 1"},
    {"out_of_memory_waits_for_pending_events_before_it_gives_up", &pytorch_config, 20 * MIB,
     "a = 20M; use a 1; free a; take 12M at a; num_alloc_retries 1"},
    {"where_no_event_can_be_recorded_the_block_stays_pending", &pytorch_config, GIB,
     "a = 512; b = 512; use a 1; use b 2; fail record state; " /* capture */
     "free a; free b; done 1 100; c = 512; c isnt a; fail record ok; "
     "take 512 at a; " /* recorded now, and found complete */
     "done 2 1; take 512 at b"},
    {"a_failing_event_query_leaves_the_block_pending", &pytorch_config, GIB,
     "a = 512; use a 1; free a; done 1 1; fail query state; take 512 not a; fail query ok; "
     "take 512 at a"},
    {"memory_fresh_from_the_device_needs_no_synchronisation", &after_sync_config, GIB,
     "take 100K; take 100K; take 100K; take 1M; take 100K; take 100K; syncs 0"},
    {"a_freed_block_is_handed_out_only_after_a_synchronisation", &after_sync_config, GIB,
     "a = 512; b = 512; free a; take 512 at a; syncs 1; free a; free b; take 512 at a; syncs 2; "
     "take 512 at b; " /* covered by the same synchronisation */
     "syncs 2; num_reuse_syncs 2"},
    {"a_synchronisation_of_the_program_after_the_free_is_enough", &after_sync_config, GIB,
     "a = 512; free a; ticket = ticket; ended ticket; take 512 at a; syncs 0"},
    {"a_synchronisation_begun_before_the_free_does_not_cover_it", &after_sync_config, GIB,
     "a = 512; ticket = ticket; free a; ended ticket; take 512 at a; syncs 1"},
    {"a_synchronisation_that_never_ended_covers_nothing", &after_sync_config, GIB,
     "a = 512; free a; first = ticket; take 512 at a; syncs 1; free a; "
     "ended first; take 512 at a; syncs 2"}, /* late, and older than the free */
    {"a_merged_block_is_as_unsafe_as_its_newest_part", &after_sync_config, GIB,
     "a = 512; b = 512; c = 512; free a; sync; free b; take 1024 at a; syncs 1; free c"},
};

ROWS(programs, a_program_is_played)
{
    play_program(*state);
}

TEST(a_free_that_names_another_stream_waits_for_it)
{
    fixture_start(&f, &pytorch_config, GIB);
    for (uint64_t user = 2; user <= 3; user++) {
        uint64_t a = take_on(&f, 512, 2).addr;
        assert_int_equal(vs_allocator_free_for(f.allocator, a + 512, user, NULL), VS_ERR_STATE);
        assert_int_equal(vs_allocator_free_for(f.allocator, 64, user, NULL), VS_ERR_FOREIGN);
        assert_int_equal(vs_allocator_free_for(f.allocator, a, user, NULL), VS_OK);
        assert_int_equal(vs_allocator_free_for(f.allocator, a, user, NULL), VS_ERR_STATE);
        assert_int_equal(f.device.recorded[user], user == 3);
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
        uint64_t b = take_on(&f, 512, 2).addr;
        assert_int_equal(b == a, user == 2);
        give(&f, b);
    }
    play("done 3 1");
}

TEST(a_use_that_cannot_be_noted_keeps_the_block)
{
    static struct fake_device device;
    fake_device_init(&device, GIB);
    struct vs_device_ops ops = fake_device_ops;
    ops.event_record = NULL;
    ops.event_query = NULL;
    ops.event_synchronize = NULL;
    ops.event_release = NULL;
    struct vs_allocator *a;
    struct vs_allocation got;
    assert_int_equal(vs_allocator_create(&pytorch_config, &ops, &device, NULL, NULL, &a), VS_OK);
    assert_int_equal(vs_allocator_malloc(a, 512, 0, &got), VS_OK);
    assert_int_equal(vs_allocator_free_for(a, got.addr, 1, NULL), VS_ERR_UNSUPPORTED);
    assert_int_equal(vs_allocator_free_for(a, got.addr, 0, NULL), VS_OK);
    vs_allocator_destroy(a);
}

TEST(a_pending_block_is_not_merged_with_its_neighbour)
{
    play_with(&pytorch_config, GIB, "a = 512; b = 512; c = 512; use b 1; free b; free a");
    struct vs_allocation found;
    bool live = true;
    assert_int_equal(vs_allocator_find(f.allocator, named("b") + 5, &found, &live), VS_OK);
    assert_false(live);
    assert_int_equal(found.addr, named("b"));
    assert_int_equal(found.size, 512);
    play("free b state; done 1 1; take 1024 at a; free c");
}

TEST(without_event_operations_record_stream_is_unsupported)
{
    static struct fake_device device;
    fake_device_init(&device, GIB);
    struct vs_device_ops ops = fake_device_ops;
    ops.event_record = NULL;
    struct vs_allocator *a;
    assert_int_equal(vs_allocator_create(&pytorch_config, &ops, &device, NULL, NULL, &a), VS_ERR_ARG);
    ops.event_query = NULL;
    ops.event_synchronize = NULL;
    ops.event_release = NULL;
    assert_int_equal(vs_allocator_create(&pytorch_config, &ops, &device, NULL, NULL, &a), VS_OK);
    struct vs_allocation got;
    assert_int_equal(vs_allocator_malloc(a, 512, 0, &got), VS_OK);
    assert_int_equal(vs_allocator_record_stream(a, got.addr, 1), VS_ERR_UNSUPPORTED);
    assert_int_equal(vs_allocator_record_stream(a, got.addr, 0), VS_OK);
    vs_allocator_destroy(a);
}

/* --- after a synchronisation --- */

TEST(memory_is_settled_unless_a_free_has_no_synchronisation)
{
    play_with(&after_sync_config, GIB, "a = 512; b = 512");
    assert_int_equal(vs_allocator_settled(f.allocator), VS_SETTLED);
    play("free a");
    assert_int_equal(vs_allocator_settled(f.allocator), VS_UNSETTLED);
    play("sync");
    assert_int_equal(vs_allocator_settled(f.allocator), VS_SETTLED);
    play("ticket = ticket; free b; ended ticket"); /* it began before the free */
    assert_int_equal(vs_allocator_settled(f.allocator), VS_UNSETTLED);
    play("syncs 0");
}

TEST(tickets_may_end_out_of_order)
{
    play_with(&after_sync_config, GIB, "a = 512; older = ticket; free a; newer = ticket; "
              "ended newer; ended older");
    vs_allocator_sync_end(f.allocator, named("newer") + 100); /* an unknown ticket: ignored */
    play("take 512 at a; syncs 0; free a; take 512 at a; syncs 1");
}

TEST(a_refused_synchronisation_fails_the_request_and_keeps_the_block)
{
    play_with(&after_sync_config, GIB, "a = 512; free a; fail sync state");
    struct vs_allocator_stats before = stats_of(&f);
    play("refuse 512 state");
    struct vs_allocator_stats after = stats_of(&f);
    assert_memory_equal(&before, &after, sizeof before);
    play("fail sync ok; take 512 at a");
}

TEST(streams_are_ignored_when_reuse_waits_for_synchronisation)
{
    play_with(&after_sync_config, GIB, "a = 512 on 3; use a 4; free a; recorded 4 0");
    assert_int_equal(take_on(&f, 512, UINT64_MAX).addr, named("a"));
}

/* Runs inside the synchronisation of a request, as another thread would. */
struct intruder {
    struct fixture *f;
    uint64_t neighbour, other;
    bool abandon;
};

static void intrude(void *arg)
{
    struct intruder *in = arg;
    struct fixture *fixture = in->f;
    fixture->device.on_sync = NULL;
    if (in->abandon) {
        vs_allocator_abandon(fixture->allocator);
        fixture->device.segment_count = 0;
        fixture->device.used = 0;
        return;
    }
    give(fixture, in->neighbour); /* must neither block nor merge with the TAKEN block */
    in->other = take(fixture, 2048);
    assert_int_equal(vs_allocator_empty_cache(fixture->allocator, NULL), VS_OK);
    assert_int_equal(vs_allocator_check(fixture->allocator), VS_OK);
}

TEST(other_threads_go_on_while_a_request_synchronises)
{
    for (int variant = 0; variant < 4; variant++) {
        bool refused = variant % 2;
        uint64_t bytes = variant / 2 ? 512 : 1024; /* a part of the block, or all of it */
        fixture_start(&f, &after_sync_config, GIB);
        uint64_t a = take(&f, 1024), b = take(&f, 512), c = take(&f, 4096);
        struct intruder in = {.f = &f, .neighbour = b};
        give(&f, a);
        f.device.on_sync = intrude;
        f.device.on_sync_arg = &in;
        f.device.fail_sync = VS_OK;
        if (refused) {
            /* the inner request uses new memory, so only the outer one gets this error */
            f.device.fail_sync = VS_ERR_DEVICE;
            refuse(&f, bytes, VS_ERR_DEVICE);
            f.device.fail_sync = VS_OK;
        } else {
            assert_int_equal(take(&f, bytes), a);
        }
        assert_true(in.other > c); /* not the TAKEN block, nor its neighbour */
        /* the rest was merged with the neighbour freed meanwhile, which that synchronisation does
         * not cover */
        uint64_t syncs = f.device.syncs, taken = refused ? 0 : bytes;
        assert_int_equal(take(&f, 1536 - taken), a + taken);
        assert_int_equal(f.device.syncs, syncs + 1);
        fixture_stop(&f);
    }
}

static void free_the_neighbour(void *arg)
{
    struct intruder *in = arg;
    in->f->device.on_sync = NULL;
    give(in->f, in->neighbour);
}

/* Also under the lock of one shard, the rest of the block is merged. */
TEST(a_rest_joins_the_neighbour_freed_during_a_synchronisation)
{
    play_with(&after_sync_config, GIB, "a = 1024; b = 512; c = 4096");
    struct intruder in = {.f = &f, .neighbour = named("b")};
    play("free a");
    f.device.on_sync = free_the_neighbour;
    f.device.on_sync_arg = &in;
    play("take 512 at a; take 1024 at a+512; free c");
}

static uint64_t counted_in_the_first_shard(const struct fixture *fixture)
{
    return fixture->allocator->shards.shard[0].tally.up[VS_POOL_SMALL][VS_TALLY_BLOCKS];
}

TEST(a_synchronisation_before_reuse_does_not_lock_all_shards)
{
    struct vs_allocation got;
    play_with(&after_sync_config, GIB, "a = 1024; b = 1024; free a");
    uint64_t before = counted_in_the_first_shard(&f);
    assert_int_equal(vs_allocator_malloc(f.allocator, 512, 0, &got), VS_OK);
    assert_int_equal(counted_in_the_first_shard(&f), before + 1);
    assert_int_equal(got.addr, named("a"));
    play("syncs 1; num_reuse_syncs 1; free a; free b");
}

static void reset_the_peaks(void *arg)
{
    struct fixture *fixture = arg;
    fixture->device.on_sync = NULL;
    vs_allocator_reset_peaks(fixture->allocator);
}

TEST(a_peak_reset_during_a_synchronisation_is_raised_again)
{
    play_with(&after_sync_config, GIB, "a = 1024; free a");
    f.device.on_sync = reset_the_peaks;
    f.device.on_sync_arg = &f;
    play("take 1024 at a; syncs 1");
    assert_int_equal(stats_of(&f).allocated_bytes[VS_STAT_ALL].peak, 1024);
    assert_int_equal(stats_of(&f).active[VS_STAT_SMALL].peak, 1);
    play("num_reuse_syncs 1");
}

TEST(abandoning_during_a_synchronisation_fails_the_request)
{
    play_with(&after_sync_config, GIB, "a = 1024");
    struct intruder in = {.f = &f, .abandon = true};
    play("free a");
    f.device.on_sync = intrude;
    f.device.on_sync_arg = &in;
    play("refuse 1024 state");
    assert_int_equal(take(&f, 1024), FAKE_BASE);
}
