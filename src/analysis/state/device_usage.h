/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory in a trace besides allocations, at the present time of a replay: the latest reading
 * of free memory, the memory of other processes, of each context, and of pools. Part of an account
 * of the replay. Not thread-safe. */
#ifndef VS_DEVICE_USAGE_H
#define VS_DEVICE_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/state/balance.h"
#include "base/vs_err.h"
#include "ledger/ledger.h"
#include "trace/format/event.h"

/* A living context. */
struct vs_usage_context {
    uint64_t context;
    bool measured;
    unsigned how; /* enum vs_overhead_how */
    int64_t bytes[VS_OVERHEAD_WHAT_COUNT];
};

/* Zero-initialise. */
struct vs_device_usage {
    uint64_t own, pools, others, others_count;
    bool own_known, pools_known, others_seen;
    unsigned others_how;
    struct vs_balance_process process[VS_BALANCE_PROCESSES];
    size_t process_count;
    uint64_t graphs;
    bool graphs_known;
    struct vs_usage_context *contexts;
    size_t context_count, context_capacity;
    uint64_t overhead; /* sum of their bytes */
    bool at_most;      /* of one of them only an upper bound is known */
};

/* vs_device_usage_row: a `device_usage` event. */
void vs_device_usage_row(struct vs_device_usage *usage, const struct vs_event *event);

/* vs_device_usage_overhead: an `overhead` event. */
void vs_device_usage_overhead(struct vs_device_usage *usage, const struct vs_event *event);

/* vs_device_usage_context: a `context` event: it was created, or destroyed with all its memory. */
void vs_device_usage_context(struct vs_device_usage *usage, const struct vs_event *event);

void vs_device_usage_free(struct vs_device_usage *usage);

/* --- device memory in use between two readings of free memory ---
 *
 * A reading shows one point in time, so memory that was allocated and freed between two of them is in none.
 * Known: the reading + memory of cudaMalloc, arrays, VMM, graphs, contexts and modules since + live
 * memory of stream-ordered pools beyond what the pools held at the reading. Possible: the same with
 * managed memory, which may be on the host or on the device, and with pools that could not reuse their
 * cached memory. Other processes count as at the reading. Less than a page of the driver beyond
 * a reading does not count: it may be in a page that another allocation has begun. */

/* Zero-initialise: no reading yet. */
struct vs_between_readings {
    bool read;            /* there was a reading; of it: */
    uint64_t used;        /* bytes in use on the device */
    uint64_t fixed;       /* of them, allocations that stay where they are, and overheads */
    uint64_t async, pools; /* live stream-ordered memory; what its pools held */
    uint64_t managed;     /* of live managed memory, what may have been on the device */
    uint64_t async_high;  /* highest live stream-ordered memory since */
    uint64_t graphs_high; /* the driver's own highest figure of memory for graphs, of the whole trace */
};

/* Bytes in use on the device at one time. */
struct vs_between_use {
    uint64_t known, possible;
};

/* vs_between_read: a reading: *used* bytes are in use on the device with these sums. */
void vs_between_read(struct vs_between_readings *since, uint64_t used, const struct vs_levels *now,
                     const struct vs_device_usage *usage);

/* vs_between_now: the bytes in use with the sums *now*, of which *graphs* more were held for graphs for a
 * time. 0 before the first reading. */
struct vs_between_use vs_between_now(struct vs_between_readings *since, const struct vs_levels *now,
                                     const struct vs_device_usage *usage, uint64_t graphs);

#endif
