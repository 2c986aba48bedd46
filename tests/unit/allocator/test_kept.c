/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that another process or device uses: never reused, never released while another block of
 * their segment is in use, and then released at once. */
#include "allocator_test.h"

static void keep(struct fixture *fixture, uint64_t addr, unsigned marks)
{
    assert_int_equal(vs_allocator_keep(fixture->allocator, addr, marks, 0), VS_OK);
    assert_int_equal(vs_allocator_check(fixture->allocator), VS_OK);
}

static struct vs_allocation found(struct fixture *fixture, uint64_t addr, bool live)
{
    struct vs_allocation out;
    bool is;
    assert_int_equal(vs_allocator_find(fixture->allocator, addr, &out, &is), VS_OK);
    assert_int_equal(is, live);
    return out;
}

TEST(one_that_has_its_segment_alone_goes_back_when_it_is_freed)
{
    struct vs_allocation got;
    fixture_start(&f, &after_sync_config, GIB);
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 3 * MIB, 0, true, NULL, &got), VS_OK);
    keep(&f, got.addr, VS_KEEP_EXPORTED);
    assert_int_equal(found(&f, got.addr, true).marks, VS_KEEP_EXPORTED);
    give(&f, got.addr);
    play("segment_count 0; reserved 0");
    assert_int_equal(f.events[f.event_count - 1].kind, VS_ALLOCATOR_SEGMENT_FREE);
    assert_int_equal(vs_allocator_free(f.allocator, got.addr), VS_ERR_FOREIGN);
}

TEST(one_among_others_is_not_reused_and_goes_with_the_last_of_them)
{
    play_with(&after_sync_config, GIB, "a = 2M; b = 2M; c = 2M");
    keep(&f, named("b"), VS_KEEP_REGISTERED);
    play("free b; free b state");
    found(&f, named("b"), false);
    for (int i = 0; i < 8; i++)
        assert_true(take(&f, 2 * MIB) - named("b") >= 2 * MIB);
    play("empty 0; free a; free c");
    assert_int_equal(f.device.segments[0].addr, named("a"));
    for (uint64_t at = named("c") + 2 * MIB; at < named("a") + 20 * MIB; at += 2 * MIB)
        give(&f, at);
    play("empty; segment_count 1");
    assert_true(f.device.segments[0].addr != named("a"));
}

TEST(its_bytes_do_not_count_as_cached)
{
    play_with(&after_sync_config, GIB, "a = 2M; b = 2M");
    keep(&f, named("a"), VS_KEEP_EXPORTED);
    play("before = cached_bytes; free a; cached_bytes before; free b; empty 20M");
}

TEST(marks_are_set_and_cleared_and_die_with_the_block)
{
    play_with(&pytorch_config, GIB, "a = 2M; b = 2M");
    keep(&f, named("a"), VS_KEEP_REGISTERED | VS_KEEP_SYNC_MEMOPS);
    assert_int_equal(found(&f, named("a") + MIB, true).marks, VS_KEEP_REGISTERED | VS_KEEP_SYNC_MEMOPS);
    assert_int_equal(found(&f, named("b"), true).marks, 0);
    assert_int_equal(vs_allocator_keep(f.allocator, named("a"), 0, VS_KEEP_SYNC_MEMOPS), VS_OK);
    assert_int_equal(found(&f, named("a"), true).marks, VS_KEEP_REGISTERED);
    assert_int_equal(vs_allocator_keep(f.allocator, named("a") + 512, 1, 0), VS_ERR_STATE);
    assert_int_equal(vs_allocator_keep(f.allocator, 4096, 1, 0), VS_ERR_FOREIGN);
    play("free a");
    assert_int_equal(found(&f, named("a"), false).marks, 0);
    assert_int_equal(vs_allocator_keep(f.allocator, named("a"), 1, 0), VS_ERR_STATE);
}

TEST(uses_of_other_streams_are_waited_for_as_well)
{
    struct vs_allocation got;
    fixture_start(&f, &pytorch_config, GIB);
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 2 * MIB, 0, true, NULL, &got), VS_OK);
    assert_int_equal(vs_allocator_record_stream(f.allocator, got.addr, 5), VS_OK);
    keep(&f, got.addr, VS_KEEP_EXPORTED);
    assert_int_equal(vs_allocator_record_stream(f.allocator, got.addr, 6), VS_OK);
    give(&f, got.addr);
    play("recorded 5 1; recorded 6 1; segment_count 1; done 5 1; done 6 1; empty 2M");
}

TEST(what_the_device_refuses_stays_away_and_goes_later)
{
    struct vs_allocation got;
    fixture_start(&f, &after_sync_config, GIB);
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 2 * MIB, 0, true, NULL, &got), VS_OK);
    keep(&f, got.addr, VS_KEEP_EXPORTED);
    play("fail free state");
    give(&f, got.addr);
    play("segment_count 1");
    struct vs_allocation other;
    assert_int_equal(vs_allocator_malloc_for(f.allocator, 2 * MIB, 0, true, NULL, &other), VS_OK);
    assert_true(other.addr != got.addr);
    play("fail free ok; empty 2M");
}

TEST(memory_short_of_everything_else_brings_it_back)
{
    play_with(&after_sync_config, 64 * MIB, "a = 20M; b = 20M");
    keep(&f, named("a"), VS_KEEP_EXPORTED);
    play("fail free state; free a; fail free ok; take 40M; free b");
}

TEST(mapped_memory_stays_away_for_good)
{
    static const struct vs_allocator_config compact = {.policy = VS_POLICY_COMPACT,
                                                       .reuse = VS_REUSE_AFTER_SYNC};
    play_with(&compact, GIB, "a = 4M; take 4M; c = 4M; take 4M; e = 4M; take 4M; free a; free c; "
              "view = 8M"); /* the pages of both */
    keep(&f, named("view"), VS_KEEP_REGISTERED);
    keep(&f, named("e"), VS_KEEP_REGISTERED);
    assert_true(found(&f, named("view"), true).mapped);
    play("free view; free e; empty; before = used; take 12M; " /* only new memory */
         "used before+12M");
}

TEST(an_abandoned_allocator_forgets_them)
{
    play_with(&after_sync_config, GIB, "a = 2M; b = 2M");
    keep(&f, named("a"), VS_KEEP_EXPORTED);
    keep(&f, named("b"), VS_KEEP_EXPORTED);
    play("free a");
    vs_allocator_abandon(f.allocator);
    play("empty 0");
    f.device.segment_count = 0; /* destroyed with its context */
}
