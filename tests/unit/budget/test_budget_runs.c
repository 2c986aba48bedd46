/* SPDX-License-Identifier: Apache-2.0
 *
 * Several runs of one program against a budget and a baseline: which value is taken of each quantity,
 * and that none is left out. */
#include "analysis/budget/quantity_sites.h"
#include "unit/budget/budget_test.h"

static struct bench one, two, three; /* runs */
static struct vs_budget budget;
static struct vs_budget_verdict verdict; /* of all runs */
static char why[VS_BUDGET_WHY_MAX];

BEFORE(forget_verdict)
{
    vs_budget_verdict_free(&verdict);
    vs_budget_free(&budget);
    budget = (struct vs_budget){0};
    return 0;
}

static void record(struct bench *run, const char *text)
{
    begin_trace(run, "observe", text);
    measure_trace(run, VS_END_EXIT, 0, 2000);
}

static void limit(const char *key, const char *value, const char *phase)
{
    set_limit(&budget, key, value, phase, false);
}

static void judge_runs(struct vs_measured **runs, size_t count, const struct vs_baseline *against)
{
    vs_budget_finish(&budget);
    vs_budget_verdict_free(&verdict);
    verdict = (struct vs_budget_verdict){0};
    vs_budget_verdict_build(&verdict, runs, count, "prog", &budget, against);
}

/* The baseline of the runs that were judged last. */
static void store(void)
{
    if (!baseline)
        baseline = vs_baseline_new();
    vs_baseline_update(baseline, "prog", &verdict.taken, false);
}

TEST(the_last_of_many_runs_counts)
{
    struct vs_measured *runs[100];
    record(&one, "segment 0 4M; alloc 0 2M");
    record(&two, "segment 0 16M; alloc 0 9M");
    for (size_t i = 0; i < 100; i++)
        runs[i] = i < 99 ? &one.run : &two.run;
    limit("take", "max", NULL);
    limit("max-peak", "5MiB", NULL);
    judge_runs(runs, 100, NULL);
    assert_int_equal(verdict.exceeded, 1);
    assert_int_equal(verdict.rows[0].quantity.value, 9 * MIB);
    assert_int_equal(verdict.rows[0].runs, 100);
    assert_int_equal(verdict.rows[0].lowest, 2 * MIB);
    assert_ptr_equal(verdict.rows[0].run, &two.run);
}

static uint64_t stored(const struct vs_measured *run, enum vs_metric metric)
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
    struct bench *const all[3] = {&one, &two, &three};
    record(&one, "segment 0 12M; alloc 0 9M");
    record(&two, "segment 0 40M; alloc 0 1M");
    record(&three, "segment 0 10M; alloc 0 5M");
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct vs_measured *runs[3];
        for (size_t k = 0; k < 3; k++)
            runs[k] = &all[orders[i][k]]->run;
        forget_verdict(NULL);
        budget.baseline = "base.json";
        limit("take", "median", NULL);
        judge_runs(runs, 3, NULL);
        store();
        assert_int_equal(stored(runs[0], VS_METRIC_ALLOCATED), 5 * MIB);
        assert_int_equal(stored(runs[0], VS_METRIC_RESERVED), 12 * MIB);
        judge_runs(runs, 3, baseline); /* they hold what they wrote */
        assert_true(verdict.count > 0);
        assert_int_equal(verdict.exceeded, 0);
        vs_baseline_free(baseline);
        baseline = NULL;
    }
}

TEST(growth_must_be_known_in_every_run)
{
    struct vs_measured *runs[2] = {&two.run, &one.run};
    char text[100];
    for (int many = 0; many < 2; many++) {
        snprintf(text, sizeof text, "alloc 0 1M; repeat %u { step i+1; pop }",
                 VS_GROWTH_STEPS_MIN - 1 + many);
        record(many ? &two : &one, text);
    }
    limit("take", "median", NULL);
    limit("max-growth-per-step", "0", NULL);
    judge_runs(runs, 2, NULL);
    assert_int_equal(verdict.count, 0);
    assert_non_null(vs_budget_unmatched(&budget, why));
    assert_non_null(strstr(why, "completed steps"));
}

TEST(runs_that_differ_are_noted_without_a_tolerance_too)
{
    struct vs_measured *runs[2] = {&one.run, &two.run};
    record(&one, "segment 0 8M; alloc 0 5M");
    record(&two, "segment 0 16M; alloc 0 9M");
    budget.baseline = "base.json";
    judge_runs(&runs[1], 1, NULL);
    store();
    limit("take", "median", NULL);
    judge_runs(runs, 2, baseline);
    assert_int_equal(verdict.exceeded, 0);
    assert_int_equal(verdict.note_count, 1);
    assert_non_null(strstr(verdict.notes[0], "(allocated from 5.0 MiB to 9.0 MiB, and "));
}

/* The second run has a phase, a device and steps that the first has not. */
TEST(quantities_of_later_runs_are_checked)
{
    struct vs_measured *runs[2] = {&one.run, &two.run};
    record(&one, "segment 0 1M; alloc 0 1M");
    begin_trace(&two, "observe", "");
    vs_builder_device(&two.b, 1, "Second GPU", GIB);
    vs_trace(&two.b, "step 1; push warm up");
    vs_builder_alloc(&two.b, 1, VS_FAMILY_DEVICE, VS_TRACE_ADDRESS, 8 * MIB, 8 * MIB);
    vs_builder_pop(&two.b);
    vs_builder_memcpy(&two.b, 1, 1, VS_COPY_HTOD, 3 * MIB, 10, 10);
    vs_builder_pop(&two.b);
    measure_trace(&two, VS_END_EXIT, 0, 2000);
    limit("take", "median", NULL);
    limit("max-peak", "5MiB", NULL);
    limit("max-peak", "5MiB", "warm up");
    limit("max-transfers", "1MiB/step", NULL);
    judge_runs(runs, 2, NULL);
    assert_null(vs_budget_unmatched(&budget, why));
    assert_int_equal(verdict.exceeded, 3);
    for (size_t i = 0; i < verdict.count; i++)
        assert_true(!verdict.rows[i].exceeded ||
                    (verdict.rows[i].quantity.device == 1 && verdict.rows[i].runs == 1));
}

TEST(an_update_removes_phases_that_are_gone)
{
    struct vs_measured *with = &one.run, *without = &two.run;
    record(&one, "push old phase; alloc 0 1M; pop");
    record(&two, "segment 0 2M; alloc 0 1M");
    budget.baseline = "base.json";
    judge_runs(&with, 1, NULL);
    store();
    judge_runs(&without, 1, baseline);
    assert_int_equal(verdict.note_count, 1);
    assert_string_equal(verdict.notes[0], "phases and tests of the baseline that did not occur: 'old phase'");
    store();
    judge_runs(&without, 1, baseline);
    assert_int_equal(verdict.note_count, 0);
    judge_runs(&with, 1, baseline);
    assert_int_equal(verdict.note_count, 1);
    assert_non_null(strstr(verdict.notes[0], "not in the baseline, and so not compared: 'old phase'; add them with"));
}

/* The middle of mapped memory is released, then its end; the peak of reserved comes after. */
TEST(call_sites_of_segments_released_in_parts_add_up)
{
    record(&one, "grow 0 100M; shrink 40 20M; shrink 80 20M; shrink 0 10M; grow 200 100M");
    set_limit(&one.budget, "max-reserved", "1MiB", NULL, false);
    const struct vs_budget_row *row = judge(&one, NULL);
    assert_int_equal(one.verdict.exceeded, 1);
    assert_int_equal(row->quantity.value, 150 * MIB);
    assert_int_equal(row->sites.total_bytes, 0);
    assert_int_equal(row->unused.total_bytes, 150 * MIB);
}

/* A call that copies, and the record of its copy. */
static void copy_call(struct bench *run, uint64_t number, const char *api)
{
    vs_builder_event(&run->b, EVENT(work_call, .correlation = number,
                                    .api = vs_builder_string(&run->b, api)));
}

static void copy(struct bench *run, uint64_t number, enum vs_copy_kind kind, uint64_t bytes)
{
    vs_builder_event(&run->b, EVENT(memcpy, .copy_kind = kind, .correlation = number,
                                    .bytes = bytes, .start_ns = run->b.now_ns,
                                    .end_ns = run->b.now_ns + 10));
}

/* Each call site copies twice, in two rounds; the calls come before their copies. */
TEST(copies_are_matched_with_many_call_sites)
{
    enum { SITES = 3000 };
    char name[32];
    begin_trace(&one, "observe", "option copy_stacks on");
    for (uint64_t i = 0; i < 2 * SITES; i++) {
        snprintf(name, sizeof name, "cudaMemcpy_%u", (unsigned)(i % SITES));
        copy_call(&one, i + 1, name);
    }
    for (uint64_t i = 0; i < 2 * SITES; i++)
        copy(&one, i + 1, i % 2 ? VS_COPY_HTOD : VS_COPY_DTOH, 1 + i % SITES);
    measure_trace(&one, VS_END_EXIT, 0, 2000);
    const struct vs_report *report = one.run.report;
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
}

static void copies(struct bench *run, uint64_t *number, const char *api, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        copy_call(run, ++*number, api);
        copy(run, *number, VS_COPY_HTOD, 4096);
    }
}

/* "load" copies 7 times and "tune" 3 times before the steps, "batch" once in each step, "extra" *extra* times. */
static void record_copies(struct bench *run, unsigned steps, unsigned extra)
{
    uint64_t number = 0;
    begin_trace(run, "observe", "option copy_stacks on; alloc 0 1M");
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

/* The first row of a limit of 2 copies per step, in a run of *steps*, against a baseline of 10 steps or none;
 * *apis*: of its culprits. */
static const struct vs_budget_row *judge_copies(unsigned steps, unsigned extra, bool with_baseline, char *apis)
{
    end(NULL);
    record_copies(&one, 10, 0);
    judge(&one, NULL);
    update_baseline(&one);
    record_copies(&two, steps, extra);
    set_limit(&two.budget, "max-transfers", "h2d:2 copies/step", NULL, false);
    const struct vs_budget_row *row = judge(&two, with_baseline ? baseline : NULL);
    assert_true(row->exceeded);
    *apis = 0;
    for (size_t i = 0; i < row->culprit_count; i++) {
        strcat(strcat(apis, row->culprits[i].site->api), " ");
        assert_true(row->culprits[i].delta > 0);
    }
    return row;
}

/* The copies before the steps were compared as copies of each step: half as many steps, and they had doubled. */
TEST(copies_before_the_steps_do_not_grow_with_fewer_steps)
{
    char apis[200];
    assert_false(judge_copies(5, 0, true, apis)->compared); /* 3 per step; no line copies more than before */
    assert_true(judge_copies(5, 1, true, apis)->compared);
    assert_string_equal(apis, "extra ");
    assert_true(judge_copies(20, 2, true, apis)->compared);
    assert_string_equal(apis, "extra ");
}

/* Shares of a step are rounded up as a sum, so that of "tune" was 0. */
TEST(lines_without_a_copy_per_step_are_not_listed)
{
    char apis[200];
    assert_true(judge_copies(20, 2, false, apis)->culprit_count < 4);
    assert_true(strstr(apis, "extra ") != NULL);
}
