/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether libraries of our own can be opened now. */
#ifndef VS_LOADER_WAIT_H
#define VS_LOADER_WAIT_H

#include <stdbool.h>

/* vs_loader_waits: does another thread hold the loader's lock, and keeps it for as long as
 * we wait? Then it is awaiting this one, in a constructor perhaps, and dlopen would
 * never return. Once per process, before it opens libraries: costs a thread where the
 * program has several, and 5 seconds where the answer is yes. */
bool vs_loader_waits(void);

#endif
