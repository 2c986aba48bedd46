/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals of `vramscope run`: those that other processes send to it belong to the
 * program; those of the terminal reach the program by themselves. */
#ifndef VS_RUN_SIGNALS_H
#define VS_RUN_SIGNALS_H

#include <sys/types.h>

/* vs_run_signals_to: from here on signals are for *pid*. What was ignored stays so. */
void vs_run_signals_to(pid_t pid);

/* vs_run_signals_end: the program has ended: signals are for us, as before. SIGPIPE stays
 * ignored: that nobody reads the summary must not change the exit status. */
void vs_run_signals_end(void);

/* vs_run_signals_summary: an interrupt from here on ends the command at once with *code*, the
 * program's: a trace that is being written anew stays as it was, *manifest* is removed, and
 * *plan*, unless it is empty. Both stay valid. */
void vs_run_signals_summary(int code, const char *manifest, const char *plan);

#endif
