/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary that `vramscope run` prints for the traces of its program and the program's children:
 * the report of each, and for several a table of their processes. */
#ifndef VS_RUN_SUMMARY_H
#define VS_RUN_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "tools/run/run_names.h"

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
