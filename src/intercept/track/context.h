/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices, contexts and streams as the trace numbers them, the figures of each
 * device, and each context's caching allocator. */
#ifndef VS_CONTEXT_H
#define VS_CONTEXT_H

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "allocator/core/allocator.h"
#include "base/vs_err.h"

#define VS_DEVICES_MAX 64

/* A context that the program uses. Never freed, so that a late reader finds it; a destroyed one is
 * marked dead, and the driver may reuse its handle. */
struct vs_context {
    CUcontext handle;   /* immutable after init */
    uint32_t id;        /* immutable after init; from 1 */
    uint32_t device;    /* immutable after init; ordinal */
    bool primary;       /* immutable after init */
    _Atomic bool alive;
    _Atomic bool measured;     /* overhead is set, as far as it can be measured */
    _Atomic uint64_t overhead; /* device bytes that belong to no allocation: usage.c */
    _Atomic(struct vs_allocator *) allocator; /* NULL unless caching; created on first use */
    _Atomic(struct vs_allocator *) ordered;   /* likewise, for the stream-ordered entry points */
    struct vs_context *next;
};

/* The context's allocators: 0 for cudaMalloc, 1 for the stream-ordered entry points; NULL if it has
 * none. */
#define VS_CONTEXT_ALLOCATORS 2
static inline struct vs_allocator *vs_context_allocator_at(const struct vs_context *context, int i)
{
    return atomic_load_explicit(i ? &context->ordered : &context->allocator, memory_order_acquire);
}

/* vs_allocator_next: iterates the allocators of *device*; *context* and *i* start as NULL and 0. */
struct vs_allocator *vs_allocator_next(uint32_t device, struct vs_context **context, int *i);

/* vs_context_current: the calling thread's current context, registered in the trace if new. NULL
 * when there is none, or after an internal failure. Call with vs_thread.inside > 0. */
struct vs_context *vs_context_current(void);

/* vs_context_handle: the driver's handle of the calling thread's current context; NULL when there
 * is none. */
CUcontext vs_context_handle(void);

/* vs_context_find: by handle, alive only; NULL when unknown. */
struct vs_context *vs_context_find(CUcontext handle);

/* vs_context_next: iterate all contexts, dead ones too; NULL starts and ends. */
struct vs_context *vs_context_next(const struct vs_context *previous);

/* vs_context_alive_on: a context of *device* that is not destroyed; NULL if none is known. */
struct vs_context *vs_context_alive_on(uint32_t device);

/* vs_context_gone: the program destroyed or reset the context, so its memory no longer exists.
 * Drops cached segments without touching the device and records live blocks as freed by *api*. */
void vs_context_gone(struct vs_context *context, const char *api);

/* vs_context_on: a context of *device* to work in: the thread's current one if it belongs to that
 * device, else the device's primary one, which is then retained for good. NULL when neither is
 * available. Call with vs_thread.inside > 0. */
struct vs_context *vs_context_on(uint32_t device);

/* vs_context_device: the device ordinal of any context, registered or not; false when the driver
 * does not say. */
bool vs_context_device(CUcontext handle, uint32_t *device);

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

/* vs_device_note: *device* has memory in the trace: record its description, even if none of its
 * contexts was used. Call with vs_thread.inside > 0. */
void vs_device_note(uint32_t device);

/* vs_primary_active: does the primary context of *device* exist? True if the driver does not say. */
bool vs_primary_active(CUdevice device);

/* vs_device_attribute: a driver attribute; 0 when the driver does not provide it. */
int vs_device_attribute(uint32_t device, CUdevice_attribute which);

/* vs_stream_id: the trace's number for a stream handle in *context*, registered in the trace if
 * new. *per_thread*: the _ptsz form, whose NULL is the calling thread's own default stream. */
uint64_t vs_stream_id(const struct vs_context *context, CUstream stream, bool per_thread);

/* vs_stream_name: name a stream (NVTX). */
void vs_stream_name(CUstream stream, const char *name);

/* vs_device_sample: record the device's free memory and the figures that explain it (usage.h), when
 * the last reading is older than the option sample_ms at *now_ns* (the time of the caller's event),
 * or when much more is reserved than at any earlier reading. *context* is current. Costs driver
 * calls then, otherwise one load. */
void vs_device_sample(struct vs_context *context, uint64_t now_ns);

/* vs_several_contexts: the program has had more than one context. Never reset. */
extern _Atomic bool vs_several_contexts;

/* vs_peer_access: the program enabled peer access between devices, so work on any device may use
 * any block. Never reset. */
extern _Atomic bool vs_peer_access;

#endif
