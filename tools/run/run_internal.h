/* SPDX-License-Identifier: Apache-2.0
 *
 * One `vramscope run`, and what its parts ask of one another: cmd_run.c starts the program
 * and sums up, run_options.c reads the arguments, run_prepare.c makes ready. Where a function
 * gives a status, it is 0, or the command's exit status, and what is wrong was said. */
#ifndef VS_RUN_INTERNAL_H
#define VS_RUN_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/vs_option.h"
#include "tools/run/reach.h"

#define EXIT_OWN_FAILURE 125

struct vs_run {
    struct vs_options options;
    bool quiet;
    char manifest[PATH_MAX];
    struct timespec began; /* CLOCK_REALTIME, before the program */
    pid_t pid; /* of the program */
    char plan[PATH_MAX]; /* made for this run; empty: none */
    enum vs_reach reach; /* by the library, of the program */
    char **program; /* argv of the program, NULL-terminated */
};

/* vs_run_fail: one line to standard error; gives EXIT_OWN_FAILURE. */
int vs_run_fail(const char *format, ...) VS_PRINTF(1, 2);

/* --- run_options.c --- */

/* vs_run_parse: options of the environment, then of the arguments; the program's own. */
int vs_run_parse(struct vs_run *run, int argc, char **argv);

/* vs_run_warn_without_effect, vs_run_warn_observed: what was asked for and comes to nothing,
 * because memory is served otherwise, or only observed, in one line. */
void vs_run_warn_without_effect(const struct vs_run *run);
void vs_run_warn_observed(const struct vs_run *run);

/* --- run_prepare.c, in the order in which they are called --- */

/* vs_run_prepare_output: the trace's folder must exist and the file, where its name is fixed,
 * must be ours to replace: a slip of the keyboard must not cost a file. */
int vs_run_prepare_output(struct vs_run *run);

/* vs_run_prepare_manifest: makes the file that processes tell their traces in. */
int vs_run_prepare_manifest(struct vs_run *run);

/* vs_run_prepare_plan: checks the plan; a trace is planned into a file of our own first. The
 * program may change its folder, so the path becomes absolute. */
int vs_run_prepare_plan(struct vs_run *run);

/* vs_run_prepare_environment: in this process: what changes here, the child inherits and
 * nobody else sees. */
int vs_run_prepare_environment(struct vs_run *run);

/* vs_run_is_trace: does the file at *path* begin as a trace does? */
bool vs_run_is_trace(const char *path);

#endif
