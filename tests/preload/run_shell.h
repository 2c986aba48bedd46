/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests that are scripts of `vramscope run`: the commands of such a script, and
 * checks of its messages. Header-only; each test program is one file and defines SIMULATED, the
 * device, before. */
#ifndef VS_RUN_SHELL_H
#define VS_RUN_SHELL_H

#include <string.h>

#include "support/shell_folder.h"

/* Runs *script* by bash in the test's folder, which is also TMPDIR; returns its exit status, output
 * and errors. $V is the command, $S its device, $P the program; "alone FILE PROGRAM…" records
 * without the command, "recorded FILE" waits until FILE is being recorded. */
static int bash(const char *script)
{
    static const char before[] =
        "export TMPDIR=$PWD/tmp V='" VS_COMMAND "' P='" VS_VICTIM "' S='--simulate " SIMULATED "'\n"
        "mkdir -p tmp; chmod 1777 tmp\n"
        "alone() { local o=$1; shift; VRAMSCOPE_SIMULATE='" SIMULATED "' VRAMSCOPE_OUTPUT=$o "
        "LD_LIBRARY_PATH=" VS_SIMULATOR_PATH " LD_PRELOAD=" VS_LIBRARY " \"$@\"; }\n"
        "recorded() { for i in $(seq 6000); do [ -s \"$1\" ] && [ -s \"$1.live\" ] && return; "
        "sleep 0.05; done; }";
    return run_script(before, script);
}

/* The script exits with *status* and writes *parts* (assert_wrote). */
__attribute__((unused)) static void expect_bash(int status, const char *parts, const char *script)
{
    assert_int_equal(bash(script), status);
    assert_wrote(parts);
}

__attribute__((unused)) static void assert_prints(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

#endif
