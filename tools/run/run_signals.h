/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals of `vramscope run`: those that other processes send to it are forwarded to the program;
 * those of the terminal reach the program directly. */
#ifndef VS_RUN_SIGNALS_H
#define VS_RUN_SIGNALS_H

#include <sys/types.h>

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

#endif
