/* SPDX-License-Identifier: Apache-2.0
 *
 * The virtual memory of a fake device: address ranges, physical memory by handle, and the mappings
 * of handles. Strict: refuses anything that a driver would refuse or leave undefined. Not
 * thread-safe by itself: fake_device.c holds its lock. Address ranges are never reused, so that a
 * stale address is detected. */
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vs_err.h"

#define FAKE_RANGE_BASE UINT64_C(0x600000000000)

struct fake_mapping {
    uint64_t addr, bytes, handle;
};

struct fake_range {
    uint64_t addr, bytes;
};

struct fake_handle {
    uint64_t bytes;    /* 0: gone */
    uint64_t mappings; /* of it */
    bool held;         /* not released yet */
};

/* Zero-initialise. */
struct fake_memory {
    struct fake_mapping *mappings; /* by rising address */
    size_t mapping_count, mapping_max;
    struct fake_range *ranges; /* by rising address */
    size_t range_count, range_max;
    struct fake_handle *handles; /* handle n is element n - 1 */
    size_t handle_count, handle_max;
    uint64_t next_range; /* bytes of address space used so far */
    bool falling;        /* each range lies below those before it; otherwise above */
};

enum vs_err fake_memory_reserve(struct fake_memory *memory, uint64_t bytes, uint64_t *addr);
enum vs_err fake_memory_unreserve(struct fake_memory *memory, uint64_t addr, uint64_t bytes);
enum vs_err fake_memory_create(struct fake_memory *memory, uint64_t bytes, uint64_t *handle);
/* *returned*: bytes that the device gets back. */
enum vs_err fake_memory_release(struct fake_memory *memory, uint64_t handle, uint64_t bytes,
                                uint64_t *returned);
enum vs_err fake_memory_map(struct fake_memory *memory, uint64_t addr, uint64_t bytes_each,
                            const uint64_t *handles, size_t count);
enum vs_err fake_memory_unmap(struct fake_memory *memory, uint64_t addr, uint64_t bytes,
                              uint64_t *returned);
/* The handle mapped at *addr* and the offset in it; false: nothing is mapped. */
bool fake_memory_at(const struct fake_memory *memory, uint64_t addr, uint64_t *handle,
                    uint64_t *offset);
void fake_memory_free_all(struct fake_memory *memory);

#endif
