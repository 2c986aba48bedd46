/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes with the library loaded: every way to end, fork and exec, and traces that cannot be
 * written. The program's output and status are the same as without us. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "preload/victim_run.h"

TEST(frees_in_exit_handlers_and_destructors_are_recorded)
{
    static const char *const modes[] = {"atexit", "destructor"};
    for (int m = 0; m < 2; m++) {
        struct count c[2][2];
        everywhere(modes[m], c);
        for (int b = 0; b < 2; b++) {
            assert_int_equal(c[b][0].frees, 1);
            assert_int_equal(c[b][1].frees, 1);
            assert_int_equal(c[b][1].end_status, 5 + m);
        }
    }
}

TEST(underscore_exit_ends_the_trace_with_its_status)
{
    struct count c[2][2];
    everywhere("_exit", c);
    assert_int_equal(c[0][0].condition, VS_TRACE_COMPLETE);
    assert_int_equal(c[0][0].end_status, 9);
}

TEST(killed_programs_leave_everything_they_did)
{
    static const char *const modes[] = {"sigkill", "sigsegv", "abort"};
    for (int m = 0; m < 3; m++) {
        struct count c[2][2];
        everywhere(modes[m], c);
        for (int f = 0; f < 2; f++) {
            assert_int_equal(c[0][f].allocs[VS_FAMILY_DEVICE], 2);
            assert_int_equal(c[0][f].frees, 1);
            assert_false(c[0][f].ended);
            assert_int_equal(c[0][f].condition, VS_TRACE_LIVE);
        }
    }
}

TEST(a_forked_child_leaves_the_parents_trace_alone)
{
    struct count c[2][2];
    everywhere("fork", c);
    assert_int_equal(c[0][1].allocs[VS_FAMILY_DEVICE], 2);
    assert_int_equal(c[0][1].condition, VS_TRACE_COMPLETE);
    struct outcome o;
    run(&o, CACHING, VS_VICTIM_SHARED, "fork");
    assert_int_equal(o.traces, 1);
}

TEST(processes_that_fork_before_using_cuda_each_leave_a_trace)
{
    struct outcome o;
    run(&o, OBSERVE, VS_VICTIM_SHARED, "fork-first");
    assert_int_equal(o.status, 0);
    assert_int_equal(o.traces, 2);
}

TEST(exec_goes_on_in_a_trace_of_its_own_name_and_the_first_is_kept)
{
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "exec");
    run(&with, OBSERVE, VS_VICTIM_SHARED, "exec");
    assert_same(&with, &alone);
    assert_int_equal(with.traces, 2); /* same pid and name, yet no trace is lost */
}

TEST(closed_standard_streams_are_left_closed)
{
    struct count c[2][2];
    everywhere("closed-stdio", c);
    assert_int_equal(c[0][0].frees, 1);
}

TEST(a_process_without_cuda_leaves_no_file)
{
    struct outcome o;
    run(&o, CACHING, VS_VICTIM_SHARED, "nothing");
    assert_int_equal(WEXITSTATUS(o.status), 7);
    assert_string_equal(o.out, "no CUDA here\n");
    assert_string_equal(o.err, "");
    assert_int_equal(o.traces, 0);
}

TEST(a_trace_that_cannot_be_written_costs_one_line_and_nothing_else)
{
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "device");
    run_with(&with, CACHING, unwritable_output, VS_VICTIM_SHARED, "device");
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
    assert_non_null(strstr(with.err, "cannot write the trace /nonexistent-folder/trace.vst"));
    assert_ptr_equal(strchr(with.err, '\n'), with.err + strlen(with.err) - 1);
}

static void small_files_only(void)
{
    struct rlimit limit = {20000, 20000};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(a_full_disk_stops_the_recording_not_the_program)
{
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "threads");
    run_with(&with, OBSERVE, small_files_only, VS_VICTIM_SHARED, "threads");
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
}

/* Flushing CUPTI and recording took locks that the interrupted thread held. */
TEST(programs_that_end_in_signal_handlers_end)
{
    static const char *const modes[] = {"handler-_exit", "handler-exit"};
    struct outcome o;
    for (int i = 0; i < 20; i++) {
        run(&o, i % 4 < 2 ? OBSERVE : CACHING, VS_VICTIM_SHARED, modes[i % 2]);
        assert_string_equal(o.err, "");
        assert_true(WIFEXITED(o.status));
        assert_int_equal(WEXITSTATUS(o.status), 11);
        assert_int_equal(o.traces, 1);
    }
}

TEST(an_exit_handler_that_ends_the_process_gives_the_status)
{
    struct count c[2][2];
    everywhere("exit-handler-ends", c);
    assert_int_equal(c[0][0].condition, VS_TRACE_COMPLETE);
    assert_int_equal(c[0][0].end_status, 8);
}

TEST(a_child_that_no_fork_handler_hears_of_leaves_the_trace_alone)
{
    struct count c[2][2];
    everywhere("silent-fork", c);
    for (int f = 0; f < 2; f++) {
        assert_int_equal(c[0][f].allocs[VS_FAMILY_DEVICE], 2);
        assert_int_equal(c[0][f].condition, VS_TRACE_COMPLETE);
        assert_int_equal(c[0][f].end_status, 0);
    }
}

static void one_name_for_all(void)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/one.vst", folder);
    setenv("VRAMSCOPE_OUTPUT", path, 1);
}

TEST(processes_given_one_name_lose_no_trace)
{
    struct outcome o;
    for (int i = 0; i < 5; i++) {
        run_with(&o, OBSERVE, one_name_for_all, VS_VICTIM_STATIC, "fork-race");
        assert_string_equal(o.out, "failed 0\n");
        assert_int_equal(o.traces, 6);
    }
}

int main(void)
{
    return vs_run_tests(make_folder, remove_folder);
}
