/* SPDX-License-Identifier: Apache-2.0
 *
 * The background thread gives way to the program's threads, and stops giving way while
 * one of them waits for it. */
#ifndef VS_PRIORITY_H
#define VS_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

/* vs_priority_lower: the calling thread, from now on. False when nothing was changed:
 * it has a real-time or other policy of the program's own choice, or it may not. */
bool vs_priority_lower(void);

/* vs_priority_raise: thread *tid*, lowered before, is like the calling one, as far as an
 * ordinary user may make it so. */
void vs_priority_raise(pid_t tid);

#endif
