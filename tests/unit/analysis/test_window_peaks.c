/* SPDX-License-Identifier: Apache-2.0
 *
 * Peaks of many windows of time, and the call sites that changed until then. */
#include <string.h>

#include "analysis/report/window_peaks.h"
#include "support/report_test.h"

#define MODEL "at model; alloc 0 "
#define LOSS "at loss; alloc 2000 "

static void begin(const char *text)
{
    begin_trace("observe", "device 1G GPU");
    vs_trace(&b, "%s", text);
}

/* Returns ns since the start, of the next event. */
static uint64_t at(void)
{
    return b.now_ns - b.start_ns;
}

static void measure(struct vs_report_window *windows, size_t count)
{
    read_report(0);
    vs_window_peaks(reader, &report->memory, report->start_ns, windows, count, 10);
}

static void assert_sites(const struct vs_report_sites *sites, const char *function, uint64_t mib)
{
    assert_int_equal(sites->count, 1);
    assert_string_equal(sites->items[0].frames[0].function, function);
    assert_int_equal(sites->items[0].bytes, mib * MIB);
    assert_int_equal(sites->total_bytes, mib * MIB);
}

TEST(each_window_has_its_own_peak_and_what_changed_until_then)
{
    struct vs_report_window windows[2] = {{0}};
    begin(MODEL "8M; alloc 1000 4M");
    windows[1].from_ns = at(); /* given in another order than that of the times */
    vs_trace(&b, "free 1000; " LOSS "20M");
    windows[1].to_ns = at();
    vs_trace(&b, "free 2000");
    windows[0].from_ns = at();
    vs_trace(&b, LOSS "30M");
    windows[0].to_ns = at(); /* of the free */
    vs_trace(&b, "free 2000; " LOSS "300M");
    measure(windows, 2);
    assert_true(windows[0].from_ns < windows[1].from_ns);
    const struct vs_window_peak *first = &windows[0].devices[0], *second = &windows[1].devices[0];
    assert_int_equal(first->begin_bytes, 12 * MIB);
    assert_int_equal(first->peak_bytes, 28 * MIB);
    assert_sites(&first->more, "loss", 20);
    assert_sites(&first->less, "model", 4);
    assert_int_equal(second->begin_bytes, 8 * MIB);
    assert_int_equal(second->peak_bytes, 38 * MIB);
    assert_int_equal(second->end_bytes, 8 * MIB);
    assert_sites(&second->more, "loss", 30);
    assert_int_equal(second->less.count, 0);
    assert_int_equal(second->peak_event, first->peak_event + 2);
}

TEST(windows_may_overlap_and_lie_after_the_end)
{
    struct vs_report_window windows[3] = {{.to_ns = UINT64_MAX}, {.to_ns = UINT64_MAX},
                                          {.from_ns = UINT64_MAX - 1, .to_ns = UINT64_MAX}};
    begin(MODEL "8M");
    windows[1].from_ns = at();
    vs_trace(&b, LOSS "2M; free 0");
    measure(windows, 3);
    assert_int_equal(windows[0].devices[0].begin_bytes, 0);
    assert_int_equal(windows[0].devices[0].peak_bytes, 10 * MIB);
    assert_int_equal(windows[0].devices[0].more.count, 2);
    assert_int_equal(windows[1].devices[0].begin_bytes, 8 * MIB);
    assert_sites(&windows[1].devices[0].more, "loss", 2);
    assert_int_equal(windows[2].devices[0].begin_bytes, 2 * MIB);
    assert_int_equal(windows[2].devices[0].peak_bytes, 2 * MIB);
    assert_int_equal(windows[2].devices[0].peak_event, 0);
    assert_int_equal(windows[2].devices[0].more.count, 0);
}

TEST(a_device_that_appears_in_a_window_begins_with_nothing)
{
    struct vs_report_window window = {.to_ns = UINT64_MAX};
    begin("");
    window.from_ns = at();
    vs_trace(&b, "gpu 1; device 1G GPU; " MODEL "5M");
    b.device = 0;
    measure(&window, 1);
    assert_int_equal(window.count, 2);
    assert_int_equal(window.devices[1].device, 1);
    assert_int_equal(window.devices[1].begin_bytes, 0);
    assert_int_equal(window.devices[0].peak_bytes, 0);
    assert_sites(&window.devices[1].more, "model", 5);
}

/* The segment that PyTorch requests before its first tensor is no memory of the user's. */
TEST(a_framework_that_appears_in_a_window_counts_its_tensors_alone)
{
    struct vs_report_window window = {.to_ns = UINT64_MAX};
    begin("");
    window.from_ns = at();
    vs_trace(&b, MODEL "20M; at loss; tensor 0 3M");
    measure(&window, 1);
    assert_int_equal(window.devices[0].level, VS_LEVEL_FRAMEWORK);
    assert_int_equal(window.devices[0].begin_bytes, 0);
    assert_int_equal(window.devices[0].peak_bytes, 3 * MIB);
    assert_sites(&window.devices[0].more, "loss", 3);
}

/* The segments that the framework had at its first tensor were taken off the bytes at the begin and at the peak,
 * although they were requested later. */
TEST(segments_requested_after_a_moment_are_not_taken_off_its_bytes)
{
    struct vs_report_window window = {.to_ns = UINT64_MAX};
    begin("at other; alloc 5000 5M");
    window.from_ns = at();
    vs_trace(&b, MODEL "20M; at loss; tensor 0 3M");
    measure(&window, 1);
    assert_int_equal(window.devices[0].begin_bytes, 5 * MIB);
    assert_int_equal(window.devices[0].peak_bytes, 8 * MIB);
    assert_sites(&window.devices[0].more, "loss", 3);
    assert_int_equal(window.devices[0].less.count, 0);

    window = (struct vs_report_window){.to_ns = UINT64_MAX};
    begin("");
    window.from_ns = at();
    vs_trace(&b, "at other; alloc 5000 30M; free 5000; " MODEL "20M; at loss; tensor 0 3M");
    measure(&window, 1);
    assert_int_equal(window.devices[0].begin_bytes, 0);
    assert_int_equal(window.devices[0].peak_bytes, 30 * MIB);
    assert_int_equal(window.devices[0].end_bytes, 3 * MIB);
    assert_sites(&window.devices[0].more, "other", 30);
}

/* The segment was there at the begin, when no framework was known: it is no memory of the user's then, too. */
TEST(a_segment_of_the_begin_is_not_listed_as_less)
{
    struct vs_report_window window = {.to_ns = UINT64_MAX};
    begin("at other; alloc 5000 5M; " MODEL "20M");
    window.from_ns = at();
    vs_trace(&b, "at loss; tensor 0 3M");
    measure(&window, 1);
    assert_int_equal(window.devices[0].begin_bytes, 5 * MIB);
    assert_int_equal(window.devices[0].peak_bytes, 8 * MIB);
    assert_sites(&window.devices[0].more, "loss", 3);
    assert_int_equal(window.devices[0].less.count, 0);
}
