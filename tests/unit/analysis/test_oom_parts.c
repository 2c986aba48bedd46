/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes of several parts in the post-mortem: a spike of several blocks, growth at several call
 * sites with different periods, buffers of fixed size that are being filled; storms of failures;
 * and memory that is no allocation. */
#include "unit/analysis/oom_test.h"

#define START "device 1G Small GPU; at site_weights; repeat 4 { alloc 100i 50M }; "
/* *count* steps of two batches, the second of which has half the bytes. */
#define STEPS(count) "repeat " #count " { " TWO_BATCHES "}; "
#define TWO_BATCHES \
    "at site_batch; alloc 1000 30M; at site_scores; alloc 2000 15M; free 1000; free 2000; "
#define BOTH_BLOCKS "at site_batch; alloc 1000 500M; at site_scores; fail 250M free 124M"
#define BOTH_FACTS                                                                             \
    "verdict single_spike; spike_bytes 750M; spike_allocations 2; sites_of_spike/sites count 2; " \
    "inside/spike_peak 245M; " /* before both */                                               \
    "remedies/kind=avoid_spike/text has 2 allocations, 750.0 MiB; "                            \
    "remedies/kind=avoid_spike/text has site_batch; "                                          \
    "remedies/kind=avoid_spike/text has site_scores; "                                         \
    "remedies/kind=avoid_spike/text has peaked at 245.0 MiB; "                                  \
    "evidence has one step asked for 750.0 MiB in 2 allocations; "                             \
    "evidence has the largest other allocation was "
/* Live blocks of the same step make a request of the usual size fail. */
#define LIVE_BLOCKS "at site_batch; alloc 1000 30M; at site_scores; fail 15M free 2M"
#define LIVE_FACTS                                                                             \
    "verdict single_spike; inside/spike_is_request 0; spike_bytes 792M; inside/spike_peak 245M; " \
    "spike_allocations "
#define LIVE_REPLAYED "remedies/kind=avoid_spike/replayed true; remedies/kind=avoid_spike/fits true"
/* 74 steps that keep 8 MiB each, and 4 MiB every second time. */
#define TWO_LEAKS(begin, end)                                                                    \
    START "repeat 37 { " begin("2i") ONE_LEAK("20i") end begin("2i+1") ONE_LEAK("20i+10")        \
          "at site_log; alloc 20i+20000 4M; " end "}; " begin("74")                              \
          "at site_batch; fail 90M free 84M"
#define ONE_LEAK(at) \
    "at site_batch; alloc 1000 30M; at site_table; alloc " at "+10000 8M; free 1000; "
#define MARK(number) "step " number "; "
#define NO_MARK(number) ""
#define TWO_LEAKS_FACTS                                                                            \
    "verdict growth; sites_growing/sites count 2; "                                                \
    "sites_growing/sites/0/growth_bytes_per_step 8M; "                                             \
    "sites_growing/sites/1/growth_bytes_per_step 2M; sites_growing/sites/1/growth_every_steps 2; " \
    "growth/bytes_per_step 10M; evidence has grows by 10.0 MiB a step on average; "                \
    "evidence has 8.0 MiB every step, at site_table; "                                             \
    "evidence has 4.0 MiB every 2 steps, at site_log; "                                            \
    "remedies/kind=bigger_device/text has 1 step per 10 MiB; " BOTH_LEAKS
#define BOTH_LEAKS \
    "remedies/kind=free_growth/text has site_table; remedies/kind=free_growth/text has site_log; "
/* A table that keeps *each* in every step; then a request of the usual size lacks 2 MiB. */
#define KEEP(count, after, each)                                                                   \
    START "repeat " #count " { step i+1; at site_batch; alloc 1000 600M; at site_table; "          \
          "alloc 100i+10000 " each "; free 1000; pop }; step " #after "; at site_batch; "          \
          "fail 600M free 598M"
/* Marked steps that free all they use; then repetitions without marks, which keep 9 MiB each.
 * *once*: before them, *each* and *freed*: in each. */
#define KEEP_AFTER_STEPS(at, once, each, freed)                                                    \
    START "repeat 10 { step i+1; at site_batch; alloc 1000 30M; at " at " 2; "                     \
          "repeat 4 { alloc 20i+2000 9M }; repeat 4 { free 20i+2000 }; free 1000; pop }; "         \
          "step 11; " once "repeat 30 { " each "at site_log; alloc 5000 2M; at site_table 3; "                 \
          "alloc 20i+10000 9M; free 5000; " freed "}; at site_batch 4; fail 90M free 84M"
#define BATCH "at site_batch 3; alloc 1000 30M; "
#define CONTEXTS(count) "repeat " #count " { context i+1; overhead context i+1 400M }; "
#define REFUSED_CONTEXT "device 2G Small GPU; " CONTEXTS(1) "refused context 0 free 48M; alloc 0 1M"
#define REFUSED_LAUNCH(before) \
    "device 2G Small GPU; " CONTEXTS(1) "alloc 0 " before "refused launch 1 free 0"
#define LAUNCH_FACTS \
    "inside/need_at_least 1; evidence has the driver does not say how much; verdict "

static const struct oom_case cases[] = {
    {"both_blocks_of_a_larger_step_are_the_spike",
     START STEPS(40) BOTH_BLOCKS, BOTH_FACTS "30.0 MiB"},
    {"both_blocks_of_a_larger_marked_step_are_that_step",
     START "repeat 10 { step i; " TWO_BATCHES "pop }; step 10; " BOTH_BLOCKS,
     "verdict larger_step; causes/0/bytes 705M; causes count 1; inside/also_count 0; "
     "remedies/0/kind limit_step; remedies/0/text has from site_batch"},
    {"a_spike_beside_a_small_larger_block_stays_a_spike",
     START "repeat 10 { step i; at site_table; alloc 900 4K; " TWO_BATCHES "free 900; pop }; step 10; "
     "at site_table; alloc 900 8K; at site_batch; fail 500M free 374M",
     "verdict single_spike; spike_allocations 1; sites_of_spike/sites/0/frames/0/function site_batch"},
    {"several_live_blocks_of_one_step_are_the_spike",
     START STEPS(40) "at site_table; alloc 3000 500M; at site_log; alloc 4000 292M; " LIVE_BLOCKS,
     LIVE_FACTS "2", LIVE_REPLAYED},
    {"several_live_blocks_of_one_call_site_are_the_spike",
     START STEPS(40) "at site_table; repeat 3 { alloc 300i+3000 264M }; " LIVE_BLOCKS,
     LIVE_FACTS "3", LIVE_REPLAYED},
    {"a_block_of_an_earlier_step_is_not_of_the_spike",
     START STEPS(40) "at site_table; alloc 3000 150M; " STEPS(40) "at site_log; "
     "fail 700M free 600M",
     "verdict single_spike; spike_bytes 700M; spike_allocations 1"},
    /* Two large buffers of one call site, of which the second one fails. */
    {"a_block_is_no_spike_if_the_request_is_one_more",
     START "repeat 40 { at site_batch; alloc 1000 200M; at site_scores; alloc 2000 100M; "
     "free 1000; free 2000 }; at site_table; alloc 3000 450M; at site_table; fail 440M free 374M",
     "spike_bytes not 450M"},
    /* The first step of a program that has freed little: all of its blocks are new. */
    {"a_first_step_of_many_new_blocks_is_not_a_spike",
     START "repeat 12 { at site_scores; alloc 2000 4M; free 2000 }; at site_batch; "
     "alloc 5000 300M; at site_table; alloc 6000 180M; at site_log; fail 200M free 100M",
     "verdict true_capacity"},
    {"leaks_with_different_periods_are_both_named_with_their_rates",
     TWO_LEAKS(MARK, "pop; "), TWO_LEAKS_FACTS,
     "remedies/kind=free_growth/replayed true; " BOTH_LEAKS},
    {"leaks_with_different_periods_are_both_named_without_marks",
     TWO_LEAKS(NO_MARK, ""), TWO_LEAKS_FACTS,
     "remedies/kind=free_growth/replayed true; " BOTH_LEAKS},
    {"a_loop_after_the_marked_steps_that_keeps_memory_is_growth",
     KEEP_AFTER_STEPS("site_batch", "", BATCH, "free 1000; "),
     "verdict growth; " GUILTY "site_table; remedies/0/kind free_growth; evidence has grows by "
     "9.0 MiB with each of 30 repetitions since; evidence has after 10 completed steps; "
     "remedies/last/kind bigger_device"},
    {"growth_with_each_backward_pass_of_a_step_that_never_ends",
     START "step 1; repeat 12 { push forward; at site_table; alloc 20i+10000 60M; at site_batch; "
     "alloc 1000 8M; push backward; at site_log; alloc 2000 8M; free 2000; pop; free 1000; pop }; "
     "push forward; at site_batch 2; fail 150M free 144M",
     "verdict growth; " GUILTY "site_table; evidence has grows by 60.0 MiB with each of 11 backward "
     "passes since; evidence_against count 0"},
    /* its layers repeat before the first of them */
    {"the_layers_of_an_unfinished_step_are_no_growth",
     START "step 1; push forward; repeat 12 { at site_table; alloc 20i+10000 60M; at site_batch; "
     "alloc 1000 8M; free 1000 }; push backward; at site_log; alloc 2000 8M; fail 150M free 136M",
     "verdict true_capacity"},
    {"the_layers_of_one_larger_step_are_no_growth",
     KEEP_AFTER_STEPS("site_table", BATCH, "", ""), "verdict not growth"},
    {"a_small_buffer_of_a_few_steps_is_not_accused", KEEP(4, 5, "4M"),
     "verdict true_capacity; growth/bytes 16M; evidence_against has it may be growth: site_table"},
    {"a_short_leak_that_is_large_is_growth", KEEP(4, 5, "40M"), "verdict growth"},
    {"a_small_leak_that_lasts_is_growth", KEEP(20, 21, "2M"), "verdict growth"},
    /* A program that only allocates: each segment of 20 MiB has two blocks, and an end too small
     * for a third. */
    {"another_policy_is_a_remedy_of_true_capacity",
     "device 1G Small GPU; at site_weights; repeat 51 { segment 20i 20M; alloc 20i 7M; "
     "alloc 20i+7 7M }; fail 7M free 4M",
     "inside/ended 1",
     "verdict true_capacity; evidence has 306.0 MiB more is cached, the largest hole 6.0 MiB: "
     "most of it in ends of segments; remedies/0/kind policy; remedies/0/replayed true; "
     "remedies/0/fits true; remedies/0/text has --policy=compact", "caching"},
    /* Storms from which the program recovers, as a step goes on without the memory, before one from
     * which it does not. */
    {"failures_that_were_recovered_from_are_counted_beyond_the_latest",
     START "repeat 300 { step i; at site_table; fail 900M free 824M; " TWO_BATCHES "pop }; "
     "at site_table; repeat 300 { fail 900M free 824M }; at site_log; repeat 10 { fail 850M free "
     "824M }",
     "failure_count 610; failure/requested_bytes 850M; failure_number 601; identical_failures 9; "
     "inside/failures_recovered 299"}, /* no step ended after the last */
    /* What was dropped is recovered from when as much is allocated later. */
    {"a_dropped_failure_may_be_recovered_from_later",
     START "at site_table; repeat 300 { fail 700M free 650M }; at site_log; "
     "repeat 300 { fail 830M free 824M }; at site_table; alloc 1000 700M; at site_log; "
     "fail 830M free 124M",
     "inside/failures_recovered 300; failure_number 301; identical_failures 300; "
     "inside/firsts 1; text has 300 more like this one follow;; 300 others, the program"},
    {"a_context_too_many_is_a_failure_of_contexts",
     "device 2G Small GPU; " CONTEXTS(5) "refused context 0 free 48M",
     "verdict contexts; failure_count 1; device_bytes/needed 400M; device_bytes/missing 352M; "
     "evidence has needs about 400.0 MiB, as the other contexts do, 48.0 MiB; "
     "remedies/0/kind one_context; inside/device_failures 0"},
    {"a_first_context_beside_other_processes_is_one_too",
     "device 2G Small GPU; usage others 2000M count 5; refused context 0 free 48M",
     "verdict contexts; inside/need_at_least 1; evidence has 5 other processes hold 1.95 GiB; "
     "evidence has it needs more than the 48.0 MiB available; remedies/0/kind stop_others; "
     "remedies count 1"}, /* none claims a size of a device */
    /* It has size 0, which any allocation once counted as large enough for. */
    {"an_allocation_does_not_make_up_for_a_context",
     REFUSED_CONTEXT, "verdict contexts; failure/recovered false"},
    {"a_context_makes_up_for_one",
     REFUSED_CONTEXT "; context 7", "verdict recovered; failure/recovered true"},
    /* The program's own memory fills the device: that a launch was first to notice does not matter.
     * */
    {"a_launch_without_memory_has_the_usual_causes",
     REFUSED_LAUNCH("1648M; "), LAUNCH_FACTS "true_capacity"},
    {"a_launch_after_growth_fails_by_growth",
     REFUSED_LAUNCH("648M; repeat 20 { step i; at keep; alloc 100i+5000 50M; at work; "
     "alloc 4000 1M; free 4000; pop }; "), LAUNCH_FACTS "growth"},
};

ROWS(cases, a_failure_is_explained)
{
    explain(*state);
}

/* Requests of two sizes at two call sites, each refused again and again. */
TEST(the_first_of_a_mixed_storm_is_explained)
{
    begin_trace("observe", START "at site_scores; fail 950M free 824M; at site_log; "
                "alloc 1000 24M; repeat 400 { at site_table; fail 900M free 800M; at site_log; "
                "fail 850M free 800M; fail 850M free 800M }");
    /* the last one's kind */
    expect("failure_count 1201; failure/requested_bytes 850M; failure_number 3; "
           "identical_failures 799; inside/failures_recovered 0");
    struct vs_oom *first;
    /* kept: the first of its kind */
    assert_int_equal(vs_oom_build(reader, report, NULL, 2, &first), VS_OK);
    assert_int_equal(first->failure.requested, 900 * MIB);
    vs_oom_free(first);
    assert_int_equal(vs_oom_build(reader, report, NULL, 4, &first), VS_ERR_NOT_FOUND);
}
