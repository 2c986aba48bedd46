/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that have been killed but have not ended yet when the program ends: `timeout -s KILL` and
 * shells do not wait for theirs. */
#ifndef VS_RUN_DYING_H
#define VS_RUN_DYING_H

/* vs_run_await_dying: returns when no process that is being killed records the trace *path* any
 * more; at once if it is not recorded, or by a process that goes on. */
void vs_run_await_dying(const char *path);

#endif
