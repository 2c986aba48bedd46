/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory use of a device at one time: parts that add up, to the byte, to the used bytes that the
 * device reports. The unexplained rest is a part itself, and may be below 0 if something is counted
 * twice. Plain data, owned by the report that holds it. */
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

/* Live allocations by calling library. */
struct vs_balance_library {
    const char *name; /* "NCCL", "PyTorch", "the program", "libfoo.so", "unknown" */
    bool framework;   /* PyTorch: its own allocator serves tensors from these allocations */
    uint64_t bytes, count;
};

struct vs_balance {
    bool known;        /* the device reported its free memory; else only our parts are set */
    uint64_t event;    /* 1-based index of the reading in the trace; 0 = there is none */
    uint64_t time_ns;  /* since the process started */
    const char *place; /* "step 3 / backward"; "" outside any range */
    uint64_t total, free, used; /* of the device */

    /* The parts of used. Live bytes by family; managed memory is separate, because its share on the
     * device is unknown; imported memory belongs to another process. */
    uint64_t live[VS_FAMILY_COUNT];
    uint64_t cached;        /* held by the caching allocator, in no block */
    uint64_t pools;         /* reserved by stream-ordered pools beyond live blocks */
    uint64_t graphs;        /* kept by the driver for graphs beyond live allocations */
    uint64_t rounding;      /* to the driver's pages of 2 MiB, computed from addresses */
    /* covers only allocations with events; the rounding of others is in unexplained */
    bool rounding_partial;
    uint64_t contexts;      /* taken when contexts were created */
    int64_t modules;        /* growth when modules were loaded */
    int64_t limits;         /* growth when a stack or heap limit was set */
    /* the part of managed_live that may be on the device: at most the rest */
    uint64_t managed;
    uint64_t others;        /* other processes */
    int64_t unexplained;

    /* details of the parts */
    uint64_t context_count, contexts_unmeasured;
    unsigned contexts_how;  /* enum vs_overhead_how: the least certain of them */
    uint64_t managed_live, imported;
    uint64_t small_arrays, small_array_bytes; /* below 1 MiB: they share the driver's pages */
    /* false with live async memory: the pools' reserved bytes were not read */
    bool pools_known;
    bool others_known;      /* false: no NVML, or it could not identify this process */
    unsigned others_how;    /* enum vs_usage_how */
    uint64_t others_count;
    struct vs_balance_process process[VS_BALANCE_PROCESSES]; /* largest first */
    size_t process_count;
    bool own_known;         /* the device reported the total of this process */
    uint64_t own;
    uint64_t framework_allocated; /* the framework's own count */
    /* largest first; sum = all live memory, managed included */
    const struct vs_balance_library *libraries;
    size_t library_count;
    uint64_t outside_framework; /* live bytes not allocated by the framework; 0 without one */
};

/* vs_balance_allocated: all live bytes, managed memory included. */
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
