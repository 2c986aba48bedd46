/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory that each policy of the allocator needs for the same requests, found by running them
 * through the allocator on a device with unlimited addresses. */
#ifndef VS_POLICY_NEED_H
#define VS_POLICY_NEED_H

#include "allocator/core/placement_policy.h"
#include "analysis/plan/planner.h"

struct vs_policy_need {
    uint64_t reserved_bytes; /* peak of reserved */
    enum vs_err err;         /* set when the figure is unknown */
};

/* vs_policy_needs: for everything recorded in *planner* so far. *device_bytes*: of the trace's
 * device, 0 when unknown; it limits only the addresses of an expandable segment. VS_ERR_LIMIT
 * beyond 16 TiB live at once. *Cost*: a few hundred nanoseconds per request or free and policy. */
void vs_policy_needs(const struct vs_planner *planner, uint64_t device_bytes,
                     struct vs_policy_need out[VS_POLICY_COUNT]);
/* The same for one of them. */
struct vs_policy_need vs_policy_need_of(const struct vs_planner *planner, uint64_t device_bytes,
                                        enum vs_policy_id policy);

#endif
