/* SPDX-License-Identifier: Apache-2.0
 *
 * Log lines. The first one fixes their destination for the life of the process, so each test forks
 * a child whose standard error is a pipe, and reads its output. */
#define _GNU_SOURCE
#include "support/cmocka_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/vs_log.h"
#include "support/child.h"

static char prefix[64];

/* Checks the standard error output of *body*; its exit status must be 0. */
static void printed_by(void (*body)(void))
{
    assert_int_equal(child_ending_of(body), 0);
    snprintf(prefix, sizeof prefix, "vramscope[%d]: ", (int)child_pid);
}

static void say_one(void) { vs_log(VS_LOG_WARN, "disk full, %d events lost", 3); }

TEST(a_line_has_prefix_pid_and_newline)
{
    printed_by(say_one);
    char expected[256];
    snprintf(expected, sizeof expected, "%sdisk full, 3 events lost\n", prefix);
    assert_string_equal(child_said, expected);
}

static char long_text[5000];

static void say_long(void) { vs_log(VS_LOG_ERROR, "%s", long_text); }

TEST(a_line_over_1023_bytes_is_cut_with_dots)
{
    for (size_t length = 980; length < 1040; length++) {
        memset(long_text, 'x', length);
        long_text[length] = 0;
        printed_by(say_long);
        size_t whole = strlen(prefix) + length + 1;
        assert_true(strlen(child_said) <= 1023);
        assert_int_equal(child_said[strlen(child_said) - 1], '\n');
        if (whole <= 1023) {
            assert_int_equal(strlen(child_said), whole);
            assert_null(strstr(child_said, "..."));
        } else {
            assert_int_equal(strlen(child_said), 1023);
            assert_string_equal(child_said + 1023 - 4, "...\n");
            assert_int_equal(child_said[1023 - 5], 'x');
        }
    }
}

static void say_at_each_level(void)
{
    vs_log(VS_LOG_INFO, "dropped");
    vs_log(VS_LOG_ERROR, "kept");
    vs_log_set_level(VS_LOG_DEBUG);
    vs_log(VS_LOG_DEBUG, "now kept");
    vs_log_set_level(VS_LOG_ERROR);
    vs_log(VS_LOG_WARN, "dropped");
}

TEST(levels_above_the_chosen_one_are_dropped)
{
    printed_by(say_at_each_level);
    assert_null(strstr(child_said, "dropped"));
    assert_non_null(strstr(child_said, ": kept\n"));
    assert_non_null(strstr(child_said, ": now kept\n"));
}

static void say_once(void)
{
    for (int i = 0; i < 5; i++)
        vs_log_once(VS_LOG_WARN, "first %d", i);
    for (int i = 0; i < 5; i++)
        vs_log_once(VS_LOG_WARN, "second %d", i);
}

TEST(once_means_once_for_each_place)
{
    printed_by(say_once);
    char expected[256];
    snprintf(expected, sizeof expected, "%sfirst 0\n%ssecond 0\n", prefix, prefix);
    assert_string_equal(child_said, expected);
}

static void check_errno(void)
{
    errno = 4242;
    vs_log(VS_LOG_WARN, "said");
    if (errno != 4242)
        _exit(1);
}

TEST(errno_is_kept)
{
    printed_by(check_errno);
    assert_non_null(strstr(child_said, ": said\n"));
}

static void close_stderr_and_say(void)
{
    vs_log(VS_LOG_WARN, "before");
    int null = open("/dev/null", O_WRONLY), own = dup(STDERR_FILENO);
    dup2(null, STDERR_FILENO);
    vs_log(VS_LOG_WARN, "after");
    dup2(own, STDERR_FILENO);
    vs_log(VS_LOG_WARN, "back");
}

TEST(what_takes_the_place_of_stderr_gets_no_lines)
{
    printed_by(close_stderr_and_say);
    char expected[256];
    snprintf(expected, sizeof expected, "%sbefore\n%sback\n", prefix, prefix);
    assert_string_equal(child_said, expected);
}

static void start_without_stderr_and_say(void)
{
    int own = dup(STDERR_FILENO);
    close(STDERR_FILENO);
    vs_log_remember();
    dup2(own, STDERR_FILENO);
    vs_log(VS_LOG_WARN, "lost");
}

TEST(a_program_that_begins_without_stderr_gets_no_messages)
{
    printed_by(start_without_stderr_and_say);
    assert_string_equal(child_said, "");
}

static void look_at_descriptors(void)
{
    bool open_before[200];
    for (int fd = 0; fd < 200; fd++)
        open_before[fd] = fcntl(fd, F_GETFD) >= 0;
    vs_log(VS_LOG_WARN, "x");
    for (int fd = 0; fd < 200; fd++) {
        if ((fcntl(fd, F_GETFD) >= 0) != open_before[fd])
            _exit(1);
    }
}

TEST(no_descriptor_is_kept)
{
    printed_by(look_at_descriptors);
}

/* the pipe has no reader: the program must not get SIGPIPE */
static void say_into_a_broken_pipe(void)
{
    int broken[2];
    if (pipe(broken) || dup2(broken[1], STDERR_FILENO) < 0)
        _exit(1);
    close(broken[0]);
    errno = 4243;
    vs_log(VS_LOG_WARN, "lost");
    if (errno != 4243)
        _exit(2);
}

TEST(a_pipe_that_nobody_reads_raises_no_signal)
{
    printed_by(say_into_a_broken_pipe);
    assert_string_equal(child_said, "");
}
