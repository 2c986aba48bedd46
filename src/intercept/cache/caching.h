/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator on a real device: its device operations over the driver,
 * and its events into the trace. One instance per context and kind of reuse. */
#ifndef VS_CACHING_H
#define VS_CACHING_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/track/context.h"

/* vs_caching_alloc: serves a cuMemAlloc from the cache. Returns true if it was decided here, with
 * the driver's code in *result*; false if the request must go to the driver (cache off, capture in
 * progress, own failure). */
bool vs_caching_alloc(struct vs_context *context, uint64_t bytes, const char *api, CUdeviceptr *ptr,
                      CUresult *result);

/* vs_caching_free: the same for cuMemFree. Returns false if *ptr* is not a cached block. */
bool vs_caching_free(CUdeviceptr ptr, const char *api, CUresult *result);

/* vs_caching_owns_ordered: is *ptr* in memory of the stream-ordered entry points? Only they free
 * it: the driver would free the whole segment with other blocks in it. In any state of the process,
 * also without a recording. */
bool vs_caching_owns_ordered(CUdeviceptr ptr);

/* The state of an address in the cache. */
struct vs_cached_block {
    uint64_t addr, requested, size, segment;
    uint64_t serial; /* unique per allocation, never reused */
    bool live; /* false: free, waiting in the cache */
    bool mapped; /* virtual memory, which no other process can open by cuIpcOpenMemHandle */
    bool ordered; /* from the stream-ordered entry points, which expose segments */
    unsigned marks; /* enum vs_keep_mark */
    struct vs_context *context;
};
/* vs_caching_likely_owner: the context whose caches last had memory at *addr*; NULL if none did. A
 * hint: the table has fewer slots than there are addresses. */
struct vs_context *vs_caching_likely_owner(uint64_t addr);

/* vs_caching_find: also for pointers inside a block. */
bool vs_caching_find(CUdeviceptr ptr, struct vs_cached_block *block);

/* vs_caching_forbids_free: for a free that the cache would serve during a capture: does the driver
 * forbid it to this thread? Then its error is in *result*, and the capture is invalidated, as
 * without us. Called with vs_thread.inside > 0. */
bool vs_caching_forbids_free(CUdeviceptr ptr, CUresult *result);

/* vs_caching_context_gone: the context's memory no longer exists: records its blocks and segments
 * as freed by *api* and removes them, without any device call. */
void vs_caching_context_gone(struct vs_context *context, const char *api);

/* vs_caching_create: creates an allocator for *context*, by the options; NULL on failure. */
struct vs_allocator *vs_caching_create(struct vs_context *context, enum vs_reuse reuse);

/* vs_caching_allocator: the context's caching allocator for *reuse*, created on first use; NULL
 * when that failed (the caller then forwards to the driver). */
struct vs_allocator *vs_caching_allocator(struct vs_context *context, enum vs_reuse reuse);

/* Attributes of the call that an allocator's events belong to. */
struct vs_caching_call {
    const char *api;  /* the entry point's name, static text */
    uint64_t stack;   /* of a request that gets an event of its own, and its segments */
    bool selected;    /* it gets one */
    uint8_t holding;  /* of a request: enum vs_holding (track/holding.h) */
    uint64_t time_ns; /* of the allocation, once it is recorded */
};

/* vs_caching_request: for a request of *bytes*: with its stack, if it is to be recorded by
 * itself. */
struct vs_caching_call vs_caching_request(const char *api, uint64_t bytes);

/* vs_caching_cached_bytes: free bytes in the allocators of *device*: the driver counts them as
 * used, the program should not. */
uint64_t vs_caching_cached_bytes(uint32_t device);

/* --- for caching.c: events of the allocator (caching_events.c) --- */

/* For vs_allocator_create, with the struct vs_context as its argument. */
extern const struct vs_event_sink vs_caching_sink;

/* vs_caching_segment: *e* concerns a segment, whatever its own kind. *e->requested*: the bytes
 * allocated from the device, or released to it. */
void vs_caching_segment(struct vs_context *context, const struct vs_allocator_event *e,
                        enum vs_allocator_event_kind kind);

/* --- addresses for which the driver's answer is wrong for the program: cached memory, and blocks of
 * other processes that lie inside an allocation opened here --- */

/* vs_known_cached: finds the live block of *ptr*, if that is cached memory. A pointer past the
 * requested bytes is in no live block. Do not call with vs_thread.inside > 0. Takes the allocators'
 * locks. */
bool vs_known_cached(CUdeviceptr ptr, struct vs_cached_block *block);

/* vs_known_block: likewise, also for opened blocks, which have no context and are live. */
bool vs_known_block(CUdeviceptr ptr, struct vs_cached_block *block);

/* vs_end_wait: where kernels and copies are recorded, waits for the devices on which memory was freed into a
 * cache without a later synchronisation, at most 5 s: work that the program started after its last cudaFree
 * may never end. If it was not possible to wait until the end, the trace has a note. A second caller does not
 * wait. Does nothing during a capture. No thread is started, and no lock of an allocator is waited for
 * longer than 0.1 s: another thread may hold it in a call that never returns. */
void vs_end_wait(void);

#endif
