/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a recording's lifetime: process.c starts it, process_fork.c disables it in child
 * processes, process_exit.c ends it with the process, process_exec.c with the program. */
#ifndef VS_PROCESS_INTERNAL_H
#define VS_PROCESS_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/process/process.h"

/* --- process.c --- */

/* vs_process_abandon: in a child: drops the parent's trace and resets our locks. */
void vs_process_abandon(void);

/* --- process_fork.c --- */

/* vs_process_enter: before the start, with no lock of ours held: makes this process the one that
 * records, unless it is a child that no fork handler reported; such a child is only forwarded. */
void vs_process_enter(void);

/* vs_process_set_state: sets the result of vs_process_state. */
void vs_process_set_state(enum vs_process_state state);

/* vs_process_own: is this the process that entered? False in children of any kind, including those
 * of vfork, which share our memory. Signal-safe. */
bool vs_process_own(void);

/* vs_process_await_begin: this thread is about to end the process or to call exec: if another
 * thread is just starting the recording, waits until it has, so that its trace gets an end; from
 * here on other threads do not start it. Returns immediately in handlers that interrupted our own
 * work. vs_process_resume undoes it. Both signal-safe. */
void vs_process_await_begin(void);
void vs_process_resume(void);

/* --- process_exit.c --- */

/* vs_process_exit_prepare: at the start, with vs_thread.inside > 0: registers for the end of the
 * process. *libraries*: other libraries may be opened for it. */
void vs_process_exit_prepare(bool libraries);

/* vs_process_quiet_moment: may CUPTI and the driver be called now? Not while a signal handler runs:
 * it may have interrupted them. */
bool vs_process_quiet_moment(void);

/* --- process_exec.c --- */

/* vs_process_exec_prepare: at the start: looks up the functions that exec hooks call, so that a
 * signal handler need not. */
void vs_process_exec_prepare(void);

#endif
