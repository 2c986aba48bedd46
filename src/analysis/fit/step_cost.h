/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of each step on the device. Records of kernels and copies come later than the events of the
 * host, in any order: they are kept with their begin, and divided into steps at the end. */
#ifndef VS_STEP_COST_H
#define VS_STEP_COST_H

#include "analysis/fit/fit_answer.h"
#include "analysis/state/replay.h"

/* Zero-initialise. */
struct vs_step_costs {
    struct vs_step_work {
        uint64_t start_ns, kernel_ns, copy_bytes;
    } *works;
    uint64_t *ends; /* of the completed steps */
    size_t work_count, work_capacity, end_count, end_capacity;
    bool kernels; /* some were recorded */
};

/* vs_step_costs_event: *event* was just applied to *replay*. */
void vs_step_costs_event(struct vs_step_costs *costs, const struct vs_replay *replay,
                         const struct vs_event *event);
struct vs_fit_cost vs_step_costs_mean(const struct vs_step_costs *costs);
void vs_step_costs_free(struct vs_step_costs *costs);

#endif
