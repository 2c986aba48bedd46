/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of recorders that fail: a body runs in a child, and what it says and leaves is looked at.
 * Header-only; each test program is one file. */
#ifndef VS_CHILD_TEST_H
#define VS_CHILD_TEST_H

#include "unit/trace/trace_test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static MAYBE_UNUSED char said[2048]; /* by the last child */
static MAYBE_UNUSED char path[520], live[530]; /* of its trace */

/* The exit status of *pid*, or 128 + signal. */
static MAYBE_UNUSED int ending_of(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs *body* with the trace *name* in a child without a sanitizer's handler, whose output goes to
 * said. Returns how it ended. */
static MAYBE_UNUSED int in_child(int (*body)(void), const char *name)
{
    const char *log = scratch("said.txt");
    snprintf(path, sizeof path, "%s/%s", scratch_dir, name);
    snprintf(live, sizeof live, "%s.live", path);
    unlink(path);
    unlink(live);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        struct rlimit no_core = {0, 0};
        int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, STDERR_FILENO);
        signal(SIGBUS, SIG_DFL);
        setrlimit(RLIMIT_CORE, &no_core);
        _exit(body());
    }
    int ending = ending_of(pid);
    size_t bytes;
    unsigned char *text = slurp(log, &bytes);
    snprintf(said, sizeof said, "%.*s", (int)bytes, (char *)text);
    free(text);
    return ending;
}

static MAYBE_UNUSED unsigned lines_said(void)
{
    unsigned n = 0;
    for (const char *at = said; *at; at++)
        n += *at == '\n';
    return n;
}

#endif
