/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver refuses memory that is no allocation: a context, a module, a launch. Such a failure once
 * left no event, and the post-mortem said that nothing had failed. */
#include <string.h>
#include "support/cmocka_test.h"
#include "analysis/oom/oom.h"
#include "analysis/report/report.h"
#include "base/vs_size.h"
#include "support/trace_builder.h"

#define CAPACITY (2 * VS_GIB)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * VS_MIB)

struct view {
    struct vs_reader *reader;
    struct vs_report *report;
    struct vs_oom *oom;
};

static struct view look(struct vs_builder *b, uint64_t status)
{
    char why[VS_READER_WHY_MAX];
    struct view view = {0};
    vs_builder_close(b, VS_END_EXIT, status);
    assert_int_equal(vs_reader_open(b->path, &view.reader, why), VS_OK);
    assert_int_equal(vs_report_build(view.reader, b->path, NULL, &view.report), VS_OK);
    assert_int_equal(vs_oom_build(view.reader, view.report, 0, &view.oom), VS_OK);
    return view;
}

static void done(struct vs_builder *b, struct view *view)
{
    vs_oom_free(view->oom);
    vs_report_free(view->report);
    vs_reader_close(view->reader);
    vs_builder_remove(b);
}

static void start(struct vs_builder *b)
{
    vs_builder_open(b, "observe");
    vs_builder_device(b, 0, "Small GPU", CAPACITY);
}

static void contexts(struct vs_builder *b, unsigned count, int64_t each)
{
    for (unsigned i = 1; i <= count; i++) {
        vs_builder_context(b, i, 0, true);
        vs_builder_event(b, (struct vs_event){
            .kind = VS_EVENT_overhead, .overhead = {.context = i, .bytes = (uint64_t)each}});
    }
}

static void refused(struct vs_builder *b, uint64_t what, uint64_t context, uint64_t free_bytes)
{
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_overhead_failed,
        .overhead_failed = {.what = what, .context = context, .error = VS_CUDA_OUT_OF_MEMORY,
                            .api = vs_builder_string(b, "cuCtxCreate"),
                            .device_free_bytes = free_bytes, .device_total_bytes = CAPACITY}});
}

static bool has_evidence(const struct vs_oom *oom, const char *text)
{
    for (size_t i = 0; i < oom->evidence_count; i++)
        if (strstr(oom->evidence[i].text, text))
            return true;
    return false;
}

TEST(a_context_too_many_is_a_failure_of_contexts)
{
    struct vs_builder b;
    start(&b);
    contexts(&b, 5, 400 * (int64_t)VS_MIB);
    refused(&b, VS_OVERHEAD_CONTEXT, 0, 48 * VS_MIB);
    struct view view = look(&b, 1);
    assert_int_equal(view.report->failure_total, 1);
    assert_string_equal(view.oom->verdict->name, "contexts");
    assert_int_equal(view.oom->need, 400 * VS_MIB);
    assert_int_equal(view.oom->missing, 352 * VS_MIB);
    assert_true(has_evidence(view.oom, "needs about 400.0 MiB, as the other contexts do, 48.0 MiB"));
    assert_string_equal(view.oom->remedies[0].kind, "one_context");
    assert_int_equal(view.report->devices[0].family[VS_FAMILY_DEVICE].failures, 0);
    done(&b, &view);
}

TEST(a_first_context_beside_other_processes_is_one_too)
{
    struct vs_builder b;
    start(&b);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_OTHERS, .bytes = 2000 * VS_MIB, .count = 5}});
    refused(&b, VS_OVERHEAD_CONTEXT, 0, 48 * VS_MIB);
    struct view view = look(&b, 1);
    assert_string_equal(view.oom->verdict->name, "contexts");
    assert_true(view.oom->need_at_least);
    assert_true(has_evidence(view.oom, "5 other processes hold 1.95 GiB"));
    assert_true(has_evidence(view.oom, "it needs more than the 48.0 MiB available"));
    assert_string_equal(view.oom->remedies[0].kind, "stop_others");
    assert_int_equal(view.oom->remedy_count, 1); /* none claims a size of a device */
    done(&b, &view);
}

/* It has size 0, which any allocation once counted as large enough for. */
TEST(only_a_context_makes_up_for_one)
{
    for (int made = 0; made < 2; made++) {
        struct vs_builder b;
        start(&b);
        contexts(&b, 1, 400 * (int64_t)VS_MIB);
        refused(&b, VS_OVERHEAD_CONTEXT, 0, 48 * VS_MIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), VS_MIB, VS_MIB);
        if (made)
            vs_builder_context(&b, 7, 0, true);
        struct view view = look(&b, 1);
        assert_int_equal(view.oom->failure.recovered, made);
        assert_string_equal(view.oom->verdict->name, made ? "recovered" : "contexts");
        done(&b, &view);
    }
}

/* The program's own memory fills the device: that a launch was first to notice does not matter. */
TEST(a_launch_without_memory_has_the_usual_causes)
{
    for (int grows = 0; grows < 2; grows++) {
        struct vs_builder b;
        start(&b);
        contexts(&b, 1, 400 * (int64_t)VS_MIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), (grows ? 648 : 1648) * VS_MIB,
                         (grows ? 648 : 1648) * VS_MIB);
        for (unsigned i = 0; grows && i < 20; i++) {
            vs_builder_step(&b, i);
            b.stack = vs_recorder_stack(b.recorder, 0);
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5000 + 100 * i), 50 * VS_MIB, 50 * VS_MIB);
            b.stack = 0;
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(4000), VS_MIB, VS_MIB);
            vs_builder_free(&b, 0, A(4000));
            vs_builder_pop(&b);
        }
        refused(&b, VS_OVERHEAD_LAUNCH, 1, 0);
        struct view view = look(&b, 1);
        assert_string_equal(view.oom->verdict->name, grows ? "growth" : "true_capacity");
        assert_true(view.oom->need_at_least);
        assert_true(has_evidence(view.oom, "the driver does not say how much"));
        done(&b, &view);
    }
}

int main(void)
{
    return vs_run_tests(NULL, NULL);
}
