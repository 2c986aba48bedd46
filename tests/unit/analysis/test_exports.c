/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats of stacks and of allocations, on traces of known content: names of a hostile program are
 * inert, several devices are told apart, lives are complete. Sums of recorded programs, and what
 * independent readers make of the files, are tested by tests/exports. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "analysis/kinds/allocation_log.h"
#include "support/json_test.h"
#include "support/trace_text.h"
#include "trace/record/recorder_internal.h"
#include "viewer/export/export.h"
#include "viewer/flame/stack_source.h"
#include "viewer/flame/svg_graph.h"

#define LONG_NAME 65536

static char long_name[LONG_NAME];
static const char *const hostile[] = {
    "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "]]><x/>&amp;&#60;",
    "=HYPERLINK(\"http://x\",\"y\")", "@SUM(1+1)", "a;b;c 12", "line\nbreak\ttab\x1b[31m",
    "quote'\"`${x}", "\xef\xbf\xbf\xf0\x9f\x92\xa5", "--><!--", "+1", "-1", long_name,
};
#define HOSTILE (sizeof hostile / sizeof *hostile)

static struct vs_builder b;
static char *text; /* of the last export */
static size_t length;
static struct vs_reader *reader;

AFTER(forget)
{
    free(text);
    text = NULL;
    vs_reader_close(reader);
    reader = NULL;
    return 0;
}

static void open_trace(void)
{
    memset(long_name, 'T', LONG_NAME - 1);
    memcpy(long_name, "std::vector<", 12);
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 80M <GPU> & \"co\"; gpu 1; device 80M second; gpu 0");
}

/* Allocations of all hostile names on device 0, one of each size and by one Python function each, and two
 * on device 1. */
static void hostile_trace(void)
{
    struct vs_recorder *r;
    open_trace();
    for (unsigned i = 0; i < HOSTILE; i++) {
        vs_builder_event(&b, EVENT(module, .module = i, .alive = 1,
                                   .function = vs_builder_string(&b, hostile[i]),
                                   .path = vs_builder_string(&b, "/home/<user>&/\"net\".py")));
        r = b.recorder;
        vs_lock_acquire(&r->lock);
        assert_true(vs_window_reserve_locked(r, 2 * VS_STACK_NODE_BYTES_MAX));
        b.stack = vs_intern_node_locked(r, 0, i + 1, 7);
        vs_lock_release(&r->lock);
        vs_trace(&b, "push %s; alloc %u %u as %u; pop", i % 2 ? "=phase\"<b>" : "plain", i,
                 1000 + i, 1024 * (i + 1));
    }
    vs_trace(&b, "gpu 1; alloc 100 2M; alloc 200 1M; free 100; gpu 0");
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
}

static void export(const char *name, struct vs_export_options options)
{
    struct vs_export_result result;
    free(text);
    vs_reader_rewind(reader);
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(vs_export(vs_export_find(name), reader, out, &options, &result), VS_OK);
    assert_true(result.ended);
    assert_int_equal(result.condition, VS_TRACE_COMPLETE);
    fclose(out);
}

/* No control characters but line ends (and those of the SVG's script). */
static void assert_plain(void)
{
    for (const char *at = text; *at; at++)
        assert_true((unsigned char)*at >= 0x20 || *at == '\n' || *at == '\r');
}

/* What both flame graphs have: the two scripts of the file itself, the data and one in a CDATA section. */
static void assert_inert(void)
{
    static const struct {
        const char *part;
        size_t times;
    } parts[] = {{"<script", 2}, {"</script>", 2}, {"]]>", 1}, {"<img", 0}, {"<!--", 0},
                 {"\xef\xbf\xbf", 0}}; /* not a character of XML */
    assert_plain();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(vs_times(text, parts[i].part), parts[i].times);
}

/* The data of a flame graph. */
static struct json_object *data_of_graph(void)
{
    char *data = strstr(text, "id=\"data\">") + strlen("id=\"data\">");
    *strstr(data, "</script>") = 0;
    assert_null(strpbrk(data, "<>&"));
    struct json_object *root = json_tokener_parse(data);
    assert_non_null(root);
    return root;
}

TEST(names_in_a_flame_graph_are_inert)
{
    hostile_trace();
    export("flamegraph", (struct vs_export_options){0});
    assert_inert();
    assert_int_equal(vs_times(text, "onerror=alert(1)&#62;"), vs_times(text, "onerror=") -
                     vs_times(text, "onerror=alert(1)\\u003e"));
    assert_true(length < 4 * LONG_NAME); /* the long name is cut */
}

TEST(names_in_the_flame_graph_of_two_runs_are_inert)
{
    struct vs_reader *again;
    hostile_trace();
    assert_int_equal(vs_reader_open(b.path, &again, NULL), VS_OK);
    FILE *out = open_memstream(&text, &length);
    struct vs_measured runs[] = {{.reader = reader, .process = "train"}, {.reader = again, .process = "train"}};
    struct vs_comparison comparison = {.a = &runs[0], .b = &runs[1]};
    assert_int_equal(vs_diff_graph_write(&comparison, out), VS_OK);
    vs_comparison_free(&comparison);
    fclose(out);
    assert_inert();
    struct json_object *root = data_of_graph(), *values = json_at(root, "/diff");
    for (size_t i = 0; i < json_object_array_length(values); i += 2) /* the runs are equal */
        assert_int_equal(json_object_get_int64(json_object_array_get_idx(values, i)),
                         json_object_get_int64(json_object_array_get_idx(values, i + 1)));
    json_object_put(root);
    vs_reader_close(again);
}

TEST(the_data_of_a_flame_graph_is_json)
{
    hostile_trace();
    export("flamegraph", (struct vs_export_options){0});
    struct json_object *root = data_of_graph(), *frames = json_at(root, "/frames");
    bool found = false;
    for (size_t i = 0; i < json_object_array_length(frames); i++)
        found |= strcmp(json_text(json_object_array_get_idx(frames, i), "/0"),
                        "</script><script>alert(1)</script> (\"net\".py:7)") == 0;
    assert_true(found);
    json_object_put(root);
}

TEST(cells_are_no_formulas)
{
    size_t lines;
    hostile_trace();
    export("csv", (struct vs_export_options){0});
    assert_plain();
    for (const char *p = text; (p = strstr(p, ",\"")) != NULL; p += 2)
        assert_null(strchr("=+-@\t", p[2]));
    assert_non_null(strstr(text, ",\"'=HYPERLINK (\"\"net\"\".py:7)\""));
    assert_non_null(strstr(text, ",\"'=phase\"\"<b>\","));
    lines = vs_times(text, "\r\n");
    assert_int_equal(lines, 1 + HOSTILE + 2);
    assert_int_equal(vs_times(text, "\n"), lines);
}

TEST(a_line_of_collapsed_stacks_is_one_stack)
{
    hostile_trace();
    export("collapsed", (struct vs_export_options){0});
    assert_plain();
    assert_int_equal(vs_times(text, "\n"), HOSTILE + 1);
    assert_non_null(strstr(text, "device 0;a:b:c 12 (\"net\".py:7) 6144\n"));
    assert_non_null(strstr(text, "line?break?tab?[31m"));
    export("collapsed", (struct vs_export_options){.one_device = true, .device = 1});
    assert_int_equal(vs_times(text, "\n"), 1);
    assert_int_equal(vs_times(text, "device 1"), 0); /* one device needs no frame */
    assert_non_null(strstr(text, " 3145728\n"));        /* at its own peak */
}

TEST(speedscope_has_profiles_for_each_device)
{
    static const uint64_t wanted[] = {1024 * HOSTILE * (HOSTILE + 1) / 2, HOSTILE, 3 * MIB, 2};
    hostile_trace();
    export("speedscope", (struct vs_export_options){0});
    struct json_object *root = json_tokener_parse(text);
    assert_int_equal(json_length(root, "/profiles"), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_number(json_object_array_get_idx(json_at(root, "/profiles"), i), "/endValue"), wanted[i]);
    json_object_put(root);
}

TEST(a_device_that_was_not_used_is_not_found_and_a_full_disk_is_reported)
{
    static const char *const names[] = {"flamegraph", "collapsed", "speedscope", "pprof", "csv"};
    hostile_trace();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct vs_export_options all = {0}, none = {.one_device = true, .device = 5};
        struct vs_export_result result;
        FILE *out = fopen("/dev/null", "w"), *full = fopen("/dev/full", "w");
        assert_int_equal(vs_export(vs_export_find(names[i]), reader, out, &none, &result),
                         VS_ERR_NOT_FOUND);
        assert_int_equal(vs_export(vs_export_find(names[i]), reader, full, &all, &result),
                         VS_ERR_IO);
        fclose(out);
        fclose(full);
    }
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

static void read_lives(struct lives *lives)
{
    struct vs_replay *end;
    vs_builder_close(&b, VS_END_EXIT, 0);
    assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
    assert_int_equal(vs_allocations_read(reader, NULL, NULL, keep, lives, NULL, &end), VS_OK);
    vs_replay_close(end);
}

TEST(every_end_of_a_life_is_seen)
{
    struct lives lives = {0};
    open_trace();
    vs_trace(&b, "context 7");
    vs_builder_event(&b, EVENT(alloc, .addr = A(1), .requested = MIB, .size = MIB, .context = 7,
                               .stream = 9));
    vs_trace(&b, "alloc 5 1M; free 5; alloc 5 2M; " /* its free is missing */
                 "alloc 5 3M; "                     /* live at the end */
                 "context 7 ends; alloc 9 4M pinned");
    read_lives(&lives);
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
}

TEST(memory_that_holds_tensors_has_no_row)
{
    struct lives lives = {0};
    open_trace();
    vs_trace(&b, "alloc 2 20M; at make_table; alloc 40 1M array; " /* not PyTorch's */
                 "tensor 2 1M; tensor 3 2M; drop 2");
    read_lives(&lives);
    uint64_t tensors = 0, others = 0;
    for (size_t i = 0; i < lives.count; i++)
        *(lives.items[i].tensor ? &tensors : &others) += lives.items[i].size;
    assert_int_equal(tensors, 3 * MIB);
    assert_int_equal(others, MIB);
    assert_int_equal(lives.items[0].end, VS_ALLOCATION_FREED);
    assert_int_equal(lives.items[0].born_event + 2, lives.items[0].ended_event);
}

TEST(tensors_have_their_kinds_freed_or_live)
{
#define TORCH "/env/lib/python3.11/site-packages/torch/nn/modules/module.py"
    struct lives lives = {0};
    open_trace();
    vs_trace(&b, "at Module.to " TORCH "; tensor 1 1024; tensor 2 2048; drop 1; "
                 "at Module._call_impl " TORCH "; tensor 3 4096; drop 3; alloc 9 1M");
    read_lives(&lives);
    static const enum vs_kind wanted[] = {VS_KIND_PARAMETERS, VS_KIND_TEMPORARIES, VS_KIND_PARAMETERS};
    assert_int_equal(lives.count, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_true(lives.items[i].tensor);
        assert_int_equal(lives.items[i].kind, wanted[i]);
    }
    assert_false(lives.items[3].tensor);
}

/* --- the tree --- */

TEST(equal_callers_are_one_node)
{
    struct vs_call_tree tree = {0};
    static const uint32_t one[] = {1, 2, 3}, two[] = {1, 2, 4}, caller[] = {1, 2};
    vs_call_tree_open(&tree);
    vs_call_tree_add(&tree, 0, one, 3, false, 10, 1);
    vs_call_tree_add(&tree, 0, two, 3, false, 30, 1);
    vs_call_tree_add(&tree, 0, caller, 2, false, 5, 2);
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
