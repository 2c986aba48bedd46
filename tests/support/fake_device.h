/* SPDX-License-Identifier: Apache-2.0
 *
 * A device for allocator tests: an address space with a capacity and no memory behind it. Segments
 * go to the lowest free address range, 2 MiB aligned, so that two devices with the same calls
 * return the same addresses. Events complete when the test says so. Thread-safe. */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <pthread.h>

#include "allocator/core/allocator.h"
#include "support/fake_memory.h"

#define FAKE_BASE UINT64_C(0x7f0000000000)
#define FAKE_STREAMS 16
#define FAKE_SEGMENTS_MAX 4096

struct fake_device {
    pthread_mutex_t mu;
    uint64_t capacity, used;
    struct { uint64_t addr, size; } segments[FAKE_SEGMENTS_MAX]; /* by rising address */
    size_t segment_count;
    uint64_t recorded[FAKE_STREAMS], completed[FAKE_STREAMS]; /* events per stream */
    uint64_t events_held;
    /* how often each operation was called */
    uint64_t allocs, frees, syncs, event_waits;
    uint64_t creates, maps, unmaps, pages_mapped, stream_syncs;
    /* results of the operations instead of their work; VS_OK: do the work */
    enum vs_err fail_alloc, fail_free, fail_sync, fail_record, fail_query;
    enum vs_err fail_create, fail_map, fail_unmap;
    uint64_t fail_record_stream; /* fail_record applies to this stream only; 0: to all */
    /* fail_alloc, fail_free, fail_create, fail_unmap: only from the call after this many */
    uint64_t allocs_before, frees_before, creates_before, unmaps_before;
    struct fake_memory memory;
    /* called by synchronize, unlocked, before it returns; may be NULL */
    void (*on_sync)(void *arg);
    void *on_sync_arg;
};

void fake_device_init(struct fake_device *device, uint64_t capacity);
/* Frees the host memory of its virtual memory; only tests that use it need to call this. */
void fake_device_free(struct fake_device *device);
extern const struct vs_device_ops fake_device_ops; /* ctx: struct fake_device */

/* The requested failures begin after *count* more calls of each operation. */
void fake_device_fail_after(struct fake_device *device, uint64_t count);

/* The first *count* events ever recorded on *stream* are complete from now on. */
void fake_device_complete(struct fake_device *device, uint64_t stream, uint64_t count);

#endif
