/* SPDX-License-Identifier: Apache-2.0
 *
 * See the header. */
#include "analysis/report/growth_fill.h"

#include "analysis/state/user_level.h"
#include "base/reading/vs_xalloc.h"

#define FILLED_SHARE 20    /* a filled site is listed from a twentieth of the peak on */
#define FILLED_CHANGE 10   /* constant: at the end within a tenth of what it grew to */
#define GROWING_SHARE 1000 /* a growing one from a thousandth on, without all_growth */

static bool is_large(const struct vs_summary *summary, const struct vs_growth_row *row,
                     uint64_t share)
{
    return row->bytes >= vs_user_sums(summary->replay, row->account).peak->bytes / share;
}

static bool is_filled(const struct vs_summary *summary, const struct vs_growth_row *row)
{
    const struct vs_site *site = &summary->replay->sites.items[row->site];
    return row->class == VS_GROWTH_FILLED && row->user_level && site->allocs > 1 &&
           is_large(summary, row, FILLED_SHARE) && site->live_bytes <= row->bytes + row->bytes / FILLED_CHANGE;
}

static bool is_growing(const struct vs_summary *summary, const struct vs_growth_row *row)
{
    return vs_growth_is_named(row) && row->user_level &&
           (summary->all_growth || is_large(summary, row, GROWING_SHARE));
}

/* Growth by the end of marked steps, without a tracker. */
static bool is_steady(const struct vs_replay *replay, const struct vs_site *site)
{
    return vs_growth_steady(&site->growth, replay->phases.steps.done) &&
           site->growth.last > site->growth.base;
}

uint64_t vs_growth_listed(const struct vs_summary *summary, uint32_t index, bool filled)
{
    const struct vs_site *site = &summary->replay->sites.items[index];
    if (!summary->growth)
        return !filled && is_steady(summary->replay, site) ? site->live_bytes : 0;
    const struct vs_growth_row *row = vs_growth_of(summary->growth, index);
    if (!row || !(filled ? is_filled(summary, row) : is_growing(summary, row)))
        return 0;
    return site->live_bytes > row->bytes ? site->live_bytes : row->bytes;
}

void vs_growth_fill(const struct vs_summary *summary, uint32_t index, uint64_t weight,
                    struct vs_report_site *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_site *site = &replay->sites.items[index];
    if (!summary->growth && is_steady(replay, site)) {
        out->growing = out->growth_in_steps = true;
        out->growth_bytes = (site->growth.last - site->growth.base) * weight;
        out->growth_per_step = vs_growth_per_step(&site->growth) * weight;
        out->growth_since = site->growth.first_step_number;
        out->growth_every = 1;
        out->growth_confidence = 1;
    }
    const struct vs_growth_row *row = vs_growth_of(summary->growth, index);
    if (!row)
        return;
    out->growing = is_growing(summary, row);
    out->growth_filled = is_filled(summary, row);
    if (!out->growing && !out->growth_filled)
        return;
    out->growth_freed = row->class == VS_GROWTH_FREED ||
                        (out->growth_filled && site->live_bytes + site->lost_bytes < row->bytes / 2);
    out->growth_replaced = row->replaced;
    out->growth_bytes = row->bytes * weight;
    out->growth_per_step = row->per_step * weight;
    out->growth_every = row->every;
    out->growth_in_steps = row->since_step_known && (row->per_step || out->growth_filled);
    out->growth_since = row->since_step;
    out->growth_until = row->until_step;
    out->growth_since_ns = vs_replay_since(replay, row->since_ns);
    out->growth_until_ns = vs_replay_since(replay, row->until_ns);
    out->growth_confidence = row->confidence;
}

void vs_growth_merge(struct vs_report_site *into, const struct vs_report_site *from)
{
    if (!from->growing && !(from->growth_filled && !into->growing))
        return;
    bool first = from->growing ? !into->growing : !into->growth_filled;
    if (first || from->growth_since_ns < into->growth_since_ns) {
        into->growth_since = from->growth_since;
        into->growth_since_ns = from->growth_since_ns;
    }
    if (first || from->growth_until_ns > into->growth_until_ns) {
        into->growth_until = from->growth_until;
        into->growth_until_ns = from->growth_until_ns;
    }
    if (first || from->growth_every < into->growth_every)
        into->growth_every = from->growth_every;
    if (first || from->growth_confidence > into->growth_confidence)
        into->growth_confidence = from->growth_confidence;
    into->growth_in_steps = first ? from->growth_in_steps
                                  : into->growth_in_steps && from->growth_in_steps;
    into->growth_freed = first ? from->growth_freed : into->growth_freed && from->growth_freed;
    into->growth_replaced = first ? from->growth_replaced : into->growth_replaced && from->growth_replaced;
    into->growth_bytes = (first ? 0 : into->growth_bytes) + from->growth_bytes;
    into->growth_per_step = (first ? 0 : into->growth_per_step) + from->growth_per_step;
    into->growing |= from->growing;
    into->growth_filled = !into->growing && (into->growth_filled || from->growth_filled);
}

void vs_growth_steps_fill(const struct vs_summary *summary, struct vs_report_steps *out)
{
    const struct vs_replay *replay = summary->replay;
    const struct vs_steps *marked = &replay->phases.steps;
    const struct vs_growth_steps *steps = summary->growth ? &summary->growth->steps : NULL;
    *out = (struct vs_report_steps){
        .begun = marked->begun, .done = marked->done, .total_ns = marked->total_ns,
        .shortest_ns = marked->shortest_ns, .longest_ns = marked->longest_ns,
        .longest_number = marked->longest_number, .last_number = marked->number};
    if (!steps || steps->source == VS_STEPS_NONE)
        return;
    if (steps->source == VS_STEPS_FOUND) {
        struct vs_report_step *rows = vs_xarena(summary->memory, (steps->count + 1) * sizeof *rows);
        *out = (struct vs_report_steps){
            .found = true, .begun = steps->begun, .done = steps->done,
            .last_number = steps->first_number + (steps->count - 1) * steps->stride,
            .rows = rows, .row_count = steps->count, .row_steps = steps->stride};
        for (size_t i = 0; i < steps->count; i++) {
            bool last = i + 1 == steps->count;
            uint64_t number = steps->first_number + i * steps->stride,
                begin = steps->items[i].time_ns;
            uint64_t end = last ? replay->now_ns : steps->items[i + 1].time_ns;
            uint64_t length = (end - begin) / steps->stride; /* from the begin of one to that of
                                                              * the next */
            rows[i] = (struct vs_report_step){.number = number,
                                              .start_ns = vs_replay_since(replay, begin),
                                              .duration_ns = end > begin ? end - begin : 0};
            if (last)
                break;
            out->total_ns += length;
            if (i == 0 || length < out->shortest_ns)
                out->shortest_ns = length;
            if (length > out->longest_ns) {
                out->longest_ns = length;
                out->longest_number = number;
            }
        }
        if (steps->count > 1) /* of all steps, where those at the begin have no row of their own */
            out->total_ns = out->total_ns / (steps->count - 1) * steps->done;
    }
    struct vs_growth_step *kept = vs_xarena(summary->memory, (steps->count + 1) * sizeof *kept);
    out->kept = *steps;
    out->kept.items = memcpy(kept, steps->items, steps->count * sizeof *kept);
    const struct vs_account *account = replay->accounts[steps->account];
    out->device = account ? account->device : 0;
}
