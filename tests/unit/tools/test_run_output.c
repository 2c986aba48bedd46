/* SPDX-License-Identifier: Apache-2.0
 *
 * The older trace that `vramscope run` sets aside, where several files are in the way or cannot be moved. That it is
 * restored when no new one was written, and removed when one was: tests/preload/test_run.cases. */
#include "unit/trace/trace_test.h"

#include <errno.h>
#include <sys/syscall.h>

#include "support/child.h"
#include "tools/common/command.h"
#include "tools/run/run_internal.h"

/* Replaces the command's function, which needs all of its verbs. */
int vs_tool_fail(const char *who, const char *format, ...)
{
    (void)who;
    (void)format;
    return VS_EXIT_UNUSABLE;
}

/* Replaces the C library's function in this whole program: one name cannot be removed. */
static const char *staying;
int unlink(const char *path);
int unlink(const char *path)
{
    if (staying && strcmp(path, staying) == 0) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void make_trace(const char *path)
{
    vs_recorder_close(open_recorder(path, 1, 0), VS_END_EXIT, 0);
}

/* A trace whose program was killed. */
static void make_killed(const char *path)
{
    if (child_begin()) {
        record_mark(open_recorder(path, 1, 0));
        raise(SIGKILL);
    }
    assert_int_equal(child_ending(), 128 + SIGKILL);
}

/* The number of files with *path* and an ending as names. */
static unsigned copies_of(const char *path)
{
    char line[700];
    unsigned count = 0;
    snprintf(line, sizeof line, "ls -d '%s'.* | wc -l", path);
    FILE *found = popen(line, "r");
    assert_non_null(found);
    assert_int_equal(fscanf(found, "%u", &count), 1);
    pclose(found);
    return count;
}

/* The names of a run's process and of the trace that the user asked for. */
static char from[512], to[512];

static void name_run(unsigned number)
{
    snprintf(from, sizeof from, "%s/%u.77.vst", scratch_dir, number);
    snprintf(to, sizeof to, "%s/%u.vst", scratch_dir, number);
}

/* Recording began after the first check. */
TEST(one_that_is_being_recorded_stays)
{
    SKIP_UNDER_TSAN();
    struct vs_run_output output = {0};
    int ready[2];
    char byte = 0;
    const char *path = scratch("busy.vst");
    assert_int_equal(pipe(ready), 0);
    if (child_begin()) {
        alarm(250); /* no process is left if the test fails */
        record_mark(open_recorder(path, 1, 0));
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_false(vs_run_output_set_aside(&output, path));
    assert_int_equal(errno, EBUSY);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(scratch("busy.vst.live"), F_OK), 0);
    assert_int_equal(vs_reader_recorded_by(path), child_pid);
    kill(child_pid, SIGKILL);
    assert_int_equal(child_ending(), 128 + SIGKILL);
    close(ready[0]);
    close(ready[1]);
    assert_true(vs_run_output_set_aside(&output, path)); /* killed: it may be replaced */
    assert_true(output.live);
    vs_run_output_settle(&output);
}

TEST(a_move_that_cannot_be_whole_is_none)
{
    SKIP_UNDER_TSAN();
    struct vs_run_output older = {0};
    name_run(1);
    make_trace(to);
    spit(live_of(to), "no live window", 14);
    make_killed(from);
    assert_true(vs_run_output_set_aside(&older, to));
    assert_false(vs_run_output_move(from, to));
    assert_int_equal(access(to, F_OK), -1);
    assert_true(vs_reader_owns_live(from, live_of(from)));
    vs_run_output_settle(&older);
    assert_int_equal(access(to, F_OK), 0);
    make_trace(scratch("taken.vst")); /* and where FILE itself cannot get the name */
    assert_false(vs_run_output_move(from, scratch("taken.vst")));
    assert_true(vs_reader_owns_live(from, live_of(from)));
    assert_int_equal(access(scratch("taken.vst.live"), F_OK), -1);
}

TEST(a_killed_older_trace_comes_back_whole_beside_a_stray_live_window)
{
    SKIP_UNDER_TSAN();
    struct vs_run_output older = {0};
    name_run(2);
    make_killed(to);
    make_killed(scratch("other.vst"));
    assert_true(vs_run_output_set_aside(&older, to));
    assert_int_equal(rename(scratch("other.vst.live"), live_of(to)), 0);
    vs_run_output_settle(&older);
    assert_true(vs_reader_owns_live(to, live_of(to)));
    assert_int_equal(copies_of(live_of(to)), 1);
}

/* Another user's file in a sticky folder. */
TEST(a_trace_that_has_its_new_name_has_moved)
{
    SKIP_UNDER_TSAN();
    name_run(3);
    make_killed(from);
    staying = from;
    bool moved = vs_run_output_move(from, to);
    staying = NULL;
    assert_true(moved);
    assert_true(vs_reader_owns_live(to, live_of(to)));
}

/* Every container numbers its processes from 1. */
TEST(what_a_killed_run_of_the_same_number_left_comes_back)
{
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
