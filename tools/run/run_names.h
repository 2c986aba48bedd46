/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of a run's traces where only its processes know them: %r under a launcher that sets
 * each one's rank, %n under a script. A process that finds its name taken records under
 * NAME.PID.vst; when the run is over and what has the name is an older trace, the new one takes
 * it, as an older trace of a known name gives way. */
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
    char **taken; /* older names that traces of this run have now; by vs_run_names_free */
    size_t count, capacity;
};

/* vs_run_names_replaced: do older traces by *pattern* give way at the end of the run? Not where
 * their names differ by process, nor where other ranks of this run may have them. */
bool vs_run_names_replaced(const char *pattern);

/* vs_run_names_take: give *trace* (PATH_MAX bytes; a path of the manifest) the name that it was to
 * have, if that is an older trace's; *trace* is the new name then. Nothing when it has it, when
 * either is being recorded, or what is there is no trace. */
void vs_run_names_take(struct vs_run_names *names, char *trace);

/* vs_run_names_say: on standard error, when *trace* could not have the name that it was to have
 * and what has it is not of this run. */
void vs_run_names_say(const struct vs_run_names *names, const char *trace);

/* vs_run_names_say_ranks: on standard error, which traces of other ranks are there from an earlier
 * run: whoever reads all by the pattern would read them for this one's. */
void vs_run_names_say_ranks(const struct vs_run_names *names);

void vs_run_names_free(struct vs_run_names *names);

#endif
