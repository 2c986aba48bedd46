/* SPDX-License-Identifier: Apache-2.0
 *
 * Which steps the option kernels_steps selects (vs_schedule.h). */
#include "support/cmocka_test.h"

#include "base/steps/vs_schedule.h"

TEST(steps_are_those_of_torch_profiler_schedule)
{
    static const struct {
        const char *text, *steps; /* of steps 1 to 12: recorded, warmed up, not */
    } cases[] = {
        {"3", ".w#........."},
        {"1-2", "##.........."},
        {"active=2", "############"},
        {"active=2,repeat=1", "##.........."},
        {"wait=1,warmup=1,active=2,repeat=2", ".w##.w##...."},
        {"skip_first=2,wait=1,active=1", "...#.#.#.#.#"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vs_schedule schedule;
        char got[13] = "";
        assert_int_equal(vs_schedule_parse(cases[i].text, &schedule), VS_OK);
        for (unsigned step = 1; step <= 12; step++)
            got[step - 1] = ".w#"[vs_schedule_at(&schedule, step, step - 1)];
        assert_string_equal(got, cases[i].steps);
    }
}

TEST(other_texts_are_refused)
{
    static const char *const bad[] = {"-", "3-", "4-3", "3,4", "active=0", "wait=1,wait=2,active=1", "active",
                                      "active=1,", "warm=1", "12345678901"};
    struct vs_schedule schedule = {.last = 7};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(vs_schedule_parse(bad[i], &schedule), VS_ERR_ARG);
    assert_true(schedule.last == 7);
    assert_int_equal(vs_schedule_parse("", &schedule), VS_OK);
    assert_false(schedule.given);
}
