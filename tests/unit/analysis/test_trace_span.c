/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of a part of a trace: they equal those computed by reading everything, with or without
 * checkpoints; and times are accepted in the forms that users write. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/checkpoint/checkpoint_build.h"
#include "analysis/checkpoint/trace_state.h"
#include "base/vs_time_spec.h"
#include "support/busy_trace.h"
#include "support/report_test.h"
#include "trace/read/seek.h"
#include "viewer/report/report_text.h"

#define EVENTS 60000

static struct vs_report *report_of(struct vs_reader *from, const struct vs_time_window *window)
{
    struct vs_report *built;
    struct vs_report_options options = {.window = window};
    assert_int_equal(vs_report_build(from, "trace.vst", &options, &built), VS_OK);
    return built;
}

/* The report as JSON, without the trace's size. */
static char *json_of(struct vs_reader *from, const struct vs_time_window *window)
{
    struct vs_report *part = report_of(from, window);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    part->trace_bytes = 0;
    vs_report_json(part, false, out);
    fclose(out);
    vs_report_free(part);
    return text;
}

static uint64_t seed = 77;

static uint64_t below(uint64_t bound)
{
    return vs_random(&seed) % bound;
}

static struct vs_time_window some_window(const struct vs_span *span, int turn)
{
    struct vs_time_window window = {0};
    bool by_event = turn & 1;
    uint64_t length = span->extent.last_ns - span->extent.first_ns;
    uint64_t ends[2];
    for (int i = 0; i < 2; i++)
        ends[i] = by_event ? 1 + below(span->extent.events) : span->extent.first_ns + below(length);
    window.from = (struct vs_time_window_end){turn % 3 != 0, by_event, ends[ends[0] > ends[1]]};
    window.to = (struct vs_time_window_end){true, by_event, ends[ends[0] <= ends[1]]};
    return window;
}

TEST(reports_by_checkpoints_are_those_of_a_full_read)
{
    struct vs_span span;
    char why[VS_READER_WHY_MAX];
    vs_busy_trace(&b, 21, EVENTS);
    vs_builder_close(&b, VS_END_EXIT, 0);
    struct vs_checkpoint_options often = {.interval = 3000, .share = 100000};
    assert_int_equal(vs_checkpoint_into_trace(b.path, &often, NULL, why), VS_OK);
    struct vs_reader *quick;
    read_trace(0);
    assert_int_equal(vs_reader_open(b.path, &quick, why), VS_OK);
    assert_int_equal(vs_reader_attach(quick), VS_OK);
    assert_int_equal(vs_span_of(reader, &span), VS_OK);
    for (int turn = 0; turn < 12; turn++) {
        struct vs_time_window window = some_window(&span, turn);
        char *x = json_of(reader, &window), *y = json_of(quick, &window);
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
    assert_non_null(vs_reader_checkpoints(quick));
    vs_reader_close(quick);
}

TEST(the_state_at_the_end_is_the_report)
{
    struct vs_span span;
    vs_busy_trace(&b, 22, EVENTS / 4);
    read_trace(3);
    assert_int_equal(vs_span_of(reader, &span), VS_OK);
    struct vs_time_window all = {.to = {true, false, span.extent.last_ns}};
    struct vs_report *whole = report_of(reader, NULL), *then = report_of(reader, &all);
    assert_true(then->part.point);
    assert_int_equal(then->events, whole->events);
    assert_int_equal(then->part.last_event, span.extent.events);
    assert_true(then->has_end);
    assert_int_equal(then->device_count, whole->device_count);
    for (size_t i = 0; i < whole->device_count; i++) {
        const struct vs_report_device *x = &whole->devices[i], *y = &then->devices[i];
        assert_int_equal(x->peak_allocated.bytes, y->peak_allocated.bytes);
        assert_int_equal(x->peak_reserved.event, y->peak_reserved.event);
        assert_int_equal(x->allocated, y->allocated);
        assert_int_equal(x->at_end.total_bytes, y->at_end.total_bytes);
        assert_int_equal(x->kernel_total.count, y->kernel_total.count);
        assert_memory_equal(x->family, y->family, sizeof x->family);
    }
    vs_report_free(whole);
    vs_report_free(then);
}

/* Sums of a window computed independently, for a simple program: every allocation at its own
 * address, all of one family. */
struct tally {
    uint64_t live, peak, allocs, frees, at_start;
};

TEST(windows_are_what_counting_by_hand_says)
{
    enum { COUNT = 3000 };
    static uint64_t size[COUNT], freed[COUNT]; /* index of the free's event, from 1 */
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Demo GPU", UINT64_C(1) << 34);
    struct change {
        uint64_t time_ns;
        int64_t bytes;
    };
    static struct change changes[2 * COUNT];
    size_t change_count = 0, begun = 0, gone = 0;
    memset(freed, 0, sizeof freed);
    while (gone < COUNT) {
        b.tick_ns = below(3) ? 1000 : 0;
        uint64_t time_ns = b.now_ns;
        if (begun < COUNT && (gone == begun || below(5) < 3)) {
            size[begun] = (1 + below(50)) * 512;
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, UINT64_C(0x7f0000000000) + begun * 65536,
                             size[begun], size[begun]);
            changes[change_count++] = (struct change){time_ns, (int64_t)size[begun++]};
        } else {
            vs_builder_free(&b, 0, UINT64_C(0x7f0000000000) + gone * 65536);
            changes[change_count++] = (struct change){time_ns, -(int64_t)size[gone++]};
        }
    }
    uint64_t last = b.now_ns;
    read_trace(0);
    for (int turn = 0; turn < 20; turn++) {
        uint64_t from = b.start_ns + below(last - b.start_ns), to = from + below(last - from + 1);
        struct vs_time_window window = {{true, false, from}, {true, false, to}};
        struct tally hand = {0};
        for (size_t i = 0; i < change_count && changes[i].time_ns <= to; i++) {
            bool inside = changes[i].time_ns >= from;
            hand.live += (uint64_t)changes[i].bytes;
            if (!inside)
                hand.at_start = hand.live;
            hand.allocs += inside && changes[i].bytes > 0;
            hand.frees += inside && changes[i].bytes < 0;
            if (inside && hand.live > hand.peak)
                hand.peak = hand.live;
        }
        if (hand.at_start > hand.peak)
            hand.peak = hand.at_start;
        vs_report_free(report);
        report = report_of(reader, &window);
        const struct vs_report_device *device = &report->devices[0];
        assert_int_equal(device->peak_allocated.bytes, hand.peak);
        assert_int_equal(device->allocated, hand.live);
        assert_int_equal(device->at_end.total_bytes, hand.live);
        assert_int_equal(device->family[VS_FAMILY_DEVICE].allocs, hand.allocs);
        assert_int_equal(device->family[VS_FAMILY_DEVICE].frees, hand.frees);
        assert_int_equal(device->at_peak.total_bytes, hand.peak);
        assert_true(!hand.peak || device->peak_allocated.time_ns >= from - b.start_ns);
    }
}

/* Kernels 1 ms long, one every 2 ms, recorded half a second after they ran, and one copy of 100
 * ms. */
#define MS UINT64_C(1000000)
#define LATE_KERNELS 2000

static void late_kernels(uint64_t until)
{
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Demo GPU", UINT64_C(1) << 34);
    for (uint64_t i = 0; i < LATE_KERNELS; i++) {
        if (i % 250 == 0) {
            b.now_ns = b.start_ns + (i + 250) * 2 * MS;
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, UINT64_C(0x7f0000000000) + i * 65536, 512,
                             512);
        }
        if (i < until)
            vs_builder_kernel(&b, 0, 7, "late", i * 2 * MS, MS);
        if (i == 600)
            vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 100000, 950 * MS, 100 * MS);
    }
}

/* Of the part from *from* to *to* ms, to the half. */
static void window_kernels(uint64_t from, uint64_t to, uint64_t count, uint64_t time_ns,
                           uint64_t copied)
{
    struct vs_time_window window = {{from != 0, false, b.start_ns + from * MS / 2},
                                    {true, false, b.start_ns + to * MS / 2}};
    vs_report_free(report);
    report = report_of(reader, &window);
    const struct vs_report_device *device = &report->devices[0];
    assert_int_equal(device->kernel_total.count, count);
    assert_int_equal(device->kernel_total.time_ns, time_ns);
    assert_int_equal(device->copies[VS_COPY_HTOD].bytes, copied);
    if (count) {
        assert_string_equal(device->kernels[0].name, "late");
        assert_int_equal(device->kernels[0].shortest_ns, MS);
        assert_int_equal(device->kernels[0].longest_ns, MS);
    }
    assert_int_equal(report->kernels_until_ns, 0);
}

TEST(kernels_of_a_part_are_those_that_ran_in_it)
{
    char why[VS_READER_WHY_MAX];
    late_kernels(LATE_KERNELS);
    vs_builder_close(&b, VS_END_EXIT, 0);
    struct vs_checkpoint_options often = {.interval = 100, .share = 100000};
    assert_int_equal(vs_checkpoint_into_trace(b.path, &often, NULL, why), VS_OK);
    for (int quick = 0; quick < 2; quick++) {
        read_trace(0);
        if (quick)
            assert_int_equal(vs_reader_attach(reader), VS_OK);
        window_kernels(2001, 2401, 101, 100 * MS, 49500);
        window_kernels(1803, 1999, 49, 49 * MS, 49500);
        window_kernels(1203, 1203, 0, 0, 0);
        window_kernels(0, 6001, 1501, 1500 * MS + MS / 2, 100000);
        vs_report_free(report);
        report = NULL;
        vs_reader_close(reader);
        reader = NULL;
    }
}

/* A copy over the whole range of times, with the maximum size, overlapping the part. */
TEST(sizes_and_times_may_be_anything)
{
    struct vs_activity activity = {0};
    struct vs_event event = EVENT(memcpy, .start_ns = 1, .end_ns = UINT64_MAX, .bytes = UINT64_MAX);
    vs_activity_event_within(&activity, &event, 2, UINT64_MAX);
    assert_int_equal(vs_activity_device(&activity, 0)->copies[VS_COPY_UNKNOWN].bytes, UINT64_MAX);
    vs_activity_free(&activity);
}

TEST(a_killed_program_s_last_kernels_are_said_to_lack)
{
    static const uint64_t parts[][3] = {{3500, 3600, 2999}, {500, 600, 0}}; /* ms; what is said */
    char *text = NULL;
    size_t size = 0;
    late_kernels(1500);
    vs_builder_close(&b, VS_END_KILLED, 0);
    read_report(0);
    assert_int_equal(report->kernels_until_ns, 2999 * MS);
    FILE *out = open_memstream(&text, &size);
    struct vs_style style = {.out = out, .width = 100, .sites = 5, .kernels = 5};
    vs_report_text(report, 0, &style);
    fclose(out);
    assert_non_null(strstr(text, "  kernels  recorded up to 2.999 s: later kernels and copies were "
                                 "not delivered before the end\n"));
    free(text);
    for (int i = 0; i < 2; i++) {
        struct vs_time_window part = {{true, false, b.start_ns + parts[i][0] * MS},
                                      {true, false, b.start_ns + parts[i][1] * MS}};
        vs_report_free(report);
        report = report_of(reader, &part);
        assert_int_equal(report->kernels_until_ns, parts[i][2] * MS);
    }
}

TEST(points_are_understood)
{
    static const struct {
        const char *text;
        enum vs_time_spec_kind kind;
        uint64_t value;
    } good[] = {
        {"12.5s", VS_TIME_SINCE_START, 12500000000}, {"3m20s", VS_TIME_SINCE_START, 200000000000},
        {"0.1s", VS_TIME_SINCE_START, 100000000},    {"7", VS_TIME_SINCE_START, 7000000000},
        {"850ms", VS_TIME_SINCE_START, 850000000},   {"1h5m", VS_TIME_SINCE_START, 3900000000000},
        {"2 min 05 s", VS_TIME_SINCE_START, 125000000000}, {"0", VS_TIME_SINCE_START, 0},
        {"4.56 ms", VS_TIME_SINCE_START, 4560000},   {"12.3 us", VS_TIME_SINCE_START, 12300},
        {"-10s", VS_TIME_BEFORE_END, 10000000000},   {"80%", VS_TIME_PERCENT, 80000},
        {"99.5 %", VS_TIME_PERCENT, 99500},          {"@1,234", VS_TIME_EVENT, 1234},
        {"@1", VS_TIME_EVENT, 1},                    {"100%", VS_TIME_PERCENT, 100000},
    };
    static const char *const bad[] = {
        "", "s", "12x", "5s3m", "3m3m", "--5s", "101%", "@", "@0", "@-1", "@1.5", "1e9s", "12.5.1s",
        "99999999999999999999s", "18446744073709551615s", "%", "-", "- 5", "@5s", "0x10", "3m20",
    };
    struct vs_time_spec spec;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (vs_time_spec_parse(good[i].text, &spec) != VS_OK)
            fail_msg("'%s' is not understood", good[i].text);
        assert_int_equal(spec.kind, good[i].kind);
        assert_int_equal(spec.value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (vs_time_spec_parse(bad[i], &spec) == VS_OK && strcmp(bad[i], "- 5") != 0)
            fail_msg("'%s' is taken for a moment: %d %" PRIu64, bad[i], (int)spec.kind, spec.value);
}

TEST(what_lies_outside_is_said)
{
    const struct vs_span span = {1000, {1000, UINT64_C(5000001000), 700}};
    static const struct {
        const char *text, *words; /* NULL: inside */
        uint64_t value;
    } cases[] = {
        {"5s", NULL, UINT64_C(5000001000)}, {"0s", NULL, 1000}, {"-5s", NULL, 1000},
        {"20%", NULL, UINT64_C(1000001000)}, {"@700", NULL, 700},
        {"6s", "after the end of the trace, at 5.000 s", 0},
        {"-6s", "before the start: the trace lasts 5.000 s", 0},
        {"@701", "there is no such event: the trace has 700 events", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vs_time_spec spec;
        struct vs_time_window_end end;
        char why[VS_READER_WHY_MAX] = "";
        assert_int_equal(vs_time_spec_parse(cases[i].text, &spec), VS_OK);
        assert_int_equal(vs_span_end(&span, &spec, &end, why), !cases[i].words);
        if (cases[i].words)
            assert_string_equal(why, cases[i].words);
        else
            assert_int_equal(end.value, cases[i].value);
    }
}
