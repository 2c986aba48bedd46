/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan file's reader and the follower: which files are rejected, and how the position of a
 * program that deviates from its plan is found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "allocator/plan/plan_follow.h"

#define PROLOGUE 40u
#define PERIOD 100u

struct file {
    struct vs_plan_header header;
    struct vs_plan_stream streams[2];
    struct vs_plan_entry entries[PROLOGUE + PERIOD + 3];
};

static void sign(struct file *f, size_t size)
{
    f->header.file_bytes = size;
    f->header.checksum = 0;
    f->header.checksum = XXH64(f, size, 0);
}

/* Stream 0: sizes 1000, 1001, … then a period of 1..100, each used once; stream 1: 3 entries,
 * once. */
static void make(struct file *f)
{
    memset(f, 0, sizeof *f);
    f->header = (struct vs_plan_header){.magic = VS_PLAN_MAGIC, .version = VS_PLAN_VERSION,
                                        .header_bytes = sizeof f->header, .stream_count = 2,
                                        .entry_count = PROLOGUE + PERIOD + 3};
    f->streams[0] = (struct vs_plan_stream){0, PROLOGUE, PERIOD, 5, 5000, 0};
    f->streams[1] = (struct vs_plan_stream){PROLOGUE + PERIOD, 3, 0, 0, 100, 0};
    for (uint32_t i = 0; i < PROLOGUE + PERIOD + 3; i++)
        f->entries[i] = (struct vs_plan_entry){i < PROLOGUE ? 1000 + i : i - PROLOGUE + 1, 0,
                                               VS_PLAN_NONE, 1};
    for (uint32_t i = 0; i < 3; i++)
        f->entries[PROLOGUE + PERIOD + i].granules = 7;
    sign(f, sizeof *f);
}

static enum vs_err open_file(const struct file *f, size_t size)
{
    struct vs_plan plan;
    char why[VS_PLAN_WHY_MAX] = "";
    enum vs_err err = vs_plan_open_bytes(f, size, &plan, why);
    assert_true((err == VS_OK) == (why[0] == 0));
    return err;
}

/* --- the file --- */

static void a_right_plan_opens_and_a_damaged_one_does_not(void **state)
{
    struct file f;
    (void)state;
    make(&f);
    assert_int_equal(open_file(&f, sizeof f), VS_OK);
    assert_int_equal(open_file(&f, sizeof f - 1), VS_ERR_CORRUPT);
    assert_int_equal(open_file(&f, 100), VS_ERR_FORMAT);
    assert_int_equal(open_file(&f, 0), VS_ERR_FORMAT);
    for (size_t i = 0; i < sizeof f; i++) {
        ((unsigned char *)&f)[i] ^= 1;
        assert_int_not_equal(open_file(&f, sizeof f), VS_OK);
        ((unsigned char *)&f)[i] ^= 1;
    }
    f.header.version = 2;
    sign(&f, sizeof f);
    assert_int_equal(open_file(&f, sizeof f), VS_ERR_VERSION);
}

static void a_plan_that_contradicts_itself_is_refused_though_its_checksum_is_right(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
    } wrong[] = {
        {offsetof(struct file, header.entry_count), PROLOGUE + PERIOD + 4},
        {offsetof(struct file, header.entry_count), UINT32_MAX},
        {offsetof(struct file, header.stream_count), 3},
        {offsetof(struct file, header.stream_count), UINT32_MAX},
        {offsetof(struct file, header.header_bytes), 8},
        {offsetof(struct file, header.header_bytes), 136},
        {offsetof(struct file, header.header_bytes), 129},
        {offsetof(struct file, streams[0].first), 1},
        {offsetof(struct file, streams[0].prologue), UINT32_MAX},
        {offsetof(struct file, streams[0].period), UINT32_MAX},
        {offsetof(struct file, streams[1].period), 1},
        {offsetof(struct file, streams[1].prologue), 2},
        {offsetof(struct file, streams[1].granules), UINT32_MAX},
        {offsetof(struct file, entries[5].granules), 0},
        {offsetof(struct file, entries[5].granules), UINT32_MAX},
        {offsetof(struct file, entries[5].offset), 4999},
        {offsetof(struct file, entries[5].offset), UINT32_MAX - 1},
    };
    struct file f;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make(&f);
        memcpy((char *)&f + wrong[i].at, &wrong[i].value, sizeof wrong[i].value);
        sign(&f, sizeof f);
        assert_int_equal(open_file(&f, sizeof f), VS_ERR_CORRUPT);
    }
    make(&f);
    memset(f.header.program, 'x', sizeof f.header.program);
    sign(&f, sizeof f);
    assert_int_equal(open_file(&f, sizeof f), VS_ERR_CORRUPT);
}

static void a_plan_is_read_from_a_file_and_what_is_none_is_said_so(void **state)
{
    struct file f;
    struct vs_plan plan;
    char why[VS_PLAN_WHY_MAX], path[] = "test_plan.XXXXXX";
    (void)state;
    make(&f);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, &f, sizeof f) == (ssize_t)sizeof f);
    assert_int_equal(vs_plan_open(path, &plan, why), VS_OK);
    assert_int_equal(plan.header->entry_count, PROLOGUE + PERIOD + 3);
    /* regression: truncating a mapped file ended the process (SIGBUS) */
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(plan.header->entry_count, PROLOGUE + PERIOD + 3);
    assert_int_not_equal(plan.entries[PROLOGUE + PERIOD + 2].granules, 0);
    vs_plan_close(&plan);
    vs_plan_close(&plan);
    assert_int_equal(vs_plan_open(path, &plan, why), VS_ERR_FORMAT);
    close(fd);
    unlink(path);
    assert_int_equal(vs_plan_open(path, &plan, why), VS_ERR_IO);
    assert_int_equal(vs_plan_open(".", &plan, why), VS_ERR_FORMAT);
}

/* --- following --- */

struct fixture {
    struct file file;
    struct vs_plan plan;
    struct vs_follow follow;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char why[VS_PLAN_WHY_MAX];
    make(&f->file);
    assert_int_equal(vs_plan_open_bytes(&f->file, sizeof f->file, &f->plan, why), VS_OK);
    assert_int_equal(vs_follow_init(&f->follow, &f->plan, 0), VS_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    vs_follow_free(&f->follow);
    free(f);
    return 0;
}

/* The number of the entry for a request of *granules*; -1: none. */
static long ask(struct fixture *f, uint64_t granules)
{
    const struct vs_plan_entry *e = vs_follow_request(&f->follow, granules * 512 - 100);
    return e ? (long)(e - f->plan.entries) : -1;
}

static void run_prologue(struct fixture *f)
{
    for (long i = 0; i < (long)PROLOGUE; i++)
        assert_int_equal(ask(f, 1000 + (uint64_t)i), i);
}

/* Entries from..until of the period, in order; all must match. */
static void run_period(struct fixture *f, uint64_t from, uint64_t until)
{
    for (uint64_t i = from; i < until; i++)
        assert_int_equal(ask(f, i + 1), PROLOGUE + i);
}

static void a_program_that_keeps_to_its_plan_follows_it_round_and_round(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    for (int i = 0; i < 4; i++)
        run_period(f, 0, PERIOD);
    assert_int_equal(f->follow.followed, PROLOGUE + 4 * PERIOD);
    assert_int_equal(f->follow.deviated, 0);
    assert_int_equal(f->follow.resynchronised, 0);
}

static void missing_requests_are_passed_over(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    run_period(f, 0, 10);
    run_period(f, 10 + VS_FOLLOW_SKIP, PERIOD - 3);
    run_period(f, 2, PERIOD); /* three at the end and two at the start are missing */
    assert_int_equal(f->follow.deviated, 0);
    assert_int_equal(f->follow.resynchronised, 2);
}

static void requests_too_many_do_not_lose_the_place(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    run_period(f, 0, 50);
    for (unsigned i = 0; i < VS_FOLLOW_EXTRA; i++)
        assert_int_equal(ask(f, 5000), -1);
    run_period(f, 50, PERIOD);
    run_period(f, 0, 5);
    assert_int_equal(f->follow.deviated, VS_FOLLOW_EXTRA);
}

static void a_changed_size_costs_one_request(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    run_period(f, 0, 50);
    assert_int_equal(ask(f, 777), -1); /* instead of 51 */
    run_period(f, 51, PERIOD);
    assert_int_equal(f->follow.deviated, 1);
    assert_int_equal(f->follow.resynchronised, 1);
}

static void a_lost_program_is_found_after_a_run_of_equal_requests(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    run_period(f, 0, 20);
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(ask(f, 6000 + i), -1);
    for (uint64_t i = 60; i < 60 + VS_FOLLOW_RUN - 1; i++)
        assert_int_equal(ask(f, i + 1), -1);
    run_period(f, 60 + VS_FOLLOW_RUN - 1, PERIOD);
    run_period(f, 0, PERIOD);
    assert_int_equal(f->follow.resynchronised, 1);
    assert_int_equal(f->follow.deviated, 300 + VS_FOLLOW_RUN - 1);
}

static void a_lost_program_is_found_across_the_border_of_the_period(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    for (unsigned i = 0; i < 30; i++)
        assert_int_equal(ask(f, 6000 + i), -1);
    for (uint64_t i = 0; i < VS_FOLLOW_RUN - 1; i++)
        assert_int_equal(ask(f, (PERIOD - 8 + i) % PERIOD + 1), -1);
    run_period(f, VS_FOLLOW_RUN - 9, PERIOD);
}

static void a_program_that_starts_over_is_found_in_the_prologue(void **state)
{
    struct fixture *f = *state;
    run_prologue(f);
    run_period(f, 0, 30);
    for (uint64_t i = 0; i < VS_FOLLOW_RUN - 1; i++)
        assert_int_equal(ask(f, 1000 + i), -1);
    for (uint64_t i = VS_FOLLOW_RUN - 1; i < PROLOGUE; i++)
        assert_int_equal(ask(f, 1000 + i), i);
    run_period(f, 0, PERIOD);
}

static void a_plan_without_a_period_ends(void **state)
{
    struct fixture *f = *state;
    struct vs_follow once;
    assert_int_equal(vs_follow_init(&once, &f->plan, 1), VS_OK);
    for (int i = 0; i < 3; i++)
        assert_non_null(vs_follow_request(&once, 7 * 512));
    for (int i = 0; i < 40; i++)
        assert_null(vs_follow_request(&once, 7 * 512));
    assert_int_equal(once.followed, 3);
    vs_follow_free(&once);
}

static void a_program_of_another_kind_follows_nothing_and_harms_nothing(void **state)
{
    struct fixture *f = *state;
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(ask(f, 100000 + i % 17), -1);
    assert_int_equal(f->follow.followed, 0);
    assert_int_equal(f->follow.deviated, 5000);
}

#define IN_PLAN(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_plan_opens_and_a_damaged_one_does_not),
        cmocka_unit_test(a_plan_that_contradicts_itself_is_refused_though_its_checksum_is_right),
        cmocka_unit_test(a_plan_is_read_from_a_file_and_what_is_none_is_said_so),
        IN_PLAN(a_program_that_keeps_to_its_plan_follows_it_round_and_round),
        IN_PLAN(missing_requests_are_passed_over),
        IN_PLAN(requests_too_many_do_not_lose_the_place),
        IN_PLAN(a_changed_size_costs_one_request),
        IN_PLAN(a_lost_program_is_found_after_a_run_of_equal_requests),
        IN_PLAN(a_lost_program_is_found_across_the_border_of_the_period),
        IN_PLAN(a_program_that_starts_over_is_found_in_the_prologue),
        IN_PLAN(a_plan_without_a_period_ends),
        IN_PLAN(a_program_of_another_kind_follows_nothing_and_harms_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
