/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes of several parts in the post-mortem: a spike of several blocks, growth at several call
 * sites with different periods, buffers of fixed size that are being filled; and storms of
 * failures. */
#include <stdio.h>

#include "unit/analysis/oom_test.h"
#include "viewer/report/oom_text.h"

#define CAPACITY (1024 * MIB)

static void start(const char *text)
{
    done(NULL);
    begin_trace("observe", "device 1G Small GPU; at site_weights; repeat 4 { alloc 100i 50M }");
    vs_trace(&b, "%s", text);
}

/* *count* steps of two batches, of *mib* MiB and half of it. */
static void steps(unsigned count, unsigned mib)
{
    for (unsigned i = 0; i < count; i++)
        vs_trace(&b, "at site_batch; alloc 1000 %uM; at site_scores; alloc 2000 %uM; free 1000; free 2000",
                 mib, mib / 2);
}

/* --- spikes --- */

static void expect_both_blocks(void)
{
    expect_verdict("single_spike");
    assert_int_equal(oom->spike_bytes, 750 * MIB);
    assert_int_equal(oom->spike_count, 2);
    assert_int_equal(oom->spike_sites.count, 2);
    assert_int_equal(oom->spike_peak, 245 * MIB); /* before both */
    const struct vs_remedy *remedy = remedy_of("avoid_spike");
    assert_non_null(strstr(remedy->text, "2 allocations, 750.0 MiB"));
    assert_non_null(strstr(remedy->text, "site_batch"));
    assert_non_null(strstr(remedy->text, "site_scores"));
    assert_non_null(strstr(remedy->text, "peaks at 245.0 MiB"));
    assert_true(evidence(false, true, "one step asked for 750.0 MiB in 2 allocations"));
    assert_true(evidence(false, true, oom->steps_done ? "the largest other allocation was 50.0 MiB"
                                                         : "the largest other allocation was 30.0 MiB"));
}

TEST(both_blocks_of_a_larger_step_are_the_spike)
{
    start("");
    steps(40, 30);
    vs_trace(&b, "at site_batch; alloc 1000 500M; at site_scores; fail 250M free 124M");
    expect_both_blocks();
}

TEST(both_blocks_of_a_larger_marked_step_are_the_spike)
{
    start("");
    for (unsigned i = 0; i < 10; i++) {
        vs_trace(&b, "step %u", i);
        steps(1, 30);
        vs_trace(&b, "pop");
    }
    vs_trace(&b, "step 10; at site_batch; alloc 1000 500M; at site_scores; fail 250M free 124M");
    expect_both_blocks();
}

/* Live blocks of the same step make a request of the usual size fail. */
static void expect_live_blocks(uint64_t count, uint64_t bytes)
{
    vs_trace(&b, "at site_batch; alloc 1000 30M; at site_scores; fail 15M free 2M");
    expect_verdict("single_spike");
    assert_false(oom->spike_is_request);
    assert_int_equal(oom->spike_count, count);
    assert_int_equal(oom->spike_bytes, bytes);
    assert_int_equal(oom->spike_peak, 245 * MIB);
    vs_oom_replay(oom, reader);
    assert_true(remedy_of("avoid_spike")->replayed);
    assert_true(remedy_of("avoid_spike")->fits);
}

TEST(several_live_blocks_of_one_step_are_the_spike)
{
    start("");
    steps(40, 30);
    vs_trace(&b, "at site_table; alloc 3000 500M; at site_log; alloc 4000 292M");
    expect_live_blocks(2, 792 * MIB);
    start("");
    steps(40, 30);
    for (unsigned i = 0; i < 3; i++) /* at one call site */
        vs_trace(&b, "at site_table; alloc %u 264M", 3000 + 300 * i);
    expect_live_blocks(3, 792 * MIB);
}

TEST(a_block_of_an_earlier_step_is_not_of_the_spike)
{
    start("");
    steps(40, 30);
    vs_trace(&b, "at site_table; alloc 3000 150M");
    steps(40, 30);
    vs_trace(&b, "at site_log; fail 700M free 600M");
    expect_verdict("single_spike");
    assert_int_equal(oom->spike_bytes, 700 * MIB);
    assert_int_equal(oom->spike_count, 1);
}

/* Two large buffers of one call site, of which the second one fails. */
TEST(a_block_is_no_spike_if_the_request_is_one_more)
{
    start("");
    steps(40, 200);
    vs_trace(&b, "at site_table; alloc 3000 450M");
    vs_trace(&b, "at site_table; fail 440M free 374M");
    diagnose(0);
    assert_false(oom->spike_bytes == 450 * MIB);
}

/* The first step of a program that has freed little: all of its blocks are new. */
TEST(a_first_step_of_many_new_blocks_is_not_a_spike)
{
    start("repeat 12 { at site_scores; alloc 2000 4M; free 2000 }; at site_batch; "
          "alloc 5000 300M; at site_table; alloc 6000 180M; at site_log; "
          "fail 200M free 100M");
    expect_verdict("true_capacity");
}

/* --- growth --- */

static void expect_two_sites(void)
{
    expect_verdict("growth");
    assert_int_equal(oom->growing.count, 2);
    assert_int_equal(oom->growing.items[0].growth_per_step, 8 * MIB);
    assert_int_equal(oom->growing.items[1].growth_per_step, 2 * MIB);
    assert_int_equal(oom->growing.items[1].growth_every, 2);
    assert_int_equal(oom->growth_per_step, 10 * MIB);
    assert_true(evidence(false, true, "grows by 10.0 MiB a step on average"));
    assert_true(evidence(false, true, "8.0 MiB every step, at site_table"));
    assert_true(evidence(false, true, "4.0 MiB every 2 steps, at site_log"));
    assert_non_null(strstr(remedy_of("bigger_device")->text, "1 step per 10 MiB"));
    assert_non_null(strstr(remedy_of("free_growth")->text, "site_table"));
    assert_non_null(strstr(remedy_of("free_growth")->text, "site_log"));
    vs_oom_replay(oom, reader);
    assert_true(remedy_of("free_growth")->replayed);
    assert_non_null(strstr(remedy_of("free_growth")->text, "site_table"));
    assert_non_null(strstr(remedy_of("free_growth")->text, "site_log"));
}

static void two_leaks(bool marks)
{
    start("");
    for (unsigned i = 0; i < 74; i++) {
        if (marks)
            vs_trace(&b, "step %u", i);
        vs_trace(&b, "at site_batch; alloc 1000 30M; at site_table; alloc %u 8M; free 1000",
                    10000 + 10 * i);
        if (i % 2)
            vs_trace(&b, "at site_log; alloc %u 4M", 20000 + 10 * i);
        if (marks)
            vs_trace(&b, "pop");
    }
    if (marks)
        vs_trace(&b, "step 74");
    vs_trace(&b, "at site_batch; fail 90M free 84M");
}

TEST(leaks_with_different_periods_are_both_named_with_their_rates)
{
    two_leaks(true);
    expect_two_sites();
    two_leaks(false);
    expect_two_sites();
}

/* A table that keeps *each* in every step; then a request of the usual size lacks 2 MiB. */
static void keep(unsigned count, unsigned mib)
{
    start("");
    vs_trace(&b, "repeat %u { step i+1; at site_batch; alloc 1000 600M; at site_table; alloc 100i+10000 %uM; "
                 "free 1000; pop }; step %u; at site_batch; fail 600M free 598M", count, mib, count + 1);
}

/* Marked steps that free all they use; then *count* repetitions without marks, which free their work
 * and keep 9 MiB each. *layers*: they are the layers of one larger step, whose batch comes once. */
static void keep_after_steps(unsigned count, bool layers)
{
    start("");
    for (unsigned i = 0; i < 10; i++) {
        vs_trace(&b, "step %u; at site_batch; alloc 1000 30M", i + 1);
        vs_trace(&b, "at %s 2; repeat 4 { alloc 20i+2000 9M }; repeat 4 { free 20i+2000 }; free 1000; pop",
                 layers ? "site_table" : "site_batch");
    }
    vs_trace(&b, "step 11");
    for (unsigned i = 0; i < count; i++) {
        if (!layers || i == 0)
            vs_trace(&b, "at site_batch 3; alloc 1000 30M");
        vs_trace(&b, "at site_log; alloc 5000 2M; at site_table 3; alloc %u 9M; free 5000", 10000 + 20 * i);
        if (!layers)
            vs_trace(&b, "free 1000");
    }
    vs_trace(&b, "at site_batch 4; fail 90M free 84M");
}

TEST(a_loop_after_the_marked_steps_that_keeps_memory_is_growth)
{
    keep_after_steps(30, false);
    expect_verdict("growth");
    assert_string_equal(oom->culprit->frames[0].function, "site_table");
    assert_true(evidence(false, true, "grows by 9.0 MiB with each of 30 repetitions since"));
    assert_true(evidence(false, true, "after 10 completed steps"));
    assert_string_equal(oom->remedies[0].kind, "free_growth");
    assert_string_equal(oom->remedies[oom->remedy_count - 1].kind, "bigger_device");
    keep_after_steps(30, true);
    diagnose(0);
    assert_string_not_equal(oom->verdict->name, "growth");
}

TEST(a_small_buffer_of_a_few_steps_is_not_accused)
{
    keep(4, 4);
    expect_verdict("true_capacity");
    assert_int_equal(oom->growth_bytes, 16 * MIB);
    assert_true(evidence(true, true, "it may be growth: site_table"));
}

TEST(a_short_leak_that_is_large_or_lasts_is_growth)
{
    keep(4, 40);
    expect_verdict("growth");
    keep(20, 2);
    expect_verdict("growth");
}

/* --- settings that would have served the request --- */

/* A program that only allocates: each segment of 20 MiB has two blocks, and an end too small for a
 * third. */
TEST(another_policy_is_a_remedy_of_true_capacity)
{
    vs_builder_open(&b, "caching");
    vs_trace(&b, "device 1G Small GPU; at site_weights");
    vs_trace(&b, "repeat 51 { segment 20i 20M; alloc 20i 7M; alloc 20i+7 7M }; fail 7M free 4M");
    diagnose(0);
    vs_oom_replay(oom, reader);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_true(evidence(false, true, "306.0 MiB more is cached, the largest hole 6.0 MiB: most of it "
                                         "in ends of segments"));
    assert_string_equal(oom->remedies[0].kind, "policy");
    assert_true(oom->remedies[0].replayed && oom->remedies[0].fits);
    assert_non_null(strstr(oom->remedies[0].text, "--policy=compact"));
}

/* --- storms --- */

/* Requests of two sizes at two call sites, each refused again and again. */
TEST(the_first_of_a_mixed_storm_is_explained)
{
    start("at site_scores; fail 950M free 824M");
    vs_trace(&b, "at site_log; alloc 1000 24M");
    vs_trace(&b, "repeat 400 { at site_table; fail 900M free 800M; "
                 "at site_log; fail 850M free 800M; fail 850M free 800M }");
    diagnose(0);
    assert_int_equal(oom->total_failures, 1201);
    assert_int_equal(oom->failure.requested, 850 * MIB); /* the last one's kind */
    assert_int_equal(oom->number, 3);
    assert_int_equal(oom->repeated, 799);
    assert_int_equal(oom->failures_recovered, 0);
    struct vs_oom *first;
    assert_int_equal(vs_oom_build(reader, report, NULL, 2, &first), VS_OK); /* kept: the first of its kind */
    assert_int_equal(first->failure.requested, 900 * MIB);
    vs_oom_free(first);
    assert_int_equal(vs_oom_build(reader, report, NULL, 4, &first), VS_ERR_NOT_FOUND);
}

/* Storms from which the program recovers, before one from which it does not. */
TEST(failures_that_were_recovered_from_are_counted_beyond_the_latest)
{
    start("");
    for (unsigned i = 0; i < 300; i++) {
        vs_trace(&b, "step %u", i);
        vs_trace(&b, "at site_table; fail 900M free 824M"); /* the step goes on without it */
        steps(1, 30);
        vs_trace(&b, "pop");
    }
    vs_trace(&b, "at site_table; repeat 300 { fail 900M free 824M }");
    vs_trace(&b, "at site_log; repeat 10 { fail 850M free 824M }");
    diagnose(0);
    assert_int_equal(oom->total_failures, 610);
    assert_int_equal(oom->failure.requested, 850 * MIB);
    assert_int_equal(oom->number, 601);
    assert_int_equal(oom->repeated, 9);
    assert_int_equal(oom->failures_recovered, 299); /* no step ended after the last */
    struct vs_oom *first;
    assert_int_equal(vs_oom_build(reader, report, NULL, 300, &first), VS_OK);
    assert_false(first->failure.recovered);
    vs_oom_free(first);
}

/* What was dropped is recovered from when as much is allocated later. */
TEST(a_dropped_failure_may_be_recovered_from_later)
{
    start("at site_table; repeat 300 { fail 700M free 650M }");
    vs_trace(&b, "at site_log; repeat 300 { fail 830M free 824M }");
    vs_trace(&b, "at site_table; alloc 1000 700M");
    vs_trace(&b, "at site_log; fail 830M free 124M");
    diagnose(0);
    assert_int_equal(oom->failures_recovered, 300);
    assert_int_equal(oom->number, 301);
    assert_int_equal(oom->repeated, 300);
    assert_int_equal(report->first_count, 1);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct vs_style style = {.out = out, .sites = 10, .width = 80};
    vs_oom_text(oom, report, &style);
    fclose(out);
    assert_non_null(strstr(text, "300 more like this one follow; 300 others, the program"));
    unsigned columns = 0;
    for (const char *c = text; *c; c++) {
        columns = *c == '\n' ? 0 : columns + ((*c & 0xc0) != 0x80);
        assert_true(columns <= 80);
    }
    free(text);
}
