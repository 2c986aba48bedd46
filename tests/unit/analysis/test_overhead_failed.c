/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver refuses memory that is no allocation: a context, a module, a launch. Such a failure once
 * left no event, and the post-mortem said that nothing had failed. */
#include "unit/analysis/oom_test.h"

#define CAPACITY (2 * GIB)

static void start(void)
{
    done(NULL);
    vs_builder_open(&b, "observe");
    vs_trace(&b, "device 2G Small GPU");
}

static void contexts(unsigned count, int64_t each)
{
    for (unsigned i = 1; i <= count; i++) {
        vs_builder_context(&b, i, 0, true);
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_overhead, .overhead = {.context = i, .bytes = (uint64_t)each}});
    }
}

static void refused(uint64_t what, uint64_t context, uint64_t free_bytes)
{
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_overhead_failed,
        .overhead_failed = {.what = what, .context = context, .error = VS_CUDA_OUT_OF_MEMORY,
                            .api = vs_builder_string(&b, "cuCtxCreate"),
                            .device_free_bytes = free_bytes, .device_total_bytes = CAPACITY}});
}

TEST(a_context_too_many_is_a_failure_of_contexts)
{
    start();
    contexts(5, 400 * (int64_t)MIB);
    refused(VS_OVERHEAD_CONTEXT, 0, 48 * MIB);
    expect_verdict("contexts");
    assert_int_equal(report->failure_total, 1);
    assert_int_equal(oom->need, 400 * MIB);
    assert_int_equal(oom->missing, 352 * MIB);
    assert_true(evidence(false, true, "needs about 400.0 MiB, as the other contexts do, 48.0 MiB"));
    assert_string_equal(oom->remedies[0].kind, "one_context");
    assert_int_equal(report->devices[0].family[VS_FAMILY_DEVICE].failures, 0);
}

TEST(a_first_context_beside_other_processes_is_one_too)
{
    start();
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_OTHERS, .bytes = 2000 * MIB, .count = 5}});
    refused(VS_OVERHEAD_CONTEXT, 0, 48 * MIB);
    expect_verdict("contexts");
    assert_true(oom->need_at_least);
    assert_true(evidence(false, true, "5 other processes hold 1.95 GiB"));
    assert_true(evidence(false, true, "it needs more than the 48.0 MiB available"));
    assert_string_equal(oom->remedies[0].kind, "stop_others");
    assert_int_equal(oom->remedy_count, 1); /* none claims a size of a device */
}

/* It has size 0, which any allocation once counted as large enough for. */
TEST(only_a_context_makes_up_for_one)
{
    for (int made = 0; made < 2; made++) {
        start();
        contexts(1, 400 * (int64_t)MIB);
        refused(VS_OVERHEAD_CONTEXT, 0, 48 * MIB);
        vs_trace(&b, "alloc 0 1M");
        if (made)
            vs_builder_context(&b, 7, 0, true);
        expect_verdict(made ? "recovered" : "contexts");
        assert_int_equal(oom->failure.recovered, made);

    }
}

/* The program's own memory fills the device: that a launch was first to notice does not matter. */
TEST(a_launch_without_memory_has_the_usual_causes)
{
    for (int grows = 0; grows < 2; grows++) {
        start();
        contexts(1, 400 * (int64_t)MIB);
        vs_trace(&b, "alloc 0 %uM", grows ? 648 : 1648);
        if (grows)
            vs_trace(&b, "repeat 20 { step i; at keep; alloc 100i+5000 50M; at work; alloc 4000 1M; "
                         "free 4000; pop }");
        refused(VS_OVERHEAD_LAUNCH, 1, 0);
        expect_verdict(grows ? "growth" : "true_capacity");
        assert_true(oom->need_at_least);
        assert_true(evidence(false, true, "the driver does not say how much"));
    }
}
