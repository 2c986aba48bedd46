/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of somebody else that the driver maps once however often it is opened: whoever
 * opens it again gets the same address, and it stays until the last one closes it. */
#ifndef VS_OPENED_H
#define VS_OPENED_H

#include "intercept/track/tracker.h"

/* vs_opened: *live*, of family ipc, was opened; recorded the first time. Any thread. */
void vs_opened(const struct vs_tracked *live, const char *api);

/* vs_opened_close: one opening of *addr* less. False when there is no other: then it ends
 * as anything else that is tracked does. */
bool vs_opened_close(uint64_t addr);

#endif
