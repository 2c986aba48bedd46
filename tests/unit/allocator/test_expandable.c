/* SPDX-License-Identifier: Apache-2.0
 *
 * Expandable segments: where memory is mapped, which memory is unmapped and when, best fit, and the
 * state after device failures. */
#include "allocator_test.h"

static const struct vs_allocator_config expandable = {.expandable_segments = true};
static const struct vs_allocator_config expandable_after_sync = {
    .expandable_segments = true, .reuse = VS_REUSE_AFTER_SYNC};

TEST(requests_tile_one_range_whatever_their_size)
{
    play_with(&expandable, GIB, "a = 30M; b = 5M; c = 25M");
    assert_int_equal(named("a"), FAKE_RANGE_BASE);
    play("b is a+30M; " /* not rounded to a segment size */
         "c is b+5M");
    assert_int_equal(f.device.memory.ranges[0].bytes, 1160 * MIB); /* 9/8 GiB in 20 MiB steps */
    play("allocs 0; event 0 segment_map a 40M; event 1 alloc a 30M; event 2 alloc b 5M; "
         "event 3 segment_map a+40M 20M; small = 1000; ranges 2; "
         "event 5 segment_map small 2M");
}

static const struct program programs[] = {
    {"only_whole_handles_inside_free_blocks_are_unmapped", &expandable, GIB,
     "a = 30M; b = 65M; c = 5M; free b; " /* 30..95: handles 40..80 are whole */
     "forget; empty 40M; event 0 segment_unmap a+40M 40M; stream_syncs 1; used 60M; empty 0; "
     "stream_syncs 1; " /* nothing to unmap: no wait */
     /* the free 10 MiB before the hole and the part mapped in it are used for the next one */
     "forget; take 25M at a+30M; event 0 segment_map a+40M 20M; free c; free a"},
    {"the_range_itself_goes_with_its_last_handle", &expandable, GIB,
     "a = 30M; b = 100; free a; empty 40M; ranges 1; free b; empty 2M; ranges 0; take 100 not b"},
    {"a_gap_is_filled_before_the_end_grows", &expandable, GIB,
     "a = 40M; b = 20M; c = 40M; d = 20M; free a; free c; empty 80M; forget; "
     "take 41M at d+20M; " /* neither gap has room */
     "take 39M at a; take 40M at c; event 2 segment_map a 40M; event 4 segment_map c 40M"},
    {"a_request_may_span_several_gaps_and_free_blocks", &expandable, GIB,
     "a = 40M; b = 30M; c = 30M; d = 20M; free a; empty 40M; " /* 0..40 unmapped */
     "free b; " /* 40..70 free */
     "free c; " /* 40..100 free */
     "forget; take 90M at a; event 0 segment_map a 40M; event 1 alloc a 90M"},
    {"the_best_fit_counts_what_a_block_can_grow_to", &expandable, GIB,
     "a = 12M; b = 2M; c = 20M; free a; " /* 12 MiB, enclosed */
     "reserved 40M; " /* 6 MiB free at the end, which can grow */
     "take 5M at a"}, /* not the smaller one at the end */
    {"streams_and_pools_have_ranges_of_their_own", &expandable, GIB,
     "a = 2M on 1; b = 2M on 2; c = 512 on 1; ranges 3; free a; take 2M on 2 not a; "
     "take 2M on 1 at a"},
    {"out_of_memory_unmaps_and_tries_again", &expandable, 100 * MIB,
     "a = 60M on 1; free a; b = 80M on 2; " /* another stream's range */
     "num_alloc_retries 1; refuse 40M oom; num_ooms 1; free b; take 95M"},
    {"what_was_mapped_before_a_failure_stays_cached", &expandable, 200 * MIB,
     /* a gap of 20, 40 free, and 60 more are needed after it: 60 MiB are left */
     "a = 20M; b = 20M; c = 20M; other = 100M on 1; free a; empty 20M; free b; free c; "
     "fail unmap device; " /* releasing in the retry would hide it */
     "refuse 140M oom; reserved 160M; fail unmap ok; take 60M at a"}, /* one block now */
    {"a_pending_block_keeps_its_memory", &expandable, GIB,
     "a = 40M on 1; use a 2; free a; b = 40M on 1; b is a+40M; done 2 1; empty 40M"},
    {"failures_of_the_device_change_nothing", &expandable, GIB,
     "a = 30M; before = used; fail create device; refuse 30M device; fail create ok; "
     "fail map device; refuse 30M device; used before; " /* created handles were released */
     "fail map ok; free a; fail unmap device; kept device; fail unmap ok; take 35M at a"},
    {"the_memory_fraction_limits_what_is_mapped",
     &(struct vs_allocator_config){.expandable_segments = true, .memory_fraction = 0.5}, 100 * MIB,
     "take 20M; asked = creates; refuse 40M oom; creates asked; take 20M"},
    {"unmapping_waits_for_a_synchronisation_that_began_after_the_free", &expandable_after_sync, GIB,
     "a = 40M; free a; empty 40M; syncs 1; a = 40M; syncs 1; " /* new memory needs none */
     "free a; sync; empty 40M; syncs 1; " /* the program's own was enough */
     "a = 40M; free a; fail sync device; kept device; fail sync ok"},
};

ROWS(programs, a_program_is_played)
{
    play_program(*state);
}

static void free_again(void *arg)
{
    struct fixture *fixture = arg;
    fixture->device.on_sync = NULL;
    assert_int_equal(vs_allocator_free(fixture->allocator, fixture->events[1].addr), VS_OK);
}

TEST(a_block_freed_during_the_synchronisation_stays_mapped)
{
    play_with(&expandable_after_sync, GIB, "late = 40M; wall = 20M; early = 40M");
    assert_int_equal(f.events[1].addr, named("late"));
    play("free early");
    f.device.on_sync = free_again;
    f.device.on_sync_arg = &f;
    play("empty 40M; reserved 60M; " /* the separating block, and memory freed too late */
         "free wall");
}

static void abandon_in_sync(void *arg)
{
    struct fixture *fixture = arg;
    vs_allocator_abandon(fixture->allocator);
}

TEST(an_allocator_abandoned_during_the_synchronisation_releases_nothing)
{
    play_with(&expandable_after_sync, GIB, "x = 40M; free x");
    f.device.on_sync = abandon_in_sync;
    f.device.on_sync_arg = &f;
    play("kept state; unmaps 0");
    fixture_destroy(&f);
}

TEST(the_address_space_of_a_range_can_be_limited)
{
    struct vs_allocator_config c = expandable;
    c.expandable_reserve_fraction = 0.05;
    play_with(&c, GIB, "a = 50M");
    assert_int_equal(f.device.memory.ranges[0].bytes, 60 * MIB);
    assert_true(take(&f, 20 * MIB) >= named("a") + 60 * MIB); /* no room: another range */
    play("refuse 61M oom");
    fixture_stop(&f);
    c.expandable_reserve_bytes = 16 * GIB; /* never more than 9/8 of the device */
    play_with(&c, GIB, "take 50M");
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
