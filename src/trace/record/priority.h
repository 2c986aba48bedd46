/* SPDX-License-Identifier: Apache-2.0
 *
 * The background thread yields to the program's threads, except while one of them waits for it. */
#ifndef VS_PRIORITY_H
#define VS_PRIORITY_H

#include <stdbool.h>
#include <sys/types.h>

/* vs_priority_lower: lower the calling thread. False when nothing was changed: it has a real-time
 * or other policy of the program's own choice, or permission is missing. */
bool vs_priority_lower(void);

/* vs_priority_raise: give thread *tid*, lowered before, the priority of the calling one, as far as
 * an ordinary user may. */
void vs_priority_raise(pid_t tid);

#endif
