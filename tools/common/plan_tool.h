/* SPDX-License-Identifier: Apache-2.0
 *
 * From a trace to a plan file, for `plan` and for `run --plan TRACE`. */
#ifndef VS_PLAN_TOOL_H
#define VS_PLAN_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/plan/plan_trace.h"

/* The memory that a policy needs for the same requests without a plan. */
struct vs_policy_need {
    uint64_t reserved_bytes; /* peak of reserved */
    enum vs_err err;         /* set when the figure is unknown */
};

struct vs_plan_request {
    const char *trace;
    uint64_t device; /* or VS_PLAN_DEVICE_ANY */
    bool whole, partial;
    bool needs; /* of all policies without a plan; otherwise of the one that uses it */
    bool for_run; /* called by `run`: messages suggest `vramscope plan` */
};

struct vs_plan_result {
    void *bytes; /* of the file; the caller frees them */
    size_t size;
    struct vs_plan_summary summary;
    struct vs_policy_need needs[VS_POLICY_COUNT];
    struct vs_plan_identity identity;
    char program[64];
    bool framework;
    uint64_t unmatched;
};

/* vs_tool_plan: plans a trace. Returns false, with a message from *who*, when it cannot. */
bool vs_tool_plan(const char *who, const struct vs_plan_request *request,
                  struct vs_plan_result *out);
/* vs_tool_plan_write: writes the plan file, replacing an older one in one step. Returns false, with
 * a message. */
bool vs_tool_plan_write(const char *who, const char *path, const struct vs_plan_result *plan);

#endif
