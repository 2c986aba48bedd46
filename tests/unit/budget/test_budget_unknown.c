/* SPDX-License-Identifier: Apache-2.0
 *
 * Quantities that a trace does not have are unknown: a limit of them cannot hold, and a baseline does
 * not store them. */
#include "unit/budget/budget_test.h"

static struct bench t;
static char why[VS_BUDGET_WHY_MAX];

/* Whether *key* = *value* was compared with something; why says why not. */
static bool checked(enum vs_end_reason reason, const char *key, const char *value)
{
    measure_trace(&t, reason, 0, 0);
    set_limit(&t.budget, key, value, NULL, false);
    judge(&t, NULL);
    return vs_budget_unmatched(&t.budget, why) == NULL;
}

enum lack {
    LACK_NONE, LACK_OFF, LACK_ZERO, LACK_STOPPED, LACK_IMPORTED, LACK_CUPTI, LACK_OTHER_TOOL, LACK_LIMIT, LACK_DROPPED
};

static void leave_out(struct vs_builder *b, enum lack lack)
{
    struct vs_event event = {.kind = VS_EVENT_recording_changed};
    if (lack == LACK_OFF || lack == LACK_ZERO)
        event = EVENT(option, .name = vs_builder_string(b, "kernels"),
                      .value = vs_builder_string(b, lack == LACK_OFF ? "off" : "0"));
    else if (lack == LACK_CUPTI || lack == LACK_OTHER_TOOL)
        event = (struct vs_event){.kind = VS_EVENT_note, .note = {
            .severity = 1, .text = vs_builder_string(b, lack == LACK_CUPTI ? VS_NOTE_NO_ACTIVITY ": CUPTI failed"
                                                                          : VS_NOTE_ACTIVITY_LEFT " and more")}};
    else if (lack == LACK_STOPPED)
        event.recording_changed.what = VS_RECORDING_PAUSED;
    else if (lack == LACK_LIMIT)
        event.recording_changed.what = VS_RECORDING_NO_ACTIVITY;
    else if (lack == LACK_DROPPED)
        event = EVENT(dropped, .what = vs_builder_string(b, "memcpy"), .count = 1);
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
        begin_trace(&t, "observe", "alloc 0 1M");
        leave_out(&t.b, cases[i].lack);
        assert_false(checked(cases[i].lack == LACK_IMPORTED ? VS_END_IMPORTED : VS_END_EXIT, "max-transfers",
                             "5 copies"));
        assert_int_equal(t.verdict.count, 0);
        if (!strstr(why, "--key cannot be checked: ") || !strstr(why, cases[i].says))
            fail_msg("case %zu: %s", i, why);
        for (size_t k = 0; k < t.run.count; k++)
            if (t.run.items[k].metric == VS_METRIC_COPIES || t.run.items[k].metric == VS_METRIC_TRANSFERRED)
                assert_true(t.run.items[k].unknown);
        end(NULL);
    }
}

TEST(recorded_copies_are_compared)
{
    begin_trace(&t, "observe", "alloc 0 1M");
    vs_builder_memcpy(&t.b, 0, 0, VS_COPY_HTOD, 100, 10, 10);
    assert_true(checked(VS_END_EXIT, "max-transfers", "0 copies"));
    assert_int_equal(t.verdict.exceeded, 1);
}

TEST(other_limits_need_no_copies)
{
    begin_trace(&t, "observe", "alloc 0 1M");
    leave_out(&t.b, LACK_OFF);
    assert_true(checked(VS_END_EXIT, "max-peak", "1MiB"));
    assert_int_equal(t.verdict.count, 1);
}

TEST(growth_is_unknown_where_allocations_are_missing)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        begin_trace(&t, "observe", "alloc 0 1M; repeat 8 { step i+1; pop }");
        if (stopped)
            leave_out(&t.b, LACK_STOPPED);
        assert_int_equal(checked(VS_END_EXIT, "max-growth-per-step", "0"), !stopped);
        assert_int_equal(t.verdict.count, !stopped);
        if (stopped)
            assert_non_null(strstr(why, "--key cannot be checked: the program stopped the recording"));
        end(NULL);
    }
}
