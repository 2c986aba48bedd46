/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of report, oom and its replays, of the kinds of tensors, and of the list of held segments, on
 * traces with many call sites, failures, blocks and segments grows with their number, not with its square.
 * Work is counted, not timed: the rooms of the analysis are compiled again with a call at each branch (-fsanitize-coverage=trace-pc),
 * so that the figures do not depend on the machine. */
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/kinds/kinds.h"
#include "analysis/oom/oom.h"
#include "analysis/report/held_segments.h"
#include "support/trace_builder.h"
#include "trace/record/recorder_internal.h"

#define MIB (UINT64_C(1) << 20)
#define CAPACITY (UINT64_C(1) << 40)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * 2 * MIB)
#define FEW 500
#define FACTOR 4 /* so many times as many */
#define MOST 6   /* times the work, because of sorting; the square would be 16 times */

static uint64_t branches;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    branches++;
}

static struct vs_builder b;

/* The stack of call site *number*: two frames without names. */
static uint64_t site(unsigned number)
{
    struct vs_recorder *r = b.recorder;
    vs_lock_acquire(&r->lock);
    assert_true(vs_window_reserve_locked(r, 4 * VS_STACK_NODE_BYTES_MAX));
    uint64_t id = vs_intern_node_locked(r, 0, 1, 16);
    id = vs_intern_node_locked(r, id, 1, 32 + 16 * (uint64_t)number);
    vs_lock_release(&r->lock);
    return id;
}

static void begin(const char *policy)
{
    struct vs_event e = {.kind = VS_EVENT_module};
    vs_builder_open(&b, policy);
    vs_builder_device(&b, 0, "GPU", CAPACITY);
    e.module.base = e.module.start = UINT64_C(0x550000000000);
    e.module.end = e.module.start + 64 * MIB;
    e.module.path = vs_builder_string(&b, "/no/such/program");
    e.module.build_id = vs_builder_string(&b, "00");
    e.module.alive = 1;
    vs_builder_event(&b, e);
}

static void alloc(unsigned at_site, uint64_t addr, uint64_t bytes)
{
    b.stack = site(at_site);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, addr, bytes, bytes);
}

static void refuse(unsigned at_site, uint64_t bytes)
{
    b.stack = site(at_site);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, bytes, 0, CAPACITY);
}

/* --- programs of *n* things --- */

static void many_sites(unsigned n)
{
    begin("observe");
    for (unsigned i = 0; i < n; i++) {
        alloc(i, A(2 * i), MIB);
        alloc(i, A(2 * i + 1), MIB / 2);
        vs_builder_free(&b, 0, A(2 * i + 1));
    }
    refuse(n, 8 * MIB);
}

static void many_failures(unsigned n)
{
    begin("observe");
    alloc(0, A(0), MIB);
    for (unsigned i = 0; i < n; i++)
        refuse(1 + i % 200, (8 + i % 3) * MIB);
}

static void many_growing_sites(unsigned n)
{
    begin("observe");
    for (unsigned step = 0; step < 6; step++) {
        vs_builder_step(&b, step);
        for (unsigned i = 0; i < n; i++)
            alloc(i, A(step * n + i), MIB);
        vs_builder_pop(&b);
    }
    refuse(0, 8 * MIB);
}

/* Without marks, each repetition keeps one block of each of five call sites. */
static void many_repetitions(unsigned n)
{
    begin("observe");
    for (unsigned i = 0; i < n; i++) {
        alloc(0, A(0), MIB);
        for (unsigned k = 1; k < 6; k++)
            alloc(k, A(1 + 6 * i + k), MIB);
        vs_builder_free(&b, 0, A(0));
    }
    refuse(0, 8 * MIB);
}

static void many_steps(unsigned n)
{
    begin("observe");
    for (unsigned step = 0; step < n; step++) {
        vs_builder_step(&b, step);
        alloc(0, A(0), MIB);
        alloc(1, A(1 + step), MIB);
        vs_builder_free(&b, 0, A(0));
        vs_builder_pop(&b);
    }
    refuse(0, 8 * MIB);
}

static void many_holes(unsigned n)
{
    begin("caching");
    for (unsigned i = 0; i < n; i++) {
        vs_builder_segment(&b, 0, A(10 * i), 20 * MIB);
        for (unsigned k = 0; k < 4; k++)
            alloc(k % 2, A(10 * i) + 5 * k * MIB, 5 * MIB);
    }
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < 4; k += 2)
            vs_builder_free(&b, 0, A(10 * i) + 5 * k * MIB);
    refuse(2, 8 * MIB);
}

/* The stack of one Python function, number *code* of the modules. */
static uint64_t python_stack(uint64_t code, const char *function, const char *path)
{
    struct vs_event e = {.kind = VS_EVENT_module};
    e.module.module = code;
    e.module.function = vs_builder_string(&b, function);
    e.module.path = vs_builder_string(&b, path);
    e.module.alive = 1;
    vs_builder_event(&b, e);
    struct vs_recorder *r = b.recorder;
    vs_lock_acquire(&r->lock);
    assert_true(vs_window_reserve_locked(r, 4 * VS_STACK_NODE_BYTES_MAX));
    uint64_t id = vs_intern_node_locked(r, 0, code + 1, 10);
    vs_lock_release(&r->lock);
    return id;
}

/* Parameters of a model, each of another size, and as many blocks of a backward pass that had not ended
 * when the trace did: whether one is a gradient depends on the parameters' sizes. */
static void many_gradients(unsigned n)
{
    begin("observe");
    uint64_t makers[2] = {
        python_stack(1, "Module._apply", "/env/site-packages/torch/nn/modules/module.py"),
        python_stack(2, "_engine_run_backward", "/env/site-packages/torch/autograd/graph.py")};
    for (unsigned i = 0; i < 2 * n; i++) {
        struct vs_event e = {.kind = VS_EVENT_framework_alloc};
        e.framework_alloc.addr = A(i);
        e.framework_alloc.size = 512 * (1 + (uint64_t)(i % n));
        e.framework_alloc.stack = makers[i / n];
        vs_builder_event(&b, e);
    }
}

/* Mapped memory whose parts are returned one by one, in another order: expandable segments. */
static void many_parts(unsigned n)
{
    begin("caching");
    for (unsigned i = 0; i < n; i++) {
        struct vs_event e = {.kind = VS_EVENT_segment_map};
        e.segment_map.addr = A(i);
        e.segment_map.size = e.segment_map.reserved = 2 * MIB;
        vs_builder_event(&b, e);
    }
    for (unsigned i = 0; i < n; i++) {
        struct vs_event e = {.kind = VS_EVENT_segment_unmap};
        e.segment_unmap.addr = A((uint64_t)i * 7919 % n);
        e.segment_unmap.size = e.segment_unmap.reserved = 2 * MIB;
        vs_builder_event(&b, e);
    }
}

/* Everything that `vramscope oom` computes. */
static void explain(struct vs_reader *reader)
{
    struct vs_report *report;
    struct vs_oom *oom;
    assert_int_equal(vs_report_build(reader, b.path, NULL, &report), VS_OK);
    assert_int_equal(vs_oom_build(reader, report, NULL, 0, &oom), VS_OK);
    vs_oom_replay(oom, reader);
    vs_oom_free(oom);
    vs_report_free(report);
}

static void find_kinds(struct vs_reader *reader)
{
    struct vs_kinds_query end = {.device = VS_KINDS_ALL_DEVICES};
    struct vs_kinds_table table;
    assert_int_equal(vs_kinds_read(reader, NULL, &end, 1, &table), VS_OK);
    assert_true(table.kinds[VS_KIND_PARAMETERS].count >= FEW);
    assert_int_equal(table.kinds[VS_KIND_GRADIENTS].count, table.kinds[VS_KIND_PARAMETERS].count);
    vs_kinds_table_free(&table);
}

static void follow_segments(struct vs_reader *reader)
{
    struct vs_held_segments held = {0};
    struct vs_event event;
    size_t most = 0;
    while (vs_reader_next(reader, &event) == VS_OK) {
        vs_held_segments_event(&held, &event);
        most = held.count > most ? held.count : most;
    }
    assert_true(most >= FEW);
    assert_int_equal(held.count, 0);
    vs_held_segments_free(&held);
}

/* Branches of *analysis* on the trace of *program*. */
static uint64_t work_of(void (*program)(unsigned), void (*analysis)(struct vs_reader *), unsigned n)
{
    struct vs_reader *reader;
    program(n);
    vs_builder_close(&b, VS_END_SIGNAL, 9);
    assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
    branches = 0;
    analysis(reader);
    uint64_t work = branches;
    vs_reader_close(reader);
    return work;
}

static void expect_no_square(const char *what, void (*program)(unsigned), void (*analysis)(struct vs_reader *))
{
    uint64_t few = work_of(program, analysis, FEW), many = work_of(program, analysis, FACTOR * FEW);
    print_message("%s: %llu branches, %llu for %d times as many\n", what, (unsigned long long)few,
                  (unsigned long long)many, FACTOR);
    assert_true(few > FEW); /* it is counted */
    assert_true(many < MOST * few);
}

#define GROWS_EVENLY(program, analysis)                \
    TEST(program##_are_no_square)                      \
    {                                                  \
        expect_no_square(#program, program, analysis); \
    }
GROWS_EVENLY(many_sites, explain)
GROWS_EVENLY(many_failures, explain)
GROWS_EVENLY(many_growing_sites, explain)
GROWS_EVENLY(many_repetitions, explain)
GROWS_EVENLY(many_steps, explain)
GROWS_EVENLY(many_holes, explain)
GROWS_EVENLY(many_gradients, find_kinds)
GROWS_EVENLY(many_parts, follow_segments)
