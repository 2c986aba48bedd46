/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the Chrome timeline: a window has the activity that ran in it, as counted by the report
 * of that window, and the call stacks of allocations are complete, each frame written once. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "analysis/checkpoint/trace_state.h"
#include "support/json_test.h"
#include "viewer/export/export.h"
#include "support/report_test.h"

#define MS UINT64_C(1000000)

static struct json_object *export(const struct vs_time_window *window, uint64_t instant_min,
                                  struct vs_export_result *stats)
{
    char *text = NULL;
    size_t length = 0;
    struct vs_export_options options = {.window = window, .instant_min = instant_min};
    FILE *out = open_memstream(&text, &length);
    struct vs_export_result result = {.written = 0};
    assert_int_equal(vs_export_chrome(reader, out, &options, &result), VS_OK);
    fclose(out);
    if (stats)
        *stats = result;
    struct json_tokener *tokener = json_tokener_new();
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *root = json_tokener_parse_ex(tokener, text, (int)length);
    assert_non_null(root);
    json_tokener_free(tokener);
    free(text);
    return root;
}

static struct json_object *get(struct json_object *object, const char *key)
{
    return json_object_object_get(object, key);
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

static uint64_t count(struct json_object *root, const char *category)
{
    struct json_object *events = get(root, "traceEvents");
    uint64_t n = 0;
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        const char *one = json_object_get_string(get(json_object_array_get_idx(events, i), "cat"));
        n += one && strcmp(one, category) == 0;
    }
    return n;
}

static void compare(const struct vs_time_window *window)
{
    struct vs_export_result stats;
    struct vs_report_options options = {.window = window};
    assert_int_equal(vs_report_build(reader, "trace", &options, &report), VS_OK);
    struct json_object *root = export(window, 0, &stats);
    assert_int_equal(count(root, "kernel"), report->devices[0].kernel_total.count);
    assert_int_equal(count(root, "gpu_memcpy"), report->devices[0].copies[VS_COPY_HTOD].count);
    assert_int_equal(stats.clipped, 0);
    json_object_put(root);
    vs_report_free(report);
    report = NULL;
}

TEST(a_window_has_what_ran_in_it_whenever_it_was_recorded)
{
    late_trace();
    uint64_t s = b.start_ns;
    /* between two deliveries: no event is recorded in it; kernels 310 to 330 ran */
    struct vs_time_window quiet = {{true, false, s + 620 * MS}, {true, false, s + 660 * MS}};
    struct json_object *root = export(&quiet, 0, NULL);
    assert_int_equal(count(root, "kernel"), 21);
    assert_int_equal(count(root, "gpu_memcpy"), 2);
    json_object_put(root);
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
}

TEST(only_the_end_of_the_trace_is_its_end)
{
    struct vs_export_result stats;
    late_trace();
    struct vs_time_window window = {.to = {true, false, b.start_ns + 660 * MS}};
    json_object_put(export(&window, 0, &stats));
    assert_false(stats.ended); /* although later records were read up to there */
    json_object_put(export(NULL, 0, &stats));
    assert_true(stats.ended);
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

/* The name of the event's innermost frame; *depth* frames up to one without a caller. */
static const char *innermost(struct json_object *root, struct json_object *event, size_t *depth)
{
    struct json_object *frames = get(root, "stackFrames");
    const char *id = json_object_get_string(get(event, "sf"));
    assert_non_null(id);
    struct json_object *frame = get(frames, id), *first = frame;
    for (*depth = 0; frame; (*depth)++) {
        assert_true(*depth < 1000); /* no cycle */
        assert_non_null(get(frame, "category"));
        id = json_object_get_string(get(frame, "parent"));
        frame = id ? get(frames, id) : NULL;
        assert_true(!id || frame);
    }
    return json_object_get_string(get(first, "name"));
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
    read_trace(0);
    struct json_object *root = export(NULL, 1, NULL), *events = get(root, "traceEvents");
    size_t seen = 0, depth, without = 0;
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        struct json_object *event = json_object_array_get_idx(events, i);
        if (*json_object_get_string(get(event, "ph")) != 'i')
            continue;
        const char *text = json_object_get_string(get(get(event, "args"), "stack"));
        if (!text) {
            without++;
            continue;
        }
        const char *wanted = seen++ % 2 ? "make_weights (test_chrome_parts.c:"
                                        : "make_inputs (test_chrome_parts.c:";
        assert_int_equal(strncmp(text, wanted, strlen(wanted)), 0);
        assert_non_null(strstr(text, " < allocations_and_failures_have_their_stacks ("));
        const char *name = innermost(root, event, &depth);
        assert_int_equal(strncmp(name, wanted, strlen(wanted)), 0);
        assert_true(depth >= 2);
    }
    assert_int_equal(seen, 400);
    assert_int_equal(without, 1);
    assert_true(json_object_object_length(get(root, "stackFrames")) < 60); /* each once */
    json_object_put(root);
}
