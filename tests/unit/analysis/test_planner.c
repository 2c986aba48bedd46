/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans: no two live blocks overlap, the height is as reported, close to the bound, and repetition
 * is found. plan_log_examine checks them independently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/plan/interval_pack.h"
#include "analysis/state/period.h"
#include "support/plan_log.h"
#include "support/workload_build.h"
#include "support/workloads.h"

/* --- helpers --- */

static void check_plan(const struct request_log *log, const struct plan_log *plan)
{
    struct plan_log_check check;
    plan_log_examine(log, plan, &check);
    assert_int_equal(check.overlaps, 0);
    assert_int_equal(check.outside, 0);
    assert_int_equal(plan->summary.live_bytes, request_log_peak(log));
    for (uint32_t i = 0; i < plan->summary.stream_count; i++) {
        assert_true(check.peak[i] <= plan->summary.streams[i].peak_bytes);
        if (!plan->plan.streams[i].period)
            assert_int_equal(check.peak[i], plan->summary.streams[i].peak_bytes);
    }
}

/* *log* is planned within *parts* in 10,000 of its live memory, in whole pages. */
static void plan_within(const struct request_log *log, uint64_t parts)
{
    struct plan_log plan;
    assert_int_equal(plan_log_make(log, false, &plan), VS_OK);
    check_plan(log, &plan);
    uint64_t bound = request_log_peak(log);
    assert_true(plan.summary.planned_bytes >= bound);
    assert_in_range((plan.summary.planned_bytes - bound) * 10000 / bound, 0, parts);
    plan_log_free(&plan);
}

/* A loop: parameters, then *steps* of a few blocks, some of which live across the steps. */
static void loop(struct request_log *log, unsigned steps, unsigned warm_up)
{
    struct workload w = {.log = log, .random = 7};
    struct block_list parameters = {0}, saved = {0};
    uint32_t carried = UINT32_MAX;
    memset(log, 0, sizeof *log);
    for (unsigned i = 0; i < 20; i++)
        keep(&w, &parameters, 1 * MIB + i * 4096);
    for (unsigned i = 0; i < warm_up; i++)
        give(&w, take(&w, 3 * MIB + i * 512));
    for (unsigned step = 0; step < steps; step++) {
        for (unsigned i = 0; i < 30; i++) {
            keep(&w, &saved, (i % 5 + 1) * MIB + i * 512);
            give(&w, take(&w, 2 * MIB + i % 3 * 700));
        }
        if (carried != UINT32_MAX)
            give(&w, carried); /* the loss of the previous step */
        carried = take(&w, 5 * MIB);
        give_last(&w, &saved, 30);
    }
    list_free(&parameters);
    list_free(&saved);
}

/* --- packing --- */

static enum vs_err pack(struct vs_interval *blocks, size_t count, uint32_t bend,
                        struct vs_packing *out)
{
    uint64_t budget = VS_INTERVAL_VISITS_MAX;
    return vs_interval_pack(blocks, count, bend, &budget, out);
}

static void blocks_that_are_never_alive_together_share_memory(void **state)
{
    struct vs_interval blocks[] = {{.size = 4, .death = 1}, {.size = 4, .death = 3},
                                   {.size = 2, .death = 3}, {.size = 6, .death = 4}};
    struct vs_packing packing;
    (void)state;
    assert_int_equal(pack(blocks, 4, 0, &packing), VS_OK);
    assert_int_equal(packing.bound, 6);
    assert_int_equal(packing.peak, 6);
    assert_int_equal(blocks[0].offset, 0);
    assert_true(blocks[1].offset + 4 <= blocks[2].offset || blocks[2].offset + 2 <= blocks[1].offset);
}

static void a_block_over_the_bend_keeps_its_place_at_the_start(void **state)
{
    /* 0: prologue; 1..3 repeat; 3 lives until 2 of the next repetition */
    struct vs_interval blocks[] = {{.size = 1, .death = 4}, {.size = 8, .death = 2},
                                   {.size = 8, .death = 3}, {.size = 8, .death = 4, .again = 2}};
    struct vs_packing packing;
    (void)state;
    assert_int_equal(pack(blocks, 4, 1, &packing), VS_OK);
    assert_int_equal(packing.bound, 17);
    assert_int_equal(packing.peak, 17);
    assert_int_not_equal(blocks[1].offset, blocks[3].offset);
    assert_int_equal(blocks[2].offset, blocks[1].offset);
}

static void blocks_without_size_are_left_out(void **state)
{
    struct vs_interval blocks[] = {{.size = 0, .death = 2}, {.size = 3, .death = 2}};
    struct vs_packing packing;
    (void)state;
    assert_int_equal(pack(blocks, 2, 0, &packing), VS_OK);
    assert_int_equal(blocks[0].offset, VS_INTERVAL_UNPLACED);
    assert_int_equal(blocks[1].offset, 0);
    assert_int_equal(pack(NULL, 0, 0, &packing), VS_OK);
    assert_int_equal(packing.peak, 0);
}

/* One order looks at each of the 1000 blocks that are in use together once for each other one. */
static void a_placement_beyond_its_budget_places_nothing(void **state)
{
    static struct vs_interval blocks[1000];
    struct vs_packing packing;
    uint64_t budget = 100000;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        blocks[i] = (struct vs_interval){.size = 1 + i % 7, .death = 1000 - i % 3};
    assert_int_equal(vs_interval_pack(blocks, 1000, 0, &budget, &packing), VS_OK);
    assert_true(packing.too_long);
    assert_int_equal(blocks[0].offset, VS_INTERVAL_UNPLACED);
    assert_int_equal(budget, 100000);
    assert_int_equal(pack(blocks, 1000, 0, &packing), VS_OK);
    assert_true(!packing.too_long && blocks[0].offset != VS_INTERVAL_UNPLACED);
}

static bool overlap(const struct vs_interval *blocks, uint32_t a, uint32_t b, uint32_t bend)
{
    const struct vs_interval *x = &blocks[a], *y = &blocks[b];
    bool together = (a < y->death && b < x->death) || (x->again && y->again) ||
                    (x->again && b < x->again && y->death > bend) ||
                    (y->again && a < y->again && x->death > bend);
    return together && x->offset < y->offset + y->size && y->offset < x->offset + x->size;
}

static void random_blocks_never_overlap(void **state)
{
    struct workload w = {.random = 11};
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct vs_interval blocks[160];
        struct vs_packing packing;
        uint32_t count = 2 + (uint32_t)random_below(&w, 158);
        uint32_t bend = round % 2 ? (uint32_t)random_below(&w, count - 1) + 1 : 0;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t life = 1 + random_below(&w, random_below(&w, 4) ? 12 : count), end = i + life;
            bool over = bend && i >= bend && end > count;
            if (over && end - (count - bend) > i)
                end = i + count - bend; /* never longer than a period */
            blocks[i] = (struct vs_interval){
                .size = (uint32_t)random_below(&w, 100),
                .death = end > count ? count : (uint32_t)end,
                .again = over && end > count ? (uint32_t)(end - (count - bend)) : 0};
        }
        assert_int_equal(pack(blocks, count, bend, &packing), VS_OK);
        uint64_t peak = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (!blocks[i].size)
                continue;
            assert_int_not_equal(blocks[i].offset, VS_INTERVAL_UNPLACED);
            uint64_t end = blocks[i].offset + blocks[i].size;
            peak = end > peak ? end : peak;
            for (uint32_t k = 0; k < i; k++)
                assert_false(blocks[k].size && overlap(blocks, i, k, bend));
        }
        assert_int_equal(peak, packing.peak);
        assert_true(packing.bound <= packing.peak);
    }
}

/* --- repetition --- */

static void a_loop_is_found_behind_its_prologue(void **state)
{
    uint32_t sizes[1000];
    struct vs_period period;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        sizes[i] = i < 130 ? 10000 + i : (i - 130) % 70 / 2; /* pairs: 35 would not match */
    assert_int_equal(vs_period_find(sizes, 1000, &period), VS_OK);
    assert_int_equal(period.prologue, 130);
    assert_int_equal(period.length, 70);
    assert_int_equal(period.repeats, 12);
}

static void layers_in_a_step_are_not_taken_for_the_step(void **state)
{
    uint32_t sizes[2400];
    struct vs_period period;
    (void)state;
    for (uint32_t i = 0; i < 2400; i++) /* steps of 240: ten layers of 20, then 40 others */
        sizes[i] = i % 240 < 200 ? i % 20 : 1000 + i % 240;
    assert_int_equal(vs_period_find(sizes, 2400, &period), VS_OK);
    assert_int_equal(period.length, 240);
    assert_int_equal(period.repeats, 10);
}

static void what_does_not_repeat_has_no_period(void **state)
{
    uint32_t sizes[500];
    struct vs_period period;
    (void)state;
    for (uint32_t i = 0; i < 500; i++)
        sizes[i] = i;
    assert_int_equal(vs_period_find(sizes, 500, &period), VS_OK);
    assert_int_equal(period.length, 0);
    assert_int_equal(vs_period_find(sizes, 0, &period), VS_OK);
    assert_int_equal(period.length, 0);
}

/* --- plans --- */

static void a_loop_is_planned_once_and_serves_any_number_of_steps(void **state)
{
    struct request_log log, longer;
    struct plan_log plan;
    struct plan_log_check check;
    (void)state;
    loop(&log, 12, 9);
    loop(&longer, 80, 9);
    assert_int_equal(plan_log_make(&log, false, &plan), VS_OK);
    assert_int_equal(plan.summary.streams[0].period, 61);
    assert_true(plan.summary.streams[0].prologue <= 29 + 61);
    check_plan(&log, &plan);
    plan_log_examine(&longer, &plan, &check);
    assert_int_equal(check.overlaps, 0);
    assert_int_equal(check.unplaced, 0);
    assert_int_equal(check.peak[0], plan.summary.streams[0].peak_bytes);
    plan_log_free(&plan);
    request_log_clear(&log);
    request_log_clear(&longer);
}

/* Steps that keep a block each repeat exactly, but the plan of one step cannot hold the peak. The
 * command once said that nothing repeats, although the report counted the steps. */
static void a_stream_planned_as_one_sequence_says_why(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct request_log log = {0};
        struct workload w = {.log = &log, .random = 7};
        struct block_list kept = {0};
        struct plan_log plan;
        for (unsigned step = 0; step < 20; step++) {
            for (unsigned i = 0; i < 30; i++) /* of kind 1, each step has other sizes */
                give(&w, take(&w, (i % 7 + 1) * MIB + (kind == 1 ? step * 4096 : 0)));
            if (kind == 0)
                keep(&w, &kept, 16 * MIB);
        }
        assert_int_equal(plan_log_make(&log, kind == 2, &plan), VS_OK);
        const struct vs_plan_summary_stream *s = &plan.summary.streams[0];
        assert_int_equal(s->period, 0);
        assert_int_equal(s->why, kind == 0   ? VS_PLAN_PEAK_OUTSIDE
                                 : kind == 1 ? VS_PLAN_NO_PERIOD : VS_PLAN_WHOLE);
        assert_int_equal(s->found_period, kind == 0 ? 31 : 0);
        assert_int_equal(s->found_repeats, kind == 0 ? 20 : 0);
        plan_log_free(&plan);
        list_free(&kept);
        request_log_clear(&log);
    }
}

static void generated_programs_are_planned_close_to_the_bound(void **state)
{
    static const struct {
        const char *name;
        uint64_t parts; /* of 10,000 above the bound */
    } programs[] = {{"varlen", 10}, {"fragmentation", 50}};
    struct request_log log;
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        assert_true(workload_make(programs[i].name, 1, &log));
        plan_within(&log, programs[i].parts);
        request_log_clear(&log);
    }
}

static void each_stream_is_planned_close_to_its_own_bound(void **state)
{
    struct request_log log;
    struct plan_log plan;
    (void)state;
    assert_true(workload_make("streams", 1, &log));
    assert_int_equal(plan_log_make(&log, false, &plan), VS_OK);
    assert_int_equal(plan.summary.stream_count, 2);
    check_plan(&log, &plan);
    for (int i = 0; i < 2; i++)
        assert_true(plan.summary.streams[i].peak_bytes * 1000 <=
                    plan.summary.streams[i].bound_bytes * 1005);
    plan_log_free(&plan);
    request_log_clear(&log);
}

static void streams_have_memory_of_their_own(void **state)
{
    struct request_log log = {0};
    struct plan_log plan;
    (void)state;
    for (uint64_t i = 0; i < 40; i++) /* a block of each stream, occasionally */
        request_log_free_block(&log, request_log_alloc(&log, 4 * MIB, i % 2 * 9));
    for (uint64_t i = 0; i < 2; i++)
        request_log_alloc(&log, 4 * MIB, i * 9);
    assert_int_equal(plan_log_make(&log, false, &plan), VS_OK);
    assert_int_equal(plan.summary.planned_bytes, 8 * MIB);
    check_plan(&log, &plan);
    plan_log_free(&plan);
    request_log_clear(&log);
}

static void the_same_requests_give_the_same_plan(void **state)
{
    struct request_log log;
    struct plan_log a, b;
    (void)state;
    loop(&log, 9, 3);
    assert_int_equal(plan_log_make(&log, false, &a), VS_OK);
    assert_int_equal(plan_log_make(&log, false, &b), VS_OK);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    plan_log_free(&a);
    plan_log_free(&b);
    request_log_clear(&log);
}

static void memory_shared_with_another_stream_is_kept_until_its_work_is_done(void **state)
{
    struct request_log log = {0};
    struct plan_log plan;
    (void)state;
    uint32_t a = request_log_alloc(&log, 4 * MIB, 0);
    request_log_record(&log, a, 7);
    request_log_free_block(&log, a);
    request_log_free_block(&log, request_log_alloc(&log, 4 * MIB, 0)); /* not in a's place */
    assert_int_equal(plan_log_make(&log, true, &plan), VS_OK);
    assert_int_equal(plan.summary.streams[0].peak_bytes, 8 * MIB);
    plan_log_free(&plan);
    request_log_clear(&log);
}

static void frees_of_unknown_blocks_and_names_in_use_are_refused(void **state)
{
    struct vs_planner *planner;
    (void)state;
    assert_int_equal(vs_planner_open(&planner), VS_OK);
    assert_int_equal(vs_planner_alloc(planner, 1, 0, 0), VS_OK);
    assert_int_equal(vs_planner_free(planner, 1), VS_ERR_NOT_FOUND);
    assert_int_equal(vs_planner_alloc(planner, 1, 100, 0), VS_OK);
    assert_int_equal(vs_planner_alloc(planner, 1, 100, 0), VS_ERR_STATE);
    assert_int_equal(vs_planner_record(planner, 2), VS_ERR_NOT_FOUND);
    assert_int_equal(vs_planner_free(planner, 1), VS_OK);
    assert_int_equal(vs_planner_free(planner, 1), VS_ERR_NOT_FOUND);
    assert_int_equal(vs_planner_alloc(planner, 2, UINT64_C(1) << 48, 0), VS_ERR_LIMIT);
    vs_planner_close(planner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_are_never_alive_together_share_memory),
        cmocka_unit_test(a_block_over_the_bend_keeps_its_place_at_the_start),
        cmocka_unit_test(blocks_without_size_are_left_out),
        cmocka_unit_test(a_placement_beyond_its_budget_places_nothing),
        cmocka_unit_test(random_blocks_never_overlap),
        cmocka_unit_test(a_loop_is_found_behind_its_prologue),
        cmocka_unit_test(layers_in_a_step_are_not_taken_for_the_step),
        cmocka_unit_test(what_does_not_repeat_has_no_period),
        cmocka_unit_test(a_loop_is_planned_once_and_serves_any_number_of_steps),
        cmocka_unit_test(a_stream_planned_as_one_sequence_says_why),
        cmocka_unit_test(generated_programs_are_planned_close_to_the_bound),
        cmocka_unit_test(each_stream_is_planned_close_to_its_own_bound),
        cmocka_unit_test(streams_have_memory_of_their_own),
        cmocka_unit_test(the_same_requests_give_the_same_plan),
        cmocka_unit_test(memory_shared_with_another_stream_is_kept_until_its_work_is_done),
        cmocka_unit_test(frees_of_unknown_blocks_and_names_in_use_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
