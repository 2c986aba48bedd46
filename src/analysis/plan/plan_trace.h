/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace, told to a planner: the requests and frees of one device. Where a
 * framework's own allocator was recorded its requests count, for the device's are
 * then the framework's segments; it does not say on which stream. */
#ifndef VS_PLAN_TRACE_H
#define VS_PLAN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/plan/planner.h"
#include "analysis/state/replay_totals.h"
#include "trace/read/reader.h"

#define VS_PLAN_DEVICE_ANY UINT64_MAX

struct vs_plan_trace {
    struct vs_planner *planner; /* vs_planner_close it */
    struct vs_plan_identity identity;
    char program[64];
    bool framework;     /* the requests are the framework's */
    struct vs_recording_state recording; /* partial: requests are missing */
    uint64_t unmatched; /* frees of what was not allocated in the trace */
};

/* vs_plan_trace_read: read to the end. *device*: as the trace numbers them, or
 * VS_PLAN_DEVICE_ANY for the one with most memory alive at once. VS_ERR_NOT_FOUND when
 * nothing was asked for there; VS_ERR_NOMEM; VS_ERR_LIMIT. */
enum vs_err vs_plan_trace_read(struct vs_reader *reader, uint64_t device,
                               struct vs_plan_trace *out) VS_MUST_CHECK;

#endif
