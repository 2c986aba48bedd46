/* SPDX-License-Identifier: Apache-2.0
 *
 * One `vramscope run` and the interface between its parts: cmd_run.c starts the program and prints
 * the summary, run_options.c parses the arguments, run_prepare.c prepares the run. A returned
 * status is 0, or the command's exit status after a message was printed. */
#ifndef VS_RUN_INTERNAL_H
#define VS_RUN_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/vs_option.h"
#include "tools/check/check_command.h"
#include "tools/run/reach.h"

#define EXIT_OWN_FAILURE 125

struct vs_run {
    struct vs_options options;
    bool quiet;
    bool view;             /* --view: a page of the trace at the end */
    const char *view_file; /* --view=FILE: its file; NULL: the trace's default, and opened */
    bool checked;          /* --check: *check* has the budget */
    bool allow_uncomputed; /* of the budget */
    struct vs_check_command check;
    bool relative_output;  /* -o was given relative to the current folder */
    char manifest[PATH_MAX];
    struct timespec began; /* CLOCK_REALTIME, before the program */
    pid_t pid; /* of the program */
    enum vs_reach reach; /* whether the library reaches the program */
    char **program; /* argv of the program, NULL-terminated */
};

/* vs_run_fail: prints one line to standard error; returns EXIT_OWN_FAILURE. */
int vs_run_fail(const char *format, ...) VS_PRINTF(1, 2);

/* --- run_options.c --- */

/* vs_run_parse: parses the options of the environment, then the arguments; finds the program's
 * own. */
int vs_run_parse(struct vs_run *run, int argc, char **argv);

/* vs_run_warn_without_effect, vs_run_warn_observed: print one line with the options that have no
 * effect, because another allocator serves the memory or because it is only observed. */
void vs_run_warn_without_effect(const struct vs_run *run);
void vs_run_warn_observed(const struct vs_run *run);

/* --- run_prepare.c, in calling order --- */

/* vs_run_prepare_output: the trace's folder must exist and the file, where its name is fixed, must
 * be a trace: a mistyped path must not overwrite another file. */
int vs_run_prepare_output(struct vs_run *run);

/* vs_run_prepare_manifest: creates the file in which processes list their traces. */
int vs_run_prepare_manifest(struct vs_run *run);

/* vs_run_prepare_environment: sets this process's environment; only the child inherits it. */
int vs_run_prepare_environment(struct vs_run *run);

/* --- run_simulated.c --- */

/* vs_run_prepare_simulated: checks the device of --simulate, then sets what makes the program and
 * its children find the simulator's libraries before all others, and the Python part of vramscope.
 */
int vs_run_prepare_simulated(struct vs_run *run);

/* vs_run_prepend: puts *first* in front of the list *variable* of the environment, separated by
 * ':', unless it is there already. Returns 0, or -1 out of memory. */
int vs_run_prepend(const char *variable, const char *first);

/* vs_run_is_trace: whether the file at *path* begins as a trace. */
bool vs_run_is_trace(const char *path);

#endif
