/* SPDX-License-Identifier: Apache-2.0
 *
 * The compact policy with a plan: every request at its planned place when the program repeats the
 * planned run, with hardly more memory than is live; and no worse than without a plan when it
 * deviates. With traces as arguments (converted by snapshot_to_events.py): the same for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/core/allocator_internal.h"
#include "allocator/plan/plan_follow.h"
#include "support/fake_device.h"
#include "support/plan_log.h"
#include "support/policy_run.h"
#include "support/workload_build.h"
#include "support/workloads.h"

static const struct vs_allocator_config compact = {.policy = VS_POLICY_COMPACT};
static const struct vs_allocator_config pytorch = {.policy = VS_POLICY_PYTORCH};

struct with_plan {
    struct plan_log plan;
    struct vs_plan_stats stats;
};

static enum vs_err use_plan(struct vs_allocator *a, void *arg)
{
    return vs_allocator_use_plan(a, &((struct with_plan *)arg)->plan.plan);
}

static void take_stats(struct vs_allocator *a, void *arg)
{
    vs_allocator_plan_stats(a, &((struct with_plan *)arg)->stats);
    assert_int_equal(vs_allocator_check(a), VS_OK);
}

/* --- just enough memory --- */

/* With 1.02 times the live memory the plan completes, every block at its place. */
static void completes_at_the_edge(const struct request_log *log, struct with_plan *with)
{
    struct policy_result result;
    uint64_t capacity = request_log_peak(log) / 50 * 51;
    assert_int_equal(plan_log_make(log, false, &with->plan), VS_OK);
    assert_int_equal(policy_run_until(log, &compact, capacity, use_plan, take_stats, with, &result),
                     VS_OK);
    assert_int_equal(result.failed_at, log->count);
    assert_true(result.reserved_peak <= with->plan.summary.planned_bytes +
                                            with->plan.summary.stream_count * VS_PAGE_BYTES);
    plan_log_free(&with->plan);
}

static void a_plan_completes_where_pytorch_fails(void **state)
{
    static const char *const names[] = {"varlen", "serving", "moe", "fragmentation"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct request_log log;
        struct with_plan with;
        struct policy_result result;
        assert_true(workload_make(names[i], 1, &log));
        completes_at_the_edge(&log, &with);
        assert_int_equal(with.stats.followed, log.id_count);
        assert_int_equal(with.stats.placed, log.id_count);
        assert_int_equal(policy_run(&log, &pytorch, request_log_peak(&log) / 50 * 51, NULL, NULL,
                                    &result), VS_OK);
        assert_true(result.failed_at < log.count);
        request_log_clear(&log);
    }
}

/* --- deviations --- */

enum deviation { NONE, MISSING, EXTRA, CHANGED, SWAPPED, DEVIATIONS };

/* Parameters, then steps of 60 blocks; one in *one_in* of them deviates. */
static void loop(struct request_log *log, unsigned steps, enum deviation deviation,
                 unsigned one_in)
{
    struct workload w = {.log = log, .random = 5};
    struct block_list saved = {0};
    memset(log, 0, sizeof *log);
    for (unsigned i = 0; i < 20; i++)
        take(&w, MIB + i * 4096);
    for (unsigned step = 0; step < steps; step++) {
        for (unsigned i = 0; i < 30; i++) {
            bool now = deviation != NONE && random_below(&w, one_in) == 0;
            uint64_t size = (i % 7 + 1) * MIB + i * 512, brief = 3 * MIB + i % 3 * 700;
            if (now && deviation == MISSING)
                continue;
            if (now && deviation == EXTRA)
                give(&w, take(&w, random_below(&w, 9 * MIB) + 1));
            if (now && deviation == CHANGED)
                size += 512 * random_below(&w, 5000);
            uint32_t first = take(&w, now && deviation == SWAPPED ? brief : size);
            uint32_t second = take(&w, now && deviation == SWAPPED ? size : brief);
            list_add(&saved, now && deviation == SWAPPED ? second : first);
            give(&w, now && deviation == SWAPPED ? first : second);
        }
        give_last(&w, &saved, saved.count);
    }
    list_free(&saved);
}

static void a_loop_that_deviates_is_followed_again_and_again(void **state)
{
    struct request_log log;
    struct with_plan with;
    struct policy_result result;
    (void)state;
    loop(&log, 12, NONE, 1);
    assert_int_equal(plan_log_make(&log, false, &with.plan), VS_OK);
    assert_int_equal(with.plan.summary.streams[0].period, 60);
    request_log_clear(&log);
    for (enum deviation d = NONE; d < DEVIATIONS; d++) {
        loop(&log, 100, d, 200); /* every seventh step or so */
        uint64_t requests = log.id_count, bound = request_log_peak(&log);
        assert_int_equal(policy_run_until(&log, &compact, UINT64_C(1) << 40, use_plan, take_stats,
                                          &with, &result), VS_OK);
        assert_int_equal(result.failed_at, log.count);
        assert_int_equal(with.stats.followed + with.stats.deviated, requests);
        assert_true(with.stats.deviated * 20 <= requests);
        assert_true(with.stats.placed * 10 >= requests * 9);
        assert_true(with.stats.resynchronised == 0 || d != NONE);
        assert_true(with.stats.resynchronised > 0 || d == NONE || d == EXTRA);
        printf("deviation %d: %llu requests, %llu followed, %llu placed, %llu resynchronised\n", d,
               (unsigned long long)requests, (unsigned long long)with.stats.followed,
               (unsigned long long)with.stats.placed,
               (unsigned long long)with.stats.resynchronised);
        assert_true(result.reserved_peak <= bound + bound / 20 + VS_PAGE_BYTES);
        if (d == NONE)
            assert_int_equal(with.stats.placed, requests);
        request_log_clear(&log);
    }
    plan_log_free(&with.plan);
}

/* The plan of another run gains little, and must cost little. */
static void the_plan_of_another_seed_costs_little(void **state)
{
    static const char *const names[] = {"moe", "streams"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct request_log log, other;
        struct with_plan with;
        struct policy_result planned, plain;
        assert_true(workload_make(names[i], 1, &log));
        assert_true(workload_make(names[i], 2, &other));
        assert_int_equal(plan_log_make(&other, false, &with.plan), VS_OK);
        assert_int_equal(policy_run_until(&log, &compact, UINT64_C(1) << 42, use_plan, take_stats,
                                          &with, &planned), VS_OK);
        assert_int_equal(policy_run(&log, &compact, UINT64_C(1) << 42, NULL, NULL, &plain), VS_OK);
        assert_int_equal(planned.failed_at, log.count);
        assert_true(planned.reserved_peak <= plain.reserved_peak + plain.reserved_peak / 33);
        plan_log_free(&with.plan);
        request_log_clear(&log);
        request_log_clear(&other);
    }
}

/* --- computed by hand --- */

struct fixture {
    struct fake_device device;
    struct vs_allocator *allocator;
    struct plan_log plan;
};

/* A plan of three blocks: 3 MiB and 5 MiB together, then 8 MiB in their place. */
static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct request_log log = {0};
    uint32_t a = request_log_alloc(&log, 3 * MIB, 0), b = request_log_alloc(&log, 5 * MIB, 0);
    request_log_free_block(&log, a);
    request_log_free_block(&log, b);
    request_log_free_block(&log, request_log_alloc(&log, 8 * MIB, 0));
    assert_int_equal(plan_log_make(&log, true, &f->plan), VS_OK);
    request_log_clear(&log);
    fake_device_init(&f->device, UINT64_C(1) << 34);
    assert_int_equal(vs_allocator_create(&compact, &fake_device_ops, &f->device, NULL, NULL,
                                         &f->allocator), VS_OK);
    assert_int_equal(vs_allocator_use_plan(f->allocator, &f->plan.plan), VS_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    vs_allocator_destroy(f->allocator);
    plan_log_free(&f->plan);
    fake_device_free(&f->device);
    free(f);
    return 0;
}

static uint64_t ask(struct fixture *f, uint64_t bytes)
{
    struct vs_allocation got;
    assert_int_equal(vs_allocator_malloc(f->allocator, bytes, 0, &got), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    return got.addr;
}

static void release(struct fixture *f, uint64_t addr)
{
    assert_int_equal(vs_allocator_free(f->allocator, addr), VS_OK);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
}

static struct vs_plan_stats stats(struct fixture *f)
{
    struct vs_plan_stats out;
    vs_allocator_plan_stats(f->allocator, &out);
    return out;
}

static void memory_is_mapped_when_a_place_is_used(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(f->device.used, 0);
    uint64_t a = ask(f, 3 * MIB), b = ask(f, 5 * MIB);
    assert_int_equal(f->device.used, 8 * MIB);
    release(f, a);
    release(f, b);
    uint64_t c = ask(f, 8 * MIB);
    assert_int_equal(c, a < b ? a : b);
    assert_int_equal(f->device.used, 8 * MIB);
    assert_int_equal(stats(f).placed, 3);
    release(f, c);
}

static void a_place_that_is_taken_is_not_given_again(void **state)
{
    struct fixture *f = *state;
    uint64_t a = ask(f, 3 * MIB), b = ask(f, 5 * MIB);
    release(f, a); /* b stays: the 8 MiB of the plan are not free */
    uint64_t c = ask(f, 8 * MIB);
    assert_int_equal(stats(f).followed, 3);
    assert_int_equal(stats(f).placed, 2);
    assert_int_equal(stats(f).occupied, 1);
    assert_true(c + 8 * MIB <= b || b + 5 * MIB <= c);
    assert_int_equal(f->device.used, 14 * MIB); /* a's whole page is used for c */
    release(f, b);
    release(f, c);
}

static void a_plan_survives_an_emptied_cache_and_a_lost_context(void **state)
{
    struct fixture *f = *state;
    release(f, ask(f, 3 * MIB));
    assert_int_equal(vs_allocator_empty_cache(f->allocator, NULL), VS_OK);
    assert_int_equal(f->device.used, 0);
    uint64_t b = ask(f, 5 * MIB);
    assert_int_equal(stats(f).placed, 2);
    vs_allocator_abandon(f->allocator);
    uint64_t c = ask(f, 8 * MIB);
    assert_int_not_equal(b, c);
    assert_int_equal(stats(f).placed, 3);
    release(f, c);
}

static void a_device_that_refuses_is_asked_by_the_ordinary_rules(void **state)
{
    struct fixture *f = *state;
    struct vs_allocation got;
    f->device.fail_create = VS_ERR_DEVICE_OOM;
    assert_int_equal(vs_allocator_malloc(f->allocator, 3 * MIB, 0, &got), VS_ERR_DEVICE_OOM);
    assert_int_equal(vs_allocator_check(f->allocator), VS_OK);
    assert_int_equal(stats(f).refused, 1);
    f->device.fail_create = VS_OK;
    release(f, ask(f, 5 * MIB));
    assert_int_equal(stats(f).placed, 1);
}

static void a_stream_that_the_plan_does_not_know_is_served_all_the_same(void **state)
{
    struct fixture *f = *state;
    struct vs_allocation got;
    release(f, ask(f, 3 * MIB));
    assert_int_equal(vs_allocator_malloc(f->allocator, 5 * MIB, 3, &got), VS_OK);
    assert_int_equal(stats(f).followed, 1);
    release(f, got.addr);
}

static void only_the_compact_policy_takes_a_plan_and_only_one(void **state)
{
    struct fixture *f = *state;
    struct vs_allocator *other;
    struct vs_plan_stats none;
    assert_int_equal(vs_allocator_use_plan(f->allocator, &f->plan.plan), VS_ERR_STATE);
    assert_int_equal(vs_allocator_create(&pytorch, &fake_device_ops, &f->device, NULL, NULL,
                                         &other), VS_OK);
    assert_int_equal(vs_allocator_use_plan(other, &f->plan.plan), VS_ERR_UNSUPPORTED);
    vs_allocator_plan_stats(other, &none);
    assert_int_equal(none.followed + none.deviated, 0);
    vs_allocator_destroy(other);
}

/* --- traces --- */

static int check_traces(int count, char **paths)
{
    for (int i = 0; i < count; i++) {
        struct request_log log;
        struct with_plan with;
        request_log_load(paths[i], &log);
        completes_at_the_edge(&log, &with);
        printf("%s: %u requests, %llu placed\n", paths[i], log.id_count,
               (unsigned long long)with.stats.placed);
        if (with.stats.placed != log.id_count)
            return 1;
        request_log_clear(&log);
    }
    return 0;
}

/* --- memory needed without a plan --- */

static void a_plan_that_gains_nothing_places_nothing(void **state)
{
    (void)state;
    static const struct vs_plan_identity identity = {"log", 0, 0};
    const struct vs_allocator_config config = {.policy = vs_policy_plannable()};
    struct workload w = {.random = 7};
    struct request_log log = {0};
    struct vs_planner *planner;
    struct vs_plan_summary before, after;
    struct policy_result need;
    uint32_t slots[400] = {0}; /* id + 1 */
    void *bytes;
    size_t size;
    assert_int_equal(vs_planner_open(&planner), VS_OK);
    for (unsigned i = 0; i < 6000; i++) { /* random sizes and lifetimes: no placement is good */
        uint32_t *slot = &slots[random_below(&w, 400)];
        if (*slot) {
            assert_int_equal(vs_planner_free(planner, *slot), VS_OK);
            request_log_free_block(&log, *slot - 1);
        }
        uint64_t request = random_below(&w, 32 * MIB) + 1;
        *slot = request_log_alloc(&log, request, 0) + 1;
        assert_int_equal(vs_planner_alloc(planner, *slot, request, 0), VS_OK);
    }
    assert_int_equal(policy_run(&log, &config, UINT64_C(1) << 40, NULL, NULL, &need), VS_OK);
    request_log_clear(&log);
    assert_int_equal(vs_planner_build(planner, &identity, false, &bytes, &size, &before), VS_OK);
    free(bytes);
    assert_true(before.planned_bytes > need.reserved_peak);
    assert_true(!before.no_gain && before.streams[0].placed > 0);
    vs_planner_set_unplanned(planner, need.reserved_peak);
    assert_int_equal(vs_planner_build(planner, &identity, false, &bytes, &size, &after), VS_OK);
    free(bytes);
    assert_true(after.no_gain);
    assert_int_equal(after.streams[0].placed, 0);
    vs_planner_set_unplanned(planner, before.planned_bytes + 1); /* a gain, however small */
    assert_int_equal(vs_planner_build(planner, &identity, false, &bytes, &size, &after), VS_OK);
    free(bytes);
    assert_true(!after.no_gain && after.streams[0].placed == before.streams[0].placed);
    vs_planner_close(planner);
}

#define BY_HAND(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_completes_where_pytorch_fails),
        cmocka_unit_test(a_loop_that_deviates_is_followed_again_and_again),
        cmocka_unit_test(the_plan_of_another_seed_costs_little),
        BY_HAND(memory_is_mapped_when_a_place_is_used),
        BY_HAND(a_place_that_is_taken_is_not_given_again),
        BY_HAND(a_plan_survives_an_emptied_cache_and_a_lost_context),
        BY_HAND(a_device_that_refuses_is_asked_by_the_ordinary_rules),
        BY_HAND(a_stream_that_the_plan_does_not_know_is_served_all_the_same),
        cmocka_unit_test(a_plan_that_gains_nothing_places_nothing),
        BY_HAND(only_the_compact_policy_takes_a_plan_and_only_one),
    };
    if (argc > 1)
        return check_traces(argc - 1, argv + 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
