/* SPDX-License-Identifier: Apache-2.0
 *
 * When freed memory may be reused: events of other streams (record_stream), and synchronisation
 * before reuse. */
#include "allocator_test.h"

#include "allocator/core/allocator_internal.h"

static void record(struct fixture *fixture, uint64_t addr, uint64_t stream)
{
    assert_int_equal(vs_allocator_record_stream(fixture->allocator, addr, stream), VS_OK);
    assert_int_equal(vs_allocator_check(fixture->allocator), VS_OK);
}

/* --- stream ordered --- */

TEST(a_block_used_elsewhere_waits_for_the_event_there)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512);
    record(&f, a, 3);
    record(&f, a, 3); /* a second time counts once */
    give(&f, a);
    assert_int_equal(f.device.recorded[3], 1);
    struct vs_allocator_stats s = stats_of(&f);
    assert_int_equal(s.allocated_bytes[VS_STAT_ALL].current, 0);
    assert_int_equal(s.active_bytes[VS_STAT_ALL].current, 512);
    assert_int_equal(s.requested_bytes[VS_STAT_ALL].current, 512);
    assert_int_equal(f.events[f.event_count - 1].kind, VS_ALLOCATOR_FREE);
    uint64_t b = take(&f, 512);
    assert_int_not_equal(b, a);
    fake_device_complete(&f.device, 3, 1);
    uint64_t c = take(&f, 512); /* the next request polls the events */
    assert_int_equal(c, a);
    assert_int_equal(f.device.events_held, 0);
    assert_int_equal(stats_of(&f).active_bytes[VS_STAT_ALL].current, 1024);
    give(&f, b);
    give(&f, c);
}

TEST(the_blocks_own_stream_needs_no_event)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take_on(&f, 512, 2).addr;
    record(&f, a, 2);
    give(&f, a);
    assert_int_equal(f.device.recorded[2], 0);
    assert_int_equal(take_on(&f, 512, 2).addr, a);
}

TEST(a_free_that_names_another_stream_waits_for_it)
{
    fixture_start(&f, &pytorch_config, GIB);
    for (uint64_t user = 2; user <= 3; user++) {
        uint64_t a = take_on(&f, 512, 2).addr;
        assert_int_equal(vs_allocator_free_on(f.allocator, a + 512, user), VS_ERR_STATE);
        assert_int_equal(vs_allocator_free_on(f.allocator, 64, user), VS_ERR_FOREIGN);
        assert_int_equal(vs_allocator_free_on(f.allocator, a, user), VS_OK);
        assert_int_equal(vs_allocator_free_on(f.allocator, a, user), VS_ERR_STATE);
        assert_int_equal(f.device.recorded[user], user == 3);
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
        uint64_t b = take_on(&f, 512, 2).addr;
        assert_int_equal(b == a, user == 2);
        give(&f, b);
    }
    fake_device_complete(&f.device, 3, 1);
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
    assert_int_equal(vs_allocator_free_on(a, got.addr, 1), VS_ERR_UNSUPPORTED);
    assert_int_equal(vs_allocator_free_on(a, got.addr, 0), VS_OK);
    vs_allocator_destroy(a);
}

TEST(a_block_used_on_two_streams_waits_for_both)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512);
    record(&f, a, 3);
    record(&f, a, 1);
    give(&f, a);
    fake_device_complete(&f.device, 1, 1);
    assert_int_not_equal(take(&f, 512), a);
    fake_device_complete(&f.device, 3, 1);
    assert_int_equal(take(&f, 512), a);
}

TEST(a_pending_block_is_not_merged_with_its_neighbour)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512), c = take(&f, 512);
    record(&f, b, 1);
    give(&f, b);
    give(&f, a);
    struct vs_allocation found;
    bool live = true;
    assert_int_equal(vs_allocator_find(f.allocator, b + 5, &found, &live), VS_OK);
    assert_false(live);
    assert_int_equal(found.addr, b);
    assert_int_equal(found.size, 512);
    assert_int_equal(vs_allocator_free(f.allocator, b), VS_ERR_STATE);
    fake_device_complete(&f.device, 1, 1);
    assert_int_equal(take(&f, 1024), a);
    give(&f, c);
}

TEST(events_of_one_stream_complete_in_order)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a[3];
    for (int i = 0; i < 3; i++) {
        a[i] = take(&f, 512);
        record(&f, a[i], 1);
    }
    take(&f, 512);
    for (int i = 0; i < 3; i++)
        give(&f, a[i]);
    fake_device_complete(&f.device, 1, 2);
    assert_int_equal(take(&f, 512), a[0]);
    assert_int_equal(f.device.events_held, 1);
}

TEST(empty_cache_waits_for_pending_events)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512);
    record(&f, a, 1);
    give(&f, a);
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_OK);
    assert_int_equal(released, 2 * MIB);
    assert_int_equal(f.device.event_waits, 1);
    assert_int_equal(stats_of(&f).num_sync_all_streams, 1);
}

TEST(out_of_memory_waits_for_pending_events_before_it_gives_up)
{
    fixture_start(&f, &pytorch_config, 20 * MIB);
    uint64_t a = take(&f, 20 * MIB);
    record(&f, a, 1);
    give(&f, a);
    assert_int_equal(take(&f, 12 * MIB), a);
    assert_int_equal(stats_of(&f).num_alloc_retries, 1);
}

TEST(where_no_event_can_be_recorded_the_block_stays_pending)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512);
    record(&f, a, 1);
    record(&f, b, 2);
    f.device.fail_record = VS_ERR_STATE; /* capture */
    give(&f, a);
    give(&f, b);
    fake_device_complete(&f.device, 1, 100);
    uint64_t c = take(&f, 512);
    assert_int_not_equal(c, a);
    f.device.fail_record = VS_OK;
    assert_int_equal(take(&f, 512), a); /* recorded now, and found complete */
    fake_device_complete(&f.device, 2, 1);
    assert_int_equal(take(&f, 512), b);
}

TEST(a_failing_event_query_leaves_the_block_pending)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512);
    record(&f, a, 1);
    give(&f, a);
    fake_device_complete(&f.device, 1, 1);
    f.device.fail_query = VS_ERR_STATE;
    assert_int_not_equal(take(&f, 512), a);
    f.device.fail_query = VS_OK;
    assert_int_equal(take(&f, 512), a);
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

TEST(memory_fresh_from_the_device_needs_no_synchronisation)
{
    fixture_start(&f, &after_sync_config, GIB);
    for (int i = 0; i < 20; i++)
        take(&f, 100 * KIB);
    assert_int_equal(f.device.syncs, 0);
}

TEST(a_freed_block_is_handed_out_only_after_a_synchronisation)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512);
    give(&f, a);
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 1);
    give(&f, a);
    give(&f, b);
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 2);
    assert_int_equal(take(&f, 512), b); /* covered by the same synchronisation */
    assert_int_equal(f.device.syncs, 2);
    assert_int_equal(stats_of(&f).num_reuse_syncs, 2);
}

TEST(a_synchronisation_of_the_program_after_the_free_is_enough)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512);
    give(&f, a);
    uint64_t ticket = vs_allocator_sync_begin(f.allocator);
    vs_allocator_sync_end(f.allocator, ticket);
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 0);
}

TEST(a_synchronisation_begun_before_the_free_does_not_cover_it)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512);
    uint64_t ticket = vs_allocator_sync_begin(f.allocator);
    give(&f, a);
    vs_allocator_sync_end(f.allocator, ticket);
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 1);
}

TEST(memory_is_settled_unless_a_free_has_no_synchronisation)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512);
    assert_int_equal(vs_allocator_settled(f.allocator), VS_SETTLED);
    give(&f, a);
    assert_int_equal(vs_allocator_settled(f.allocator), VS_UNSETTLED);
    vs_allocator_sync_end(f.allocator, vs_allocator_sync_begin(f.allocator));
    assert_int_equal(vs_allocator_settled(f.allocator), VS_SETTLED);
    uint64_t ticket = vs_allocator_sync_begin(f.allocator);
    give(&f, b);
    vs_allocator_sync_end(f.allocator, ticket); /* it began before the free */
    assert_int_equal(vs_allocator_settled(f.allocator), VS_UNSETTLED);
    assert_int_equal(f.device.syncs, 0);
}

TEST(a_synchronisation_that_never_ended_covers_nothing)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512);
    give(&f, a);
    uint64_t first = vs_allocator_sync_begin(f.allocator);
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 1);
    give(&f, a);
    vs_allocator_sync_end(f.allocator, first); /* late, and older than the free */
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 2);
}

TEST(tickets_may_end_out_of_order)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512);
    uint64_t older = vs_allocator_sync_begin(f.allocator);
    give(&f, a);
    uint64_t newer = vs_allocator_sync_begin(f.allocator);
    vs_allocator_sync_end(f.allocator, newer);
    vs_allocator_sync_end(f.allocator, older);
    vs_allocator_sync_end(f.allocator, newer + 100); /* an unknown ticket: ignored */
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 0);
    give(&f, a);
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(f.device.syncs, 1);
}

TEST(a_merged_block_is_as_unsafe_as_its_newest_part)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512), c = take(&f, 512);
    give(&f, a);
    vs_allocator_sync_end(f.allocator, vs_allocator_sync_begin(f.allocator));
    give(&f, b);
    assert_int_equal(take(&f, 1024), a);
    assert_int_equal(f.device.syncs, 1);
    give(&f, c);
}

TEST(a_refused_synchronisation_fails_the_request_and_keeps_the_block)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 512);
    give(&f, a);
    f.device.fail_sync = VS_ERR_STATE;
    struct vs_allocator_stats before = stats_of(&f);
    refuse(&f, 512, VS_ERR_STATE);
    struct vs_allocator_stats after = stats_of(&f);
    assert_memory_equal(&before, &after, sizeof before);
    f.device.fail_sync = VS_OK;
    assert_int_equal(take(&f, 512), a);
}

TEST(streams_are_ignored_when_reuse_waits_for_synchronisation)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take_on(&f, 512, 3).addr;
    record(&f, a, 4);
    give(&f, a);
    assert_int_equal(f.device.recorded[4], 0);
    assert_int_equal(take_on(&f, 512, UINT64_MAX).addr, a);
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
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 1024), b = take(&f, 512), c = take(&f, 4096);
    struct intruder in = {.f = &f, .neighbour = b};
    give(&f, a);
    f.device.on_sync = free_the_neighbour;
    f.device.on_sync_arg = &in;
    assert_int_equal(take(&f, 512), a);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    assert_int_equal(take(&f, 1024), a + 512);
    give(&f, c);
}

static uint64_t counted_in_the_first_shard(const struct fixture *fixture)
{
    return fixture->allocator->shards.shard[0].tally.up[VS_POOL_SMALL][VS_TALLY_BLOCKS];
}

TEST(a_synchronisation_before_reuse_does_not_lock_all_shards)
{
    struct vs_allocation got;
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 1024), b = take(&f, 1024);
    give(&f, a);
    uint64_t before = counted_in_the_first_shard(&f);
    assert_int_equal(vs_allocator_malloc(f.allocator, 512, 0, &got), VS_OK);
    assert_int_equal(counted_in_the_first_shard(&f), before + 1);
    assert_int_equal(got.addr, a);
    assert_int_equal(f.device.syncs, 1);
    assert_int_equal(stats_of(&f).num_reuse_syncs, 1);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    give(&f, a);
    give(&f, b);
}

static void reset_the_peaks(void *arg)
{
    struct fixture *fixture = arg;
    fixture->device.on_sync = NULL;
    vs_allocator_reset_peaks(fixture->allocator);
}

TEST(a_peak_reset_during_a_synchronisation_is_raised_again)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 1024);
    give(&f, a);
    f.device.on_sync = reset_the_peaks;
    f.device.on_sync_arg = &f;
    assert_int_equal(take(&f, 1024), a);
    assert_int_equal(f.device.syncs, 1);
    struct vs_allocator_stats s = stats_of(&f);
    assert_int_equal(s.allocated_bytes[VS_STAT_ALL].peak, 1024);
    assert_int_equal(s.active[VS_STAT_SMALL].peak, 1);
    assert_int_equal(s.num_reuse_syncs, 1);
}

TEST(abandoning_during_a_synchronisation_fails_the_request)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 1024);
    struct intruder in = {.f = &f, .abandon = true};
    give(&f, a);
    f.device.on_sync = intrude;
    f.device.on_sync_arg = &in;
    refuse(&f, 1024, VS_ERR_STATE);
    assert_int_equal(take(&f, 1024), FAKE_BASE);
}
