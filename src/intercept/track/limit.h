/* SPDX-License-Identifier: Apache-2.0
 *
 * The option `limit`: counts the memory that this process uses on each device and refuses driver
 * allocations beyond the limit. Bytes are counted before the allocation, so that racing threads
 * never exceed the limit together; bytes of a failed allocation are subtracted again.
 *
 * Counted are the program's allocations and the cache: their recorded size, from before the
 * driver's allocation until after its free. Not counted are managed and host memory, memory
 * imported from others, the context and modules. */
#ifndef VS_LIMIT_H
#define VS_LIMIT_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vs_limit_spec.h"
#include "intercept/track/context.h"
#include "intercept/track/tracker.h"

/* vs_limit_take: count *bytes* of *device* before they are allocated. False when they exceed its
 * limit, or the total *most* (VS_LIMIT_NONE: no other limit): nothing is counted, and the caller
 * returns out of memory. Any thread, no lock; one atomic operation. */
bool vs_limit_take(uint32_t device, uint64_t bytes, uint64_t most);

/* vs_limit_give: *bytes* that were counted are free again, or were never allocated. Call after the
 * driver's free. */
void vs_limit_give(uint32_t device, uint64_t bytes);

/* vs_limit_gone: likewise for an allocation from the tracker; does nothing for families that are
 * not counted and for allocations without a context. */
void vs_limit_gone(const struct vs_tracked *live);

/* vs_limit_device: the device to count allocations of *context* for (may be NULL: not counted). */
static inline uint32_t vs_limit_device(const struct vs_context *context)
{
    return context ? context->device : VS_DEVICES_MAX;
}

/* vs_limit_add: the driver took *bytes* more by itself, whatever the limit. */
void vs_limit_add(uint32_t device, uint64_t bytes);

/* vs_limit_of: the limit of *device* in bytes; false when it has none, or when it is a share and
 * the driver does not give the device's size. Reads the environment, also before a recording
 * begins, and queries the driver once. */
bool vs_limit_of(uint32_t device, uint64_t *bytes);

/* vs_limit_total: the memory size of *device* that the program sees; 0 when the driver does not
 * give it. */
uint64_t vs_limit_total(uint32_t device);

/* vs_limit_view: change the driver's figures for *device* to those that the program shall see;
 * *cached_bytes* of the counted bytes are cached and free. Either pointer may be NULL. */
void vs_limit_view(uint32_t device, uint64_t cached_bytes, uint64_t *free_bytes,
                   uint64_t *total_bytes);

static inline CUresult vs_limit_settle(uint32_t device, uint64_t bytes, CUresult r)
{
    if (r != CUDA_SUCCESS)
        vs_limit_give(device, bytes);
    return r;
}

/* The driver's result of *call*, which allocates *bytes* of *device*, or out of memory without a
 * call. A later free subtracts the bytes. */
#define VS_LIMITED(device, bytes, call)                                                    \
    (vs_limit_take(device, bytes, VS_LIMIT_NONE) ? vs_limit_settle(device, bytes, call) \
                                                 : CUDA_ERROR_OUT_OF_MEMORY)

#endif
