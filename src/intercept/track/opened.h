/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign memory that the driver maps once however often it is opened: a repeated opening returns
 * the same address, and it stays until the last one is closed. */
#ifndef VS_OPENED_H
#define VS_OPENED_H

#include "intercept/track/tracker.h"

/* vs_opened: *live*, of family ipc, was opened; the first opening is recorded. Any thread. */
void vs_opened(const struct vs_tracked *live, const char *api);

/* vs_opened_close: closes one opening of *addr*. Returns false if it is the last: then it ends like
 * other tracked memory. */
bool vs_opened_close(uint64_t addr);

#endif
