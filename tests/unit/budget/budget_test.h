/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that is measured and judged by a budget, for the tests of budgets. */
#ifndef BUDGET_TEST_H
#define BUDGET_TEST_H

#include <stdio.h>
#include <string.h>

#include "analysis/budget/budget_verdict.h"
#include "analysis/budget/phase_peaks.h"
#include "analysis/report/report.h"
#include "support/json_test.h"
#include "support/trace_text.h"
#include "viewer/check/check_output.h"
#include "viewer/check/check_words.h"

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

/* "KEY VALUE [phase NAME | test NAME]; ..." */
static inline void set_limits(struct vs_budget *budget, const char *text)
{
    static char lines[16][200]; /* the budget keeps the names */
    static unsigned next;
    while (*(text += strspn(text, "; "))) {
        char *line = lines[next++ % 16], *value = line, *scope;
        snprintf(line, sizeof lines[0], "%.*s", (int)strcspn(text, ";"), text);
        text += strlen(line);
        const char *key = strsep(&value, " ");
        bool test = (scope = strstr(value, " test ")) != NULL;
        if (scope || (scope = strstr(value, " phase ")) != NULL)
            *scope = 0;
        scope = scope ? scope + strlen(test ? " test " : " phase ") : NULL;
        set_limit(budget, key, value, scope, test);
    }
}

/* Facts (json_expect) of the limits in the JSON that `vramscope check` prints of *t*. Each has also
 * "compared", "moved", and "heading" of its culprits; the document has "unmatched". */
static inline void expect_limits(struct bench *t, const char *facts)
{
    char *text = NULL, why[VS_BUDGET_WHY_MAX] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    vs_check_json(&(struct vs_check_result){.items = &t->verdict, .count = 1}, out);
    fclose(out);
    struct json_object *root = json_tokener_parse(text);
    struct json_object *limits = json_follow(root, "traces/0/limits");
    for (size_t i = 0; i < t->verdict.count; i++) {
        const struct vs_budget_row *row = &t->verdict.rows[i];
        struct json_object *limit = json_object_array_get_idx(limits, i);
        json_object_object_add(limit, "compared", json_object_new_boolean(row->compared));
        json_object_object_add(limit, "moved", json_object_new_boolean(row->moved));
        if (row->culprit_count)
            json_object_object_add(limit, "heading", json_object_new_string(vs_check_heading(row)));
    }
    vs_budget_unmatched(&t->budget, why);
    json_object_object_add(root, "unmatched", json_object_new_string(why));
    json_expect(root, limits, facts);
    json_object_put(root);
    free(text);
}

/* The limits of a run; or, if there is a run before it, its baseline. */
struct budget_case {
    const char *name, *before, *trace, *limits, *facts;
    int status; /* of its exit */
};

static inline void check_row(const struct budget_case *c, const char *policy)
{
    static struct bench before, now;
    if (c->before) {
        begin_trace(&before, policy, c->before);
        measure_trace(&before, VS_END_EXIT, 0, 0);
        judge(&before, NULL);
        update_baseline(&before);
    }
    begin_trace(&now, policy, c->trace);
    measure_trace(&now, VS_END_EXIT, c->status, 0);
    if (c->limits)
        set_limits(&now.budget, c->limits);
    else
        now.budget.baseline = "base.json";
    judge(&now, baseline);
    expect_limits(&now, c->facts);
}

#endif
