/* SPDX-License-Identifier: Apache-2.0
 *
 * The older trace under the name that `vramscope run -o` was given: set aside before the
 * program starts, and lost only to a new one. */
#ifndef VS_RUN_OUTPUT_H
#define VS_RUN_OUTPUT_H

#include <limits.h>
#include <stdbool.h>

struct vs_run_output {
    char path[PATH_MAX];  /* of the trace to come */
    char aside[PATH_MAX]; /* where an older one waits; empty: there was none */
    bool live;            /* its live window waits there too */
};

/* vs_run_output_has: does *pattern* hold %*letter*? */
bool vs_run_output_has(const char *pattern, char letter);

/* vs_run_output_known: the name by *pattern* of the trace of *program*, which is about to start.
 * Empty when only its process knows (%p). True when it is for this run alone: false where
 * processes that it starts may have ranks of their own, or runs of other ranks the same name. */
bool vs_run_output_known(const char *pattern, const char *program, char path[PATH_MAX]);

/* vs_run_output_set_aside: move what is at *path* to a hidden name beside it. Nothing there
 * is success; false with errno when it cannot be moved, EBUSY when it is being recorded. */
bool vs_run_output_set_aside(struct vs_run_output *output, const char *path);

/* vs_run_output_settle: remove the older trace where a new one was written, otherwise put
 * it back. */
void vs_run_output_settle(struct vs_run_output *output);

/* vs_run_output_move: give the trace at *from*, with its live window, the name *to*, which nothing
 * has; another trace's live window that lies there is kept under a name of its own. False when that
 * fails, or something has the name now: the trace is where it was, whole. */
bool vs_run_output_move(const char *from, const char *to);

#endif
