/* SPDX-License-Identifier: Apache-2.0
 *
 * The Chrome timeline, read back with a JSON parser: slices nest, time never decreases on a track,
 * counters reach exactly the reported peaks. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "analysis/report/report.h"
#include "support/json_test.h"
#include "support/trace_text.h"
#include "viewer/chrome/chrome_emit.h"
#include "viewer/common/json_writer.h"
#include "viewer/export/export.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static struct vs_builder b;
static struct timeline {
    struct json_object *root, *events;
    struct vs_report *report;
    struct vs_export_result stats;
} t; /* of its trace */

AFTER(finish)
{
    json_object_put(t.root);
    vs_report_free(t.report);
    t = (struct timeline){0};
    return 0;
}

/* Ends the trace and exports it. */
static void export(uint64_t counter_ns)
{
    struct vs_reader *reader;
    char *text = NULL;
    size_t length = 0;
    struct vs_export_options options = {.counter_ns = counter_ns};
    finish(NULL);
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
    assert_int_equal(vs_report_build(reader, b.path, NULL, &t.report), VS_OK);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vs_export_chrome(reader, out, &options, &t.stats), VS_OK);
    fclose(out);
    vs_reader_close(reader);
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    t.root = json_tokener_parse_ex(tokener, text, (int)length);
    if (!t.root)
        fail_msg("not JSON: %s", json_tokener_error_desc(json_tokener_get_error(tokener)));
    json_tokener_free(tokener);
    free(text);
    t.events = json_at(t.root, "/traceEvents");
}

static void open_trace(const char *text)
{
    vs_builder_open(&b, "observe");
    vs_trace(&b, "%s", text);
}

static const char *str(struct json_object *event, const char *key)
{
    return json_object_get_string(json_object_object_get(event, key));
}

static int64_t num(struct json_object *event, const char *key)
{
    return json_object_get_int64(json_object_object_get(event, key));
}

/* µs with three decimals as whole ns */
static int64_t ns(struct json_object *event, const char *key)
{
    return (int64_t)(json_object_get_double(json_object_object_get(event, key)) * 1000 + 0.5);
}

static int64_t arg(struct json_object *event, const char *key)
{
    return num(json_object_object_get(event, "args"), key);
}

static struct json_object *at(size_t i)
{
    return json_object_array_get_idx(t.events, i);
}

static size_t count(char phase, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < json_object_array_length(t.events); i++)
        n += *str(at(i), "ph") == phase && (!name || strcmp(str(at(i), "name"), name) == 0);
    return n;
}

static int64_t counter_max(int64_t pid, const char *name)
{
    int64_t max = 0;
    for (size_t i = 0; i < json_object_array_length(t.events); i++) {
        struct json_object *e = at(i);
        if (*str(e, "ph") == 'C' && num(e, "pid") == pid && strcmp(str(e, "name"), name) == 0 &&
            arg(e, "bytes") > max)
            max = arg(e, "bytes");
    }
    return max;
}

/* Checks all format rules of a track, over all tracks. */
static void check_tracks(void)
{
    size_t total = json_object_array_length(t.events);
    for (size_t i = 0; i < total; i++) {
        struct json_object *e = at(i);
        char phase = *str(e, "ph");
        if (phase == 'M')
            continue;
        int64_t pid = num(e, "pid"), tid = num(e, "tid"), end = ns(e, "ts");
        if (phase == 'X')
            end += ns(e, "dur");
        for (size_t k = i + 1; k < total; k++) { /* the next one on the same track */
            struct json_object *f = at(k);
            char other = *str(f, "ph");
            bool same = num(f, "pid") == pid && num(f, "tid") == tid && other != 'M' &&
                        (phase == 'C') == (other == 'C') &&
                        (phase != 'C' || strcmp(str(e, "name"), str(f, "name")) == 0);
            if (!same)
                continue;
            assert_true(ns(f, "ts") >= (phase == 'X' ? end : ns(e, "ts")));
            break;
        }
    }
}

/* B and E of each host thread match like brackets. */
static void check_brackets(int64_t tid)
{
    const char *open[64];
    size_t depth = 0;
    for (size_t i = 0; i < json_object_array_length(t.events); i++) {
        struct json_object *e = at(i);
        char phase = *str(e, "ph");
        if ((phase != 'B' && phase != 'E') || num(e, "tid") != tid)
            continue;
        if (phase == 'B') {
            open[depth++] = str(e, "name");
        } else {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], str(e, "name"));
        }
    }
    assert_int_equal(depth, 0);
}

static void busy_trace(void)
{
    vs_builder_open(&b, "caching");
    vs_trace(&b, "device 4G First; gpu 1; device 4G Second; gpu 0");
    for (unsigned s = 0; s < 3; s++) {
        vs_trace(&b, "step %u; push forward", s);
        for (unsigned i = 0; i < 50; i++)
            vs_trace(&b, "segment %u 20M; alloc %u %uM; gpu 1; alloc %u %u async; gpu 0; kernel %u %u %u matmul",
                     100 * i, 100 * i, i % 7 + 1, 10000 + 100 * i, (i + 1) * 4096, i % 3, 100000 * s + 1500 * i,
                     400 + i);
        vs_trace(&b, "pop; repeat 50 { free 100i; unsegment 100i 20M; gpu 1; free 100i+10000; gpu 0 }; pop");
    }
}

TEST(counters_reach_exactly_the_reported_peaks)
{
    const uint64_t windows[] = {0, 10000, 1000000000};
    for (int w = 0; w < 3; w++) { /* every point, some merged, all merged */
        busy_trace();
        export(windows[w]);
        for (int d = 0; d < 2; d++) {
            const struct vs_report_device *device = &t.report->devices[d];
            assert_true(device->peak_allocated.bytes > 0);
            assert_int_equal(counter_max(d, "allocated"), device->peak_allocated.bytes);
            assert_int_equal(counter_max(d, "reserved"), device->peak_reserved.bytes);
        }
        check_tracks();
        check_brackets(VS_BUILDER_PID);
    }
}

TEST(merging_points_makes_fewer_of_them)
{
    busy_trace();
    export(50000);
    size_t few = count('C', NULL);
    busy_trace();
    export(0);
    assert_true(few * 5 < count('C', NULL));
    assert_int_equal(count('C', "reserved"), 2 * 3 * 100); /* two devices, each change */
}

TEST(kernels_out_of_order_come_out_in_order)
{
    open_trace("device 1G GPU; kernel 7 9000 100 late; kernel 7 1000 100 _Z5earlyv");
    vs_builder_memcpy(&b, 0, 7, VS_COPY_HTOD, 1 << 20, 5000, 700);
    vs_trace(&b, "kernel 9 1050 9000 elsewhere");
    export(0);
    assert_int_equal(count('X', NULL), 4);
    assert_int_equal(count('X', "Memcpy HtoD"), 1);
    assert_int_equal(count('X', "early()"), 1);
    assert_int_equal(t.stats.clipped, 0);
    check_tracks();
}

TEST(overlapping_slices_of_one_stream_are_cut_and_counted)
{
    open_trace("device 1G GPU; kernel 7 1000 500 one; kernel 7 1400 500 two; kernel 7 1450 10 inside");
    export(0);
    assert_int_equal(t.stats.clipped, 2);
    assert_int_equal(count('X', NULL), 3);
    check_tracks();
}

TEST(ranges_left_open_and_stray_pops_still_nest)
{
    open_trace("pop; push outer; push inner; pop; push never closed");
    b.tid = 99;
    vs_builder_push(&b, "other thread");
    export(0);
    assert_int_equal(count('B', NULL), 4);
    assert_int_equal(count('E', NULL), 4);
    check_brackets(VS_BUILDER_PID);
    check_brackets(99);
}

TEST(crossing_domains_are_closed_and_opened_again)
{
    open_trace("");
    uint64_t domains[] = {vs_builder_string(&b, "library"), vs_builder_string(&b, "program")};
    for (int i = 0; i < 2; i++)
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_range_push,
            .range_push = {.name = vs_builder_string(&b, i ? "two" : "one"), .domain = domains[i]}});
    for (int i = 0; i < 2; i++)
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_range_pop, .range_pop = {.domain = domains[i]}});
    export(0);
    assert_int_equal(count('B', "one"), 1);
    assert_int_equal(count('B', "two"), 2);
    check_brackets(VS_BUILDER_PID);
    check_tracks();
}

TEST(start_end_ranges_are_paired_by_id)
{
    open_trace("");
    uint64_t name = vs_builder_string(&b, "async work");
    for (uint64_t id = 1; id <= 2; id++)
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_range_start,
                                               .range_start = {.range = id, .name = name}});
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_range_end, .range_end = {.range = 1}});
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_range_end, .range_end = {.range = 7}});
    export(0);
    assert_int_equal(count('b', "async work"), 2);
    assert_int_equal(count('e', "async work"), 2); /* the open one is closed at the end */
}

TEST(names_with_quotes_and_foreign_bytes_survive)
{
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "GPU \"x\" \\ \t", GIB);
    vs_builder_kernel(&b, 0, 7, "k<\"a\", '\\n'>\x01", 1000, 10);
    vs_builder_kernel(&b, 0, 7, "bad \xff\xc0\xaf bytes", 2000, 10);
    vs_builder_kernel(&b, 0, 7, "größe 矩阵", 3000, 10);
    export(0);
    assert_int_equal(count('X', "k<\"a\", '\\n'>\x01"), 1);
    assert_int_equal(count('X', "größe 矩阵"), 1);
    assert_int_equal(count('X', NULL), 3);
}

TEST(the_json_writer_repairs_text_by_itself)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    vs_json_text(out, "a\xff\"\xe2\x82\n\xed\xa0\x80\xf0\x9f\x98\x80");
    fclose(out);
    assert_string_equal(text, "\"a\xef\xbf\xbd\\\"\xef\xbf\xbd\xef\xbf\xbd\\u000a"
                              "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80\"");
    free(text);
}

TEST(large_allocations_failures_and_marks_are_instants)
{
    open_trace("device 1G GPU; alloc 0 10M; alloc 100 11M; fail 2G free 900M; mark epoch done"); /* 1 % is 10.24 MiB */
    export(0);
    assert_int_equal(count('i', "[memory]"), 1);
    assert_int_equal(count('i', "[OutOfMemory]"), 1);
    assert_int_equal(count('i', "epoch done"), 1);
    for (size_t i = 0; i < json_object_array_length(t.events); i++) {
        struct json_object *e = at(i);
        if (strcmp(str(e, "name"), "[memory]") == 0) {
            assert_int_equal(arg(e, "Bytes"), 11 * MIB);
            assert_int_equal(arg(e, "Total Allocated"), 21 * MIB);
        } else if (strcmp(str(e, "name"), "[OutOfMemory]") == 0) {
            assert_int_equal(arg(e, "Bytes"), 2 * GIB);
        }
    }
}

TEST(tracks_have_names_and_the_file_its_properties)
{
    open_trace("device 1G GPU");
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_stream,
        .stream = {.stream = 7, .name = vs_builder_string(&b, "copies"), .alive = 1}});
    vs_builder_kernel(&b, 0, 7, "k", 1000, 10);
    export(0);
    bool process = false, device = false, stream = false;
    for (size_t i = 0; i < json_object_array_length(t.events); i++) {
        struct json_object *e = at(i), *args = json_object_object_get(e, "args");
        if (*str(e, "ph") != 'M' || !json_object_object_get(args, "name"))
            continue;
        process |= strcmp(str(args, "name"), "train_demo") == 0 && num(e, "pid") == VS_BUILDER_PID;
        device |= strcmp(str(args, "name"), "GPU 0: GPU (simulated)") == 0;
        stream |= strcmp(str(args, "name"), "stream 7 (copies)") == 0 && num(e, "tid") == 7;
    }
    assert_true(process && device && stream);
    assert_int_equal(num(t.root, "schemaVersion"), 1);
    assert_string_equal(str(t.root, "displayTimeUnit"), "ms");
    assert_int_equal(num(t.root, "baseTimeNanoseconds"), INT64_C(1700000000000000000));
    assert_int_equal(json_length(t.root, "/deviceProperties"), 1);
    assert_int_equal(json_number(t.root, "/deviceProperties/0/totalGlobalMem"), GIB);
}

TEST(a_full_heap_hands_out_the_earliest_slice)
{
    struct vs_slices slices = {0};
    struct vs_slice out, in = {0};
    uint64_t last = 0, given = 0, total = 3 * VS_SLICES_HELD_MAX;
    for (uint64_t i = 0; i < total; i++) {
        in.start_ns = 10 * (i ^ 1); /* neighbours swapped */
        in.end_ns = in.start_ns + 10;
        if (vs_slices_add(&slices, &in, &out)) {
            assert_true(out.start_ns >= last);
            last = out.end_ns;
            given++;
        }
    }
    while (vs_slices_take(&slices, &out)) {
        assert_true(out.start_ns >= last);
        last = out.end_ns;
        given++;
    }
    assert_int_equal(given, total);
    assert_int_equal(slices.clipped, 0);
    vs_slices_free(&slices);
}

TEST(an_option_that_a_format_does_not_use_is_named)
{
    struct vs_export_format spans = {.name = "spans", .options = VS_EXPORT_SPAN};
    assert_null(vs_export_unused(&spans, 0));
    assert_null(vs_export_unused(&spans, VS_EXPORT_SPAN));
    assert_string_equal(vs_export_unused(&spans, VS_EXPORT_SPAN | VS_EXPORT_ALL_POINTS),
                        "--all-points");
    spans.options = 0;
    assert_string_equal(vs_export_unused(&spans, VS_EXPORT_SPAN), "--from and --to");
}

TEST(formats_are_found_by_their_names)
{
    const struct vs_export_format *chrome = vs_export_find("chrome");
    assert_non_null(chrome);
    assert_string_equal(chrome->extension, "json");
    assert_null(vs_export_unused(chrome, VS_EXPORT_SPAN | VS_EXPORT_INSTANT_MIN | VS_EXPORT_ALL_POINTS));
    assert_string_equal(vs_export_unused(chrome, VS_EXPORT_SPAN | VS_EXPORT_BY), "--by");
    assert_null(vs_export_find("chrom"));
}
