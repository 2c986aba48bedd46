/* SPDX-License-Identifier: Apache-2.0
 *
 * A check for VS_REUSE_AFTER_SYNC that is independent of blocks: freed bytes not yet covered by a
 * completed synchronisation must not be reused. */
#ifndef UNSAFE_RANGES_H
#define UNSAFE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define UNSAFE_RANGES_MAX 4096

/* Zero-initialise. */
struct unsafe_ranges {
    struct { uint64_t addr, size, time; } range[UNSAFE_RANGES_MAX];
    int count;
    uint64_t time;
};

static inline void unsafe_ranges_add(struct unsafe_ranges *u, uint64_t addr, uint64_t size)
{
    if (u->count == UNSAFE_RANGES_MAX)
        return; /* tracks fewer ranges: misses errors, but reports no false ones */
    u->range[u->count].addr = addr;
    u->range[u->count].size = size;
    u->range[u->count++].time = u->time;
}

/* A synchronisation that began at *begun* has completed. */
static inline void unsafe_ranges_cover(struct unsafe_ranges *u, uint64_t begun)
{
    int kept = 0;
    for (int i = 0; i < u->count; i++) {
        if (u->range[i].time >= begun)
            u->range[kept++] = u->range[i];
    }
    u->count = kept;
}

/* The device itself makes memory safe that was freed to it. */
static inline void unsafe_ranges_forget(struct unsafe_ranges *u, uint64_t addr, uint64_t size)
{
    int kept = 0;
    for (int i = 0; i < u->count; i++) {
        if (u->range[i].addr - addr >= size)
            u->range[kept++] = u->range[i];
    }
    u->count = kept;
}

static inline bool unsafe_ranges_meet(const struct unsafe_ranges *u, uint64_t addr, uint64_t size)
{
    for (int i = 0; i < u->count; i++) {
        if (addr < u->range[i].addr + u->range[i].size && u->range[i].addr < addr + size)
            return true;
    }
    return false;
}

#endif
