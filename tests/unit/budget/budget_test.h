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
#include "support/trace_builder.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

struct bench {
    struct vs_builder b;
    struct vs_measured run;
    struct vs_measured *runs[1];
    struct vs_budget budget;
    struct vs_budget_verdict verdict;
};

static inline void begin_trace(struct bench *t, const char *policy, uint64_t device_bytes)
{
    memset(t, 0, sizeof *t);
    vs_builder_open(&t->b, policy);
    vs_builder_device(&t->b, 0, "Test GPU", device_bytes);
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

static inline void end(struct bench *t)
{
    vs_budget_verdict_free(&t->verdict);
    vs_budget_free(&t->budget);
    vs_measured_free(&t->run);
    vs_builder_remove(&t->b);
}

#endif
