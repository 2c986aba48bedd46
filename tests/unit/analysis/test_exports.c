/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats of stacks and of allocations, on traces of known content: names of a hostile program are
 * inert, several devices are told apart, lives are complete. Sums of recorded programs, and what
 * independent readers make of the files, are tested by tests/exports. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"

#include <json-c/json.h>

#include "analysis/kinds/allocation_log.h"
#include "support/trace_builder.h"
#include "trace/record/recorder_internal.h"
#include "viewer/export/export.h"
#include "viewer/flame/diff_graph.h"
#include "viewer/flame/call_tree.h"

#define MIB (UINT64_C(1) << 20)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB)
#define LONG_NAME 65536

static char long_name[LONG_NAME];
static const char *const hostile[] = {
    "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "]]><x/>&amp;&#60;",
    "=HYPERLINK(\"http://x\",\"y\")", "@SUM(1+1)", "a;b;c 12", "line\nbreak\ttab\x1b[31m",
    "quote'\"`${x}", "\xef\xbf\xbf\xf0\x9f\x92\xa5", "--><!--", "+1", "-1", long_name,
};
#define HOSTILE (sizeof hostile / sizeof *hostile)

static void open_trace(struct vs_builder *b)
{
    memset(long_name, 'T', LONG_NAME - 1);
    memcpy(long_name, "std::vector<", 12);
    vs_builder_open(b, "observe");
    vs_builder_device(b, 0, "<GPU> & \"co\"", 80 * MIB);
    vs_builder_device(b, 1, "second", 80 * MIB);
}

/* A stack of one Python function *name* of *file*, module *number*. */
static uint64_t stack_in(struct vs_builder *b, unsigned number, const char *name, const char *file)
{
    struct vs_event e = {.kind = VS_EVENT_module};
    struct vs_recorder *r = b->recorder;
    e.module.module = number;
    e.module.function = vs_builder_string(b, name);
    e.module.path = vs_builder_string(b, file);
    e.module.alive = 1;
    vs_builder_event(b, e);
    vs_lock_acquire(&r->lock);
    assert_true(vs_window_reserve_locked(r, 2 * VS_STACK_NODE_BYTES_MAX));
    uint64_t id = vs_intern_node_locked(r, 0, number + 1, 7);
    vs_lock_release(&r->lock);
    return id;
}

static uint64_t python_stack(struct vs_builder *b, unsigned number, const char *name)
{
    return stack_in(b, number, name, "/home/<user>&/\"net\".py");
}

/* Allocations of all hostile names on device 0, one of each size, and two on device 1. */
static void hostile_trace(struct vs_builder *b)
{
    open_trace(b);
    for (unsigned i = 0; i < HOSTILE; i++) {
        b->stack = python_stack(b, i, hostile[i]);
        vs_builder_push(b, i % 2 ? "=phase\"<b>" : "plain");
        vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(i), 1000 + i, 1024 * (i + 1));
        vs_builder_pop(b);
    }
    vs_builder_alloc(b, 1, VS_FAMILY_DEVICE, A(100), 2 * MIB, 2 * MIB);
    vs_builder_alloc(b, 1, VS_FAMILY_DEVICE, A(200), MIB, MIB);
    vs_builder_free(b, 1, A(100));
    vs_builder_close(b, VS_END_EXIT, 0);
}

static char *export(const struct vs_builder *b, const char *name,
                    const struct vs_export_options *options, size_t *length)
{
    struct vs_export_result result;
    struct vs_reader *reader;
    char why[VS_READER_WHY_MAX], *text = NULL;
    assert_int_equal(vs_reader_open(b->path, &reader, why), VS_OK);
    FILE *out = open_memstream(&text, length);
    assert_int_equal(vs_export(vs_export_find(name), reader, out, options, &result), VS_OK);
    assert_true(result.ended);
    assert_int_equal(result.condition, VS_TRACE_COMPLETE);
    fclose(out);
    vs_reader_close(reader);
    return text;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

/* No control characters but line ends (and those of the SVG's script). */
static void assert_plain(const char *text)
{
    for (; *text; text++)
        assert_true((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\r');
}

TEST(names_in_a_flame_graph_are_inert)
{
    struct vs_builder b;
    struct vs_export_options options = {0};
    size_t length;
    hostile_trace(&b);
    char *text = export(&b, "flamegraph", &options, &length);
    assert_plain(text);
    /* the two of the file itself: the data, and the script in a CDATA section */
    assert_int_equal(occurrences(text, "<script"), 2);
    assert_int_equal(occurrences(text, "</script>"), 2);
    assert_int_equal(occurrences(text, "]]>"), 1);
    assert_int_equal(occurrences(text, "<img"), 0);
    assert_int_equal(occurrences(text, "onerror=alert(1)&#62;"), occurrences(text, "onerror=") -
                     occurrences(text, "onerror=alert(1)\\u003e"));
    assert_int_equal(occurrences(text, "<!--"), 0);
    assert_int_equal(occurrences(text, "\xef\xbf\xbf"), 0); /* not a character of XML */
    assert_true(length < 4 * LONG_NAME); /* the long name is cut */
    free(text);
    vs_builder_remove(&b);
}

TEST(names_in_the_flame_graph_of_two_runs_are_inert)
{
    struct vs_builder b;
    struct vs_reader *readers[2];
    char why[VS_READER_WHY_MAX], *text = NULL;
    size_t length;
    hostile_trace(&b);
    for (int i = 0; i < 2; i++)
        assert_int_equal(vs_reader_open(b.path, &readers[i], why), VS_OK);
    FILE *out = open_memstream(&text, &length);
    struct vs_measured runs[] = {{.reader = readers[0], .process = "train"}, {.reader = readers[1], .process = "train"}};
    struct vs_comparison comparison = {.a = &runs[0], .b = &runs[1]};
    assert_int_equal(vs_diff_graph_write(&comparison, out), VS_OK);
    vs_comparison_free(&comparison);
    fclose(out);
    assert_plain(text);
    assert_int_equal(occurrences(text, "<script"), 2);
    assert_int_equal(occurrences(text, "</script>"), 2);
    assert_int_equal(occurrences(text, "]]>"), 1);
    assert_int_equal(occurrences(text, "<img"), 0);
    assert_int_equal(occurrences(text, "<!--"), 0);
    assert_int_equal(occurrences(text, "\xef\xbf\xbf"), 0);
    const char *data = strstr(text, "id=\"data\">") + strlen("id=\"data\">");
    char *end = strstr(data, "</script>");
    assert_non_null(end);
    *end = 0;
    struct json_object *json = json_tokener_parse(data), *values;
    assert_non_null(json);
    assert_true(json_object_object_get_ex(json, "diff", &values));
    for (size_t i = 0; i < json_object_array_length(values); i += 2) /* the runs are equal */
        assert_int_equal(json_object_get_int64(json_object_array_get_idx(values, i)),
                         json_object_get_int64(json_object_array_get_idx(values, i + 1)));
    json_object_put(json);
    free(text);
    vs_reader_close(readers[0]);
    vs_reader_close(readers[1]);
    vs_builder_remove(&b);
}

TEST(the_data_of_a_flame_graph_is_json)
{
    struct vs_builder b;
    struct vs_export_options options = {0};
    size_t length;
    hostile_trace(&b);
    char *text = export(&b, "flamegraph", &options, &length);
    char *data = strstr(text, "id=\"data\">") + strlen("id=\"data\">");
    *strstr(data, "</script>") = 0;
    assert_null(strpbrk(data, "<>&"));
    struct json_object *root = json_tokener_parse(data);
    assert_non_null(root);
    struct json_object *frames = json_object_object_get(root, "frames");
    bool found = false;
    for (size_t i = 0; i < json_object_array_length(frames); i++)
        found |= strcmp(json_object_get_string(json_object_array_get_idx(
                            json_object_array_get_idx(frames, i), 0)),
                        "</script><script>alert(1)</script> (\"net\".py:7)") == 0;
    assert_true(found);
    json_object_put(root);
    free(text);
    vs_builder_remove(&b);
}

TEST(cells_are_no_formulas)
{
    struct vs_builder b;
    struct vs_export_options options = {0};
    size_t length, lines;
    hostile_trace(&b);
    char *text = export(&b, "csv", &options, &length);
    assert_plain(text);
    for (const char *p = text; (p = strstr(p, ",\"")) != NULL; p += 2)
        assert_null(strchr("=+-@\t", p[2]));
    assert_non_null(strstr(text, ",\"'=HYPERLINK (\"\"net\"\".py:7)\""));
    assert_non_null(strstr(text, ",\"'=phase\"\"<b>\","));
    lines = occurrences(text, "\r\n");
    assert_int_equal(lines, 1 + HOSTILE + 2);
    assert_int_equal(occurrences(text, "\n"), lines);
    free(text);
    vs_builder_remove(&b);
}

TEST(a_line_of_collapsed_stacks_is_one_stack)
{
    struct vs_builder b;
    struct vs_export_options options = {0};
    size_t length;
    hostile_trace(&b);
    char *text = export(&b, "collapsed", &options, &length);
    assert_plain(text);
    assert_int_equal(occurrences(text, "\n"), HOSTILE + 1);
    assert_non_null(strstr(text, "device 0;a:b:c 12 (\"net\".py:7) 6144\n"));
    assert_non_null(strstr(text, "line?break?tab?[31m"));
    free(text);
    options.one_device = true;
    options.device = 1;
    text = export(&b, "collapsed", &options, &length);
    assert_int_equal(occurrences(text, "\n"), 1);
    assert_int_equal(occurrences(text, "device 1"), 0); /* one device needs no frame */
    assert_non_null(strstr(text, " 3145728\n"));        /* at its own peak */
    free(text);
    vs_builder_remove(&b);
}

TEST(speedscope_has_profiles_for_each_device)
{
    static const uint64_t wanted[] = {1024 * HOSTILE * (HOSTILE + 1) / 2, HOSTILE, 3 * MIB, 2};
    struct vs_builder b;
    struct vs_export_options options = {0};
    size_t length;
    hostile_trace(&b);
    char *text = export(&b, "speedscope", &options, &length);
    struct json_object *root = json_tokener_parse(text);
    struct json_object *profiles = json_object_object_get(root, "profiles");
    assert_int_equal(json_object_array_length(profiles), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_object_get_int64(json_object_object_get(
                             json_object_array_get_idx(profiles, i), "endValue")), wanted[i]);
    json_object_put(root);
    free(text);
    vs_builder_remove(&b);
}

TEST(a_device_that_was_not_used_is_not_found)
{
    struct vs_builder b;
    struct vs_export_options options = {.one_device = true, .device = 5};
    struct vs_export_result result;
    struct vs_reader *reader;
    char why[VS_READER_WHY_MAX];
    hostile_trace(&b);
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    FILE *out = fopen("/dev/null", "w");
    static const char *const names[] = {"flamegraph", "collapsed", "speedscope", "pprof", "csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(vs_export(vs_export_find(names[i]), reader, out, &options, &result),
                         VS_ERR_NOT_FOUND);
    fclose(out);
    vs_reader_close(reader);
    vs_builder_remove(&b);
}

TEST(a_full_disk_is_reported)
{
    struct vs_builder b;
    struct vs_export_options options = {0};
    struct vs_export_result result;
    struct vs_reader *reader;
    char why[VS_READER_WHY_MAX];
    hostile_trace(&b);
    assert_int_equal(vs_reader_open(b.path, &reader, why), VS_OK);
    static const char *const names[] = {"flamegraph", "collapsed", "speedscope", "pprof", "csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        FILE *out = fopen("/dev/full", "w");
        assert_int_equal(vs_export(vs_export_find(names[i]), reader, out, &options, &result),
                         VS_ERR_IO);
        fclose(out);
    }
    vs_reader_close(reader);
    vs_builder_remove(&b);
}

/* --- lives --- */

struct lives {
    struct vs_allocation_life items[16];
    size_t count;
};

static enum vs_err keep(void *context, const struct vs_replay *replay,
                        const struct vs_allocation_life *life)
{
    struct lives *lives = context;
    (void)replay;
    assert_true(lives->count < 16);
    lives->items[lives->count++] = *life;
    return VS_OK;
}

static void read_lives(struct vs_builder *b, struct lives *lives)
{
    struct vs_allocation_log *log;
    struct vs_reader *reader;
    struct vs_event event;
    char why[VS_READER_WHY_MAX];
    enum vs_err err;
    vs_builder_close(b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b->path, &reader, why), VS_OK);
    assert_int_equal(vs_allocation_log_open(reader, NULL, keep, lives, &log), VS_OK);
    while ((err = vs_reader_next(reader, &event)) == VS_OK)
        assert_int_equal(vs_allocation_log_event(log, &event), VS_OK);
    assert_int_equal(err, VS_ERR_END);
    assert_int_equal(vs_allocation_log_finish(log), VS_OK);
    vs_allocation_log_close(log);
    vs_reader_close(reader);
}

static void framework_event(struct vs_builder *b, bool alloc, uint64_t addr, uint64_t size)
{
    struct vs_event e = {.kind = alloc ? VS_EVENT_framework_alloc : VS_EVENT_framework_free};
    if (alloc) {
        e.framework_alloc.addr = addr;
        e.framework_alloc.size = size;
        e.framework_alloc.stack = b->stack;
    } else {
        e.framework_free.addr = addr;
    }
    vs_builder_event(b, e);
}

TEST(every_end_of_a_life_is_seen)
{
    struct vs_builder b;
    struct lives lives = {0};
    open_trace(&b);
    vs_builder_context(&b, 7, 0, true);
    struct vs_event e = {.kind = VS_EVENT_alloc};
    e.alloc.addr = A(1);
    e.alloc.requested = e.alloc.size = MIB;
    e.alloc.context = 7;
    e.alloc.stream = 9;
    vs_builder_event(&b, e);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5), MIB, MIB); /* freed */
    vs_builder_free(&b, 0, A(5));
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5), 2 * MIB, 2 * MIB); /* its free is missing */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5), 3 * MIB, 3 * MIB); /* live at the end */
    vs_builder_context(&b, 7, 0, false);                               /* with A(1) */
    vs_builder_alloc(&b, 0, VS_FAMILY_PINNED, A(9), 4 * MIB, 4 * MIB);
    read_lives(&b, &lives);
    assert_int_equal(lives.count, 5);
    static const struct {
        uint64_t addr, size;
        enum vs_allocation_end end;
    } wanted[] = {{A(5), MIB, VS_ALLOCATION_FREED}, {A(5), 2 * MIB, VS_ALLOCATION_FREED},
                  {A(1), MIB, VS_ALLOCATION_LOST}, {A(5), 3 * MIB, VS_ALLOCATION_LIVE},
                  {A(9), 4 * MIB, VS_ALLOCATION_LIVE}};
    for (size_t i = 0; i < lives.count; i++) {
        assert_int_equal(lives.items[i].addr, wanted[i].addr);
        assert_int_equal(lives.items[i].size, wanted[i].size);
        assert_int_equal(lives.items[i].end, wanted[i].end);
        assert_int_equal(lives.items[i].ended_event > lives.items[i].born_event,
                         wanted[i].end != VS_ALLOCATION_LIVE);
    }
    assert_int_equal(lives.items[2].stream, 9);
    assert_true(lives.items[4].host);
    vs_builder_remove(&b);
}

TEST(memory_that_holds_tensors_has_no_row)
{
    struct vs_builder b;
    struct lives lives = {0};
    open_trace(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2), 20 * MIB, 20 * MIB);
    b.stack = python_stack(&b, 0, "make_table");
    vs_builder_alloc(&b, 0, VS_FAMILY_ARRAY, A(40), MIB, MIB); /* not PyTorch's */
    framework_event(&b, true, A(2), MIB);
    framework_event(&b, true, A(3), 2 * MIB);
    framework_event(&b, false, A(2), 0);
    read_lives(&b, &lives);
    uint64_t tensors = 0, others = 0;
    for (size_t i = 0; i < lives.count; i++)
        *(lives.items[i].tensor ? &tensors : &others) += lives.items[i].size;
    assert_int_equal(tensors, 3 * MIB);
    assert_int_equal(others, MIB);
    assert_int_equal(lives.items[0].end, VS_ALLOCATION_FREED);
    assert_int_equal(lives.items[0].born_event + 2, lives.items[0].ended_event);
    vs_builder_remove(&b);
}

TEST(tensors_have_their_kinds_freed_or_live)
{
    static const char torch[] = "/env/lib/python3.11/site-packages/torch/nn/modules/module.py";
    struct vs_builder b;
    struct lives lives = {0};
    open_trace(&b);
    b.stack = stack_in(&b, 0, "Module.to", torch);
    framework_event(&b, true, A(1), 1024);
    framework_event(&b, true, A(2), 2048);
    framework_event(&b, false, A(1), 0);
    b.stack = stack_in(&b, 1, "Module._call_impl", torch);
    framework_event(&b, true, A(3), 4096);
    framework_event(&b, false, A(3), 0);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9), MIB, MIB);
    read_lives(&b, &lives);
    static const enum vs_kind wanted[] = {VS_KIND_PARAMETERS, VS_KIND_TEMPORARIES, VS_KIND_PARAMETERS};
    assert_int_equal(lives.count, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_true(lives.items[i].tensor);
        assert_int_equal(lives.items[i].kind, wanted[i]);
    }
    assert_false(lives.items[3].tensor);
    vs_builder_remove(&b);
}

/* --- the tree --- */

TEST(equal_callers_are_one_node)
{
    struct vs_call_tree tree = {0};
    static const uint32_t a[] = {1, 2, 3}, b[] = {1, 2, 4}, c[] = {1, 2};
    vs_call_tree_open(&tree);
    vs_call_tree_add(&tree, 0, a, 3, false, 10, 1);
    vs_call_tree_add(&tree, 0, b, 3, false, 30, 1);
    vs_call_tree_add(&tree, 0, c, 2, false, 5, 2);
    assert_int_equal(tree.count, 5);
    vs_call_tree_sort(&tree, false);
    static const struct {
        uint32_t frame;
        size_t depth;
        uint64_t bytes, own;
    } walk[] = {{1, 1, 45, 0}, {2, 2, 45, 5}, {4, 3, 30, 30}, {3, 3, 10, 10}};
    size_t depth = 0, i = 0;
    for (uint32_t n = 0; (n = vs_call_tree_next(&tree, n, &depth)) != 0; i++) {
        assert_int_equal(tree.nodes[n].frame, walk[i].frame);
        assert_int_equal(depth, walk[i].depth);
        assert_int_equal(tree.nodes[n].bytes, walk[i].bytes);
        assert_int_equal(tree.nodes[n].own_bytes, walk[i].own);
    }
    assert_int_equal(i, 4);
    assert_int_equal(tree.nodes[0].bytes, 45);
    assert_int_equal(tree.nodes[0].count, 4);
    vs_call_tree_free(&tree);
}
