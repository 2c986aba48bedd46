/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests, frees, merging, best fit, errors and releasing under pressure, by hand-computed scenarios.
 * The allocator is checked after each step; statistics, events and snapshots are compared with the
 * reference model (test_allocator_differential). */
#include "allocator_test.h"

#include "allocator/core/allocator_internal.h"
#include "support/replay_log.h"

TEST(a_request_takes_the_start_of_a_new_segment)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation a = take_on(&f, 1000, 5);
    assert_int_equal(a.addr, FAKE_BASE);
    assert_int_equal(a.requested, 1000);
    assert_int_equal(a.size, 1024);
    assert_int_equal(f.device.segments[0].size, 2 * MIB);
    assert_int_equal(take_on(&f, 1, 5).addr, FAKE_BASE + 1024);
    play("allocs 1");
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
    play_with(&pytorch_config, GIB, "large = 2M; free large; small = 512");
    assert_true(named("small") < named("large") || named("small") >= named("large") + 20 * MIB);
    play("allocs 2");
}

static const struct program programs[] = {
    {"the_smallest_block_that_fits_is_chosen_and_the_lowest_of_equals", &pytorch_config, GIB,
     "a = 4096; gap1 = 512; b = 2048; gap2 = 512; c = 2048; gap3 = 512; free c; free a; free b; "
     "take 1500 at b; " /* 1536: smallest fit 2048, twice; b is lower */
     "take 2000 at c; take 2049 at a; free gap1; free gap2; free gap3"},
    {"streams_do_not_share_cached_blocks", &pytorch_config, GIB,
     "a = 512 on 1; free a; take 512 on 2 not a; take 512 on 1 at a"},
    {"other_device_errors_are_passed_on_without_giving_back", &pytorch_config, GIB,
     "x = 512; free x; fail alloc device; refuse 2M device; fail alloc state; refuse 2M state; "
     "frees 0; num_ooms 0; take 512; " /* from the cache */
     "fail alloc ok"},
    {"empty_cache_gives_wholly_free_segments_back_and_no_other", &pytorch_config, GIB,
     "kept = 512; large = 30M; other = 512 on 9; free large; free other; cached_bytes 34M-512; "
     "empty 32M; used 2M; free kept; empty; used 0"},
    {"a_segment_the_device_will_not_take_back_stays_cached", &pytorch_config, GIB,
     "a = 512; free a; fail free state; kept state; fail free ok; take 512 at a"},
    {"out_of_memory_gives_the_cache_back_and_retries_once", &pytorch_config, 40 * MIB,
     "a = 20M; b = 512; free a; forget; c = 30M; event_count 3; event 0 segment_free a 20M; "
     "event 1 segment_alloc c 30M; event 2 alloc c 30M; num_alloc_retries 1; "
     "num_sync_all_streams 1; num_ooms 0; num_device_alloc 3; num_device_free 1; free b; free c"},
};

ROWS(programs, a_program_is_played)
{
    play_program(*state);
}

TEST(freed_neighbours_become_one_block)
{
    play_with(&pytorch_config, GIB, "a = 512; b = 512; c = 512; d = 512; free a; free c");
    struct vs_allocation found;
    bool live;
    play("free b"); /* merges with both sides */
    assert_int_equal(vs_allocator_find(f.allocator, named("b"), &found, &live), VS_OK);
    assert_false(live);
    assert_int_equal(found.addr, named("a"));
    assert_int_equal(found.size, 1536);
    play("free d"); /* and the segment is one block again */
    assert_int_equal(vs_allocator_find(f.allocator, named("d"), &found, &live), VS_OK);
    assert_int_equal(found.size, 2 * MIB);
    assert_int_equal(vs_block_count_locked(f.allocator), 1);
}

TEST(zero_bytes_give_address_0_which_can_be_freed)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation a = take_on(&f, 0, 0);
    assert_int_equal(a.addr, 0);
    assert_int_equal(a.size, 0);
    give(&f, a.addr);
    play("allocs 0; event_count 0");
}

TEST(a_foreign_pointer_is_reported_as_foreign)
{
    fixture_start(&f, &pytorch_config, GIB);
    struct vs_allocation found;
    bool live;
    assert_int_equal(vs_allocator_free(f.allocator, 0x1234500), VS_ERR_FOREIGN);
    play("a = 20M; free a+20M foreign; free a-1 foreign; use 64 1 foreign");
    assert_int_equal(vs_allocator_find(f.allocator, named("a") - 1, &found, &live), VS_ERR_FOREIGN);
}

TEST(a_double_free_is_a_state_error_and_changes_nothing)
{
    play_with(&pytorch_config, GIB, "a = 512; b = 512; free b");
    size_t events_before = f.event_count;
    play("free b state; use b 1 state");
    assert_int_equal(f.event_count, events_before);
    play("allocation 1; free a");
}

TEST(a_request_the_device_cannot_hold_fails_with_device_oom)
{
    play_with(&pytorch_config, 40 * MIB, "take 20M; forget; refuse 21M+1 oom; event_count 1; "
              "event 0 oom 20M 21M+512"); /* free on the device, and the block's size */
    assert_int_equal(f.events[0].requested, 21 * MIB + 1);
    refuse(&f, SIZE_MAX, VS_ERR_DEVICE_OOM);
    refuse(&f, VS_ALLOCATOR_REQUEST_MAX, VS_ERR_DEVICE_OOM);
    play("num_ooms 3; num_alloc_retries 2; " /* the oversized request made no device call */
         "take 20M");
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
    play("event_count 5");
    for (int i = 0; i < 5; i++)
        assert_int_equal(f.events[i].kind, kinds[i]);
}

TEST(abandon_forgets_everything_without_touching_the_device)
{
    play_with(&pytorch_config, GIB, "a = 512; b = 30M; free b; use a 3");
    size_t events_before = f.event_count;
    vs_allocator_abandon(f.allocator);
    play("frees 0");
    assert_int_equal(f.event_count, events_before);
    play("free a foreign; reserved 0");
    assert_int_equal(stats_of(&f).reserved_bytes[VS_STAT_ALL].peak, 32 * MIB);
    f.device.segment_count = 0; /* the context was destroyed, and its memory */
    f.device.used = 0;
    assert_int_equal(take(&f, 512), FAKE_BASE);
}

TEST(the_size_of_large_segments_can_be_chosen)
{
    struct vs_allocator_config c = {.large_segment_size = 12 * MIB};
    play_with(&c, GIB, "take 2M; reserved 12M; take 512; reserved 14M; take 11M; reserved 26M");
    fixture_stop(&f);
    c.expandable_segments = true;
    play_with(&c, GIB, "take 15M; reserved 24M");
    fixture_stop(&f);
    struct vs_allocator *a;
    c.large_segment_size = 13 * MIB; /* handles are whole pages */
    assert_int_equal(vs_allocator_create(&c, &fake_device_ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
    c.large_segment_size = 10 * MIB;
    assert_int_equal(vs_allocator_create(&c, &fake_device_ops, NULL, NULL, NULL, &a), VS_ERR_ARG);
}

TEST(an_adopted_segment_behaves_like_an_allocated_one)
{
    fixture_start(&f, &pytorch_config, GIB);
    static const struct vs_block_layout layout[] = {
        {1024, 1000, true}, {512, 0, false}, {512, 512, true}, {2 * MIB - 2048, 0, false}};
    uint64_t addr;
    assert_int_equal(fake_device_ops.segment_alloc(&f.device, 2 * MIB, &addr), VS_OK);
    assert_int_equal(replay_adopt_segment(f.allocator, addr, 2 * MIB, VS_POOL_SMALL, 0, layout, 4),
                     VS_OK);
    assert_int_equal(replay_adopt_segment(f.allocator, addr + MIB, 2 * MIB, VS_POOL_SMALL, 0,
                                                layout, 4), VS_ERR_ARG); /* overlaps */
    assert_int_equal(replay_adopt_segment(f.allocator, GIB, 2 * MIB, VS_POOL_SMALL, 0, layout, 3),
                     VS_ERR_ARG); /* does not tile */
    struct vs_allocator_stats s = stats_of(&f);
    assert_stat(s.requested_bytes[VS_STAT_SMALL], 1512, 1512, 1512, 0);
    assert_stat(s.inactive_split[VS_STAT_SMALL], 2, 2, 2, 0);
    assert_int_equal(s.num_device_alloc, 0);
    assert_int_equal(take(&f, 400), addr + 1024);
    give(&f, addr);
    give(&f, addr + 1024);
    give(&f, addr + 1536);
    play("empty; used 0");
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
    play_with(&pytorch_config, GIB, "take 20M");
    f.device.segment_count = 0; /* a faulty device returns the same range again */
    play("refuse 20M device");
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
