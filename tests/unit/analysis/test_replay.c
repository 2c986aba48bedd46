/* SPDX-License-Identifier: Apache-2.0
 *
 * The replay of events in any order, valid or not: its sums always equal the live memory. */
#include "analysis/state/replay.h"
#include "support/report_test.h"

static struct vs_replay *replay; /* of a trace without events */

BEFORE(begin)
{
    vs_replay_close(replay);
    if (!b.path[0])
        begin_trace("caching", "");
    read_trace(0);
    replay = vs_replay_open(reader);
    return 0;
}

static void put(struct vs_event event)
{
    vs_replay_event(replay, &event);
}

static uint64_t seed;

static uint64_t below(uint64_t bound)
{
    return vs_random(&seed) % bound;
}

/* Addresses collide on purpose: blocks in segments, frees of addresses never allocated, allocations
 * over live ones. */
static uint64_t address(void)
{
    return UINT64_C(0x7f0000000000) + below(400) * MIB;
}

static struct vs_event random_event(void)
{
    uint64_t device = below(3), context = 1 + below(3);
    switch (below(18)) {
    case 0: case 1: case 2: case 3: case 4: case 5:
        return EVENT(alloc, .addr = address(), .requested = below(5 * MIB),
                     .size = 5 * MIB + below(100), .family = below(10), .device = device,
                     .context = context, .stack = below(20));
    case 6: case 7: case 8: case 9:
        return EVENT(free, .addr = address());
    case 10: case 11:
        return EVENT(segment_alloc, .addr = address(), .size = below(30) * MIB, .device = device,
                     .context = context);
    case 12:
        return EVENT(segment_free, .addr = address());
    case 13:
        return EVENT(alloc_failed, .requested = below(9 * MIB), .device = device,
                     .family = below(10));
    case 14:
        if (below(40) == 0)
            return EVENT(context, .context = context, .device = device);
        return EVENT(range_pop);
    case 15: {
        uint64_t size = below(30) * MIB;
        return EVENT(segment_map, .addr = address(), .size = size, .reserved = below(3) ? size : 0,
                     .device = device, .context = context);
    }
    case 16:
        return EVENT(segment_unmap, .addr = address(), .size = below(60) * MIB);
    default:
        return EVENT(range_push);
    }
}

TEST(sums_agree_with_what_is_live_whatever_comes)
{
    for (uint64_t round = 1; round <= 20; round++) {
            struct vs_holes holes;
        seed = round * UINT64_C(0x9e3779b97f4a7c15);
        begin(NULL);
        for (uint64_t i = 0; i < 4000; i++) {
            struct vs_event event = random_event();
            event.time_ns = 1000 + i;
            event.tid = (uint32_t)below(3);
            put(event);
            struct vs_event graphs = EVENT(graph_memory, .device = i % 3, .reserved = i % 31 * MIB);
            if (i % 5 == 0)
                put(graphs);
            if (i % 7 == 0 && !vs_replay_check(replay))
                fail_msg("round %d: the sums are wrong after event %d", (int)round, (int)i);
            if (i % 100 == 0 && replay->account_count) {
                vs_replay_holes(replay, 0, &holes);
                assert_true(holes.free_bytes <= replay->accounts[0]->sums.segment_bytes);
                assert_true(holes.largest <= holes.free_bytes);
                assert_true(holes.empty_bytes <= holes.free_bytes);
            }
        }
        vs_replay_finish(replay);
        assert_true(replay->accounts[0]->peak_allocated.bytes > 0);
    }
}

TEST(the_walker_sees_a_sum_that_is_off)
{
    struct vs_event event = EVENT(alloc, .addr = 1, .requested = 5, .size = 8);
    put(event);
    assert_true(vs_replay_check(replay));
    replay->accounts[0]->sums.now.allocated++;
    assert_false(vs_replay_check(replay));
}

static struct vs_event map(uint64_t addr, uint64_t size, uint64_t reserved)
{
    return EVENT(segment_map, .addr = addr, .size = size, .reserved = reserved, .context = 1);
}

TEST(mapped_memory_is_reserved_once_and_given_back_in_any_parts)
{
    const uint64_t base = UINT64_C(0x7f0000000000), view = base + 1000 * MIB;
    struct vs_event unmap = {.kind = VS_EVENT_segment_unmap};
    struct vs_event events[] = {
        map(base, 2 * MIB, 2 * MIB),
        map(base + 4 * MIB, 2 * MIB, 2 * MIB),
        map(base + 2 * MIB, 2 * MIB, 2 * MIB), /* one of three */
        /* in two of the mappings, and in another mapping of the same memory */
        {.kind = VS_EVENT_alloc,
         .alloc = {.addr = base + MIB, .requested = 2 * MIB, .size = 2 * MIB, .context = 1}},
        map(view, 2 * MIB, 0),
        {.kind = VS_EVENT_alloc,
         .alloc = {.addr = view, .requested = MIB, .size = MIB, .context = 1}},
    };
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        put(events[i]);
    const struct vs_account *account = replay->accounts[0];
    assert_int_equal(account->sums.now.reserved, 6 * MIB);
    assert_int_equal(account->segment_count, 1);
    assert_int_equal(account->sums.now.allocated, 3 * MIB);
    assert_int_equal(vs_ledger_block_bytes(&account->sums), 3 * MIB);
    struct vs_holes holes;
    vs_replay_holes(replay, 0, &holes);
    assert_int_equal(holes.free_bytes, 3 * MIB); /* the memory of the view's block is not free */
    unmap.segment_unmap.addr = base + MIB; /* no memory, in the middle of it */
    put(unmap);
    assert_int_equal(replay->segments.count, 2);
    assert_int_equal(replay->unmatched_frees, 1);
    assert_true(vs_replay_check(replay));
    unmap.segment_unmap.addr = base + 4 * MIB; /* the end of it */
    unmap.segment_unmap.size = MIB;
    put(unmap);
    assert_int_equal(account->sums.now.reserved, 5 * MIB);
    assert_int_equal(account->segment_count, 2);
    unmap.segment_unmap.addr = base;
    unmap.segment_unmap.size = 2000 * MIB;
    put(unmap);
    assert_int_equal(account->sums.now.reserved, 0);
    assert_int_equal(account->segment_count, 0);
    assert_int_equal(replay->segments.count, 0);
    assert_int_equal(replay->unmatched_frees, 1);
    assert_true(vs_replay_check(replay));
    put(unmap);
    assert_int_equal(replay->unmatched_frees, 2);
}

/* Allocations of graphs lie in the driver's memory for graphs. */
TEST(memory_of_graphs_is_reserved_once)
{
    static const struct {
        uint64_t held, alloc, freed, reserved, allocated;
    } steps[] = {
        {8, 0, 0, 8, 0}, {8, 3, 0, 8, 3}, {8, 7, 0, 10, 10}, {16, 0, 0, 16, 10},
        {16, 0, 3, 16, 7}, {6, 0, 0, 7, 7}, {6, 0, 7, 6, 0}, {0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct vs_event held = EVENT(graph_memory, .reserved = steps[i].held * MIB);
        struct vs_event alloc = EVENT(alloc, .addr = steps[i].alloc,
                                      .requested = steps[i].alloc * MIB,
                                      .size = steps[i].alloc * MIB, .family = VS_FAMILY_GRAPH);
        struct vs_event freed = EVENT(free, .addr = steps[i].freed);
        put(held);
        put(alloc);
        put(freed);
        assert_int_equal(replay->accounts[0]->sums.now.reserved, steps[i].reserved * MIB);
        assert_int_equal(replay->accounts[0]->sums.now.allocated, steps[i].allocated * MIB);
        assert_true(vs_replay_check(replay));
    }
}

TEST(memory_of_pools_outlives_its_context)
{
    static const struct vs_event events[] = {
        {.kind = VS_EVENT_alloc,
         .alloc = {.addr = 1, .requested = 3, .size = 3, .family = VS_FAMILY_ASYNC, .context = 1}},
        {.kind = VS_EVENT_alloc, .alloc = {.addr = 9, .requested = 5, .size = 5, .context = 1}},
        {.kind = VS_EVENT_context, .context = {.context = 1}},
    };
    struct vs_event freed = EVENT(free, .addr = 1);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        put(events[i]);
    assert_int_equal(replay->accounts[0]->sums.now.allocated, 3);
    put(freed);
    assert_int_equal(replay->accounts[0]->sums.now.allocated, 0);
    assert_int_equal(replay->unmatched_frees, 0);
    assert_true(vs_replay_check(replay));
}
