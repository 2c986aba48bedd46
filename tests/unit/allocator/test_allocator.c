/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests, frees, merging, best fit, errors, releasing under pressure, and the statistics of
 * hand-computed scenarios. The allocator is checked after each step. */
#include "allocator_test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "allocator/core/allocator_internal.h"

TEST(a_request_takes_the_start_of_a_new_segment)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation a = take_on(&f, 1000, 5);
    assert_int_equal(a.addr, FAKE_BASE);
    assert_int_equal(a.requested, 1000);
    assert_int_equal(a.size, 1024);
    assert_int_equal(f.device.segments[0].size, 2 * MIB);
    assert_int_equal(take_on(&f, 1, 5).addr, FAKE_BASE + 1024);
    assert_int_equal(f.device.allocs, 1);
}

TEST(a_tail_of_1_mib_stays_inside_a_large_block)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation a = take_on(&f, 11 * MIB, 0); /* segment 12 MiB: 1 MiB over */
    assert_int_equal(a.size, 12 * MIB);
    struct vs_allocation b = take_on(&f, 11 * MIB - 512, 0);
    assert_int_equal(b.size, 11 * MIB - 512); /* 1 MiB + 512 over: split */
}

TEST(small_and_large_requests_never_share_a_segment)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t large = take(&f, 2 * MIB);
    give(&f, large);
    uint64_t small = take(&f, 512);
    assert_true(small < large || small >= large + 20 * MIB);
    assert_int_equal(f.device.allocs, 2);
}

TEST(the_smallest_block_that_fits_is_chosen_and_the_lowest_of_equals)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 4096), gap1 = take(&f, 512), b = take(&f, 2048), gap2 = take(&f, 512);
    uint64_t c = take(&f, 2048), gap3 = take(&f, 512);
    give(&f, c);
    give(&f, a);
    give(&f, b);
    assert_int_equal(take(&f, 1500), b); /* 1536: smallest fit 2048, twice; b is lower */
    assert_int_equal(take(&f, 2000), c);
    assert_int_equal(take(&f, 2049), a);
    give(&f, gap1);
    give(&f, gap2);
    give(&f, gap3);
}

TEST(freed_neighbours_become_one_block)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512), c = take(&f, 512), d = take(&f, 512);
    give(&f, a);
    give(&f, c);
    struct vs_allocation found;
    bool live;
    give(&f, b); /* merges with both sides */
    assert_int_equal(vs_allocator_find(f.allocator, b, &found, &live), VS_OK);
    assert_false(live);
    assert_int_equal(found.addr, a);
    assert_int_equal(found.size, 1536);
    give(&f, d); /* and the segment is one block again */
    assert_int_equal(vs_allocator_find(f.allocator, d, &found, &live), VS_OK);
    assert_int_equal(found.size, 2 * MIB);
    assert_int_equal(vs_block_count_locked(f.allocator), 1);
}

TEST(streams_do_not_share_cached_blocks)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take_on(&f, 512, 1).addr;
    give(&f, a);
    assert_int_not_equal(take_on(&f, 512, 2).addr, a);
    assert_int_equal(take_on(&f, 512, 1).addr, a);
}

TEST(zero_bytes_give_address_0_which_can_be_freed)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation a = take_on(&f, 0, 0);
    assert_int_equal(a.addr, 0);
    assert_int_equal(a.size, 0);
    give(&f, a.addr);
    assert_int_equal(f.device.allocs, 0);
    assert_int_equal(f.event_count, 0);
}

TEST(a_foreign_pointer_is_reported_as_foreign)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation found;
    bool live;
    assert_int_equal(vs_allocator_free(f.allocator, 0x1234500), VS_ERR_FOREIGN);
    uint64_t a = take(&f, 20 * MIB);
    assert_int_equal(vs_allocator_free(f.allocator, a + 20 * MIB), VS_ERR_FOREIGN);
    assert_int_equal(vs_allocator_free(f.allocator, a - 1), VS_ERR_FOREIGN);
    assert_int_equal(vs_allocator_record_stream(f.allocator, 64, 1), VS_ERR_FOREIGN);
    assert_int_equal(vs_allocator_find(f.allocator, a - 1, &found, &live), VS_ERR_FOREIGN);
}

TEST(a_double_free_is_a_state_error_and_changes_nothing)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 512);
    give(&f, b);
    size_t events_before = f.event_count;
    assert_int_equal(vs_allocator_free(f.allocator, b), VS_ERR_STATE);
    assert_int_equal(vs_allocator_record_stream(f.allocator, b, 1), VS_ERR_STATE);
    assert_int_equal(f.event_count, events_before);
    assert_int_equal(stats_of(&f).allocation[VS_STAT_ALL].current, 1);
    give(&f, a);
}

TEST(a_pointer_inside_a_live_block_cannot_be_freed_but_is_found)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t sizes[] = {700, 200 * KIB, 512, 5 * MIB, 12 * MIB};
    uint64_t addr[5];
    struct vs_allocation found;
    bool live;
    for (int i = 0; i < 5; i++)
        addr[i] = take(&f, sizes[i]);
    give(&f, addr[2]);
    for (int i = 0; i < 5; i++) {
        uint64_t inside = addr[i] + sizes[i] - 1;
        assert_int_equal(vs_allocator_find(f.allocator, inside, &found, &live), VS_OK);
        assert_int_equal(live, i != 2);
        assert_int_equal(found.addr, addr[i]);
        assert_int_equal(found.requested, i == 2 ? 0 : sizes[i]);
        assert_int_equal(vs_allocator_free(f.allocator, inside), i == 2 ? VS_ERR_STATE : VS_ERR_ARG);
        assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    }
}

TEST(out_of_memory_gives_the_cache_back_and_retries_once)
{
    fixture_start(&f, &pytorch_config, 40 * MIB);
    uint64_t a = take(&f, 20 * MIB), b = take(&f, 512);
    give(&f, a);
    f.event_count = 0;
    uint64_t c = take(&f, 30 * MIB);
    assert_int_equal(f.event_count, 3);
    assert_int_equal(f.events[0].kind, VS_ALLOCATOR_SEGMENT_FREE);
    assert_int_equal(f.events[0].addr, a);
    assert_int_equal(f.events[0].size, 20 * MIB);
    assert_int_equal(f.events[1].kind, VS_ALLOCATOR_SEGMENT_ALLOC);
    assert_int_equal(f.events[2].kind, VS_ALLOCATOR_ALLOC);
    struct vs_allocator_stats s = stats_of(&f);
    assert_int_equal(s.num_alloc_retries, 1);
    assert_int_equal(s.num_sync_all_streams, 1);
    assert_int_equal(s.num_ooms, 0);
    assert_int_equal(s.num_device_alloc, 3);
    assert_int_equal(s.num_device_free, 1);
    give(&f, b);
    give(&f, c);
}

TEST(a_request_the_device_cannot_hold_fails_with_device_oom)
{
    fixture_start(&f, &pytorch_config, 40 * MIB);
    take(&f, 20 * MIB);
    f.event_count = 0;
    refuse(&f, 21 * MIB + 1, VS_ERR_DEVICE_OOM);
    assert_int_equal(f.event_count, 1);
    assert_int_equal(f.events[0].kind, VS_ALLOCATOR_OOM);
    assert_int_equal(f.events[0].requested, 21 * MIB + 1);
    assert_int_equal(f.events[0].size, 21 * MIB + 512);
    assert_int_equal(f.events[0].addr, 20 * MIB); /* free on the device */
    refuse(&f, SIZE_MAX, VS_ERR_DEVICE_OOM);
    refuse(&f, VS_ALLOCATOR_REQUEST_MAX, VS_ERR_DEVICE_OOM);
    struct vs_allocator_stats s = stats_of(&f);
    assert_int_equal(s.num_ooms, 3);
    assert_int_equal(s.num_alloc_retries, 2); /* the oversized request made no device call */
    take(&f, 20 * MIB);
}

TEST(other_device_errors_are_passed_on_without_giving_back)
{
    fixture_start(&f, &pytorch_config, GIB);
    give(&f, take(&f, 512));
    f.device.fail_alloc = VS_ERR_DEVICE;
    refuse(&f, 2 * MIB, VS_ERR_DEVICE);
    f.device.fail_alloc = VS_ERR_STATE;
    refuse(&f, 2 * MIB, VS_ERR_STATE);
    assert_int_equal(f.device.frees, 0);
    assert_int_equal(stats_of(&f).num_ooms, 0);
    take(&f, 512); /* from the cache */
    f.device.fail_alloc = VS_OK;
}

TEST(a_segment_the_device_will_not_take_back_stays_cached)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), released = 1;
    give(&f, a);
    f.device.fail_free = VS_ERR_STATE;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_ERR_STATE);
    assert_int_equal(released, 0);
    f.device.fail_free = VS_OK;
    assert_int_equal(take(&f, 512), a);
}

TEST(empty_cache_gives_wholly_free_segments_back_and_no_other)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t kept = take(&f, 512), large = take(&f, 30 * MIB), other = take_on(&f, 512, 9).addr;
    give(&f, large);
    give(&f, other);
    assert_int_equal(vs_allocator_cached_bytes(f.allocator), 34 * MIB - 512);
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_OK);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    assert_int_equal(released, 32 * MIB);
    assert_int_equal(f.device.used, 2 * MIB);
    give(&f, kept);
    assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
    assert_int_equal(f.device.used, 0);
}

TEST(statistics_of_a_split_and_a_merge_are_pytorchs)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 1000); /* 1024 of 2 MiB */
    struct vs_allocator_stats s = stats_of(&f);
    for (int pool = VS_STAT_ALL; pool <= VS_STAT_SMALL; pool++) {
        assert_stat(s.allocation[pool], 1, 1, 1, 0);
        assert_stat(s.allocated_bytes[pool], 1024, 1024, 1024, 0);
        assert_stat(s.requested_bytes[pool], 1000, 1000, 1000, 0);
        assert_stat(s.active[pool], 1, 1, 1, 0);
        assert_stat(s.active_bytes[pool], 1024, 1024, 1024, 0);
        assert_stat(s.segment[pool], 1, 1, 1, 0);
        assert_stat(s.reserved_bytes[pool], 2 * MIB, 2 * MIB, 2 * MIB, 0);
        assert_stat(s.inactive_split[pool], 1, 1, 1, 0);
        assert_stat(s.inactive_split_bytes[pool], 2 * MIB - 1024, 2 * MIB - 1024, 2 * MIB - 1024, 0);
    }
    assert_stat(s.allocation[VS_STAT_LARGE], 0, 0, 0, 0);
    uint64_t b = take(&f, 512);
    s = stats_of(&f);
    /* the cached rest shrank: bytes drop, the count stays */
    assert_stat(s.inactive_split[VS_STAT_ALL], 1, 1, 1, 0);
    assert_stat(s.inactive_split_bytes[VS_STAT_ALL], 2 * MIB - 1536, 2 * MIB - 1024, 2 * MIB - 1024,
                512);
    give(&f, a);
    s = stats_of(&f);
    assert_stat(s.allocated_bytes[VS_STAT_ALL], 512, 1536, 1536, 1024);
    assert_stat(s.requested_bytes[VS_STAT_ALL], 512, 1512, 1512, 1000);
    assert_stat(s.inactive_split[VS_STAT_ALL], 2, 2, 2, 0);
    give(&f, b); /* all of it is one whole segment: nothing is split any more, in one step */
    s = stats_of(&f);
    assert_stat(s.inactive_split[VS_STAT_ALL], 0, 2, 2, 2);
    assert_int_equal(s.inactive_split_bytes[VS_STAT_ALL].current, 0);
    assert_stat(s.active[VS_STAT_SMALL], 0, 2, 2, 2);
    assert_stat(s.reserved_bytes[VS_STAT_ALL], 2 * MIB, 2 * MIB, 2 * MIB, 0);
}

TEST(resets_touch_peaks_or_sums_and_not_levels)
{
    fixture_start(&f, &pytorch_config, 20 * MIB);
    uint64_t a = take(&f, 512);
    give(&f, take(&f, 1024));
    refuse(&f, 64 * MIB, VS_ERR_DEVICE_OOM);
    vs_allocator_reset_peaks(f.allocator);
    struct vs_allocator_stats s = stats_of(&f);
    assert_stat(s.allocated_bytes[VS_STAT_ALL], 512, 512, 1536, 1024);
    assert_int_equal(s.num_ooms, 1);
    vs_allocator_reset_accumulated(f.allocator);
    s = stats_of(&f);
    assert_stat(s.allocated_bytes[VS_STAT_ALL], 512, 512, 0, 0);
    assert_stat(s.segment[VS_STAT_SMALL], 1, 1, 0, 0);
    assert_int_equal(s.num_ooms, 0);
    assert_int_equal(s.num_device_alloc, 0);
    assert_int_equal(s.max_split_size, -1);
    give(&f, a);
}

TEST(events_report_every_step_in_order)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take_on(&f, 3000, 4).addr;
    give(&f, a);
    static const enum vs_allocator_event_kind kinds[] = {
        VS_ALLOCATOR_SEGMENT_ALLOC, VS_ALLOCATOR_ALLOC, VS_ALLOCATOR_FREE,
        VS_ALLOCATOR_FREE_COMPLETED};
    assert_int_equal(f.event_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(f.events[i].kind, kinds[i]);
        assert_int_equal(f.events[i].addr, a);
        assert_int_equal(f.events[i].size, i ? 3072 : 2 * MIB);
        assert_int_equal(f.events[i].requested, i ? 3000 : 2 * MIB);
        assert_int_equal(f.events[i].stream, 4);
        assert_int_equal(f.events[i].pool, VS_POOL_SMALL);
    }
}

TEST(kinds_that_a_sink_ignores_are_not_delivered)
{
    f = (struct fixture){0};
    const struct vs_event_sink sink = {.event = fixture_log,
                                       .ignored = 1u << VS_ALLOCATOR_FREE_COMPLETED};
    fake_device_init(&f.device, GIB);
    assert_int_equal(vs_allocator_create(&pytorch_config, &fake_device_ops, &f.device, &sink, &f,
                                         &f.allocator), VS_OK);
    for (int i = 0; i < 2; i++) /* on the slow path, then on the fast one */
        give(&f, take_on(&f, 3000, 4).addr);
    static const enum vs_allocator_event_kind kinds[] = {VS_ALLOCATOR_SEGMENT_ALLOC,
                                                         VS_ALLOCATOR_ALLOC, VS_ALLOCATOR_FREE,
                                                         VS_ALLOCATOR_ALLOC, VS_ALLOCATOR_FREE};
    assert_int_equal(f.event_count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(f.events[i].kind, kinds[i]);
}

TEST(abandon_forgets_everything_without_touching_the_device)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 30 * MIB);
    give(&f, b);
    assert_int_equal(vs_allocator_record_stream(f.allocator, a, 3), VS_OK);
    size_t events_before = f.event_count;
    vs_allocator_abandon(f.allocator);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    assert_int_equal(f.device.frees, 0);
    assert_int_equal(f.event_count, events_before);
    assert_int_equal(vs_allocator_free(f.allocator, a), VS_ERR_FOREIGN);
    struct vs_allocator_stats s = stats_of(&f);
    assert_int_equal(s.reserved_bytes[VS_STAT_ALL].current, 0);
    assert_int_equal(s.reserved_bytes[VS_STAT_ALL].peak, 32 * MIB);
    f.device.segment_count = 0; /* the context was destroyed, and its memory */
    f.device.used = 0;
    assert_int_equal(take(&f, 512), FAKE_BASE);
}

TEST(the_child_of_a_fork_starts_empty_even_with_the_lock_held)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512);
    vs_full_lock_acquire(f.allocator); /* as if another thread held it */
    pid_t child = fork();
    if (child == 0) {
        vs_allocator_fork_child(f.allocator);
        struct vs_allocation got;
        bool ok = vs_allocator_free(f.allocator, a) == VS_ERR_FOREIGN &&
                  vs_allocator_check(f.allocator) == VS_OK && f.device.frees == 0 &&
                  vs_allocator_malloc(f.allocator, 512, 0, &got) == VS_OK &&
                  vs_allocator_check(f.allocator) == VS_OK;
        _exit(ok ? 0 : 1);
    }
    vs_full_lock_release(f.allocator);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    give(&f, a);
}

static void count_visit(void *ctx, const struct vs_segment_info *segment,
                        const struct vs_block_info *block)
{
    uint64_t *sums = ctx;
    if (!block)
        sums[0] += segment->size;
    else
        sums[1 + block->state] += block->size;
}

TEST(the_snapshot_shows_every_byte_once)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 512), b = take(&f, 1024), sums[5] = {0};
    take(&f, 20 * MIB);
    assert_int_equal(vs_allocator_record_stream(f.allocator, b, 3), VS_OK);
    give(&f, b);
    give(&f, a);
    vs_allocator_snapshot(f.allocator, count_visit, sums);
    assert_int_equal(sums[0], 22 * MIB);
    assert_int_equal(sums[1 + VS_BLOCK_LIVE], 20 * MIB);
    assert_int_equal(sums[1 + VS_BLOCK_PENDING], 1024);
    assert_int_equal(sums[1 + VS_BLOCK_FREE], 2 * MIB - 1024);
}

TEST(an_adopted_segment_behaves_like_an_allocated_one)
{
    fixture_start(&f, &pytorch_config, GIB);
    static const struct vs_block_layout layout[] = {
        {1024, 1000, true}, {512, 0, false}, {512, 512, true}, {2 * MIB - 2048, 0, false}};
    uint64_t addr;
    assert_int_equal(fake_device_ops.segment_alloc(&f.device, 2 * MIB, &addr), VS_OK);
    assert_int_equal(vs_allocator_adopt_segment(f.allocator, addr, 2 * MIB, VS_POOL_SMALL, 0, layout, 4),
                     VS_OK);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    assert_int_equal(vs_allocator_adopt_segment(f.allocator, addr + MIB, 2 * MIB, VS_POOL_SMALL, 0,
                                                layout, 4), VS_ERR_ARG); /* overlaps */
    assert_int_equal(vs_allocator_adopt_segment(f.allocator, GIB, 2 * MIB, VS_POOL_SMALL, 0, layout, 3),
                     VS_ERR_ARG); /* does not tile */
    struct vs_allocator_stats s = stats_of(&f);
    assert_stat(s.requested_bytes[VS_STAT_SMALL], 1512, 1512, 1512, 0);
    assert_stat(s.inactive_split[VS_STAT_SMALL], 2, 2, 2, 0);
    assert_int_equal(s.num_device_alloc, 0);
    assert_int_equal(take(&f, 400), addr + 1024);
    give(&f, addr);
    give(&f, addr + 1024);
    give(&f, addr + 1536);
    assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
    assert_int_equal(f.device.used, 0);
}

TEST(pools_of_idle_streams_are_recycled)
{
    fixture_start(&f, &pytorch_config, GIB);
    for (uint64_t stream = 1; stream < 2000; stream++) {
        uint64_t a = take_on(&f, 512, stream * 0x1000).addr;
        give(&f, a);
        assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
    }
    assert_null(f.allocator->streams);
    assert_true(f.allocator->arena.bytes_mapped < 2 * MIB);
}

TEST(an_address_the_device_already_gave_is_refused)
{
    fixture_start(&f, &pytorch_config, GIB);
    take(&f, 20 * MIB);
    f.device.segment_count = 0; /* a faulty device returns the same range again */
    refuse(&f, 20 * MIB, VS_ERR_DEVICE);
    vs_allocator_abandon(f.allocator);
    f.device.segment_count = 0;
}

TEST(every_event_brings_what_its_call_was_given)
{
    struct vs_allocation got;
    int calls[3];
    fixture_start(&f, &pytorch_config, 64 * MIB);
    for (int i = 0; i < 2; i++) { /* with a new segment, and from the cache */
        size_t first = f.event_count;
        assert_int_equal(vs_allocator_malloc_for(f.allocator, 512, 0, false, &calls[i], &got),
                         VS_OK);
        for (size_t k = first; k < f.event_count; k++)
            assert_ptr_equal(f.events[k].call, &calls[i]);
        first = f.event_count;
        assert_int_equal(vs_allocator_free_for(f.allocator, got.addr, VS_NO_STREAM, &calls[2]),
                         VS_OK);
        assert_true(f.event_count > first);
        for (size_t k = first; k < f.event_count; k++)
            assert_ptr_equal(f.events[k].call, &calls[2]);
    }
    size_t first = f.event_count;
    uint64_t released;
    assert_int_equal(vs_allocator_empty_cache(f.allocator, &released), VS_OK);
    assert_true(f.event_count > first);
    assert_null(f.events[first].call);
}
