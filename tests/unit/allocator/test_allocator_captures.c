/* SPDX-License-Identifier: Apache-2.0
 *
 * During a stream capture the allocator must not query events or release cached memory; open private
 * pools count as captures. */
#include "allocator_test.h"

static const struct vs_pool_id one = {0, 1}, two = {7, 0};

static bool only_stream(void *ctx, uint64_t stream)
{
    return stream == *(const uint64_t *)ctx;
}

/* Regression: a use recorded during one capture and again after it was taken for part of the graph
 * when the block was freed during another capture, and its memory was reused while work on the
 * stream could still use it. */
TEST(a_use_after_a_capture_needs_its_event_whenever_the_block_is_freed)
{
    play_with(&pytorch_config, GIB, "addr = 4M");
    ok(vs_allocator_pool_begin(f.allocator, one, only_stream, &(uint64_t){9}));
    play("use addr 1; end one; use addr 1");
    ok(vs_allocator_pool_begin(f.allocator, two, only_stream, &(uint64_t){9}));
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

TEST(no_cached_memory_is_released_during_a_capture)
{
    play_with(&pytorch_config, 100 * MIB, "x = 60M; free x; begin one; refuse 80M oom; empty 0; "
              "num_alloc_retries 0; num_sync_all_streams 0; num_ooms 1; end one; take 80M");
}

TEST(a_freeable_pool_may_be_released_during_a_capture)
{
    play_with(&pytorch_config, GIB, "begin one; x = 60M; free x; end one; release one; begin two; "
              "empty 60M; end two");
}
