/* SPDX-License-Identifier: Apache-2.0
 *
 * The index of free blocks against a linear scan, and the rounding of requests that are larger than
 * those of the comparison with the reference model (test_allocator_differential), which has the
 * other rules of placement. */
#include "allocator/core/placement.h"

#include "allocator/core/allocator_internal.h"
#include "allocator_test.h"

TEST(divisions_apply_by_the_slot_of_the_size)
{
    struct vs_allocator_config c = pytorch_config;
    static const uint64_t table[][2] = {
        {1100 * KIB, 1536 * KIB}, {5000, 6144}, {3 * MIB + 1, 3 * MIB + 512},
        {9 * MIB + 1, 10 * MIB}, {257 * MIB, 320 * MIB}, {513 * MIB, 513 * MIB},
        {17 * GIB, 18 * GIB}, {65 * GIB + 1, 65 * GIB + 512}, {80 * GIB + 1, 80 * GIB + 512},
    };
    c.roundup_power2_divisions[0] = 2;  /* below 2 MiB */
    c.roundup_power2_divisions[3] = 8;  /* 8..16 MiB */
    c.roundup_power2_divisions[8] = 4;  /* 256..512 MiB */
    c.roundup_power2_divisions[14] = 8; /* 16..32 GiB */
    c.roundup_power2_divisions[15] = 1; /* 32 GiB and up: off */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(vs_round_request(&c, table[i][0]), table[i][1]);
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
        uint64_t size = random_size(), count;
        assert_ptr_equal(vs_free_index_fit(&index, size),
                         scan(set, n, oldest_first, FIT, size, NULL));
        assert_ptr_equal(vs_free_index_below(&index, size),
                         scan(set, n, oldest_first, BELOW, size, NULL));
        if (n) {
            const struct vs_block *b = set[(size_t)rand() % n];
            assert_true(vs_free_index_holds(&index, b));
            assert_ptr_equal(vs_free_index_after(&index, b),
                             scan(set, n, oldest_first, AFTER, 0, b));
            assert_ptr_equal(vs_free_index_before(&index, b),
                             scan(set, n, oldest_first, BEFORE, 0, b));
        }
        assert_true(vs_free_index_check(&index, &count));
        assert_int_equal(count, n);
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
