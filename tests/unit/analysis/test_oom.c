/* SPDX-License-Identifier: Apache-2.0
 *
 * Verdicts of the post-mortem: one trace for each, and cases that just miss it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/oom/oom.h"
#include "viewer/report/oom_brief.h"
#include "support/trace_builder.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define CAPACITY (512 * MIB)
#define CONTEXT (64 * MIB) /* memory of the driver itself */
#define A(n) (UINT64_C(0x7f0000000000) + (uint64_t)(n) * MIB)

static struct vs_reader *reader;
static struct vs_report *report;

static struct vs_oom *diagnose(struct vs_builder *b, uint64_t nth)
{
    char why[VS_READER_WHY_MAX];
    struct vs_oom *oom = NULL;
    if (b->recorder)
        vs_builder_close(b, VS_END_EXIT, 1);
    if (!reader) {
        assert_int_equal(vs_reader_open(b->path, &reader, why), VS_OK);
        assert_int_equal(vs_report_build(reader, b->path, NULL, &report), VS_OK);
    }
    assert_int_equal(vs_oom_build(reader, report, nth, &oom), VS_OK);
    return oom;
}

static void done(struct vs_builder *b, struct vs_oom *oom)
{
    vs_oom_free(oom);
    vs_report_free(report);
    vs_reader_close(reader);
    reader = NULL;
    vs_builder_remove(b);
}

__attribute__((noinline)) static uint64_t site_weights(struct vs_builder *b)
{
    uint64_t stack = vs_recorder_stack(b->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}
__attribute__((noinline)) static uint64_t site_activation(struct vs_builder *b)
{
    uint64_t stack = vs_recorder_stack(b->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}
__attribute__((noinline)) static uint64_t site_leak(struct vs_builder *b)
{
    uint64_t stack = vs_recorder_stack(b->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}
__attribute__((noinline)) static uint64_t site_spike(struct vs_builder *b)
{
    uint64_t stack = vs_recorder_stack(b->recorder, 0);
    __asm__ volatile("" ::: "memory");
    return stack;
}

static void start(struct vs_builder *b)
{
    vs_builder_open(b, "observe");
    vs_builder_device(b, 0, "Small GPU", CAPACITY);
    b->stack = site_weights(b);
    vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(0), 100 * MIB, 100 * MIB);
}

/* One step: four activations of *each* MiB, freed in the backward. */
static void step(struct vs_builder *b, unsigned number, uint64_t each, uint64_t leak)
{
    vs_builder_step(b, number);
    vs_builder_push(b, "forward");
    b->stack = site_activation(b);
    for (unsigned i = 0; i < 4; i++)
        vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(1000 + 100 * i), each, each);
    vs_builder_pop(b);
    vs_builder_push(b, "backward");
    for (unsigned i = 0; i < 4; i++)
        vs_builder_free(b, 0, A(1000 + 100 * i));
    vs_builder_pop(b);
    if (leak) {
        b->stack = site_leak(b);
        vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(10000 + 100 * number), leak, leak);
    }
    vs_builder_pop(b);
}

/* Live activations of an unfinished step, then the failure of one more. */
static void fail_in_forward(struct vs_builder *b, unsigned number, unsigned live, uint64_t each,
                            uint64_t request, uint64_t held_before)
{
    vs_builder_step(b, number);
    vs_builder_push(b, "forward");
    b->stack = site_activation(b);
    for (unsigned i = 0; i < live; i++)
        vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(1000 + 100 * i), each, each);
    uint64_t ours = held_before + live * each;
    vs_builder_failed(b, 0, VS_FAMILY_DEVICE, request, CAPACITY - CONTEXT - ours, CAPACITY);
}

static const struct vs_remedy *remedy_of(const struct vs_oom *oom, const char *kind)
{
    for (size_t i = 0; i < oom->remedy_count; i++)
        if (strcmp(oom->remedies[i].kind, kind) == 0)
            return &oom->remedies[i];
    return NULL;
}

static bool has_evidence(const struct vs_oom *oom, bool against, const char *text)
{
    for (size_t i = 0; i < oom->evidence_count; i++)
        if (oom->evidence[i].against == against && strcmp(oom->evidence[i].text, text) == 0)
            return true;
    return false;
}

static void a_first_step_too_big_is_true_capacity(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    fail_in_forward(&b, 0, 5, 60 * MIB, 60 * MIB, 100 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->free_bytes, 48 * MIB);
    assert_int_equal(oom->outside, CONTEXT);
    assert_int_equal(oom->allocated, 400 * MIB);
    assert_int_equal(oom->missing, 12 * MIB);
    assert_string_equal(oom->failure.place, "step 0 / forward");
    assert_string_equal(oom->sites.items[0].frames[0].function, "site_activation");
    assert_int_equal(oom->step_bytes, 300 * MIB);
    assert_int_equal(remedy_of(oom, "bigger_device")->bytes, CAPACITY + 12 * MIB);
    assert_true(has_evidence(oom, false, "needs 60.0 MiB, 48.0 MiB available: short by 12.0 MiB"));
    assert_true(remedy_of(oom, "smaller_step")->fits);
    done(&b, oom);
}

static void a_request_above_the_device_in_the_first_step_is_true_capacity(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    fail_in_forward(&b, 0, 1, 8 * MIB, 9 * GIB, 100 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

static void a_slightly_larger_later_step_is_true_capacity_not_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 5; i++)
        step(&b, i, 80 * MIB, 0);
    fail_in_forward(&b, 5, 3, 95 * MIB, 95 * MIB, 100 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->steps_done, 5);
    assert_int_equal(oom->steps_peak, 420 * MIB);
    done(&b, oom);
}

static void a_leak_per_step_is_growth(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 6; i++)
        step(&b, i, 60 * MIB, 20 * MIB);
    fail_in_forward(&b, 6, 3, 60 * MIB, 60 * MIB, 220 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_int_equal(oom->growth_bytes, 120 * MIB);
    assert_int_equal(oom->growth_per_step, 20 * MIB);
    assert_int_equal(oom->growth_since, 0);
    assert_int_equal(oom->growing.count, 1);
    assert_string_equal(oom->growing.items[0].frames[0].function, "site_leak");
    assert_string_equal(oom->remedies[0].kind, "free_growth");
    assert_true(oom->remedies[0].fits);
    assert_true(has_evidence(oom, false, "grows every step since step 0: 6 steps × 20 MiB = 120 MiB"));
    assert_string_equal(remedy_of(oom, "bigger_device")->text,
                        "a larger GPU only delays it: 1 step per 20 MiB");
    done(&b, oom);
}

static void growth_over_few_steps_says_so(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 4; i++)
        step(&b, i, 60 * MIB, 20 * MIB);
    fail_in_forward(&b, 4, 4, 60 * MIB, 60 * MIB, 180 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_true(has_evidence(oom, true, "only 4 steps were completed"));
    done(&b, oom);
}

static void a_request_a_little_larger_than_what_is_free_differs_in_print(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    fail_in_forward(&b, 0, 5, 60 * MIB, 48 * MIB + 4096, 100 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->missing, 2 * MIB); /* the device allocates whole pages */
    assert_true(has_evidence(oom, false, "needs 50.0 MiB from the device (48.0 MiB rounded up), "
                             "48.0 MiB available: short by 2.0 MiB"));
    assert_non_null(strstr(remedy_of(oom, "bigger_device")->text, "514.0 MiB instead of 512.0"));
    done(&b, oom);
}

static void the_leaking_request_itself_failing_is_growth(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 5; i++)
        step(&b, i, 10 * MIB, 60 * MIB);
    vs_builder_step(&b, 5);
    b.stack = site_leak(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 60 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_string_equal(oom->failure.site.frames[0].function, "site_leak");
    done(&b, oom);
}

/* The driver did not say how much was free, for instance while the process ended. */
static void growth_is_the_verdict_where_free_memory_is_unknown(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 5; i++)
        step(&b, i, 10 * MIB, 60 * MIB);
    vs_builder_step(&b, 5);
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 20 * MIB, 0, 0);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->missing, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_string_equal(oom->growing.items[0].frames[0].function, "site_leak");
    done(&b, oom);
}

static void growth_too_small_to_matter_is_not_the_verdict(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 5; i++)
        step(&b, i, 60 * MIB, MIB / 4);
    /* short by 40 MiB, and the leak holds little more than one */
    fail_in_forward(&b, 5, 3, 80 * MIB, 147 * MIB - MIB / 4, 101 * MIB + MIB / 4);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_true(oom->growth_bytes > 0);
    assert_string_not_equal(oom->verdict->name, "growth");
    done(&b, oom);
}

static void memory_kept_for_only_two_steps_is_not_growth(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    step(&b, 0, 60 * MIB, 20 * MIB);
    step(&b, 1, 60 * MIB, 20 * MIB);
    fail_in_forward(&b, 2, 4, 70 * MIB, 70 * MIB, 140 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->growth_bytes, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

static void one_request_unlike_any_other_is_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 4; i++)
        step(&b, i, 40 * MIB, 0);
    vs_builder_step(&b, 4);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 400 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_true(oom->spike_is_request);
    assert_int_equal(oom->spike_bytes, 400 * MIB);
    assert_string_equal(oom->remedies[0].kind, "avoid_spike");
    assert_non_null(strstr(oom->remedies[0].text, "peaks at 260.0 MiB")); /* without it */
    done(&b, oom);
}

static void a_spike_above_the_device_is_still_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 3; i++)
        step(&b, i, 40 * MIB, 0);
    vs_builder_step(&b, 3);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 700 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    done(&b, oom);
}

static void a_live_spike_that_makes_others_fail_is_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 4; i++)
        step(&b, i, 40 * MIB, 0);
    vs_builder_step(&b, 4);
    b.stack = site_spike(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5000), 320 * MIB, 320 * MIB);
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 40 * MIB, 28 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_false(oom->spike_is_request);
    assert_int_equal(oom->spike_bytes, 320 * MIB);
    assert_string_equal(oom->spike_site.frames[0].function, "site_spike");
    done(&b, oom);
}

/* The missing bytes are unknown to every cause, not to growth alone. */
static void a_spike_is_the_verdict_where_free_memory_is_unknown(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 4; i++)
        step(&b, i, 40 * MIB, 0);
    vs_builder_step(&b, 4);
    b.stack = site_spike(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5000), 240 * MIB, 240 * MIB);
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 20 * MIB, 0, 0);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_true(oom->missing_unknown);
    assert_int_equal(oom->missing, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_int_equal(oom->causes[0].bytes, 240 * MIB);
    assert_true(has_evidence(oom, false, "the device did not report its free memory: the missing bytes "
                                         "are unknown"));
    done(&b, oom);
}

static void a_spike_between_two_steps_is_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 1; i <= 4; i++)
        step(&b, i, 40 * MIB, 0);
    vs_builder_push(&b, "evaluation"); /* outside any step */
    b.stack = site_spike(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5000), 320 * MIB, 320 * MIB);
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 40 * MIB, 28 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_int_equal(oom->spike_bytes, 320 * MIB);
    assert_false(oom->in_step);
    assert_string_equal(oom->failure.place, "evaluation");
    done(&b, oom);
}

static void a_large_request_that_every_step_makes_is_not_a_spike(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 4; i++) {
        vs_builder_step(&b, i);
        b.stack = site_spike(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(5000), 200 * MIB, 200 * MIB);
        vs_builder_free(&b, 0, A(5000));
        vs_builder_pop(&b);
    }
    vs_builder_step(&b, 4);
    b.stack = site_activation(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1000), 100 * MIB, 100 * MIB);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1200), 100 * MIB, 100 * MIB);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 200 * MIB, 148 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

static void a_spike_is_seen_without_step_marks_when_memory_goes_round(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    b.stack = site_activation(&b);
    for (unsigned i = 0; i < 40; i++) {
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1000), 20 * MIB, 20 * MIB);
        vs_builder_free(&b, 0, A(1000));
    }
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 420 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    done(&b, oom);
}

/* A cache of 20 MiB segments with every second 5 MiB block free. */
static void fill_with_holes(struct vs_builder *b)
{
    vs_builder_open(b, "caching");
    vs_builder_device(b, 0, "Small GPU", CAPACITY);
    b->stack = site_activation(b);
    for (unsigned s = 0; s < 20; s++) {
        vs_builder_segment(b, 0, A(100 * s), 20 * MIB);
        for (unsigned i = 0; i < 4; i++)
            vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(100 * s + 5 * i), 5 * MIB, 5 * MIB);
    }
    for (unsigned s = 0; s < 20; s++) {
        vs_builder_free(b, 0, A(100 * s));
        vs_builder_free(b, 0, A(100 * s + 10));
    }
}

static void enough_in_pieces_too_small_is_fragmentation(void **state)
{
    (void)state;
    struct vs_builder b;
    fill_with_holes(&b);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 120 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "fragmentation");
    assert_int_equal(oom->cached, 200 * MIB);
    assert_int_equal(oom->largest_hole, 5 * MIB);
    assert_int_equal(oom->holes, 40);
    assert_int_equal(oom->empty_bytes, 0);
    assert_non_null(remedy_of(oom, "use_holes"));
    assert_int_equal(remedy_of(oom, "smaller_request")->bytes, 48 * MIB);
    done(&b, oom);
}

static void more_than_all_pieces_together_is_true_capacity(void **state)
{
    (void)state;
    struct vs_builder b;
    fill_with_holes(&b);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 249 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

static void a_few_small_holes_do_not_make_it_fragmentation(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_activation(&b);
    vs_builder_step(&b, 0);
    for (unsigned s = 0; s < 20; s++) { /* each segment's last MiB is unused */
        vs_builder_segment(&b, 0, A(100 * s), 20 * MIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100 * s), 19 * MIB, 19 * MIB);
    }
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 60 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->cached, 20 * MIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

/* Segments of 20 MiB that take two blocks of 7 MiB each and leave 6 MiB. */
static void gaps_without_frees(bool in_step)
{
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_activation(&b);
    if (in_step)
        vs_builder_step(&b, 0);
    for (unsigned s = 0; s < 22; s++) {
        vs_builder_segment(&b, 0, A(100 * s), 20 * MIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100 * s), 7 * MIB, 7 * MIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100 * s + 7), 7 * MIB, 7 * MIB);
    }
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 7 * MIB, 8 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->need, 20 * MIB);
    assert_int_equal(oom->cached, 132 * MIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
    done(&b, oom);
}

static void gaps_in_segments_of_a_first_step_are_not_fragmentation(void **state)
{
    (void)state;
    gaps_without_frees(true);
}

static void gaps_in_segments_of_a_set_up_are_not_fragmentation(void **state)
{
    (void)state;
    gaps_without_frees(false);
}

static void a_size_no_device_has_is_absurd(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, UINT64_MAX - 4095, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "absurd_request");
    assert_string_equal(oom->remedies[0].kind, "fix_size");
    done(&b, oom);
}

static void a_refusal_with_enough_free_is_called_one(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 20 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "refused");
    done(&b, oom);
}

static void option(struct vs_builder *b, const char *name, const char *value)
{
    vs_builder_event(b, (struct vs_event){.kind = VS_EVENT_option,
                                          .option = {.name = vs_builder_string(b, name),
                                                     .value = vs_builder_string(b, value)}});
}

static void a_limit_that_was_reached_while_the_device_had_more_is_the_cause(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    option(&b, "limit", "3:1GiB,25%");
    vs_builder_alloc(&b, 0, VS_FAMILY_MANAGED, A(200), 64 * MIB, 64 * MIB); /* not counted */
    vs_builder_failed(&b, 0, VS_FAMILY_ASYNC, 29 * MIB, 284 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "imposed_limit");
    assert_true(report->devices[0].limit_bytes == CAPACITY / 4);
    assert_true(oom->limit == 128 * MIB && oom->total == 128 * MIB);
    assert_true(oom->device_total == CAPACITY && oom->device_free == 284 * MIB);
    assert_true(oom->free_bytes == 28 * MIB && oom->missing == MIB && oom->outside == 0);
    assert_string_equal(oom->remedies[0].kind, "raise_limit");
    assert_true(oom->remedies[0].fits && oom->remedies[0].bytes == 129 * MIB);
    for (size_t i = 0; i < oom->remedy_count; i++)
        assert_string_not_equal(oom->remedies[i].kind, "bigger_device");
    done(&b, oom);
}

static void a_limit_that_was_not_reached_is_not_the_cause(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    option(&b, "limit", "400MiB");
    /* other processes hold the rest: the device is full before the limit is reached */
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 100 * MIB, 60 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_true(oom->limit == 0 && oom->total == CAPACITY);
    done(&b, oom);
}

static void a_refusal_below_the_limit_is_called_one(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    option(&b, "limit", "256MiB");
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 20 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "refused");
    assert_true(has_evidence(oom, false,
                             "156.0 MiB was free of the limit of 256.0 MiB; the request needs 20.0 MiB"));
    done(&b, oom);
}

/* A failure while another process uses *others* bytes of the device, reported as in *how*. */
static struct vs_oom *fail_beside(struct vs_builder *b, uint64_t others, uint64_t how,
                                  uint64_t request, uint64_t device_free)
{
    vs_builder_open(b, "observe");
    vs_builder_device(b, 0, "Shared GPU", 80 * GIB);
    vs_builder_context(b, 1, 0, true);
    b->stack = site_activation(b);
    vs_builder_alloc(b, 0, VS_FAMILY_DEVICE, A(0), 4 * GIB, 4 * GIB);
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_OTHERS, .bytes = others, .count = 1, .how = how}});
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_device_usage,
        .device_usage = {.what = VS_USAGE_PROCESS, .bytes = others, .pid = 77, .how = how}});
    vs_builder_failed(b, 0, VS_FAMILY_DEVICE, request, device_free, 80 * GIB);
    return diagnose(b, 0);
}

static void another_process_in_the_way_is_named(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = fail_beside(&b, 74 * GIB, VS_USAGE_BY_PID, 2 * GIB, GIB);
    assert_string_equal(oom->verdict->name, "other_process");
    assert_int_equal(oom->balance.others, 74 * GIB);
    assert_int_equal(oom->balance.process[0].pid, 77);
    assert_int_equal(vs_balance_parts(&oom->balance), 79 * GIB);
    assert_int_equal(oom->balance.unexplained, GIB);
    assert_string_equal(oom->remedies[0].kind, "stop_others");
    assert_int_equal(oom->remedies[0].bytes, 74 * GIB);
    done(&b, oom);
}

static void a_small_neighbour_is_a_remedy_but_no_verdict(void **state)
{
    (void)state;
    struct vs_builder b; /* the rest belongs to the context, not to other processes */
    struct vs_oom *oom = fail_beside(&b, 3 * GIB, VS_USAGE_BY_PID, 2 * GIB, GIB);
    assert_string_not_equal(oom->verdict->name, "other_process");
    done(&b, oom);
}

static void a_neighbour_whose_end_would_not_do_is_not_to_blame(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = fail_beside(&b, 30 * GIB, VS_USAGE_BY_PID, 78 * GIB, 46 * GIB);
    assert_int_equal(oom->missing, 32 * GIB);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_null(remedy_of(oom, "stop_others"));
    done(&b, oom);
}

static void processes_that_cannot_be_distinguished_are_outside_memory(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = fail_beside(&b, 74 * GIB, VS_USAGE_UNATTRIBUTED, 2 * GIB, GIB);
    assert_string_equal(oom->verdict->name, "outside_memory");
    assert_int_equal(oom->balance.others, 0);
    done(&b, oom);
}

static void a_device_full_of_others_is_outside_memory(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Shared GPU", 80 * GIB);
    b.stack = site_activation(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 4 * GIB, 4 * GIB);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * GIB, GIB, 80 * GIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "outside_memory");
    assert_int_equal(oom->outside, 75 * GIB);
    done(&b, oom);
}

static void page_locked_memory_is_the_hosts_matter(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_PINNED, 64 * GIB, 0, 0);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "host_memory");
    done(&b, oom);
}

static void the_failure_that_ended_the_run_is_chosen_and_nth_overrides(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 400 * MIB, 348 * MIB, CAPACITY);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 390 * MIB, 348 * MIB, CAPACITY);
    b.stack = site_spike(&b); /* another call site */
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9000), 395 * MIB, 395 * MIB); /* recovers from #2 */
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->number, 1);
    assert_true(oom->ended);
    vs_oom_free(oom);
    oom = diagnose(&b, 2);
    assert_int_equal(oom->failure.requested, 390 * MIB);
    assert_false(oom->ended);
    struct vs_oom *none = NULL;
    assert_int_equal(vs_oom_build(reader, report, 3, &none), VS_ERR_NOT_FOUND);
    assert_null(none);
    done(&b, oom);
}

/* The call site asks for half as much until it gets it; later the program fails elsewhere. */
static void a_probe_at_the_start_is_recovered_although_the_program_fails_later(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    b.stack = site_activation(&b);
    for (uint64_t size = 3200; size > 400; size /= 2)
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, size * MIB, 348 * MIB, CAPACITY);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9000), 300 * MIB, 300 * MIB);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 200 * MIB, 48 * MIB, CAPACITY);
    b.stack = site_leak(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9500), 20 * MIB, 20 * MIB); /* of another site */
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->number, 4);
    assert_true(oom->ended);
    assert_int_equal(oom->failures_recovered, 3);
    done(&b, oom);
}

/* A call that failed with *error*: 100 bytes of host memory. */
/* A leak ends one thread; the other catches its probes, and allocates more than the leak's blocks. */
static void a_thread_that_goes_on_does_not_recover_anothers_failure(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    uint32_t leaks = b.tid, probes = b.tid + 1;
    for (unsigned i = 0; i < 20; i++) {
        b.tid = probes;
        b.stack = site_spike(&b);
        if (i % 5 == 0)
            vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 400 * MIB, 200 * MIB, CAPACITY);
        b.stack = site_activation(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(900), 100 * MIB, 100 * MIB);
        vs_builder_free(&b, 0, A(900));
        b.tid = leaks;
        b.stack = site_leak(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i), 20 * MIB, 20 * MIB);
    }
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 20 * MIB, 12 * MIB, CAPACITY);
    b.tid = probes;
    b.stack = site_activation(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(900), 100 * MIB, 100 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->failure.requested, 20 * MIB);
    assert_false(oom->failure.recovered);
    assert_int_equal(oom->failures_recovered, 4);
    assert_string_equal(oom->verdict->name, "growth");
    assert_string_equal(oom->guilty->frames[0].function, "site_leak");
    done(&b, oom);
}

static void failed_with(struct vs_builder *b, uint64_t error)
{
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_alloc_failed,
        .alloc_failed = {.requested = 100, .family = VS_FAMILY_PINNED, .context = 1,
                         .stack = b->stack, .error = error,
                         .api = vs_builder_string(b, "cudaHostAlloc")}});
}

static void out_of_memory_is_chosen_before_another_error(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 400 * MIB, 348 * MIB, CAPACITY);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9000), 400 * MIB, 400 * MIB); /* recovers */
    failed_with(&b, 1);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->number, 1);
    assert_string_equal(oom->verdict->name, "recovered");
    vs_oom_free(oom);
    oom = diagnose(&b, 2);
    assert_string_equal(oom->verdict->name, "other_error");
    done(&b, oom);
}

static void another_error_is_not_a_lack_of_memory(void **state)
{
    static const struct {
        uint64_t error;
        const char *evidence, *kind;
    } cases[] = {
        {1, "the call was refused with CUDA_ERROR_INVALID_VALUE", "fix_call"},
        {46, "the call was refused with CUDA_ERROR_DEVICE_UNAVAILABLE", "restore_device"},
        {700, "the call was refused with CUDA_ERROR_ILLEGAL_ADDRESS", "fix_kernel"},
        {709, "the call was refused with CUDA_ERROR_CONTEXT_IS_DESTROYED", "fix_context"},
        {711, "the call was refused with CUDA_ERROR_TOO_MANY_PEERS", "look_up_error"},
        {900, "the call was refused with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "fix_capture"},
        {12345, "the call was refused with CUDA error 12345", "look_up_error"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vs_builder b;
        start(&b);
        failed_with(&b, cases[i].error);
        struct vs_oom *oom = diagnose(&b, 0);
        assert_string_equal(oom->verdict->name, "other_error");
        assert_true(has_evidence(oom, false, cases[i].evidence));
        assert_int_equal(oom->remedy_count, 1);
        assert_string_equal(oom->remedies[0].kind, cases[i].kind);
        done(&b, oom);
    }
}

static void remedies_that_suffice_come_first(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    fail_in_forward(&b, 0, 5, 60 * MIB, 400 * MIB, 100 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_string_equal(oom->remedies[0].kind, "bigger_device");
    assert_true(oom->remedies[0].fits);
    assert_string_equal(oom->remedies[1].kind, "smaller_step");
    assert_string_equal(oom->remedies[2].kind, "shrink_site");
    assert_false(oom->remedies[1].fits || oom->remedies[2].fits);
    done(&b, oom);
}

static void usage_row(struct vs_builder *b, uint64_t what, uint64_t bytes)
{
    vs_builder_event(b, (struct vs_event){
        .kind = VS_EVENT_device_usage, .device_usage = {.what = what, .bytes = bytes, .count = 1}});
}

static void memory_kept_by_a_pool_is_named_with_its_site(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    b.stack = site_activation(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_ASYNC, A(1000), 300 * MIB, 300 * MIB);
    vs_builder_free(&b, 0, A(1000));
    usage_row(&b, VS_USAGE_POOLS, 300 * MIB);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 100 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "kept_pool");
    assert_int_equal(oom->causes[0].bytes, 300 * MIB);
    assert_true(oom->causes[0].suffices && oom->causes[0].accused);
    assert_string_equal(oom->guilty->frames[0].function, "site_activation");
    assert_string_equal(oom->remedies[0].kind, "trim_pools");
    done(&b, oom);
}

/* The summary of a run has these parts. */
static void assert_summary(const struct vs_oom *oom, const char *a, const char *b, const char *c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct vs_style style = {.out = out, .width = 200};
    vs_oom_brief(oom, &style);
    fclose(out);
    const char *const parts[] = {a, b, c};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("no \"%s\" in\n%s", parts[i], text);
    free(text);
}

/* A leak beside a pool that keeps memory: the evidence names both. */
static void a_second_cause_that_suffices_is_evidence(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    b.stack = site_spike(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_ASYNC, A(2000), 120 * MIB, 120 * MIB);
    vs_builder_free(&b, 0, A(2000));
    usage_row(&b, VS_USAGE_POOLS, 120 * MIB);
    for (unsigned i = 0; i < 12; i++)
        step(&b, i, 5 * MIB, 16 * MIB);
    fail_in_forward(&b, 12, 0, 5 * MIB, 40 * MIB, 412 * MIB);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "growth");
    bool said = false;
    for (size_t i = 0; i < oom->evidence_count; i++)
        said |= strstr(oom->evidence[i].text, "without the pools' unused memory (120.0 MiB, most at "
                                              "site_spike") == oom->evidence[i].text;
    assert_true(said);
    assert_int_equal(oom->also_count, 1);
    assert_string_equal(oom->also[0]->verdict->name, "kept_pool");
    assert_non_null(remedy_of(oom, "trim_pools"));
    assert_summary(oom, "  why     growth: ", "  also    cached in pools: ", "  look at site_spike");
    done(&b, oom);
}

/* A leak through a pool: its holes lie beside the leaked blocks, so that trimming is no remedy. */
static void trimming_does_not_help_a_leak_inside_the_pool(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 20; i++) {
        vs_builder_step(&b, i);
        b.stack = site_activation(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_ASYNC, A(2000), 60 * MIB, 60 * MIB);
        b.stack = site_leak(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_ASYNC, A(3000 + 10 * i), 8 * MIB, 8 * MIB);
        vs_builder_free(&b, 0, A(2000));
        usage_row(&b, VS_USAGE_POOLS, (93 + 13 * i) * MIB);
        vs_builder_pop(&b);
    }
    vs_builder_step(&b, 20);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_sample,
        .device_sample = {.free_bytes = 20 * MIB, .total_bytes = CAPACITY}});
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_ASYNC, 60 * MIB, 20 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
    assert_null(remedy_of(oom, "trim_pools"));
    assert_string_equal(oom->remedies[0].kind, "free_growth");
    done(&b, oom);
}

/* A spike under a limit: the limit is a remedy, and the figures are its. */
static void a_spike_below_the_device_but_above_the_limit_names_the_limit(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    option(&b, "limit", "300MiB");
    for (unsigned i = 0; i < 6; i++)
        step(&b, i, 20 * MIB, 0);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 250 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "single_spike");
    assert_int_equal(remedy_of(oom, "raise_limit")->bytes, 350 * MIB);
    assert_true(remedy_of(oom, "raise_limit")->fits);
    assert_true(has_evidence(oom, false, "this is 83.3 % of the limit; the largest other allocation "
                                         "was 100.0 MiB") ||
                has_evidence(oom, false, "this is 83.3 % of the limit; the largest other allocation "
                                         "was 20.0 MiB"));
    done(&b, oom);
}

/* The unused ends of a pool's chunks, of which none was freed: trimming returns nothing. */
static void ends_of_a_pools_chunks_are_not_kept(void **state)
{
    (void)state;
    for (unsigned freed = 0; freed < 2; freed++) {
        struct vs_builder b;
        start(&b);
        b.stack = site_activation(&b);
        for (unsigned i = 0; i < 4; i++)
            vs_builder_alloc(&b, 0, VS_FAMILY_ASYNC, A(1000 + 100 * i), 50 * MIB, 50 * MIB);
        if (freed)
            vs_builder_free(&b, 0, A(1300));
        usage_row(&b, VS_USAGE_POOLS, 256 * MIB);
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_device_sample,
            .device_sample = {.free_bytes = 92 * MIB, .total_bytes = CAPACITY}});
        b.stack = site_spike(&b);
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 120 * MIB, 92 * MIB, CAPACITY);
        struct vs_oom *oom = diagnose(&b, 0);
        assert_int_equal(oom->balance.pools, freed ? 106 * MIB : 56 * MIB);
        assert_int_equal(oom->pools_releasable, freed ? 64 * MIB : 0);
        assert_string_equal(oom->verdict->name, freed ? "kept_pool" : "true_capacity");
        assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
        const struct vs_remedy *trim = remedy_of(oom, "trim_pools");
        assert_int_equal(trim && trim->fits && trim->replayed, freed);
        done(&b, oom);
    }
}

static void two_causes_that_suffice_only_together_are_both_named(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    usage_row(&b, VS_USAGE_POOLS, 170 * MIB);
    usage_row(&b, VS_USAGE_OTHERS, 140 * MIB);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 300 * MIB, 38 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->missing, 262 * MIB);
    assert_string_equal(oom->verdict->name, "kept_pool");
    assert_string_equal(oom->second->name, "other_process");
    assert_false(oom->causes[0].suffices || oom->causes[1].suffices);
    assert_true(has_evidence(oom, false, "stream-ordered pools (cudaMallocAsync) hold 170.0 MiB, "
                                         "33.2 % of the device, that nothing uses; their live "
                                         "allocations take 0 B"));
    assert_true(has_evidence(oom, false, "1 other process holds 140.0 MiB, 27.3 % of the device "
                                         "(from NVML); this program's allocations hold 100.0 MiB"));
    assert_true(has_evidence(oom, false, "without both the device would have had 310.0 MiB more: the "
                                         "request fits"));
    assert_string_equal(oom->remedies[0].kind, "both");
    assert_int_equal(oom->remedies[0].bytes, 310 * MIB);
    assert_summary(oom, "  why     cached in pools: ", "(170.0 MiB, 33.2 % of the device)",
                   "  and     other process: ");
    done(&b, oom);
}

static void a_cache_of_another_stream_is_not_fragmentation(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_weights(&b);
    for (unsigned s = 0; s < 22; s++) {
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_segment_alloc,
            .segment_alloc = {.addr = A(100 * s), .size = 20 * MIB, .context = 1, .stream = 7}});
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100 * s), 12 * MIB, 12 * MIB);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(100 * s + 12), 8 * MIB, 8 * MIB);
    }
    for (unsigned s = 0; s < 22; s++)
        vs_builder_free(&b, 0, A(100 * s));
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 10 * MIB, 8 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "other_cache");
    assert_int_equal(oom->causes[0].bytes, 22 * 12 * MIB);
    assert_string_equal(oom->guilty->frames[0].function, "site_weights");
    done(&b, oom);
}

static void many_blocks_of_little_more_than_a_page_are_rounding(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_activation(&b);
    for (unsigned i = 0; i < 220; i++)
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2 * i), MIB + 512, MIB + 512);
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 20 * MIB, 8 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "rounding");
    assert_string_equal(oom->guilty->frames[0].function, "site_activation");
    assert_string_equal(oom->remedies[0].kind, "suballocate");
    done(&b, oom);
}

/* A device of which *count* contexts hold *each*. */
static struct vs_oom *fail_with_contexts(struct vs_builder *b, unsigned count, uint64_t each,
                                         bool stacks)
{
    vs_builder_open(b, "observe");
    vs_builder_device(b, 0, "Small GPU", 2 * GIB);
    for (unsigned i = 1; i <= count; i++) {
        uint64_t stack = i == 1 ? site_weights(b) : site_spike(b);
        vs_builder_context(b, i, 0, true);
        vs_builder_event(b, (struct vs_event){
            .kind = VS_EVENT_overhead,
            .overhead = {.context = i, .bytes = each, .stack = stacks ? stack : 0}});
    }
    b->stack = site_activation(b);
    vs_builder_failed(b, 0, VS_FAMILY_DEVICE, 100 * MIB, 20 * MIB, 2 * GIB);
    return diagnose(b, 0);
}

static void a_huge_context_and_many_contexts_are_named(void **state)
{
    (void)state;
    struct vs_builder b;
    struct vs_oom *oom = fail_with_contexts(&b, 1, 2 * GIB - 20 * MIB, true);
    assert_string_equal(oom->verdict->name, "contexts");
    done(&b, oom);
    for (int stacks = 0; stacks < 2; stacks++) { /* traces of earlier versions have none */
        oom = fail_with_contexts(&b, 5, 400 * MIB, stacks);
        assert_string_equal(oom->verdict->name, "contexts");
        assert_int_equal(oom->causes[0].bytes, 1600 * MIB);
        assert_string_equal(oom->remedies[0].kind, "one_context");
        assert_string_equal(oom->guilty->frames[0].function, stacks ? "site_spike" : "site_activation");
        if (stacks)
            assert_summary(oom, "  look at site_spike", "", "");
        done(&b, oom);
    }
}

static void growth_is_found_without_marked_steps(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 20; i++) {
        b.stack = site_activation(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1000), 30 * MIB, 30 * MIB);
        b.stack = site_leak(&b);
        if (i >= 2)
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10000 + 100 * i), 18 * MIB, 18 * MIB);
        vs_builder_free(&b, 0, A(1000));
    }
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 30 * MIB, 24 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "growth");
    assert_int_equal(oom->growth_count, 18);
    assert_int_equal(oom->growth_bytes, 18 * 18 * MIB);
    assert_string_equal(oom->guilty->frames[0].function, "site_leak");
    assert_null(strstr(remedy_of(oom, "bigger_device")->text, "instead"));
    done(&b, oom);
}

static void a_ring_of_buffers_is_not_growth(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    for (unsigned i = 0; i < 40; i++) {
        b.stack = site_leak(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(10000 + 100 * i), 20 * MIB, 20 * MIB);
        if (i >= 12)
            vs_builder_free(&b, 0, A(10000 + 100 * (i - 12)));
    }
    b.stack = site_activation(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 130 * MIB, 108 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->growth_bytes, 0);
    done(&b, oom);
}

static void a_program_that_goes_on_and_ends_well_is_not_accused(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 400 * MIB, 348 * MIB, CAPACITY);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9000), 200 * MIB, 200 * MIB); /* with less */
    vs_builder_close(&b, VS_END_EXIT, 0);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "recovered");
    assert_true(oom->went_on && !oom->ended);
    done(&b, oom);
}

static void of_identical_failures_the_first_is_explained(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 400 * MIB, 348 * MIB, CAPACITY);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(9000), 400 * MIB, 400 * MIB); /* recovers */
    vs_builder_free(&b, 0, A(9000));
    for (unsigned i = 0; i < 5; i++)
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 420 * MIB, 348 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->number, 2);
    assert_int_equal(oom->repeated, 4);
    assert_int_equal(oom->failures_recovered, 1);
    done(&b, oom);
}

/* PyTorch's segments hold little; the rest was allocated outside of its allocator. */
static void memory_outside_the_framework_is_named(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    b.stack = site_leak(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(2000), 300 * MIB, 300 * MIB);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_framework_alloc,
        .framework_alloc = {.addr = A(0), .size = 20 * MIB, .total_allocated = 20 * MIB,
                            .total_reserved = 20 * MIB, .stack = site_activation(&b)}});
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 100 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "outside_libraries");
    assert_int_equal(oom->library_bytes, 300 * MIB); /* not the one with the tensor */
    assert_string_equal(oom->guilty->frames[0].function, "site_leak");
    done(&b, oom);
}

/* Expandable segments: one block in each handle of 20 MiB stays, so that none can be unmapped. */
static void parts_of_expandable_segments_are_fragmentation(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_weights(&b);
    for (unsigned i = 0; i < 20; i++) {
        vs_builder_alloc(&b, 0, VS_FAMILY_VMM, VS_ADDR_MEMORY + i + 1, 20 * MIB, 20 * MIB);
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_vmm_map,
            .vmm_map = {.addr = A(20 * i), .size = 20 * MIB, .memory = i + 1}});
        for (unsigned k = 0; k < 4; k++)
            vs_builder_event(&b, (struct vs_event){
                .kind = VS_EVENT_framework_alloc,
                .framework_alloc = {.addr = A(20 * i + 5 * k), .size = 5 * MIB,
                                    .stack = k ? site_activation(&b) : site_leak(&b)}});
    }
    for (unsigned i = 0; i < 20; i++)
        for (unsigned k = 1; k < 4; k++)
            vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_free,
                                                   .framework_free = {.addr = A(20 * i + 5 * k)}});
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_sample,
        .device_sample = {.free_bytes = 48 * MIB, .total_bytes = CAPACITY}});
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_oom,
                                           .framework_oom = {.requested = 100 * MIB}});
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "fragmentation");
    assert_true(oom->free_known); /* read before the failure, which has no figures of its own */
    assert_int_equal(oom->free_bytes, 48 * MIB);
    assert_int_equal(oom->missing, 52 * MIB);
    assert_int_equal(oom->cache.segments, 1);
    assert_int_equal(oom->cache.scattered, 300 * MIB);
    assert_string_equal(oom->guilty->frames[0].function, "site_leak");
    done(&b, oom);
}

/* PyTorch's cache: pieces that are too small for the request, and of another stream. */
static void free_pieces_of_another_stream_of_pytorch_are_its_cache(void **state)
{
    (void)state;
    for (unsigned stream = 0; stream < 2; stream++) {
        struct vs_builder b;
        vs_builder_open(&b, "observe");
        vs_builder_device(&b, 0, "Small GPU", CAPACITY);
        for (unsigned i = 0; i < 20; i++) {
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i), 20 * MIB, 20 * MIB);
            for (unsigned k = 0; k < 4; k++)
                vs_builder_event(&b, (struct vs_event){
                    .kind = VS_EVENT_framework_alloc,
                    .framework_alloc = {.addr = A(20 * i + 5 * k), .size = 5 * MIB,
                                        .framework_stream = stream}});
        }
        for (unsigned i = 0; i < 20; i++)
            for (unsigned k = 1; k < 4; k++)
                vs_builder_event(&b, (struct vs_event){
                    .kind = VS_EVENT_framework_free,
                    .framework_free = {.addr = A(20 * i + 5 * k)}});
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 100 * MIB, 48 * MIB, CAPACITY);
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_oom,
                                               .framework_oom = {.requested = 100 * MIB}});
        struct vs_oom *oom = diagnose(&b, 0);
        assert_string_equal(oom->verdict->name, stream ? "other_cache" : "fragmentation");
        assert_int_equal(oom->cache.other_streams, stream ? 300 * MIB : 0);
        done(&b, oom);
    }
}

/* A small block needs a segment of small blocks; holes in the large segments are no private pool's. */
static void holes_in_segments_of_large_blocks_are_not_the_cache_of_others(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    for (unsigned i = 0; i < 24; i++) {
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i), 20 * MIB, 20 * MIB);
        for (unsigned k = 0; k < 2; k++)
            vs_builder_event(&b, (struct vs_event){
                .kind = VS_EVENT_framework_alloc,
                .framework_alloc = {.addr = A(20 * i + 10 * k), .size = 10 * MIB}});
    }
    for (unsigned i = 0; i < 24; i++)
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_free,
                                               .framework_free = {.addr = A(20 * i)}});
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 2 * MIB, 0, CAPACITY);
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_oom,
                                           .framework_oom = {.requested = MIB}});
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_not_equal(oom->verdict->name, "other_cache");
    assert_int_equal(oom->cache.withheld, 0);
    assert_int_equal(oom->cache.other_class, 240 * MIB);
    bool said = false;
    for (size_t i = 0; i < oom->evidence_count; i++)
        said |= strstr(oom->evidence[i].text, "segments of their own") != NULL;
    assert_true(said);
    done(&b, oom);
}

/* PyTorch releases every unused segment before it reports a failure, but for those of private pools. */
static void unused_segments_of_pytorch_are_of_a_private_pool(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    for (unsigned i = 0; i < 10; i++) {
        b.stack = i < 6 ? site_leak(&b) : site_activation(&b);
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(40 * i), 40 * MIB, 40 * MIB);
        vs_builder_event(&b, (struct vs_event){
            .kind = VS_EVENT_framework_alloc,
            .framework_alloc = {.addr = A(40 * i), .size = 40 * MIB, .stack = b.stack}});
    }
    for (unsigned i = 0; i < 6; i++)
        vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_free,
                                               .framework_free = {.addr = A(40 * i)}});
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 100 * MIB, 24 * MIB, CAPACITY);
    vs_builder_event(&b, (struct vs_event){.kind = VS_EVENT_framework_oom,
                                           .framework_oom = {.requested = 100 * MIB}});
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "other_cache");
    assert_int_equal(oom->cache.private_pools, 240 * MIB);
    assert_int_equal(oom->cache.withheld_largest, 40 * MIB);
    assert_false(oom->withheld_live);
    assert_string_equal(oom->guilty->frames[0].function, "site_leak");
    assert_string_equal(oom->remedies[0].kind, "delete_pool");
    done(&b, oom);
}

/* A buffer forgotten in each iteration from the start on, or the chunks of a data set. */
static void equal_blocks_of_which_none_was_freed_may_be_a_leak(void **state)
{
    (void)state;
    for (unsigned differ = 0; differ < 2; differ++) {
        struct vs_builder b;
        vs_builder_open(&b, "observe");
        vs_builder_device(&b, 0, "Small GPU", CAPACITY);
        b.stack = site_leak(&b);
        for (unsigned i = 0; i < 33; i++) {
            uint64_t size = 12 * MIB + (differ && i % 2 ? 2 * MIB : 0);
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i), size, size);
        }
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 30 * MIB, 20 * MIB, CAPACITY);
        struct vs_oom *oom = diagnose(&b, 0);
        assert_string_equal(oom->verdict->name, "true_capacity");
        assert_string_equal(oom->guilty->frames[0].function, "site_leak");
        bool said = false;
        for (size_t i = 0; i < oom->evidence_count; i++)
            said |= oom->evidence[i].against &&
                    strstr(oom->evidence[i].text, "may be a leak") &&
                    strstr(oom->evidence[i].text, "33 allocations of 12.0 MiB each, and freed none");
        assert_int_equal(said, !differ);
        assert_int_equal(remedy_of(oom, "free_growth") != NULL, !differ);
        done(&b, oom);
    }
}

/* Blocks from before many steps that freed as much: the program keeps running with them. */
static void equal_blocks_from_before_the_steps_are_no_leak(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "observe");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_leak(&b);
    for (unsigned i = 0; i < 16; i++)
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i), 24 * MIB, 24 * MIB);
    b.stack = site_activation(&b);
    for (unsigned i = 0; i < 60; i++) {
        vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(900), 80 * MIB, 80 * MIB);
        vs_builder_free(&b, 0, A(900));
    }
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 140 * MIB, 128 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_null(remedy_of(oom, "free_growth"));
    for (size_t i = 0; i < oom->evidence_count; i++)
        assert_null(strstr(oom->evidence[i].text, "may be a leak"));
    done(&b, oom);
}

/* Holes of a twelfth of the device, in a program that never held as much: true capacity by the bytes.
 * But another policy of the same cache serves the request. */
static void what_another_setting_of_the_cache_serves_is_not_true_capacity(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    for (unsigned i = 0; i < 20; i++) {
        vs_builder_segment(&b, 0, A(20 * i), 20 * MIB);
        for (unsigned k = 0; k < 4; k++) {
            b.stack = k ? site_weights(&b) : site_activation(&b);
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(20 * i + 5 * k), 5 * MIB, 5 * MIB);
        }
    }
    for (unsigned i = 0; i < 8; i++)
        vs_builder_free(&b, 0, A(20 * i));
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_sample,
        .device_sample = {.free_bytes = 48 * MIB, .total_bytes = CAPACITY}});
    b.stack = site_spike(&b);
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, 60 * MIB, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->missing, 12 * MIB);
    assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
    assert_string_equal(oom->verdict->name, "fragmentation");
    assert_string_equal(oom->causes[0].verdict->name, "fragmentation");
    assert_string_equal(oom->remedies[0].kind, "policy");
    assert_true(oom->remedies[0].replayed && oom->remedies[0].fits);
    assert_non_null(strstr(oom->remedies[0].text, ": this request fits, later ones are not known;"));
    assert_true(has_evidence(oom, true, "the program never ran with as much live: later requests "
                                        "may not fit"));
    done(&b, oom);
}

/* Only the last failures are stored; those of a program that fails again and again are alike. */
static void the_first_of_hundreds_of_equal_failures_is_explained(void **state)
{
    (void)state;
    struct vs_builder b;
    start(&b);
    b.stack = site_activation(&b);
    vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(0), 50 * MIB, 50 * MIB);
    b.stack = site_spike(&b);
    for (unsigned i = 0; i < 500; i++)
        vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, CAPACITY, 48 * MIB, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(oom->number, 1);
    assert_int_equal(oom->repeated, 499);
    assert_int_equal(oom->total_failures, 500);
    done(&b, oom);
}

/* Each step asks for more, in segments of the cache that fit but for their ends. */
static void holes_that_are_tiny_beside_requests_that_grow_are_true_capacity(void **state)
{
    (void)state;
    struct vs_builder b;
    vs_builder_open(&b, "caching");
    vs_builder_device(&b, 0, "Small GPU", CAPACITY);
    b.stack = site_activation(&b);
    uint64_t size = 0;
    for (unsigned i = 0; i < 70; i++) {
        size = (11 + 2 * i) * MIB;
        unsigned count = i == 69 ? 2 : 3;
        for (unsigned k = 0; k < count; k++) {
            vs_builder_segment(&b, 0, A(1000 * k), size + MIB);
            vs_builder_alloc(&b, 0, VS_FAMILY_DEVICE, A(1000 * k), size, size);
        }
        for (unsigned k = 0; k < count && i < 69; k++) {
            vs_builder_free(&b, 0, A(1000 * k));
            vs_builder_segment_free(&b, 0, A(1000 * k), size + MIB);
        }
    }
    uint64_t free_bytes = CAPACITY - CONTEXT - 2 * (size + MIB);
    vs_builder_event(&b, (struct vs_event){
        .kind = VS_EVENT_device_sample,
        .device_sample = {.free_bytes = free_bytes, .total_bytes = CAPACITY}});
    vs_builder_failed(&b, 0, VS_FAMILY_DEVICE, size, free_bytes, CAPACITY);
    struct vs_oom *oom = diagnose(&b, 0);
    assert_int_equal(vs_oom_replay(oom, reader), VS_OK);
    assert_string_equal(oom->verdict->name, "true_capacity");
    assert_int_equal(oom->request_first, 11 * MIB);
    bool said = false;
    for (size_t i = 0; i < oom->evidence_count; i++)
        said |= strstr(oom->evidence[i].text, "grow: the first was 11.0 MiB, this one is 149.0 MiB") != NULL;
    assert_true(said);
    done(&b, oom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_step_too_big_is_true_capacity),
        cmocka_unit_test(a_request_above_the_device_in_the_first_step_is_true_capacity),
        cmocka_unit_test(a_slightly_larger_later_step_is_true_capacity_not_a_spike),
        cmocka_unit_test(a_leak_per_step_is_growth),
        cmocka_unit_test(growth_over_few_steps_says_so),
        cmocka_unit_test(a_request_a_little_larger_than_what_is_free_differs_in_print),
        cmocka_unit_test(the_leaking_request_itself_failing_is_growth),
        cmocka_unit_test(growth_is_the_verdict_where_free_memory_is_unknown),
        cmocka_unit_test(growth_too_small_to_matter_is_not_the_verdict),
        cmocka_unit_test(memory_kept_for_only_two_steps_is_not_growth),
        cmocka_unit_test(one_request_unlike_any_other_is_a_spike),
        cmocka_unit_test(a_spike_above_the_device_is_still_a_spike),
        cmocka_unit_test(a_live_spike_that_makes_others_fail_is_a_spike),
        cmocka_unit_test(a_spike_between_two_steps_is_a_spike),
        cmocka_unit_test(a_spike_is_the_verdict_where_free_memory_is_unknown),
        cmocka_unit_test(a_large_request_that_every_step_makes_is_not_a_spike),
        cmocka_unit_test(a_spike_is_seen_without_step_marks_when_memory_goes_round),
        cmocka_unit_test(enough_in_pieces_too_small_is_fragmentation),
        cmocka_unit_test(more_than_all_pieces_together_is_true_capacity),
        cmocka_unit_test(a_few_small_holes_do_not_make_it_fragmentation),
        cmocka_unit_test(gaps_in_segments_of_a_first_step_are_not_fragmentation),
        cmocka_unit_test(gaps_in_segments_of_a_set_up_are_not_fragmentation),
        cmocka_unit_test(a_size_no_device_has_is_absurd),
        cmocka_unit_test(a_refusal_with_enough_free_is_called_one),
        cmocka_unit_test(a_limit_that_was_reached_while_the_device_had_more_is_the_cause),
        cmocka_unit_test(a_limit_that_was_not_reached_is_not_the_cause),
        cmocka_unit_test(a_refusal_below_the_limit_is_called_one),
        cmocka_unit_test(another_process_in_the_way_is_named),
        cmocka_unit_test(a_small_neighbour_is_a_remedy_but_no_verdict),
        cmocka_unit_test(memory_kept_by_a_pool_is_named_with_its_site),
        cmocka_unit_test(ends_of_a_pools_chunks_are_not_kept),
        cmocka_unit_test(a_probe_at_the_start_is_recovered_although_the_program_fails_later),
        cmocka_unit_test(the_first_of_hundreds_of_equal_failures_is_explained),
        cmocka_unit_test(holes_that_are_tiny_beside_requests_that_grow_are_true_capacity),
        cmocka_unit_test(a_second_cause_that_suffices_is_evidence),
        cmocka_unit_test(trimming_does_not_help_a_leak_inside_the_pool),
        cmocka_unit_test(a_spike_below_the_device_but_above_the_limit_names_the_limit),
        cmocka_unit_test(two_causes_that_suffice_only_together_are_both_named),
        cmocka_unit_test(a_cache_of_another_stream_is_not_fragmentation),
        cmocka_unit_test(many_blocks_of_little_more_than_a_page_are_rounding),
        cmocka_unit_test(a_huge_context_and_many_contexts_are_named),
        cmocka_unit_test(growth_is_found_without_marked_steps),
        cmocka_unit_test(a_ring_of_buffers_is_not_growth),
        cmocka_unit_test(a_program_that_goes_on_and_ends_well_is_not_accused),
        cmocka_unit_test(memory_outside_the_framework_is_named),
        cmocka_unit_test(of_identical_failures_the_first_is_explained),
        cmocka_unit_test(parts_of_expandable_segments_are_fragmentation),
        cmocka_unit_test(free_pieces_of_another_stream_of_pytorch_are_its_cache),
        cmocka_unit_test(holes_in_segments_of_large_blocks_are_not_the_cache_of_others),
        cmocka_unit_test(unused_segments_of_pytorch_are_of_a_private_pool),
        cmocka_unit_test(equal_blocks_of_which_none_was_freed_may_be_a_leak),
        cmocka_unit_test(equal_blocks_from_before_the_steps_are_no_leak),
        cmocka_unit_test(what_another_setting_of_the_cache_serves_is_not_true_capacity),
        cmocka_unit_test(a_neighbour_whose_end_would_not_do_is_not_to_blame),
        cmocka_unit_test(processes_that_cannot_be_distinguished_are_outside_memory),
        cmocka_unit_test(a_device_full_of_others_is_outside_memory),
        cmocka_unit_test(page_locked_memory_is_the_hosts_matter),
        cmocka_unit_test(the_failure_that_ended_the_run_is_chosen_and_nth_overrides),
        cmocka_unit_test(a_thread_that_goes_on_does_not_recover_anothers_failure),
        cmocka_unit_test(out_of_memory_is_chosen_before_another_error),
        cmocka_unit_test(another_error_is_not_a_lack_of_memory),
        cmocka_unit_test(remedies_that_suffice_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
