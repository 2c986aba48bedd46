/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes with the library loaded, beyond the cases of compat/process: a trace that cannot be
 * written, ends in signal handlers, and many processes whose traces have one name. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>

#include "preload/victim_run.h"

TEST(a_trace_that_cannot_be_written_costs_one_line_and_nothing_else)
{
    struct outcome alone, with;
    run(&alone, ALONE, VS_VICTIM_SHARED, "device");
    run_with(&with, CACHING, UNWRITABLE, VS_VICTIM_SHARED, "device");
    assert_string_equal(with.out, alone.out);
    assert_int_equal(with.status, alone.status);
    assert_one_line(with.err, "cannot write the trace /nonexistent-folder/trace.vst");
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

TEST(processes_given_one_name_lose_no_trace)
{
    struct outcome o;
    char setting[PATH_MAX + 32];
    snprintf(setting, sizeof setting, "VRAMSCOPE_OUTPUT=%s/one.vst", folder);
    for (int i = 0; i < 5; i++) {
        run_printing(&o, OBSERVE, setting, VS_VICTIM_STATIC, "fork-race", "failed 0\n", NULL);
        assert_int_equal(o.traces, 6);
    }
}
