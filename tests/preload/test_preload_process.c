/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes with the library loaded, beyond the cases of compat/process: a trace that cannot be
 * written, ends in signal handlers, and many processes whose traces have one name. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "preload/victim_run.h"

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
