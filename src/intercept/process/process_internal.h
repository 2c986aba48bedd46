/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a recording's life: process.c begins it, process_fork.c keeps it out of
 * child processes, process_exit.c ends it with the process, process_exec.c with the
 * program. */
#ifndef VS_PROCESS_INTERNAL_H
#define VS_PROCESS_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/process/process.h"

/* --- process.c --- */

/* vs_process_abandon: in a child: forget the parent's trace and who held our locks. */
void vs_process_abandon(void);

/* --- process_fork.c --- */

/* vs_process_enter: on the way to begin, before any lock of ours: this process is the one
 * that begins, unless it is a child that no fork handler heard of; that one steps aside. */
void vs_process_enter(void);

/* vs_process_set_state: what vs_process_state gives from now on. */
void vs_process_set_state(enum vs_process_state state);

/* vs_process_own: is this the process that entered? False in children of any kind, those
 * of vfork included, which share our memory. Signal-safe. */
bool vs_process_own(void);

/* vs_process_await_begin: this thread is about to end the process or to make it another
 * program: when another is just beginning to record, wait until it has, so that its trace
 * gets an end; from here on other threads do not begin. Returns at once in handlers that
 * interrupted our own work. vs_process_goes_on takes it back. Both signal-safe. */
void vs_process_await_begin(void);
void vs_process_goes_on(void);

/* --- process_exit.c --- */

/* vs_process_exit_prepare: at begin, with vs_thread.inside > 0: be called at the end. *libraries*:
 * other libraries may be opened for it. */
void vs_process_exit_prepare(bool libraries);

/* vs_process_quiet_moment: may CUPTI and the driver be called now? Not while a signal
 * handler runs: it may have interrupted them. */
bool vs_process_quiet_moment(void);

/* --- process_exec.c --- */

/* vs_process_exec_prepare: at begin: find the functions that exec hooks call, so that a
 * signal handler need not. */
void vs_process_exec_prepare(void);

#endif
