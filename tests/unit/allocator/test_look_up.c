/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the block that holds an address: correct in every kind of segment after any splits and
 * merges (vs_allocator_check looks up both ends of every block), and in a few steps where a list of
 * blocks would be very long. */
#include "allocator_test.h"

#include "allocator/core/allocator_internal.h"
#include "support/replay_log.h"

/* The cost limit of a lookup: words of the page bitmaps, the words of the start bitmap of one page,
 * and the few blocks after the last one in use. */
#define STEPS_LARGE 12
#define STEPS_SMALL (64 + STEPS_LARGE)
#define STEPS_HUGE (STEPS_SMALL + 200 / 8) /* a word of the summary covers 8 GiB */

#define MANY 100000
#define OTHER_STREAM 5

static const struct vs_allocator_config expandable_config = {.expandable_segments = true};
static const struct vs_allocator_config compact_config = {.policy = VS_POLICY_COMPACT};

static uint64_t addrs[MANY];

static unsigned steps_at(struct fixture *fixture, uint64_t addr, const struct vs_block **block)
{
    unsigned steps;
    const struct vs_segment *segment = vs_segment_find_locked(fixture->allocator, addr);
    assert_non_null(segment);
    *block = vs_segment_block_at_counted(segment, addr, &steps);
    return steps;
}

/* Every block of the list is found quickly, for any address inside it. */
static void assert_near(struct fixture *fixture, size_t count, uint64_t bytes, unsigned most)
{
    const struct vs_block *block;
    for (size_t i = 0; i < count; i++) {
        assert_in_range(steps_at(fixture, addrs[i], &block), 1, most);
        assert_true(addrs[i] - block->addr < block->size);
        assert_in_range(steps_at(fixture, addrs[i] + bytes - 1, &block), 1, most);
        assert_true(addrs[i] + bytes - 1 - block->addr < block->size);
    }
}

/* *count* blocks of *bytes* side by side: live; every second one free; all others PENDING, so that
 * none is live any more. */
static void look_up_among_many(const struct vs_allocator_config *config, size_t count,
                               uint64_t bytes, unsigned most)
{
    struct vs_allocation got;
    fixture_start(&f, config, 512 * GIB);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(vs_allocator_malloc(f.allocator, bytes, 0, &got), VS_OK);
        addrs[i] = got.addr;
    }
    assert_near(&f, count, bytes, most);
    for (size_t i = 0; i < count; i += 2)
        assert_int_equal(vs_allocator_free(f.allocator, addrs[i]), VS_OK);
    assert_near(&f, count, bytes, most);
    for (size_t i = 1; i < count; i += 2) {
        assert_int_equal(vs_allocator_record_stream(f.allocator, addrs[i], OTHER_STREAM), VS_OK);
        assert_int_equal(vs_allocator_free(f.allocator, addrs[i]), VS_OK);
        assert_int_equal(vs_allocator_free(f.allocator, addrs[i]), VS_ERR_STATE);
    }
    assert_near(&f, count, bytes, most);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    fake_device_complete(&f.device, OTHER_STREAM, count);
    assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
    fixture_stop(&f);
}

static const struct many_case {
    const char *name;
    const struct vs_allocator_config *config;
    size_t count;
    uint64_t bytes;
    unsigned most;
} many[] = {
    {"among_many_blocks_of_a_small_range", &expandable_config, MANY, 4 * KIB, STEPS_SMALL},
    {"among_many_blocks_of_a_large_range", &expandable_config, MANY / 5, 1100 * KIB, STEPS_LARGE},
    {"among_many_blocks_of_a_compact_range", &compact_config, MANY, 3 * KIB, STEPS_SMALL},
    {"among_many_pending_blocks_of_small_segments", &pytorch_config, MANY, 512, STEPS_SMALL},
};

ROWS(many, among_many_blocks)
{
    const struct many_case *c = *state;
    look_up_among_many(c->config, c->count, c->bytes, c->most);
}

/* A segment of a hundred gigabytes that is split into many blocks. */
TEST(among_many_blocks_of_a_large_segment)
{
    enum { COUNT = 50000 };
    static struct vs_block_layout layout[COUNT];
    const uint64_t base = FAKE_BASE, bytes = 2 * MIB - 512;
    fixture_start(&f, &pytorch_config, 512 * GIB);
    for (size_t i = 0; i < COUNT; i++) {
        layout[i] = (struct vs_block_layout){.size = bytes, .requested = bytes, .live = true};
        addrs[i] = base + i * bytes;
    }
    assert_int_equal(replay_adopt_segment(f.allocator, base, COUNT * bytes, VS_POOL_LARGE, 0,
                                                layout, COUNT),
                     VS_OK);
    assert_near(&f, COUNT, bytes, STEPS_LARGE);
    for (size_t i = 0; i < COUNT; i += 2)
        assert_int_equal(vs_allocator_free(f.allocator, addrs[i]), VS_OK);
    assert_near(&f, COUNT, bytes, STEPS_LARGE);
    assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
    vs_allocator_abandon(f.allocator); /* the device does not have this segment */
}

/* Thousands of pages without a start: the bitmap's summary skips them. */
TEST(inside_a_block_of_many_gigabytes)
{
    static const struct vs_allocator_config *configs[] = {&pytorch_config, &expandable_config,
                                                          &compact_config};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const struct vs_block *block;
        fixture_start(&f, configs[i], 512 * GIB);
        uint64_t before = take(&f, 3 * MIB), huge = take(&f, 200 * GIB), after = take(&f, 3 * MIB);
        for (uint64_t at = 0; at < 200 * GIB; at += 777 * MIB) {
            assert_in_range(steps_at(&f, huge + at, &block), 1, STEPS_HUGE);
            assert_int_equal(block->addr, huge);
        }
        give(&f, huge);
        uint64_t part = take(&f, 100 * GIB);
        assert_in_range(steps_at(&f, part + 99 * GIB, &block), 1, STEPS_HUGE);
        assert_int_equal(block->addr, part);
        give(&f, before);
        give(&f, part);
        give(&f, after);
        fixture_stop(&f);
    }
}

/* --- after any splits and merges --- */

#define SLOTS 200

static void assert_found(struct fixture *fixture, const struct vs_allocation *want)
{
    uint64_t offsets[] = {0, want->requested / 2, want->size - 1};
    for (size_t i = 0; i < 3; i++) {
        struct vs_allocation found;
        bool live;
        assert_int_equal(vs_allocator_find(fixture->allocator, want->addr + offsets[i], &found, &live),
                         VS_OK);
        assert_true(live);
        assert_int_equal(found.addr, want->addr);
        assert_int_equal(found.serial, want->serial);
        if (offsets[i])
            assert_int_equal(vs_allocator_free(fixture->allocator, want->addr + offsets[i]),
                             VS_ERR_ARG);
    }
}

static void use_at_random(const struct vs_allocator_config *config, uint64_t seed)
{
    static struct vs_allocation held[SLOTS];
    uint64_t events = 0;
    memset(held, 0, sizeof held);
    fixture_start(&f, config, 2 * GIB);
    for (int step = 0; step < 4000; step++) {
        struct vs_allocation *slot = &held[vs_random(&seed) % SLOTS];
        if (slot->addr) {
            assert_found(&f, slot);
            if (vs_random(&seed) % 4 == 0)
                assert_int_equal(vs_allocator_record_stream(f.allocator, slot->addr, OTHER_STREAM),
                                 VS_OK);
            assert_int_equal(vs_allocator_free(f.allocator, slot->addr), VS_OK);
            slot->addr = 0;
        } else {
            uint64_t most = UINT64_C(1024) << vs_random(&seed) % 15, bytes = 1 + vs_random(&seed) % most;
            if (vs_allocator_malloc(f.allocator, bytes, 0, slot) != VS_OK)
                slot->addr = 0;
        }
        if (step % 50 == 0) {
            fake_device_complete(&f.device, OTHER_STREAM, events += 8);
            assert_int_equal(vs_allocator_check(f.allocator), VS_OK);
        }
        if (step % 1000 == 999)
            assert_int_equal(vs_allocator_empty_cache(f.allocator, NULL), VS_OK);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (held[i].addr)
            assert_found(&f, &held[i]);
    }
    fixture_stop(&f);
}

TEST(interior_pointers_are_found_after_any_splits_and_merges)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        use_at_random(&pytorch_config, seed);
        use_at_random(&expandable_config, seed);
        use_at_random(&compact_config, seed);
    }
}
