/* SPDX-License-Identifier: Apache-2.0
 *
 * addresses= and hole=: where allocations lie in each order. The argument is the order, "hole" for
 * lowest with a hole. */
#include <stdio.h>

#include "sim_test.h"

#define RANGE (32 * MIB) /* of addresses=linux */

static CUdeviceptr take(size_t mib)
{
    CUdeviceptr at = sim_alloc(mib * MIB);
    *(volatile char *)at = 1; /* it is there */
    *(volatile char *)(at + mib * MIB - 1) = 1;
    return at;
}

/* ---- fenced ---- */

static void fences_lie_between_allocations_and_addresses_come_back_late(void **state)
{
    (void)state;
    CUdeviceptr a = take(2), b = take(4), c;
    assert_int_equal(b, a + 4 * MIB);
    OK(cuMemFree(a));
    c = take(2);
    assert_int_equal(c, b + 6 * MIB);
    OK(cuMemFree(b));
    OK(cuMemFree(c));
}

/* ---- lowest ---- */

static void each_allocation_lies_directly_behind_the_last(void **state)
{
    (void)state;
    CUdeviceptr a = take(20), b = take(3), c = take(1);
    assert_int_equal(b, a + 20 * MIB);
    assert_int_equal(c, b + 4 * MIB); /* whole pages */
    OK(cuMemFree(a));
    CUdeviceptr d = take(8), e = take(12), f = take(2);
    assert_int_equal(d, a);
    assert_int_equal(e, a + 8 * MIB);
    assert_int_equal(f, c + 2 * MIB);
    OK(cuMemFree(e));
    OK(cuMemFree(d)); /* the two gaps join */
    a = take(18);
    assert_int_equal(a, d);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemFree(c));
    OK(cuMemFree(f));
}

static void memory_that_is_used_again_is_zero(void **state)
{
    (void)state;
    CUdeviceptr below = take(2), a = take(8), above = take(2);
    memset((void *)a, 7, 8 * MIB);
    *(char *)above = 5;
    OK(cuMemFree(a));
    a = take(8);
    for (size_t i = 1; i + 1 < 8 * MIB; i += 4095)
        assert_int_equal(((char *)a)[i], 0);
    assert_int_equal(*(char *)above, 5); /* its neighbours stay */
    OK(cuMemFree(below));
    OK(cuMemFree(a));
    OK(cuMemFree(above));
}

static void small_allocations_do_not_shift_the_others(void **state)
{
    (void)state;
    CUdeviceptr a = take(2), small, b;
    OK(cuMemAlloc(&small, 1000));
    b = take(2);
    assert_int_equal(b, a + 2 * MIB);
    assert_true(small > b + 2 * MIB);
    *(char *)small = 1;
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemFree(small));
}

/* ---- lowest,hole=10MiB@3 ---- */

static void the_hole_is_filled_after_the_first_allocations(void **state)
{
    (void)state;
    CUdeviceptr a = take(4), b = take(2);
    OK(cuMemFree(a));
    CUdeviceptr c = take(2), d = take(8), e = take(2), f = take(2), g = take(2);
    assert_int_equal(b, a + 4 * MIB);
    assert_int_equal(c, a);            /* the third; a gap above the hole comes first */
    assert_int_equal(d, a - 10 * MIB); /* the hole is open */
    assert_int_equal(e, a - 2 * MIB);
    assert_int_equal(f, a + 2 * MIB);
    assert_int_equal(g, b + 2 * MIB);
    const CUdeviceptr all[] = {b, c, d, e, f, g};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        OK(cuMemFree(all[i]));
    a = take(2); /* the hole does not close again */
    assert_int_equal(a, d);
    OK(cuMemFree(a));
}

/* ---- linux ---- */

static void ranges_go_down_and_their_tails_come_first(void **state)
{
    (void)state;
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
    const CUdeviceptr all[] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        OK(cuMemFree(all[i]));
}

static void a_range_ends_with_its_last_allocation(void **state)
{
    (void)state;
    CUdeviceptr a = take(32), b = take(20), c = take(32), d = take(4);
    assert_int_equal(d, b + 20 * MIB);
    OK(cuMemFree(b));
    CUdeviceptr e = take(22);
    assert_int_equal(e, c - RANGE); /* d still holds b's range, whose beginning is no tail */
    OK(cuMemFree(d));
    CUdeviceptr f = take(30);
    assert_int_equal(f, b); /* the top of the gap between a and c */
    OK(cuMemFree(a));
    OK(cuMemFree(c));
    OK(cuMemFree(e));
    OK(cuMemFree(f));
}

static void small_allocations_have_ranges_of_their_own(void **state)
{
    (void)state;
    CUdeviceptr a = take(20), small, b;
    OK(cuMemAlloc(&small, 1000));
    b = take(4);
    assert_int_equal(b, a + 20 * MIB);
    assert_true(small < a);
    OK(cuMemFree(a));
    OK(cuMemFree(small));
    OK(cuMemFree(b));
}

/* ---- every order ---- */

/* A thousand steps of taking and freeing: no two allocations overlap, and all memory is free at the
 * end. The sequence is fixed. */
static void no_two_allocations_overlap(void **state)
{
    (void)state;
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

/* All of the device's memory can be had, in pieces that fill no range of 32 MiB. */
static void the_whole_device_can_be_allocated(void **state)
{
    (void)state;
    static CUdeviceptr all[64];
    size_t n = 0;
    CUdeviceptr at;
    while (n < 64 && !cuMemAlloc(&at, 18 * MIB))
        all[n++] = at;
    assert_int_equal(n, 1000 / 18);
    assert_true(sim_free_bytes() < 18 * MIB);
    while (n)
        OK(cuMemFree(all[--n]));
}

FIXTURE(setup)
{
    sim_start();
    return 0;
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "fenced";
    bool hole = !strcmp(order, "hole");
    const struct CMUnitTest fenced[] = {
        cmocka_unit_test(fences_lie_between_allocations_and_addresses_come_back_late),
        cmocka_unit_test(no_two_allocations_overlap),
        cmocka_unit_test(the_whole_device_can_be_allocated),
    }, lowest[] = {
        cmocka_unit_test(each_allocation_lies_directly_behind_the_last),
        cmocka_unit_test(memory_that_is_used_again_is_zero),
        cmocka_unit_test(small_allocations_do_not_shift_the_others),
        cmocka_unit_test(no_two_allocations_overlap),
        cmocka_unit_test(the_whole_device_can_be_allocated),
    }, with_hole[] = {
        cmocka_unit_test(the_hole_is_filled_after_the_first_allocations),
        cmocka_unit_test(no_two_allocations_overlap),
        cmocka_unit_test(the_whole_device_can_be_allocated),
    }, linux_order[] = {
        cmocka_unit_test(ranges_go_down_and_their_tails_come_first),
        cmocka_unit_test(a_range_ends_with_its_last_allocation),
        cmocka_unit_test(small_allocations_have_ranges_of_their_own),
        cmocka_unit_test(no_two_allocations_overlap),
        cmocka_unit_test(the_whole_device_can_be_allocated),
    };
    char spec[128];
    snprintf(spec, sizeof spec, "t4-16g,capacity=1008MiB,context=8MiB,addresses=%s%s",
             hole ? "lowest" : order, hole ? ",hole=10MiB@3" : "");
    setenv("VRAMSCOPE_SIMULATE", spec, 1);
    if (hole)
        return cmocka_run_group_tests(with_hole, setup, NULL);
    if (!strcmp(order, "lowest"))
        return cmocka_run_group_tests(lowest, setup, NULL);
    if (!strcmp(order, "linux"))
        return cmocka_run_group_tests(linux_order, setup, NULL);
    return cmocka_run_group_tests(fenced, setup, NULL);
}
