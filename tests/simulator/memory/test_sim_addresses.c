/* SPDX-License-Identifier: Apache-2.0
 *
 * addresses= and hole=: where allocations lie in each order. The argument is the order, "hole" for
 * lowest with a hole. */
#include <stdio.h>

#include "sim_test.h"

#define RANGE (32 * MIB) /* of addresses=linux */

static CUdeviceptr taken[64]; /* in this test and not freed */
static size_t taken_count;

static CUdeviceptr take_bytes(size_t bytes) { return taken[taken_count++] = sim_alloc(bytes); }

static CUdeviceptr take(size_t mib)
{
    CUdeviceptr at = take_bytes(mib * MIB);
    *(volatile char *)at = 1; /* it is there */
    *(volatile char *)(at + mib * MIB - 1) = 1;
    return at;
}

static void give(CUdeviceptr at)
{
    size_t i = 0;
    while (taken[i] != at)
        i++;
    taken[i] = taken[--taken_count];
    OK(cuMemFree(at));
}

FIXTURE(give_all)
{
    while (taken_count)
        give(taken[0]);
    return 0;
}

/* ---- fenced ---- */

TEST(fenced_fences_lie_between_allocations_and_addresses_come_back_late)
{
    CUdeviceptr a = take(2), b = take(4), c;
    assert_int_equal(b, a + 4 * MIB);
    give(a);
    c = take(2);
    assert_int_equal(c, b + 6 * MIB);
}

/* ---- lowest ---- */

TEST(lowest_each_allocation_lies_directly_behind_the_last)
{
    CUdeviceptr a = take(20), b = take(3), c = take(1);
    assert_int_equal(b, a + 20 * MIB);
    assert_int_equal(c, b + 4 * MIB); /* whole pages */
    give(a);
    CUdeviceptr d = take(8), e = take(12), f = take(2);
    assert_int_equal(d, a);
    assert_int_equal(e, a + 8 * MIB);
    assert_int_equal(f, c + 2 * MIB);
    give(e);
    give(d); /* the two gaps join */
    a = take(18);
    assert_int_equal(a, d);
}

TEST(lowest_memory_that_is_used_again_is_zero)
{
    take(2);
    CUdeviceptr a = take(8), above = take(2);
    memset((void *)a, 7, 8 * MIB);
    *(char *)above = 5;
    give(a);
    a = take(8);
    for (size_t i = 1; i + 1 < 8 * MIB; i += 4095)
        assert_int_equal(((char *)a)[i], 0);
    assert_int_equal(*(char *)above, 5); /* its neighbours stay */
}

TEST(lowest_small_allocations_do_not_shift_the_others)
{
    CUdeviceptr a = take(2), small = take_bytes(1000), b = take(2);
    assert_int_equal(b, a + 2 * MIB);
    assert_true(small > b + 2 * MIB);
    *(char *)small = 1;
}

/* ---- lowest,hole=10MiB@3 ---- */

TEST(hole_the_hole_is_filled_after_the_first_allocations)
{
    CUdeviceptr a = take(4), b = take(2);
    give(a);
    CUdeviceptr c = take(2), d = take(8), e = take(2), f = take(2), g = take(2);
    assert_int_equal(b, a + 4 * MIB);
    assert_int_equal(c, a);            /* the third; a gap above the hole comes first */
    assert_int_equal(d, a - 10 * MIB); /* the hole is open */
    assert_int_equal(e, a - 2 * MIB);
    assert_int_equal(f, a + 2 * MIB);
    assert_int_equal(g, b + 2 * MIB);
    give_all(NULL);
    a = take(2); /* the hole does not close again */
    assert_int_equal(a, d);
}

/* ---- linux ---- */

TEST(linux_ranges_go_down_and_their_tails_come_first)
{
    CUdeviceptr a = take(20); /* a range of 32 MiB, 12 MiB of which are unused */
    assert_int_equal(a % RANGE, 0);
    CUdeviceptr b = take(20);
    assert_int_equal(b, a - RANGE); /* a new range, below all others */
    CUdeviceptr c = take(40);
    assert_int_equal(c, b - 2 * RANGE);
    CUdeviceptr d = take(10), e = take(20), f = take(12), g = take(2), h = take(14);
    assert_int_equal(d, c + 40 * MIB); /* the lowest tail that it fits in */
    assert_int_equal(e, c - RANGE);
    assert_int_equal(f, e + 20 * MIB);
    assert_int_equal(g, d + 10 * MIB);
    assert_int_equal(h, e - RANGE); /* 12 MiB are free in c's, b's and a's range */
}

TEST(linux_a_range_ends_with_its_last_allocation)
{
    take(32);
    CUdeviceptr b = take(20), c = take(32), d = take(4);
    assert_int_equal(d, b + 20 * MIB);
    give(b);
    CUdeviceptr e = take(22);
    assert_int_equal(e, c - RANGE); /* d still holds b's range, whose beginning is no tail */
    give(d);
    CUdeviceptr f = take(30);
    assert_int_equal(f, b); /* the top of the gap above c */
}

TEST(linux_small_allocations_have_ranges_of_their_own)
{
    CUdeviceptr a = take(20), small = take_bytes(1000), b = take(4);
    assert_int_equal(b, a + 20 * MIB);
    assert_true(small < a);
}

/* ---- every order ---- */

/* A thousand steps of taking and freeing: no two allocations overlap, and all memory is free at the
 * end. The sequence is fixed. */
TEST(every_order_no_two_allocations_overlap)
{
    struct {
        CUdeviceptr at;
        size_t bytes;
    } live[40] = {{0, 0}};
    size_t before = sim_free_bytes();
    uint32_t x = 12345;
    for (int step = 0; step < 1000; step++) {
        x = x * 1664525 + 1013904223;
        size_t i = (x >> 8) % 40;
        if (live[i].at) {
            assert_int_equal(*(char *)live[i].at, (char)i);
            OK(cuMemFree(live[i].at));
            live[i].at = 0;
            continue;
        }
        live[i].bytes = ((x >> 20) % 40 + 1) * (MIB / 2); /* 0.5 to 20 MiB */
        OK(cuMemAlloc(&live[i].at, live[i].bytes));
        for (size_t k = 0; k < 40; k++)
            assert_true(k == i || !live[k].at || live[k].at + live[k].bytes <= live[i].at ||
                        live[i].at + live[i].bytes <= live[k].at);
        assert_int_equal(*(char *)live[i].at, 0);
        *(char *)live[i].at = (char)i;
    }
    for (size_t i = 0; i < 40; i++)
        if (live[i].at)
            OK(cuMemFree(live[i].at));
    assert_int_equal(sim_free_bytes(), before);
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "fenced";
    bool hole = !strcmp(order, "hole");
    char spec[128], own[32];
    snprintf(spec, sizeof spec, "t4-16g,capacity=1008MiB,context=8MiB,addresses=%s%s",
             hole ? "lowest" : order, hole ? ",hole=10MiB@3" : "");
    setenv("VRAMSCOPE_SIMULATE", spec, 1);
    sim_start();
    snprintf(own, sizeof own, "%s_*", order);
    cmocka_set_test_filter(own);
    int failed = vs_run_tests_around("order", NULL, NULL, NULL, give_all);
    cmocka_set_test_filter("every_order_*");
    return failed + vs_run_tests(NULL, NULL);
}
