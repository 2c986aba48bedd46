/* SPDX-License-Identifier: Apache-2.0
 *
 * The device memory of a recorded run that is not replayed: the program's other allocations, its
 * stream-ordered pools, memory of graphs, and what is outside the program. Fed with the same events
 * as the log; each level that changed becomes an entry. Internal to this folder. */
#ifndef VS_RECORDED_MEMORY_H
#define VS_RECORDED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/state/driver_pages.h"
#include "analysis/whatif/request_store.h"
#include "base/vs_map.h"
#include "trace/format/event.h"

/* Zero-initialise. */
struct vs_recorded_memory {
    uint64_t total;      /* bytes of the device; 0: unknown */
    uint64_t other;      /* not replayed, counted by the option limit; as requested */
    uint64_t other_pages, other_small; /* of it: pages of large allocations; small ones, which share pages */
    uint64_t managed;    /* not replayed; counted by the report only: its place is unknown */
    uint64_t graph_live, graph_driver;
    uint64_t pool_live, pool_row; /* pool_row: reserved, as last reported */
    uint64_t segments;   /* of vramscope's cache */
    struct vs_map pages; /* shared driver pages: number + 1 -> allocations that touch it */
    uint64_t page_bytes; /* driver pages of cudaMalloc memory outside segments */
    uint64_t mapped;     /* physical memory of cuMemCreate, and arrays */
    uint64_t direct;     /* bytes of the replayed requests without a segment */
    uint64_t others_row; /* memory of other processes, as last reported */
    bool others_known;
    uint64_t outside, others;
    uint64_t other_peak, outside_peak, contexts_peak, others_peak, pool_kept_peak;
    /* the levels of the last entries */
    uint64_t said[VS_REQUEST_POOL_HELD + 1]; /* by enum vs_request_kind */
};

/* What a driver allocation is to the log. */
enum vs_recorded_role {
    VS_ROLE_REQUEST, /* one of the requests */
    VS_ROLE_SEGMENT, /* holds requests of a framework */
    VS_ROLE_OTHER,
};

/* vs_recorded_change: a driver allocation, or a block of vramscope's cache (*addr* 0: it has no
 * pages of its own), that was allocated (*add*), or freed: *role* as when it was added, or last set
 * by vs_recorded_role. */
void vs_recorded_change(struct vs_recorded_memory *memory, enum vs_family family, uint64_t addr,
                        uint64_t bytes, enum vs_recorded_role role, bool add);
/* vs_recorded_role: it has another role than assumed. */
void vs_recorded_role(struct vs_recorded_memory *memory, enum vs_family family, uint64_t bytes,
                      enum vs_recorded_role from, enum vs_recorded_role to);

/* vs_recorded_reading: *free_bytes* of *total_bytes* of the device were free. */
void vs_recorded_reading(struct vs_recorded_memory *memory, uint64_t free_bytes,
                         uint64_t total_bytes);
void vs_recorded_usage(struct vs_recorded_memory *memory, const struct vs_event *event);

/* vs_recorded_held: as the report counts `reserved`, with *serving* bytes for the requests. */
uint64_t vs_recorded_held(const struct vs_recorded_memory *memory, uint64_t serving);

/* vs_recorded_used: bytes of the device in use, as far as known. */
uint64_t vs_recorded_used(const struct vs_recorded_memory *memory);

/* vs_recorded_say: adds an entry for each level that changed. */
void vs_recorded_say(struct vs_recorded_memory *memory, struct vs_request_store *store,
                     uint64_t event);

void vs_recorded_memory_free(struct vs_recorded_memory *memory);

#endif
