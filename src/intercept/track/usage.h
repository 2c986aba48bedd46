/* SPDX-License-Identifier: Apache-2.0
 *
 * Readings that explain a device's memory use: free memory, memory of other processes, of contexts
 * and modules, and of pools. Taken on the program's own threads beside calls that are slow anyway,
 * and rarely, so that their cost is not noticeable: a thread of our own could query the driver just
 * when the program captures, forks or exits. No reading while a stream is captured, after exit
 * began, or in the child of a fork. */
#ifndef VS_USAGE_H
#define VS_USAGE_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/context.h"
#include "trace/format/event.h"

/* The state before a call that takes device memory without an allocation. */
struct vs_usage_mark {
    bool wanted;      /* false: nothing to measure */
    bool free_known;  /* free_bytes and the counts were read before the call */
    uint32_t device;
    uint64_t free_bytes, reserved, allocations;
};

/* vs_usage_context_begins, _made: around the driver's creation of a context on *device*; *primary*:
 * it may exist already. Call with vs_thread.inside == 0. */
void vs_usage_context_begins(struct vs_usage_mark *mark, CUdevice device, bool primary);
void vs_usage_context_made(const struct vs_usage_mark *mark, CUcontext handle);

/* vs_usage_begins, _took: around a call that may take or return device memory in the current
 * context: loading or unloading a module, setting a limit. Nothing is recorded when memory was
 * allocated or freed meanwhile. Cost: two driver calls. */
void vs_usage_begins(struct vs_usage_mark *mark);
void vs_usage_took(const struct vs_usage_mark *mark, enum vs_overhead_what what);

/* vs_usage_reserved: the device's reserved bytes are *reserved* now: a reading is due at the next
 * vs_device_sample when they exceed all earlier ones by 1/32, at least 1 MiB. Cost: a load. Any
 * lock may be held. */
void vs_usage_reserved(uint32_t device, uint64_t reserved);

/* vs_usage_freed: memory of *device* was freed: take a reading if far less is reserved than at the
 * last one. Call with vs_thread.inside > 0, outside of locks. */
void vs_usage_freed(uint32_t device);

/* vs_usage_answered: the driver returned free and total memory of the current context's device to
 * the program (either may be NULL): a reading without a driver call. A program that polls is not
 * recorded each time. */
void vs_usage_answered(const struct vs_context *context, const uint64_t *free_bytes,
                       const uint64_t *total_bytes);

/* vs_usage_failed: memory of *device* was refused: read the figures that explain it now. Call with
 * vs_thread.inside > 0. */
void vs_usage_failed(uint32_t device);

/* vs_usage_pool_replace: in the first slot with *before*. NULL, *pool*: the program created a pool;
 * a pool, NULL: it is about to destroy that one. Only the first few pools are queried. */
void vs_usage_pool_replace(CUmemoryPool before, CUmemoryPool pool, uint32_t device);

#endif
