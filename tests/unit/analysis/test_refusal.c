/* SPDX-License-Identifier: Apache-2.0
 *
 * Failed allocations by error: of a whole trace, at a point in time, and for arbitrary counts. */
#include "support/cmocka_test.h"
#include "analysis/checkpoint/trace_state.h"
#include "analysis/report/report.h"
#include "support/trace_builder.h"

static void assert_two_out_of_memory(struct vs_reader *reader, const char *path,
                                     const struct vs_time_window *window)
{
    struct vs_report *report;
    struct vs_report_options options = {.window = window};
    assert_int_equal(vs_report_build(reader, path, &options, &report), VS_OK);
    assert_int_equal(report->part.moment, window != NULL);
    assert_int_equal(report->refusals.count, 1);
    assert_int_equal(report->refusals.items[0].family, VS_FAMILY_DEVICE);
    assert_int_equal(report->refusals.items[0].error, VS_CUDA_OUT_OF_MEMORY);
    assert_int_equal(report->refusals.items[0].count, 2);
    vs_report_free(report);
}

TEST(a_trace_and_its_last_moment_count_the_same)
{
    struct vs_builder b;
    struct vs_reader *reader;
    char why[VS_READER_WHY_MAX];
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Test GPU", 1024 * MIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2000 * MIB, 900 * MIB, 1024 * MIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 3000 * MIB, 900 * MIB, 1024 * MIB);
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    assert_two_out_of_memory(reader, b.path, NULL);
    struct vs_time_window end = {.to = {true, true, 1000}}; /* after its last event */
    assert_two_out_of_memory(reader, b.path, &end);
    vs_reader_close(reader);
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
