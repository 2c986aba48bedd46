/* SPDX-License-Identifier: Apache-2.0
 *
 * The older trace under the name given to `vramscope run -o`: set aside before the program starts,
 * and removed only when a new one replaces it. */
#ifndef VS_RUN_OUTPUT_H
#define VS_RUN_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct vs_run_output {
    char path[PATH_MAX];  /* of the new trace */
    char aside[PATH_MAX]; /* where the older one is; empty: there was none */
    bool live;            /* its live window is there too */
};

/* vs_run_output_has: whether *pattern* contains %*letter*. */
bool vs_run_output_has(const char *pattern, char letter);

/* vs_run_output_varies: whether the name by *pattern* depends on the process: whether it contains more
 * than %%, a percent sign of its own. */
bool vs_run_output_varies(const char *pattern);

/* vs_run_output_literal: in *out* (*size* bytes) the pattern whose name is the first *length* bytes of
 * *path*. Returns false when there is no room. */
bool vs_run_output_literal(const char *path, size_t length, char *out, size_t size);

/* vs_run_output_fixed: in *path* the name by the first *length* bytes of *pattern*; false when it
 * varies. */
bool vs_run_output_fixed(const char *pattern, size_t length, char path[PATH_MAX]);

/* vs_run_output_known: the name by *pattern* of the trace of *program*, which is about to start.
 * Empty when only its process can determine it (%p). Returns true when the name is for this run
 * alone; false where processes that it starts may have ranks of their own, or runs of other ranks
 * the same name. */
bool vs_run_output_known(const char *pattern, const char *program, char path[PATH_MAX]);

/* vs_run_output_set_aside: moves the file at *path* to a hidden name beside it. Success when there
 * is no file; false with errno when it cannot be moved, EBUSY when it is being recorded. */
bool vs_run_output_set_aside(struct vs_run_output *output, const char *path);

/* vs_run_output_settle: removes the older trace if a new one was written, otherwise moves it
 * back. */
void vs_run_output_settle(struct vs_run_output *output);

/* vs_run_output_move: renames the trace at *from*, with its live window, to *to*, an unused name;
 * another trace's live window there gets a name of its own. Returns false when that fails or the
 * name is now in use: the trace is unchanged at *from*. */
bool vs_run_output_move(const char *from, const char *to);

#endif
