/* SPDX-License-Identifier: Apache-2.0
 *
 * The counter's clock against clock_gettime: between two readings of the latter, within the error
 * of a calibration that is interrupted. */
#include "support/cmocka_test.h"

#include <stdio.h>

#include "base/vs_clock.h"
#include "base/vs_ticks.h"

#define TOLERANCE_NS 20000

static uint64_t distance(uint64_t at, uint64_t before, uint64_t after)
{
    return at < before ? before - at : at > after ? at - after : 0;
}

static void follow(struct vs_ticks *clock, uint64_t for_ns, uint64_t *worst, uint64_t *late)
{
    uint64_t start = vs_clock_ns(), last = 0, looks = 0;
    *worst = *late = 0;
    for (uint64_t before = start, after; before - start < for_ns; before = after) {
        uint64_t now = vs_ticks_now(clock);
        after = vs_clock_ns();
        assert_true(now >= last);
        last = now;
        uint64_t off = distance(now, before, after);
        *worst = off > *worst ? off : *worst;
        *late += off > 200;
        looks++;
    }
    print_message("worst %llu ns, %llu of %llu readings more than 200 ns off\n",
                  (unsigned long long)*worst, (unsigned long long)*late, (unsigned long long)looks);
    assert_true(*late * 20 <= looks);
}

TEST(the_clock_stays_with_clock_monotonic)
{
    struct vs_ticks clock;
    uint64_t worst, late;
    vs_ticks_init(&clock);
    follow(&clock, 300000000, &worst, &late);
    assert_true(worst <= TOLERANCE_NS * 50);
}

TEST(without_a_usable_counter_every_reading_is_clock_gettime)
{
    struct vs_ticks clock = {.usable = false};
    uint64_t worst, late;
    follow(&clock, 10000000, &worst, &late);
    assert_int_equal(worst, 0);
    assert_int_equal(clock.span, 0);
}

/* A calibration that no longer fits: the counter stood still or went back, as after a suspend or a
 * migration to another machine. */
TEST(after_a_jump_of_the_counter_the_clock_ties_again)
{
    struct vs_ticks clock;
    uint64_t worst, late;
    vs_ticks_init(&clock);
    follow(&clock, 20000000, &worst, &late);
    if (!clock.usable)
        skip();
    assert_true(clock.span > 0);
    static const int64_t jumps[] = {INT64_C(1) << 40, -(INT64_C(1) << 40)};
    for (unsigned i = 0; i < 2; i++) {
        clock.tie_ticks += (uint64_t)jumps[i];
        clock.base_ticks += (uint64_t)jumps[i];
        uint64_t before = vs_clock_ns(), now = vs_ticks_now(&clock), after = vs_clock_ns();
        assert_int_equal(distance(now, before, after), 0);
        follow(&clock, 20000000, &worst, &late);
        assert_true(worst <= TOLERANCE_NS * 50);
    }
}
