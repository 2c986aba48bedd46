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

/* vs_caching_alloc: serve a cuMemAlloc from the cache. True when it was decided
 * here, with the driver's code in *result*; false when the request must go to
 * the driver (cache off, capture in progress, own failure). */
bool vs_caching_alloc(struct vs_context *context, uint64_t bytes, const char *api, CUdeviceptr *ptr,
                      CUresult *result);

/* vs_caching_free: likewise for cuMemFree. False when *ptr* is not a cached
 * block's. */
bool vs_caching_free(CUdeviceptr ptr, const char *api, CUresult *result);

/* vs_caching_owns_ordered: does *ptr* lie in memory of the stream-ordered entry points? Only they
 * free it: the driver would take the segment under the other blocks. Any state of the
 * process, without a recording too. */
bool vs_caching_owns_ordered(CUdeviceptr ptr);

/* What the cache knows of an address. */
struct vs_cached_block {
    uint64_t addr, requested, size, segment;
    uint64_t serial; /* unique per allocation, never reused */
    bool live; /* false: free, waiting in the cache */
    bool mapped; /* virtual memory, which no other process can open by cuIpcOpenMemHandle */
    bool ordered; /* from the stream-ordered entry points, which tell of segments */
    unsigned marks; /* enum vs_keep_mark */
    struct vs_context *context;
};
/* vs_caching_likely_owner: the context whose caches had memory at *addr* last; NULL when
 * none did. A hint: there are fewer places to remember than addresses. */
struct vs_context *vs_caching_likely_owner(uint64_t addr);

/* vs_caching_find: also for pointers inside a block. */
bool vs_caching_find(CUdeviceptr ptr, struct vs_cached_block *block);

/* vs_caching_context_gone: the context's memory no longer exists: record its
 * blocks and segments as freed by *api* and forget them, without any device
 * call. */
void vs_caching_context_gone(struct vs_context *context, const char *api);

/* vs_caching_create: an allocator for *context*, by the options; NULL on failure. */
struct vs_allocator *vs_caching_create(struct vs_context *context, enum vs_reuse reuse);

/* vs_caching_begin: what the events of the next allocator call on this thread are
 * recorded with: the entry point's name (static text) and, for requests, the stack. */
void vs_caching_begin(const char *api, uint64_t stack);

/* vs_caching_request: likewise for a request of *bytes*: with its stack, if it is to be
 * recorded by itself. */
void vs_caching_request(const char *api, uint64_t bytes);

/* vs_caching_time: the time of the last allocation recorded on this thread. */
uint64_t vs_caching_time(void);

/* vs_caching_cached_bytes: what the allocators of *device* hold free: the driver counts
 * it as used, the program should not. */
uint64_t vs_caching_cached_bytes(uint32_t device);

#endif
