/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes of several parts in the post-mortem: a spike of several blocks, growth at several call
 * sites with different periods, buffers of fixed size that are being filled; and storms of
 * failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/oom/oom.h"
#include "support/trace_builder.h"
#include "viewer/report/oom_text.h"

#define MIB (UINT64_C(1) << 20)
#define CAPACITY (1024 * MIB)
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB)

static struct vs_reader *reader;
static struct vs_report *report;

static struct vs_oom *diagnose(struct vs_builder *b)
{
    char why[VS_READER_WHY_MAX];
    struct vs_oom *oom = NULL;
    vs_builder_close(b, VS_END_EXIT, 1);
    assert_int_equal(vs_reader_open(b->path, &reader, why), VS_OK);
    assert_int_equal(vs_report_build(reader, b->path, NULL, &report), VS_OK);
    assert_int_equal(vs_oom_build(reader, report, 0, &oom), VS_OK);
    return oom;
}

static void done(struct vs_builder *b, struct vs_oom *oom)
{
    vs_oom_free(oom);
    vs_report_free(report);
    vs_reader_close(reader);
    vs_builder_remove(b);
}

#define SITE(name)                                                             \
    __attribute__((noinline)) static uint64_t name(struct vs_builder *b)       \
    {                                                                          \
        uint64_t stack = vs_recorder_stack(b->recorder, 0);                    \
        __asm__ volatile("" ::: "memory");                                     \
        return stack;                                                          \
    }
SITE(site_weights)
SITE(site_batch)
SITE(site_scores)
SITE(site_table)
SITE(site_log)

static void start(struct vs_builder *b)
{
    vs_builder_open(b, "observe");
    vs_builder_device(b, 0, "Small GPU", CAPACITY);
    b->stack = site_weights(b);
    for (unsigned i = 0; i < 4; i++)
        vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(100 * i), 50 * MIB, 50 * MIB);
}

static void alloc(struct vs_builder *b, uint64_t stack, uint64_t addr, uint64_t bytes)
{
    b->stack = stack;
    vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, addr, bytes, bytes);
}

static void refuse(struct vs_builder *b, uint64_t stack, uint64_t bytes, uint64_t free_bytes)
{
    b->stack = stack;
    vs_builder_failed(b, 0, VS_FAMILY_DEVICE, bytes, free_bytes, CAPACITY);
}

/* A step of two batches, of *bytes* and half of it. */
static void step(struct vs_builder *b, uint64_t bytes)
{
    uint64_t batch = site_batch(b), scores = site_scores(b);
    alloc(b, batch, A(1000), bytes);
    alloc(b, scores, A(2000), bytes / 2);
    vs_builder_free(b, 0, A(1000));
    vs_builder_free(b, 0, A(2000));
}

static const struct vs_remedy *remedy_of(const struct vs_oom *oom, const char *kind)
{
    for (size_t i = 0; i < oom->remedy_count; i++)
        if (strcmp(oom->remedies[i].kind, kind) == 0)
            return &oom->remedies[i];
    return NULL;
}

static bool has_evidence(const struct vs_oom *oom, bool against, const char *part)
{
    for (size_t i = 0; i < oom->evidence_count; i++)
        if (oom->evidence[i].against == against && strstr(oom->evidence[i].text, part))
            return true;
    return false;
}

/* --- spikes --- */

static void expect_both_blocks(struct vs_builder *b)
{
    struct vs_oom *oom = diagnose(b);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_int_equal(oom->spike_bytes, 750 * MIB);
    assert_int_equal(oom->spike_count, 2);
    assert_int_equal(oom->spike_sites.count, 2);
    assert_int_equal(oom->spike_peak, 245 * MIB); /* before both */
    const struct vs_remedy *remedy = remedy_of(oom, "avoid_spike");
    assert_non_null(strstr(remedy->text, "2 allocations, 750.0 MiB"));
    assert_non_null(strstr(remedy->text, "site_batch"));
    assert_non_null(strstr(remedy->text, "site_scores"));
    assert_non_null(strstr(remedy->text, "peaks at 245.0 MiB"));
    assert_true(has_evidence(oom, false, "one step asked for 750.0 MiB in 2 allocations"));
    assert_true(has_evidence(oom, false, oom->steps_done ? "the largest other allocation was 50.0 MiB"
                                                         : "the largest other allocation was 30.0 MiB"));
    done(b, oom);
}

static void both_blocks_of_a_larger_step_are_the_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 40; i++)
        step(&b, 30 * MIB);
    alloc(&b, site_batch(&b), A(1000), 500 * MIB);
    refuse(&b, site_scores(&b), 250 * MIB, 124 * MIB);
    expect_both_blocks(&b);
}

static void both_blocks_of_a_larger_marked_step_are_the_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 10; i++) {
        vs_builder_step(&b, i);
        step(&b, 30 * MIB);
        vs_builder_pop(&b);
    }
    vs_builder_step(&b, 10);
    alloc(&b, site_batch(&b), A(1000), 500 * MIB);
    refuse(&b, site_scores(&b), 250 * MIB, 124 * MIB);
    expect_both_blocks(&b);
}

/* Live blocks of the same step make a request of the usual size fail. */
static void expect_live_blocks(struct vs_builder *b, uint64_t count, uint64_t bytes)
{
    alloc(b, site_batch(b), A(1000), 30 * MIB);
    refuse(b, site_scores(b), 15 * MIB, 2 * MIB);
    struct vs_oom *oom = diagnose(b);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_false(oom->spike_is_request);
    assert_int_equal(oom->spike_count, count);
    assert_int_equal(oom->spike_bytes, bytes);
    assert_int_equal(oom->spike_peak, 245 * MIB);
    assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
    assert_true(remedy_of(oom, "avoid_spike")->replayed);
    assert_true(remedy_of(oom, "avoid_spike")->fits);
    done(b, oom);
}

static void several_live_blocks_of_one_step_are_the_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 40; i++)
        step(&b, 30 * MIB);
    alloc(&b, site_table(&b), A(3000), 500 * MIB);
    alloc(&b, site_log(&b), A(4000), 292 * MIB);
    expect_live_blocks(&b, 2, 792 * MIB);
    start(&b);
    for (unsigned i = 0; i < 40; i++)
        step(&b, 30 * MIB);
    for (unsigned i = 0; i < 3; i++) /* at one call site */
        alloc(&b, site_table(&b), A(3000 + 300 * i), 264 * MIB);
    expect_live_blocks(&b, 3, 792 * MIB);
}

static void a_block_of_an_earlier_step_is_not_of_the_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 40; i++)
        step(&b, 30 * MIB);
    alloc(&b, site_table(&b), A(3000), 150 * MIB);
    for (unsigned i = 0; i < 40; i++)
        step(&b, 30 * MIB);
    refuse(&b, site_log(&b), 700 * MIB, 600 * MIB);
    struct vs_oom *oom = diagnose(&b);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_int_equal(oom->spike_bytes, 700 * MIB);
    assert_int_equal(oom->spike_count, 1);
    done(&b, oom);
}

/* Two large buffers of one call site, of which the second one fails. */
static void a_block_is_no_spike_if_the_request_is_one_more(void **state)
{
    (void)state;
    struct vs_builder b;
    uint64_t table;
    start(&b);
    for (unsigned i = 0; i < 40; i++)
        step(&b, 200 * MIB);
    table = site_table(&b);
    alloc(&b, table, A(3000), 450 * MIB);
    refuse(&b, table, 440 * MIB, 374 * MIB);
    struct vs_oom *oom = diagnose(&b);
    assert_false(oom->spike_bytes == 450 * MIB);
    done(&b, oom);
}

/* The first step of a program that has freed little: all of its blocks are new. */
static void a_first_step_of_many_new_blocks_is_not_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 12; i++) {
        alloc(&b, site_scores(&b), A(2000), 4 * MIB);
        vs_builder_free(&b, 0, A(2000));
    }
    alloc(&b, site_batch(&b), A(5000), 300 * MIB);
    alloc(&b, site_table(&b), A(6000), 180 * MIB);
    refuse(&b, site_log(&b), 200 * MIB, 100 * MIB);
    struct vs_oom *oom = diagnose(&b);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

/* --- growth --- */

static void expect_two_sites(struct vs_builder *b)
{
    struct vs_oom *oom = diagnose(b);
    assert_string_equal(oom->verdict->name, "growth");
    assert_int_equal(oom->growing.count, 2);
    assert_int_equal(oom->growing.items[0].growth_per_step, 8 * MIB);
    assert_int_equal(oom->growing.items[1].growth_per_step, 2 * MIB);
    assert_int_equal(oom->growing.items[1].growth_every, 2);
    assert_int_equal(oom->growth_per_step, 10 * MIB);
    assert_true(has_evidence(oom, false, "grows by 10.0 MiB a step on average"));
    assert_true(has_evidence(oom, false, "8.0 MiB every step, at site_table"));
    assert_true(has_evidence(oom, false, "4.0 MiB every 2 steps, at site_log"));
    assert_non_null(strstr(remedy_of(oom, "bigger_device")->text, "1 step per 10 MiB"));
    assert_non_null(strstr(remedy_of(oom, "free_growth")->text, "site_table"));
    assert_non_null(strstr(remedy_of(oom, "free_growth")->text, "site_log"));
    assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
    assert_true(remedy_of(oom, "free_growth")->replayed);
    assert_non_null(strstr(remedy_of(oom, "free_growth")->text, "site_table"));
    assert_non_null(strstr(remedy_of(oom, "free_growth")->text, "site_log"));
    done(b, oom);
}

static void two_leaks(struct vs_builder *b, bool marks)
{
    start(b);
    for (unsigned i = 0; i < 74; i++) {
        if (marks)
            vs_builder_step(b, i);
        alloc(b, site_batch(b), A(1000), 30 * MIB);
        alloc(b, site_table(b), A(10000 + 10 * i), 8 * MIB);
        vs_builder_free(b, 0, A(1000));
        if (i % 2)
            alloc(b, site_log(b), A(20000 + 10 * i), 4 * MIB);
        if (marks)
            vs_builder_pop(b);
    }
    if (marks)
        vs_builder_step(b, 74);
    refuse(b, site_batch(b), 90 * MIB, 84 * MIB);
}

static void leaks_with_different_periods_are_both_named_with_their_rates(void **state)
{
    (void)state;
    struct vs_builder b;
    two_leaks(&b, true);
    expect_two_sites(&b);
    two_leaks(&b, false);
    expect_two_sites(&b);
}

/* A table that keeps *each* in every step; then a request of the usual size lacks 2 MiB. */
static struct vs_oom *keep(struct vs_builder *b, unsigned steps, uint64_t each)
{
    uint64_t work = 600 * MIB;
    start(b);
    for (unsigned i = 0; i < steps; i++) {
        vs_builder_step(b, i + 1);
        alloc(b, site_batch(b), A(1000), work);
        alloc(b, site_table(b), A(10000 + 100 * i), each);
        vs_builder_free(b, 0, A(1000));
        vs_builder_pop(b);
    }
    vs_builder_step(b, steps + 1);
    refuse(b, site_batch(b), work, work - 2 * MIB);
    return diagnose(b);
}

/* Marked steps that free all they use; then *count* repetitions without marks, which free their work
 * and keep 9 MiB each. *layers*: they are the layers of one larger step, whose batch comes once. */
static struct vs_oom *keep_after_steps(struct vs_builder *b, unsigned count, bool layers)
{
    start(b);
    for (unsigned i = 0; i < 10; i++) {
        vs_builder_step(b, i + 1);
        alloc(b, site_batch(b), A(1000), 30 * MIB);
        for (unsigned k = 0; k < 4; k++)
            alloc(b, layers ? site_table(b) : site_batch(b), A(2000 + 20 * k), 9 * MIB);
        for (unsigned k = 0; k < 4; k++)
            vs_builder_free(b, 0, A(2000 + 20 * k));
        vs_builder_free(b, 0, A(1000));
        vs_builder_pop(b);
    }
    vs_builder_step(b, 11);
    for (unsigned i = 0; i < count; i++) {
        if (!layers || i == 0)
            alloc(b, site_batch(b), A(1000), 30 * MIB);
        alloc(b, site_log(b), A(5000), 2 * MIB);
        alloc(b, site_table(b), A(10000 + 20 * i), 9 * MIB);
        vs_builder_free(b, 0, A(5000));
        if (!layers)
            vs_builder_free(b, 0, A(1000));
    }
    refuse(b, site_batch(b), 90 * MIB, 84 * MIB);
    return diagnose(b);
}

static void a_loop_after_the_marked_steps_that_keeps_memory_is_growth(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = keep_after_steps(&b, 30, false);
    assert_string_equal(oom->verdict->name, "growth");
    assert_string_equal(oom->guilty->frames[0].function, "site_table");
    assert_true(has_evidence(oom, false, "grows by 9.0 MiB with each of 30 repetitions since"));
    assert_true(has_evidence(oom, false, "after 10 completed steps"));
    assert_string_equal(oom->remedies[0].kind, "free_growth");
    assert_string_equal(oom->remedies[oom->remedy_count - 1].kind, "bigger_device");
    done(&b, oom);
    oom = keep_after_steps(&b, 30, true);
    assert_string_not_equal(oom->verdict->name, "growth");
    done(&b, oom);
}

static void a_small_buffer_of_a_few_steps_is_not_accused(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = keep(&b, 4, 4 * MIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->growth_bytes, 16 * MIB);
    assert_true(has_evidence(oom, true, "it may be growth: site_table"));
    done(&b, oom);
}

static void a_short_leak_that_is_large_or_lasts_is_growth(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = keep(&b, 4, 40 * MIB);
    assert_string_equal(oom->verdict->name, "growth");
    done(&b, oom);
    oom = keep(&b, 20, 2 * MIB);
    assert_string_equal(oom->verdict->name, "growth");
    done(&b, oom);
}

/* --- settings that would have served the request --- */

/* A program that only allocates: each segment of 20 MiB has two blocks, and an end too small for a
 * third. */
static void another_policy_is_a_remedy_of_true_capacity(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_weights(&b);
    for (unsigned i = 0; i < 51; i++) {
        vs_builder_segment(&b, 0, A(20 * i), 20 * MIB);
        for (unsigned k = 0; k < 2; k++)
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i + 7 * k), 7 * MIB, 7 * MIB);
    }
    refuse(&b, b.stack, 7 * MIB, 4 * MIB);
    struct vs_oom *oom = diagnose(&b);
    assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_true(has_evidence(oom, false, "306.0 MiB more is cached, the largest hole 6.0 MiB: most of it "
                                         "in ends of segments"));
    assert_string_equal(oom->remedies[0].kind, "policy");
    assert_true(oom->remedies[0].replayed && oom->remedies[0].fits);
    assert_non_null(strstr(oom->remedies[0].text, "--policy=compact"));
    done(&b, oom);
}

/* --- storms --- */

/* Requests of two sizes at two call sites, each refused again and again. */
static void the_first_of_a_mixed_storm_is_explained(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    uint64_t table = site_table(&b), log = site_log(&b);
    refuse(&b, site_scores(&b), 950 * MIB, 824 * MIB);
    alloc(&b, log, A(1000), 24 * MIB);
    for (unsigned i = 0; i < 400; i++) {
        refuse(&b, table, 900 * MIB, 800 * MIB);
        refuse(&b, log, 850 * MIB, 800 * MIB);
        refuse(&b, log, 850 * MIB, 800 * MIB);
    }
    struct vs_oom *oom = diagnose(&b);
    assert_int_equal(oom->total_failures, 1201);
    assert_int_equal(oom->failure.requested, 850 * MIB); /* the last one's kind */
    assert_int_equal(oom->number, 3);
    assert_int_equal(oom->repeated, 799);
    assert_int_equal(oom->failures_recovered, 0);
    struct vs_oom *first;
    assert_int_equal(vs_oom_build(reader, report, 2, &first), VS_OK); /* kept: the first of its kind */
    assert_int_equal(first->failure.requested, 900 * MIB);
    vs_oom_free(first);
    assert_int_equal(vs_oom_build(reader, report, 4, &first), VS_ERR_NOT_FOUND);
    done(&b, oom);
}

/* Storms from which the program recovers, before one from which it does not. */
static void failures_that_were_recovered_from_are_counted_beyond_the_latest(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    uint64_t table = site_table(&b), log = site_log(&b);
    for (unsigned i = 0; i < 300; i++) {
        vs_builder_step(&b, i);
        refuse(&b, table, 900 * MIB, 824 * MIB); /* the step goes on without it */
        step(&b, 30 * MIB);
        vs_builder_pop(&b);
    }
    for (unsigned i = 0; i < 300; i++)
        refuse(&b, table, 900 * MIB, 824 * MIB);
    for (unsigned i = 0; i < 10; i++)
        refuse(&b, log, 850 * MIB, 824 * MIB);
    struct vs_oom *oom = diagnose(&b);
    assert_int_equal(oom->total_failures, 610);
    assert_int_equal(oom->failure.requested, 850 * MIB);
    assert_int_equal(oom->number, 601);
    assert_int_equal(oom->repeated, 9);
    assert_int_equal(oom->failures_recovered, 299); /* no step ended after the last */
    struct vs_oom *first;
    assert_int_equal(vs_oom_build(reader, report, 300, &first), VS_OK);
    assert_false(first->failure.recovered);
    vs_oom_free(first);
    done(&b, oom);
}

/* What was dropped is recovered from when as much is allocated later. */
static void a_dropped_failure_may_be_recovered_from_later(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    uint64_t table = site_table(&b), log = site_log(&b);
    for (unsigned i = 0; i < 300; i++)
        refuse(&b, table, 700 * MIB, 650 * MIB);
    for (unsigned i = 0; i < 300; i++)
        refuse(&b, log, 830 * MIB, 824 * MIB);
    alloc(&b, table, A(1000), 700 * MIB);
    refuse(&b, log, 830 * MIB, 124 * MIB);
    struct vs_oom *oom = diagnose(&b);
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
    done(&b, oom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_blocks_of_a_larger_step_are_the_spike),
        cmocka_unit_test(both_blocks_of_a_larger_marked_step_are_the_spike),
        cmocka_unit_test(several_live_blocks_of_one_step_are_the_spike),
        cmocka_unit_test(a_block_of_an_earlier_step_is_not_of_the_spike),
        cmocka_unit_test(a_block_is_no_spike_if_the_request_is_one_more),
        cmocka_unit_test(a_first_step_of_many_new_blocks_is_not_a_spike),
        cmocka_unit_test(leaks_with_different_periods_are_both_named_with_their_rates),
        cmocka_unit_test(a_loop_after_the_marked_steps_that_keeps_memory_is_growth),
        cmocka_unit_test(a_small_buffer_of_a_few_steps_is_not_accused),
        cmocka_unit_test(a_short_leak_that_is_large_or_lasts_is_growth),
        cmocka_unit_test(another_policy_is_a_remedy_of_true_capacity),
        cmocka_unit_test(the_first_of_a_mixed_storm_is_explained),
        cmocka_unit_test(failures_that_were_recovered_from_are_counted_beyond_the_latest),
        cmocka_unit_test(a_dropped_failure_may_be_recovered_from_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
