/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs `vramscope` in the test's folder: shared by test_run.c and test_run_options.c. Header-only.
 */
#ifndef VS_RUN_COMMAND_H
#define VS_RUN_COMMAND_H

#include "support/shell_folder.h"

/* Runs `vramscope ARGS` by the shell in the test's folder; returns the exit status. */
static int vramscope(const char *args)
{
    char command[4 * PATH_MAX];
    snprintf(command, sizeof command, "cd '%s' && '%s' %s >out.txt 2>err.txt", folder,
             VS_COMMAND, args);
    int status = system(command);
    slurp("out.txt", out, sizeof out);
    slurp("err.txt", err, sizeof err);
    return WEXITSTATUS(status);
}

/* `vramscope ARGS` exits with *status* and writes *parts* (assert_wrote). */
static void expect(int status, const char *parts, const char *args)
{
    int ended = vramscope(args);
    if (ended != status)
        fail_msg("%s: exit %d, %s%s", args, ended, out, err);
    assert_wrote(parts);
}

/* Runs *script* by bash in the test's folder; returns its exit status. */
__attribute__((unused)) static int bash(const char *script)
{
    return run_script("", script);
}

static int exists(const char *name)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

#define SIMULATED "run --simulate t4-16g,capacity=1GiB,context=400MiB "

#endif
