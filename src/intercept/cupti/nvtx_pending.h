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

/* vs_nvtx_pending_push, _pop, _start, _end: store the range, or remove it. *domain*: its name,
 * static text. Return false if the recording has read the stored ranges: then the caller records
 * the range itself. Any thread; safe in the child of a fork. */
bool vs_nvtx_pending_push(const char *name, const char *domain);
bool vs_nvtx_pending_pop(const char *domain);
bool vs_nvtx_pending_start(uint64_t id, const char *name, const char *domain);
bool vs_nvtx_pending_end(uint64_t id);

/* vs_nvtx_pending_replay: records the open ranges, once; nothing is stored from then on. */
void vs_nvtx_pending_replay(void);

#endif
