/* SPDX-License-Identifier: Apache-2.0
 *
 * From a trace to a planner: the requests and frees of one device, as in a what-if
 * (analysis/whatif): those of a framework's own allocator if it was recorded, because the device's
 * are then the framework's segments. */
#ifndef VS_PLAN_TRACE_H
#define VS_PLAN_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/plan/planner.h"
#include "analysis/whatif/whatif.h"
#include "trace/read/reader.h"

#define VS_PLAN_DEVICE_ANY VS_WHATIF_DEVICE_ANY

struct vs_plan_trace {
    struct vs_planner *planner; /* the caller frees both, with vs_planner_close */
    struct vs_whatif_log *log;  /* and vs_whatif_close */
    struct vs_plan_identity identity; /* its program is in the log */
};

/* vs_plan_trace_read: reads to the end. *device*: number in the trace, or VS_PLAN_DEVICE_ANY for
 * the one with the most memory in use. Errors of vs_whatif_open and vs_planner_alloc; then nothing
 * is open. */
enum vs_err vs_plan_trace_read(struct vs_reader *reader, uint64_t device,
                               struct vs_plan_trace *out) VS_MUST_CHECK;

#endif
