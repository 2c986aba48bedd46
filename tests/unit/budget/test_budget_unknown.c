/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantities that a trace does not have are unknown: a limit of them cannot hold, and a baseline does
 * not store them. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/budget/budget_verdict.h"
#include "analysis/budget/phase_moments.h"
#include "analysis/report/report.h"
#include "support/trace_builder.h"

#define MIB ((uint64_t)1 << 20)
#define A(n) (0x700000000000 + (uint64_t)(n) * 0x10000000)

struct unknown_bench {
    struct vs_builder b;
    struct vs_measured run;
    struct vs_measured *runs[1];
    struct vs_budget budget;
    struct vs_budget_verdict verdict;
    char why[VS_BUDGET_WHY_MAX];
};

static void begin(struct unknown_bench *t)
{
    memset(t, 0, sizeof *t);
    vs_builder_open(&t->b, "observe");
    vs_builder_device(&t->b, 0, "Test GPU", 1024 * MIB);
    vs_builder_alloc(&t->b, 0, VS_FAMILY_DEVICE, A(0), MIB, MIB);
}

/* Whether *key* = *value* was compared with something; t->why says why not. */
static bool checked(struct unknown_bench *t, enum vs_end_reason reason, const char *key, const char *value)
{
    static const struct vs_budget_scope whole;
    struct vs_phase_moments *moments = vs_phase_moments_open();
    struct vs_report_options options = {.observe = vs_phase_moments_observe, .context = moments};
    vs_builder_close(&t->b, reason, 0);
    assert_int_equal(vs_reader_open(t->b.path, &t->run.reader, t->why), VS_OK);
    assert_int_equal(vs_report_build(t->run.reader, "trace.vst", &options, &t->run.report), VS_OK);
    assert_int_equal(vs_measure(&t->run, moments), VS_OK);
    vs_phase_moments_close(moments);
    t->runs[0] = &t->run;
    assert_int_equal(vs_budget_set(&t->budget, vs_budget_key_find(key, strlen(key)), value, &whole, "--key",
                                   t->why), VS_OK);
    vs_budget_finish(&t->budget);
    assert_int_equal(vs_budget_verdict_build(&t->verdict, t->runs, 1, t->run.process, &t->budget, NULL), VS_OK);
    return vs_budget_unmatched(&t->budget, t->why) == NULL;
}

static void end(struct unknown_bench *t)
{
    vs_budget_verdict_free(&t->verdict);
    vs_budget_free(&t->budget);
    vs_measured_free(&t->run);
    vs_builder_remove(&t->b);
}

enum lack {
    LACK_NONE, LACK_OFF, LACK_ZERO, LACK_STOPPED, LACK_IMPORTED, LACK_CUPTI, LACK_OTHER_TOOL, LACK_LIMIT, LACK_DROPPED
};

static void leave_out(struct vs_builder *b, enum lack lack)
{
    struct vs_event event = {.kind = VS_EVENT_recording_changed};
    if (lack == LACK_OFF || lack == LACK_ZERO)
        event = (struct vs_event){.kind = VS_EVENT_option, .option = {.name = vs_builder_string(b, "kernels"),
                                                                      .value = vs_builder_string(b, lack == LACK_OFF ? "off" : "0")}};
    else if (lack == LACK_CUPTI || lack == LACK_OTHER_TOOL)
        event = (struct vs_event){.kind = VS_EVENT_note, .note = {
            .severity = 1, .text = vs_builder_string(b, lack == LACK_CUPTI ? VS_NOTE_NO_ACTIVITY ": CUPTI failed"
                                                                          : VS_NOTE_ACTIVITY_LEFT " and more")}};
    else if (lack == LACK_STOPPED)
        event.recording_changed.what = VS_RECORDING_PAUSED;
    else if (lack == LACK_LIMIT)
        event.recording_changed.what = VS_RECORDING_NO_ACTIVITY;
    else if (lack == LACK_DROPPED)
        event = (struct vs_event){.kind = VS_EVENT_dropped,
                                  .dropped = {.what = vs_builder_string(b, "memcpy"), .count = 1}};
    else
        return;
    vs_builder_event(b, event);
}

TEST(copies_that_were_not_recorded_hold_no_limit)
{
    static const struct {
        enum lack lack;
        const char *says;
    } cases[] = {{LACK_OFF, "--kernels=on"}, {LACK_ZERO, "--kernels=on"}, {LACK_STOPPED, "stopped the recording"},
                 {LACK_IMPORTED, "imported"}, {LACK_CUPTI, "CUPTI"}, {LACK_OTHER_TOOL, "CUPTI"},
                 {LACK_LIMIT, "--max-trace-size"}, {LACK_DROPPED, "could not be recorded"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct unknown_bench t;
        begin(&t);
        leave_out(&t.b, cases[i].lack);
        assert_false(checked(&t, cases[i].lack == LACK_IMPORTED ? VS_END_IMPORTED : VS_END_EXIT, "max-transfers",
                             "5 copies"));
        assert_int_equal(t.verdict.count, 0);
        if (!strstr(t.why, "--key cannot be checked: ") || !strstr(t.why, cases[i].says))
            fail_msg("case %zu: %s", i, t.why);
        for (size_t k = 0; k < t.run.count; k++)
            if (t.run.items[k].metric == VS_METRIC_COPIES || t.run.items[k].metric == VS_METRIC_TRANSFERRED)
                assert_true(t.run.items[k].unknown);
        end(&t);
    }
}

TEST(recorded_copies_are_compared)
{
    struct unknown_bench t;
    begin(&t);
    vs_builder_memcpy(&t.b, 0, 0, VS_COPY_HTOD, 100, 10, 10);
    assert_true(checked(&t, VS_END_EXIT, "max-transfers", "0 copies"));
    assert_int_equal(t.verdict.exceeded, 1);
    end(&t);
}

TEST(other_limits_need_no_copies)
{
    struct unknown_bench t;
    begin(&t);
    leave_out(&t.b, LACK_OFF);
    assert_true(checked(&t, VS_END_EXIT, "max-peak", "1MiB"));
    assert_int_equal(t.verdict.count, 1);
    end(&t);
}

TEST(growth_is_unknown_where_allocations_are_missing)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        struct unknown_bench t;
        begin(&t);
        for (unsigned step = 1; step <= 8; step++) {
            vs_builder_step(&t.b, step);
            vs_builder_pop(&t.b);
        }
        if (stopped)
            leave_out(&t.b, LACK_STOPPED);
        assert_int_equal(checked(&t, VS_END_EXIT, "max-growth-per-step", "0"), !stopped);
        assert_int_equal(t.verdict.count, !stopped);
        if (stopped)
            assert_non_null(strstr(t.why, "--key cannot be checked: the program stopped the recording"));
        end(&t);
    }
}

int main(void)
{
    return vs_run_tests(NULL, NULL);
}
