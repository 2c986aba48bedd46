/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges of all threads that are open before the recording begins: they are written to it
 * then, so that memory allocated inside them is attributed to them. */
#ifndef VS_NVTX_PENDING_H
#define VS_NVTX_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer names are cut, as the trace's longest text. */
#define VS_NVTX_NAME_MAX ((size_t)64 << 10)

/* vs_nvtx_pending_begin, _end: store the range, or remove it. *id*: of a started range; 0: pushed
 * by this thread. *domain*: its name, static text; NULL at the end of a started one. Return false
 * if the recording has read the stored ranges: then the caller records the range itself. Any
 * thread; safe in the child of a fork. */
bool vs_nvtx_pending_begin(uint64_t id, const char *name, const char *domain);
bool vs_nvtx_pending_end(uint64_t id, const char *domain);

/* vs_nvtx_pending_replay: records the open ranges, once; nothing is stored from then on. */
void vs_nvtx_pending_replay(void);

#endif
