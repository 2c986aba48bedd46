/* SPDX-License-Identifier: Apache-2.0
 *
 * Peaks of many windows of time, and the call sites that changed until then. */
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/report/window_peaks.h"
#include "support/trace_text.h"

#define MIB (UINT64_C(1) << 20)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * 1024 * MIB)

static struct vs_builder b;
static struct vs_reader *reader;
static struct vs_report *report;

AFTER(end)
{
    vs_report_free(report);
    vs_reader_close(reader);
    report = NULL;
    reader = NULL;
    vs_builder_remove(&b);
    return 0;
}

static void begin(void)
{
    end(NULL);
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", 1024 * MIB);
}

/* Returns ns since the start, of the next event. */
static uint64_t at(void)
{
    return b.now_ns - b.start_ns;
}

static void allocate(const char *site, uint64_t addr, uint64_t mib)
{
    b.stack = vs_trace_site(&b, site, 1);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, addr, mib * MIB, mib * MIB);
}

static void measure(struct vs_report_window *windows, size_t count)
{
    char why[VS_READER_WHY_MAX];
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    assert_int_equal(vs_report_build(reader, b.path, NULL, &report), VS_OK);
    assert_int_equal(vs_window_peaks(reader, report, windows, count, 10), VS_OK);
    assert_ptr_equal(report->windows, windows);
    assert_int_equal(report->window_count, count);
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
    begin();
    allocate("model", A(0), 8);
    allocate("model", A(1), 4);
    windows[1].from_ns = at(); /* given in another order than that of the times */
    vs_builder_free(&b, 0, A(1));
    allocate("loss", A(2), 20);
    windows[1].to_ns = at();
    vs_builder_free(&b, 0, A(2));
    windows[0].from_ns = at();
    allocate("loss", A(3), 30);
    windows[0].to_ns = at(); /* of the free */
    vs_builder_free(&b, 0, A(3));
    allocate("loss", A(4), 300);
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
    begin();
    allocate("model", A(0), 8);
    windows[1].from_ns = at();
    allocate("loss", A(1), 2);
    vs_builder_free(&b, 0, A(0));
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
    begin();
    window.from_ns = at();
    vs_builder_device(&b, 1, "GPU", 1024 * MIB);
    b.stack = vs_trace_site(&b, "model", 1);
    vs_builder_alloc(&b, 1, VS_FAMILY_DEVICE, A(9), 5 * MIB, 5 * MIB);
    measure(&window, 1);
    assert_int_equal(window.count, 2);
    assert_int_equal(window.devices[1].device, 1);
    assert_int_equal(window.devices[1].begin_bytes, 0);
    assert_int_equal(window.devices[0].peak_bytes, 0);
    assert_sites(&window.devices[1].more, "model", 5);
}

static void tensor(const char *site, uint64_t addr, uint64_t mib)
{
    struct vs_event e = {.kind = VS_EVENT_framework_alloc};
    e.framework_alloc.addr = addr;
    e.framework_alloc.size = mib * MIB;
    e.framework_alloc.stack = vs_trace_site(&b, site, 1);
    vs_builder_event(&b, e);
}

/* The segment that PyTorch requests before its first tensor is no memory of the user's. */
TEST(a_framework_that_appears_in_a_window_counts_its_tensors_alone)
{
    struct vs_report_window window = {.to_ns = UINT64_MAX};
    begin();
    window.from_ns = at();
    allocate("model", A(0), 20);
    tensor("loss", A(0), 3);
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
    begin();
    allocate("other", A(5), 5);
    window.from_ns = at();
    allocate("model", A(0), 20);
    tensor("loss", A(0), 3);
    measure(&window, 1);
    assert_int_equal(window.devices[0].begin_bytes, 5 * MIB);
    assert_int_equal(window.devices[0].peak_bytes, 8 * MIB);
    assert_sites(&window.devices[0].more, "loss", 3);
    assert_int_equal(window.devices[0].less.count, 0);

    window = (struct vs_report_window){.to_ns = UINT64_MAX};
    begin();
    window.from_ns = at();
    allocate("other", A(5), 30);
    vs_builder_free(&b, 0, A(5));
    allocate("model", A(0), 20);
    tensor("loss", A(0), 3);
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
    begin();
    allocate("other", A(5), 5);
    allocate("model", A(0), 20);
    window.from_ns = at();
    tensor("loss", A(0), 3);
    measure(&window, 1);
    assert_int_equal(window.devices[0].begin_bytes, 5 * MIB);
    assert_int_equal(window.devices[0].peak_bytes, 8 * MIB);
    assert_sites(&window.devices[0].more, "loss", 3);
    assert_int_equal(window.devices[0].less.count, 0);
}
