/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls in which the program waits for the device: how long each took, and where it was made. They
 * are recorded with the kernels and copies, and never kept from the driver. */
#ifndef VS_WAIT_H
#define VS_WAIT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>

#include "trace/format/event.h"

/* A shorter free, or asynchronous copy of pageable memory, did not wait for the device. */
#define VS_WAIT_LEAST_NS 20000

/* While the collector records nothing by the options kernels_steps and kernels_range: no waits either. */
extern _Atomic bool vs_waits_off;

/* vs_wait_begins: the time, before the real call; 0 if it is not to be recorded. *caller*: a return
 * address, as for vs_hook_called. Any thread. */
uint64_t vs_wait_begins(const void *caller);

/* vs_wait_ended: records the call that began at *began_ns*; does nothing if that is 0. *of*: the
 * stream, with *per_thread* as for vs_stream_id; the context, or NULL for the current one; of an
 * asynchronous copy the memory, and *other* the other side, unless it is known to be the device's.
 * Memory of another device that is freed, and events of one, count as of the current context. */
void vs_wait_ended(uint64_t began_ns, enum vs_wait kind, const char *api, const void *of,
                   const void *other, bool per_thread);

#endif
