/* SPDX-License-Identifier: Apache-2.0
 *
 * Places on a virtual axis, compared with a list of all that is placed. */
#include <stdbool.h>

#include "support/cmocka_test.h"
#include "viewer/html/page_rows.h"

#define PLACED_MAX 300
#define GAPS 4000
#define DEEP 100 /* about 30 are expected; this many happen once in far more runs than there are */

struct placed {
    uint64_t place, size;
};

static uint64_t rounded(uint64_t size)
{
    return (size + 511) / 512 * 512;
}

static bool is_free(const struct placed *list, size_t count, uint64_t place, uint64_t size)
{
    for (size_t i = 0; i < count; i++)
        if (place < list[i].place + rounded(list[i].size) && list[i].place < place + rounded(size))
            return false;
    return true;
}

/* The lowest place for *size*: 0, or the end of one of the others. */
static uint64_t lowest(const struct placed *list, size_t count, uint64_t size)
{
    uint64_t best = UINT64_MAX;
    if (is_free(list, count, 0, size))
        return 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t end = list[i].place + rounded(list[i].size);
        if (end < best && is_free(list, count, end, size))
            best = end;
    }
    return best;
}

TEST(each_has_the_lowest_free_place)
{
    struct vs_axis axis = {0};
    struct placed list[PLACED_MAX];
    size_t count = 0;
    uint64_t random = 7;
    for (int i = 0; i < 20000; i++) {
        uint64_t pick = vs_random(&random);
        if (count == PLACED_MAX || (count && pick % 2)) {
            size_t k = pick / 2 % count;
            vs_axis_give(&axis, list[k].place, list[k].size);
            list[k] = list[--count];
            continue;
        }
        struct placed *one = &list[count];
        one->size = pick % 5 ? pick % 7919 + 1 : pick % 100000 + 1;
        uint64_t expected = lowest(list, count, one->size);
        assert_true(vs_axis_take(&axis, one->size, &one->place));
        assert_int_equal(one->place, expected);
        count++;
    }
    vs_axis_free(&axis);
}

TEST(all_of_it_is_free_again)
{
    struct vs_axis axis = {0};
    uint64_t places[64], first;
    for (int i = 0; i < 64; i++)
        assert_true(vs_axis_take(&axis, 1000, &places[i]));
    assert_int_equal(places[63], 63 * 1024);
    for (int i = 0; i < 64; i++)
        vs_axis_give(&axis, places[i * 37 % 64], 1000);
    assert_true(vs_axis_take(&axis, UINT64_C(1) << 40, &first));
    assert_int_equal(first, 0);
    vs_axis_free(&axis);
}

static unsigned depth_of(const struct vs_axis_gap *gap, unsigned above)
{
    if (!gap || above > DEEP)
        return above;
    unsigned left = depth_of(gap->left, above + 1), right = depth_of(gap->right, above + 1);
    return left > right ? left : right;
}

/* Frees every second block in an order that would make the tree a list if the priorities were a
 * fixed hash of the gap's number: a trace may have been made for that. */
TEST(no_order_of_frees_makes_the_tree_a_list)
{
    struct vs_axis axis = {0};
    uint64_t place;
    for (uint32_t i = 0; i < 2 * GAPS; i++)
        assert_true(vs_axis_take(&axis, 512, &place));
    for (uint32_t i = 0; i < GAPS; i++) {
        uint64_t rank = 0;
        for (uint32_t k = 0; k < GAPS; k++)
            rank += (k + 2) * UINT32_C(0x9e3779b1) < (i + 2) * UINT32_C(0x9e3779b1);
        vs_axis_give(&axis, rank * 1024, 512);
    }
    assert_in_range(depth_of(axis.root, 0), 12, DEEP);
    vs_axis_free(&axis);
}

TEST(sizes_that_no_device_has_are_refused_without_harm)
{
    struct vs_axis axis = {0};
    uint64_t place = 5;
    assert_true(vs_axis_take(&axis, UINT64_MAX, &place));
    assert_true(vs_axis_take(&axis, UINT64_MAX, &place));
    assert_false(vs_axis_take(&axis, UINT64_MAX, &place));
    assert_false(vs_axis_take(&axis, 0, &place));
    vs_axis_free(&axis);
}
