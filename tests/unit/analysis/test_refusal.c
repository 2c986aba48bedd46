/* SPDX-License-Identifier: Apache-2.0
 *
 * Failed allocations by error: of a whole trace, at a point in time, and for arbitrary counts. */
#include "unit/analysis/report_facts.h"

TEST(a_trace_and_its_last_point_count_the_same)
{
    const struct vs_time_window end = {.to = {true, true, 1000}}; /* after its last event */
    begin_trace("observe", "device 1G Test GPU; fail 2000M free 900M; fail 3000M free 900M");
    read_trace(0);
    for (int point = 0; point < 2; point++) {
        struct vs_report_options options = {.window = point ? &end : NULL};
        vs_report_free(report);
        assert_int_equal(vs_report_build(reader, b.path, &options, &report), VS_OK);
        assert_int_equal(report->part.point, point);
        expect_report("failures_by_error/0", "family device; error 2; count 2; /failures_by_error count 1");
    }
}

TEST(any_numbers_are_counted_in_bounds)
{
    struct vs_refusals refusals = {.count = 0};
    char name[VS_CUDA_ERROR_TEXT_MAX];
    vs_refusal_add(&refusals, 3, VS_FAMILY_PINNED, 1);
    vs_refusal_add(&refusals, 4, VS_FAMILY_PINNED, 1); /* the same host */
    vs_refusal_add(&refusals, 4, VS_FAMILY_COUNT + 7, 1);
    assert_int_equal(refusals.count, 2);
    assert_true(refusals.items[0].host);
    assert_int_equal(refusals.items[0].count, 2);
    assert_int_equal(refusals.items[1].family, VS_FAMILY_DEVICE);
    for (uint64_t error = 0; error < 1000; error++)
        vs_refusal_add(&refusals, 0, VS_FAMILY_ASYNC, error);
    assert_int_equal(refusals.count, VS_REFUSALS_MAX);
    assert_string_equal(vs_cuda_error_name(name, 719), "CUDA_ERROR_LAUNCH_FAILED");
    assert_string_equal(vs_cuda_error_name(name, UINT64_MAX), "CUDA error 18446744073709551615");
}
