/* SPDX-License-Identifier: Apache-2.0
 *
 * Several runs of one program against a budget and a baseline: which value is taken of each quantity,
 * and that none is left out. */
#include "analysis/budget/quantity_sites.h"
#include "unit/budget/budget_test.h"

#define A(n) (0x700000000000 + (uint64_t)(n) * 0x10000000)

/* A run with a peak of *allocated* MiB, in segments of *reserved* MiB. */
static void record(struct bench *run, uint64_t allocated, uint64_t reserved)
{
    begin_trace(run, "observe", GIB);
    vs_builder_segment(&run->b, 0, A(1), reserved * MIB);
    vs_builder_alloc(&run->b, 0, VS_FAMILY_DEVICE, A(1), allocated * MIB, allocated * MIB);
    measure_trace(run, VS_END_EXIT, 0, 2000);
}

static void limit(struct vs_budget *budget, const char *key, const char *value, const char *phase)
{
    struct vs_budget_scope scope = {.phase = phase};
    char why[VS_BUDGET_WHY_MAX] = "";
    assert_int_equal(vs_budget_set(budget, vs_budget_key_find(key, strlen(key)), value, &scope, "--key", why),
                     VS_OK);
    vs_budget_finish(budget);
}

static void judge(struct vs_budget_verdict *verdict, struct vs_measured **runs, size_t count,
                  struct vs_budget *budget, const struct vs_baseline *baseline)
{
    *verdict = (struct vs_budget_verdict){0};
    assert_int_equal(vs_budget_verdict_build(verdict, runs, count, "prog", budget, baseline), VS_OK);
}

TEST(the_last_of_many_runs_counts)
{
    struct bench small, large;
    struct vs_measured *runs[100];
    struct vs_budget budget = {0};
    struct vs_budget_verdict verdict;
    record(&small, 2, 4);
    record(&large, 9, 16);
    for (size_t i = 0; i < 100; i++)
        runs[i] = i < 99 ? &small.run : &large.run;
    limit(&budget, "take", "max", NULL);
    limit(&budget, "max-peak", "5MiB", NULL);
    judge(&verdict, runs, 100, &budget, NULL);
    assert_int_equal(verdict.exceeded, 1);
    assert_int_equal(verdict.rows[0].quantity.value, 9 * MIB);
    assert_int_equal(verdict.rows[0].runs, 100);
    assert_int_equal(verdict.rows[0].lowest, 2 * MIB);
    assert_ptr_equal(verdict.rows[0].run, &large.run);
    vs_budget_verdict_free(&verdict);
    vs_budget_free(&budget);
    end(&small);
    end(&large);
}

static uint64_t stored(const struct vs_baseline *baseline, const struct vs_measured *run, enum vs_metric metric)
{
    uint64_t value = 0;
    for (size_t i = 0; i < run->count; i++)
        if (run->items[i].metric == metric && !run->items[i].phase)
            assert_true(vs_baseline_value(baseline, "prog", &run->items[i], &value));
    return value;
}

/* In every order of the runs; the run with the median of one quantity has not that of another. */
TEST(a_baseline_stores_what_is_taken_of_each_quantity)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    struct bench all[3];
    record(&all[0], 9, 12);
    record(&all[1], 1, 40);
    record(&all[2], 5, 10);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct vs_measured *runs[3];
        struct vs_budget budget = {.baseline = "base.json"};
        struct vs_budget_verdict verdict;
        struct vs_baseline *baseline = vs_baseline_new();
        for (size_t k = 0; k < 3; k++)
            runs[k] = &all[orders[i][k]].run;
        limit(&budget, "take", "median", NULL);
        judge(&verdict, runs, 3, &budget, NULL);
        assert_int_equal(vs_baseline_update(baseline, "prog", &verdict.taken, false), VS_OK);
        assert_int_equal(stored(baseline, runs[0], VS_METRIC_ALLOCATED), 5 * MIB);
        assert_int_equal(stored(baseline, runs[0], VS_METRIC_RESERVED), 12 * MIB);
        vs_budget_verdict_free(&verdict);
        judge(&verdict, runs, 3, &budget, baseline); /* they hold what they wrote */
        assert_true(verdict.count > 0);
        assert_int_equal(verdict.exceeded, 0);
        vs_budget_verdict_free(&verdict);
        vs_baseline_free(baseline);
        vs_budget_free(&budget);
    }
    for (size_t i = 0; i < 3; i++)
        end(&all[i]);
}

static void record_steps(struct bench *run, unsigned steps)
{
    begin_trace(run, "observe", GIB);
    vs_builder_alloc(&run->b, 0, VS_FAMILY_DEVICE, A(1), MIB, MIB);
    for (unsigned step = 1; step <= steps; step++) {
        vs_builder_step(&run->b, step);
        vs_builder_pop(&run->b);
    }
    measure_trace(run, VS_END_EXIT, 0, 2000);
}

TEST(growth_must_be_known_in_every_run)
{
    struct bench few, many;
    struct vs_measured *runs[2] = {&many.run, &few.run};
    struct vs_budget budget = {0};
    struct vs_budget_verdict verdict;
    char why[VS_BUDGET_WHY_MAX] = "";
    record_steps(&few, VS_GROWTH_STEPS_MIN - 1);
    record_steps(&many, VS_GROWTH_STEPS_MIN);
    limit(&budget, "take", "median", NULL);
    limit(&budget, "max-growth-per-step", "0", NULL);
    judge(&verdict, runs, 2, &budget, NULL);
    assert_int_equal(verdict.count, 0);
    assert_non_null(vs_budget_unmatched(&budget, why));
    assert_non_null(strstr(why, "completed steps"));
    vs_budget_verdict_free(&verdict);
    vs_budget_free(&budget);
    end(&few);
    end(&many);
}

TEST(runs_that_differ_are_noted_without_a_tolerance_too)
{
    struct bench all[2];
    struct vs_measured *runs[2] = {&all[0].run, &all[1].run};
    struct vs_budget budget = {.baseline = "base.json"};
    struct vs_budget_verdict verdict;
    struct vs_baseline *baseline = vs_baseline_new();
    record(&all[0], 5, 8);
    record(&all[1], 9, 16);
    judge(&verdict, &runs[1], 1, &budget, NULL);
    assert_int_equal(vs_baseline_update(baseline, "prog", &verdict.taken, false), VS_OK);
    vs_budget_verdict_free(&verdict);
    limit(&budget, "take", "median", NULL);
    judge(&verdict, runs, 2, &budget, baseline);
    assert_int_equal(verdict.exceeded, 0);
    assert_int_equal(verdict.note_count, 1);
    assert_non_null(strstr(verdict.notes[0], "(allocated from 5.0 MiB to 9.0 MiB, and "));
    vs_budget_verdict_free(&verdict);
    vs_baseline_free(baseline);
    vs_budget_free(&budget);
    for (size_t i = 0; i < 2; i++)
        end(&all[i]);
}

/* The second run has a phase, a device and steps that the first has not. */
TEST(quantities_of_later_runs_are_checked)
{
    struct bench one, two;
    struct vs_measured *runs[2] = {&one.run, &two.run};
    struct vs_budget budget = {0};
    struct vs_budget_verdict verdict;
    char why[VS_BUDGET_WHY_MAX];
    record(&one, 1, 1);
    begin_trace(&two, "observe", GIB);
    vs_builder_device(&two.b, 1, "Second GPU", GIB);
    vs_builder_step(&two.b, 1);
    vs_builder_push(&two.b, "warm up");
    vs_builder_alloc(&two.b, 1, VS_FAMILY_DEVICE, A(2), 8 * MIB, 8 * MIB);
    vs_builder_pop(&two.b);
    vs_builder_memcpy(&two.b, 1, 1, VS_COPY_HTOD, 3 * MIB, 10, 10);
    vs_builder_pop(&two.b);
    measure_trace(&two, VS_END_EXIT, 0, 2000);
    limit(&budget, "take", "median", NULL);
    limit(&budget, "max-peak", "5MiB", NULL);
    limit(&budget, "max-peak", "5MiB", "warm up");
    limit(&budget, "max-transfers", "1MiB/step", NULL);
    judge(&verdict, runs, 2, &budget, NULL);
    assert_null(vs_budget_unmatched(&budget, why));
    assert_int_equal(verdict.exceeded, 3);
    for (size_t i = 0; i < verdict.count; i++)
        assert_true(!verdict.rows[i].exceeded ||
                    (verdict.rows[i].quantity.device == 1 && verdict.rows[i].runs == 1));
    vs_budget_verdict_free(&verdict);
    vs_budget_free(&budget);
    end(&one);
    end(&two);
}

TEST(an_update_removes_phases_that_are_gone)
{
    struct bench with, without;
    struct vs_budget budget = {.baseline = "base.json"};
    struct vs_budget_verdict verdict;
    struct vs_baseline *baseline = vs_baseline_new();
    begin_trace(&with, "observe", GIB);
    vs_builder_push(&with.b, "old phase");
    vs_builder_alloc(&with.b, 0, VS_FAMILY_DEVICE, A(1), MIB, MIB);
    vs_builder_pop(&with.b);
    measure_trace(&with, VS_END_EXIT, 0, 2000);
    record(&without, 1, 2);
    struct vs_measured *first[] = {&with.run}, *then[] = {&without.run};
    judge(&verdict, first, 1, &budget, NULL);
    assert_int_equal(vs_baseline_update(baseline, "prog", &verdict.taken, false), VS_OK);
    vs_budget_verdict_free(&verdict);
    judge(&verdict, then, 1, &budget, NULL);
    const char *absent[2];
    size_t count;
    vs_baseline_absent(baseline, "prog", &verdict.taken, absent, 2, &count);
    assert_int_equal(count, 1);
    assert_string_equal(absent[0], "old phase");
    assert_int_equal(vs_baseline_update(baseline, "prog", &verdict.taken, false), VS_OK);
    vs_baseline_absent(baseline, "prog", &verdict.taken, absent, 2, &count);
    assert_int_equal(count, 0);
    vs_budget_verdict_free(&verdict);
    vs_baseline_free(baseline);
    end(&with);
    end(&without);
}

static void unmap(struct vs_builder *b, uint64_t from, uint64_t to)
{
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_segment_unmap,
        .segment_unmap = {.addr = A(1) + from * MIB, .size = (to - from) * MIB, .device = 0}});
}

static void map(struct vs_builder *b, uint64_t from, uint64_t to)
{
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_segment_map,
        .segment_map = {.addr = A(1) + from * MIB, .size = (to - from) * MIB, .context = 1,
                        .reserved = (to - from) * MIB, .device = 0}});
}

/* The middle of mapped memory is released, then its end; the peak of reserved comes after. */
TEST(call_sites_of_segments_released_in_parts_add_up)
{
    struct bench run;
    struct vs_measured *runs[] = {&run.run};
    struct vs_budget budget = {0};
    struct vs_budget_verdict verdict;
    begin_trace(&run, "observe", GIB);
    map(&run.b, 0, 100);
    unmap(&run.b, 40, 60);
    unmap(&run.b, 80, 100);
    unmap(&run.b, 0, 10);
    map(&run.b, 200, 300);
    measure_trace(&run, VS_END_EXIT, 0, 2000);
    limit(&budget, "max-reserved", "1MiB", NULL);
    judge(&verdict, runs, 1, &budget, NULL);
    assert_int_equal(verdict.exceeded, 1);
    assert_int_equal(verdict.rows[0].quantity.value, 150 * MIB);
    assert_int_equal(verdict.rows[0].sites.total_bytes, 0);
    assert_int_equal(verdict.rows[0].unused.total_bytes, 150 * MIB);
    vs_budget_verdict_free(&verdict);
    vs_budget_free(&budget);
    end(&run);
}

/* Each call site copies twice, in two rounds; the calls come before their copies. */
TEST(copies_are_matched_with_many_call_sites)
{
    enum { SITES = 3000 };
    struct bench run;
    char name[32];
    begin_trace(&run, "observe", GIB);
    vs_builder_event(&run.b, (struct vs_event){
        .kind = VS_EVENT_option,
        .option = {.name = vs_builder_string(&run.b, "copy_stacks"), .value = vs_builder_string(&run.b, "on")}});
    for (uint64_t i = 0; i < 2 * SITES; i++) {
        snprintf(name, sizeof name, "cudaMemcpy_%u", (unsigned)(i % SITES));
        vs_builder_event(&run.b, (struct vs_event){
            .kind = VS_EVENT_copy_call,
            .copy_call = {.correlation = i + 1, .api = vs_builder_string(&run.b, name)}});
    }
    for (uint64_t i = 0; i < 2 * SITES; i++)
        vs_builder_event(&run.b, (struct vs_event){
            .kind = VS_EVENT_memcpy,
            .memcpy = {.device = 0, .copy_kind = i % 2 ? VS_COPY_HTOD : VS_COPY_DTOH, .correlation = i + 1,
                       .bytes = 1 + i % SITES, .start_ns = run.b.now_ns, .end_ns = run.b.now_ns + 10}});
    measure_trace(&run, VS_END_EXIT, 0, 2000);
    const struct vs_report *report = run.run.report;
    assert_true(report->copy_sites_known);
    for (size_t i = 0; i < SITES; i++) { /* SITES is even: both copies of a site go one way */
        const struct vs_report_sites *sites = &report->devices[0].copy_sites[i % 2 ? VS_COPY_DTOH : VS_COPY_HTOD];
        const struct vs_report_site *site = &sites->items[i / 2];
        snprintf(name, sizeof name, "cudaMemcpy_%u", (unsigned)(SITES - 1 - i)); /* most bytes first */
        assert_int_equal(sites->count, SITES / 2);
        assert_string_equal(site->api, name);
        assert_int_equal(site->count, 2);
        assert_int_equal(site->bytes, 2 * (SITES - i));
    }
    end(&run);
}

/* Copies to the device: the call, and its record. */
static void copies(struct bench *run, uint64_t *number, const char *api, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        vs_builder_event(&run->b, (struct vs_event){
            .kind = VS_EVENT_copy_call,
            .copy_call = {.correlation = ++*number, .api = vs_builder_string(&run->b, api)}});
        vs_builder_event(&run->b, (struct vs_event){
            .kind = VS_EVENT_memcpy,
            .memcpy = {.device = 0, .copy_kind = VS_COPY_HTOD, .correlation = *number, .bytes = 4096,
                       .start_ns = run->b.now_ns, .end_ns = run->b.now_ns + 10}});
    }
}

/* "load" copies 7 times and "tune" 3 times before the steps, "batch" once in each step, "extra" *extra* times. */
static void record_copies(struct bench *run, unsigned steps, unsigned extra)
{
    uint64_t number = 0;
    begin_trace(run, "observe", GIB);
    vs_builder_event(&run->b, (struct vs_event){
        .kind = VS_EVENT_option,
        .option = {.name = vs_builder_string(&run->b, "copy_stacks"), .value = vs_builder_string(&run->b, "on")}});
    vs_builder_alloc(&run->b, 0, VS_FAMILY_DEVICE, A(1), MIB, MIB);
    copies(run, &number, "load", 7);
    copies(run, &number, "tune", 3);
    for (unsigned step = 1; step <= steps; step++) {
        vs_builder_step(&run->b, step);
        copies(run, &number, "batch", 1);
        copies(run, &number, "extra", extra);
        vs_builder_pop(&run->b);
    }
    measure_trace(run, VS_END_EXIT, 0, 2000);
}

/* The culprits of a limit of 2 copies per step, in a run of *steps*, against a baseline of 10 steps or none. */
static void judge_copies(unsigned steps, unsigned extra, bool with_baseline, struct vs_budget_row *row, char *apis)
{
    struct bench before, after;
    struct vs_measured *runs[1] = {&before.run};
    struct vs_budget none = {0}, budget = {0};
    struct vs_budget_verdict verdict;
    struct vs_baseline *baseline = vs_baseline_new();
    record_copies(&before, 10, 0);
    judge(&verdict, runs, 1, &none, NULL);
    assert_int_equal(vs_baseline_update(baseline, "prog", &verdict.taken, false), VS_OK);
    vs_budget_verdict_free(&verdict);
    record_copies(&after, steps, extra);
    runs[0] = &after.run;
    limit(&budget, "max-transfers", "h2d:2 copies/step", NULL);
    judge(&verdict, runs, 1, &budget, with_baseline ? baseline : NULL);
    *row = verdict.rows[0];
    assert_true(row->exceeded);
    for (size_t i = 0; i < row->culprit_count; i++) {
        strcat(strcat(apis, row->culprits[i].site->api), " ");
        assert_true(row->culprits[i].delta > 0);
    }
    vs_budget_verdict_free(&verdict);
    vs_baseline_free(baseline);
    vs_budget_free(&budget);
    vs_budget_free(&none);
    end(&before);
    end(&after);
}

/* The copies before the steps were compared as copies of each step: half as many steps, and they had doubled. */
TEST(copies_before_the_steps_do_not_grow_with_fewer_steps)
{
    struct vs_budget_row row;
    char apis[200] = "";
    judge_copies(5, 0, true, &row, apis); /* 3 per step; no line copies more than before */
    assert_false(row.compared);
    *apis = 0;
    judge_copies(5, 1, true, &row, apis);
    assert_true(row.compared);
    assert_string_equal(apis, "extra ");
    *apis = 0;
    judge_copies(20, 2, true, &row, apis);
    assert_true(row.compared);
    assert_string_equal(apis, "extra ");
}

/* Shares of a step are rounded up as a sum, so that of "tune" was 0. */
TEST(lines_without_a_copy_per_step_are_not_listed)
{
    struct vs_budget_row row;
    char apis[200] = "";
    judge_copies(20, 2, false, &row, apis);
    assert_true(strstr(apis, "extra ") != NULL);
    assert_true(row.culprit_count < 4);
}
