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

/* A context that the program uses. Never freed, so that a late reader finds it;
 * a destroyed one is marked dead and its handle may come again as another. */
struct vs_context {
    CUcontext handle;   /* immutable after init */
    uint32_t id;        /* immutable after init; from 1 */
    uint32_t device;    /* immutable after init; ordinal */
    bool primary;       /* immutable after init */
    _Atomic bool alive;
    _Atomic bool measured;     /* overhead is known, as far as it can be */
    _Atomic uint64_t overhead; /* device bytes that have no allocation: usage.c */
    _Atomic(struct vs_allocator *) allocator; /* NULL unless caching; made on first use */
    _Atomic(struct vs_allocator *) ordered;   /* likewise, of the stream-ordered entry points */
    struct vs_context *next;
};

/* The context's allocators: 0 for cudaMalloc, 1 for the stream-ordered entry points;
 * NULL where it has none. */
#define VS_CONTEXT_ALLOCATORS 2
static inline struct vs_allocator *vs_context_allocator_at(const struct vs_context *context, int i)
{
    return atomic_load_explicit(i ? &context->ordered : &context->allocator, memory_order_acquire);
}

/* vs_context_current: the calling thread's current context, registered in the
 * trace when it is new. NULL when there is none, or after a failure of ours.
 * Call with vs_thread.inside > 0. */
struct vs_context *vs_context_current(void);

/* vs_context_handle: the calling thread's current context as the driver has it;
 * NULL when there is none. */
CUcontext vs_context_handle(void);

/* vs_context_find: by handle, alive only; NULL when unknown. */
struct vs_context *vs_context_find(CUcontext handle);

/* vs_context_next: iterate all contexts, dead ones too; NULL starts and ends. */
struct vs_context *vs_context_next(const struct vs_context *previous);

/* vs_context_gone: the program destroyed or reset it: its memory no longer
 * exists. Cached segments are dropped without touching the device, live blocks
 * are recorded as freed by *api*. */
void vs_context_gone(struct vs_context *context, const char *api);

/* vs_context_allocator: the context's caching allocator by *reuse*, created on first
 * use; NULL when that failed (then the caller forwards to the driver). */
struct vs_allocator *vs_context_allocator(struct vs_context *context, enum vs_reuse reuse);

/* vs_context_on: a context of *device* to work in: the thread's current one when it is
 * of that device, else the device's primary one, which is then retained for good. NULL
 * when there is none to have. Call with vs_thread.inside > 0. */
struct vs_context *vs_context_on(uint32_t device);

/* vs_context_device: the ordinal of any context's device, known to us or not; false
 * when the driver does not say. */
bool vs_context_device(CUcontext handle, uint32_t *device);

/* vs_device_note: *device* has memory in the trace, which then describes it, though no
 * context of it may have been used. Call with vs_thread.inside > 0. */
void vs_device_note(uint32_t device);

/* vs_device_attribute: of the driver; 0 when it has no answer. */
int vs_device_attribute(uint32_t device, CUdevice_attribute which);

/* vs_context_make_room: give cached, free segments of *device* back to the driver;
 * returns how many bytes. Call before an out-of-memory answer reaches the
 * program. */
uint64_t vs_context_make_room(uint32_t device);

/* vs_stream_id: the trace's number for a stream handle in *context*, registered
 * in the trace when it is new. *per_thread*: the _ptsz form, whose NULL is the
 * calling thread's own default stream. */
uint64_t vs_stream_id(const struct vs_context *context, CUstream stream, bool per_thread);

/* vs_stream_name: name a stream (NVTX). */
void vs_stream_name(CUstream stream, const char *name);

/* vs_device_sample: record the device's free memory, and what explains it (usage.h),
 * when the last reading is older than the option sample_ms at *now_ns* (the time of the
 * caller's event), or much more is reserved than at any. *context* is current. Costs
 * driver calls then, one load otherwise. */
void vs_device_sample(struct vs_context *context, uint64_t now_ns);

/* vs_several_contexts: the program has had more than one. Never taken back. */
extern _Atomic bool vs_several_contexts;

/* vs_peer_access: the program has let a device reach another one's memory: then work
 * on any device may use any block. Never taken back. */
extern _Atomic bool vs_peer_access;

#endif
