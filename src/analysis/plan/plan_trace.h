/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds a trace to a planner: the requests and frees of one device. If a framework's own allocator
 * was recorded, its requests are used, because the device's are then the framework's segments; the
 * framework does not record streams. */
#ifndef VS_PLAN_TRACE_H
#define VS_PLAN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/plan/planner.h"
#include "analysis/state/replay_totals.h"
#include "trace/read/reader.h"

#define VS_PLAN_DEVICE_ANY UINT64_MAX

struct vs_plan_trace {
    struct vs_planner *planner; /* the caller frees it with vs_planner_close */
    struct vs_plan_identity identity;
    char program[64];
    bool framework;     /* the requests are the framework's */
    struct vs_recording_state recording; /* partial: requests are missing */
    uint64_t unmatched; /* frees of memory not allocated in the trace */
};

/* vs_plan_trace_read: reads to the end. *device*: number in the trace, or VS_PLAN_DEVICE_ANY for
 * the one with the highest peak. VS_ERR_NOT_FOUND when it has no requests; VS_ERR_NOMEM;
 * VS_ERR_LIMIT. */
enum vs_err vs_plan_trace_read(struct vs_reader *reader, uint64_t device,
                               struct vs_plan_trace *out) VS_MUST_CHECK;

#endif
