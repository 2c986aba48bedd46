/* SPDX-License-Identifier: Apache-2.0
 *
 * A change of the memory of a device or of the host: the families of memory, the levels that
 * allocate it, the rules about them, and one change. The values of the enumerations are in the
 * trace file (docs/internals/trace-format.md). */
#ifndef VS_CHANGE_H
#define VS_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

/* Families of memory; the values are in the file. */
enum vs_family {
    VS_FAMILY_DEVICE = 0,  /* cuMemAlloc, cudaMalloc, pitched */
    VS_FAMILY_ASYNC = 1,   /* stream-ordered pools */
    VS_FAMILY_MANAGED = 2,
    VS_FAMILY_PINNED = 3,  /* host memory; never counted as device memory */
    VS_FAMILY_ARRAY = 4,
    VS_FAMILY_VMM = 5,
    VS_FAMILY_IPC = 6,     /* another process's memory mapped here; not counted */
    VS_FAMILY_GRAPH = 7,
    VS_FAMILY_REGISTERED = 8, /* the program's own host memory, registered */
    VS_FAMILY_COUNT
};

/* The level that allocated the memory; the values are in the file. */
enum vs_level {
    VS_LEVEL_DEVICE = 0,    /* memory of the driver, or host memory */
    VS_LEVEL_BLOCK = 1,     /* blocks in segments of the caching allocator */
    VS_LEVEL_FRAMEWORK = 2, /* blocks of a framework's own allocator */
    /* the segments themselves, and memory that the driver holds for graphs */
    VS_LEVEL_SEGMENT = 3,
    VS_LEVEL_COUNT
};

/* vs_family_on_host: its bytes are host memory. */
static inline bool vs_family_on_host(uint64_t family)
{
    return family == VS_FAMILY_PINNED || family == VS_FAMILY_REGISTERED;
}

/* vs_family_on_device: its bytes are this process's part of a device. */
static inline bool vs_family_on_device(uint64_t family)
{
    return family < VS_FAMILY_COUNT && !vs_family_on_host(family) && family != VS_FAMILY_IPC;
}

/* vs_family_ends_with_context: its memory is freed when its context is destroyed. Stream-ordered
 * pools belong to the device, registered memory to the program. */
static inline bool vs_family_ends_with_context(uint64_t family)
{
    return family != VS_FAMILY_ASYNC && family != VS_FAMILY_REGISTERED;
}

/* vs_family_is_limited: each of its allocations counts against the option `limit`: neither memory
 * that the driver may move to the host nor the total that it holds for graphs. */
static inline bool vs_family_is_limited(uint64_t family)
{
    return vs_family_on_device(family) && family != VS_FAMILY_MANAGED &&
           family != VS_FAMILY_GRAPH;
}

/* One or more allocations and frees. One allocation: allocs 1, requested, size; its free: frees 1
 * and the other two. A segment: likewise, with *reserved*. Several changes: the sums. */
struct vs_change {
    enum vs_level level;
    enum vs_family family;
    uint32_t device;
    bool summed; /* several changes: *reserved* is their sum, and the sums in between are unknown */
    bool lost;   /* frees: caused by the end of the context, not by the program */
    /* memory of a device that holds a framework's blocks; the same for an allocation and its free */
    bool holds;
    uint64_t allocs, requested, size;
    uint64_t frees, freed_requested, freed_size;
    /* change of the bytes held from the device; computed for a single change of another level than
     * SEGMENT */
    int64_t reserved;
    /* level SEGMENT of family GRAPH: bytes that the driver now holds for graphs */
    uint64_t held;
};

static inline struct vs_change vs_change_alloc(enum vs_level level, enum vs_family family,
                                               uint32_t device, uint64_t requested, uint64_t size)
{
    return (struct vs_change){.level = level,
                              .family = family,
                              .device = device,
                              .allocs = 1,
                              .requested = requested,
                              .size = size};
}

static inline struct vs_change vs_change_free(enum vs_level level, enum vs_family family,
                                              uint32_t device, uint64_t requested, uint64_t size)
{
    return (struct vs_change){.level = level,
                              .family = family,
                              .device = device,
                              .frees = 1,
                              .freed_requested = requested,
                              .freed_size = size};
}

/* vs_change_segment: an allocator now holds (*added*) or has returned *bytes* of a device. 0:
 * memory that another segment holds as well. */
static inline struct vs_change vs_change_segment(uint32_t device, bool added, uint64_t bytes)
{
    struct vs_change change = {.level = VS_LEVEL_SEGMENT,
                               .family = VS_FAMILY_DEVICE,
                               .device = device,
                               .allocs = added,
                               .frees = !added,
                               .reserved = (int64_t)(added ? bytes : 0 - bytes)};
    *(added ? &change.size : &change.freed_size) = bytes;
    return change;
}

/* vs_change_graphs: the driver now holds *bytes* for graphs. */
static inline struct vs_change vs_change_graphs(uint32_t device, uint64_t bytes)
{
    return (struct vs_change){.level = VS_LEVEL_SEGMENT,
                              .family = VS_FAMILY_GRAPH,
                              .device = device,
                              .held = bytes};
}

#endif
