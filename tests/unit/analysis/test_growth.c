/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps and growth without marks: programs of known behaviour are judged, and counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/growth/growth.h"
#include "support/growth_cases.h"
#include "support/trace_builder.h"

#define MIB (UINT64_C(1) << 20)

/* A replay without a trace behind it: only the name of a step. */
struct fed {
    struct vs_builder builder;
    struct vs_reader *reader;
    struct vs_replay *replay;
    struct vs_growth_tracker *tracker;
    struct vs_growth_result result;
    uint64_t step_name;
};

static void feed_open(struct fed *fed)
{
    struct vs_event event;
    vs_builder_open(&fed->builder, "observe");
    fed->step_name = vs_builder_string(&fed->builder, "step");
    vs_builder_push(&fed->builder, "step");
    vs_builder_close(&fed->builder, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(fed->builder.path, &fed->reader, NULL), VS_OK);
    while (vs_reader_next(fed->reader, &event) == VS_OK)
        continue;
    assert_int_equal(vs_replay_open(fed->reader, &fed->replay), VS_OK);
    assert_int_equal(vs_growth_open(fed->replay, &fed->tracker), VS_OK);
}

static bool feed(void *arg, const struct vs_event *event)
{
    struct fed *fed = arg;
    return vs_replay_event(fed->replay, event) == VS_OK &&
           vs_growth_event(fed->tracker, event) == VS_OK;
}

static void feed_finish(struct fed *fed)
{
    assert_int_equal(vs_growth_finish(fed->tracker, &fed->result), VS_OK);
}

static void feed_restart(struct fed *fed)
{
    vs_growth_close(fed->tracker);
    vs_replay_close(fed->replay);
    assert_int_equal(vs_replay_open(fed->reader, &fed->replay), VS_OK);
    assert_int_equal(vs_growth_open(fed->replay, &fed->tracker), VS_OK);
}

static void feed_close(struct fed *fed)
{
    vs_growth_close(fed->tracker);
    vs_replay_close(fed->replay);
    vs_reader_close(fed->reader);
    vs_builder_remove(&fed->builder);
}

static bool under_test(const struct fed *fed, const struct vs_growth_row *row)
{
    uint64_t stack = fed->replay->sites.items[row->site].stack;
    return stack >= GROWTH_CASE_SITE && stack < GROWTH_CASE_SITE + 3;
}

struct judged {
    unsigned accused, others; /* of the sites under test, and of the rest */
    const struct vs_growth_row *row; /* the first of those under test */
};

static struct judged look(const struct fed *fed)
{
    struct judged judged = {0};
    for (size_t i = 0; i < fed->result.site_count; i++) {
        const struct vs_growth_row *row = &fed->result.sites[i];
        if (under_test(fed, row)) {
            judged.accused += vs_growth_accused(row);
            if (!judged.row)
                judged.row = row;
        } else {
            judged.others += vs_growth_accused(row);
        }
    }
    return judged;
}

static struct judged run_case(struct fed *fed, const struct growth_case *one,
                              struct growth_truth *truth)
{
    feed_restart(fed);
    assert_true(growth_case_run(one, fed->step_name, feed, fed, truth));
    feed_finish(fed);
    return look(fed);
}

static void print_others(const struct fed *fed)
{
    for (size_t i = 0; i < fed->result.site_count; i++) {
        const struct vs_growth_row *row = &fed->result.sites[i];
        const struct vs_site *site = &fed->replay->sites.items[row->site];
        if (vs_growth_accused(row))
            print_message("    site %llu: %s %.2f, %llu bytes in %llu blocks since step %llu until "
                          "%llu, allocated %llu freed %llu\n",
                          (unsigned long long)site->stack, vs_growth_class_name(row->class),
                          row->confidence, (unsigned long long)row->bytes,
                          (unsigned long long)row->births, (unsigned long long)row->since_step,
                          (unsigned long long)row->until_step, (unsigned long long)site->allocs,
                          (unsigned long long)site->frees);
    }
}

static void print_case(const struct growth_case *one, const struct fed *fed,
                       const struct judged *judged, const struct growth_truth *truth)
{
    const struct vs_growth_row *row = judged->row;
    print_message("  %-22s program %d steps %4u ending %d noise %d prefetch %d varying %d eval %2u "
                  "warm %u seed %llx: %s %.2f, others %u, steps %s %llu, per step %llu (%llu) every %llu (%u) since %llu (%u)\n",
                  growth_habit_name(one->habit), one->program, one->steps, one->ending, one->noise,
                  one->prefetch, one->varying, one->evaluate_every, one->warm_up,
                  (unsigned long long)one->seed, row ? vs_growth_class_name(row->class) : "-",
                  row ? row->confidence : 0, judged->others,
                  fed->result.steps.source == VS_STEPS_NONE ? "none" : "found",
                  (unsigned long long)fed->result.steps.begun,
                  (unsigned long long)(row ? row->per_step : 0), (unsigned long long)truth->per_step,
                  (unsigned long long)(row ? row->every : 0), truth->every,
                  (unsigned long long)(row ? row->since_step : 0), truth->since);
    print_others(fed);
}

static uint64_t first_seed = 1, seeds = 12; /* test_growth FIRST COUNT for others */

/* Steps within one of the program's, found where they have to be. */
static bool steps_right(const struct fed *fed, const struct growth_case *one)
{
    const struct vs_growth_steps *steps = &fed->result.steps;
    if (one->program == PROGRAM_SERVER)
        return true; /* there are none, but one may be found in a short one */
    uint64_t begun = one->steps + (one->ending == ENDING_FAILURE);
    return steps->source == VS_STEPS_FOUND && steps->begun + 1 >= begun &&
           steps->begun <= begun + 1;
}

/* Figures of a growing site. */
static bool figures_right(const struct growth_case *one, const struct growth_truth *truth,
                          const struct vs_growth_row *row)
{
    if (!truth->grows || one->program == PROGRAM_SERVER)
        return true;
    bool freed = row->class == VS_GROWTH_FREED; /* less is known of it */
    double per_step = (double)row->per_step / (double)truth->per_step;
    double slack = freed || truth->every != 1 ? 0.25 : 0.02;
    if (one->habit == HABIT_LEAK_SITES)
        per_step = 1; /* of one of three */
    uint64_t early = freed ? one->steps / 20 + 2 : 1;
    return per_step >= 1 - slack && per_step <= 1 + slack &&
           (!truth->every || freed || row->every == truth->every) && row->since_step_known &&
           row->since_step + early >= truth->since && row->since_step <= truth->since + early;
}

static void growth_is_told_from_benign_use_of_memory(void **state)
{
    struct fed *fed = *state;
    unsigned right = 0, all = 0, false_accusations = 0, steps = 0, figures = 0, by_habit[HABIT_COUNT][2] = {{0}};
    for (unsigned habit = 0; habit < HABIT_COUNT; habit++) {
        for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
            struct growth_case one;
            struct growth_truth truth;
            growth_case_make(seed, (enum growth_habit)habit, &one);
            struct judged judged = run_case(fed, &one, &truth);
            unsigned expected = habit == HABIT_LEAK_SITES ? 3 : 1;
            bool ok = judged.others == 0 &&
                      (truth.grows ? judged.accused == expected : judged.accused == 0);
            false_accusations += judged.others + (truth.grows ? 0 : judged.accused);
            by_habit[habit][!ok]++;
            right += ok;
            all++;
            bool stepped = steps_right(fed, &one);
            bool figured = !ok || figures_right(&one, &truth, judged.row);
            steps += stepped;
            figures += figured;
            if (!ok || !stepped || !figured)
                print_case(&one, fed, &judged, &truth);
        }
    }
    for (unsigned habit = 0; habit < HABIT_COUNT; habit++)
        print_message("%-26s right %2u wrong %2u\n",
                      growth_habit_name((enum growth_habit)habit), by_habit[habit][0],
                      by_habit[habit][1]);
    print_message("right %u of %u, false accusations %u; steps %u, figures %u\n", right, all,
                  false_accusations, steps, figures);
    assert_int_equal(false_accusations, 0);
    assert_true(right * 100 >= all * 95);
    assert_true(steps * 100 >= all * 95);
    assert_true(figures * 100 >= all * 95);
}

static int open_feed(void **state)
{
    static struct fed fed;
    feed_open(&fed);
    *state = &fed;
    return 0;
}

static int close_feed(void **state)
{
    feed_close(*state);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        seeds = strtoull(argv[2], NULL, 10);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_is_told_from_benign_use_of_memory),
    };
    return cmocka_run_group_tests(tests, open_feed, close_feed);
}
