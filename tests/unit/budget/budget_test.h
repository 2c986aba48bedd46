/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that is measured and judged by a budget, for the tests of budgets. */
#ifndef BUDGET_TEST_H
#define BUDGET_TEST_H

#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/budget/budget_verdict.h"
#include "analysis/budget/phase_peaks.h"
#include "analysis/report/report.h"
#include "support/trace_text.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct bench {
    struct vs_builder b;
    struct vs_measured run;
    struct vs_measured *runs[1];
    struct vs_budget budget;
    struct vs_budget_verdict verdict;
};

static struct bench *opened[8];
static size_t opened_count;
static struct vs_baseline *baseline; /* of the test, if it has one */

AFTER(end)
{
    for (; opened_count; opened_count--) {
        struct bench *t = opened[opened_count - 1];
        vs_budget_verdict_free(&t->verdict);
        vs_budget_free(&t->budget);
        vs_measured_free(&t->run);
    }
    vs_baseline_free(baseline);
    baseline = NULL;
    return 0;
}

/* The trace of *text*, which stays open, until the end of the test. */
static inline void begin_trace(struct bench *t, const char *policy, const char *text)
{
    memset(t, 0, sizeof *t);
    assert_true(opened_count < sizeof opened / sizeof *opened);
    opened[opened_count++] = t;
    vs_builder_open(&t->b, policy);
    vs_trace(&t->b, "device 1G Test GPU; %s", text);
}

/* Ends the trace and measures it; *sites_max*: 0 for the usual number. */
static inline void measure_trace(struct bench *t, enum vs_end_reason reason, int status, size_t sites_max)
{
    char why[VS_READER_WHY_MAX];
    struct vs_phase_peaks *peaks = vs_phase_peaks_open();
    const struct vs_observer observer = vs_phase_peaks_observer(peaks);
    struct vs_report_options options = {
        .sites_max = sites_max, .observers = &observer, .observer_count = 1};
    vs_builder_close(&t->b, reason, (uint64_t)status);
    assert_int_equal(vs_reader_open(t->b.path, &t->run.reader, why), VS_OK);
    assert_int_equal(vs_report_build(t->run.reader, "trace.vst", &options, &t->run.report), VS_OK);
    vs_measure(&t->run, peaks);
    vs_phase_peaks_close(peaks);
    t->runs[0] = &t->run;
}

static inline void set_limit(struct vs_budget *budget, const char *key, const char *value,
                             const char *phase, bool test)
{
    struct vs_budget_scope scope = {.phase = phase, .test = test};
    char why[VS_BUDGET_WHY_MAX] = "";
    assert_int_equal(vs_budget_set(budget, vs_budget_key_find(key, strlen(key)), value, &scope, "--key", why),
                     VS_OK);
}

/* Judges the run as the process "prog"; returns the rows. *against*: NULL without a baseline. */
static inline const struct vs_budget_row *judge(struct bench *t, const struct vs_baseline *against)
{
    vs_budget_finish(&t->budget);
    vs_budget_verdict_free(&t->verdict);
    vs_budget_verdict_build(&t->verdict, t->runs, 1, "prog", &t->budget, against);
    return t->verdict.rows;
}

static inline void update_baseline(const struct bench *t)
{
    if (!baseline)
        baseline = vs_baseline_new();
    vs_baseline_update(baseline, "prog", &t->verdict.taken, false);
}

#endif
