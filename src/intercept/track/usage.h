/* SPDX-License-Identifier: Apache-2.0
 *
 * Readings that explain what a device's memory is used for: how much is free, what
 * other processes hold, what contexts and modules took, what pools keep. Taken on the
 * program's own threads beside calls that are slow by themselves, seldom enough not to
 * be felt: a thread of our own that asks the driver could be asking when the program
 * captures, forks or ends. None while a stream is captured, after exit began, or in
 * the child of a fork. */
#ifndef VS_USAGE_H
#define VS_USAGE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/context.h"
#include "trace/format/event.h"

/* What was so before something that takes device memory without an allocation. */
struct vs_usage_mark {
    bool wanted;      /* false: nothing is to be measured */
    bool free_known;  /* free_bytes and the counts are of before */
    uint32_t device;
    uint64_t free_bytes, reserved, allocations;
};

/* vs_usage_context_begins, _made: around the driver's making of a context on *device*;
 * *primary*: it may exist already. Call outside of our own work. */
void vs_usage_context_begins(struct vs_usage_mark *mark, CUdevice device, bool primary);
void vs_usage_context_made(const struct vs_usage_mark *mark, CUcontext handle);

/* vs_usage_begins, _took: around a call that may take or give back device memory in the
 * current context: a module's loading or unloading, a limit. Nothing is recorded when
 * memory was allocated or freed meanwhile. Cost: two driver calls. */
void vs_usage_begins(struct vs_usage_mark *mark);
void vs_usage_took(const struct vs_usage_mark *mark, enum vs_overhead_what what);

/* vs_usage_reserved: the device's reserved bytes are *reserved* now: a reading is due at
 * the next vs_device_sample when they passed all earlier ones by a good part. Cost: a
 * load. Any lock may be held. */
void vs_usage_reserved(uint32_t device, uint64_t reserved);

/* vs_usage_freed: memory of *device* was freed: a reading, when far less is reserved than
 * at the last one. Call with vs_thread.inside > 0, outside of locks. */
void vs_usage_freed(uint32_t device);

/* vs_usage_answered: the driver told the program what is free and in all (either may be
 * NULL) of the current context's device: a reading for nothing. A program that polls
 * is not recorded each time. */
void vs_usage_answered(const struct vs_context *context, const uint64_t *free_bytes,
                       const uint64_t *total_bytes);

/* vs_usage_failed: an allocation failed for want of memory: what explains it is read
 * now. *context* is current. */
void vs_usage_failed(const struct vs_context *context);

/* vs_usage_pool_made, _gone: the program made a pool of its own; it is about to destroy
 * it. More than a few are not asked. */
void vs_usage_pool_made(CUmemoryPool pool, uint32_t device);
void vs_usage_pool_gone(CUmemoryPool pool);

#endif
