/* SPDX-License-Identifier: Apache-2.0
 *
 * Expandable segments: where memory is mapped, which memory is unmapped and when, splitting, best
 * fit, statistics, snapshots, and the state after device failures. */
#include "allocator_test.h"

static const struct vs_allocator_config expandable = {.expandable_segments = true};
static const struct vs_allocator_config expandable_after_sync = {
    .expandable_segments = true, .reuse = VS_REUSE_AFTER_SYNC};

static void assert_event(const struct fixture *fixture, size_t i, enum vs_allocator_event_kind kind,
                         uint64_t addr, uint64_t size)
{
    assert_true(i < fixture->event_count);
    assert_int_equal(fixture->events[i].kind, kind);
    assert_int_equal(fixture->events[i].addr, addr);
    assert_int_equal(fixture->events[i].size, size);
}

TEST(requests_tile_one_range_whatever_their_size)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 30 * MIB), b = take(&f, 5 * MIB), c = take(&f, 25 * MIB);
    assert_int_equal(a, FAKE_RANGE_BASE);
    assert_int_equal(b, a + 30 * MIB); /* not rounded to a segment size */
    assert_int_equal(c, b + 5 * MIB);
    assert_int_equal(f.device.memory.ranges[0].bytes, 1160 * MIB); /* 9/8 GiB in 20 MiB steps */
    assert_int_equal(f.device.allocs, 0);
    assert_event(&f, 0, VS_ALLOCATOR_SEGMENT_MAP, a, 40 * MIB);
    assert_event(&f, 1, VS_ALLOCATOR_ALLOC, a, 30 * MIB);
    assert_event(&f, 2, VS_ALLOCATOR_ALLOC, b, 5 * MIB);
    assert_event(&f, 3, VS_ALLOCATOR_SEGMENT_MAP, a + 40 * MIB, 20 * MIB);
    uint64_t small = take(&f, 1000);
    assert_int_equal(f.device.memory.range_count, 2);
    assert_event(&f, 5, VS_ALLOCATOR_SEGMENT_MAP, small, 2 * MIB);
}

TEST(splits_leave_every_rest_of_512_bytes)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 20 * MIB - 512);
    struct vs_allocation b = take_on(&f, 2 * MIB, 0);
    assert_int_equal(b.addr, a + 20 * MIB - 512); /* the rest of the first handle is used */
    assert_int_equal(reserved(&f), 40 * MIB);
}

TEST(a_range_counts_no_segments_and_no_inactive_splits)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 2 * MIB), b = take(&f, 3 * MIB);
    give(&f, a);
    struct vs_allocator_stats s = stats_of(&f);
    assert_stat(s.segment[VS_STAT_ALL], 0, 0, 0, 0);
    assert_stat(s.inactive_split[VS_STAT_ALL], 0, 0, 0, 0);
    assert_stat(s.inactive_split_bytes[VS_STAT_ALL], 0, 0, 0, 0);
    assert_stat(s.reserved_bytes[VS_STAT_LARGE], 20 * MIB, 20 * MIB, 20 * MIB, 0);
    assert_int_equal(s.num_device_alloc, 1);
    give(&f, b);
    assert_int_equal(empty(&f), 20 * MIB);
    s = stats_of(&f);
    assert_stat(s.reserved_bytes[VS_STAT_LARGE], 0, 20 * MIB, 20 * MIB, 20 * MIB);
    assert_int_equal(s.num_device_free, 1);
}

TEST(only_whole_handles_inside_free_blocks_are_unmapped)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 30 * MIB), b = take(&f, 65 * MIB), c = take(&f, 5 * MIB);
    give(&f, b); /* 30..95: handles 40..80 are whole */
    f.event_count = 0;
    assert_int_equal(empty(&f), 40 * MIB);
    assert_event(&f, 0, VS_ALLOCATOR_SEGMENT_UNMAP, a + 40 * MIB, 40 * MIB);
    assert_int_equal(f.device.stream_syncs, 1);
    assert_int_equal(f.device.used, 60 * MIB);
    assert_int_equal(empty(&f), 0);
    assert_int_equal(f.device.stream_syncs, 1); /* nothing to unmap: no wait */
    /* the free 10 MiB before the hole and the part mapped in it are used for the next one */
    f.event_count = 0;
    assert_int_equal(take(&f, 25 * MIB), a + 30 * MIB);
    assert_event(&f, 0, VS_ALLOCATOR_SEGMENT_MAP, a + 40 * MIB, 20 * MIB);
    give(&f, c);
    give(&f, a);
}

TEST(the_range_itself_goes_with_its_last_handle)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 30 * MIB), b = take(&f, 100);
    give(&f, a);
    assert_int_equal(empty(&f), 40 * MIB);
    assert_int_equal(f.device.memory.range_count, 1);
    give(&f, b);
    assert_int_equal(empty(&f), 2 * MIB);
    assert_int_equal(f.device.memory.range_count, 0);
    assert_int_not_equal(take(&f, 100), b);
}

TEST(a_gap_is_filled_before_the_end_grows)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 40 * MIB), b = take(&f, 20 * MIB), c = take(&f, 40 * MIB);
    uint64_t d = take(&f, 20 * MIB);
    give(&f, a);
    give(&f, c);
    assert_int_equal(empty(&f), 80 * MIB);
    f.event_count = 0;
    assert_int_equal(take(&f, 41 * MIB), d + 20 * MIB); /* neither gap has room */
    assert_int_equal(take(&f, 39 * MIB), a);
    assert_int_equal(take(&f, 40 * MIB), c);
    assert_event(&f, 2, VS_ALLOCATOR_SEGMENT_MAP, a, 40 * MIB);
    assert_event(&f, 4, VS_ALLOCATOR_SEGMENT_MAP, c, 40 * MIB);
    (void)b;
}

TEST(a_request_may_span_several_gaps_and_free_blocks)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 40 * MIB), b = take(&f, 30 * MIB), c = take(&f, 30 * MIB);
    uint64_t d = take(&f, 20 * MIB);
    give(&f, a);
    assert_int_equal(empty(&f), 40 * MIB); /* 0..40 unmapped */
    give(&f, b);                           /* 40..70 free */
    give(&f, c);                           /* 40..100 free */
    f.event_count = 0;
    assert_int_equal(take(&f, 90 * MIB), a);
    assert_event(&f, 0, VS_ALLOCATOR_SEGMENT_MAP, a, 40 * MIB);
    assert_event(&f, 1, VS_ALLOCATOR_ALLOC, a, 90 * MIB);
    (void)d;
}

TEST(the_best_fit_counts_what_a_block_can_grow_to)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 12 * MIB), b = take(&f, 2 * MIB), c = take(&f, 20 * MIB);
    give(&f, a); /* 12 MiB, enclosed */
    (void)b;
    assert_int_equal(reserved(&f), 40 * MIB); /* 6 MiB free at the end, which can grow */
    assert_int_equal(take(&f, 5 * MIB), a);   /* not the smaller one at the end */
    (void)c;
}

TEST(streams_and_pools_have_ranges_of_their_own)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take_on(&f, 2 * MIB, 1).addr, b = take_on(&f, 2 * MIB, 2).addr;
    uint64_t c = take_on(&f, 512, 1).addr;
    assert_int_equal(f.device.memory.range_count, 3);
    give(&f, a);
    assert_int_not_equal(take_on(&f, 2 * MIB, 2).addr, a);
    assert_int_equal(take_on(&f, 2 * MIB, 1).addr, a);
    (void)b;
    (void)c;
}

TEST(out_of_memory_unmaps_and_tries_again)
{
    fixture_start(&f, &expandable, 100 * MIB);
    uint64_t a = take_on(&f, 60 * MIB, 1).addr;
    give(&f, a);
    uint64_t b = take_on(&f, 80 * MIB, 2).addr; /* another stream's range */
    assert_int_equal(stats_of(&f).num_alloc_retries, 1);
    refuse(&f, 40 * MIB, VS_ERR_DEVICE_OOM);
    assert_int_equal(stats_of(&f).num_ooms, 1);
    give(&f, b);
    take(&f, 95 * MIB);
}

TEST(what_was_mapped_before_a_failure_stays_cached)
{
    fixture_start(&f, &expandable, 200 * MIB);
    uint64_t a = take(&f, 20 * MIB), b = take(&f, 20 * MIB), c = take(&f, 20 * MIB);
    uint64_t other = take_on(&f, 100 * MIB, 1).addr;
    give(&f, a);
    assert_int_equal(empty(&f), 20 * MIB);
    give(&f, b);
    give(&f, c);
    /* a gap of 20, 40 free, and 60 more are needed after it: 60 MiB are left */
    f.device.fail_unmap = VS_ERR_DEVICE; /* releasing in the retry would hide it */
    refuse(&f, 140 * MIB, VS_ERR_DEVICE_OOM);
    assert_int_equal(reserved(&f), 160 * MIB);
    f.device.fail_unmap = VS_OK;
    assert_int_equal(take(&f, 60 * MIB), a); /* one block now */
    (void)other;
}

TEST(failures_of_the_device_change_nothing)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 30 * MIB);
    uint64_t used = f.device.used;
    f.device.fail_create = VS_ERR_DEVICE;
    refuse(&f, 30 * MIB, VS_ERR_DEVICE);
    f.device.fail_create = VS_OK;
    f.device.fail_map = VS_ERR_DEVICE;
    refuse(&f, 30 * MIB, VS_ERR_DEVICE);
    assert_int_equal(f.device.used, used); /* created handles were released */
    f.device.fail_map = VS_OK;
    give(&f, a);
    f.device.fail_unmap = VS_ERR_DEVICE;
    uint64_t released = 1;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_ERR_DEVICE);
    assert_int_equal(released, 0);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    f.device.fail_unmap = VS_OK;
    assert_int_equal(take(&f, 35 * MIB), a);
}

TEST(a_pending_block_keeps_its_memory)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take_on(&f, 40 * MIB, 1).addr;
    assert_int_equal(vs_allocator_record_stream(f.allocator, a, 2), VS_OK);
    give(&f, a);
    uint64_t b = take_on(&f, 40 * MIB, 1).addr;
    assert_int_equal(b, a + 40 * MIB);
    fake_device_complete(&f.device, 2, 1);
    assert_int_equal(empty(&f), 40 * MIB);
}

TEST(the_memory_fraction_limits_what_is_mapped)
{
    struct vs_allocator_config c = expandable;
    c.memory_fraction = 0.5;
    fixture_start(&f, &c, 100 * MIB);
    take(&f, 20 * MIB);
    uint64_t asked = f.device.creates;
    refuse(&f, 40 * MIB, VS_ERR_DEVICE_OOM);
    assert_int_equal(f.device.creates, asked);
    take(&f, 20 * MIB);
}

struct runs {
    struct vs_segment_info runs[8];
    size_t count, blocks;
    uint64_t at;
};

static void collect(void *ctx, const struct vs_segment_info *segment,
                    const struct vs_block_info *block)
{
    struct runs *r = ctx;
    if (!block) {
        r->runs[r->count++] = *segment;
        r->at = segment->addr;
        return;
    }
    assert_int_equal(block->addr, r->at);
    assert_int_not_equal(block->state, VS_BLOCK_UNMAPPED);
    r->at += block->size;
    r->blocks++;
}

TEST(a_snapshot_shows_each_mapped_run)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 30 * MIB), b = take(&f, 70 * MIB), c = take(&f, 20 * MIB);
    give(&f, b);
    empty(&f); /* 40..100 unmapped */
    struct runs r = {0};
    vs_allocator_snapshot(f.allocator, collect, &r);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.runs[0].addr, a);
    assert_int_equal(r.runs[0].size, 40 * MIB);
    assert_true(r.runs[0].expandable);
    assert_int_equal(r.runs[1].addr, c);
    assert_int_equal(r.runs[1].size, 20 * MIB);
    assert_int_equal(r.blocks, 3);
}

TEST(addresses_without_memory_are_not_found)
{
    fixture_start(&f, &expandable, GIB);
    uint64_t a = take(&f, 30 * MIB);
    struct vs_allocation at;
    bool live;
    assert_int_equal(vs_allocator_find(f.allocator, a + 29 * MIB, &at, &live), VS_OK);
    assert_true(live);
    assert_int_equal(at.addr, a);
    assert_int_equal(vs_allocator_find(f.allocator, a + 39 * MIB, &at, &live), VS_OK);
    assert_false(live);
    assert_int_equal(vs_allocator_find(f.allocator, a + 41 * MIB, &at, &live), VS_ERR_FOREIGN);
    assert_int_equal(vs_allocator_free(f.allocator, a + 41 * MIB), VS_ERR_STATE);
}

TEST(unmapping_waits_for_a_synchronisation_that_began_after_the_free)
{
    fixture_start(&f, &expandable_after_sync, GIB);
    uint64_t a = take(&f, 40 * MIB);
    give(&f, a);
    assert_int_equal(empty(&f), 40 * MIB);
    assert_int_equal(f.device.syncs, 1);
    a = take(&f, 40 * MIB);
    assert_int_equal(f.device.syncs, 1); /* new memory needs none */
    give(&f, a);
    vs_allocator_sync_end(f.allocator, vs_allocator_sync_begin(f.allocator));
    assert_int_equal(empty(&f), 40 * MIB);
    assert_int_equal(f.device.syncs, 1); /* the program's own was enough */
    a = take(&f, 40 * MIB);
    give(&f, a);
    f.device.fail_sync = VS_ERR_DEVICE;
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_ERR_DEVICE);
    assert_int_equal(released, 0);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    f.device.fail_sync = VS_OK;
}

static void free_again(void *arg)
{
    struct fixture *fixture = arg;
    fixture->device.on_sync = NULL;
    assert_int_equal(vs_allocator_free(fixture->allocator, fixture->events[1].addr), VS_OK);
}

TEST(a_block_freed_during_the_synchronisation_stays_mapped)
{
    fixture_start(&f, &expandable_after_sync, GIB);
    uint64_t late = take(&f, 40 * MIB), wall = take(&f, 20 * MIB), early = take(&f, 40 * MIB);
    assert_int_equal(f.events[1].addr, late);
    give(&f, early);
    f.device.on_sync = free_again;
    f.device.on_sync_arg = &f;
    assert_int_equal(empty(&f), 40 * MIB);
    assert_int_equal(reserved(&f), 60 * MIB); /* the separating block, and memory freed too late */
    give(&f, wall);
}

static void abandon_in_sync(void *arg)
{
    struct fixture *fixture = arg;
    vs_allocator_abandon(fixture->allocator);
}

TEST(an_allocator_abandoned_during_the_synchronisation_releases_nothing)
{
    fixture_start(&f, &expandable_after_sync, GIB);
    give(&f, take(&f, 40 * MIB));
    f.device.on_sync = abandon_in_sync;
    f.device.on_sync_arg = &f;
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_ERR_STATE);
    assert_int_equal(released, 0);
    assert_int_equal(f.device.unmaps, 0);
    fixture_destroy(&f);
}

TEST(the_address_space_of_a_range_can_be_limited)
{
    struct vs_allocator_config c = expandable;
    c.expandable_reserve_fraction = 0.05;
    fixture_start(&f, &c, GIB);
    uint64_t a = take(&f, 50 * MIB);
    assert_int_equal(f.device.memory.ranges[0].bytes, 60 * MIB);
    assert_true(take(&f, 20 * MIB) >= a + 60 * MIB); /* no room: another range */
    refuse(&f, 61 * MIB, VS_ERR_DEVICE_OOM);
    fixture_stop(&f);
    c.expandable_reserve_bytes = 16 * GIB; /* never more than 9/8 of the device */
    fixture_start(&f, &c, GIB);
    take(&f, 50 * MIB);
    assert_int_equal(f.device.memory.ranges[0].bytes, 1160 * MIB);
    fixture_stop(&f);
    struct vs_allocator *allocator;
    c.expandable_reserve_fraction = -1;
    assert_int_equal(vs_allocator_create(&c, &fake_device_ops, NULL, NULL, NULL, &allocator),
                     VS_ERR_ARG);
}

TEST(what_expandable_segments_need_is_checked)
{
    struct vs_allocator *a;
    struct vs_device_ops ops = fake_device_ops;
    ops.stream_synchronize = NULL;
    assert_int_equal(vs_allocator_create(&expandable, &ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
    ops = fake_device_ops;
    ops.memory_info = NULL;
    assert_int_equal(vs_allocator_create(&expandable, &ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
    ops = fake_device_ops;
    ops.range_reserve = NULL, ops.range_release = NULL, ops.memory_create = NULL;
    ops.memory_release = NULL, ops.memory_map = NULL, ops.memory_unmap = NULL;
    assert_int_equal(vs_allocator_create(&expandable, &ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
}

/* Random requests and frees on a small device, checked after every step. */
TEST(random_use_keeps_every_invariant)
{
    const struct vs_allocator_config *configs[] = {&expandable, &expandable_after_sync};
    for (size_t c = 0; c < 2; c++) {
        fixture_start(&f, configs[c], 300 * MIB);
        uint64_t live[40], count = 0, random = 12345 + c;
        for (int step = 0; step < 4000; step++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint64_t r = random >> 33;
            if (r % 97 == 0) {
                empty(&f);
            } else if (count && (r % 2 || count == 40)) {
                uint64_t i = (r >> 8) % count;
                give(&f, live[i]);
                live[i] = live[--count];
            } else {
                struct vs_allocation got;
                uint64_t bytes = (r >> 10) % (UINT64_C(1) << (10 + (r >> 2) % 17)) + 1;
                enum vs_err err = vs_allocator_malloc(f.allocator, bytes, r % 3, &got);
                assert_true(err == VS_OK || err == VS_ERR_DEVICE_OOM);
                assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
                if (!err)
                    live[count++] = got.addr;
            }
            assert_int_equal(reserved(&f), f.device.used);
        }
        while (count)
            give(&f, live[--count]);
        empty(&f);
        assert_int_equal(f.device.used, 0);
        fixture_stop(&f);
    }
}
