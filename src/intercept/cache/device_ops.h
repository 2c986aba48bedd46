/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's view of a real device: its operations over the driver, in the context that an
 * allocator serves. The calls are ours, not the program's: they go to the driver directly and are
 * not recorded. */
#ifndef VS_DEVICE_OPS_H
#define VS_DEVICE_OPS_H

#include <cuda.h>
#include <stdbool.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_device_ops_fill: the operations for an allocator that serves *context*, which is their ctx
 * argument. Includes virtual memory if the device has it; events and streams for
 * VS_REUSE_STREAM_ORDERED. */
void vs_device_ops_fill(const struct vs_context *context, enum vs_reuse reuse,
                        struct vs_device_ops *out);

#endif
