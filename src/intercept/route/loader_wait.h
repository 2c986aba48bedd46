/* SPDX-License-Identifier: Apache-2.0
 *
 * Can libraries be opened now? */
#ifndef VS_LOADER_WAIT_H
#define VS_LOADER_WAIT_H

#include <stdbool.h>

/* vs_loader_waits: does another thread hold the loader's lock for as long as we wait? Then it is
 * waiting for this thread, for example in a constructor, and dlopen would never return. Once per
 * process, before it opens libraries: costs a thread if the program has several, and 5 seconds if
 * the result is true. */
bool vs_loader_waits(void);

#endif
