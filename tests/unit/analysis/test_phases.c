/* SPDX-License-Identifier: Apache-2.0
 *
 * Step names, range stacks, phases. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_test.h"
#include "analysis/state/phases.h"
#include "analysis/state/sites.h"

TEST(step_names_of_the_usual_frameworks_are_steps)
{
    static const struct {
        const char *name;
        bool numbered;
        uint64_t number;
    } good[] = {
        {"step 12", true, 12},        {"Step:3", true, 3},        {"iteration 7", true, 7},
        {"ProfilerStep#41", true, 41}, {"train_step", false, 0},  {"step", false, 0},
        {"step_5", true, 5},          {"Iteration 12/100", true, 12}, {"iter 3 of 9", true, 3},
        {"batch 0", true, 0},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct vs_step_name step;
        assert_true(vs_step_name_parse(good[i].name, &step));
        assert_int_equal(step.numbered, good[i].numbered);
        assert_int_equal(step.number, good[i].number);
    }
}

TEST(names_that_only_begin_like_a_step_are_not)
{
    static const char *const bad[] = {"stepping", "step 3 forward", "forward", "Optimizer.step",
                                      "", "iterator", "batchnorm", "epoch 3", "step x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct vs_step_name step;
        assert_false(vs_step_name_parse(bad[i], &step));
    }
}

static struct vs_phases phases;

BEFORE(begin)
{
    vs_phases_free(&phases);
    memset(&phases, 0, sizeof phases);
    vs_phases_init(&phases);
    return 0;
}

static const char *place_of(uint32_t tid)
{
    static char text[VS_PLACE_TEXT_MAX];
    return vs_phases_text(&phases, vs_phases_place(&phases, tid), text);
}

TEST(a_place_reads_as_step_and_phase)
{
    vs_phases_push(&phases, 1, "step 12", 0, 10);
    vs_phases_push(&phases, 1, "forward", 0, 11);
    assert_string_equal(place_of(1), "step 12 / forward");
    assert_false(vs_phases_pop(&phases, 1, 0, 12));
    assert_true(vs_phases_pop(&phases, 1, 0, 13));
    assert_string_equal(place_of(1), "");
    vs_phases_push(&phases, 1, "ProfilerStep#13", 0, 14);
    assert_string_equal(place_of(1), "ProfilerStep#13");
}

/* Ranges of a library are between those of the program, and may end in another order. */
TEST(a_range_that_is_no_phase_leaves_the_place_and_ends_by_its_domain)
{
    vs_phases_push(&phases, 1, NULL, 7, 8);
    assert_string_equal(place_of(1), "");
    vs_phases_push(&phases, 1, "forward", 0, 10);
    assert_int_equal(vs_phases_push(&phases, 1, NULL, 7, 11).phase, 1);
    vs_phases_push(&phases, 1, "module", 7, 12);
    vs_phases_push(&phases, 1, NULL, 7, 13);
    assert_string_equal(place_of(1), "forward / module");
    for (int i = 0; i < 2; i++) /* the innermost, then the module */
        vs_phases_pop(&phases, 1, 7, 14);
    assert_string_equal(place_of(1), "forward");
    vs_phases_pop(&phases, 1, 0, 20);
    assert_string_equal(place_of(1), "");
    for (int i = 0; i < 2; i++)
        vs_phases_pop(&phases, 1, 7, 30);
    assert_int_equal(phases.unmatched_pops, 0);
    assert_int_equal(phases.count, 3);
    assert_int_equal(phases.items[1].time_ns, 10);
    assert_int_equal(phases.items[2].time_ns, 2);
}

TEST(steps_share_one_phase_and_unnumbered_ones_are_counted)
{
    uint32_t first = vs_phases_push(&phases, 1, "train_step", 0, 0).phase;
    assert_true(vs_phases_pop(&phases, 1, 0, 5));
    struct vs_place second = vs_phases_push(&phases, 1, "train_step", 0, 10);
    assert_true(vs_phases_pop(&phases, 1, 0, 13));
    assert_int_equal(second.phase, first);
    assert_int_equal(second.step, 2);
    assert_int_equal(phases.items[first].times, 2);
    assert_int_equal(phases.items[first].time_ns, 8);
    assert_int_equal(phases.steps.done, 2);
    assert_int_equal(phases.steps.longest_ns, 5);
    assert_int_equal(phases.steps.longest_number, 1);
}

/* PyTorch's steps begin where the one before ends: after five steps of a training, the report once
 * listed six, and two more forward phases than backward phases. */
TEST(a_step_that_was_only_prepared_is_not_counted)
{
    for (int well = 0; well < 2; well++) {
        begin(NULL);
        uint32_t epoch = vs_phases_push(&phases, 1, "epoch", 0, 10).phase, step = 0, forward = 0;
        for (uint64_t i = 1; i <= 3; i++) {
            char name[16];
            snprintf(name, sizeof name, "step %u", (unsigned)i);
            step = vs_phases_push(&phases, 1, name, 0, 10 * i).phase;
            forward = vs_phases_push(&phases, 1, "forward", 0, 10 * i).phase;
            vs_phases_level(&phases, forward, 0, 100 * i);
            if (i < 3) {
                vs_phases_pop(&phases, 1, 0, 10 * i + 10);
                vs_phases_pop(&phases, 1, 0, 10 * i + 10);
            }
        }
        if (well)
            vs_phases_prepared(&phases);
        vs_phases_finish(&phases, 1000, well);
        assert_int_equal(phases.steps.done, 2);
        assert_int_equal(phases.items[forward].peaks[0], well ? 200 : 300);
        assert_int_equal(phases.items[epoch].peaks[0], 300); /* around the steps */
        assert_int_equal(phases.items[step].times, well ? 2 : 3); /* otherwise it failed there */
        assert_int_equal(phases.items[forward].times, well ? 2 : 3);
        assert_int_equal(phases.items[step].time_ns, well ? 20 : 990);
    }
}

/* A program with an optimizer and steps of its own had one step more than it made: the automatic one
 * that its first range ended. */
TEST(an_automatic_step_that_gives_way_is_not_counted)
{
    vs_phases_push(&phases, 1, "step 1", 7, 0);
    vs_phases_push(&phases, 1, "forward", 7, 0);
    vs_phases_mark(&phases, 1, "no step", ""); /* the program's own mark */
    vs_phases_mark(&phases, 2, "no step", "vramscope.automatic"); /* another thread's */
    assert_int_equal(phases.steps.begun, 1);
    vs_phases_mark(&phases, 1, "no step", "vramscope.automatic");
    vs_phases_mark(&phases, 1, "no step", "vramscope.automatic");
    assert_int_equal(phases.steps.begun, 0);
    assert_false(phases.steps.open);
    assert_false(vs_phases_pop(&phases, 1, 7, 5));
    assert_false(vs_phases_pop(&phases, 1, 7, 5));
    for (uint64_t i = 1; i <= 2; i++) { /* on another thread: none has the steps yet */
        struct vs_place place = vs_phases_push(&phases, 2, i == 1 ? "step 1" : "step 2", 0, 10 * i);
        assert_int_equal(place.step, i);
        vs_phases_push(&phases, 2, "forward", 0, 10 * i);
        assert_false(vs_phases_pop(&phases, 2, 0, 10 * i + 4));
        assert_true(vs_phases_pop(&phases, 2, 0, 10 * i + 5));
    }
    assert_int_equal(phases.steps.begun, 2);
    assert_int_equal(phases.steps.done, 2);
    assert_int_equal(phases.steps.total_ns, 10);
    assert_int_equal(phases.count, 3);
    assert_int_equal(phases.items[1].times, 2);
    assert_int_equal(phases.items[2].times, 2);
}

/* A name as long as the text was left out: its row in the report had no name at all. */
TEST(a_long_name_is_cut_and_not_left_out)
{
    static char name[65537];
    for (size_t at = 1; at <= 3; at++) { /* characters of three bytes, at every offset */
        memset(name, 'a', at);
        for (size_t i = at; i + 3 < sizeof name; i += 3)
            memcpy(name + i, "\xe2\x82\xac", 4);
        vs_phases_push(&phases, 1, name, 0, 10);
        const char *text = place_of(1);
        size_t length = strlen(text);
        assert_in_range(length, 100, 250);
        assert_memory_equal(text, name, length - 3);
        assert_string_equal(text + length - 3, "...");
        assert_true((length - 3 - at) % 3 == 0);
        vs_phases_push(&phases, 1, "inner", 0, 11);
        text = place_of(1);
        assert_memory_equal(text, name, at + 3);
        assert_string_equal(text + strlen(text) - 11, "... / inner");
        vs_phases_pop(&phases, 1, 0, 12);
        vs_phases_pop(&phases, 1, 0, 13);
    }
}

TEST(a_thread_without_ranges_is_where_the_main_thread_is)
{
    phases.main_tid = 1;
    vs_phases_push(&phases, 1, "backward", 0, 0);
    assert_string_equal(place_of(77), "backward");
    vs_phases_push(&phases, 77, "loader", 0, 1);
    assert_string_equal(place_of(77), "loader");
    assert_string_equal(place_of(1), "backward");
}

TEST(pops_match_their_domain_and_unmatched_ones_are_ignored)
{
    vs_phases_pop(&phases, 1, 0, 0);
    assert_int_equal(phases.unmatched_pops, 1);
    vs_phases_push(&phases, 1, "outer", 5, 1);
    vs_phases_push(&phases, 1, "inner", 9, 2);
    vs_phases_pop(&phases, 1, 5, 3); /* closes outer, though inner is on top */
    vs_phases_pop(&phases, 1, 7, 4);
    assert_int_equal(phases.unmatched_pops, 2);
    assert_string_equal(place_of(1), "outer / inner");
    vs_phases_pop(&phases, 1, 9, 5);
    assert_string_equal(place_of(1), "");
}

TEST(ranges_deeper_than_kept_still_match_their_pops)
{
    for (int i = 0; i < VS_RANGE_DEPTH_MAX + 40; i++)
        vs_phases_push(&phases, 1, "deep", 0, 0);
    for (int i = 0; i < VS_RANGE_DEPTH_MAX + 40; i++)
        vs_phases_pop(&phases, 1, 0, 1);
    assert_int_equal(phases.unmatched_pops, 0);
    assert_int_equal(vs_phases_place(&phases, 1).phase, 0);
}

TEST(only_the_first_stepping_thread_delimits_steps)
{
    vs_phases_push(&phases, 1, "step 0", 0, 0);
    vs_phases_push(&phases, 2, "step 0", 0, 1);
    assert_false(vs_phases_pop(&phases, 2, 0, 2));
    assert_true(vs_phases_pop(&phases, 1, 0, 3));
    assert_int_equal(phases.steps.done, 1);
}

static void growth(struct vs_growth *g, const uint64_t *levels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vs_growth_update(g, levels[i], i, i, i == 0);
}

TEST(growth_needs_three_rises_and_hardly_any_fall)
{
    const uint64_t leak[] = {0, 10, 20, 30}, twice[] = {0, 10, 20, 20}, saw[] = {0, 9, 0, 9, 0, 9},
                   warm[] = {0, 500, 500, 500, 500}, other[] = {5, 15, 15, 25, 25, 35, 35};
    struct vs_growth g[5] = {{0}};
    growth(&g[0], leak, 4);
    assert_true(vs_growth_steady(&g[0], 3));
    assert_int_equal(vs_growth_per_step(&g[0]), 10);
    growth(&g[1], twice, 4);
    assert_false(vs_growth_steady(&g[1], 3));
    growth(&g[2], saw, 6);
    assert_false(vs_growth_steady(&g[2], 5));
    growth(&g[3], warm, 5);
    assert_false(vs_growth_steady(&g[3], 4));
    growth(&g[4], other, 7); /* every second step is steady too */
    assert_true(vs_growth_steady(&g[4], 6));
    assert_false(vs_growth_steady(&g[4], 60)); /* but not when it stopped long ago */
}

TEST(threads_take_what_their_ranges_need_and_have_a_bound)
{
    for (uint32_t tid = 1; tid <= VS_THREADS_MAX + 1000; tid++)
        vs_phases_push(&phases, tid, "load", 0, tid);
    assert_int_equal(phases.thread_count, VS_THREADS_MAX);
    assert_true(phases.ranges_room <= 4 * VS_THREADS_MAX); /* a few each, not 64 */
    assert_int_equal(vs_phases_place(&phases, VS_THREADS_MAX).phase, 1);
    assert_int_equal(vs_phases_place(&phases, VS_THREADS_MAX + 1).phase, 0);
    assert_false(vs_phases_pop(&phases, VS_THREADS_MAX + 1, 0, 1000000));
    /* deeply nested in some: one limit for all together, and each ends in the state in which it
     * began */
    for (uint32_t tid = 1; tid <= 5000; tid++)
        for (int depth = 1; depth < VS_RANGE_DEPTH_MAX + 3; depth++)
            vs_phases_push(&phases, tid, "load", 0, 1000000);
    assert_true(phases.ranges_room <= VS_RANGES_ROOM_MAX);
    assert_int_equal(phases.threads[0].depth, VS_RANGE_DEPTH_MAX + 3);
    for (uint32_t tid = 1; tid <= 5000; tid++) {
        for (int depth = 1; depth < VS_RANGE_DEPTH_MAX + 3; depth++)
            vs_phases_pop(&phases, tid, 0, 1000001);
        assert_int_equal(vs_phases_place(&phases, tid).phase, 1);
        vs_phases_pop(&phases, tid, 0, 1000002);
        assert_int_equal(vs_phases_place(&phases, tid).phase, 0);
    }
    assert_int_equal(phases.unmatched_pops, 0);
}
