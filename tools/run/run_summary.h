/* SPDX-License-Identifier: Apache-2.0
 *
 * What `vramscope run` shows of the traces that its program and that one's children
 * left: the report of each, and for several a table that tells how they belong together. */
#ifndef VS_RUN_SUMMARY_H
#define VS_RUN_SUMMARY_H

#include <stdbool.h>
#include <sys/types.h>

#include "tools/run/run_names.h"

struct vs_run_summary {
    unsigned traces;      /* processes that left one */
    unsigned failures;    /* processes that used CUDA and could not record */
    bool nested;          /* another `vramscope run` was started, which has its own */
    unsigned idle;        /* processes that loaded the CUDA driver and allocated nothing */
    pid_t unreached_pid;  /* the process that became *unreached* */
    char unreached[4096]; /* a program that was started without our LD_PRELOAD; or empty */
};

/* vs_run_summarise: read the manifest of *names*, and give the traces the names that they were to
 * have; unless *quiet*, print to standard error. *symbolize*: write names of functions into each
 * trace first. */
void vs_run_summarise(struct vs_run_names *names, bool quiet, bool symbolize,
                      struct vs_run_summary *out);

#endif
