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
    if (event->kind == VS_EVENT_work_call) {
        work = (struct vs_step_work){event->work_call.correlation, event->time_ns, 0, 0};
        VS_VEC_ADD(costs->calls, costs->call_count, costs->call_capacity, work);
        return;
    }
    if (event->kind == VS_EVENT_kernel)
        work = (struct vs_step_work){event->kernel.correlation, 0,
                                     event->kernel.end_ns - event->kernel.start_ns, 0};
    else if (event->kind == VS_EVENT_memcpy && (event->memcpy.copy_kind == VS_COPY_HTOD ||
                                                event->memcpy.copy_kind == VS_COPY_DTOH))
        work = (struct vs_step_work){event->memcpy.correlation, 0, 0, event->memcpy.bytes};
    if (work.kernel_ns || work.copy_bytes)
        VS_VEC_ADD(costs->works, costs->work_count, costs->work_capacity, work);
}

static int by_correlation(const void *a, const void *b)
{
    const struct vs_step_work *x = a, *y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

struct vs_fit_cost vs_step_costs_mean(struct vs_step_costs *costs)
{
    size_t ends = costs->end_count, call = 0;
    struct vs_fit_cost cost = {0};
    if (!ends || !costs->call_count)
        return cost;
    uint64_t from = ends > 1 ? costs->ends[0] : 0, to = costs->ends[ends - 1];
    vs_vec_sort(costs->works, costs->work_count, sizeof *costs->works, by_correlation);
    vs_vec_sort(costs->calls, costs->call_count, sizeof *costs->calls, by_correlation);
    for (size_t i = 0; i < costs->work_count; i++) {
        const struct vs_step_work *work = &costs->works[i];
        while (call < costs->call_count && costs->calls[call].correlation < work->correlation)
            call++;
        if (call == costs->call_count || costs->calls[call].correlation != work->correlation ||
            costs->calls[call].time_ns < from || costs->calls[call].time_ns >= to)
            continue;
        cost.kernel_ns += work->kernel_ns;
        cost.copy_bytes += work->copy_bytes;
    }
    cost.steps = ends > 1 ? ends - 1 : 1;
    cost.kernel_ns /= cost.steps;
    cost.copy_bytes /= cost.steps;
    return cost;
}

void vs_step_costs_free(struct vs_step_costs *costs)
{
    free(costs->works);
    free(costs->calls);
    free(costs->ends);
}
