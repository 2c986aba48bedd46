/* SPDX-License-Identifier: Apache-2.0
 *
 * The data of a page, decoded by another reading of the format, compared with the report of the same
 * trace: sums of live blocks, places, windows, and names that try to leave their element. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "support/page_decode.h"
#include "support/trace_builder.h"
#include "viewer/html/page.h"
#include "viewer/html/page_column.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB)

struct page {
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_page_scan scan;
    struct vs_span span;
    char *html;
    struct json_object *head;
};

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

/* Ends the trace of *b* and makes its page. */
static void make(struct vs_builder *b, struct page *page, const struct vs_time_window *window,
                 uint64_t events_max)
{
    char why[VS_READER_WHY_MAX];
    *page = (struct page){0};
    vs_builder_close(b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b->path, &page->reader, why), VS_OK);
    assert_int_equal(vs_span_of(page->reader, &page->span), VS_OK);
    page->scan.start_ns = page->span.start_ns;
    page->scan.end_ns = page->span.extent.last_ns;
    struct vs_page_data *collected = vs_page_data_open(&page->span);
    struct vs_trace_state *state;
    const struct vs_observer observers[] = {{VS_KINDS_EVERY, NULL, vs_page_scan_event, &page->scan},
                                            vs_page_observer(collected)};
    struct vs_report_options options = {.observers = observers, .observer_count = 2,
                                        .state = &state};
    assert_int_equal(vs_report_build(page->reader, b->path, &options, &page->report), VS_OK);
    struct vs_page_source source = {.reader = page->reader, .report = page->report,
                                    .scan = &page->scan, .span = &page->span, .window = window,
                                    .events_max = events_max};
    page->html = html_of(&source);
    source.collected = collected;
    source.end = state->replay;
    if (!window && page->span.extent.events <= events_max) { /* by one reading: the same */
        char *html = html_of(&source);
        assert_string_equal(html, page->html);
        free(html);
    } else {
        vs_page_data_free(collected);
    }
    vs_trace_state_close(state);
    char *head = vs_page_element(page->html, "head");
    assert_non_null(head);
    page->head = json_tokener_parse(head);
    free(head);
    assert_non_null(page->head);
}

static void drop(struct vs_builder *b, struct page *page)
{
    json_object_put(page->head);
    free(page->html);
    vs_report_free(page->report);
    vs_page_scan_free(&page->scan);
    vs_reader_close(page->reader);
    vs_builder_remove(b);
}

/* Rows of `blocks` that are compared. */
struct rows {
    size_t count;
    uint64_t *born, *lived, *bytes, *place, *device, *segment, *kind;
};

static uint64_t *column(const struct page *page, const char *section, const char *name,
                        size_t *count)
{
    return vs_page_decoded(page->html, page->head, section, name, count);
}

static struct rows rows_of(const struct page *page)
{
    struct rows r;
    r.born = column(page, "blocks", "born", &r.count);
    r.lived = column(page, "blocks", "lived", &r.count);
    r.bytes = column(page, "blocks", "bytes", &r.count);
    r.place = column(page, "blocks", "place", &r.count);
    r.device = column(page, "blocks", "device", &r.count);
    r.segment = column(page, "blocks", "segment", &r.count);
    r.kind = column(page, "blocks", "kind", &r.count);
    return r;
}

static void free_rows(struct rows *r)
{
    free(r->born);
    free(r->lived);
    free(r->bytes);
    free(r->place);
    free(r->device);
    free(r->segment);
    free(r->kind);
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
static void check_rows(const struct page *page)
{
    struct rows r = rows_of(page);
    for (size_t i = 0; i < r.count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (r.device[i] == r.device[k] && lives_at(&r, k, r.born[i]) && r.lived[i] != 1 &&
                r.place[i] < r.place[k] + r.bytes[k] && r.place[k] < r.place[i] + r.bytes[i])
                fail_msg("blocks %zu and %zu overlap", k, i);
        }
    }
    for (size_t d = 0; d < page->report->device_count; d++) {
        const struct vs_report_device *device = &page->report->devices[d];
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
        uint64_t *curve = column(page, "curves", name, &count), highest = 0;
        for (size_t i = 0; i < count; i++)
            highest = curve[i] > highest ? curve[i] : highest;
        assert_int_equal(highest, device->peak_user.bytes);
        free(curve);
    }
    free_rows(&r);
}

static uint64_t next_random(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

TEST(live_blocks_add_up_to_the_peak_and_never_overlap)
{
    struct vs_builder b;
    struct page page;
    uint64_t sizes[40] = {0}, random = 3;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", 80 * GIB);
    vs_builder_device(&b, 1, "GPU", 80 * GIB);
    for (int i = 0; i < 1500; i++) {
        uint64_t pick = next_random(&random), slot = pick % 40;
        if (sizes[slot]) {
            vs_builder_free(&b, slot % 2, A(slot * 100));
            sizes[slot] = 0;
        } else {
            sizes[slot] = pick % 9000000 + 1;
            vs_builder_alloc(&b, slot % 2, pick % 3 ? VS_FAMILY_DEVICE : VS_FAMILY_ASYNC,
                             A(slot * 100), sizes[slot], sizes[slot]);
        }
    }
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    check_rows(&page);
    drop(&b, &page);
}

static uint64_t axis_of(const struct page *page, size_t device)
{
    struct json_object *devices = json_object_object_get(page->head, "devices");
    struct json_object *one = json_object_array_get_idx(devices, device);
    return (uint64_t)json_object_get_int64(json_object_object_get(one, "axis"));
}

/* The page lists devices by the driver's numbers, whichever is used first. */
TEST(a_device_keeps_its_figures_if_another_is_used_first)
{
    struct vs_builder b;
    struct page page;
    size_t count;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 1, "second", GIB);
    vs_builder_alloc(&b, 1, VS_FAMILY_DEVICE, A(0), MIB, MIB);
    vs_builder_kernel(&b, 1, 7, "kernel", 100, 50);
    vs_builder_device(&b, 0, "first", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100), 8 * MIB, 8 * MIB);
    vs_builder_segment(&b, 0, A(300), 2 * MIB);
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    check_rows(&page);
    struct rows r = rows_of(&page);
    assert_int_equal(r.device[0], 1);
    assert_int_equal(r.bytes[0], MIB);
    assert_int_equal(r.device[1], 0);
    assert_int_equal(axis_of(&page, 0), 10 * MIB);
    assert_int_equal(axis_of(&page, 1), MIB);
    uint64_t *segment = column(&page, "segments", "device", &count);
    assert_int_equal(segment[0], 0);
    uint64_t *activity = column(&page, "activity", "device", &count);
    assert_int_equal(activity[0], 1);
    struct json_object *streams = json_object_object_get(page.head, "streams");
    for (size_t i = 0; i < json_object_array_length(streams); i++) {
        struct json_object *one = json_object_array_get_idx(streams, i);
        const char *name = json_object_get_string(json_object_object_get(one, "name"));
        if (strcmp(name, "stream 7") == 0)
            assert_int_equal(json_object_get_int(json_object_object_get(one, "device")), 1);
    }
    free(segment);
    free(activity);
    free_rows(&r);
    drop(&b, &page);
}

TEST(a_block_lies_in_its_segment)
{
    struct vs_builder b;
    struct page page;
    size_t count, segments;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "GPU", GIB);
    vs_builder_segment(&b, 0, A(100), 20 * MIB);
    vs_builder_segment(&b, 0, A(900), 20 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(902), MIB, 2 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100), MIB, MIB);
    vs_builder_free(&b, 0, A(100));
    vs_builder_segment_free(&b, 0, A(100), 20 * MIB);
    vs_builder_segment(&b, 0, A(300), 2 * MIB); /* has the first one's place */
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    check_rows(&page);
    struct rows r = rows_of(&page);
    uint64_t *place = column(&page, "segments", "place", &segments);
    uint64_t *address = column(&page, "segments", "address", &segments);
    uint64_t *lived = column(&page, "segments", "lived", &segments);
    uint64_t *waste = column(&page, "blocks", "waste", &count);
    assert_int_equal(segments, 3);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.segment[0], 2);
    assert_int_equal(address[1], A(900));
    assert_int_equal(place[1], 20 * MIB);
    assert_int_equal(r.place[0], 22 * MIB);
    assert_int_equal(waste[0], MIB);
    assert_int_equal(r.place[1], 0);
    assert_int_equal(r.lived[1], 1001);
    assert_int_equal(lived[0], 5001);
    assert_int_equal(place[2], 0);
    free(place);
    free(address);
    free(lived);
    free(waste);
    free_rows(&r);
    drop(&b, &page);
}

static void put_tensor(struct vs_builder *b, uint64_t addr, uint64_t size, bool alloc)
{
    struct vs_event event = {.kind = alloc ? VS_EVENT_framework_alloc : VS_EVENT_framework_free};
    event.framework_alloc.addr = addr;
    event.framework_alloc.size = size;
    vs_builder_event(b, event);
}

TEST(memory_that_holds_tensors_is_a_segment)
{
    struct vs_builder b;
    struct page page;
    size_t segments;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 20 * MIB, 20 * MIB);
    put_tensor(&b, A(0), MIB, true); /* only now the memory is known to hold tensors */
    put_tensor(&b, A(4), 3 * MIB, true);
    put_tensor(&b, A(0), MIB, false);
    put_tensor(&b, A(1), 2 * MIB, true);
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    struct rows r = rows_of(&page);
    uint64_t *bytes = column(&page, "segments", "bytes", &segments);
    assert_int_equal(segments, 1);
    assert_int_equal(bytes[0], 20 * MIB);
    assert_int_equal(r.count, 4);
    assert_int_equal(r.lived[0], 1);
    assert_int_equal(r.segment[3], 1);
    assert_int_equal(r.place[3] - r.place[0], MIB);
    assert_int_equal(live_at(&r, 0, UINT64_MAX - 1), 5 * MIB);
    assert_int_equal(page.report->devices[0].user_allocated, 5 * MIB);
    free(bytes);
    free_rows(&r);
    drop(&b, &page);
}

static void put_mapping(struct vs_builder *b, uint64_t addr, uint64_t size, bool map)
{
    struct vs_event event = {.kind = map ? VS_EVENT_segment_map : VS_EVENT_segment_unmap};
    if (map) {
        event.segment_map.addr = addr;
        event.segment_map.size = event.segment_map.reserved = size;
    } else {
        event.segment_unmap.addr = addr;
        event.segment_unmap.size = event.segment_unmap.reserved = size;
    }
    vs_builder_event(b, event);
}

TEST(a_block_over_two_mappings_is_one_rectangle)
{
    struct vs_builder b;
    struct page page;
    size_t segments;
    vs_builder_open(&b, "caching (compact)");
    vs_builder_device(&b, 0, "GPU", GIB);
    put_mapping(&b, A(0), 2 * MIB, true);
    vs_builder_segment(&b, 0, A(500), 20 * MIB); /* must not be placed behind the first mapping */
    put_mapping(&b, A(2), 4 * MIB, true);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 4 * MIB, 4 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(500), MIB, MIB);
    vs_builder_free(&b, 0, A(1));
    put_mapping(&b, A(1), 3 * MIB, false); /* leaves a part on both sides */
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    check_rows(&page);
    struct rows r = rows_of(&page);
    uint64_t *bytes = column(&page, "segments", "bytes", &segments);
    uint64_t *lived = column(&page, "segments", "lived", &segments);
    uint64_t held = 0;
    for (size_t i = 0; i < segments; i++)
        held += lived[i] ? 0 : bytes[i];
    assert_int_equal(held, 23 * MIB);
    assert_int_equal(page.report->devices[0].reserved, 23 * MIB);
    assert_int_equal(r.place[0], MIB);
    assert_int_equal(r.place[1], 6 * MIB);
    free(bytes);
    free(lived);
    free_rows(&r);
    drop(&b, &page);
}

TEST(mappings_of_two_devices_side_by_side_have_places_on_two_axes)
{
    struct vs_builder b;
    struct page page;
    size_t count;
    vs_builder_open(&b, "caching (compact)");
    vs_builder_device(&b, 0, "GPU", GIB);
    vs_builder_device(&b, 1, "GPU", GIB);
    for (unsigned i = 0; i < 4; i++) {
        struct vs_event event = {.kind = VS_EVENT_segment_map};
        event.segment_map.device = i / 2;
        event.segment_map.addr = A(2 * i);
        event.segment_map.size = event.segment_map.reserved = 2 * MIB;
        vs_builder_event(&b, event);
    }
    vs_builder_alloc(&b, 1, VS_FAMILY_DEVICE, A(5), MIB, MIB);
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    check_rows(&page);
    struct rows r = rows_of(&page);
    uint64_t *place = column(&page, "segments", "place", &count);
    assert_int_equal(count, 4);
    assert_int_equal(place[2], 0);
    assert_int_equal(place[3], 2 * MIB);
    assert_int_equal(r.place[0], MIB);
    assert_int_equal(axis_of(&page, 0), 4 * MIB);
    assert_int_equal(axis_of(&page, 1), 4 * MIB);
    free(place);
    free_rows(&r);
    drop(&b, &page);
}

TEST(a_window_has_what_was_live_at_its_start)
{
    struct vs_builder b;
    struct page page;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), MIB, MIB);      /* event 3 */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1), 2 * MIB, 2 * MIB);
    vs_builder_free(&b, 0, A(0));
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10), 4 * MIB, 4 * MIB); /* event 6 */
    vs_builder_free(&b, 0, A(1));
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20), 8 * MIB, 8 * MIB);
    const struct vs_time_window window = {{true, true, 6}, {true, true, 7}};
    make(&b, &page, &window, VS_PAGE_EVENTS_MAX);
    struct rows r = rows_of(&page);
    assert_int_equal(r.count, 2);
    assert_int_equal(r.bytes[0], 2 * MIB);
    assert_int_equal(r.lived[0], 3001);
    assert_int_equal(r.bytes[1], 4 * MIB);
    assert_int_equal(r.lived[1], 0);
    struct json_object *of = json_object_object_get(page.head, "window");
    assert_int_equal(json_object_get_int64(json_object_object_get(of, "first_event")), 6);
    assert_int_equal(json_object_get_int64(json_object_object_get(of, "last_event")), 7);
    assert_int_equal(json_object_get_int64(json_object_object_get(of, "blocks_left_out")), 2);
    free_rows(&r);
    drop(&b, &page);
}

/* The kinds of tensors that are freed before the window are decided before it has rows. */
TEST(tensors_that_end_before_the_window_have_no_rows)
{
    struct vs_builder b;
    struct page page;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 20 * MIB, 20 * MIB); /* event 3 */
    put_tensor(&b, A(0), MIB, true);
    put_tensor(&b, A(4), 3 * MIB, true);
    put_tensor(&b, A(0), MIB, false);
    put_tensor(&b, A(4), 3 * MIB, false);
    put_tensor(&b, A(1), 2 * MIB, true); /* event 8 */
    put_tensor(&b, A(1), 2 * MIB, false);
    const struct vs_time_window window = {{true, true, 8}, {true, true, 9}};
    make(&b, &page, &window, VS_PAGE_EVENTS_MAX);
    struct rows r = rows_of(&page);
    assert_true(r.count > 0);
    for (size_t i = 0; i < r.count; i++)
        assert_int_not_equal(r.bytes[i], 3 * MIB);
    assert_int_equal(r.bytes[r.count - 1], 2 * MIB);
    free_rows(&r);
    drop(&b, &page);
}

/* Kinds are read on to the trace's end; the ranges are those of the window nevertheless. */
TEST(a_window_has_the_ranges_that_are_open_at_its_end)
{
    struct vs_builder b;
    struct page page;
    size_t count;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", GIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 20 * MIB, 20 * MIB);
    vs_builder_push(&b, "outer");        /* event 4 */
    put_tensor(&b, A(0), MIB, true);     /* 5 */
    vs_builder_pop(&b);                  /* 6 */
    vs_builder_push(&b, "later");
    put_tensor(&b, A(2), MIB, true);
    const struct vs_time_window window = {{true, true, 4}, {true, true, 5}};
    make(&b, &page, &window, VS_PAGE_EVENTS_MAX);
    uint64_t *start = column(&page, "ranges", "start", &count);
    uint64_t *duration = column(&page, "ranges", "duration", &count);
    assert_int_equal(count, 1);
    assert_int_equal(start[0], 3000);
    assert_int_equal(duration[0], 1000);
    free(start);
    free(duration);
    drop(&b, &page);
}

/* PyTorch's steps begin where the one before ends: a step and a forward phase were drawn from the end of
 * the last step to the exit. */
TEST(a_step_that_was_only_prepared_is_not_drawn)
{
    struct vs_builder b;
    struct page page;
    size_t steps, ranges;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", GIB);
    for (unsigned i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "step %u", i + 1);
        vs_builder_push(&b, name);
        vs_builder_push(&b, "forward");
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(i), MIB, MIB);
        if (i < 2) {
            vs_builder_pop(&b);
            vs_builder_pop(&b);
        }
    }
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    free(column(&page, "steps", "number", &steps));
    free(column(&page, "ranges", "start", &ranges));
    assert_int_equal(steps, 2);
    assert_int_equal(ranges, 4);
    drop(&b, &page);
}

TEST(a_trace_above_the_limit_is_shown_around_its_peak)
{
    struct vs_builder b;
    struct page page;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", 80 * GIB);
    for (unsigned i = 0; i < 2000; i++) {
        uint64_t size = i == 700 ? GIB : MIB;
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), size, size);
        vs_builder_free(&b, 0, A(0));
    }
    make(&b, &page, NULL, 500);
    struct rows r = rows_of(&page);
    uint64_t most = 0;
    for (size_t i = 0; i < r.count; i++)
        most = r.bytes[i] > most ? r.bytes[i] : most;
    assert_int_equal(most, GIB);
    assert_in_range(r.count, 249, 251);
    struct json_object *of = json_object_object_get(page.head, "window");
    assert_string_equal(json_object_get_string(json_object_object_get(of, "why")),
                        "around the peak");
    free_rows(&r);
    drop(&b, &page);
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
    struct vs_builder b;
    struct page page, plain;
    char *longest = malloc(65537);
    assert_non_null(longest);
    memset(longest, '<', 65536);
    longest[65536] = 0;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU", GIB);
    make(&b, &plain, NULL, VS_PAGE_EVENTS_MAX);
    size_t scripts = times(plain.html, "<script"), ends = times(plain.html, "</script");
    drop(&b, &plain);

    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, names[0], GIB);
    for (size_t i = 0; i <= sizeof names / sizeof *names; i++) {
        const char *name = i < sizeof names / sizeof *names ? names[i] : longest;
        struct vs_event event = {.kind = VS_EVENT_alloc};
        event.alloc.addr = A(i + 1);
        event.alloc.requested = event.alloc.size = 512;
        event.alloc.api = vs_builder_string(&b, name);
        vs_builder_event(&b, event);
        vs_builder_push(&b, name);
        vs_builder_kernel(&b, 0, 1, name, 100 * i, 50);
    }
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    /* besides head and curves: blocks, ranges, activity */
    assert_int_equal(times(page.html, "<script"), scripts + 3);
    assert_int_equal(times(page.html, "</script"), ends + 3);
    char *head = vs_page_element(page.html, "head");
    assert_null(strpbrk(head, "<>&\n"));
    for (const char *p = head; *p; p++)
        assert_true((unsigned char)*p >= 0x20);
    assert_null(strstr(head, "\xe2\x80\xa8"));
    struct json_object *devices = json_object_object_get(page.head, "devices");
    struct json_object *device = json_object_array_get_idx(devices, 0);
    assert_string_equal(json_object_get_string(json_object_object_get(device, "name")), names[0]);
    free(head);
    free(longest);
    drop(&b, &page);
}

TEST(long_sections_are_split_and_join_again)
{
    struct vs_section section = {.name = "blocks"};
    vs_section_column(&section, VS_COLUMN_DELTA, "a");
    vs_section_column(&section, VS_COLUMN_VARINT, "b");
    struct vs_column *columns = section.columns;
    uint64_t random = 1;
    size_t count = 800000, bytes, got;
    for (size_t i = 0; i < count; i++) {
        vs_column_add(&columns[0], next_random(&random) * 5);
        vs_column_add(&columns[1], i % 3 ? next_random(&random) : UINT64_MAX - i);
    }
    vs_sections_pack(&section, 1);
    assert_true(section.text_count > 1);
    char *html, text[400];
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
             "{\"name\":\"b\",\"type\":\"varint\",\"count\":%zu,\"bytes\":%zu}]}}}",
             section.text_count, count, (size_t)columns[0].bytes, count, (size_t)columns[1].bytes);
    struct json_object *head = json_tokener_parse(text);
    uint64_t *a = vs_page_decoded(html, head, "blocks", "a", &got);
    uint64_t *b = vs_page_decoded(html, head, "blocks", "b", &got);
    assert_int_equal(got, count);
    random = 1;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i], next_random(&random) * 5);
        assert_int_equal(b[i], i % 3 ? next_random(&random) : UINT64_MAX - i);
    }
    free(a);
    free(b);
    free(html);
    json_object_put(head);
    vs_section_free(&section);
}

TEST(an_empty_trace_has_a_page)
{
    struct vs_builder b;
    struct page page;
    size_t count;
    vs_builder_open(&b, "observe");
    make(&b, &page, NULL, VS_PAGE_EVENTS_MAX);
    uint64_t *born = column(&page, "blocks", "born", &count);
    assert_int_equal(count, 0);
    free(born);
    drop(&b, &page);
}
