/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a test that runs in a child process:
 *
 *     if (child_begin())
 *         _exit(body());
 *     assert_int_equal(child_ending(), 0);
 *
 * One child at a time. Header-only; each test program is one file. */
#ifndef VS_CHILD_H
#define VS_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka_test.h"

static char child_said[16384]; /* to standard error, by the last child */
static pid_t child_pid;
static int child_output;

/* true in the child, which has the default actions of signals and leaves no core file. */
static inline bool child_begin(void)
{
    static const int numbers[] = {SIGABRT, SIGBUS, SIGSEGV}; /* without a sanitizer's handler */
    struct rlimit no_core = {0, 0};
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    child_pid = fork();
    assert_true(child_pid >= 0);
    if (child_pid) {
        close(pipes[1]);
        child_output = pipes[0];
        return false;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    dup2(pipes[1], STDERR_FILENO);
    close(pipes[0]);
    close(pipes[1]);
    return true;
}

/* Waits for its end: its exit status, or 128 and the signal. */
static inline int child_ending(void)
{
    int status = 0;
    size_t n = 0;
    char more[512]; /* that child_said has no room for */
    for (ssize_t got = 1; got > 0;) {
        size_t room = sizeof child_said - 1 - n;
        got = read(child_output, room ? child_said + n : more, room ? room : sizeof more);
        n += room && got > 0 ? (size_t)got : 0;
    }
    child_said[n] = '\0';
    close(child_output);
    assert_int_equal(waitpid(child_pid, &status, 0), child_pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The ending of a child that runs *body*. */
static inline int child_ending_of(void (*body)(void))
{
    if (child_begin()) {
        body();
        _exit(0);
    }
    return child_ending();
}

#endif
