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

/* vs_err_of_driver: converts a driver's code. */
enum vs_err vs_err_of_driver(CUresult result);

/* vs_context_enter, _leave: makes *context* current on this thread, which may have another one or
 * none, and restores it. Returns VS_ERR_DEVICE if the driver refuses; _leave must not be called
 * then. */
struct vs_entered {
    bool pushed;
};
enum vs_err vs_context_enter(const struct vs_context *context, struct vs_entered *entered)
    VS_MUST_CHECK;
void vs_context_leave(const struct vs_entered *entered);

/* vs_device_memory_info: total and free memory of *context*'s device for the program (limit.h),
 * without counting cached memory as free. */
enum vs_err vs_device_memory_info(const struct vs_context *context, uint64_t *free_bytes,
                                  uint64_t *total_bytes) VS_MUST_CHECK;

#endif
