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

/* vs_device_usage_overhead: an `overhead` event. VS_ERR_NOMEM. */
void vs_device_usage_overhead(struct vs_device_usage *usage, const struct vs_event *event);

/* vs_device_usage_context: a `context` event: it was created, or destroyed with all its memory.
 * VS_ERR_NOMEM. */
void vs_device_usage_context(struct vs_device_usage *usage, const struct vs_event *event);

void vs_device_usage_free(struct vs_device_usage *usage);

#endif
