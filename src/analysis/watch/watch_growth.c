/* SPDX-License-Identifier: Apache-2.0
 *
 * Growth of a watched process: the tracker's result, as far as it is shown, is copied, because more
 * events may follow before the next pass. */
#include "analysis/watch/watch_internal.h"

#include "base/reading/vs_xalloc.h"

#define STEPS_FOR_TIME 10u /* the latest, whose mean length is the length of a step */

static uint64_t step_length(const struct vs_growth_steps *steps)
{
    size_t last = steps->count ? steps->count - 1 : 0;
    size_t first = last > STEPS_FOR_TIME ? last - STEPS_FOR_TIME : 0;
    if (first == last)
        return 0;
    return (steps->items[last].time_ns - steps->items[first].time_ns) /
           ((last - first) * steps->stride);
}

void vs_watch_judge(struct vs_watch *w)
{
    struct vs_growth_result result;
    struct vs_watch_growth *growth = &w->growth;
    vs_growth_finish(w->tracker, &result);
    vs_map_free(&growth->by_site);
    for (size_t i = 0; i < result.site_count; i++) {
        const struct vs_growth_row *row = &result.sites[i];
        if (row->user_level && vs_growth_is_named(row))
            vs_xmap_put(&growth->by_site, row->site + UINT64_C(1), row->per_step);
    }
    for (unsigned i = 0; i < w->replay->account_count; i++)
        growth->growing[i] = vs_growth_sum(&result, i, &growth->sum[i]) > 0;
    const struct vs_growth_steps *steps = &result.steps;
    growth->source = steps->source;
    growth->account = steps->account;
    growth->begun = steps->begun;
    growth->step_ns = step_length(steps);
    growth->begin_ns = steps->count ? steps->items[steps->count - 1].time_ns : 0;
    growth->highest = 0;
    for (size_t i = steps->count > 2 ? steps->count - 2 : 0; i < steps->count; i++)
        if (steps->items[i].peak_bytes > growth->highest)
            growth->highest = steps->items[i].peak_bytes;
}

/* Memory runs out at the height of a step, not at its end. */
static void forecast(const struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    const struct vs_account *a = w->replay->accounts[account];
    const struct vs_watch_growth *growth = &w->growth;
    uint64_t now = vs_watch_now_ns(w), highest = out->allocated;
    if (growth->account == account && growth->highest > highest)
        highest = growth->highest;
    struct vs_forecast_facts facts = {
        .highest = highest, .per_step = out->growth.per_step, .step_ns = growth->step_ns,
        .since_step_ns = now > growth->begin_ns ? now - growth->begin_ns : 0,
        .grown = out->growth.bytes, .from_ns = out->growth.since_ns,
        .until_ns = out->growth.until_ns, .now_ns = now};
    if (a->sample_total)
        facts.capacity = a->sample_free < UINT64_MAX - out->reserved ? a->sample_free + out->reserved
                                                                     : UINT64_MAX;
    if (out->limit_bytes && (!facts.capacity || out->limit_bytes < facts.capacity))
        facts.capacity = out->limit_bytes;
    out->forecast = vs_forecast_make(&facts);
}

void vs_watch_fill_growth(const struct vs_watch *w, unsigned account, struct vs_watch_device *out)
{
    out->growing = w->growth.growing[account];
    out->growth = w->growth.sum[account];
    if (out->growing)
        forecast(w, account, out);
}
