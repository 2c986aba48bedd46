/* SPDX-License-Identifier: Apache-2.0
 *
 * The place of a process in a job, from the options of its trace, which may contain anything. */
#include "unit/trace/trace_test.h"

#include "trace/read/job_rank.h"

static struct vs_job_rank job_of(const char *rank, const char *world)
{
    struct vs_job_rank job = {0};
    vs_job_rank_option(&job, "stack_depth", "64");
    if (rank)
        vs_job_rank_option(&job, "RANK", rank);
    if (world)
        vs_job_rank_option(&job, "WORLD_SIZE", world);
    return job;
}

TEST(only_one_of_several_processes_has_a_text)
{
    static const struct {
        const char *rank, *world, *expected;
    } cases[] = {{NULL, NULL, ""},    {"0", NULL, ""},     {"2", NULL, " rank 2"}, {"0", "1", ""},
                 {"0", "2", " rank 0"}, {NULL, "4", ""},     {"", "4", ""},          {"-1", "4", ""},
                 {"1x", "4", ""},     {"1234567890", "4", ""}, {"999999999", "4", " rank 999999999"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[VS_JOB_RANK_TEXT_MAX];
        struct vs_job_rank job = job_of(cases[i].rank, cases[i].world);
        assert_string_equal(vs_job_rank_text(text, &job), cases[i].expected);
    }
}

TEST(ranks_have_an_order_where_both_are_known)
{
    struct vs_job_rank none = job_of(NULL, NULL), second = job_of("2", "16"), tenth = job_of("10", "16");
    assert_true(vs_job_rank_before(&second, &tenth) < 0);
    assert_true(vs_job_rank_before(&tenth, &second) > 0);
    assert_int_equal(vs_job_rank_before(&second, &second), 0);
    assert_int_equal(vs_job_rank_before(&none, &second), 0);
    assert_int_equal(vs_job_rank_before(&second, &none), 0);
}
