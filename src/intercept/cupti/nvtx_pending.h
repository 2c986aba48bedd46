/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges that are open before the recording begins, of all threads: written to it
 * then, so that memory allocated inside them is told by their names. */
#ifndef VS_NVTX_PENDING_H
#define VS_NVTX_PENDING_H

#include <stdbool.h>
#include <stdint.h>

/* vs_nvtx_pending_push, _pop, _start, _end: keep the range, or forget it again. *domain*:
 * its name, static text. False when the recording has taken what was kept: then the
 * caller records the range itself. Any thread; safe in the child of a fork. */
bool vs_nvtx_pending_push(const char *name, const char *domain);
bool vs_nvtx_pending_pop(const char *domain);
bool vs_nvtx_pending_start(uint64_t id, const char *name, const char *domain);
bool vs_nvtx_pending_end(uint64_t id);

/* vs_nvtx_pending_replay: record what is open, once; nothing is kept from now on. */
void vs_nvtx_pending_replay(void);

#endif
