/* SPDX-License-Identifier: Apache-2.0
 *
 * One `vramscope run` and the interface between its parts: cmd_run.c starts the program and
 * prints the summary, run_options.c parses the arguments, run_prepare.c prepares the run. A
 * returned status is 0, or the command's exit status after a message was printed. */
#ifndef VS_RUN_INTERNAL_H
#define VS_RUN_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#include "base/vs_option.h"
#include "tools/check/check_command.h"
#include "tools/run/reach.h"

#define EXIT_OWN_FAILURE 125

struct vs_run {
    struct vs_options options;
    bool quiet;
    bool view, no_source;  /* --view: a page of the trace at the end; without lines of source files */
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

/* --- run_manifest.c: the file to which every process that the run started appends a line --- */

/* vs_run_manifest_create: creates a new one; *path*: PATH_MAX bytes. Returns false with errno. */
bool vs_run_manifest_create(char *path);
void vs_run_manifest_remove(const char *path);

/* vs_run_manifest_line: reads the next line into *line*, without its newline; newlines within the
 * name are restored. Returns false at the end. */
bool vs_run_manifest_line(FILE *manifest, char *line, size_t max);

/* vs_run_manifest_record_end: records that the program, process *pid*, ended with *status* (of
 * waitpid), for readers of its trace, if that one has no end. */
void vs_run_manifest_record_end(const char *path, uint64_t pid, int status);

/* --- run_output.c: the older trace under the name given with -o, set aside until a new one replaces it
 * --- */

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

/* --- run_names.c: names that only the run's processes can determine: %r by rank, %n under a script ---
 * */

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
 * because a file that is not of this run has it. Returns whether another trace of this run has it. */
bool vs_run_names_warn(const struct vs_run_names *names, const char *trace);

/* vs_run_names_warn_ranks: prints on standard error which traces of other ranks are left from an
 * earlier run: reading all files of the pattern would mix them with this run's. */
void vs_run_names_warn_ranks(const struct vs_run_names *names);

void vs_run_names_free(struct vs_run_names *names);

/* --- run_signals.c: signals from other processes are forwarded; the terminal reaches the program
 * itself --- */

/* vs_run_signals_prepare: from here on an interrupt removes *manifest* before it ends
 * the command. It must stay valid. */
void vs_run_signals_prepare(const char *manifest);

/* vs_run_signals_child: in a child, before signals are unblocked: it must not remove this file. */
void vs_run_signals_child(void);

/* vs_run_signals_to: from here on signals are forwarded to *pid*. Ignored signals stay ignored. */
void vs_run_signals_to(pid_t pid);

/* vs_run_signals_end: the program has ended: signals are handled as before it was started. SIGPIPE stays ignored,
 * because a closed standard error must not change the exit status. */
void vs_run_signals_end(void);

/* vs_run_signals_summary: from here on an interrupt ends the command at once with *code*, the
 * program's: a trace that is being rewritten stays unchanged, and *manifest* is
 * removed. It must stay valid. */
void vs_run_signals_summary(int code, const char *manifest);

/* --- run_dying.c: processes that were killed but have not ended when the program ends --- */

/* vs_run_await_dying: returns when no process that is being killed records the trace *path* any
 * more; at once if it is not recorded, or by a process that goes on. */
void vs_run_await_dying(const char *path);

/* --- run_summary.c: the report of each trace, and for several a table of their processes --- */

struct vs_run_summary {
    unsigned traces;      /* processes that wrote a trace */
    char **paths;         /* all of them, in the order in which they ended; malloc'ed */
    size_t path_count, path_capacity;
    unsigned failures;    /* processes that used CUDA and could not record */
    bool nested;          /* a nested `vramscope run` was started, which prints its own summary */
    unsigned idle;        /* processes that loaded the CUDA driver and allocated nothing */
    pid_t unreached_pid;  /* the process that became *unreached* */
    char unreached[4096]; /* a program that was started without our LD_PRELOAD; or empty */
};

/* vs_run_summarise: reads the manifest of *names*, and gives the traces their requested names;
 * unless *quiet*, prints to standard error. *symbolize*: first adds function names to each
 * trace. */
void vs_run_summarise(struct vs_run_names *names, bool quiet, bool symbolize,
                      struct vs_run_summary *out);

void vs_run_summary_free(struct vs_run_summary *summary);

#endif
