/* SPDX-License-Identifier: Apache-2.0
 *
 * The placement rules as tables: rounding, pools, segment sizes, splitting; and
 * the free index's order. */
#include "allocator/core/placement.h"

#include <stdlib.h>

#include "allocator/core/allocator_internal.h"
#include "allocator_test.h"

TEST(requests_round_up_to_512_byte_multiples)
{
    static const uint64_t table[][2] = {
        {1, 512},       {511, 512},     {512, 512},           {513, 1024},
        {1024, 1024},   {1025, 1536},   {MIB - 1, MIB},       {MIB, MIB},
        {MIB + 1, MIB + 512}, {10 * MIB - 1, 10 * MIB}, {80 * GIB + 1, 80 * GIB + 512},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(vs_round_request(&pytorch_config, table[i][0]), table[i][1]);
}

TEST(power_of_two_divisions_round_to_their_steps)
{
    struct vs_allocator_config c = pytorch_config;
    for (int i = 0; i < VS_ROUNDUP_SLOTS; i++)
        c.roundup_power2_divisions[i] = 4;
    static const uint64_t table[][2] = {
        /* up to 512 times the divisions: multiples of 512 as without */
        {100, 512}, {1200, 1536}, {2048, 2048},
        /* 2048..4096 in steps of 512, 4096..8192 in steps of 1024 */
        {2049, 2560}, {4096, 4096}, {4097, 5120}, {1200 * KIB, 1280 * KIB},
        {1024 * KIB + 1, 1280 * KIB}, {7 * MIB + 1, 8 * MIB}, {100 * MIB, 112 * MIB},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(vs_round_request(&c, table[i][0]), table[i][1]);
    assert_int_equal(vs_round_to_division(3, 16), 4); /* a step of 0: the next power of two */
}

TEST(divisions_apply_by_the_slot_of_the_size)
{
    struct vs_allocator_config c = pytorch_config;
    c.roundup_power2_divisions[0] = 2;  /* below 2 MiB */
    c.roundup_power2_divisions[3] = 8;  /* 8..16 MiB */
    c.roundup_power2_divisions[15] = 1; /* 32 GiB and up: off */
    assert_int_equal(vs_round_request(&c, 1100 * KIB), 1536 * KIB);
    assert_int_equal(vs_round_request(&c, 5000), 6144);
    assert_int_equal(vs_round_request(&c, 3 * MIB + 1), 3 * MIB + 512);
    assert_int_equal(vs_round_request(&c, 9 * MIB + 1), 10 * MIB);
    assert_int_equal(vs_round_request(&c, 65 * GIB + 1), 65 * GIB + 512);
}

TEST(the_pool_follows_the_rounded_size)
{
    assert_int_equal(vs_request_kind(&vs_policy_pytorch, 512), VS_POOL_SMALL);
    assert_int_equal(vs_request_kind(&vs_policy_pytorch, MIB), VS_POOL_SMALL);
    assert_int_equal(vs_request_kind(&vs_policy_pytorch, MIB + 512), VS_POOL_LARGE);
}

TEST(segments_are_2_mib_20_mib_or_a_multiple_of_2_mib)
{
    static const uint64_t table[][2] = {
        {512, 2 * MIB},        {MIB, 2 * MIB},         {MIB + 512, 20 * MIB},
        {10 * MIB - 512, 20 * MIB}, {10 * MIB, 10 * MIB}, {10 * MIB + 512, 12 * MIB},
        {12 * MIB, 12 * MIB},  {65 * MIB + 512, 66 * MIB},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(vs_segment_size(table[i][0]), table[i][1]);
}

TEST(small_blocks_split_from_512_bytes_large_ones_above_1_mib)
{
    assert_true(vs_should_split(VS_POOL_SMALL, 1024, 512, UINT64_MAX));
    assert_false(vs_should_split(VS_POOL_SMALL, 512, 512, UINT64_MAX));
    assert_false(vs_should_split(VS_POOL_LARGE, 3 * MIB, 2 * MIB, UINT64_MAX));
    assert_true(vs_should_split(VS_POOL_LARGE, 3 * MIB + 512, 2 * MIB, UINT64_MAX));
}

TEST(requests_of_max_split_size_are_not_split)
{
    uint64_t max = 32 * MIB;
    assert_true(vs_should_split(VS_POOL_LARGE, 40 * MIB, max - 512, max));
    assert_false(vs_should_split(VS_POOL_LARGE, 40 * MIB, max, max));
}

TEST(beyond_max_split_size_only_near_fits_are_taken)
{
    uint64_t max = 32 * MIB, slack = 20 * MIB;
    assert_true(vs_may_take(max - 512, 2 * MIB, max, slack));
    assert_false(vs_may_take(max, 2 * MIB, max, slack));
    assert_true(vs_may_take(max + slack - 512, max, max, slack));
    assert_false(vs_may_take(max + slack, max, max, slack));
    assert_true(vs_may_take(GIB, 2 * MIB, UINT64_MAX, slack));
}

/* The index against a linear scan, over random sets with many equal sizes. */
#define SET 300
enum wanted { FIT, AFTER, BEFORE, BELOW };

static bool precedes(const struct vs_block *x, const struct vs_block *y, bool oldest_first)
{
    if (x->size != y->size)
        return x->size < y->size;
    if (oldest_first && x->segment->number != y->segment->number)
        return x->segment->number < y->segment->number;
    return x->addr < y->addr;
}

static const struct vs_block *scan(struct vs_block *const *set, size_t n, bool oldest_first,
                                   enum wanted wanted, uint64_t size, const struct vs_block *at)
{
    const struct vs_block *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct vs_block *b = set[i];
        bool good = wanted == FIT     ? b->size >= size
                    : wanted == AFTER ? precedes(at, b, oldest_first)
                    : wanted == BELOW ? b->size < size
                                      : precedes(b, at, oldest_first);
        bool up = wanted == FIT || wanted == AFTER;
        if (good && (!best || (up ? precedes(b, best, oldest_first)
                                  : precedes(best, b, oldest_first))))
            best = b;
    }
    return best;
}

static uint64_t random_size(void)
{
    uint64_t granules = UINT64_C(1) << (rand() % 20);
    return VS_BLOCK_MIN * (granules + (uint64_t)rand() % granules / (1 + (uint64_t)(rand() % 3)));
}

static void compare_with_scans(const struct vs_free_index *index, struct vs_block *const *set,
                               size_t n)
{
    bool oldest = index->oldest_first;
    uint64_t size = random_size(), count;
    assert_ptr_equal(vs_free_index_fit(index, size), scan(set, n, oldest, FIT, size, NULL));
    assert_ptr_equal(vs_free_index_below(index, size), scan(set, n, oldest, BELOW, size, NULL));
    if (n) {
        const struct vs_block *b = set[(size_t)rand() % n];
        assert_true(vs_free_index_holds(index, b));
        assert_ptr_equal(vs_free_index_after(index, b), scan(set, n, oldest, AFTER, 0, b));
        assert_ptr_equal(vs_free_index_before(index, b), scan(set, n, oldest, BEFORE, 0, b));
    }
    assert_true(vs_free_index_check(index, &count));
    assert_int_equal(count, n);
}

static void compare_an_index_with_scans(bool oldest_first)
{
    static struct vs_segment segments[8];
    struct vs_slabs slabs = {0};
    struct vs_block *blocks = vs_slab_take(&slabs);
    assert_true(blocks && SET * sizeof *blocks < VS_SLAB_BYTES);
    memset(blocks, 0, SET * sizeof *blocks);
    for (uint64_t i = 0; i < 8; i++)
        segments[i].number = i * 5 % 8;
    struct vs_block *set[SET];
    struct vs_free_index index = {.oldest_first = oldest_first};
    size_t n = 0, next = 0;
    srand(7);
    for (int step = 0; step < 20000; step++) {
        if (n < SET && (n < SET / 2 || rand() % 2)) {
            struct vs_block *b = &blocks[n < SET ? next : 0];
            next = (next + 1) % SET;
            if (b->addr && b->state == VS_BLOCK_FREE)
                continue;
            *b = (struct vs_block){.addr = FAKE_BASE + 512 * (uint64_t)step,
                                   .segment = &segments[rand() % 8],
                                   .size = random_size(), .state = VS_BLOCK_FREE};
            set[n++] = b;
            vs_free_insert(&index, b);
        } else {
            size_t i = (size_t)rand() % n;
            vs_free_remove(&index, set[i]);
            set[i]->state = VS_BLOCK_LIVE;
            assert_false(vs_free_index_holds(&index, set[i]));
            set[i] = set[--n];
        }
        compare_with_scans(&index, set, n);
    }
    vs_slabs_give(&slabs);
}

TEST(the_free_index_gives_what_a_linear_scan_gives)
{
    compare_an_index_with_scans(false);
}

TEST(the_free_index_gives_the_oldest_segment_when_it_shall)
{
    compare_an_index_with_scans(true);
}
