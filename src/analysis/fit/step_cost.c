/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/fit/step_cost.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"

void vs_step_costs_event(struct vs_step_costs *costs, const struct vs_replay *replay,
                         const struct vs_event *event)
{
    if (replay->step_ended)
        VS_VEC_ADD(costs->ends, costs->end_count, costs->end_capacity, event->time_ns);
    struct vs_step_work work = {0};
    if (event->kind == VS_EVENT_kernel) {
        work.start_ns = event->kernel.start_ns;
        work.kernel_ns = event->kernel.end_ns - event->kernel.start_ns;
        costs->kernels = true;
    } else if (event->kind == VS_EVENT_memcpy && (event->memcpy.copy_kind == VS_COPY_HTOD ||
                                                  event->memcpy.copy_kind == VS_COPY_DTOH)) {
        work.start_ns = event->memcpy.start_ns;
        work.copy_bytes = event->memcpy.bytes;
    }
    if (work.start_ns)
        VS_VEC_ADD(costs->works, costs->work_count, costs->work_capacity, work);
}

struct vs_fit_cost vs_step_costs_mean(const struct vs_step_costs *costs)
{
    size_t ends = costs->end_count;
    struct vs_fit_cost cost = {0};
    if (!ends || !costs->kernels)
        return cost;
    uint64_t from = ends > 1 ? costs->ends[0] : 0, to = costs->ends[ends - 1];
    for (size_t i = 0; i < costs->work_count; i++)
        if (costs->works[i].start_ns >= from && costs->works[i].start_ns < to) {
            cost.kernel_ns += costs->works[i].kernel_ns;
            cost.copy_bytes += costs->works[i].copy_bytes;
        }
    cost.steps = ends > 1 ? ends - 1 : 1;
    cost.kernel_ns /= cost.steps;
    cost.copy_bytes /= cost.steps;
    return cost;
}

void vs_step_costs_free(struct vs_step_costs *costs)
{
    free(costs->works);
    free(costs->ends);
}
