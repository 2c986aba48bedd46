/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/fit/step_cost.h"

#include <stdlib.h>

#include "base/reading/vs_vec.h"
#include "base/reading/vs_xalloc.h"

void vs_step_costs_event(struct vs_step_costs *costs, const struct vs_replay *replay,
                         const struct vs_event *event)
{
    if (replay->step_ended)
        VS_VEC_ADD(costs->ends, costs->end_count, costs->end_capacity, event->time_ns);
    struct vs_step_work work = {0};
    if (event->kind == VS_EVENT_api_call) {
        work = (struct vs_step_work){event->api_call.correlation, event->api_call.start_ns, 0, 0};
        VS_VEC_ADD(costs->calls, costs->call_count, costs->call_capacity, work);
        return;
    }
    if (event->kind == VS_EVENT_kernel)
        work = (struct vs_step_work){event->kernel.correlation, 0,
                                     event->kernel.end_ns - event->kernel.start_ns, 0};
    else if (event->kind == VS_EVENT_memcpy)
        work = (struct vs_step_work){event->memcpy.correlation, 0, 0,
                                     event->memcpy.copy_kind == VS_COPY_HTOD ||
                                     event->memcpy.copy_kind == VS_COPY_DTOH ? event->memcpy.bytes : 0};
    else if (event->kind == VS_EVENT_memset)
        work.correlation = event->memset.correlation;
    if (work.correlation)
        VS_VEC_ADD(costs->works, costs->work_count, costs->work_capacity, work);
}

static int by_correlation(const void *a, const void *b)
{
    const struct vs_step_work *x = a, *y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

/* The step of a call, from 0; the number of steps: after the last. */
static size_t step_of(const struct vs_step_costs *costs, uint64_t time_ns)
{
    size_t low = 0, high = costs->end_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (costs->ends[middle] <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct vs_fit_cost vs_step_costs_second(struct vs_step_costs *costs, bool complete)
{
    struct vs_fit_cost second = {0};
    size_t work = 0;
    vs_vec_sort(costs->works, costs->work_count, sizeof *costs->works, by_correlation);
    vs_vec_sort(costs->calls, costs->call_count, sizeof *costs->calls, by_correlation);
    uint64_t latest = costs->work_count ? costs->works[costs->work_count - 1].correlation : 0;
    for (size_t i = 0; i < costs->call_count; i++) {
        const struct vs_step_work *call = &costs->calls[i], *works = costs->works;
        uint64_t next = i + 1 < costs->call_count ? call[1].correlation : UINT64_MAX;
        size_t step = step_of(costs, call->time_ns);
        complete |= step > 1 && call->correlation <= latest; /* records of later work are there as well */
        while (work < costs->work_count && works[work].correlation < call->correlation)
            work++;
        for (; work < costs->work_count && works[work].correlation < next; work++) {
            second.kernel_ns += step == 1 ? works[work].kernel_ns : 0;
            second.copy_bytes += step == 1 ? works[work].copy_bytes : 0;
        }
    }
    second.steps = costs->end_count > 1 && complete && second.kernel_ns;
    return second.steps ? second : (struct vs_fit_cost){0};
}

void vs_step_costs_free(struct vs_step_costs *costs)
{
    free(costs->works);
    free(costs->calls);
    free(costs->ends);
}
