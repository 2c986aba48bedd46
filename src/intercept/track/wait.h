/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls in which the program waits for the device: how long each took, and where it was made. They
 * are recorded with the kernels and copies, and never kept from the driver. */
#ifndef VS_WAIT_H
#define VS_WAIT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/format/event.h"

/* A shorter free did not wait for the device. */
#define VS_WAIT_FREE_LEAST_NS 20000

/* vs_wait_begins: the time, before the real call; 0 if it is not to be recorded. Any thread. */
uint64_t vs_wait_begins(void);

/* vs_wait_ended: records the call that began at *began_ns*; does nothing if that is 0. *stream*,
 * *per_thread*: as for vs_stream_id, where *kind* is VS_WAIT_STREAM. */
void vs_wait_ended(uint64_t began_ns, enum vs_wait kind, const char *api, CUstream stream,
                   bool per_thread);

#endif
