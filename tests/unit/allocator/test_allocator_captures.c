/* SPDX-License-Identifier: Apache-2.0
 *
 * During a stream capture the allocator must not query events or release cached memory; with
 * captures inferred from open private pools, or reported. */
#include "allocator_test.h"

static const struct vs_pool_id one = {0, 1}, two = {7, 0};

static bool only_stream(void *ctx, uint64_t stream)
{
    return stream == *(const uint64_t *)ctx;
}

TEST(events_are_left_alone_during_a_capture)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take_on(&f, 2 * MIB, 1).addr, b = take_on(&f, 2 * MIB, 1).addr;
    ok(vs_allocator_record_stream(f.allocator, a, 2));
    ok(vs_allocator_record_stream(f.allocator, b, 2));
    give(&f, a);
    assert_int_equal(f.device.recorded[2], 1);
    uint64_t stream = 5;
    ok(vs_allocator_pool_begin(f.allocator, one, only_stream, &stream));
    fake_device_complete(&f.device, 2, 1);
    assert_int_not_equal(take_on(&f, 2 * MIB, 1).addr, a); /* complete, but not queried */
    give(&f, b);
    assert_int_equal(f.device.recorded[2], 1); /* nothing recorded either */
    ok(vs_allocator_pool_end(f.allocator, one));
    assert_int_equal(take_on(&f, 2 * MIB, 1).addr, a);
    assert_int_equal(f.device.recorded[2], 2);
    assert_int_not_equal(take_on(&f, 2 * MIB, 1).addr, b);
    fake_device_complete(&f.device, 2, 2);
    assert_int_equal(take_on(&f, 2 * MIB, 1).addr, b);
}

TEST(a_use_recorded_during_the_capture_needs_no_event_after_it)
{
    fixture_start(&f, &pytorch_config, GIB);
    ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
    uint64_t a = take_on(&f, 2 * MIB, 1).addr, b = take_on(&f, 2 * MIB, 1).addr;
    ok(vs_allocator_record_stream(f.allocator, a, 2));
    ok(vs_allocator_record_stream(f.allocator, b, 2));
    give(&f, a);
    assert_int_not_equal(take_on(&f, 2 * MIB, 1).addr, a); /* deferred during the capture */
    ok(vs_allocator_pool_end(f.allocator, one));
    give(&f, b); /* freed after it: an ordinary event */
    assert_int_equal(f.device.recorded[2], 1);
    ok(vs_allocator_pool_begin(f.allocator, two, NULL, NULL));
    ok(vs_allocator_pool_end(f.allocator, two));
    take_on(&f, 2 * MIB, 1);
    assert_int_equal(f.device.recorded[2], 1);
    assert_int_equal(stats_of(&f).active[VS_STAT_ALL].current, 3); /* b waits, a need not */
    fake_device_complete(&f.device, 2, 1);
}

/* Regression: a use recorded during one capture and again after it was taken for part of the graph
 * when the block was freed during another capture, and its memory was reused while work on the
 * stream could still use it. */
TEST(a_use_after_a_capture_needs_its_event_whenever_the_block_is_freed)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t addr = take(&f, 4 * MIB);
    ok(vs_allocator_pool_begin(f.allocator, one, only_stream, &(uint64_t){9}));
    ok(vs_allocator_record_stream(f.allocator, addr, 1));
    ok(vs_allocator_pool_end(f.allocator, one));
    ok(vs_allocator_record_stream(f.allocator, addr, 1));
    ok(vs_allocator_pool_begin(f.allocator, two, only_stream, &(uint64_t){9}));
    give(&f, addr);
    ok(vs_allocator_pool_end(f.allocator, two));
    assert_true(take(&f, 4 * MIB) != addr);
    assert_int_equal(f.device.recorded[1], 1);
}

/* Regression: events of one stream that were rejected permanently delayed all later frees. */
TEST(a_stream_without_events_holds_up_no_other)
{
    fixture_start(&f, &pytorch_config, GIB);
    uint64_t a = take(&f, 2 * MIB), b = take(&f, 2 * MIB), c = take(&f, 2 * MIB);
    ok(vs_allocator_record_stream(f.allocator, a, 3));
    ok(vs_allocator_record_stream(f.allocator, b, 4));
    ok(vs_allocator_record_stream(f.allocator, c, 3));
    f.device.fail_record = VS_ERR_DEVICE;
    f.device.fail_record_stream = 3;
    give(&f, a);
    give(&f, b);
    give(&f, c);
    assert_int_equal(f.device.recorded[4], 1);
    assert_int_equal(f.device.recorded[3], 0);
    fake_device_complete(&f.device, 4, 1);
    assert_int_equal(take(&f, 2 * MIB), b); /* not the others: they are not safe yet */
    f.device.fail_record = VS_OK;
    assert_int_not_equal(take(&f, 2 * MIB), a);
    assert_int_equal(f.device.recorded[3], 2);
    fake_device_complete(&f.device, 3, 1);
    assert_int_equal(take(&f, 2 * MIB), a);
}

TEST(no_cached_memory_is_released_during_a_capture)
{
    fixture_start(&f, &pytorch_config, 100 * MIB);
    give(&f, take(&f, 60 * MIB));
    ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
    refuse(&f, 80 * MIB, VS_ERR_DEVICE_OOM);
    assert_int_equal(empty(&f), 0);
    struct vs_allocator_stats s = stats_of(&f);
    assert_int_equal(s.num_alloc_retries, 0);
    assert_int_equal(s.num_sync_all_streams, 0);
    assert_int_equal(s.num_ooms, 1);
    ok(vs_allocator_pool_end(f.allocator, one));
    take(&f, 80 * MIB);
}

static const struct vs_allocator_config reported_config = {.captures_reported = true};

TEST(an_open_pool_is_not_a_capture_where_captures_are_reported)
{
    fixture_start(&f, &reported_config, 100 * MIB);
    ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
    uint64_t a = take_on(&f, 2 * MIB, 1).addr;
    ok(vs_allocator_record_stream(f.allocator, a, 2));
    give(&f, a);
    assert_int_equal(f.device.recorded[2], 1);
    fake_device_complete(&f.device, 2, 1);
    assert_int_equal(take_on(&f, 2 * MIB, 1).addr, a); /* its event was queried */
    give(&f, take(&f, 60 * MIB));
    ok(vs_allocator_pool_end(f.allocator, one));
    ok(vs_allocator_pool_release(f.allocator, one));
    ok(vs_allocator_pool_begin(f.allocator, two, NULL, NULL));
    take(&f, 70 * MIB); /* the cache was released for it */
    assert_int_equal(stats_of(&f).num_alloc_retries, 1);
    ok(vs_allocator_pool_empty(f.allocator, one, NULL));
}

TEST(a_capture_that_is_reported_holds_back_without_any_pool)
{
    fixture_start(&f, &reported_config, 100 * MIB);
    fails(vs_allocator_capture_end(f.allocator), VS_ERR_STATE);
    uint64_t a = take_on(&f, 2 * MIB, 1).addr, b = take_on(&f, 2 * MIB, 1).addr;
    ok(vs_allocator_record_stream(f.allocator, a, 2));
    vs_allocator_capture_begin(f.allocator);
    vs_allocator_capture_begin(f.allocator);
    ok(vs_allocator_record_stream(f.allocator, b, 2));
    give(&f, a);
    give(&f, b);
    give(&f, take(&f, 60 * MIB));
    refuse(&f, 80 * MIB, VS_ERR_DEVICE_OOM);
    ok(vs_allocator_capture_end(f.allocator));
    assert_int_equal(empty(&f), 0); /* one capture is still in progress */
    assert_int_equal(f.device.recorded[2], 0);
    ok(vs_allocator_capture_end(f.allocator));
    assert_int_equal(take_on(&f, 2 * MIB, 1).addr, b); /* used only by the graph */
    assert_int_equal(f.device.recorded[2], 1);
    fake_device_complete(&f.device, 2, 1);
    assert_int_equal(take_on(&f, 2 * MIB, 1).addr, a);
    fails(vs_allocator_capture_end(f.allocator), VS_ERR_STATE);
}

/* A client that reports captures without config.captures_reported gets both. */
TEST(a_pool_and_a_capture_hold_back_each_on_its_own_otherwise)
{
    fixture_start(&f, &pytorch_config, 100 * MIB);
    give(&f, take(&f, 60 * MIB));
    vs_allocator_capture_begin(f.allocator);
    ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
    ok(vs_allocator_capture_end(f.allocator));
    assert_int_equal(empty(&f), 0);
    vs_allocator_capture_begin(f.allocator);
    ok(vs_allocator_pool_end(f.allocator, one));
    assert_int_equal(empty(&f), 0);
    vs_allocator_abandon(f.allocator); /* the context was destroyed, and with it the capture */
    fake_device_free(&f.device);
    fake_device_init(&f.device, 100 * MIB);
    fails(vs_allocator_capture_end(f.allocator), VS_ERR_STATE);
    give(&f, take(&f, 60 * MIB));
    assert_int_equal(empty(&f), 60 * MIB);
}

TEST(a_freeable_pool_may_be_released_during_a_capture)
{
    fixture_start(&f, &pytorch_config, GIB);
    ok(vs_allocator_pool_begin(f.allocator, one, NULL, NULL));
    give(&f, take(&f, 60 * MIB));
    ok(vs_allocator_pool_end(f.allocator, one));
    ok(vs_allocator_pool_release(f.allocator, one));
    ok(vs_allocator_pool_begin(f.allocator, two, NULL, NULL));
    fails(vs_allocator_pool_empty(f.allocator, one, NULL), VS_ERR_STATE); /* it would wait */
    assert_int_equal(empty(&f), 60 * MIB);
    ok(vs_allocator_pool_end(f.allocator, two));
}
