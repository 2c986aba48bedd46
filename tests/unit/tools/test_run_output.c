/* SPDX-License-Identifier: Apache-2.0
 *
 * The older trace that `vramscope run` sets aside: back when no new one came, gone when one
 * did, and left alone while another process records it. */
#include "unit/trace/trace_test.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "run_output.h"

static void make_trace(const char *path)
{
    vs_recorder_close(open_recorder(path, 1, 0), VS_END_EXIT, 0);
}

static unsigned files_in_scratch(void)
{
    char command[600];
    unsigned count = 0;
    snprintf(command, sizeof command, "find '%s' -type f | wc -l", scratch_dir);
    FILE *found = popen(command, "r");
    assert_non_null(found);
    assert_int_equal(fscanf(found, "%u", &count), 1);
    pclose(found);
    return count;
}

static void an_older_trace_is_lost_only_to_a_new_one(void **state)
{
    (void)state;
    struct vs_run_output output = {0};
    const char *path = scratch("t.vst");
    assert_true(vs_run_output_set_aside(&output, path)); /* nothing there */
    vs_run_output_settle(&output);
    make_trace(path);
    assert_true(vs_run_output_set_aside(&output, path));
    assert_int_equal(access(path, F_OK), -1);
    vs_run_output_settle(&output);
    assert_int_equal(access(path, F_OK), 0);
    assert_true(vs_run_output_set_aside(&output, path));
    make_trace(path);
    vs_run_output_settle(&output);
    assert_int_equal(files_in_scratch(), 1);
}

/* It began between the first look and this. */
static void one_that_is_being_recorded_stays(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    struct vs_run_output output = {0};
    int ready[2];
    char byte = 0;
    const char *path = scratch("busy.vst");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        alarm(60); /* not left behind when the test fails */
        struct vs_event e = {.kind = VS_EVENT_mark};
        vs_recorder_event(open_recorder(path, 1, 0), &e);
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_false(vs_run_output_set_aside(&output, path));
    assert_int_equal(errno, EBUSY);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(scratch("busy.vst.live"), F_OK), 0);
    assert_int_equal(vs_reader_recorded_by(path), child);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
    assert_true(vs_run_output_set_aside(&output, path)); /* killed: it may be replaced */
    assert_true(output.live);
    vs_run_output_settle(&output);
}

/* The live window beside it is another trace's, whose file was moved away without it. */
static void anothers_live_window_is_not_lost(void **state)
{
    (void)state;
    SKIP_UNDER_TSAN();
    struct vs_run_output output = {0};
    const char *path = scratch("mine.vst"), *killed = scratch("killed.vst"),
               *live = scratch("mine.vst.live");
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct vs_event e = {.kind = VS_EVENT_mark};
        vs_recorder_event(open_recorder(killed, 1, 0), &e);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    make_trace(path);
    assert_int_equal(rename(scratch("killed.vst.live"), live), 0);
    assert_false(vs_reader_owns_live(path, live));
    assert_true(vs_reader_owns_live(killed, live));
    assert_true(vs_run_output_set_aside(&output, path));
    assert_int_equal(access(live, F_OK), 0);
    make_trace(path);
    vs_run_output_settle(&output);
    assert_int_equal(access(path, F_OK), 0);
}

/* Every container numbers its processes from 1. */
static void what_a_killed_run_of_the_same_number_left_comes_back(void **state)
{
    (void)state;
    struct vs_run_output output = {0};
    char name[64];
    const char *path = scratch("again.vst");
    snprintf(name, sizeof name, ".again.vst.%ld.before", (long)getpid());
    make_trace(scratch(name));
    assert_true(vs_run_output_set_aside(&output, path));
    vs_run_output_settle(&output);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(scratch(name), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_trace_is_lost_only_to_a_new_one),
        cmocka_unit_test(one_that_is_being_recorded_stays),
        cmocka_unit_test(anothers_live_window_is_not_lost),
        cmocka_unit_test(what_a_killed_run_of_the_same_number_left_comes_back),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
