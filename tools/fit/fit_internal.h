/* SPDX-License-Identifier: Apache-2.0
 *
 * One `vramscope fit` and the interface between its parts: fit_options.c parses the arguments,
 * fit_command.c makes the command of each value, fit_execute.c runs it on one GPU by executing
 * `vramscope run`, fit_search.c decides which runs are needed. A returned status is 0, or the
 * exit status of the command after a message was printed. */
#ifndef VS_FIT_INTERNAL_H
#define VS_FIT_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/fit/fit_answer.h"
#include "base/vs_err.h"

#define VS_FIT_GPUS_MAX 64
#define VS_FIT_VALUES_MAX 256

struct vs_fit_job {
    const char *who; /* "vramscope fit" */
    char *gpus[VS_FIT_GPUS_MAX]; /* as given; owned */
    size_t gpu_count;
    char *vary;      /* the name before '=' of --vary, "" without one; NULL: nothing varies; owned */
    char *values[VS_FIT_VALUES_MAX]; /* ascending where all are numbers; owned */
    size_t value_count;
    bool ascending;  /* all values are numbers */
    bool all;        /* try every value */
    unsigned long long steps; /* end the program after so many; 0: let it end */
    bool json, quiet, colour_given, colour;
    const char *keep; /* folder for the traces; NULL: removed at the end */
    char **run_flags; /* options that are passed on to `run`, NULL-terminated; owned */
    char **program;   /* NULL-terminated */
    char folder[PATH_MAX]; /* of all runs */
};

/* vs_fit_parse: parses the arguments; -1: help was printed. vs_fit_job_clear frees what it set. */
int vs_fit_parse(struct vs_fit_job *job, const char *usage, int argc, char **argv);
void vs_fit_job_clear(struct vs_fit_job *job);

/* vs_fit_parse_vary: parses "NAME=V1,V2…" or "V1,V2…". */
int vs_fit_parse_vary(struct vs_fit_job *job, const char *text);

/* vs_fit_command: the program's arguments with *value* (NULL: as they are): in place of {}, or of
 * the value that follows the name, or at the end. NULL-terminated; NULL: out of memory. Called in
 * the process that becomes the program: nothing is freed. */
char **vs_fit_command(const struct vs_fit_job *job, const char *value);

/* vs_fit_folder_make, _remove: job->folder, new below TMPDIR, or --keep's. */
int vs_fit_folder_make(struct vs_fit_job *job);
void vs_fit_folder_remove(const struct vs_fit_job *job);

/* vs_fit_execute: runs the program with *value* on *gpu*, and fills in *run*, which the caller
 * clears. */
int vs_fit_execute(const struct vs_fit_job *job, const char *gpu, const char *value,
                   struct vs_fit_run *run);

/* vs_fit_wait_for_steps: waits until *pid* ends, and interrupts it when the traces in *folder* have
 * *wanted* completed steps. Returns true when it was interrupted. */
bool vs_fit_wait_for_steps(int pid, const char *folder, uint64_t wanted, int *status);

/* vs_fit_search: the runs that the answer needs, in the order in which they are shown. */
int vs_fit_search(const struct vs_fit_job *job, struct vs_fit_set *set);

/* vs_fit_signals_begin: from here on an interrupt is passed on to the running program.
 * vs_fit_signals_to: that one is *pid*; 0: none. vs_fit_interrupted: the number of the signal; 0:
 * none came. vs_fit_signals_leave: ends the process by that signal. */
void vs_fit_signals_begin(void);
void vs_fit_signals_to(int pid);
int vs_fit_interrupted(void);
void vs_fit_signals_leave(void);

#endif
