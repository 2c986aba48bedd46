/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator's view of a real device: its operations over the driver, in the
 * context that an allocator serves. The calls are ours, not the program's: they go
 * to the driver directly and are recorded by nobody. */
#ifndef VS_DEVICE_OPS_H
#define VS_DEVICE_OPS_H

#include <cuda.h>
#include <stdbool.h>

#include "allocator/core/allocator.h"
#include "intercept/track/context.h"

/* vs_device_ops_fill: operations for an allocator that serves *context*, which is
 * their ctx argument. Virtual memory is among them where the device has it; events
 * and streams for VS_REUSE_STREAM_ORDERED. */
void vs_device_ops_fill(const struct vs_context *context, enum vs_reuse reuse,
                        struct vs_device_ops *out);

/* vs_err_of_driver: what a driver's code means to the allocator. */
enum vs_err vs_err_of_driver(CUresult result);

/* vs_context_enter, _leave: make *context* current on this thread, where another one
 * or none may be, and undo it. VS_ERR_DEVICE when the driver refuses; then nothing is
 * to be undone. */
struct vs_entered {
    bool pushed;
};
enum vs_err vs_context_enter(const struct vs_context *context, struct vs_entered *entered)
    VS_MUST_CHECK;
void vs_context_leave(const struct vs_entered *entered);

/* vs_device_memory_info: what the device of *context* has and has free, as the
 * program shall see it (limit.h), nothing of the cache counted as free. */
enum vs_err vs_device_memory_info(const struct vs_context *context, uint64_t *free_bytes,
                                  uint64_t *total_bytes) VS_MUST_CHECK;

#endif
