/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of report, oom and its replays, of the kinds of tensors, and of the list of held
 * segments, on traces with many call sites, failures, blocks and segments grows with their number,
 * not with its square. Work is counted, not timed: the rooms of the analysis are compiled again with
 * a call at each branch (-fsanitize-coverage=trace-pc), so that the machine does not matter. */
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/kinds/kinds.h"
#include "analysis/oom/oom.h"
#include "analysis/report/held_segments.h"
#include "support/trace_text.h"

#define FEW 500 /* a multiple of 250 */
#define FACTOR 4 /* so many times as many */
#define MOST 6   /* times the work, because of sorting; the square would be 16 times */

static uint64_t branches;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    branches++;
}

static struct vs_builder b;

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
    struct vs_kinds_query end = {.device = 0};
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

#define FAIL "; fail 8M free 0"
#define GROW(step) "step " #step "; repeat %1$u { at f i; alloc 2i+" #step "0000 1M }; pop; "
#define TORCH " /env/site-packages/torch/"

static const struct program {
    const char *name;
    void (*analysis)(struct vs_reader *);
    const char *policy, *trace; /* of %1$u things: 250 times %2$u, twice %3$u */
} programs[] = {
    {"many_sites", explain, "observe",
     "repeat %1$u { at f i; alloc 4i 1M; alloc 4i+2 512K; free 4i+2 }; at g" FAIL},
    {"many_failures", explain, "observe",
     "at f; alloc 0 1M; repeat %2$u { repeat 250 { at f i" FAIL "; at g i; fail 9M free 0 } }"},
    {"many_growing_sites", explain, "observe",
     GROW(1) GROW(2) GROW(3) GROW(4) GROW(5) GROW(6) "at f 0" FAIL},
    /* without marks, each repetition keeps one block of each of five call sites */
    {"many_repetitions", explain, "observe",
     "repeat %1$u { at f; alloc 0 1M; at f 2; alloc 12i+2 1M; at f 3; alloc 12i+4 1M; at f 4; "
     "alloc 12i+6 1M; at f 5; alloc 12i+8 1M; at f 6; alloc 12i+10 1M; free 0 }; at f" FAIL},
    {"many_steps", explain, "observe",
     "repeat %1$u { step i; at f; alloc 0 1M; at g; alloc 2i+2 1M; free 0; pop }; at f" FAIL},
    {"many_holes", explain, "caching",
     "repeat %1$u { segment 20i 20M; at f; alloc 20i 5M; alloc 20i+10 5M; at g; alloc 20i+5 5M; "
     "alloc 20i+15 5M }; repeat %1$u { free 20i; free 20i+10 }; at h" FAIL},
    /* parameters of a model, each of another size, and as many blocks of a backward pass that had
     * not ended when the trace did: whether one is a gradient depends on the parameters' sizes */
    {"many_gradients", find_kinds, "observe",
     "at Module._apply" TORCH "nn/modules/module.py; repeat %1$u { tensor 10000i i+1M }; "
     "at _engine_run_backward" TORCH "autograd/graph.py; repeat %1$u { tensor 10000i+5000 i+1M }"},
    /* mapped memory whose parts are returned one by one, in another order: expandable segments */
    {"many_parts", follow_segments, "caching",
     "repeat %1$u { grow 2i 2M }; repeat %3$u { shrink 4i 2M }; repeat %3$u { shrink 4i+2 2M }"},
};

/* Branches of the analysis on the trace of *n* things. */
static uint64_t work_of(const struct program *program, unsigned n)
{
    struct vs_reader *reader;
    vs_builder_open(&b, program->policy);
    vs_trace(&b, "device 1T GPU");
    vs_trace(&b, program->trace, n, n / 250, n / 2);
    vs_builder_close(&b, VS_END_SIGNAL, 9);
    assert_int_equal(vs_reader_open(b.path, &reader, NULL), VS_OK);
    branches = 0;
    program->analysis(reader);
    uint64_t work = branches;
    vs_reader_close(reader);
    return work;
}

ROWS(programs, many_are_no_square)
{
    const struct program *program = *state;
    uint64_t few = work_of(program, FEW), many = work_of(program, FACTOR * FEW);
    print_message("%s: %llu branches, %llu for %d times as many\n", program->name,
                  (unsigned long long)few, (unsigned long long)many, FACTOR);
    assert_true(few > FEW); /* it is counted */
    assert_true(many < MOST * few);
}
