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
    assert_int_equal(vs_allocator_malloc_exportable(f.allocator, 3 * MIB, 0, &got), VS_OK);
    keep(&f, got.addr, VS_KEEP_EXPORTED);
    assert_int_equal(found(&f, got.addr, true).marks, VS_KEEP_EXPORTED);
    give(&f, got.addr);
    assert_int_equal(f.device.segment_count, 0);
    assert_int_equal(stats_of(&f).reserved_bytes[VS_STAT_ALL].current, 0);
    assert_int_equal(f.events[f.event_count - 1].kind, VS_ALLOCATOR_SEGMENT_FREE);
    assert_int_equal(vs_allocator_free(f.allocator, got.addr), VS_ERR_FOREIGN);
}

TEST(one_among_others_is_not_reused_and_goes_with_the_last_of_them)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 2 * MIB), b = take(&f, 2 * MIB), c = take(&f, 2 * MIB);
    keep(&f, b, VS_KEEP_REGISTERED);
    give(&f, b);
    assert_int_equal(vs_allocator_free(f.allocator, b), VS_ERR_STATE);
    found(&f, b, false);
    for (int i = 0; i < 8; i++)
        assert_true(take(&f, 2 * MIB) - b >= 2 * MIB);
    assert_int_equal(empty(&f), 0);
    give(&f, a);
    give(&f, c);
    assert_int_equal(f.device.segments[0].addr, a);
    for (uint64_t at = c + 2 * MIB; at < a + 20 * MIB; at += 2 * MIB)
        give(&f, at);
    empty(&f);
    assert_int_equal(f.device.segment_count, 1);
    assert_true(f.device.segments[0].addr != a);
}

TEST(its_bytes_do_not_count_as_cached)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 2 * MIB), b = take(&f, 2 * MIB);
    keep(&f, a, VS_KEEP_EXPORTED);
    uint64_t before = vs_allocator_cached_bytes(f.allocator);
    give(&f, a);
    assert_int_equal(vs_allocator_cached_bytes(f.allocator), before);
    give(&f, b);
    assert_int_equal(empty(&f), 20 * MIB);
}

TEST(marks_are_set_and_cleared_and_die_with_the_block)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 2 * MIB), b = take(&f, 2 * MIB);
    keep(&f, a, VS_KEEP_REGISTERED | VS_KEEP_SYNC_MEMOPS);
    assert_int_equal(found(&f, a + MIB, true).marks, VS_KEEP_REGISTERED | VS_KEEP_SYNC_MEMOPS);
    assert_int_equal(found(&f, b, true).marks, 0);
    assert_int_equal(vs_allocator_keep(f.allocator, a, 0, VS_KEEP_SYNC_MEMOPS), VS_OK);
    assert_int_equal(found(&f, a, true).marks, VS_KEEP_REGISTERED);
    assert_int_equal(vs_allocator_keep(f.allocator, a + 512, 1, 0), VS_ERR_STATE);
    assert_int_equal(vs_allocator_keep(f.allocator, 4096, 1, 0), VS_ERR_FOREIGN);
    give(&f, a);
    assert_int_equal(found(&f, a, false).marks, 0);
    assert_int_equal(vs_allocator_keep(f.allocator, a, 1, 0), VS_ERR_STATE);
}

TEST(uses_of_other_streams_are_waited_for_as_well)
{
    struct vs_allocation got;
    fixture_start(&f, &pytorch_config, GIB);
    assert_int_equal(vs_allocator_malloc_exportable(f.allocator, 2 * MIB, 0, &got), VS_OK);
    assert_int_equal(vs_allocator_record_stream(f.allocator, got.addr, 5), VS_OK);
    keep(&f, got.addr, VS_KEEP_EXPORTED);
    assert_int_equal(vs_allocator_record_stream(f.allocator, got.addr, 6), VS_OK);
    give(&f, got.addr);
    assert_int_equal(f.device.recorded[5], 1);
    assert_int_equal(f.device.recorded[6], 1);
    assert_int_equal(f.device.segment_count, 1);
    fake_device_complete(&f.device, 5, 1);
    fake_device_complete(&f.device, 6, 1);
    assert_int_equal(empty(&f), 2 * MIB);
}

TEST(what_the_device_refuses_stays_away_and_goes_later)
{
    struct vs_allocation got;
    fixture_start(&f, &after_sync_config, GIB);
    assert_int_equal(vs_allocator_malloc_exportable(f.allocator, 2 * MIB, 0, &got), VS_OK);
    keep(&f, got.addr, VS_KEEP_EXPORTED);
    f.device.fail_free = VS_ERR_STATE;
    give(&f, got.addr);
    assert_int_equal(f.device.segment_count, 1);
    struct vs_allocation other;
    assert_int_equal(vs_allocator_malloc_exportable(f.allocator, 2 * MIB, 0, &other), VS_OK);
    assert_true(other.addr != got.addr);
    f.device.fail_free = VS_OK;
    assert_int_equal(empty(&f), 2 * MIB);
}

TEST(memory_short_of_everything_else_brings_it_back)
{
    fixture_start(&f, &after_sync_config, 64 * MIB);
    uint64_t a = take(&f, 20 * MIB), b = take(&f, 20 * MIB);
    keep(&f, a, VS_KEEP_EXPORTED);
    f.device.fail_free = VS_ERR_STATE;
    give(&f, a);
    f.device.fail_free = VS_OK;
    take(&f, 40 * MIB);
    give(&f, b);
}

TEST(mapped_memory_stays_away_for_good)
{
    static const struct vs_allocator_config compact = {.policy = VS_POLICY_COMPACT,
                                                       .reuse = VS_REUSE_AFTER_SYNC};
    uint64_t a[6];
    fixture_start(&f, &compact, GIB);
    for (int i = 0; i < 6; i++)
        a[i] = take(&f, 4 * MIB);
    give(&f, a[0]);
    give(&f, a[2]);
    uint64_t view = take(&f, 8 * MIB); /* the pages of both */
    keep(&f, view, VS_KEEP_REGISTERED);
    keep(&f, a[4], VS_KEEP_REGISTERED);
    assert_true(found(&f, view, true).mapped);
    give(&f, view);
    give(&f, a[4]);
    empty(&f);
    uint64_t used = f.device.used;
    take(&f, 12 * MIB); /* only new memory */
    assert_int_equal(f.device.used, used + 12 * MIB);
}

TEST(an_abandoned_allocator_forgets_them)
{
    fixture_start(&f, &after_sync_config, GIB);
    uint64_t a = take(&f, 2 * MIB), b = take(&f, 2 * MIB);
    keep(&f, a, VS_KEEP_EXPORTED);
    keep(&f, b, VS_KEEP_EXPORTED);
    give(&f, a);
    vs_allocator_abandon(f.allocator);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    assert_int_equal(empty(&f), 0);
    f.device.segment_count = 0; /* destroyed with its context */
}
