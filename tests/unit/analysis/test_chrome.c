/* SPDX-License-Identifier: Apache-2.0
 *
 * The Chrome timeline, read back with a JSON parser: slices nest, time never decreases on a track,
 * counters reach exactly the reported peaks, a window has the activity that ran in it, as counted by
 * the report of that window, and the call stacks of allocations are complete, each frame written once. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "analysis/growth/growth.h"
#include "support/json_test.h"
#include "support/report_test.h"
#include "viewer/common/json_writer.h"
#include "viewer/export/export.h"

#define MS UINT64_C(1000000)

static struct timeline {
    struct json_object *root, *events;
    struct vs_export_result stats;
} t; /* of the trace */

AFTER(finish)
{
    json_object_put(t.root);
    t = (struct timeline){0};
    return 0;
}

static void export_with(struct vs_export_options options)
{
    char *text = NULL;
    size_t length = 0;
    finish(NULL);
    read_trace(0);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vs_export_chrome(reader, out, &options, &t.stats), VS_OK);
    fclose(out);
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    t.root = json_tokener_parse_ex(tokener, text, (int)length);
    if (!t.root)
        fail_msg("not JSON: %s", json_tokener_error_desc(json_tokener_get_error(tokener)));
    json_tokener_free(tokener);
    free(text);
    t.events = json_at(t.root, "/traceEvents");
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
                        (phase != 'C' || strcmp(str(e, "name"), str(f, "name")) == 0) &&
                        !strchr("ben", phase) == !strchr("ben", other) &&
                        (!strchr("ben", phase) || strcmp(str(e, "id2"), str(f, "id2")) == 0);
            if (!same)
                continue;
            assert_true(ns(f, "ts") >= (phase == 'X' ? end : ns(e, "ts")));
            break;
        }
    }
}

/* B and E of each thread match like brackets. */
static void check_brackets(void)
{
    size_t total = json_object_array_length(t.events);
    for (size_t first = 0; first < total; first++) {
        const char *open[64];
        size_t depth = 0;
        if (!strchr("BE", *str(at(first), "ph")))
            continue;
        for (size_t i = 0; i < total; i++) {
            char phase = *str(at(i), "ph");
            if (!strchr("BE", phase) || num(at(i), "tid") != num(at(first), "tid"))
                continue;
            if (phase == 'B') {
                open[depth++] = str(at(i), "name");
            } else {
                assert_true(depth > 0);
                assert_string_equal(open[--depth], str(at(i), "name"));
            }
        }
        assert_int_equal(depth, 0);
    }
}

/* "X 4; X early() 1": how many events are of the phase, and of the name. */
static void expect_counts(const char *text)
{
    char one[160];
    for (size_t size; *(text += strspn(text, "; ")); text += size) {
        size = strcspn(text, ";");
        snprintf(one, sizeof one, "%.*s", (int)size, text);
        char *number = strrchr(one, ' ');
        *number = 0;
        if (count(*one, one[1] ? one + 2 : NULL) != strtoul(number + 1, NULL, 10))
            fail_msg("there are %zu of %s, not%s", count(*one, one[1] ? one + 2 : NULL), one, number + 1);
    }
}

/* The export of the trace so far. */
static void expect_timeline(const char *counts, const char *facts)
{
    export_with((struct vs_export_options){0});
    expect_counts(counts);
    json_expect(t.root, t.root, facts ? facts : "");
    check_tracks();
    check_brackets();
}

static const struct chrome_case {
    const char *name, *trace, *counts, *facts;
    uint64_t clipped;
} cases[] = {
    {"kernels_out_of_order_come_out_in_order",
     "device 1G GPU; kernel 7 9000 100 late; kernel 7 1000 100 _Z5earlyv; copy 7 htod 1M 5000 700; "
     "kernel 9 1050 9000 elsewhere",
     "X 4; X Memcpy HtoD 1; X early() 1"},
    {"overlapping_slices_of_one_stream_are_cut_and_counted",
     "device 1G GPU; kernel 7 1000 500 one; kernel 7 1400 500 two; kernel 7 1450 10 inside", "X 3", .clipped = 2},
    {"ranges_left_open_and_stray_pops_still_nest",
     "pop; push outer; push inner; pop; push never closed; thread 9; push other thread", "B 4; E 4"},
    {"names_with_quotes_and_foreign_bytes_survive",
     "device 1G GPU \"x\" \\ \t.; kernel 7 1000 10 k<\"a\", '\\n'>\x01; "
     "kernel 7 2000 10 bad \xff\xc0\xaf bytes; kernel 7 3000 10 größe 矩阵",
     "X k<\"a\", '\\n'>\x01 1; X größe 矩阵 1; X 3"},
    {"large_allocations_failures_and_marks_are_instants", /* 1 % is 10.24 MiB */
     "device 1G GPU; alloc 0 10M; alloc 100 11M; fail 2G free 900M; mark epoch done",
     "i [memory] 1; i [OutOfMemory] 1; i epoch done 1; b 1; e 1",
     "traceEvents/name=[memory]/args/Bytes 11M; traceEvents/name=[memory]/args/Total~Allocated 21M; "
     "traceEvents/name=[OutOfMemory]/args/Bytes 2G"},
    {"a_free_has_its_bytes_below_zero_and_ends_a_life",
     "device 1G GPU; at load < main; alloc 0 20M; alloc 100 30M; free 0; alloc 200 24M pinned; sample 600M; free 200",
     "i [memory] 5; b 3; e 3; b load (train.py:1): 24.0 MiB pinned 1; C pinned host 2; C device in use 1",
     "traceEvents/name=[memory]&ts=4.000/args/Bytes -20971520; traceEvents/name=[memory]&ts=4.000/args/Total~Allocated 30M; "
     "traceEvents/name=load~(train.py:1):~20.0~MiB~device&ph=b/args/end freed; "
     "traceEvents/name=load~(train.py:1):~30.0~MiB~device&ph=b/args/end live at the end; "
     "traceEvents/name=device~in~use/args/bytes 424M"},
    {"segments_retries_and_recoveries_are_instants_of_the_memory_below_tensors",
     "device 1G GPU; at @/lib/libc10_cuda.so; alloc 0 32M; at train /net.py:7; tensor 0 20M of 20M 32M; "
     "at @/lib/libc10_cuda.so; fail 64M free 30M; alloc 100 64M; free 0; at; raise 512M; tensor 200 512M of 532M 600M",
     "i segment allocated 2; i segment freed 1; i refused by the device 1; i retry succeeded 1; i [OutOfMemory] 1; "
     "i recovered from out of memory 1; i [memory] 2; b 2",
     "traceEvents/name=[memory]/args/Total~Reserved 32M; traceEvents/ph=b/name train (net.py:7): 20.0 MiB inputs"},
};

ROWS(cases, a_timeline_is_of_its_trace)
{
    const struct chrome_case *c = *state;
    begin_trace("observe", c->trace);
    expect_timeline(c->counts, c->facts);
    assert_int_equal(t.stats.clipped, c->clipped);
}

static void busy_trace(void)
{
    begin_trace("caching", "device 4G First; gpu 1; device 4G Second; gpu 0");
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
    static const uint64_t windows[] = {0, 50000, 1000000000}; /* every point, some merged, all merged */
    size_t counters[3];
    busy_trace();
    read_report(0);
    for (int w = 0; w < 3; w++) {
        export_with((struct vs_export_options){.counter_ns = windows[w]});
        for (int d = 0; d < 2; d++) {
            const struct vs_report_device *device = &report->devices[d];
            assert_true(device->peak_allocated.bytes > 0);
            assert_int_equal(counter_max(d, "allocated"), device->peak_allocated.bytes);
            assert_int_equal(counter_max(d, "reserved"), device->peak_reserved.bytes);
        }
        check_tracks();
        check_brackets();
        counters[w] = count('C', NULL);
        if (w == 0)
            expect_counts("C reserved 600"); /* two devices, each change */
    }
    assert_true(counters[1] * 5 < counters[0]);
}

/* What CUPTI and NVTX report besides times and names. */
TEST(work_has_its_call_and_its_kinds_of_memory_and_ranges_their_colours)
{
    begin_trace("observe", "device 1G GPU; at linear /x/site-packages/torch/functional.py:9 < train /net.py:7");
    vs_trace(&b, "alloc 0 1M");
    uint64_t name = vs_builder_string(&b, "range"), domain = vs_builder_string(&b, "library");
    double real = 2.5;
    uint64_t bits, start = b.start_ns;
    memcpy(&bits, &real, sizeof bits);
    vs_builder_event(&b, EVENT(work_call, .correlation = 5, .stack = b.stack, .thread = 4242));
    vs_builder_event(&b, EVENT(memcpy, .start_ns = start + 1000, .end_ns = start + 2000, .stream = 7, .bytes = 4096,
                               .copy_kind = VS_COPY_HTOD, .correlation = 5, .src_kind = VS_MEMORY_PAGEABLE,
                               .dst_kind = VS_MEMORY_DEVICE, .dst_device = 1, .graph = 3, .graph_node = 4));
    vs_builder_event(&b, EVENT(cupti_overhead, .start_ns = start + 100, .end_ns = start + 200, .thread = 4242,
                               .overhead_kind = 65536));
    vs_builder_event(&b, EVENT(range_push, .name = name, .domain = domain, .colour = 0xff0080ff,
                               .payload_kind = VS_PAYLOAD_DOUBLE, .payload = bits));
    vs_builder_event(&b, EVENT(activity_switched, .on = 1, .by = VS_SWITCH_STEP, .step = 12));
    vs_builder_event(&b, EVENT(mark, .name = name, .payload_kind = VS_PAYLOAD_SIGNED, .payload = (uint64_t)-3));
    expect_timeline(
        "X Memcpy HtoD (Pageable -> Device) 1; X flush of records 1; i kernels and copies recorded from here 1",
        "traceEvents/cat=gpu_memcpy/args/stack has linear (functional.py:9) < train (net.py:7); "
        "traceEvents/cat=gpu_memcpy/args/call~site train (net.py:7); "
        "traceEvents/cat=gpu_memcpy/args/toDevice 1; traceEvents/cat=gpu_memcpy/args/graph~node~id 4; traceEvents/ph=B/args/colour #0080ff; "
        "traceEvents/ph=B/args/payload 2.5; traceEvents/ph=B/args/domain library; "
        "traceEvents/ph=i&name=range/args/payload -3; traceEvents/ph=i/args/step 12");
}

TEST(steps_have_a_track_marked_or_found)
{
    begin_trace("observe", "device 1G GPU; repeat 3 { step 7+i; alloc 0 1M; free 0; pop }; push x");
    expect_timeline("X step 7 1; X step 9 1; X 3", "traceEvents/name=step~8/ts 6");
    begin_trace("observe", "device 1G GPU; repeat 200 { alloc 0 3M; alloc 50 1M; alloc 100 i+2M; free 0; free 50; free 100 }");
    expect_timeline("X steps 1-2 0; X step 20 1", NULL);
    struct vs_growth_steps steps;
    assert_int_equal(vs_found_steps_read(reader, &steps), VS_OK);
    export_with((struct vs_export_options){.window = &(struct vs_time_window){
        {true, true, steps.items[19].event}, {true, true, steps.items[21].event - 1}}});
    expect_counts("X step 19 0; X step 20 1; X step 21 1; X step 22 0");
    vs_found_steps_free(&steps);
}

TEST(crossing_domains_are_closed_and_opened_again)
{
    begin_trace("observe", "");
    uint64_t domains[] = {vs_builder_string(&b, "library"), vs_builder_string(&b, "program")};
    for (int i = 0; i < 2; i++)
        vs_builder_event(&b, EVENT(range_push, .name = vs_builder_string(&b, i ? "two" : "one"),
                                   .domain = domains[i]));
    for (int i = 0; i < 2; i++)
        vs_builder_event(&b, EVENT(range_pop, .domain = domains[i]));
    expect_timeline("B one 1; B two 2", NULL);
}

TEST(start_end_ranges_are_paired_by_id)
{
    begin_trace("observe", "");
    uint64_t name = vs_builder_string(&b, "async work");
    for (uint64_t id = 1; id <= 2; id++)
        vs_builder_event(&b, EVENT(range_start, .range = id, .name = name));
    for (uint64_t id = 1; id <= 7; id += 6)
        vs_builder_event(&b, EVENT(range_end, .range = id));
    expect_timeline("b async work 2; e async work 2", NULL); /* the open one is closed at the end */
}

TEST(tracks_have_names_and_the_file_its_properties)
{
    begin_trace("observe", "device 1G GPU; kernel 7 1000 10 k");
    vs_builder_event(&b, EVENT(stream, .stream = 7, .name = vs_builder_string(&b, "copies"),
                               .alive = 1));
    vs_trace(&b, "kernel 7 2000 10 k"); /* the track has one name: the first match */
    expect_timeline("X 2", "traceEvents/ph=M&name=process_name&pid=4242/args/name train_demo; "
                    "traceEvents/ph=M&name=process_name&pid=0/args/name GPU 0: GPU (simulated); "
                    "traceEvents/ph=M&name=thread_name&tid=7/args/name stream 7 (copies); schemaVersion 1; "
                    "displayTimeUnit ms; baseTimeNanoseconds 1700000000000000000; deviceProperties count 1; "
                    "deviceProperties/0/totalGlobalMem 1G");
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

TEST(packets_have_names_in_utf8)
{
    char *bytes = NULL;
    size_t length = 0;
    struct vs_export_result result;
    begin_trace("observe", "device 1G GPU; kernel 7 2000 10 bad \xff\xc0\xaf bytes; push gr\xc3\xb6\xc3\x9f" "e");
    read_trace(0);
    FILE *out = open_memstream(&bytes, &length);
    assert_int_equal(vs_export_perfetto(reader, out, &(struct vs_export_options){0}, &result), VS_OK);
    fclose(out);
    static const char repaired[] = "\x13" "bad \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd bytes";
    assert_non_null(memmem(bytes, length, repaired, sizeof repaired - 1));
    assert_non_null(memmem(bytes, length, "\x07gr\xc3\xb6\xc3\x9f" "e", 8));
    free(bytes);
}

TEST(more_records_than_are_held_back_come_out_in_order)
{
    uint64_t last = 0, total = 20000;
    begin_trace("observe", "device 1G GPU");
    for (uint64_t i = 0; i < total; i++) /* neighbours swapped */
        vs_builder_kernel(&b, 0, 7, "k", 10 * (i ^ 1), 10);
    export_with((struct vs_export_options){0});
    assert_int_equal(count('X', "k"), total);
    assert_int_equal(t.stats.clipped, 0);
    for (size_t i = 0; i < json_object_array_length(t.events); i++) {
        if (*str(at(i), "ph") != 'X')
            continue;
        assert_true((uint64_t)ns(at(i), "ts") >= last);
        last = (uint64_t)(ns(at(i), "ts") + ns(at(i), "dur"));
    }
}

TEST(an_option_that_a_format_does_not_use_is_named)
{
    struct vs_export_format spans = {.name = "spans", .options = VS_EXPORT_SPAN};
    assert_null(vs_export_unused(&spans, 0));
    assert_null(vs_export_unused(&spans, VS_EXPORT_SPAN));
    assert_string_equal(vs_export_unused(&spans, VS_EXPORT_SPAN | VS_EXPORT_ALL_POINTS),
                        "--all-points");
    spans.options = 0;
    assert_string_equal(vs_export_unused(&spans, VS_EXPORT_SPAN), "--from, --to and --steps");
}

TEST(formats_are_found_by_their_names)
{
    const struct vs_export_format *chrome = vs_export_find("chrome");
    assert_non_null(chrome);
    assert_string_equal(chrome->extension, "json");
    assert_null(vs_export_unused(chrome, VS_EXPORT_SPAN | VS_EXPORT_MIN_BYTES | VS_EXPORT_ALL_POINTS));
    assert_string_equal(vs_export_unused(chrome, VS_EXPORT_SPAN | VS_EXPORT_BY), "--by");
    assert_null(vs_export_find("chrom"));
}

/* Kernel i runs from 2i to 2i + 1 ms, a copy in each tenth gap; all are recorded when every 100th
 * has ended, in another order. */
static void late_trace(void)
{
    begin_trace("observe", "device 1G GPU");
    for (unsigned i = 0; i < 1000; i += 100) {
        b.now_ns = b.start_ns + (i + 100) * 2 * MS;
        for (unsigned k = i + 100; k-- > i;) {
            vs_builder_kernel(&b, 0, 7, "late", k * 2 * MS, MS);
            if (k % 10 == 0)
                vs_builder_memcpy(&b, 0, 8, VS_COPY_HTOD, 4096, k * 2 * MS + MS, MS);
        }
    }
    read_trace(0);
}

static void compare(const struct vs_time_window *window)
{
    struct vs_report_options options = {.window = window};
    assert_int_equal(vs_report_build(reader, "trace", &options, &report), VS_OK);
    export_with((struct vs_export_options){.window = window});
    assert_int_equal(count('X', "late"), report->devices[0].kernel_total.count);
    assert_int_equal(count('X', "Memcpy HtoD"), report->devices[0].copies[VS_COPY_HTOD].count);
    assert_int_equal(t.stats.clipped, 0);
    vs_report_free(report);
    report = NULL;
}

TEST(a_window_has_what_ran_in_it_whenever_it_was_recorded)
{
    late_trace();
    uint64_t s = b.start_ns;
    /* between two deliveries: no event is recorded in it; kernels 310 to 330 ran */
    struct vs_time_window quiet = {{true, false, s + 620 * MS}, {true, false, s + 660 * MS}};
    export_with((struct vs_export_options){.window = &quiet});
    expect_counts("X late 21; X Memcpy HtoD 2");
    assert_false(t.stats.ended); /* although later records were read up to there */
    for (uint64_t from = 0; from < 1900; from += 93) {
        for (uint64_t length = 1; length < 1000; length *= 3) {
            struct vs_time_window times = {{true, false, s + from * MS + MS / 2},
                                           {true, false, s + (from + length) * MS}};
            compare(&times);
        }
        uint64_t event = 1 + from / 2;
        compare(&(struct vs_time_window){{true, true, event}, {true, true, event + 100}});
        compare(&(struct vs_time_window){{true, true, event}, {0}});
    }
    export_with((struct vs_export_options){0});
    assert_true(t.stats.ended);
}

#define SITE(name)                                                       \
    __attribute__((noinline)) static uint64_t name(void)                 \
    {                                                                    \
        uint64_t stack = vs_recorder_stack(b.recorder, 0);               \
        __asm__ volatile("" ::: "memory");                               \
        return stack;                                                    \
    }
SITE(make_weights)
SITE(make_inputs)

/* The name of the event's innermost frame; its frames lead to one without a caller. */
static const char *innermost(struct json_object *event)
{
    struct json_object *frames = json_at(t.root, "/stackFrames"), *frame;
    const char *id = str(event, "sf"), *name = NULL;
    size_t depth = 0;
    assert_non_null(id);
    for (; id; id = str(frame, "parent"), depth++) {
        frame = json_object_object_get(frames, id);
        assert_true(depth < 1000); /* no cycle */
        assert_non_null(str(frame, "category"));
        name = name ? name : str(frame, "name");
    }
    assert_true(depth >= 2);
    return name;
}

TEST(allocations_and_failures_have_their_stacks)
{
    begin_trace("observe", "device 1G GPU");
    for (unsigned i = 0; i < 400; i++) {
        b.stack = i % 2 ? make_weights() : make_inputs();
        if (i == 399)
            vs_trace(&b, "fail 2G free 900M; at; alloc 1000 1M");
        else
            vs_trace(&b, "alloc %u 1M", i);
    }
    export_with((struct vs_export_options){.min_bytes = 1});
    size_t seen = 0;
    for (size_t i = 0; i < json_object_array_length(t.events); i++) {
        if (*str(at(i), "ph") != 'i')
            continue;
        const char *text = str(json_object_object_get(at(i), "args"), "stack");
        const char *wanted = seen++ % 2 ? "make_weights (test_chrome.c:" : "make_inputs (test_chrome.c:";
        if (seen > 400) {
            assert_null(text);
            continue;
        }
        assert_int_equal(strncmp(text, wanted, strlen(wanted)), 0);
        assert_non_null(strstr(text, " < allocations_and_failures_have_their_stacks ("));
        assert_int_equal(strncmp(innermost(at(i)), wanted, strlen(wanted)), 0);
    }
    assert_int_equal(seen, 401);
    assert_true(json_object_object_length(json_at(t.root, "/stackFrames")) < 60); /* each once */
}
