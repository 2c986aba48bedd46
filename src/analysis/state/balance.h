/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the memory of a device is at one moment: parts that add up, to the byte, to what
 * the device says is in use. What no part explains is a part itself, and may be below 0
 * where something is counted twice. Plain data, owned by the report that holds it. */
#ifndef VS_BALANCE_H
#define VS_BALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/event.h"

#define VS_BALANCE_PROCESSES 4

struct vs_balance_process {
    uint64_t pid, bytes;
};

/* Live allocations by who called for them. */
struct vs_balance_library {
    const char *name; /* "NCCL", "PyTorch", "the program", "libfoo.so", "unknown" */
    bool framework;   /* PyTorch: its own allocator is above what it takes */
    uint64_t bytes, count;
};

struct vs_balance {
    bool known;        /* the device said what was free; else only our parts are set */
    uint64_t event;    /* 1-based index of the reading in the trace; 0 = there is none */
    uint64_t time_ns;  /* since the process started */
    const char *place; /* "step 3 / backward"; "" outside any range */
    uint64_t total, free, used; /* of the device */

    /* The parts of used. Live bytes by family; managed memory is apart, as what of it is
     * on the device is not known; imported memory is another process's. */
    uint64_t live[VS_FAMILY_COUNT];
    uint64_t cached;        /* held by the caching allocator, in no block */
    uint64_t pools;         /* reserved by stream-ordered pools beyond live blocks */
    uint64_t graphs;        /* kept for graphs beyond live allocations */
    uint64_t rounding;      /* to the driver's pages of 2 MiB, worked out from addresses */
    bool rounding_partial;  /* of allocations with events alone; the others' is in unexplained */
    uint64_t contexts;      /* came with contexts */
    int64_t modules;        /* grew when modules were loaded */
    int64_t limits;         /* grew when a stack or heap limit was set */
    uint64_t managed;       /* of managed_live, what may be here: as much of the rest as it is */
    uint64_t others;        /* other processes */
    int64_t unexplained;

    /* about the parts */
    uint64_t context_count, contexts_unmeasured;
    unsigned contexts_how;  /* enum vs_overhead_how: the least certain of them */
    uint64_t managed_live, imported;
    uint64_t small_arrays, small_array_bytes; /* below 1 MiB: they share the driver's pages */
    bool pools_known;       /* false with live async memory: what pools reserve was not read */
    bool others_known;      /* false: no NVML, or it could not tell this process apart */
    unsigned others_how;    /* enum vs_usage_how */
    uint64_t others_count;
    struct vs_balance_process process[VS_BALANCE_PROCESSES]; /* largest first */
    size_t process_count;
    bool own_known;         /* the device told what this process holds, all in all */
    uint64_t own;
    uint64_t framework_allocated; /* the framework's own count */
    const struct vs_balance_library *libraries; /* heaviest first; sum = all live, managed too */
    size_t library_count;
    uint64_t outside_framework; /* live bytes that did not come from the framework; 0 without one */
};

/* vs_balance_allocated: all that is live, managed memory included. */
static inline uint64_t vs_balance_allocated(const struct vs_balance *balance)
{
    uint64_t sum = balance->managed_live;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        sum += balance->live[f];
    return sum;
}

/* vs_balance_parts: the sum of all parts: equal to used. */
static inline uint64_t vs_balance_parts(const struct vs_balance *b)
{
    uint64_t sum = b->cached + b->pools + b->graphs + b->rounding + b->contexts + b->managed +
                   b->others;
    for (int f = 0; f < VS_FAMILY_COUNT; f++)
        sum += b->live[f];
    return sum + (uint64_t)b->modules + (uint64_t)b->limits + (uint64_t)b->unexplained;
}

#endif
