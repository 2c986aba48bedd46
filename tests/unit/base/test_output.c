/* SPDX-License-Identifier: Apache-2.0
 *
 * Output patterns: %n program, %p pid, %h host, %r rank. */
#define _GNU_SOURCE
#include "support/cmocka_test.h"

#include <unistd.h>

#include "base/vs_option.h"

static char out[4200];

BEFORE(without_ranks)
{
    static const char *const names[] = {"RANK", "LOCAL_RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
                                        "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    strcpy(out, "untouched");
    return 0;
}

static void expands(const char *pattern, const char *expected)
{
    assert_int_equal(vs_output_expand(pattern, "train", 4711, out, sizeof out), VS_OK);
    assert_string_equal(out, expected);
}

TEST(program_pid_and_percent_are_replaced)
{
    expands("vramscope.%n.%p.vst", "vramscope.train.4711.vst");
    expands("plain", "plain");
    expands("", "");
    expands("%%p%%", "%p%");
    expands("%n%n", "traintrain");
}

TEST(host_is_this_machine_s)
{
    char host[256] = "";
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    expands("%h", host);
}

TEST(rank_is_zero_without_a_launcher)
{
    expands("r%r", "r0");
}

TEST(rank_comes_from_the_launcher_s_variable)
{
    setenv("PMI_RANK", "3", 1);
    expands("r%r", "r3");
    expands("vramscope.%n.%p.vst", "vramscope.train.rank3.4711.vst");
    expands("/a%p/vramscope.%n.%p.vst", "/a4711/vramscope.train.rank3.4711.vst");
    expands("run.%p.vst", "run.4711.vst");
    setenv("SLURM_PROCID", "12", 1);
    expands("r%r", "r12");
    setenv("OMPI_COMM_WORLD_RANK", "7", 1);
    expands("r%r", "r7");
    setenv("RANK", "1", 1);
    expands("r%r", "r1");
}

TEST(a_rank_that_is_no_number_cannot_lead_elsewhere)
{
    setenv("RANK", "../../etc/passwd", 1);
    expands("r%r", "r0");
    setenv("SLURM_PROCID", "5", 1);
    expands("r%r", "r5");
    setenv("SLURM_PROCID", "", 1);
    expands("r%r", "r0");
}

/* Of one launcher: a job of torchrun inside one of Slurm has its own ranks. */
TEST(the_numbers_of_a_job_are_those_of_one_launcher)
{
    struct vs_rank_environment job = vs_rank_environment();
    assert_true(!job.rank && !job.local_rank && !job.world_size);
    setenv("SLURM_PROCID", "5", 1);
    setenv("SLURM_LOCALID", "1", 1);
    setenv("SLURM_STEP_NUM_TASKS", "8", 1);
    job = vs_rank_environment();
    assert_string_equal(job.rank, "5");
    assert_string_equal(job.local_rank, "1");
    assert_string_equal(job.world_size, "8");
    setenv("RANK", "2", 1);
    setenv("WORLD_SIZE", "1234567890", 1); /* more digits than a rank has */
    job = vs_rank_environment();
    assert_string_equal(job.rank, "2");
    assert_true(!job.local_rank && !job.world_size);
}

TEST(other_sequences_are_refused_and_write_nothing)
{
    static const char *const bad[] = {"%x", "a%", "%", "%N", "% n", "%5p"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(vs_output_expand(bad[i], "train", 1, out, sizeof out), VS_ERR_ARG);
        assert_string_equal(out, "untouched");
    }
}

TEST(a_result_that_does_not_fit_is_refused_and_writes_nothing)
{
    char small[6] = "keep";
    assert_int_equal(vs_output_expand("%n", "train", 1, small, 5), VS_ERR_LIMIT);
    assert_string_equal(small, "keep");
    assert_int_equal(vs_output_expand("%n", "train", 1, small, 6), VS_OK);
    assert_string_equal(small, "train");

    static char program[5000];
    memset(program, 'p', sizeof program - 1);
    assert_int_equal(vs_output_expand("%n", program, 1, out, sizeof out), VS_ERR_LIMIT);
    assert_int_equal(vs_output_expand(program, "x", 1, out, sizeof out), VS_ERR_LIMIT);
    assert_string_equal(out, "untouched");
}
