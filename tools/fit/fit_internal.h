/* SPDX-License-Identifier: Apache-2.0
 *
 * One `vramscope fit` and the interface between its parts: fit_options.c parses the arguments,
 * fit_command.c makes the command of each value, fit_execute.c runs it on one GPU by executing
 * `vramscope run`, fit_result.c reads the result, fit_search.c decides which runs are needed and how
 * many are running. Single-threaded. A returned status is 0, or the
 * exit status of the command after a message was printed. */
#ifndef VS_FIT_INTERNAL_H
#define VS_FIT_INTERNAL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "analysis/fit/fit_answer.h"
#include "tools/common/command.h"
#include "tools/common/tool_options.h"

#define VS_FIT_GPUS_MAX 64
#define VS_FIT_VALUES_MAX 256
#define VS_FIT_RANKS_MAX 1000000 /* of a job */
#define VS_FIT_RANKS_LISTED 256  /* that are run */

/* Added to a GPU's name: more memory than any. */
#define VS_FIT_MORE_MEMORY ",capacity=1TiB"

#define VS_FIT_SIGNAL_NS UINT64_C(20000000000) /* until the next, stronger signal */

struct vs_fit_job {
    const char *who; /* "vramscope fit" */
    char *gpus[VS_FIT_GPUS_MAX]; /* as given; owned */
    size_t gpu_count;
    char *vary;      /* the name before '=' of --vary, "" without one; NULL: nothing varies; owned */
    unsigned long long ranks, per_node; /* --ranks: of the whole job; 0: all processes run */
    unsigned long long rank_list[VS_FIT_RANKS_LISTED]; /* --rank */
    size_t rank_count;
    enum vs_fit_launcher { VS_FIT_NO_LAUNCHER, VS_FIT_SRUN, VS_FIT_MPIRUN } launcher; /* of program, with --ranks */
    char *values[VS_FIT_VALUES_MAX]; /* ascending where all are numbers; owned */
    size_t value_count;
    bool ascending;  /* all values are numbers */
    bool all;        /* try every value */
    unsigned long long jobs;  /* GPUs at the same time; 0: as many as there are processors */
    unsigned long long steps; /* end the program after so many; 0: let it end */
    uint64_t host_memory;     /* end a run that takes more of the host's; 0: what is there */
    bool json, quiet;
    struct vs_tool_colour colour;
    const char *keep; /* folder for the traces; NULL: removed at the end */
    char **run_flags; /* options that are passed on to `run`, NULL-terminated; owned */
    char **program;   /* NULL-terminated */
    char folder[PATH_MAX]; /* of all runs */
};

/* vs_fit_parse: parses the arguments; -1: help was printed. *more*: the options of one verb alone.
 * vs_fit_end: frees *job*, and ends by the signal that came, if any; returns the exit status.
 * vs_fit_exit_code: of an answer. */
int vs_fit_parse(struct vs_fit_job *job, const char *usage, const struct vs_tool_option *more, int argc,
                 char **argv);
int vs_fit_end(struct vs_fit_job *job, int status);
int vs_fit_exit_code(enum vs_fit_answer answer);

/* vs_fit_add_flag: an option that is passed on to `run`; *value*: NULL, or its next word. */
void vs_fit_add_flag(struct vs_fit_job *job, const char *name, const char *value);

/* vs_fit_parse_vary: parses "NAME=V1,V2…" or "V1,V2…" for *job*, a struct vs_fit_job. */
int vs_fit_parse_vary(const char *who, const char *text, void *job);

/* vs_fit_has_hole: whether a word has a {}. vs_fit_command: the program's arguments with *value* (NULL: as they are): in place of {}, or of
 * the value that follows the name, or at the end. NULL-terminated. Called in
 * the process that becomes the program: nothing is freed. */
bool vs_fit_has_hole(char *const *program);
char **vs_fit_command(const struct vs_fit_job *job, const char *value);

/* vs_fit_folder_make, _remove: job->folder, new below TMPDIR, or --keep's. vs_fit_folder_clear: a
 * folder and all that is in it. */
int vs_fit_folder_make(struct vs_fit_job *job);
void vs_fit_folder_remove(const struct vs_fit_job *job);
void vs_fit_folder_clear(const char *folder);

/* One run of the program; its traces, notes and messages are in *folder*. */
struct vs_fit_process {
    struct vs_fit_run *run;
    char folder[PATH_MAX + 256];
    size_t slot; /* below VS_FIT_GPUS_MAX, no other running process has it */
    unsigned long long steps; /* as of the job */
    uint64_t longest_ns, until; /* its run is ended after that time, at that time; 0: never */
    bool late;
    int pid;
    uint64_t began, looked, sent; /* looked, sent: of --steps: at the traces, the last signal */
    uint64_t watched;             /* the host's memory */
    size_t signals;               /* sent to end it after its steps */
};

/* vs_fit_name_folder: by the GPU, and the value or rank, of process->run. */
void vs_fit_name_folder(const struct vs_fit_job *job, struct vs_fit_process *process);

/* vs_fit_run_all: runs the program, several times at the same time, and returns when all runs have ended and
 * *next* has no more. *next*: the process to start, whose run and folder are set; NULL: none as long as
 * *running* others go on. *ended*: the status of its program is in process->run; also after an interrupt. Both
 * report a failure, after which nothing more is started. With --steps a program is ended when it is far
 * enough. */
int vs_fit_run_all(const struct vs_fit_job *job, void *of,
                   struct vs_fit_process *(*next)(void *of, size_t running, int *status),
                   int (*ended)(void *of, struct vs_fit_process *process));

/* vs_fit_at_once: --jobs, or the number of processors. */
size_t vs_fit_at_once(const struct vs_fit_job *job);

/* vs_fit_read_result: fills in process->run, which the caller clears, from the files in its folder. */
int vs_fit_read_result(const struct vs_fit_job *job, const struct vs_fit_process *process);

/* vs_fit_add_remedy: of a failed allocation, what would have let it fit. */
void vs_fit_add_remedy(const struct vs_fit_job *job, struct vs_fit_run *run);

/* vs_fit_watch_steps: looks now and then whether the traces of *process* have *wanted* completed
 * steps, and ends it then. */
void vs_fit_watch_steps(struct vs_fit_process *process, uint64_t wanted);

/* vs_fit_watch_host: looks now and then how much of the host's memory *process* takes, and ends it if
 * that is too much; then host_needed of its run is set. */
void vs_fit_watch_host(const struct vs_fit_job *job, struct vs_fit_process *process);

/* vs_fit_host_free: the host's memory, or that of this process's control group. False: not known. */
bool vs_fit_host_free(uint64_t *total, uint64_t *available);

/* vs_fit_search: the runs that the answer needs, in the order in which they are shown. */
int vs_fit_search(const struct vs_fit_job *job, struct vs_fit_set *set);

/* vs_fit_ranks: the same with --ranks: those of the ranks that may differ (fit_ranks.c).
 * vs_fit_per_node: what a launcher's command says; 0: nothing. vs_fit_without_launcher: the command behind
 * *launcher* and its options; *program* itself where it begins otherwise. */
int vs_fit_ranks(const struct vs_fit_job *job, struct vs_fit_set *set);
unsigned long long vs_fit_per_node(char *const *program);
char **vs_fit_without_launcher(char **program, enum vs_fit_launcher *launcher);

/* vs_fit_signals_begin: from here on an interrupt is passed on to the running programs.
 * vs_fit_signals_to: the one of *slot* is *pid*; 0: none. vs_fit_interrupted: the number of the signal; 0:
 * none came. vs_fit_signals_leave: ends the process by that signal. */
void vs_fit_signals_begin(void);
void vs_fit_signals_to(size_t slot, int pid);
int vs_fit_interrupted(void);
void vs_fit_signals_leave(void);

#endif
