/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of each step on the device. The device runs behind the host, and records of kernels and copies
 * come later still: a piece of work belongs to the step in which the host began it, which the record of its
 * call says (kernels=api). NVIDIA's libraries begin work without a call of the program: it belongs to the
 * call before it, by the order of correlations. They are put together at the end. */
#ifndef VS_STEP_COST_H
#define VS_STEP_COST_H

#include "analysis/fit/fit_answer.h"
#include "analysis/state/replay.h"

/* Zero-initialise. */
struct vs_step_costs {
    struct vs_step_work {
        uint64_t correlation, time_ns, kernel_ns, copy_bytes; /* time_ns: of its call */
    } *works, *calls;
    uint64_t *ends; /* of the completed steps */
    size_t work_count, work_capacity, call_count, call_capacity, end_count, end_capacity;
};

/* vs_step_costs_event: *event* was just applied to *replay*. */
void vs_step_costs_event(struct vs_step_costs *costs, const struct vs_replay *replay,
                         const struct vs_event *event);
/* vs_step_costs_second: of the second step; after the last event. *complete*: the program ended by itself, so
 * that no record is missing. Otherwise nothing is known unless there are records of later work. */
struct vs_fit_cost vs_step_costs_second(struct vs_step_costs *costs, bool complete);
void vs_step_costs_free(struct vs_step_costs *costs);

#endif
