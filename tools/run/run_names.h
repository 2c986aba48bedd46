/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of a run's traces that only its processes can determine: %r under a launcher that sets each
 * one's rank, %n under a script. A process that finds its name in use records under NAME.PID.vst;
 * after the run, when the file with that name is an older trace, the new trace replaces it, just as
 * an older trace of a predictable name is replaced. */
#ifndef VS_RUN_NAMES_H
#define VS_RUN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct vs_run_names {
    const char *pattern;  /* -o, absolute */
    struct timespec began; /* CLOCK_REALTIME before the program was started */
    const char *manifest;
    char **taken; /* older names that traces of this run have now; freed by vs_run_names_free */
    size_t count, capacity;
};

/* vs_run_names_replaced: whether older traces of *pattern* are replaced at the end of the run. Not
 * where their names differ by process, nor where other ranks of this run may use them. */
bool vs_run_names_replaced(const char *pattern);

/* vs_run_names_take: renames *trace* (PATH_MAX bytes; a path of the manifest) to the name that it
 * should have, if an older trace has that name; *trace* becomes the new name. Does nothing when it
 * has the name already, when either is being recorded, or when the other file is not a trace. */
void vs_run_names_take(struct vs_run_names *names, char *trace);

/* vs_run_names_warn: prints on standard error that *trace* could not have its requested name
 * because a file that is not of this run has it. */
void vs_run_names_warn(const struct vs_run_names *names, const char *trace);

/* vs_run_names_warn_ranks: prints on standard error which traces of other ranks are left from an
 * earlier run: reading all files of the pattern would mix them with this run's. */
void vs_run_names_warn_ranks(const struct vs_run_names *names);

void vs_run_names_free(struct vs_run_names *names);

#endif
