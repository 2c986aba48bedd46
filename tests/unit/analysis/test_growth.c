/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps and growth without marks: programs of known behaviour are judged, and counted. */
#include <stdio.h>

#include "support/cmocka_test.h"
#include "analysis/growth/growth_internal.h"
#include "support/growth_cases.h"
#include "support/trace_builder.h"

/* A replay without a trace behind it: only the name of a step. */
struct fed {
    struct vs_builder builder;
    struct vs_reader *reader;
    struct vs_replay *replay;
    struct vs_growth_tracker *tracker;
    struct vs_growth_result result;
    uint64_t step_name, no_step, automatic;
};

static bool feed(void *arg, const struct vs_event *event)
{
    struct fed *fed = arg;
    vs_replay_event(fed->replay, event);
    return vs_growth_observe(fed->tracker, fed->replay, event) == VS_OK;
}

static void feed_restart(struct fed *fed)
{
    vs_growth_close(fed->tracker);
    vs_replay_close(fed->replay);
    fed->replay = vs_replay_open(fed->reader);
    vs_growth_open(fed->replay, &fed->tracker);
}

static bool under_test(const struct fed *fed, const struct vs_growth_row *row)
{
    uint64_t stack = fed->replay->sites.items[row->site].stack;
    return stack >= GROWTH_CASE_SITE && stack < GROWTH_CASE_SITE + 3;
}

struct judged {
    unsigned named, others; /* of the sites under test, and of the rest */
    const struct vs_growth_row *row; /* the first of those under test */
};

static struct judged look(const struct fed *fed)
{
    struct judged judged = {0};
    for (size_t i = 0; i < fed->result.site_count; i++) {
        const struct vs_growth_row *row = &fed->result.sites[i];
        if (under_test(fed, row)) {
            judged.named += vs_growth_is_named(row);
            if (!judged.row)
                judged.row = row;
        } else {
            judged.others += vs_growth_is_named(row);
        }
    }
    return judged;
}

static struct judged run_case(struct fed *fed, const struct growth_case *one,
                              struct growth_truth *truth)
{
    feed_restart(fed);
    assert_true(growth_case_run(one, fed->step_name, feed, fed, truth));
    vs_growth_finish(fed->tracker, &fed->result);
    return look(fed);
}

/* What differs, for `test_growth SEED 1`. */
static void print_case(const struct growth_case *one, const struct fed *fed,
                       const struct judged *judged, const struct growth_truth *truth)
{
    static const char *const class_names[] = {"none", "initial", "filled", "sawtooth", "freed", "leak"};
    const struct vs_growth_row none = {.confidence = 0}, *row = judged->row ? judged->row : &none;
    print_message("  %s, program %d, %u steps, seed %llx: %s %.2f, others %u, steps %llu, per "
                  "step %llu (%llu) every %llu (%u) since %llu (%u)\n",
                  growth_habit_name(one->habit), one->program, one->steps,
                  (unsigned long long)one->seed, judged->row ? class_names[row->class] : "-",
                  row->confidence, judged->others,
                  (unsigned long long)fed->result.steps.begun, (unsigned long long)row->per_step,
                  (unsigned long long)truth->per_step, (unsigned long long)row->every, truth->every,
                  (unsigned long long)row->since_step, truth->since);
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
    /* of its size now, which it has filled by more than a half */
    if (one->habit == HABIT_LEAK_DOUBLES)
        return row->replaced && row->bytes >= (uint64_t)one->steps * 192 << 10;
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

TEST(growth_is_told_from_benign_use_of_memory)
{
    struct fed *fed = *state;
    unsigned right = 0, all = 0, false_alarms = 0, steps = 0, figures = 0;
    unsigned by_habit[HABIT_COUNT][2] = {{0}};
    for (unsigned habit = 0; habit < HABIT_COUNT; habit++) {
        for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
            struct growth_case one;
            struct growth_truth truth;
            growth_case_make(seed, (enum growth_habit)habit, &one);
            struct judged judged = run_case(fed, &one, &truth);
            unsigned expected = habit == HABIT_LEAK_SITES ? 3 : 1;
            bool ok = judged.others == 0 &&
                      (truth.grows ? judged.named == expected : judged.named == 0);
            false_alarms += judged.others + (truth.grows ? 0 : judged.named);
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
                  false_alarms, steps, figures);
    assert_int_equal(false_alarms, 0);
    assert_true(right * 100 >= all * 95);
    assert_true(steps * 100 >= all * 95);
    assert_true(figures * 100 >= all * 95);
}

/* One program, judged as a whole. */
static struct judged judge(struct fed *fed, enum growth_program program, enum growth_habit habit,
                           unsigned steps, bool marks)
{
    struct growth_case one;
    struct growth_truth truth;
    growth_case_make(7, habit, &one);
    one.program = program;
    one.steps = steps;
    one.marks = marks;
    one.ending = habit == HABIT_FREED_AT_END ? ENDING_FREES : ENDING_FAILURE;
    return run_case(fed, &one, &truth);
}

TEST(marks_win_over_the_repeating_requests)
{
    struct fed *fed = *state;
    struct judged judged = judge(fed, PROGRAM_TRAIN, HABIT_LEAK, 50, true);
    assert_int_equal(fed->result.steps.source, VS_STEPS_MARKED);
    assert_int_equal(fed->result.steps.done, 50);
    assert_int_equal(judged.named, 1);
    assert_int_equal(judged.row->births, 50);
    assert_int_equal(judged.row->every, 1);
    assert_int_equal(judged.row->bytes, judged.row->per_step * 50);
}

TEST(few_steps_are_weak_evidence)
{
    struct fed *fed = *state;
    struct judged judged = judge(fed, PROGRAM_TRAIN, HABIT_LEAK, 2, false);
    assert_int_equal(judged.named, 0);
    judged = judge(fed, PROGRAM_TRAIN, HABIT_LEAK, 5, false);
    assert_non_null(judged.row);
    double few = judged.row->confidence;
    judged = judge(fed, PROGRAM_TRAIN, HABIT_LEAK, 40, false);
    assert_true(judged.row->confidence > few);
    assert_true(judged.row->confidence > 0.9);
}

/* Whether *count* repetitions of requests at *sites* call sites, each freed at once, are a loop. */
static bool is_loop(uint32_t count, uint32_t sites, uint32_t threads, uint64_t apart_ns)
{
    struct vs_loop_requests requests = {0};
    struct vs_loop loop;
    for (uint32_t i = 0; i < count * sites; i++) {
        const struct vs_loop_request request = {.event = i + 1, .time_ns = i * apart_ns, .size = 4096, .site = i % sites,
                                                .thread = 7 + i / sites % threads};
        vs_loop_add(&requests, &request);
    }
    vs_loop_find(&requests, &loop);
    vs_loop_free(&requests);
    return loop.found;
}

TEST(a_loop_is_of_one_thread_and_more_than_a_list_of_buffers)
{
    assert_true(is_loop(100, 3, 1, 1000));
    assert_false(is_loop(100, 3, 2, 1000));
    assert_true(is_loop(100, 3, 100, 1000)); /* a thread for each repetition */
    assert_true(is_loop(3, 3, 1, 1000));
    assert_false(is_loop(8, 1, 1, 1000)); /* of a graph with eight allocations */
    assert_true(is_loop(8, 1, 1, 200000000));
    assert_true(is_loop(20, 1, 1, 1000));
}

TEST(a_step_has_its_peak_its_growth_and_its_churn)
{
    struct fed *fed = *state;
    struct judged judged = judge(fed, PROGRAM_SIMPLE, HABIT_LEAK, 60, false);
    const struct vs_growth_steps *steps = &fed->result.steps;
    assert_int_equal(steps->source, VS_STEPS_FOUND);
    assert_int_equal(steps->net_bytes, (int64_t)judged.row->per_step);
    assert_true(steps->churn_bytes >= 6 * MIB && steps->churn_bytes <= 30 * MIB);
    assert_true(steps->count > 50);
    for (size_t i = 1; i < steps->count; i++) {
        const struct vs_growth_step *step = &steps->items[i], *before = step - 1;
        assert_true(step->event > before->event && step->time_ns > before->time_ns);
        assert_int_equal(step->begin_bytes, before->end_bytes);
        assert_true(step->peak_bytes >= step->begin_bytes);
    }
}

TEST(a_full_cache_grew_until_a_step)
{
    struct fed *fed = *state;
    struct judged judged = judge(fed, PROGRAM_TRAIN, HABIT_CACHE, 100, false);
    assert_int_equal(judged.row->class, VS_GROWTH_FILLED);
    assert_true(judged.row->until_step_known);
    /* a block in each step until there are 3 to 19 */
    assert_in_range(judged.row->until_step, 2, 20);
    assert_null(vs_growth_of(&fed->result, UINT32_MAX - 1));
}

/* A period of the history has several of these steps. */
TEST(growth_freed_at_the_end_begins_with_its_first_step)
{
    struct fed *fed = *state;
    struct judged judged = judge(fed, PROGRAM_TRAIN, HABIT_FREED_AT_END, 104, true);
    assert_int_equal(judged.row->class, VS_GROWTH_FREED);
    assert_true(judged.row->since_step_known);
    assert_in_range(judged.row->since_step, 0, 1);
}

TEST(all_sites_of_an_account_are_summed)
{
    struct fed *fed = *state;
    struct vs_growth_row sum;
    struct judged judged = judge(fed, PROGRAM_TRAIN, HABIT_LEAK_SITES, 50, false);
    assert_int_equal(judged.named, 3);
    assert_int_equal(vs_growth_sum(&fed->result, 0, &sum), 3);
    uint64_t bytes = 0;
    for (size_t i = 0; i < fed->result.site_count; i++)
        if (vs_growth_is_named(&fed->result.sites[i]))
            bytes += fed->result.sites[i].bytes;
    assert_int_equal(sum.bytes, bytes);
    assert_true(vs_growth_is_named(&fed->result.accounts[0]));
    judge(fed, PROGRAM_TRAIN, HABIT_NOTHING, 50, false);
    assert_int_equal(vs_growth_sum(&fed->result, 0, &sum), 0);
    assert_int_equal(sum.bytes, 0);
}

/* Asks for a result at every so many events. */
struct asked {
    struct fed *fed;
    unsigned events;
};

static bool feed_and_ask(void *arg, const struct vs_event *event)
{
    struct asked *asked = arg;
    struct vs_growth_result result;
    if (!feed(asked->fed, event))
        return false;
    if (++asked->events % 97 == 0)
        vs_growth_finish(asked->fed->tracker, &result);
    return true;
}

TEST(a_result_on_the_way_does_not_change_the_last)
{
    struct fed *fed = *state;
    for (unsigned habit = 0; habit < HABIT_COUNT; habit++) {
        struct growth_case one;
        struct growth_truth truth;
        growth_case_make(3, (enum growth_habit)habit, &one);
        struct judged once = run_case(fed, &one, &truth);
        struct vs_growth_row row = once.row ? *once.row : (struct vs_growth_row){.site = 0};
        uint64_t begun = fed->result.steps.begun;
        struct asked asked = {fed, 0};
        feed_restart(fed);
        assert_true(growth_case_run(&one, fed->step_name, feed_and_ask, &asked, &truth));
        vs_growth_finish(fed->tracker, &fed->result);
        struct judged often = look(fed);
        assert_int_equal(fed->result.steps.begun, begun);
        assert_int_equal(often.named, once.named);
        assert_int_equal(often.row != NULL, once.row != NULL);
        if (!often.row)
            continue;
        assert_int_equal(often.row->class, row.class);
        assert_int_equal(often.row->bytes, row.bytes);
        assert_int_equal(often.row->per_step, row.per_step);
    }
}

static uint64_t random_state = 1;

static uint64_t below(uint64_t bound)
{
    return vs_random(&random_state) % bound;
}

/* Events in any order, with frees of unknown addresses, lost contexts and unbalanced ranges. */
TEST(any_events_are_followed)
{
    struct fed *fed = *state;
    feed_restart(fed);
    for (unsigned i = 0; i < 20000; i++) {
        struct vs_event event = {.kind = VS_EVENT_free, .tid = 1, .time_ns = i,
                                 .free = {.addr = 4096 * (1 + below(300))}};
        uint64_t kind = below(20);
        if (kind < 9)
            event = (struct vs_event){
                .kind = VS_EVENT_alloc, .tid = 1, .time_ns = i,
                .alloc = {.addr = 4096 * (1 + below(300)), .requested = below(MIB),
                          .size = below(MIB), .family = below(VS_FAMILY_COUNT),
                          .device = below(3), .context = 1 + below(2), .stack = below(12)}};
        else if (kind == 9 && below(50) == 0)
            event = (struct vs_event){.kind = VS_EVENT_context, .time_ns = i,
                                      .context = {.context = 1 + below(2), .device = below(3)}};
        else if (kind == 10)
            event = (struct vs_event){.kind = VS_EVENT_alloc_failed, .time_ns = i,
                                      .alloc_failed = {.device = below(3)}};
        assert_true(feed(fed, &event));
        if (i % 512 == 0)
            vs_growth_finish(fed->tracker, &fed->result);
        for (unsigned s = 0; s < fed->replay->sites.count && i % 512 == 0; s++)
            assert_int_equal(fed->tracker->floors.rows[s].live,
                             fed->replay->sites.items[s].live_bytes);
    }
    vs_growth_finish(fed->tracker, &fed->result);
    assert_true(fed->result.site_count <= fed->replay->sites.count);
}

/* *count* requests of a loop of 20 sizes, each freed at once. */
static void loop_on(struct fed *fed, unsigned count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct vs_event alloc = EVENT(alloc, .addr = 4096 * (1 + i % 20), .requested = 512 * (1 + i % 20),
                                      .size = 512 * (1 + i % 20), .context = 1, .stack = 1 + i % 20);
        struct vs_event freed = EVENT(free, .addr = alloc.alloc.addr);
        assert_true(feed(fed, &alloc) && feed(fed, &freed));
    }
    vs_growth_finish(fed->tracker, &fed->result);
}

TEST(after_a_mark_that_is_withdrawn_steps_are_found_again)
{
    struct fed *fed = *state;
    struct vs_event push = EVENT(range_push, .name = fed->step_name);
    struct vs_event withdraw = EVENT(mark, .name = fed->no_step, .domain = fed->automatic);
    feed_restart(fed);
    loop_on(fed, 1100);
    assert_true(fed->result.steps.begun > 0);
    assert_true(feed(fed, &push) && feed(fed, &withdraw));
    loop_on(fed, 1000);
    assert_true(fed->result.steps.begun > 0);
}

#define HISTORY 5000

/* Compares the floors with the lowest of every value that a row had, window by window. */
TEST(floors_are_the_lowest_of_each_window)
{
    struct vs_floors floors = {0};
    static uint64_t values[HISTORY * 2], at[HISTORY * 2]; /* after each change; its request */
    uint64_t live = 0, out[VS_FLOOR_WINDOWS];
    size_t count = 0;
    for (unsigned i = 0; i < HISTORY; i++) {
        struct vs_floor_row *row;
        if (vs_floors_due(&floors))
            vs_floors_next(&floors, i, i, 0, NULL, 0);
        floors.requests++;
        row = vs_floors_row(&floors, 0);
        for (int free = 0; free < 2; free++) {
            if (below(3) == 0)
                continue; /* another call site's */
            uint64_t by = below(100);
            live = !free ? live + by : live > by ? live - by : 0;
            vs_floors_change(&floors, row, live, !free);
            values[count] = live;
            at[count++] = i;
        }
        if (i % 377 && i + 1 < HISTORY)
            continue;
        uint64_t held = vs_floors_read(&floors, row, out), before = 0;
        size_t next = 0;
        for (uint32_t w = 0; w <= floors.window; w++) {
            uint64_t lowest = before;
            for (; next < count && at[next] >> floors.shift == w; next++) {
                before = values[next];
                bool last_free = next + 1 == count && at[next] == i && held != before;
                if (before < lowest && !last_free) /* a free after the last request */
                    lowest = before;
            }
            assert_int_equal(out[w], lowest);
        }
    }
    vs_floors_free(&floors);
}

/* Each step allocates and frees two blocks and keeps a small one for ten steps. */
TEST(memory_does_not_grow_with_the_trace)
{
    struct fed *fed = *state;
    const uint64_t steps = 150000;
    feed_restart(fed);
    for (uint64_t step = 0; step < steps; step++) {
        for (uint64_t part = 0; part < 3; part++) {
            uint64_t addr = 4096 * (1 + part + (part == 2 ? step % 10 : 0));
            struct vs_event event = {
                .kind = VS_EVENT_alloc, .tid = 1, .time_ns = 10 * step + part,
                .alloc = {.addr = addr, .requested = MIB, .size = MIB, .context = 1,
                          .stack = 1 + part}};
            assert_true(feed(fed, &event));
        }
        for (uint64_t part = 0; part < 2; part++) {
            struct vs_event event = {.kind = VS_EVENT_free, .tid = 1,
                                     .time_ns = 10 * step + 5 + part,
                                     .free = {.addr = 4096 * (1 + part)}};
            assert_true(feed(fed, &event));
        }
    }
    vs_growth_finish(fed->tracker, &fed->result);
    const struct vs_growth_tracker *tracker = fed->tracker;
    assert_int_equal(tracker->requests.count, VS_LOOP_REQUESTS_MAX);
    assert_true(tracker->requests.capacity <= VS_LOOP_REQUESTS_MAX);
    assert_true(tracker->found.capacity <= VS_STEP_ROWS_MAX);
    assert_true(tracker->floors.series_count <= fed->replay->sites.count);
    assert_int_equal(fed->result.steps.source, VS_STEPS_FOUND);
    assert_in_range(fed->result.steps.begun, steps - 1, steps + 1);
    assert_int_equal(fed->result.steps.stride, 4);
    struct judged judged = look(fed);
    assert_int_equal(judged.named + judged.others, 0);
}

static int open_feed(void **state)
{
    static struct fed fed;
    struct vs_event event;
    vs_builder_open(&fed.builder, "observe");
    fed.step_name = vs_builder_string(&fed.builder, "step");
    vs_builder_push(&fed.builder, "step");
    fed.no_step = vs_builder_string(&fed.builder, "no step");
    fed.automatic = vs_builder_string(&fed.builder, "vramscope.automatic");
    vs_builder_close(&fed.builder, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(fed.builder.path, &fed.reader, NULL), VS_OK);
    while (vs_reader_next(fed.reader, &event) == VS_OK)
        continue;
    fed.replay = vs_replay_open(fed.reader);
    vs_growth_open(fed.replay, &fed.tracker);
    *state = &fed;
    return 0;
}

static int close_feed(void **state)
{
    struct fed *fed = *state;
    vs_growth_close(fed->tracker);
    vs_replay_close(fed->replay);
    vs_reader_close(fed->reader);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3) {
        first_seed = strtoull(argv[1], NULL, 10);
        seeds = strtoull(argv[2], NULL, 10);
    }
    return vs_run_tests(open_feed, close_feed);
}
