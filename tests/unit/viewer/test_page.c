/* SPDX-License-Identifier: Apache-2.0
 *
 * The data of a page, decoded by another reading of the format, compared with the report of the same
 * trace: sums of live blocks, places, windows, and names that try to leave their element. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/json_test.h"
#include "support/page_decode.h"
#include "support/trace_text.h"
#include "viewer/html/page.h"
#include "viewer/html/page_column.h"

static struct vs_builder b;
static struct {
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_page_scan scan;
    struct vs_span span;
    char *html;
    struct json_object *head;
} page; /* of b's trace */

static uint64_t *decoded[32]; /* columns that were asked for */
static size_t decoded_count;

AFTER(drop)
{
    while (decoded_count)
        free(decoded[--decoded_count]);
    json_object_put(page.head);
    free(page.html);
    vs_report_free(page.report);
    vs_page_scan_free(&page.scan);
    vs_reader_close(page.reader);
    memset(&page, 0, sizeof page);
    return 0;
}

static char *html_of(const struct vs_page_source *source)
{
    struct vs_page_data *data;
    char *html;
    size_t bytes;
    assert_int_equal(vs_page_data_build(source, &data), VS_OK);
    FILE *out = open_memstream(&html, &bytes);
    assert_non_null(out);
    vs_page_write(out, data, NULL, false);
    assert_int_equal(fclose(out), 0);
    vs_page_data_free(data);
    return html;
}

static void begin(void *collected, struct vs_replay *replay, const struct vs_growth_tracker *growth)
{
    (void)growth;
    vs_page_data_begin(collected, replay);
}

/* Ends the trace and makes its page. */
static void make(const struct vs_time_window *window, uint64_t events_max)
{
    char why[VS_READER_WHY_MAX];
    drop(NULL);
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &page.reader, why), VS_OK);
    assert_int_equal(vs_span_of(page.reader, &page.span), VS_OK);
    page.scan.start_ns = page.span.start_ns;
    page.scan.end_ns = page.span.extent.last_ns;
    struct vs_page_data *collected = vs_page_data_open(&page.span);
    struct vs_trace_state *state;
    const struct vs_observer observers[] = {{VS_KINDS_EVERY, NULL, vs_page_scan_event, &page.scan},
                                            vs_page_observer(collected)};
    struct vs_report_options options = {.observers = observers, .observer_count = 2, .state = &state,
                                        .begin = begin, .observed = collected};
    assert_int_equal(vs_report_build(page.reader, b.path, &options, &page.report), VS_OK);
    struct vs_page_source source = {.reader = page.reader, .report = page.report,
                                    .scan = &page.scan, .span = &page.span, .window = window,
                                    .events_max = events_max};
    page.html = html_of(&source);
    source.collected = collected;
    source.end = state->replay;
    if (!window && page.span.extent.events <= events_max) { /* by one reading: the same */
        char *html = html_of(&source);
        assert_string_equal(html, page.html);
        free(html);
    } else {
        vs_page_data_free(collected);
    }
    vs_trace_state_close(state);
    char *head = vs_page_element(page.html, "head");
    assert_non_null(head);
    page.head = json_tokener_parse(head);
    free(head);
    assert_non_null(page.head);
}

static void make_whole(const char *policy, const char *text)
{
    vs_builder_open(&b, policy);
    vs_trace(&b, "%s", text);
    make(NULL, VS_PAGE_EVENTS_MAX);
}

static uint64_t *column(const char *section, const char *name, size_t *count)
{
    assert_true(decoded_count < sizeof decoded / sizeof *decoded);
    return decoded[decoded_count++] = vs_page_decoded(page.html, page.head, section, name, count);
}

/* "blocks.place 0 20M; segments.lived 5 _": the values of columns, one for each row, "_" any; and
 * facts of the head. */
static void expect_page(const char *columns, const char *facts)
{
    char copy[400], *next = copy, *line;
    snprintf(copy, sizeof copy, "%s", columns);
    while ((line = strsep(&next, ";")) != NULL) {
        char *name = strchr(line += strspn(line, " "), '.'), *values = line;
        size_t count, i = 0;
        *name++ = 0;
        values = strchr(name, ' ');
        if (values)
            *values++ = 0;
        uint64_t *rows = column(line, name, &count);
        for (char *value; (value = strsep(&values, " ")) != NULL; i++) {
            assert_true(i < count);
            if (*value != '_' && rows[i] != (uint64_t)json_size(value))
                fail_msg("%s.%s of row %zu is %llu, not %s", line, name, i,
                         (unsigned long long)rows[i], value);
        }
        assert_int_equal(i, count);
    }
    json_expect(page.head, page.head, facts);
}

/* Rows of `blocks` that are compared. */
struct rows {
    size_t count;
    uint64_t *born, *lived, *bytes, *place, *device;
};

static struct rows rows_of_page(void)
{
    struct rows r;
    r.born = column("blocks", "born", &r.count);
    r.lived = column("blocks", "lived", &r.count);
    r.bytes = column("blocks", "bytes", &r.count);
    r.place = column("blocks", "place", &r.count);
    r.device = column("blocks", "device", &r.count);
    return r;
}

static bool lives_at(const struct rows *r, size_t i, uint64_t time)
{
    return r->born[i] <= time && (!r->lived[i] || r->born[i] + r->lived[i] - 1 > time);
}

static uint64_t live_at(const struct rows *r, uint64_t device, uint64_t time)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->device[i] == device && lives_at(r, i, time))
            sum += r->bytes[i];
    return sum;
}

/* No two blocks that live at once overlap in place; the highest sum is the report's peak. */
static void check_rows(void)
{
    struct rows r = rows_of_page();
    for (size_t i = 0; i < r.count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (r.device[i] == r.device[k] && lives_at(&r, k, r.born[i]) && r.lived[i] != 1 &&
                r.place[i] < r.place[k] + r.bytes[k] && r.place[k] < r.place[i] + r.bytes[i])
                fail_msg("blocks %zu and %zu overlap", k, i);
        }
    }
    for (size_t d = 0; d < page.report->device_count; d++) {
        const struct vs_report_device *device = &page.report->devices[d];
        uint64_t most = 0;
        for (size_t i = 0; i < r.count; i++) {
            uint64_t sum = r.device[i] == d ? live_at(&r, d, r.born[i]) : 0;
            most = sum > most ? sum : most;
        }
        assert_int_equal(most, device->peak_user.bytes);
        assert_int_equal(live_at(&r, d, device->peak_user.time_ns), device->peak_user.bytes);
        assert_int_equal(live_at(&r, d, UINT64_MAX - 1), device->user_allocated);
        char name[40];
        size_t count;
        snprintf(name, sizeof name, "%zu.live_max", d);
        uint64_t *curve = column("curves", name, &count), highest = 0;
        for (size_t i = 0; i < count; i++)
            highest = curve[i] > highest ? curve[i] : highest;
        assert_int_equal(highest, device->peak_user.bytes);
    }
}

TEST(live_blocks_add_up_to_the_peak_and_never_overlap)
{
    uint64_t sizes[40] = {0}, random = 3;
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 80G GPU; gpu 1; device 80G GPU");
    for (int i = 0; i < 1500; i++) {
        uint64_t pick = (vs_random(&random) >> 33), slot = pick % 40;
        b.device = slot % 2;
        if (sizes[slot]) {
            vs_trace(&b, "free %u", (unsigned)slot * 100);
            sizes[slot] = 0;
        } else {
            sizes[slot] = pick % 9000000 + 1;
            vs_trace(&b, "alloc %u %lu %s", (unsigned)slot * 100, sizes[slot],
                     pick % 3 ? "device" : "async");
        }
    }
    make(NULL, VS_PAGE_EVENTS_MAX);
    check_rows();
}

/* The page lists devices by the driver's numbers, whichever is used first. */
TEST(a_device_keeps_its_figures_if_another_is_used_first)
{
    make_whole("caching", "gpu 1; device 1G second; alloc 0 1M; kernel 7 100 50 kernel; "
                          "gpu 0; device 1G first; alloc 100 8M; segment 300 2M");
    check_rows();
    expect_page("blocks.device 1 0; blocks.bytes 1M 8M; segments.device 0; activity.device 1",
                "devices/0/axis 10M; devices/1/axis 1M; streams/name=stream~7/device 1");
}

TEST(calls_have_the_link_of_their_work_which_has_its_line_as_waits_have)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "%s", "device 1G GPU; at site_weights; alloc 0 1M; wait 3 500 100");
    uint64_t t = b.start_ns;
    vs_builder_event(&b, EVENT(api_call, .start_ns = t + 100, .end_ns = t + 150, .thread = 7, .correlation = 9,
                               .api = vs_builder_string(&b, "__cudaLaunchKernel_v13000")));
    vs_builder_event(&b, EVENT(work_call, .correlation = 9, .stack = b.stack));
    vs_builder_event(&b, EVENT(kernel, .start_ns = t + 200, .end_ns = t + 300, .correlation = 9,
                               .name = vs_builder_string(&b, "gemm")));
    make(NULL, VS_PAGE_EVENTS_MAX);
    expect_page("activity.type 4 0 3; activity.link 9 9 0; activity.name 2 3 1; activity.place 0 1 1",
                "names/0 has site_weights; names/2 cudaLaunchKernel; names/3 gemm");
}

TEST(a_block_lies_in_its_segment)
{
    size_t segments;
    make_whole("caching", "device 1G GPU; segment 100 20M; segment 900 20M; alloc 902 1M as 2M; "
                          "alloc 100 1M; free 100; unsegment 100 20M; "
                          "segment 300 2M"); /* has the first one's place */
    check_rows();
    assert_int_equal(column("segments", "address", &segments)[1], A(900));
    expect_page("segments.place _ 20M 0; segments.lived 5001 _ _; blocks.segment 2 _; "
                "blocks.place 22M 0; blocks.waste 1M _; blocks.lived _ 1001", "");
}

TEST(memory_that_holds_tensors_is_a_segment)
{
    make_whole("observe", "device 1G GPU; alloc 0 20M; "
                          "tensor 0 1M; " /* only now the memory is known to hold tensors */
                          "tensor 4 3M; drop 0; tensor 1 2M");
    struct rows r = rows_of_page();
    expect_page("segments.bytes 20M; blocks.lived 1 _ _ _; blocks.segment _ _ _ 1", "");
    assert_int_equal(r.place[3] - r.place[0], MIB);
    assert_int_equal(live_at(&r, 0, UINT64_MAX - 1), 5 * MIB);
    assert_int_equal(page.report->devices[0].user_allocated, 5 * MIB);
}

TEST(a_block_over_two_mappings_is_one_rectangle)
{
    size_t segments;
    make_whole("caching (compact)", "device 1G GPU; grow 0 2M; "
                                    "segment 500 20M; " /* must not be placed behind the first mapping */
                                    "grow 2 4M; alloc 1 4M; alloc 500 1M; free 1; "
                                    "shrink 1 3M"); /* leaves a part on both sides */
    check_rows();
    uint64_t *bytes = column("segments", "bytes", &segments);
    uint64_t *lived = column("segments", "lived", &segments);
    uint64_t held = 0;
    for (size_t i = 0; i < segments; i++)
        held += lived[i] ? 0 : bytes[i];
    assert_int_equal(held, 23 * MIB);
    assert_int_equal(page.report->devices[0].reserved, 23 * MIB);
    expect_page("blocks.place 1M 6M", "");
}

TEST(mappings_of_two_devices_side_by_side_have_places_on_two_axes)
{
    make_whole("caching (compact)", "device 1G GPU; gpu 1; device 1G GPU; gpu 0; grow 0 2M; "
               "grow 2 2M; gpu 1; grow 4 2M; grow 6 2M; alloc 5 1M");
    check_rows();
    expect_page("segments.place _ _ 0 2M; blocks.place 1M", "devices/0/axis 4M; devices/1/axis 4M");
}

/* The page of the events *from* to *to*; the first of *text* is event 3. */
static struct rows make_window(const char *text, uint64_t from, uint64_t to)
{
    const struct vs_time_window window = {{true, true, from}, {true, true, to}};
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G GPU; %s", text);
    make(&window, VS_PAGE_EVENTS_MAX);
    return rows_of_page();
}

TEST(a_window_has_what_was_live_at_its_start)
{
    make_window("alloc 0 1M; alloc 1 2M; free 0; alloc 10 4M; free 1; alloc 20 8M", 6, 7);
    expect_page("blocks.bytes 2M 4M; blocks.lived 3001 0",
                "window/first_event 6; window/last_event 7; window/blocks_left_out 2");
}

TEST(a_span_without_events_is_shown_as_asked)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 1G GPU; alloc 0 1M");
    const struct vs_time_window window = {{true, false, b.now_ns + 1}, {true, false, b.now_ns + 2}};
    b.now_ns += 1000;
    vs_trace(&b, "alloc 10 4M");
    make(&window, VS_PAGE_EVENTS_MAX);
    assert_int_equal(json_number(page.head, "/window/to") - json_number(page.head, "/window/from"), 1);
}

/* The kinds of tensors that are freed before the window are decided before it has rows. */
TEST(tensors_that_end_before_the_window_have_no_rows)
{
    struct rows r = make_window("alloc 0 20M; tensor 0 1M; tensor 4 3M; drop 0; drop 4; tensor 1 2M; drop 1", 8, 9);
    assert_true(r.count > 0);
    for (size_t i = 0; i < r.count; i++)
        assert_int_not_equal(r.bytes[i], 3 * MIB);
    assert_int_equal(r.bytes[r.count - 1], 2 * MIB);
}

/* Kinds are read on to the trace's end; the ranges are those of the window nevertheless. */
TEST(a_window_has_the_ranges_that_are_open_at_its_end)
{
    make_window("alloc 0 20M; push outer; tensor 0 1M; pop; push later; tensor 2 1M", 4, 5);
    expect_page("ranges.start 3000; ranges.duration 1000", "");
}

/* PyTorch's steps begin where the one before ends: a step and a forward phase were drawn from the end of
 * the last step to the exit. */
TEST(a_step_that_was_only_prepared_is_not_drawn)
{
    make_whole("observe", "device 1G GPU; repeat 2 { step i+1; push forward; alloc i 1M; pop; "
               "pop }; step 3; push forward; alloc 2 1M");
    expect_page("steps.number 1 2; ranges.start _ _ _ _", "");
}

/* The report forgives a failure that the program did without, after which the step seemed prepared only. */
TEST(a_step_with_a_failure_is_drawn_by_one_reading_too)
{
    make_whole("observe", "device 1G GPU; repeat 2 { step i+1; push forward; alloc i 1M; pop; "
               "pop }; step 3; push forward; alloc 2 1M; fail 2G; alloc 3 1M");
    expect_page("steps.number 1 2 3", "");
}

TEST(a_trace_above_the_limit_is_shown_around_its_peak)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 80G GPU; repeat 700 { alloc 0 1M; free 0 }; alloc 0 1G; free 0; "
                 "repeat 1299 { alloc 0 1M; free 0 }");
    make(NULL, 500);
    struct rows r = rows_of_page();
    uint64_t most = 0;
    for (size_t i = 0; i < r.count; i++)
        most = r.bytes[i] > most ? r.bytes[i] : most;
    assert_int_equal(most, GIB);
    assert_in_range(r.count, 249, 251);
    assert_string_equal(json_text(page.head, "/window/why"), "around the peak");
}

static size_t times(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strcasestr(text, part)); text++)
        count++;
    return count;
}

/* Names that end the element, the script or the string they are in, and names of 64 KiB. */
TEST(names_stay_data_whatever_they_contain)
{
    static const char *const names[] = {
        "</script><script>alert(1)</script>", "<!--<script>", "\"'`\\", "\x01\x1f\x7f\x1b[31m",
        "\xff\xfe\xc0\x80", "]]>&lt;&amp;", "\xe2\x80\xa8line\xe2\x80\xa9", "${alert(1)}"};
    char *longest = malloc(65537);
    assert_non_null(longest);
    memset(longest, '<', 65536);
    longest[65536] = 0;
    make_whole("observe", "device 1G GPU");
    size_t scripts = times(page.html, "<script"), ends = times(page.html, "</script");
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, names[0], GIB);
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        const char *name = i < sizeof names / sizeof *names ? names[i] : longest;
        vs_builder_event(&b, EVENT(alloc, .addr = A(i + 1), .requested = 512, .size = 512,
                                   .api = vs_builder_string(&b, name)));
        vs_builder_push(&b, name);
        vs_builder_kernel(&b, 0, 1, name, 100 * i, 50);
    }
    make(NULL, VS_PAGE_EVENTS_MAX);
    /* besides head and curves: blocks, ranges, activity, lives */
    assert_int_equal(times(page.html, "<script"), scripts + 4);
    assert_int_equal(times(page.html, "</script"), ends + 4);
    char *head = vs_page_element(page.html, "head");
    assert_null(strpbrk(head, "<>&\n"));
    for (const char *p = head; *p; p++)
        assert_true((unsigned char)*p >= 0x20);
    assert_null(strstr(head, "\xe2\x80\xa8"));
    assert_string_equal(json_text(page.head, "/devices/0/name"), names[0]);
    free(head);
    free(longest);
}

TEST(long_sections_are_split_and_join_again)
{
    struct vs_section section = {.name = "blocks"};
    vs_section_column(&section, VS_COLUMN_DELTA, "a");
    vs_section_column(&section, VS_COLUMN_VARINT, "b");
    vs_section_column(&section, VS_COLUMN_PLANES, "c");
    struct vs_column *columns = section.columns;
    uint64_t random = 1;
    size_t count = 800000, bytes, got;
    for (size_t i = 0; i < count; i++) {
        vs_column_add(&columns[0], (vs_random(&random) >> 33) * 5);
        vs_column_add(&columns[1], i % 3 ? (vs_random(&random) >> 33) : UINT64_MAX - i);
        vs_column_add(&columns[2], i == 5 ? UINT64_MAX : i % 7 << 8);
    }
    vs_sections_pack(&section, 1);
    assert_true(section.text_count > 1);
    char *html, text[800], lengths[200] = "";
    for (size_t k = 0, at = 0; k < VS_PLANES_MAX; k++)
        at += (size_t)snprintf(lengths + at, sizeof lengths - at, "%s%d", k ? "," : "", (int)columns[2].planes[k].bytes);
    FILE *out = open_memstream(&html, &bytes);
    for (size_t k = 0; k < section.text_count; k++) {
        assert_true(section.lengths[k] < 4 * MIB + MIB / 2);
        fprintf(out, "<script id=\"blocks.%zu\">", k);
        fwrite(section.texts[k], 1, section.lengths[k], out);
        fputs("</script>", out);
    }
    fclose(out);
    snprintf(text, sizeof text,
             "{\"sections\":{\"blocks\":{\"chunks\":%zu,\"columns\":["
             "{\"name\":\"a\",\"type\":\"delta\",\"count\":%zu,\"bytes\":%zu},"
             "{\"name\":\"b\",\"type\":\"varint\",\"count\":%zu,\"bytes\":%zu},"
             "{\"name\":\"c\",\"type\":\"planes\",\"count\":%zu,\"bytes\":%zu,\"planes\":[%s]}]}}}",
             section.text_count, count, (size_t)columns[0].bytes, count, (size_t)columns[1].bytes, count,
             (size_t)columns[2].bytes, lengths);
    struct json_object *head = json_tokener_parse(text);
    uint64_t *deltas = vs_page_decoded(html, head, "blocks", "a", &got);
    uint64_t *varints = vs_page_decoded(html, head, "blocks", "b", &got);
    uint64_t *planes = vs_page_decoded(html, head, "blocks", "c", &got);
    assert_int_equal(got, count);
    random = 1;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(deltas[i], (vs_random(&random) >> 33) * 5);
        assert_int_equal(varints[i], i % 3 ? (vs_random(&random) >> 33) : UINT64_MAX - i);
        assert_int_equal(planes[i], i == 5 ? UINT64_MAX : i % 7 << 8);
    }
    free(planes);
    free(deltas);
    free(varints);
    free(html);
    json_object_put(head);
    vs_section_free(&section);
}

TEST(an_empty_trace_has_a_page)
{
    make_whole("observe", "");
    expect_page("blocks.born", "");
}
