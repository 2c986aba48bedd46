/* SPDX-License-Identifier: Apache-2.0
 *
 * The option `limit`: what this process holds of each device is counted, and nothing
 * is taken from the driver beyond it. Taken first and allocated then, so that threads
 * that race at the limit never pass it together; what the driver refuses is given back.
 *
 * Counted is what the program's allocations and the cache hold of a device: its size as
 * recorded, from before the driver's allocation until after its free. Not counted are
 * managed and host memory, memory imported from others, the context and modules. */
#ifndef VS_LIMIT_H
#define VS_LIMIT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/context.h"
#include "intercept/track/tracker.h"

/* vs_limit_take: count *bytes* of *device* before they are allocated. False when they
 * pass its limit: then nothing is counted and the answer is out of memory. Any thread,
 * no lock; one atomic operation. */
bool vs_limit_take(uint32_t device, uint64_t bytes);

/* vs_limit_take_within: likewise, and at most *most* bytes in all. */
bool vs_limit_take_within(uint32_t device, uint64_t bytes, uint64_t most);

/* vs_limit_give: *bytes* that were taken are free again, or were never allocated. Call
 * after the driver's free. */
void vs_limit_give(uint32_t device, uint64_t bytes);

/* vs_limit_gone: likewise for what the tracker knew; families that are not counted, and
 * what was allocated without a context, do nothing. */
void vs_limit_gone(const struct vs_tracked *live);

/* vs_limit_device: whom to count for what is allocated in *context* (may be NULL, which
 * counts for nobody). */
static inline uint32_t vs_limit_device(const struct vs_context *context)
{
    return context ? context->device : VS_DEVICES_MAX;
}

/* vs_limit_add: the driver by itself has taken *bytes* more, whatever the limit. */
void vs_limit_add(uint32_t device, uint64_t bytes);

/* vs_limit_of: the limit of *device* in bytes; false when it has none, or it is a share
 * and the driver does not say of how much. Asks the environment, also before a recording
 * begins, and the driver once. */
bool vs_limit_of(uint32_t device, uint64_t *bytes);

/* vs_limit_total: the memory of *device* as the program sees it; 0 when the driver does
 * not say. */
uint64_t vs_limit_total(uint32_t device);

/* vs_limit_view: turn what the driver says of *device* into what the program shall see;
 * *cached_bytes* of what is taken are cached and free. Either pointer may be NULL. */
void vs_limit_view(uint32_t device, uint64_t cached_bytes, uint64_t *free_bytes,
                   uint64_t *total_bytes);

static inline CUresult vs_limit_settle(uint32_t device, uint64_t bytes, CUresult r)
{
    if (r != CUDA_SUCCESS)
        vs_limit_give(device, bytes);
    return r;
}

/* The driver's answer to *call*, which allocates *bytes* of *device*, or out of memory
 * without a call. A later free gives the bytes back. */
#define VS_LIMITED(device, bytes, call)                                                    \
    (vs_limit_take(device, bytes) ? vs_limit_settle(device, bytes, call) : CUDA_ERROR_OUT_OF_MEMORY)

#endif
